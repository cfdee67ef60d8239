"use strict";

const LIVE = 0xffffffff;
// Number of sampled places that suffices to find the extent of the scene.
const MOST_SAMPLES = 4000;

// Reads the format that frame_encoder.rs describes, byte by byte.
class Reader {
  constructor(bytes) {
    this.view = new DataView(bytes);
    this.at = 0;
  }
  next(kind, size) {
    this.at += size;
    return this.view[kind](this.at - size, true);
  }
  byte() { return this.next("getUint8", 1); }
  short() { return this.next("getUint16", 2); }
  whole() { return this.next("getUint32", 4); }
  single() { return this.next("getFloat32", 4); }
  double() { return this.next("getFloat64", 8); }
  place() { return [this.double(), this.double(), this.double()]; }
  color() { return [this.byte(), this.byte(), this.byte()]; }
  list(read) { return Array.from({ length: this.short() }, read); }
  align() { this.at = Math.ceil(this.at / 4) * 4; }
  // This many numbers of a kind, as a view of the bytes.
  numbers(Kind, count) {
    this.at += Kind.BYTES_PER_ELEMENT * count;
    return new Kind(this.view.buffer, this.at - Kind.BYTES_PER_ELEMENT * count, count);
  }
  text() { return new TextDecoder().decode(this.numbers(Uint8Array, this.whole())); }
  singles(count) { return Array.from({ length: count }, () => this.single()); }
}

function decode(bytes) {
  const reader = new Reader(bytes);
  if (bytes.byteLength < 4 || reader.whole() !== 0x33465853) throw new Error("this page and its server are of different versions; load it again");
  try {
    const frame = head(reader);
    body(reader, frame);
    return frame;
  } catch (error) {
    if (error instanceof RangeError) throw new Error("a frame came with a part of its bytes missing");
    throw error;
  }
}

function head(reader) {
  const frame = { number: reader.whole() + 2 ** 32 * reader.whole(), frames: reader.whole(), time: reader.double() };
  for (const name of ["grains", "particles", "count", "solid", "rods", "panes", "every"]) frame[name] = reader.whole();
  frame.low = reader.place();
  frame.quantum = reader.singles(3);
  frame.radii = reader.singles(2);
  frame.thickness = reader.singles(2);
  frame.corner = { low: reader.place(), quantum: reader.singles(3) };
  frame.picked = reader.singles(4);
  for (const name of ["title", "clock", "seen", "status", "shortfall", "shown"]) frame[name] = reader.text();
  frame.offered = reader.list(() => reader.text());
  frame.fields = reader.list(() => reader.text());
  frame.legend = { isScale: reader.byte() === 0, name: reader.text() };
  if (frame.legend.isScale) {
    frame.legend.heading = reader.text();
    frame.legend.ends = [reader.double(), reader.double()];
    frame.legend.goesOn = [reader.byte() > 0, reader.byte() > 0];
    frame.legend.ticks = reader.list(() => ({ part: reader.single(), label: reader.text() }));
    frame.legend.shades = reader.short();
  } else {
    frame.legend.classes = reader.list(() => ({ label: reader.text(), color: reader.color() }));
  }
  frame.palette = reader.list(() => reader.color());
  return frame;
}

function body(reader, frame) {
  if (reader.byte() > 0) {
    const sizes = Array.from({ length: reader.whole() }, () => reader.whole());
    const edges = reader.whole();
    reader.align();
    const triangles = sizes.map((size) => reader.numbers(Float32Array, 9 * size));
    frame.walls = { low: frame.low, triangles, edges: reader.numbers(Float32Array, 6 * edges) };
  }
  reader.align();
  const start = reader.at;
  const plane = (Kind) => {
    const numbers = reader.numbers(Kind, frame.count);
    reader.align();
    return numbers;
  };
  frame.places = [plane(Uint16Array), plane(Uint16Array), plane(Uint16Array)];
  frame.sizes = plane(Uint8Array);
  const shades = plane(Uint8Array);
  frame.planes = [...frame.places, frame.sizes, shades].map((numbers) => numbers.byteOffset - start);
  frame.balls = new Uint8Array(shades.buffer, start, shades.byteOffset + frame.count - start);
  frame.ends = reader.numbers(Uint16Array, 6 * frame.rods);
  frame.paints = reader.numbers(Uint8Array, 4 * frame.rods);
  frame.skin = reader.numbers(Uint8Array, 36 * frame.panes);
}

// Axis normal to a plane flow, along which all positions are equal; undefined in three dimensions.
function planeOf(frame) {
  const flat = [0, 1, 2].filter((axis) => frame.quantum[axis] === 0);
  return frame.particles > 0 && frame.count > 0 && flat.length === 1 ? flat[0] : undefined;
}

// Radius of a level of radii.
const radiusAt = ([smallest, step], level) => smallest * 2 ** (step * (level - 1));
const largestOf = (radii) => radiusAt(radii, 255);

