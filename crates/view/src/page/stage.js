"use strict";

const ANGLE_OF_VIEW = 0.4;
const canvas = document.getElementById("scene");

const sum = (a, b) => a.map((value, i) => value + b[i]);
const difference = (a, b) => a.map((value, i) => value - b[i]);
const scaled = (a, factor) => a.map((value) => value * factor);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const clamped = (value, low, high) => Math.min(Math.max(value, low), high);

// Where one looks from; z is up.
const camera = {
  target: [0, 0, 0], distance: 1, azimuth: Math.atan2(-1, 0.45), elevation: Math.atan2(0.42, Math.hypot(0.45, 1)),
  middle: [0, 0, 0], reach: 1, isFramed: false, isTurned: false,
  axes() {
    const [cosine, sine] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const back = [Math.cos(this.elevation) * cosine, Math.cos(this.elevation) * sine, Math.sin(this.elevation)];
    const right = [-sine, cosine, 0];
    return { right, up: cross(back, right), back };
  },
  // Meters at the target that one pixel of the page shows.
  pixel() { return this.distance * 2 * Math.tan(ANGLE_OF_VIEW / 2) / Math.max(canvas.clientHeight, 1); },
  frame(box) {
    const { right, up, back } = this.axes();
    const tangent = 0.84 * Math.tan(ANGLE_OF_VIEW / 2);
    const aspect = Math.max(canvas.clientWidth, 1) / Math.max(canvas.clientHeight, 1);
    this.middle = scaled(sum(box.low, box.high), 0.5);
    this.reach = Math.hypot(...difference(box.high, box.low)) / 2 || 1;
    this.target = this.middle;
    this.distance = 0.01 * this.reach;
    for (let corner = 0; corner < 8; corner += 1) {
      const place = difference([0, 1, 2].map((axis) => (corner >> axis & 1 ? box.high : box.low)[axis]), this.middle);
      const across = Math.max(Math.abs(dot(place, right)) / aspect, Math.abs(dot(place, up)));
      this.distance = Math.max(this.distance, across / tangent + dot(place, back));
    }
    this.isFramed = true;
  },
};

const VIEW = `#version 300 es
precision highp float;
uniform mat3 turn;
uniform vec3 offset;
uniform vec4 lens;
vec4 project(vec3 point) {
  return vec4(lens.xy * point.xy, lens.z * point.z + lens.w, -point.z);
}`;
const SPHERES = `${VIEW}
uniform vec3 quantum;
uniform vec2 radii;
uniform vec2 limits;
uniform sampler2D palette;
layout(location = 0) in uint x;
layout(location = 1) in uint y;
layout(location = 2) in uint z;
layout(location = 3) in uint size;
layout(location = 4) in uint shade;
out vec3 point;
flat out vec4 ball;
flat out vec3 tint;
// A square around the cone in which the eye sees the ball, and a pixel more for its soft rim.
void main() {
  ball = vec4(turn * (quantum * vec3(x, y, z) + offset), radii.x + radii.y * (float(size) - 1.0));
  tint = pow(texelFetch(palette, ivec2(int(shade), 0), 0).rgb, vec3(2.2));
  float away = length(ball.xyz);
  point = ball.xyz;
  gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  if (size == 0u || -ball.z - ball.w < limits.x) return;
  vec3 axis = ball.xyz / away;
  vec3 side = normalize(cross(axis, vec3(0.0, 1.0, 0.0)));
  vec3 above = cross(side, axis);
  float wide = ball.w / sqrt(1.0 - min(ball.w * ball.w / (away * away), 0.99)) + limits.y * away;
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  point = ball.xyz + wide * (corner.x * side + corner.y * above);
  gl_Position = project(point);
}`;
const LIT = `#version 300 es
precision highp float;
uniform vec4 lens;
in vec3 point;
flat in vec4 ball;
flat in vec3 tint;
out vec4 color;
const vec3 LIGHT = vec3(-0.32, 0.52, 0.79);
void main() {
  vec3 ray = normalize(point);
  float along = dot(ball.xyz, ray);
  vec3 miss = ball.xyz - along * ray;
  float inside = ball.w * ball.w - dot(miss, miss);
  float cover = clamp(0.5 + inside / max(fwidth(inside), 1e-30), 0.0, 1.0);
  if (cover <= 0.0) discard;
  float chord = sqrt(max(inside, 0.0));
  vec3 hit = (along - chord) * ray;
  vec3 normal = normalize(hit - ball.xyz);
  vec3 light = normalize(LIGHT);
  float diffuse = max(dot(normal, light), 0.0) / 0.79;
  float gloss = 0.06 * pow(max(dot(normal, normalize(light - ray)), 0.0), 48.0);
  // Stands for the light that neighbors take from each other.
  float rim = mix(0.62, 1.0, smoothstep(0.0, 0.55, dot(normal, -ray)));
  float brightness = rim * (0.46 * (0.92 + 0.22 * normal.y) + 0.576 * diffuse);
  color = vec4(pow(tint * brightness + gloss, vec3(1.0 / 2.2)), cover);
  gl_FragDepth = clamp(0.5 - 0.5 * (lens.z + lens.w / hit.z), 0.0, 1.0);
}`;
const CORNERS = `${VIEW}
uniform float unit;
uniform float lift;
layout(location = 0) in vec3 corner;
out vec3 point;
void main() {
  point = turn * (unit * corner + offset);
  gl_Position = project(point);
  gl_Position.z -= lift * gl_Position.w;
}`;
const GLASS = `#version 300 es
precision highp float;
uniform vec4 middle;
uniform bool isLine;
in vec3 point;
out vec4 color;
void main() {
  float fade = 1.0 - smoothstep(1.5, 4.0, distance(point, middle.xyz) / middle.w);
  vec3 normal = normalize(cross(dFdx(point), dFdy(point)));
  float opacity = mix(0.40, 0.07, smoothstep(0.0, 0.7, abs(dot(normal, normalize(point)))));
  vec3 wall = vec3(126.0, 143.0, 163.0) / 255.0 * (0.9 + 0.15 * abs(normal.y));
  color = isLine ? vec4(vec3(70.0, 82.0, 98.0) / 255.0, 0.55 * fade) : vec4(wall, opacity * fade);
}`;
const ALL = `#version 300 es
out float height;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
  height = 0.5 + 0.5 * corner.y;
  gl_Position = vec4(corner, 0.0, 1.0);
}`;
const SKY = `#version 300 es
precision highp float;
in float height;
out vec4 color;
void main() {
  color = vec4(mix(vec3(232.0, 236.0, 241.0) / 255.0, vec3(1.0), height), 1.0);
}`;

