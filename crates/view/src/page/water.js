"use strict";

// Radius of fluid particles that are drawn as a surface, over their own radius: neighbors must overlap well.
const SWELL = 1.8;
// Number of smoothing passes of the depths in each direction.
const SMOOTHINGS = 2;

const DROP = `${LIGHT}
in vec3 point;
flat in vec4 ball;
flat in vec3 tint;
layout(location = 0) out float depth;
layout(location = 1) out vec4 color;
void main() {
  vec3 ray = normalize(point);
  vec2 way = wayThrough(ball, ray);
  float along = way.x;
  float inside = way.y;
  if (inside < 0.0) discard;
  vec3 hit = (along - sqrt(inside)) * ray;
  depth = -hit.z;
  color = vec4(pow(tint, vec3(1.0 / 2.2)), 1.0);
  gl_FragDepth = depthOf(hit);
}`;

// Depth of the fluid in a pixel; 0 where there is none.
const DEPTHS = `${LIGHT}
uniform highp sampler2D depths;
uniform sampler2D colors;
float depthAt(ivec2 pixel) {
  bool isOutside = any(lessThan(pixel, ivec2(0))) || any(greaterThanEqual(pixel, textureSize(depths, 0)));
  return isOutside ? 0.0 : texelFetch(depths, pixel, 0).r;
}`;

// Fluid much farther away counts as if it were slightly behind, and fluid in front does not count, so that drops keep their outlines (the
// narrow-range filter of [Truong 2018], one direction after the other).
const SMOOTHED = `${DEPTHS}
uniform ivec2 stepBy;
// Radius of drops, and number of pixels per unit of tangent.
uniform vec2 swell;
layout(location = 0) out float depth;
layout(location = 1) out vec4 color;
const float MOST = 40.0;
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  float here = depthAt(pixel);
  depth = 0.0;
  color = vec4(0.0);
  if (here == 0.0) return;
  float reach = clamp(3.0 * swell.x / here * swell.y, 1.0, MOST);
  float total = here;
  float weights = 1.0;
  vec3 tint = texelFetch(colors, pixel, 0).rgb;
  for (int i = 1; i <= int(reach); i += 1) {
    ivec2 away = i * stepBy;
    vec2 pair = vec2(depthAt(pixel + away), depthAt(pixel - away));
    // Only pairs from both sides count, so that an edge is not tilted by smoothing.
    if (min(pair.x, pair.y) == 0.0 || min(pair.x, pair.y) < here - 6.0 * swell.x) continue;
    float weight = exp(-4.5 * float(i * i) / (reach * reach));
    vec2 near = min(pair, vec2(here + swell.x));
    total += weight * (near.x + near.y);
    weights += 2.0 * weight;
    tint += weight * (texelFetch(colors, pixel + away, 0).rgb + texelFetch(colors, pixel - away, 0).rgb);
  }
  depth = total / weights;
  color = vec4(tint / weights, 1.0);
}`;

const MERGED = `${DEPTHS}
out vec4 color;
vec3 pointAt(ivec2 pixel, float depth) {
  vec2 clip = (vec2(pixel) + 0.5) / vec2(textureSize(depths, 0)) * 2.0 - 1.0;
  return vec3(clip / lens.xy, -1.0) * depth;
}
// Vector to the next pixel along the surface, on the side where the depth changes less.
vec3 slope(ivec2 pixel, vec3 here, ivec2 away) {
  vec2 pair = vec2(depthAt(pixel + away), depthAt(pixel - away));
  vec3 after = pointAt(pixel + away, pair.x) - here;
  vec3 before = here - pointAt(pixel - away, pair.y);
  return pair.x == 0.0 || (pair.y != 0.0 && abs(before.z) < abs(after.z)) ? before : after;
}
void main() {
  ivec2 pixel = ivec2(gl_FragCoord.xy);
  float depth = depthAt(pixel);
  if (depth == 0.0) discard;
  vec3 here = pointAt(pixel, depth);
  vec3 normal = normalize(cross(slope(pixel, here, ivec2(1, 0)), slope(pixel, here, ivec2(0, 1))));
  if (dot(normal, here) > 0.0) normal = -normal;
  vec3 tint = pow(texelFetch(colors, pixel, 0).rgb, vec3(2.2));
  color = vec4(lit(tint, normal, normalize(here), 1.0), 1.0);
  gl_FragDepth = depthOf(here);
}`;

