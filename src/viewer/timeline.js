// timeline.js - which job ran where and when: a row for each node, a lane for each of its GPUs
import { button, chart, hint, keys, node, section, swatch, within } from "./chart.js";
import { clean, count, duration } from "./format.js";
import { groupsOf } from "./groups.js";

const OTHERS = 7, ALL = 900, TALL = 9, FLAT = 0.5, MOST_HIGH = 8000, CPU_LANES = 8;
// How runs end: where the dark end of the bar begins, how high it is, and the end's name.
const ENDS = { succeeded: [0, 0, "succeeded"], running: [0, 0, "still running"],
  failed: [0, 1, "failed"], stopped: [0, 0.5, "killed"], preempted: [0.5, 0.5, "preempted"] };

const known = new Map(); // by mask

/** Neighbouring GPUs, as [first, how many], of a mask in hexadecimal digits */
export function piecesOf(mask) {
  if (!known.has(mask)) {
    const bits = [...BigInt(`0x${mask}`).toString(2)].reverse().join("");
    known.set(mask, Array.from(bits.matchAll(/1+/g), ({ 0: ones, index }) => [index, ones.length]));
  }
  return [...known.get(mask)];
}

/** The rows of nodes with their lanes, and the bars, each as a list of lanes beside each other */
function layOut({ bar_nodes, bars, begin_s }) {
  const rows = bar_nodes.map(({ name, gpus }) =>
    ({ name: clean(name), lanes: Math.min(gpus, 64), ends: [], cpus: gpus === 0 }));
  const runs = bars.map(([job, from, to, at, vc, mask, end]) => {
    const row = rows[at], pieces = piecesOf(mask), gpus = pieces.reduce((sum, [, n]) => sum + n, 0);
    if (row.cpus) { // bars of one time stand below each other
      const free = row.ends.findIndex(last => last <= from);
      pieces.push([Math.min(free < 0 ? row.ends.length : free, CPU_LANES - 1), 1]);
      row.ends[pieces[0][0]] = to;
      row.lanes = row.ends.length;
    } else if (gpus === 0) {
      pieces.push([row.lanes, 0.4]); // below the lanes of the GPUs
    }
    return { job, from: from - begin_s, to: to - begin_s, row, vc, gpus, pieces,
      end: ENDS[end] ?? ENDS.running };
  });
  const lane = within(ALL / rows.reduce((sum, row) => sum + row.lanes + 0.4, 0), FLAT, TALL);
  let height = 0;
  for (const row of rows) {
    Object.assign(row, { top: height, shown: height < MOST_HIGH });
    height += (Math.max(row.lanes, 1) + 0.5) * lane;
  }
  const shown = rows.filter(row => row.shown);
  return { rows: shown, hidden: rows.length - shown.length, runs, lane,
    height: Math.min(height, MOST_HIGH) };
}

/** A canvas behind a chart, as large as that */
function penOf(box, { width, height }) {
  const canvas = box.querySelector("canvas") ?? node("canvas");
  const scale = Math.min(devicePixelRatio, 2);
  Object.assign(canvas, { width: width * scale, height: height * scale });
  box.prepend(canvas);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  return pen;
}

function drawNodes(frame, pen, { rows, lane }, colour) {
  let used = -Infinity;
  pen.fillStyle = colour;
  for (const { name, top, lanes } of rows) {
    const y = frame.top + top, height = Math.max(lanes, 1) * lane;
    pen.fillRect(frame.left, y, frame.right - frame.left, height);
    if (y + height / 2 > used + 13)
      frame.name(used = y + height / 2, name);
  }
}

function drawBar(frame, pen, { lane }, bar, colour, dark, tell) {
  const x = frame.x(bar.from), width = Math.max(frame.x(bar.to) - x, 1);
  const [from, part] = bar.end, space = lane > 4 ? 0.6 : 0;
  for (const [first, n] of bar.pieces) {
    const y = frame.top + bar.row.top + first * lane, height = n * lane - space;
    pen.fillStyle = colour;
    pen.fillRect(x, y, width, height);
    pen.fillStyle = dark;
    if (part > 0 && width > 5 && frame.x(bar.to) < frame.right)
      pen.fillRect(x + width - 3, y + from * height, 3, part * height);
    frame.mark(x, y, width, height, tell);
  }
}

