"use strict";

const VIEW = `#version 300 es
precision highp float;
uniform mat3 turn;
uniform vec3 offset;
uniform vec4 lens;
// Normal and distance of a clip plane beyond which nothing is drawn; a zero normal clips nothing.
uniform vec4 cut;
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
vec4 project(vec3 point) {
  return vec4(lens.xy * point.xy, lens.z * point.z + lens.w, -point.z);
}
bool isCut(vec3 place) {
  return dot(cut.xyz, place) > cut.w;
}
vec3 linear(vec3 color) {
  return pow(color, vec3(2.2));
}`;

const LEVELS = `${VIEW}
uniform vec3 quantum;
// The smallest radius, and the power of two between successive levels.
uniform vec2 radii;
float radiusAt(uint level) {
  return radii.x * exp2(radii.y * (float(level) - 1.0));
}`;

const SPHERES = `${LEVELS}
uniform vec2 limits;
uniform float swell;
uniform sampler2D palette;
layout(location = 0) in uint x;
layout(location = 1) in uint y;
layout(location = 2) in uint z;
layout(location = 3) in uint size;
layout(location = 4) in uint shade;
out vec3 point;
flat out vec4 ball;
flat out vec3 tint;
// A square around the cone in which the eye sees the ball, with one extra pixel for its soft rim.
void main() {
  vec3 place = quantum * vec3(x, y, z);
  ball = vec4(turn * (place + offset), swell * radiusAt(size));
  tint = linear(texelFetch(palette, ivec2(int(shade), 0), 0).rgb);
  float away = length(ball.xyz);
  point = ball.xyz;
  gl_Position = NOWHERE;
  if (size == 0u || shade == 255u || -ball.z - ball.w < limits.x || isCut(place)) return;
  vec3 axis = ball.xyz / away;
  vec3 side = normalize(cross(axis, vec3(0.0, 1.0, 0.0)));
  vec3 above = cross(side, axis);
  float wide = ball.w / sqrt(1.0 - min(ball.w * ball.w / (away * away), 0.99)) + limits.y * away;
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  point = ball.xyz + wide * (corner.x * side + corner.y * above);
  gl_Position = project(point);
}`;

const RODS = `${LEVELS}
uniform vec2 limits;
layout(location = 0) in uvec3 start;
layout(location = 1) in uvec3 end;
layout(location = 2) in uvec4 paint;
out vec3 point;
flat out vec4 first;
flat out vec3 second;
flat out vec3 tint;
// A rectangle that faces the eye, in front of the rod, so that it covers all of it, with one extra pixel for the soft rim.
void main() {
  vec3 places[2] = vec3[2](quantum * vec3(start), quantum * vec3(end));
  float radius = radiusAt(paint.w);
  first = vec4(turn * (places[0] + offset), radius);
  second = turn * (places[1] + offset);
  tint = linear(vec3(paint.rgb) / 255.0);
  vec3 middle = 0.5 * (first.xyz + second);
  point = middle;
  gl_Position = NOWHERE;
  if (paint.w == 0u || -max(first.z, second.z) - radius < limits.x || isCut(0.5 * (places[0] + places[1]))) return;
  float away = length(middle);
  vec3 sight = middle / away;
  float wide = radius + limits.y * away;
  vec3 halfWay = 0.5 * (second - first.xyz);
  vec3 along = halfWay - dot(halfWay, sight) * sight;
  // A rod seen from its end has no direction: any will do.
  if (dot(along, along) < 1e-6 * radius * radius) along = cross(sight, vec3(0.0, 1.0, 0.0));
  along = normalize(along);
  vec3 across = cross(sight, along);
  float nearer = min(abs(dot(halfWay, sight)) + radius, 0.9 * away);
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  // Parts behind the rectangle look smaller; parts within its depth are inside it.
  point = middle - nearer * sight + corner.x * (abs(dot(halfWay, along)) + wide) * along + corner.y * wide * across;
  gl_Position = project(point);
}`;

const SKIN = `${VIEW}
uniform vec3 quantum;
layout(location = 0) in uvec3 corner;
layout(location = 1) in vec3 upright;
layout(location = 2) in vec3 paint;
out vec3 point;
out vec3 normal;
out vec3 tint;
out float beyond;
void main() {
  vec3 place = quantum * vec3(corner);
  point = turn * (place + offset);
  normal = turn * upright;
  tint = linear(paint);
  beyond = dot(cut.xyz, place) - cut.w;
  gl_Position = project(point);
}`;

