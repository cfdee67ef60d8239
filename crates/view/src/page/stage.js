"use strict";

// Colors at the top and bottom of the background, in the light and the dark color scheme.
const SKIES = [[[255, 255, 255], [232, 236, 241]], [[38, 43, 51], [22, 25, 30]]].map((sky) => sky.map((color) => scaled(color, 1 / 255)));

// A frame on the GPU, and its drawing.
class Stage {
  constructor(gl) {
    this.gl = gl;
    this.spheres = this.program(SPHERES, BALL);
    this.cylinders = this.program(RODS, ROD);
    this.surface = this.program(SKIN, PANE);
    this.glass = this.program(CORNERS, GLASS);
    this.sky = this.program(ALL, SKY);
    this.water = Water.isPossible(gl) ? new Water(this) : null;
    const layer = () => ({ array: gl.createVertexArray(), buffer: gl.createBuffer() });
    [this.balls, this.rods, this.skin] = [layer(), layer(), layer()];
    this.drops = { array: gl.createVertexArray(), buffer: this.balls.buffer };
    this.panes = { ...layer(), count: 0, edges: 0 };
    this.palette = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    this.frame = null;
    this.walls = { low: [0, 0, 0], triangles: [], edges: [] };
  }

  program(vertex, fragment) {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
      const logs = (gl.getAttachedShaders(program) ?? []).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error(`this browser cannot draw the page: ${[gl.getProgramInfoLog(program), ...logs].filter(Boolean).join("; ")}`);
    }
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    const names = Array.from({ length: count }, (_, i) => gl.getActiveUniform(program, i).name);
    return { program, at: Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)])) };
  }

  load(frame) {
    const { gl } = this;
    this.frame = frame;
    this.fill(this.balls, frame.balls);
    this.pointTo(this.balls, frame.planes);
    // Fluid particles follow the solid balls.
    this.pointTo(this.drops, frame.planes.map((plane, place) => plane + frame.solid * (place < 3 ? 2 : 1)));
    this.loadRods(frame);
    this.fill(this.skin, frame.skin);
    if (frame.panes > 0) {
      gl.enableVertexAttribArray(0);
      gl.vertexAttribIPointer(0, 3, gl.UNSIGNED_SHORT, 12, 0);
      gl.enableVertexAttribArray(1);
      gl.vertexAttribPointer(1, 3, gl.BYTE, true, 12, 6);
      gl.enableVertexAttribArray(2);
      gl.vertexAttribPointer(2, 3, gl.UNSIGNED_BYTE, true, 12, 9);
    }
    const colors = new Uint8Array(4 * 256).fill(255);
    frame.palette.slice(0, 256).forEach((color, i) => colors.set(color, 4 * i));
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colors);
    if (frame.walls) this.loadWalls(frame.walls);
  }

  fill({ array, buffer }, bytes) {
    const { gl } = this;
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STREAM_DRAW);
  }

  // Sets the offsets of the attribute arrays of balls in their buffer.
  pointTo({ array, buffer }, planes) {
    const { gl } = this;
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    planes.forEach((plane, place) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribIPointer(place, 1, place < 3 ? gl.UNSIGNED_SHORT : gl.UNSIGNED_BYTE, 0, plane);
      gl.vertexAttribDivisor(place, 1);
    });
  }

  loadRods({ rods, ends, paints }) {
    const { gl } = this;
    this.fill(this.rods, new Uint8Array(ends.buffer, ends.byteOffset, ends.byteLength + paints.byteLength));
    const parts = [[3, gl.UNSIGNED_SHORT, 12, 0], [3, gl.UNSIGNED_SHORT, 12, 6], [4, gl.UNSIGNED_BYTE, 4, 12 * rods]];
    parts.forEach(([numbers, kind, stride, offset], place) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribIPointer(place, numbers, kind, stride, offset);
      gl.vertexAttribDivisor(place, 1);
    });
  }

  loadWalls(walls) {
    const { gl, panes } = this;
    this.walls = walls;
    const parts = [...walls.triangles, walls.edges];
    const all = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    panes.edges = walls.edges.length / 3;
    panes.count = all.length / 3 - panes.edges;
    this.fill(panes, all);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
  }

  // Draws the frame with a cut, with or without walls, in the light or dark color scheme.
  draw({ cut, hasWalls, isDark }) {
    const { gl, frame } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const size = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    gl.viewport(0, 0, ...size);
    const shot = frame && this.shot(frame, size, cut);
    const water = frame ? frame.count - frame.solid : 0;
    if (water > 0 && this.water) {
      const swell = SWELL * Math.cbrt(frame.every);
      const drops = (program) => this.drawBalls(shot, program, this.drops, water, swell);
      this.water.gather(size, shot.unit * swell * radiusOfWater(frame), 0.5 * shot.focal * size[1], drops);
    }
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.sky.program);
    const [above, below] = SKIES[isDark ? 1 : 0];
    gl.uniform3fv(this.sky.at.above, above);
    gl.uniform3fv(this.sky.at.below, below);
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    if (!frame) return;
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    this.drawBalls(shot, this.spheres, this.balls, this.water ? frame.solid : frame.count, 1);
    this.drawRods(shot);
    gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    this.drawSkin(shot);
    if (water > 0 && this.water) this.water.merge(shot.lens);
    if (hasWalls) this.drawWalls(shot);
  }

  // Parameters of the camera. Lengths are in distances to the target, so that scenes of any size suit single precision.
  shot(frame, [width, height], cut) {
    const { right, up, back } = camera.axes();
    const unit = 1 / camera.distance;
    const eye = camera.eye();
    const far = (place, reach) => unit * (reach - dot(difference(place, eye), back));
    const box = boxOf(frame);
    const [middle, half] = [scaled(sum(box.low, box.high), 0.5), scaled(difference(box.high, box.low), 0.5)];
    const farthest = Math.max(far(camera.middle, 5 * camera.reach), far(middle, Math.hypot(...half)), 1);
    const nearest = Math.max(0.005, far(camera.middle, -5 * camera.reach));
    const focal = 1 / camera.tangent();
    return {
      frame, cut, eye, unit, nearest, focal, pixel: 2 / (focal * height), axes: [right, up, back],
      lens: [focal * height / width, focal, -(farthest + nearest) / (farthest - nearest), -2 * farthest * nearest / (farthest - nearest)],
      turn: [0, 1, 2].flatMap((axis) => [right[axis], up[axis], back[axis]]),
    };
  }

  // Starts a program for objects whose positions are relative to the corner `low`.
  view({ cut, eye, unit, lens, turn }, { program, at }, low) {
    const { gl } = this;
    gl.useProgram(program);
    gl.uniformMatrix3fv(at.turn, false, turn);
    gl.uniform3fv(at.offset, scaled(difference(low, eye), unit));
    gl.uniform4fv(at.lens, lens);
    if (at.cut) {
      const plane = [0, 0, 0, 0];
      if (cut) [plane[cut.axis], plane[3]] = [cut.sign, cut.sign * (cut.at - low[cut.axis]) * unit];
      gl.uniform4fv(at.cut, plane);
    }
    return at;
  }

  drawBalls(shot, program, { array }, count, swell) {
    const { gl } = this;
    const { frame, unit } = shot;
    if (count === 0) return;
    const at = this.view(shot, program, frame.low);
    gl.uniform3fv(at.quantum, scaled(frame.quantum, unit));
    gl.uniform2f(at.radii, unit * frame.radii[0], frame.radii[1]);
    gl.uniform2f(at.limits, shot.nearest, shot.pixel);
    gl.uniform1f(at.swell, swell);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.bindVertexArray(array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
  }

  drawRods(shot) {
    const { gl } = this;
    const { frame, unit } = shot;
    if (frame.rods === 0) return;
    const at = this.view(shot, this.cylinders, frame.low);
    gl.uniform3fv(at.quantum, scaled(frame.quantum, unit));
    gl.uniform2f(at.radii, unit * frame.thickness[0], frame.thickness[1]);
    gl.uniform2f(at.limits, shot.nearest, shot.pixel);
    gl.bindVertexArray(this.rods.array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, frame.rods);
  }

  drawSkin(shot) {
    const { gl } = this;
    const { frame, unit } = shot;
    if (frame.panes === 0) return;
    const at = this.view(shot, this.surface, frame.corner.low);
    gl.uniform3fv(at.quantum, scaled(frame.corner.quantum, unit));
    gl.bindVertexArray(this.skin.array);
    gl.drawArrays(gl.TRIANGLES, 0, 3 * frame.panes);
  }

  drawWalls(shot) {
    const { gl, panes } = this;
    if (panes.count === 0) return;
    const at = this.view(shot, this.glass, this.walls.low);
    const middle = scaled(difference(camera.middle, shot.eye), shot.unit);
    gl.uniform1f(at.unit, shot.unit);
    gl.uniform4f(at.middle, ...shot.axes.map((axis) => dot(axis, middle)), camera.reach * shot.unit);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    gl.bindVertexArray(panes.array);
    gl.uniform1i(at.isLine, 0);
    gl.uniform1f(at.lift, 0);
    gl.drawArrays(gl.TRIANGLES, 0, panes.count);
    gl.uniform1i(at.isLine, 1);
    // Slightly towards the eye, so that touching particles do not hide an edge.
    gl.uniform1f(at.lift, 0.0005);
    gl.drawArrays(gl.LINES, panes.count, panes.edges);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }
}