// A sample of the places in the scene, a list for each axis.
function samples(frame) {
  const found = [[], [], []];
  const add = (low, quantum, level) => found.forEach((places, axis) => places.push(low[axis] + quantum[axis] * level(axis)));
  const some = (count, take) => {
    const step = Math.max(1, Math.floor(count / MOST_SAMPLES));
    for (let i = 0; i < count; i += step) take(i);
  };
  some(frame.count, (i) => { if (frame.sizes[i] > 0) add(frame.low, frame.quantum, (axis) => frame.places[axis][i]); });
  some(frame.rods, (i) => { if (frame.paints[4 * i + 3] > 0) add(frame.low, frame.quantum, (axis) => frame.ends[6 * i + axis]); });
  const corners = new DataView(frame.skin.buffer, frame.skin.byteOffset, frame.skin.byteLength);
  some(3 * frame.panes, (i) => add(frame.corner.low, frame.corner.quantum, (axis) => corners.getUint16(12 * i + 2 * axis, true)));
  return found;
}

// The bounding box of the scene, as in pictures. It leaves out outliers and planes that extend beyond the box.
function surroundings(frame, walls) {
  let low = [Infinity, Infinity, Infinity];
  let high = [-Infinity, -Infinity, -Infinity];
  const seen = samples(frame);
  const isEmpty = seen[0].length === 0;
  if (!isEmpty) {
    const largest = Math.max(largestOf(frame.radii), largestOf(frame.thickness));
    const ends = seen.map((places) => {
      const sorted = places.sort((a, b) => a - b);
      return [0, 0.01, 0.99, 1].map((part) => sorted[Math.round(part * (sorted.length - 1))]);
    });
    const margin = 1.5 * Math.max(...ends.map((end) => end[2] - end[1])) + 8 * largest;
    low = ends.map((end) => Math.max(end[0] - largest, end[1] - margin));
    high = ends.map((end) => Math.min(end[3] + largest, end[2] + margin));
  }
  const middle = scaled(sum(low, high), 0.5);
  const reach = Math.hypot(...difference(high, low)) / 2;
  const room = 2.5 * Math.max(...difference(high, low));
  const bounds = isEmpty ? null : [low.map((value) => value - room), high.map((value) => value + room)];
  for (const triangles of walls.triangles) {
    const corners = [];
    for (let i = 0; i < triangles.length; i += 3) corners.push(sum(walls.low, [triangles[i], triangles[i + 1], triangles[i + 2]]));
    if (corners.length === 0 || (bounds && isPlane(corners, middle, reach))) continue;
    for (const corner of corners) {
      const near = bounds ? corner.map((value, axis) => clamped(value, bounds[0][axis], bounds[1][axis])) : corner;
      low = low.map((value, axis) => Math.min(value, near[axis]));
      high = high.map((value, axis) => Math.max(value, near[axis]));
    }
  }
  return low[0] <= high[0] ? { low, high } : null;
}

function isPlane(corners, middle, reach) {
  const normal = cross(difference(corners[1], corners[0]), difference(corners[2], corners[0]));
  const length = Math.hypot(...normal);
  return corners.every((corner) => Math.abs(dot(difference(corner, corners[0]), normal)) <= 1e-5 * reach * length)
    && corners.some((corner) => Math.hypot(...difference(corner, middle)) > 1.5 * reach);
}

// The box of all places in a frame.
function boxOf({ count, rods, panes, low, quantum, corner }) {
  const boxes = [];
  if (count + rods > 0 || panes === 0) boxes.push({ low, quantum });
  if (panes > 0) boxes.push(corner);
  const ends = boxes.map((box) => sum(box.low, scaled(box.quantum, 65535)));
  const around = (end, places) => [0, 1, 2].map((axis) => end(...places.map((place) => place[axis])));
  return { low: around(Math.min, boxes.map((box) => box.low)), high: around(Math.max, ends) };
}

const center = (frame, i) => frame.places.map((plane, axis) => frame.low[axis] + frame.quantum[axis] * plane[i]);
const radius = (frame, i) => radiusAt(frame.radii, frame.sizes[i]);

// Radius of the fluid particles, which is the same for all; 0 if none is drawn.
function radiusOfWater(frame) {
  const level = frame.sizes.subarray(frame.solid).find((size) => size > 0);
  return level ? radiusAt(frame.radii, level) : 0;
}

// Index of the first ball that a ray from the eye hits, or -1. Balls that are cut away do not count. The loop creates no objects, as there may be
// millions of balls.
function ballOn(frame, eye, ray, cut) {
  const [[x, y, z], sizes] = [frame.places, frame.sizes];
  const [[qx, qy, qz], [ex, ey, ez]] = [frame.quantum, difference(eye, frame.low)];
  const [dx, dy, dz] = ray;
  const radii = Float64Array.from({ length: 256 }, (_, level) => radiusAt(frame.radii, level));
  // The cut in levels of its axis.
  const levels = cut && frame.places[cut.axis];
  const edge = cut && (cut.at - frame.low[cut.axis]) / frame.quantum[cut.axis];
  let [first, nearest] = [-1, Infinity];
  for (let i = 0; i < frame.count; i += 1) {
    if (sizes[i] === 0) continue;
    const wx = qx * x[i] - ex;
    const wy = qy * y[i] - ey;
    const wz = qz * z[i] - ez;
    const along = wx * dx + wy * dy + wz * dz;
    const size = radii[sizes[i]];
    const inside = size * size - (wx * wx + wy * wy + wz * wz - along * along);
    if (inside < 0 || along < size || (levels && cut.sign * (levels[i] - edge) > 0)) continue;
    const depth = along - Math.sqrt(inside);
    if (depth < nearest) [first, nearest] = [i, depth];
  }
  return first;
}
