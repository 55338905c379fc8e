// groups.js - by virtual cluster, size and user: waiting times, capacity lent and borrowed, tables
import { areaOf, keys, plot, table, within } from "./chart.js";
import { clean, count, duration, factor, hours, percent, step } from "./format.js";

const MOST_ROWS = 24, BAR = 14; // of a chart; pixels
const MOST_LINES = 500; // of a table

// Of a table: title, key, how it is shown, and the kinds that have it.
const COLUMNS = [
  ["jobs", "jobs", count, "vcs sizes users"],
  ["preempted", "preemptions", count, "vcs sizes users"],
  ["wait P50", "wait_p50_s", duration, "vcs sizes users"],
  ["P90", "wait_p90_s", duration, "vcs sizes users"],
  ["P99", "wait_p99_s", duration, "vcs sizes users"],
  ["slowdown", "slowdown_p50", factor, "vcs sizes"],
  ["used, h", "used_gpu_s", hours, "vcs sizes users"],
  ["lost, h", "lost_gpu_s", hours, "vcs sizes users"],
  ["share, h", "entitled_gpu_s", hours, "vcs users"],
  ["lent, h", "lent_gpu_s", hours, "vcs"],
  ["borrowed, h", "borrowed_gpu_s", hours, "vcs"],
  ["used of share", "used_gpu_s", (used, { entitled_gpu_s: share }) =>
    share > 0 ? percent(used / share) : "-", "users"],
];

/** The groups of all runs: a name, and what each run says of it; those that used most first */
export function groupsOf(runs, kind) {
  const groups = new Map();
  for (const [i, run] of runs.entries())
    for (const group of run[kind])
      groups.set(group.name, Object.assign(groups.get(group.name) ?? [], { [i]: group }));
  const rows = Array.from(groups, ([id, list]) => ({ id, name: clean(id), list,
    used: list.reduce((sum, group) => sum + group.used_gpu_s, 0) }));
  return kind === "sizes" ? rows : rows.sort((a, b) => b.used - a.used || (a.id < b.id ? -1 : 1));
}

/** A row for each group, in it a line for each run, drawn by draw() and told by tell() */
function drawRows(view, title, text, key, { names, alone }, rows, bar, axis, draw, tell) {
  const shown = rows.slice(0, MOST_ROWS), high = bar * names.length + 8;
  const left = within(Math.max(...shown.map(row => row.name.length * 7 + 16)), 50, 170);
  const more = rows.length - MOST_ROWS;
  plot(view, title, text + (more > 0 ? ` ${count(more)} more are in the table.` : ""), key, high * shown.length + 34, left, frame => {
    axis(frame);
    for (const [k, { name, list }] of shown.entries()) {
      const top = frame.top + k * high + 4;
      frame.name(top + high / 2 - 4, name);
      list.forEach((group, i) => { // has holes
        draw(frame, top + i * bar, group, i);
        frame.mark(frame.left, top + i * bar, frame.right - frame.left, bar, () =>
          [alone ? name : `${name}, ${names[i]}`, ...tell(group)]);
      });
    }
  });
}

function drawWaitsOf(view, context, noun, rows) {
  const key = keys(context.alone ? [] : context.names, areaOf);
  const longest = Math.max(...rows.flatMap(row => row.list.map(group => group.wait_p99_s)));
  const text = "P50 thick, P90 thinner, P99 thinnest, on a logarithmic axis.";
  drawRows(view, `Waiting time by ${noun}`, text, key, context, rows, BAR, frame =>
    frame.axisLogTime(longest), (frame, y, group, i) => {
    for (const [key, thick] of [["wait_p99_s", 3], ["wait_p90_s", 7], ["wait_p50_s", 12]])
      frame.rect(areaOf(i), frame.left, y + (BAR - thick) / 2,
        Math.max(frame.x(group[key]) - frame.left, 2), thick);
  }, group => ["50", "90", "99"].map(p => `P${p} ${duration(group[`wait_p${p}_s`])}`));
}

const LEDGER = [["own share", { colour: "box" }], ["used of it", { colour: "f0" }],
  ["lent to others", { colour: "f2", hatch: 1 }], ["borrowed from others", { colour: "f1" }]];

function drawLedger(view, context, rows) {
  const { names, unit, alone } = context;
  const text = `Hours of ${unit}s. All that is lent is borrowed by others.` +
    (alone ? "" : ` In each row from top to bottom: ${names.join(", ")}.`);
  const most = Math.max(1, ...rows.flatMap(({ list }) => list.map(group =>
    Math.max(group.entitled_gpu_s, group.used_gpu_s))));
  const own = group => group.used_gpu_s - group.borrowed_gpu_s;
  const key = keys(LEDGER.map(([name]) => name), i => LEDGER[i][1]);
  drawRows(view, "Capacity lent and borrowed", text, key, context, rows, BAR + 4, frame =>
    frame.axisX(0, most, hours, 3600 * step(most / 3600, 8)), (frame, y, group) => {
    for (const [i, from, to, top, high] of [[1, 0, own(group), 0, 10],
      [2, own(group), own(group) + group.lent_gpu_s, 0, 10], [0, 0, group.entitled_gpu_s, 0, 10],
      [3, 0, group.borrowed_gpu_s, 11, 5]])
      frame.rect(LEDGER[i][1], frame.x(from), y + top, frame.x(to) - frame.x(from), high);
  }, group => [`share ${hours(group.entitled_gpu_s)} h, ${hours(own(group))} h of it used`,
    `lent ${hours(group.lent_gpu_s)} h, borrowed ${hours(group.borrowed_gpu_s)} h`]);
}

function drawTable(view, { names, alone }, kind, title, rows) {
  const columns = COLUMNS.filter(([, , , kinds]) => kinds.includes(kind));
  const cells = ({ list }) => alone ? columns.map(([, key, show]) => [show(list[0][key], list[0])])
    : names.map((_, i) => [list[i] ? duration(list[i].wait_p90_s) : "-"]);
  const most = rows.length > MOST_LINES ? `The ${MOST_LINES} of ${count(rows.length)} that used most. ` : "";
  table(view, title, most + (alone ? "" : "Waiting time, P90."),
    alone ? columns.map(([head]) => head) : names,
    rows.slice(0, MOST_LINES).map(row => [row.name, cells(row)]));
}

export function drawGroups(view, context) {
  for (const [kind, title, noun] of [["vcs", "Virtual clusters", "virtual cluster"],
    ["sizes", "GPUs per job", "GPUs per job"], ["users", "Users"]]) {
    const rows = groupsOf(context.runs, kind);
    if (rows.length === 0)
      continue;
    if (noun)
      drawWaitsOf(view, context, noun, rows);
    if (kind === "vcs")
      drawLedger(view, context, rows);
    drawTable(view, context, kind, title, rows);
  }
}