const LIGHT = `#version 300 es
precision highp float;
uniform vec4 lens;
// Direction of the light, a little above and left of the eye.
const vec3 TOWARD = vec3(-0.32, 0.52, 0.79);
vec3 lit(vec3 tint, vec3 normal, vec3 ray, float rim) {
  vec3 light = normalize(TOWARD);
  float diffuse = max(dot(normal, light), 0.0) / 0.79;
  float gloss = 0.06 * pow(max(dot(normal, normalize(light - ray)), 0.0), 48.0);
  float brightness = rim * (0.46 * (0.92 + 0.22 * normal.y) + 0.576 * diffuse);
  return pow(tint * brightness + gloss, vec3(1.0 / 2.2));
}
// Approximates the light that neighbors block.
float rimOf(vec3 normal, vec3 ray) {
  return mix(0.62, 1.0, smoothstep(0.0, 0.55, dot(normal, -ray)));
}
float depthOf(vec3 point) {
  return clamp(0.5 - 0.5 * (lens.z + lens.w / point.z), 0.0, 1.0);
}
// Distance along a ray at which it passes the center of a ball, and the square of half the chord, negative if the ray misses.
vec2 wayThrough(vec4 ball, vec3 ray) {
  float along = dot(ball.xyz, ray);
  vec3 miss = ball.xyz - along * ray;
  return vec2(along, ball.w * ball.w - dot(miss, miss));
}`;

const BALL = `${LIGHT}
in vec3 point;
flat in vec4 ball;
flat in vec3 tint;
layout(location = 0) out vec4 color;
void main() {
  vec3 ray = normalize(point);
  vec2 way = wayThrough(ball, ray);
  float along = way.x;
  float inside = way.y;
  float cover = clamp(0.5 + inside / max(fwidth(inside), 1e-30), 0.0, 1.0);
  if (cover <= 0.0) discard;
  float chord = sqrt(max(inside, 0.0));
  vec3 hit = (along - chord) * ray;
  vec3 normal = normalize(hit - ball.xyz);
  color = vec4(lit(tint, normal, ray, rimOf(normal, ray)), cover);
  gl_FragDepth = depthOf(hit);
}`;

const ROD = `${LIGHT}
in vec3 point;
flat in vec4 first;
flat in vec3 second;
flat in vec3 tint;
out vec4 color;
// Distance along the ray to a ball, or to the closest point if the ray misses.
float toBall(vec3 ray, vec3 center) {
  float near = dot(center, ray);
  vec3 miss = center - near * ray;
  return near - sqrt(max(first.w * first.w - dot(miss, miss), 0.0));
}
void main() {
  vec3 ray = normalize(point);
  vec3 axis = second - first.xyz;
  float extent = max(length(axis), 1e-6 * first.w);
  vec3 unit = axis / extent;
  // The ray and the vector to the rod, without their components along the rod.
  float slant = dot(ray, unit);
  float start = dot(first.xyz, unit);
  float turn = max(1.0 - slant * slant, 1e-9);
  float near = (dot(first.xyz, ray) - start * slant) / turn;
  // The point of the rod closest to the ray, and their distance.
  vec3 closest = first.xyz + unit * clamp(near * slant - start, 0.0, extent);
  float apart = length(closest - dot(closest, ray) * ray);
  float cover = clamp(0.5 + (first.w - apart) / max(fwidth(apart), 1e-30), 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 miss = near * (ray - slant * unit) - (first.xyz - start * unit);
  float far = near - sqrt(max(first.w * first.w - dot(miss, miss), 0.0) / turn);
  float height = far * slant - start;
  if (height < 0.0) far = toBall(ray, first.xyz);
  if (height > extent) far = toBall(ray, second);
  vec3 hit = far * ray;
  vec3 normal = normalize(hit - first.xyz - unit * clamp(dot(hit - first.xyz, unit), 0.0, extent));
  color = vec4(lit(tint, normal, ray, rimOf(normal, ray)), cover);
  gl_FragDepth = depthOf(hit);
}`;

const PANE = `${LIGHT}
in vec3 point;
in vec3 normal;
in vec3 tint;
in float beyond;
out vec4 color;
void main() {
  if (beyond > 0.0) discard;
  vec3 face = normalize(cross(dFdx(point), dFdy(point)));
  // Both sides are visible: the normal is that of the side that faces the eye.
  if (dot(face, point) > 0.0) face = -face;
  vec3 upright = dot(normal, normal) > 0.01 ? normalize(normal) : face;
  if (dot(upright, face) < 0.0) upright = -upright;
  color = vec4(lit(tint, upright, normalize(point), 1.0), 1.0);
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
uniform vec3 above;
uniform vec3 below;
in float height;
out vec4 color;
void main() {
  color = vec4(mix(below, above, height), 1.0);
}`;