/** A chart of one run, if chosen.hue is set of that virtual cluster alone; returns its redraw() */
function drawTimeline(view, part, run, hues, chosen, end) {
  const plan = layOut(run), names = run.vcs.map(vc => clean(vc.name)), { hidden } = plan;
  const time = { from: 0, to: end };
  const move = (left, right) => () => {
    const { from, to } = time, span = within((to - from) * (1 + right - left), end / 1e4, end);
    time.from = within(from + left * (to - from), 0, end - span);
    time.to = time.from + span;
    redraw();
  };
  part.append(node("div", { class: "tools" }, button("Zoom in", move(0.25, -0.25)),
    button("Zoom out", move(-0.5, 0.5)), button("Earlier", move(-0.4, -0.4)),
    button("Later", move(0.4, 0.4)), button("Whole time", move(-1e5, 1e5))),
  ...hint(hidden > 0 && `${count(hidden)} more nodes are not shown.`));
  const redraw = chart(part, "Node timeline", plan.height + 34, 120, (frame, box) => {
    const pen = penOf(box, frame), style = getComputedStyle(view);
    const colour = name => style.getPropertyValue(`--${name}`), fg = colour("mark");
    const palette = Array.from({ length: OTHERS + 1 }, (_, i) => colour(`c${i}`));
    frame.axisX(time.from, time.to);
    drawNodes(frame, pen, plan, colour("row"));
    for (const bar of plan.runs) {
      const { job, from, to, row, vc, gpus } = bar, hue = hues.get(run.vcs[vc].name) ?? OTHERS;
      if (to >= time.from && from <= time.to && (chosen.hue ?? hue) === hue && row.shown)
        drawBar(frame, pen, plan, bar, palette[hue], fg, () => [
          `job ${job} of ${names[vc]}, ${bar.end[2]}`,
          `${gpus > 0 ? `${gpus} GPU${gpus > 1 ? "s" : ""} of ` : ""}${row.name}`,
          `${duration(to - from)} from ${duration(from)}`]);
    }
  });
  return redraw;
}

/** If runs were left out, nothing is known of the time after the last start */
function endOf({ bars, bars_cut, begin_s }) {
  const last = at => bars.reduce((most, bar) => Math.max(most, bar[at] - begin_s), 0);
  return bars_cut && last(1) > 0 ? last(1) : last(2);
}

export function drawTimelines(view, { runs, names, alone }) {
  const end = Math.max(...runs.map(endOf)), vcs = groupsOf(runs, "vcs"), chosen = {}, redraws = [];
  if (end <= 0)
    return;
  const part = section(view, "Node timeline", "A row for each node, a lane for each of its GPUs, " +
    "a bar for each run of a job. Colours are virtual clusters: press one to see its jobs alone.");
  const redraw = () => redraws.forEach(draw => draw()), shown = vcs.slice(0, OTHERS + 1);
  const buttons = shown.map(({ name }, i) => button(i < OTHERS ? name : "others", () => {
    chosen.hue = chosen.hue === i ? undefined : i;
    buttons.forEach((other, k) => other.setAttribute("aria-pressed", chosen.hue === k));
    redraw();
  }, swatch({ colour: `f${i}` })));
  const caps = Object.values(ENDS).slice(2);
  part.append(node("div", { class: "tools" }, ...buttons), keys(caps.map(([, , name]) => name), i =>
    ({ colour: "f7", d: `M24 ${1 + caps[i][0] * 10}v${caps[i][1] * 10}` })));
  for (const [i, run] of runs.entries()) {
    part.append(...alone ? [] : [node("h3", {}, names[i])],
      ...hint(run.bars_cut && `The first ${count(run.bars.length)} runs.`));
    redraws.push(drawTimeline(view, part, run,
      new Map(vcs.map(({ id }, i) => [id, Math.min(i, OTHERS)])), chosen, end));
  }
  view.addEventListener("theme", redraw);
}
