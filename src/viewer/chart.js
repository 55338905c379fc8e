// chart.js - elements, and charts in SVG whose values a pointer or the arrow keys reach
import { duration, fit, step, timeStep } from "./format.js";

const HUES = 7; // and one more for all others
// Hatching tells apart what differs in hue; 0 is plain.
const HATCHES = ["", "M-1 1L1 -1M0 6L6 0M5 7L7 5", "M-1 5L1 7M0 0L6 6M5 -1L7 1", "M3 0V6"];
let patterns = 0; // how many were made, for their names

// Children that are texts become text nodes: what a report says is never parsed as HTML.
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value != null)
      element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** An HTML element, and one of SVG */
export const node = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export function button(name, press, ...children) {
  const element = node("button", { type: "button" }, ...children, name);
  element.addEventListener("click", press);
  return element;
}

export const hint = text => text ? [node("p", { class: "hint" }, text)] : [];

/** A section with its heading, at the end of `parent` */
export function section(parent, title, text) {
  parent.append(node("section", {}, node("h2", {}, title), ...hint(text)));
  return parent.lastChild;
}

/** A section with a table that scrolls by itself; rows: a name, cells and a hint */
export function table(parent, label, text, heads, rows) {
  const box = { class: "wide", tabindex: 0, role: "region", "aria-label": label };
  const head = node("tr", {}, node("td"), ...heads.map(name => node("th", { scope: "col" }, name)));
  const body = rows.map(([name, cells, title]) => node("tr", {},
    node("th", { scope: "row", title }, name), ...cells.map(cell => node("td", {}, ...cell))));
  section(parent, label, text).append(node("div", box,
    node("table", {}, node("thead", {}, head), node("tbody", {}, ...body))));
}

// Series differ in hue, and in hatching or dashes: nobody has to tell them by colour alone.
export const areaOf = series => ({ colour: `f${series % HUES}`, hatch: series % 4 });
export const lineOf = series => ({ line: `line l${series % HUES} d${series % 4}` });

export const within = (value, least, most) => Math.min(Math.max(value, least), most);

/** What a chart is painted with: a plane, its scales and axes, and marks to point at */
class Frame {
  marks = [];
  inks = new Map();

  constructor(svg, width, height, left) {
    Object.assign(this, { svg, width, height, left, right: width - 16, top: 16,
      bottom: height - 24 });
    fill(svg, { width, height, viewBox: `0 0 ${width} ${height}` }, []);
  }

  add(tag, attributes, ...children) { this.svg.append(shape(tag, attributes, ...children)); }
  /** kind: "x" is centred, "y" ends at x */
  text(kind, x, y, text) { this.add("text", { class: kind, x, y }, text); }
  /** A name on the left of a row */
  name(y, text) { this.text("y", this.left - 8, y + 4, fit(text, this.left - 12)); }
  /** Something to point at; lines() returns its texts */
  mark(x, y, width, height, lines) { this.marks.push({ x, y, width, height, lines }); }

  /** The attributes of a shape of that look */
  ink({ colour, hatch = 0 }) {
    const key = colour + hatch, size = { width: 6, height: 6 }, id = `openpai-hatch-${patterns}`;
    if (hatch === 0)
      return { class: colour };
    if (!this.inks.has(key)) {
      patterns++;
      this.inks.set(key, { fill: `url(#${id})` });
      this.add("defs", {}, shape("pattern", { id, ...size, patternUnits: "userSpaceOnUse" },
        shape("rect", { class: colour, ...size }),
        shape("path", { class: `hatch ${colour}-hatch`, d: HATCHES[hatch] })));
    }
    return this.inks.get(key);
  }

  rect(look, x, y, width, height) {
    this.add("rect", { ...this.ink(look), x, y, width: Math.max(width, 0), height });
  }

  scaleX(from, to, bend = value => value) {
    this.x = value => this.left + (this.right - this.left) *
      within((bend(value) - bend(from)) / (bend(to) - bend(from)), 0, 1);
  }

  ticksX(values, show) {
    let used = -Infinity;
    for (const value of values) {
      const x = this.x(value), text = show(value), half = text.length * 3.3;
      this.add("path", { class: "grid", d: `M${x} ${this.top}V${this.bottom}` });
      if (x - half > used && x + half <= this.width) {
        this.text("x", x, this.bottom + 16, text);
        used = x + half + 8;
      }
    }
  }

  axisX(from, to, show = duration, distance = timeStep(to - from, 8)) {
    const first = Math.ceil(from / distance), last = Math.floor(to / distance * 1.000001);
    this.scaleX(from, to);
    this.ticksX(Array.from({ length: last - first + 1 }, (_, i) => (first + i) * distance), show);
  }

