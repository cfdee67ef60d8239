"use strict";

// Interface for programs that inspect this page: frames drawn so far; particles, rods and panes in the last one; its view; the picked particle; the
// error message; frames per second.
window.seixo = { frames: 0, count: 0, rods: 0, panes: 0, shown: null, picked: null, error: null, fps: 0 };

// Longest time between two attempts to reach the server [ms].
const LONGEST_WAIT = 16000;
// Least time between two requests for the details of a particle [ms]: each needs the full state of a run.
const BETWEEN_DETAILS = 500;
// Longest movement of the pointer in a click [px].
const CLICK = 4;

function tell(message) {
  window.seixo.error = message;
  element("message").textContent = message ?? "";
  element("message").hidden = message === null;
}

// Connection to the server: one request at a time, so that frames arrive no faster than they are drawn.
const link = { socket: null, isWaiting: false, asksDetails: false, timer: 0, tries: 0 };
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
    [link.socket, link.isWaiting, link.tries] = [socket, false, 0];
    wish.isNew = true;
    tell(null);
    ask();
  };
  socket.onmessage = ({ data }) => receive(data);
  socket.onclose = () => {
    link.socket = null;
    element("live").hidden = true;
    const wait = Math.min(1000 * 2 ** link.tries, LONGEST_WAIT);
    link.tries += 1;
    const again = `Trying again in ${wait / 1000} s.`;
    tell(wasOpen
      ? `The server is gone: what it showed has ended, or the connection broke. ${again}`
      : `No server answers at ${location.host}: it has ended, was started again with another address, or has too many pages open. ${again}`);
    setTimeout(connect, wait);
  };
}

function ask() {
  clearTimeout(link.timer);
  if (!link.socket || link.isWaiting) return;
  const target = detailsDue();
  link.isWaiting = true;
  link.asksDetails = target !== null;
  if (target !== null) {
    picked.asked = performance.now();
    link.socket.send(`details ${target}`);
    return;
  }
  const seen = wish.isNew || !stage.frame ? "-" : stage.frame.number;
  const range = wish.range ? wish.range.join(":") : "-";
  link.socket.send(`frame ${wish.shown} ${wish.field ?? "-"} ${wish.frame ?? "-"} ${seen} ${range} ${wish.every} ${picked.who ?? "-"}`);
  wish.isNew = false;
}

// Target of a request for details that is due now, or null.
function detailsDue() {
  if (picked.click) {
    // The click refers to the last frame, the only one that the server keeps.
    const { eye, ray } = picked.click;
    picked.click = null;
    const ball = stage.frame ? ballOn(stage.frame, eye, ray, look.cut) : -1;
    if (ball < 0) return null;
    stage.frame.picked = [...difference(center(stage.frame, ball), stage.frame.low), radius(stage.frame, ball)];
    return `ball:${ball}`;
  }
  const isDue = picked.who !== null && picked.isStale && performance.now() - picked.asked >= BETWEEN_DETAILS;
  return isDue ? picked.who : null;
}

function askIn(delay) {
  clearTimeout(link.timer);
  link.timer = setTimeout(ask, delay);
}

function receive(data) {
  link.isWaiting = false;
  if (link.asksDetails) {
    receiveDetails(data);
    return;
  }
  try {
    if (typeof data !== "string") {
      const frame = decode(data);
      const before = stage.frame;
      stage.load(frame);
      if (!camera.isFramed || (!camera.isTurned && before?.count === 0 && frame.count > 0)) {
        const plane = planeOf(frame);
        if (plane !== undefined) camera.face(plane);
        frameAll();
      }
      tell(null);
      isFresh = true;
      redraw();
      return;
    }
    const [word, count, ...sentence] = data.split(" ");
    // After a frame that cannot be shown, other frames remain accessible.
    const known = stage.frame ?? { number: wish.frame ?? Number(count) - 1, frames: LIVE };
    if (count !== "-") known.frames = Number(count);
    if (word !== "nothing") {
      showControls(known);
      throw new Error(sentence.join(" "));
    }
    [known.status, known.shortfall] = sentence.join(" ").split("\n");
    showControls(known);
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

function receiveDetails(data) {
  const [word, ...rest] = data.split(" ");
  if (word === "details") {
    showDetails(rest.join(" "));
    picked.isStale = false;
  } else {
    showNoDetails(rest.slice(1).join(" "));
  }
  window.seixo.picked = picked.who;
  redraw();
  // A frame that is about to be drawn requests the next one itself.
  if (!isFresh) askIn(0);
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
    // Without a WebGL context there are no further requests either.
    if (stage.gl.isContextLost()) return;
    stage.draw(look);
    if (stage.frame) showRing(stage.frame);
    if (isFresh) {
      isFresh = false;
      hasShown(stage.frame);
    }
  });
}

// Times at which frames of the last seconds were drawn.
const moments = [];

