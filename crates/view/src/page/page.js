"use strict";

// What programs that look at this page may ask: frames drawn so far, particles in the last one, what is wrong, frames per second.
window.seixo = { frames: 0, count: 0, error: null, fps: 0 };

const LIVE = 0xffffffff;
const element = (id) => document.getElementById(id);

// A frame from the bytes that wire.rs describes.
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
  color() { return [this.byte(), this.byte(), this.byte()]; }
  list(read) { return Array.from({ length: this.short() }, read); }
  text() {
    const length = this.whole();
    this.at += length;
    return new TextDecoder().decode(new Uint8Array(this.view.buffer, this.at - length, length));
  }
  singles(count) {
    this.at += 4 * count;
    return new Float32Array(this.view.buffer, this.at - 4 * count, count);
  }
}

function decode(bytes) {
  const reader = new Reader(bytes);
  if (reader.whole() !== 0x31465853) throw new Error("this page and its server are of different versions; load it again");
  const frame = { number: reader.whole() + 2 ** 32 * reader.whole(), frames: reader.whole(), time: reader.double() };
  frame.grains = reader.whole();
  frame.particles = reader.whole();
  frame.count = reader.whole();
  frame.low = [reader.double(), reader.double(), reader.double()];
  frame.quantum = [reader.single(), reader.single(), reader.single()];
  frame.radii = [reader.single(), reader.single()];
  frame.title = reader.text();
  frame.clock = reader.text();
  frame.seen = reader.text();
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
  const align = () => { reader.at = Math.ceil(reader.at / 4) * 4; };
  if (reader.byte() > 0) {
    const sizes = Array.from({ length: reader.whole() }, () => reader.whole());
    const edges = reader.whole();
    align();
    const triangles = sizes.map((size) => reader.singles(9 * size));
    frame.walls = { low: frame.low, triangles, edges: reader.singles(6 * edges) };
  }
  align();
  const wide = Math.ceil(frame.count / 2) * 4;
  frame.planes = [0, wide, 2 * wide, 3 * wide, 3 * wide + Math.ceil(frame.count / 4) * 4];
  frame.balls = new Uint8Array(bytes, reader.at);
  frame.places = [0, 1, 2].map((axis) => new Uint16Array(bytes, reader.at + frame.planes[axis], frame.count));
  frame.sizes = new Uint8Array(bytes, reader.at + frame.planes[3], frame.count);
  return frame;
}

// The box around what is of interest, as in pictures: strays far away and planes that go on beyond it are left out.
function surroundings(frame, walls) {
  let low = [Infinity, Infinity, Infinity];
  let high = [-Infinity, -Infinity, -Infinity];
  const seen = [];
  const step = Math.max(1, Math.floor(frame.count / 4000));
  for (let i = 0; i < frame.count; i += step) if (frame.sizes[i] > 0) seen.push(i);
  if (seen.length > 0) {
    const largest = frame.radii[0] + 254 * frame.radii[1];
    const ends = frame.places.map((plane, axis) => {
      const sorted = seen.map((i) => plane[i]).sort((a, b) => a - b);
      return [0, 0.01, 0.99, 1].map((part) => frame.low[axis] + frame.quantum[axis] * sorted[Math.round(part * (sorted.length - 1))]);
    });
    const margin = 1.5 * Math.max(...ends.map((end) => end[2] - end[1])) + 8 * largest;
    low = ends.map((end) => Math.max(end[0] - largest, end[1] - margin));
    high = ends.map((end) => Math.min(end[3] + largest, end[2] + margin));
  }
  const middle = scaled(sum(low, high), 0.5);
  const reach = Math.hypot(...difference(high, low)) / 2;
  const room = 2.5 * Math.max(...difference(high, low));
  const bounds = seen.length > 0 ? [low.map((value) => value - room), high.map((value) => value + room)] : null;
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

function tell(message) {
  window.seixo.error = message;
  element("message").textContent = message ?? "";
  element("message").hidden = message === null;
}

// What is asked for: a field, a frame (null = the newest), and whether anything of this changed since it was asked for.
const wish = { field: null, frame: null, isNew: true };
// The way to the server: one request at a time, so that frames come no faster than they are drawn.
const link = { socket: null, isWaiting: false, timer: 0 };
const player = { isPlaying: false, shown: 0 };
let stage = null;
let isFresh = false;
let isDue = false;

function connect() {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const socket = new WebSocket(`ws://${location.host}/live?token=${encodeURIComponent(token)}`);
  let wasOpen = false;
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    wasOpen = true;
    link.socket = socket;
    link.isWaiting = false;
    wish.isNew = true;
    tell(null);
    ask();
  };
  socket.onmessage = ({ data }) => receive(data);
  socket.onclose = () => {
    link.socket = null;
    element("live").hidden = true;
    tell(wasOpen
      ? "The server is gone: what it showed has ended, or the connection broke. Trying again every second."
      : `No server answers at ${location.host}: it has ended, was started anew with another address, or has too many pages open. Trying again every second.`);
    setTimeout(connect, 1000);
  };
}