class Stage {
  constructor(gl) {
    this.gl = gl;
    this.spheres = this.program(SPHERES, LIT);
    this.glass = this.program(CORNERS, GLASS);
    this.sky = this.program(ALL, SKY);
    this.balls = { array: gl.createVertexArray(), buffer: gl.createBuffer() };
    this.panes = { array: gl.createVertexArray(), buffer: gl.createBuffer(), count: 0, edges: 0 };
    this.palette = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    this.frame = null;
    this.walls = { low: [0, 0, 0], triangles: [] };
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
      const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
      throw new Error(`this browser cannot draw the page: ${[gl.getProgramInfoLog(program), ...logs].filter(Boolean).join("; ")}`);
    }
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    const names = Array.from({ length: count }, (_, i) => gl.getActiveUniform(program, i).name);
    return { program, at: Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)])) };
  }

  load(frame) {
    const { gl } = this;
    this.frame = frame;
    gl.bindVertexArray(this.balls.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.balls.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, frame.balls, gl.STREAM_DRAW);
    frame.planes.forEach((plane, place) => {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribIPointer(place, 1, place < 3 ? gl.UNSIGNED_SHORT : gl.UNSIGNED_BYTE, 0, plane);
      gl.vertexAttribDivisor(place, 1);
    });
    const colors = new Uint8Array(4 * 256).fill(255);
    frame.palette.slice(0, 256).forEach((color, i) => colors.set(color, 4 * i));
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, colors);
    if (frame.walls) this.loadWalls(frame.walls);
  }

  loadWalls(walls) {
    const { gl, panes } = this;
    this.walls = walls;
    const parts = [...walls.triangles, walls.edges];
    const all = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    panes.edges = walls.edges.length / 3;
    panes.count = all.length / 3 - panes.edges;
    gl.bindVertexArray(panes.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, panes.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, all, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
  }

  // Lengths are in distances to the target, so that no scene is too small or too large for single precision.
  draw() {
    const { gl, frame, panes } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * ratio)));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(this.sky.program);
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    if (!frame) return;
    const { right, up, back } = camera.axes();
    const unit = 1 / camera.distance;
    const eye = sum(camera.target, scaled(back, camera.distance));
    const box = scaled(frame.quantum, 65535 / 2);
    const far = (place, reach) => unit * (reach - dot(difference(place, eye), back));
    const farthest = Math.max(far(camera.middle, 5 * camera.reach), far(sum(frame.low, box), Math.hypot(...box)), 1);
    const nearest = Math.max(0.005, far(camera.middle, -5 * camera.reach));
    const focal = 1 / Math.tan(ANGLE_OF_VIEW / 2);
    const lens = [focal * height / width, focal, -(farthest + nearest) / (farthest - nearest), -2 * farthest * nearest / (farthest - nearest)];
    const turn = [0, 1, 2].flatMap((axis) => [right[axis], up[axis], back[axis]]);
    const view = ({ program, at }, low) => {
      gl.useProgram(program);
      gl.uniformMatrix3fv(at.turn, false, turn);
      gl.uniform3fv(at.offset, scaled(difference(low, eye), unit));
      gl.uniform4fv(at.lens, lens);
      return at;
    };
    gl.enable(gl.DEPTH_TEST);
    if (frame.count > 0) {
      const at = view(this.spheres, frame.low);
      gl.uniform3fv(at.quantum, scaled(frame.quantum, unit));
      gl.uniform2fv(at.radii, scaled(frame.radii, unit));
      gl.uniform2f(at.limits, nearest, 2 / (focal * height));
      gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
      gl.bindVertexArray(this.balls.array);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, frame.count);
      gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
    }
    if (panes.count > 0) {
      const at = view(this.glass, this.walls.low);
      const middle = scaled(difference(camera.middle, eye), unit);
      gl.uniform1f(at.unit, unit);
      gl.uniform4f(at.middle, dot(right, middle), dot(up, middle), dot(back, middle), camera.reach * unit);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
      gl.depthMask(false);
      gl.bindVertexArray(panes.array);
      gl.uniform1i(at.isLine, 0);
      gl.uniform1f(at.lift, 0);
      gl.drawArrays(gl.TRIANGLES, 0, panes.count);
      gl.uniform1i(at.isLine, 1);
      // A hair towards the eye, so that an edge is not lost in the particles that touch it.
      gl.uniform1f(at.lift, 0.0005);
      gl.drawArrays(gl.LINES, panes.count, panes.edges);
      gl.depthMask(true);
      gl.disable(gl.BLEND);
    }
  }
}