// Draws fluid particles as a surface, computed in screen space.
class Water {
  // Whether this browser can render depths into images.
  static isPossible(gl) { return gl.getExtension("EXT_color_buffer_float") !== null; }

  constructor(stage) {
    const { gl } = stage;
    this.gl = gl;
    this.drops = stage.program(SPHERES, DROP);
    this.smoothed = stage.program(ALL, SMOOTHED);
    this.merged = stage.program(ALL, MERGED);
    this.size = [0, 0];
    this.nearest = gl.createRenderbuffer();
    this.images = [0, 1].map(() => ({ target: gl.createFramebuffer(), depths: gl.createTexture(), colors: gl.createTexture() }));
  }

  resize(width, height) {
    const { gl } = this;
    if (this.size[0] === width && this.size[1] === height) return;
    this.size = [width, height];
    gl.bindRenderbuffer(gl.RENDERBUFFER, this.nearest);
    gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, width, height);
    this.images.forEach(({ target, depths, colors }, place) => {
      gl.bindFramebuffer(gl.FRAMEBUFFER, target);
      [[depths, gl.R32F, gl.RED, gl.FLOAT], [colors, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE]].forEach(([texture, format, parts, kind], layer) => {
        gl.bindTexture(gl.TEXTURE_2D, texture);
        gl.texImage2D(gl.TEXTURE_2D, 0, format, width, height, 0, parts, kind, null);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
        gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0 + layer, gl.TEXTURE_2D, texture, 0);
      });
      if (place === 0) gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, this.nearest);
      gl.drawBuffers([gl.COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT1]);
    });
  }

  bind({ depths, colors }, at) {
    const { gl } = this;
    [[depths, at.depths], [colors, at.colors]].forEach(([texture, place], unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.uniform1i(place, unit);
    });
    gl.activeTexture(gl.TEXTURE0);
  }

  // Draws drops of this radius into an image, by `draw`, and smooths their depths; `pixels` is the number of pixels per unit of tangent.
  gather([width, height], radius, pixels, draw) {
    const { gl } = this;
    this.resize(width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.images[0].target);
    gl.clearBufferfv(gl.COLOR, 0, [0, 0, 0, 0]);
    gl.clearBufferfv(gl.COLOR, 1, [0, 0, 0, 0]);
    gl.clearBufferfv(gl.DEPTH, 0, [1]);
    gl.enable(gl.DEPTH_TEST);
    draw(this.drops);
    gl.disable(gl.DEPTH_TEST);
    const { program, at } = this.smoothed;
    gl.useProgram(program);
    gl.bindVertexArray(null);
    gl.uniform2f(at.swell, radius, pixels);
    for (let i = 0; i < 2 * SMOOTHINGS; i += 1) {
      const isAcross = i % 2 === 0;
      const [from, to] = isAcross ? this.images : [...this.images].reverse();
      gl.bindFramebuffer(gl.FRAMEBUFFER, to.target);
      this.bind(from, at);
      gl.uniform2i(at.stepBy, isAcross ? 1 : 0, isAcross ? 0 : 1);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // Draws the fluid surface among the solid objects.
  merge(lens) {
    const { gl } = this;
    const { program, at } = this.merged;
    gl.useProgram(program);
    gl.bindVertexArray(null);
    gl.uniform4fv(at.lens, lens);
    this.bind(this.images[0], at);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}