  /** Logarithmic, from one second on */
  axisLogTime(longest) {
    const end = Math.max(longest, 60);
    this.scaleX(1, end, value => Math.log(Math.max(value, 1)));
    this.ticksX([1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 31536000]
      .filter(unit => unit <= end), unit => (unit === 1 ? "≤ " : "") + duration(unit));
  }

  axisY(end, show, least) {
    const lines = within(Math.floor((this.bottom - this.top) / 30), 2, 6);
    const distance = Math.max(end > 0 ? step(end, lines) : 0, least);
    const most = Math.max(Math.ceil(end / distance * 0.999999), 1), span = this.bottom - this.top;
    this.y = value => this.bottom - within(value / (most * distance), 0, 1) * span;
    for (let value = 0; value <= most * distance * 1.000001; value += distance) {
      this.add("path", { class: "grid", d: `M${this.left} ${this.y(value)}H${this.right}` });
      this.text("y", this.left - 6, this.y(value) + 4, show(value));
    }
  }

  /** A line of steps: values between edges, of which there is one more */
  steps(edges, values) {
    return values.map((value, i) => `${i > 0 ? "V" : `M${this.x(edges[0])} `}${this.y(value)}` +
      `H${this.x(edges[i + 1])}`).join("");
  }

  /** What lies between two such lines */
  area(look, edges, lower, upper) {
    const back = lower.map((value, i) => `V${this.y(value)}H${this.x(edges[i])}`).reverse();
    this.add("path", { ...this.ink(look), d: `${this.steps(edges, upper)}${back.join("")}Z` });
  }
}

/** The picture of a key: an area of a colour, a line, or any path */
export function swatch({ line = "end", colour, hatch, d = "" }) {
  const frame = new Frame(shape("svg", { "aria-hidden": "true" }), 26, 12, 0);
  if (colour)
    frame.rect({ colour, hatch }, 1, 1, 24, 10);
  frame.add("path", { class: line, d: line === "end" ? d : "M0 6H26" });
  return frame.svg;
}

/** A key: names and their looks */
export const keys = (names, lookOf) => node("ul", { class: "keys" },
  ...names.map((name, i) => node("li", {}, swatch(lookOf(i)), name)));

/** A section with a key and a chart */
export function plot(parent, title, text, key, height, left, paint) {
  const part = section(parent, title, text);
  part.append(key);
  chart(part, title, height, left, paint);
  return part;
}

/**
 * A chart as wide as its parent, at the end of it; paint(frame, box) draws it whenever the width
 * changes.  Returns a function that paints again.
 */
export function chart(parent, label, height, left, paint) {
  const svg = shape("svg", { "aria-hidden": "true", height });
  const focus = shape("rect", { class: "focus" });
  const tip = node("div", { class: "tip", role: "status" });
  const box = node("div", { class: "chart", tabindex: 0, role: "group",
    "aria-label": `${label}: chart. The arrow keys step through its values.` }, svg, tip);
  let marks = [], at = -1, width = 0;
  const choose = i => {
    const { x = 0, y = 0, width = 0, height = 0, lines } = marks[at = i] ?? {};
    fill(focus, { x, y, width, height }, []);
    tip.hidden = lines == null;
    tip.replaceChildren(...lines?.().map(line => node("div", {}, line)) ?? []);
    const right = x + width / 2 + 14, left = Math.max(right - 28 - tip.offsetWidth, 0);
    tip.style.left = `${right + tip.offsetWidth > box.clientWidth ? left : right}px`;
    tip.style.top = `${Math.max(y - tip.offsetHeight - 8, 0)}px`;
  };
  const draw = () => {
    svg.replaceChildren();
    const frame = new Frame(svg, width, height, Math.min(left, width * 0.32));
    paint(frame, box);
    marks = frame.marks;
    svg.append(focus);
    choose(-1);
  };
  box.addEventListener("pointermove", event => {
    const edge = svg.getBoundingClientRect();
    const x = event.clientX - edge.left, y = event.clientY - edge.top;
    choose(marks.findLastIndex(mark => x >= mark.x && x <= mark.x + mark.width &&
      y >= mark.y && y <= mark.y + mark.height));
  });
  for (const name of ["pointerleave", "blur"])
    box.addEventListener(name, () => choose(-1));
  box.addEventListener("keydown", event => {
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0,
      End: Infinity, Escape: -Infinity }[event.key];
    if (to == null)
      return;
    choose(to === -Infinity ? -1 : within(to, 0, marks.length - 1));
    event.preventDefault();
  });
  parent.append(box);
  new ResizeObserver(() => {
    if (box.clientWidth > 0 && box.clientWidth !== width) {
      width = box.clientWidth;
      draw();
    }
  }).observe(box);
  return () => width > 0 && draw();
}
