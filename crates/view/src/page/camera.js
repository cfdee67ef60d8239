"use strict";

const ANGLE_OF_VIEW = 0.4;
// Distance of a camera without perspective over that of one with it that sees the target as large.
const REMOTE = 100;
const canvas = document.getElementById("scene");

const sum = (a, b) => a.map((value, i) => value + b[i]);
const difference = (a, b) => a.map((value, i) => value - b[i]);
const scaled = (a, factor) => a.map((value) => value * factor);
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const clamped = (value, low, high) => Math.min(Math.max(value, low), high);

// Camera position and direction; z is up.
const camera = {
  target: [0, 0, 0], distance: 1, azimuth: Math.atan2(-1, 0.45), elevation: Math.atan2(0.42, Math.hypot(0.45, 1)),
  middle: [0, 0, 0], reach: 1, isFramed: false, isTurned: false, remoteness: 1,
  axes() {
    const [cosine, sine] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
    const back = [Math.cos(this.elevation) * cosine, Math.cos(this.elevation) * sine, Math.sin(this.elevation)];
    const right = [-sine, cosine, 0];
    return { right, up: cross(back, right), back };
  },
  eye() { return sum(this.target, scaled(this.axes().back, this.distance)); },
  // Tangent of half the angle of view over the height of the page.
  tangent() { return Math.tan(ANGLE_OF_VIEW / 2) / this.remoteness; },
  // Turns perspective on or off; the target stays as large as it is.
  project(isOrthographic) {
    const remoteness = isOrthographic ? REMOTE : 1;
    this.distance *= remoteness / this.remoteness;
    this.remoteness = remoteness;
  },
  // Looks head-on at a plane flow with this normal axis, without perspective.
  face(axis) {
    [this.azimuth, this.elevation] = [[0, 0], [-Math.PI / 2, 0], [-Math.PI / 2, 1.57]][axis];
    this.project(true);
  },
  // Tangent of the angle that one pixel of the page shows.
  slope() { return 2 * this.tangent() / Math.max(canvas.clientHeight, 1); },
  // Meters at the target that one pixel of the page shows.
  pixel() { return this.distance * this.slope(); },
  // Unit direction of a pixel of the page.
  ray(x, y) {
    const { right, up, back } = this.axes();
    const [across, above] = [x - canvas.clientWidth / 2, canvas.clientHeight / 2 - y].map((part) => part * this.slope());
    const ray = difference(sum(scaled(right, across), scaled(up, above)), back);
    return scaled(ray, 1 / Math.hypot(...ray));
  },
  // Center and radius of a ball on the page; null if it is behind the eye.
  circle(center, radius) {
    const { right, up, back } = this.axes();
    const way = difference(center, this.eye());
    const size = -1 / (this.slope() * dot(way, back));
    if (!(size > 0)) return null;
    return { x: canvas.clientWidth / 2 + size * dot(way, right), y: canvas.clientHeight / 2 - size * dot(way, up), radius: size * radius };
  },
  frame(box) {
    const { right, up, back } = this.axes();
    const tangent = 0.84 * this.tangent();
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