function ask() {
  clearTimeout(link.timer);
  if (!link.socket || link.isWaiting) return;
  link.isWaiting = true;
  const seen = wish.isNew || !stage.frame ? "-" : stage.frame.number;
  link.socket.send(`frame ${wish.field ?? "-"} ${wish.frame ?? "-"} ${seen}`);
  wish.isNew = false;
}

function askIn(delay) {
  clearTimeout(link.timer);
  link.timer = setTimeout(ask, delay);
}

function receive(data) {
  link.isWaiting = false;
  try {
    if (typeof data !== "string") {
      const frame = decode(data);
      const before = stage.frame;
      stage.load(frame);
      if (!camera.isFramed || (!camera.isTurned && before?.count === 0 && frame.count > 0)) frameAll();
      tell(null);
      isFresh = true;
      redraw();
      return;
    }
    const [word, count, ...sentence] = data.split(" ");
    // A frame that cannot be shown keeps nobody from the others.
    const known = stage.frame ?? { number: wish.frame ?? Number(count) - 1, frames: LIVE };
    if (count !== "-") known.frames = Number(count);
    showControls(known);
    if (word !== "nothing") throw new Error(sentence.join(" "));
    askIn(0);
  } catch (error) {
    const last = stage.frame?.frames ?? 0;
    if (player.isPlaying && wish.frame !== null && wish.frame + 1 < last) {
      wish.frame += 1;
      tell(error.message);
    } else {
      tell(`${error.message}. Trying again every second.`);
    }
    wish.isNew = true;
    askIn(1000);
  }
}

function frameAll() {
  const box = stage.frame && surroundings(stage.frame, stage.walls);
  if (box) camera.frame(box);
}

function redraw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    stage.draw();
    if (isFresh) {
      isFresh = false;
      hasShown(stage.frame);
    }
  });
}

// When the frames of the last seconds were drawn.
const moments = [];

// A frame is on the screen: what stands around it follows, and the next one is asked for.
function hasShown(frame) {
  const now = performance.now();
  moments.push(now);
  window.seixo.frames += 1;
  window.seixo.count = frame.count;
  element("title").textContent = frame.title;
  document.title = frame.title ? `${frame.title} – Seixo` : "Seixo";
  element("caption").textContent = `t = ${frame.clock}   ·   ${frame.seen}`;
  showLegend(frame);
  showFields(frame);
  let delay = 0;
  if (player.isPlaying && !wish.isNew) {
    if (frame.number + 1 < frame.frames) {
      wish.frame = frame.number + 1;
      delay = Math.max(0, player.shown + 1000 / Number(element("speed").value) - now);
    } else {
      wish.frame = null;
      player.isPlaying = false;
    }
  }
  player.shown = now + delay;
  showControls(frame);
  askIn(delay);
}

function made(kind, className, text, parts = []) {
  const node = document.createElement(kind);
  node.className = className;
  node.textContent = text;
  node.append(...parts);
  return node;
}

const color = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;
let legendShown = "";

function showLegend({ legend, palette }) {
  const all = JSON.stringify([legend, palette]);
  if (all === legendShown) return;
  legendShown = all;
  if (!legend.isScale) {
    const rows = legend.classes.map((one) => {
      const patch = made("span", "", "");
      patch.style.backgroundColor = color(one.color);
      return made("div", "class", "", [patch, made("span", "", one.label)]);
    });
    element("legend").replaceChildren(made("div", "heading", legend.name.replaceAll("_", " ")), ...rows);
    return;
  }
  const shades = palette.slice(0, legend.shades);
  const bar = made("div", "bar", "", legend.ticks.map(({ part, label }) => {
    const tick = made("span", "tick", label);
    tick.style.bottom = `${100 * part}%`;
    return tick;
  }));
  bar.style.backgroundImage = `linear-gradient(to top, ${shades.map(color).join(", ")})`;
  const tip = (place, isThere, shade) => {
    const node = made("div", `tip ${place}`, "");
    if (isThere && shade) node.style.backgroundColor = color(shade);
    return node;
  };
  element("legend").replaceChildren(
    made("div", "heading", legend.heading),
    tip("above", legend.goesOn[1], shades.at(-1)),
    bar,
    tip("below", legend.goesOn[0], shades[0]),
  );
}

