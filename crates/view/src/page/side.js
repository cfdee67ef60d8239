"use strict";

const element = (id) => document.getElementById(id);

// Request for a frame: view, field (null = automatic), frame (null = the newest), ends of the scale (null = those of the frame), one of how many
// particles, and whether any of this changed since the last request.
const wish = { shown: "particles", field: null, frame: null, range: null, every: 1, isNew: true };
// Display options that need no request.
const look = { cut: null, hasWalls: true, isDark: false };
// The picked particle: kind and id once known, the click until then, and whether the details are older than the frame.
const picked = { who: null, click: null, isStale: false, asked: -Infinity };

const LABELS = { spheres: "bodies as spheres", smooth: "smooth fluids", surface: "fluids as a mesh", chains: "force chains" };

function made(kind, className, text, parts = []) {
  const node = document.createElement(kind);
  node.className = className;
  node.textContent = text;
  node.append(...parts);
  return node;
}

const color = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;
const spaced = (name) => name.replaceAll("_", " ");

// Last contents of each element, to avoid rebuilding it without a change.
const shownLast = {};

function isSame(id, value) {
  const text = JSON.stringify(value);
  const was = shownLast[id];
  shownLast[id] = text;
  return was === text;
}

function showLegend({ legend, palette }) {
  if (isSame("legend", [legend, palette])) return;
  if (!legend.isScale) {
    const rows = legend.classes.map((one) => {
      const patch = made("span", "", "");
      patch.style.backgroundColor = color(one.color);
      return made("div", "class", "", [patch, made("span", "", one.label)]);
    });
    element("legend").replaceChildren(made("div", "heading", spaced(legend.name)), ...rows);
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

// Sets a list only if its value changes, since it may be open.
function select(id, value) {
  if (element(id).value !== value) element(id).value = value;
}

// Shows the available choices of a frame, and the current ones.
function showChoices(frame) {
  const offered = frame.offered.filter((name) => name !== "smooth" || stage.water);
  const names = offered.includes(wish.shown) ? offered : [wish.shown, ...offered];
  if (!isSame("shown", names)) element("shown").replaceChildren(...names.map((name) => new Option(LABELS[name] ?? name, name)));
  select("shown", wish.shown);
  element("showing").hidden = names.length < 2;
  // The fields are known only after the first frame of the current view.
  if (frame.shown !== wish.shown) return;
  const fields = wish.field && !frame.fields.includes(wish.field) ? [wish.field, ...frame.fields] : frame.fields;
  if (!isSame("fields", fields)) {
    element("fields").replaceChildren(new Option("automatic", "-"), ...fields.map((name) => new Option(spaced(name), name)));
  }
  select("fields", wish.field ?? "-");
  element("coloring").hidden = fields.length === 0;
  const { isScale, ends } = frame.legend;
  const isHeld = wish.range !== null;
  element("holding").hidden = !isHeld && !(isScale && Number.isFinite(ends[1] - ends[0]) && ends[0] < ends[1]);
  element("hold").checked = isHeld;
  element("ends").hidden = !isHeld;
}

// The slider spans the scene; the cut stays in place.
function showCut(frame) {
  element("cutting").hidden = look.cut === null;
  if (look.cut === null) return;
  const { low, high } = boxOf(frame);
  const slider = element("depth");
  [slider.min, slider.max] = [low[look.cut.axis], high[look.cut.axis]];
  slider.value = look.cut.at;
  // Digits for a thousandth of the slider range.
  const digits = Math.ceil(3 - Math.log10(Math.max(slider.max - slider.min, 1e-9)));
  element("where").textContent = `${look.cut.at.toFixed(clamped(digits, 0, 12))} m`;
}

// On a narrow screen the side panel lies over the scene while it is unfolded.
function unfold(isUnfolded) {
  element("side").classList.toggle("unfolded", isUnfolded);
  element("unfold").setAttribute("aria-expanded", String(isUnfolded));
}

function listenToSide(changed, redraw) {
  element("unfold").onclick = () => unfold(!element("side").classList.contains("unfolded"));
  element("shown").onchange = ({ target }) => {
    [wish.shown, wish.field, wish.range] = [target.value, null, null];
    changed();
  };
  element("fields").onchange = ({ target }) => {
    [wish.field, wish.range] = [target.value === "-" ? null : target.value, null];
    changed();
  };
  element("every").onchange = ({ target }) => {
    wish.every = Number(target.value);
    changed();
  };
  listenToScale(changed);
  listenToCut(redraw);
  element("walls").onchange = ({ target }) => {
    look.hasWalls = target.checked;
    redraw();
  };
}

function listenToScale(changed) {
  const ends = [element("lowest"), element("highest")];
  const tell = () => ends.forEach((end, i) => { end.value = wish.range[i]; });
  element("hold").onchange = ({ target }) => {
    wish.range = target.checked && stage.frame?.legend.isScale ? stage.frame.legend.ends : null;
    element("ends").hidden = wish.range === null;
    if (wish.range) tell();
    changed();
  };
  for (const end of ends) {
    end.onchange = () => {
      const [low, high] = ends.map(({ valueAsNumber }) => valueAsNumber);
      // An empty or invalid range is refused; the old one stays.
      if (!(low < high && Number.isFinite(high - low))) return tell();
      wish.range = [low, high];
      changed();
    };
  }
}

function listenToCut(redraw) {
  const anew = () => {
    if (stage.frame) showCut(stage.frame);
    redraw();
  };
  element("axis").onchange = ({ target }) => {
    const axis = "xyz".indexOf(target.value || "-");
    const box = stage.frame && boxOf(stage.frame);
    // Cut away the side towards the initial position of the eye.
    const sign = axis === 1 ? -1 : 1;
    look.cut = axis < 0 || !box ? null : { axis, sign, at: 0.5 * (box.low[axis] + box.high[axis]) };
    element("turned").checked = false;
    if (look.cut === null) target.value = "";
    anew();
  };
  element("depth").oninput = ({ target }) => {
    look.cut.at = target.valueAsNumber;
    anew();
  };
  element("turned").onchange = () => {
    look.cut.sign *= -1;
    redraw();
  };
}

// The ring around the picked particle follows it from frame to frame.
function showRing({ low, picked: [x, y, z, size] }) {
  const circle = Number.isNaN(x) || picked.who === null ? null : camera.circle(sum(low, [x, y, z]), size);
  const { style } = element("ring");
  element("ring").hidden = circle === null;
  if (circle === null) return;
  [style.left, style.top] = [`${circle.x}px`, `${circle.y}px`];
  style.width = style.height = `${2 * Math.max(circle.radius, 3) + 6}px`;
}

// Shows the details of a particle from the server: kind and id, then lines with a name and a value.
function showDetails(text) {
  const [who, ...lines] = text.split("\n");
  // Unfold the panel for a newly picked particle.
  if (picked.who !== who) unfold(true);
  picked.who = who;
  element("who").textContent = who.replace(":", " ");
  const parts = lines.flatMap((line) => {
    const [name, ...value] = line.split("\t");
    return name ? [made("dt", "", name), made("dd", "", value.join(" "))] : [made("dd", "", value.join(" "))];
  });
  element("known").replaceChildren(...parts);
  element("closely").hidden = false;
}

// Shows why there are no details.
function showNoDetails(sentence) {
  if (!picked.who) element("who").textContent = "nothing picked";
  element("known").replaceChildren(made("dd", "", sentence));
  element("closely").hidden = false;
}

function letGo() {
  [picked.who, picked.click, picked.isStale] = [null, null, false];
  element("closely").hidden = true;
  element("ring").hidden = true;
}