// Called after a frame was drawn: updates the controls and requests the next frame.
function hasShown(frame) {
  const now = performance.now();
  moments.push(now);
  window.seixo.frames += 1;
  for (const name of ["count", "rods", "panes", "shown"]) window.seixo[name] = frame[name];
  element("title").textContent = frame.title;
  document.title = frame.title ? `${frame.title} – Seixo` : "Seixo";
  const parts = [`t = ${frame.clock}`, frame.seen, frame.every > 1 ? `1 of ${frame.every} is drawn` : ""];
  element("caption").textContent = parts.filter(Boolean).join("   ·   ");
  showLegend(frame);
  showChoices(frame);
  showCut(frame);
  picked.isStale = true;
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

function showControls(frame) {
  const now = performance.now();
  while (moments[0] < now - 2000) moments.shift();
  window.seixo.fps = moments.length > 1 ? (moments.length - 1) / (now - moments[0]) * 1000 : 0;
  const isLive = frame.frames === LIVE;
  element("live").hidden = !isLive;
  element("recording").hidden = element("keys").hidden = isLive;
  element("rate").textContent = `${window.seixo.fps.toFixed(0)} frames/s`;
  const isStill = /^(done|paused|about)/.test(frame.status ?? "");
  element("live").classList.toggle("still", isStill);
  element("pulse").hidden = isStill;
  element("status").textContent = frame.status ?? "";
  element("shortfall").textContent = frame.shortfall ?? "";
  element("slider").max = frame.frames - 1;
  if (!wish.isNew) element("slider").value = frame.number;
  element("place").textContent = `${frame.number + 1} of ${frame.frames}`;
  element("play").textContent = player.isPlaying ? "pause" : "play";
}

function changed() {
  wish.isNew = true;
  ask();
}

// Goes to a frame of a recording. At the last frame, the page follows a growing recording.
function goTo(number, last) {
  player.isPlaying = false;
  element("play").textContent = "play";
  wish.frame = number >= last ? null : Math.max(number, 0);
  changed();
}

function playOrPause() {
  const { frame } = stage;
  if (!frame || frame.frames === LIVE) return;
  player.isPlaying = !player.isPlaying;
  if (player.isPlaying) wish.frame = frame.number + 1 < frame.frames ? frame.number + 1 : 0;
  else if (!link.isWaiting) wish.frame = frame.number;
  showControls(frame);
  ask();
}

function turnWalls() {
  look.hasWalls = !look.hasWalls;
  element("walls").checked = look.hasWalls;
  redraw();
}

function release() {
  letGo();
  window.seixo.picked = null;
}

// Handles keys, except those that a focused control needs.
function listenToKeys() {
  const all = () => { frameAll(); redraw(); };
  const project = () => { camera.project(camera.remoteness === 1); redraw(); };
  const step = (by) => () => {
    const { frame } = stage;
    if (frame && frame.frames !== LIVE) goTo((wish.frame ?? frame.number) + by, frame.frames - 1);
  };
  const keys = {
    " ": playOrPause, f: all, o: project, w: turnWalls, Escape: release,
    ArrowRight: step(1), ArrowLeft: step(-1), Home: step(-Infinity), End: step(Infinity),
  };
  document.onkeydown = (event) => {
    const isOfControl = event.target.closest("select, input:not([type=checkbox])") || (event.key === " " && event.target.closest("button, input"));
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || isOfControl || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
}

function pick(event) {
  const { left, top } = canvas.getBoundingClientRect();
  const isOfBalls = ["particles", "spheres", "smooth", "surface"].includes(stage.frame?.shown);
  release();
  if (!isOfBalls) return;
  picked.click = { eye: camera.eye(), ray: camera.ray(event.clientX - left, event.clientY - top) };
  ask();
}

function listenToPointer() {
  let held = null;
  canvas.oncontextmenu = (event) => event.preventDefault();
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    held = { x: event.clientX, y: event.clientY, moves: event.button !== 0 || event.shiftKey, strayed: 0 };
  };
  canvas.onpointerup = (event) => {
    if (held && !held.moves && held.strayed < CLICK) pick(event);
    held = null;
  };
  canvas.onpointercancel = () => { held = null; };
  canvas.onpointermove = ({ clientX, clientY }) => {
    if (!held) return;
    const [across, down] = [clientX - held.x, clientY - held.y];
    held.strayed += Math.hypot(across, down);
    if (!held.moves && held.strayed < CLICK) return;
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
    const distance = clamped(camera.distance * factor, 1e-4 * camera.reach * camera.remoteness, 1e3 * camera.reach * camera.remoteness);
    // The point under the pointer stays in place.
    const { right, up } = camera.axes();
    const nearer = camera.pixel() * (1 - distance / camera.distance);
    const [x, y] = [event.clientX - canvas.clientWidth / 2, canvas.clientHeight / 2 - event.clientY];
    camera.target = sum(camera.target, scaled(sum(scaled(right, x), scaled(up, y)), nearer));
    camera.distance = distance;
    camera.isTurned = true;
    redraw();
  }, { passive: false });
  canvas.ondblclick = () => { frameAll(); redraw(); };
}

// Redraws when the resolution, the color scheme or the size of the canvas changes.
function listenToScreen() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const turn = () => {
    look.isDark = dark.matches;
    redraw();
  };
  dark.addEventListener("change", turn);
  turn();
  const followPixels = () => {
    matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener("change", () => { redraw(); followPixels(); }, { once: true });
  };
  followPixels();
  new ResizeObserver(redraw).observe(canvas);
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    tell("The GPU has discarded the picture of this page; it comes back as soon as possible.");
  });
  canvas.addEventListener("webglcontextrestored", () => {
    const { gl, frame, walls } = stage;
    try {
      stage = new Stage(gl);
      if (frame) stage.load({ ...frame, walls });
      tell(null);
      redraw();
    } catch (error) {
      tell(`${error.message}; load the page again`);
    }
  });
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
  element("slider").oninput = ({ target }) => goTo(Number(target.value), Number(target.max));
  element("play").onclick = playOrPause;
  element("release").onclick = release;
  listenToSide(changed, redraw);
  listenToPointer();
  listenToKeys();
  listenToScreen();
  connect();
}

start();