let fieldsShown = "";

function showFields({ fields, legend }) {
  const names = legend.name && !fields.includes(legend.name) ? [legend.name, ...fields] : fields;
  if (names.join() !== fieldsShown) {
    fieldsShown = names.join();
    element("fields").replaceChildren(...names.map((name) => new Option(name.replaceAll("_", " "), name)));
  }
  // Not while a choice of theirs is still on its way.
  if (!wish.isNew) element("fields").value = legend.name;
  element("coloring").hidden = names.length < 2;
}

function showControls(frame) {
  const now = performance.now();
  while (moments[0] < now - 2000) moments.shift();
  window.seixo.fps = moments.length > 1 ? (moments.length - 1) / (now - moments[0]) * 1000 : 0;
  element("live").hidden = frame.frames !== LIVE;
  element("recording").hidden = frame.frames === LIVE;
  element("rate").textContent = `${window.seixo.fps.toFixed(0)} frames/s`;
  element("slider").max = frame.frames - 1;
  if (!wish.isNew) element("slider").value = frame.number;
  element("place").textContent = `${frame.number + 1} of ${frame.frames}`;
  element("play").textContent = player.isPlaying ? "pause" : "play";
}

function listen() {
  const changed = () => { wish.isNew = true; ask(); };
  element("fields").onchange = () => { wish.field = element("fields").value; changed(); };
  element("slider").oninput = ({ target }) => {
    player.isPlaying = false;
    element("play").textContent = "play";
    // At its end the slider goes with a recording that still grows.
    wish.frame = target.value === target.max ? null : Number(target.value);
    changed();
  };
  element("play").onclick = () => {
    const { frame } = stage;
    if (!frame) return;
    player.isPlaying = !player.isPlaying;
    if (player.isPlaying) wish.frame = frame.number + 1 < frame.frames ? frame.number + 1 : 0;
    else if (!link.isWaiting) wish.frame = frame.number;
    showControls(frame);
    ask();
  };
  let held = null;
  canvas.oncontextmenu = (event) => event.preventDefault();
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    held = { x: event.clientX, y: event.clientY, moves: event.button !== 0 || event.shiftKey };
  };
  canvas.onpointerup = canvas.onpointercancel = () => { held = null; };
  canvas.onpointermove = ({ clientX, clientY }) => {
    if (!held) return;
    const [across, down] = [clientX - held.x, clientY - held.y];
    [held.x, held.y, camera.isTurned] = [clientX, clientY, true];
    if (held.moves) {
      const { right, up } = camera.axes();
      camera.target = sum(camera.target, scaled(sum(scaled(right, -across), scaled(up, down)), camera.pixel()));
    } else {
      camera.azimuth -= 0.008 * across;
      camera.elevation = clamped(camera.elevation + 0.008 * down, -1.57, 1.57);
    }
    redraw();
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 0 ? 1 : 20;
    const factor = clamped(Math.exp(0.0015 * lines * event.deltaY), 0.5, 2);
    const distance = clamped(camera.distance * factor, 1e-4 * camera.reach, 1e3 * camera.reach);
    // What is under the pointer stays there.
    const { right, up } = camera.axes();
    const nearer = camera.pixel() * (1 - distance / camera.distance);
    const [x, y] = [event.clientX - canvas.clientWidth / 2, canvas.clientHeight / 2 - event.clientY];
    camera.target = sum(camera.target, scaled(sum(scaled(right, x), scaled(up, y)), nearer));
    camera.distance = distance;
    camera.isTurned = true;
    redraw();
  }, { passive: false });
  canvas.ondblclick = () => { frameAll(); redraw(); };
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    tell("The graphics processor took the page its picture; it comes back as soon as it can.");
  });
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  new ResizeObserver(redraw).observe(canvas);
}

function start() {
  const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, powerPreference: "high-performance" });
  if (!gl) {
    tell("This page draws with WebGL 2, which this browser does not have, or has switched off: open it in a Firefox, Chrome, Edge or Safari of today.");
    return;
  }
  try {
    stage = new Stage(gl);
  } catch (error) {
    tell(error.message);
    return;
  }
  listen();
  connect();
}

start();
