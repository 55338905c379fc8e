// over_time.js - what was in use and in the queue over time, and how long jobs waited
import { areaOf, keys, lineOf, plot } from "./chart.js";
import { count, duration, factor, percent, roundPercent } from "./format.js";

const STRIPS = 128;

// The mean of an amount in bin i of a run; the last bin may be short, or empty.
const mean = column => ({ bins, bin_s, span_s }, i) =>
  bins[column][i] / Math.min(bin_s, span_s - i * bin_s) || 0;
const share = column => (run, i) => mean(column)(run, i) / Math.max(run.gpus || run.cpus, 1);
const busy = share("busy_gpu_s"), idle = share("fragmented_gpu_s"), up = share("up_gpu_s");
const down = (run, i) => Math.max(1 - up(run, i), 0);
const free = (run, i) => Math.max(up(run, i) - busy(run, i) - idle(run, i), 0);

/** layers: name, look, value, long name; each stands on those before it */
function drawLayers(view, { runs, names, alone }, title, text, end, axis, show, layers) {
  const valuesOf = (run, value) => run.bins.up_gpu_s.map((_, i) => value(run, i));
  const edgesOf = run => [...run.bins.up_gpu_s.map((_, i) => i * run.bin_s), run.span_s];
  const tell = (run, time, [name, , value]) => {
    const i = Math.floor(time / run.bin_s);
    return i * run.bin_s < run.span_s ? `${show(value(run, i))} ${name}` : "ended";
  };
  const key = !alone ? keys(names, lineOf)
    : keys(layers.slice(1).length > 0 ? layers.map(([name, , , long = name]) => long) : [],
      i => layers[i][1]);
  plot(view, title, text, key, 150 + 30 * layers.length, 64, frame => {
    const tops = runs.map(run => valuesOf(run, layers[0][2])), high = frame.bottom - frame.top;
    axis(frame, Math.max(0, ...tops.flat()));
    frame.axisX(0, end);
    let lower = tops[0].map(() => 0);
    for (const [, look, value] of alone ? layers : []) {
      const upper = valuesOf(runs[0], value).map((value, i) => lower[i] + value);
      frame.area(look, edgesOf(runs[0]), lower, upper);
      lower = upper;
    }
    for (const [i, values] of alone ? [] : tops.entries())
      frame.add("path", { class: lineOf(i).line, d: frame.steps(edgesOf(runs[i]), values) });
    for (let i = 0; i < STRIPS; i++) {
      const time = end * i / STRIPS, x = frame.x(time);
      frame.mark(x, frame.top, frame.x(end * (i + 1) / STRIPS) - x, high, () => [
        `at ${duration(time)}`, ...alone ? layers.map(layer => tell(runs[0], time, layer))
          : runs.map((run, k) => `${names[k]}: ${tell(run, time, layers[0])}`)]);
    }
  });
}

export function drawOverTime(view, context) {
  const { runs, unit } = context, end = Math.max(...runs.map(run => run.span_s));
  const plain = { colour: "f0" }, amounts = (frame, most) => frame.axisY(most, count, 1);
  if (end <= 0)
    return;
  drawLayers(view, context, `${unit}s in use`, "Share of the cluster over time.", end,
    frame => frame.axisY(1, roundPercent, 0.2), percent, [
      ["in use", plain, busy],
      ["fragmented", { colour: "f1", hatch: 1 }, idle,
        "fragmented: free, but of no use to whole-node tasks"],
      ["free", { colour: "free" }, free],
      ["down", { colour: "down", hatch: 2 }, down, "on nodes that are down"],
    ]);
  drawLayers(view, context, "Queue", "Waiting jobs over time.", end, amounts, factor,
    [["jobs", plain, mean("waiting_job_s")]]);
  drawLayers(view, context, "Backlog", `${unit}s that waiting jobs ask for, over time.`, end,
    amounts, factor, [[`${unit}s`, plain, mean("wanted_gpu_s")]]);
}

const CLASSES = [[1, "< 1 s"], [60, "< 1 min"], [600, "< 10 min"], [3600, "< 1 h"],
  [21600, "< 6 h"], [86400, "< 1 d"], [604800, "< 1 week"], [2419200, "< 4 weeks"], [Infinity, "longer"]];

/** The share of jobs in each class; `at` has the waiting time at each thousandth of the jobs */
export function sharesOf({ count, at }) {
  const sums = CLASSES.map(([end]) => {
    const n = end < Infinity ? at.findIndex(value => value >= end) : -1;
    return count > 0 ? (n < 0 ? 1000 : Math.max(n - 1, 0)) / 1000 : 0;
  });
  return sums.map((sum, i) => sum - (sums[i - 1] ?? 0));
}

function drawClasses(view, { runs, names, alone }) {
  const shares = runs.map(run => sharesOf(run.waits_s)), key = keys(alone ? [] : names, areaOf);
  const text = "From submission to the first start, of started jobs.";
  plot(view, "Waiting time", text, key, 220, 64, frame => {
    const wide = (frame.right - frame.left) / CLASSES.length, bar = wide * 0.84 / runs.length;
    frame.axisY(Math.max(0.001, ...shares.flat()), roundPercent, 0.001);
    for (const [k, [, name]] of CLASSES.entries()) {
      const left = frame.left + k * wide;
      for (const [i, { [k]: part }] of shares.entries())
        frame.rect(areaOf(i), left + wide * 0.08 + i * bar, frame.y(part),
          bar - Math.min(bar * 0.2, 1), frame.bottom - frame.y(part));
      if (alone && wide > 44)
        frame.text("x", left + wide / 2, frame.y(shares[0][k]) - 4, percent(shares[0][k]));
      if (wide > 56 || k % 2 === 0)
        frame.text("x", left + wide / 2, frame.bottom + 16, name);
      frame.mark(left, frame.top, wide, frame.bottom - frame.top, () => [name, ...shares.map(
        (list, i) => `${alone ? "" : `${names[i]}: `}${percent(list[k])} of the jobs`)]);
    }
  });
}

export function drawWaits(view, context) {
  const { runs, names, alone } = context, lists = runs.map(run => run.waits_s.at);
  const text = "Share of jobs that waited no longer, on a logarithmic axis.";
  if (lists.every(at => at.length === 0))
    return;
  drawClasses(view, context);
  plot(view, "Waiting time, cumulative", text, keys(alone ? [] : names, lineOf), 220, 64, frame => {
    frame.axisY(1, roundPercent, 0.2);
    frame.axisLogTime(Math.max(...lists.map(at => at[1000] ?? 0)));
    for (const [i, at] of lists.entries())
      frame.add("path", { class: lineOf(i).line, d: `M${frame.left} ${frame.bottom}` + at.map(
        (value, k) => k % 4 ? "" : `H${frame.x(value)}V${frame.y(k / 1000)}`).join("") +
        `H${at.length > 0 ? frame.right : frame.left}` });
    for (let k = 5; k <= 100; k += 5)
      frame.mark(frame.left, frame.y(k / 100), frame.right - frame.left, frame.y(0) - frame.y(0.05),
        () => [`${k} of 100 jobs waited no longer than`, ...lists.map((at, i) =>
          `${alone ? "" : `${names[i]}: `}${at.length > 0 ? duration(at[k * 10]) : "-"}`)]);
  });
}
