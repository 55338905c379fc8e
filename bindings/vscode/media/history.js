// history.js - what the tasks of a job have used since its page was opened, as lines
import { keys, lineOf, plot } from "./viewer/chart.js";
import { clean, count, duration } from "./viewer/format.js";

const MIB = 1048576, STRIPS = 64;
const percent = value => `${count(value)} %`;

/** Steps of the values that are known; a gap stays one. */
function lines(frame, edges, values) {
  let path = "";
  for (let from = 0, to; from < values.length; from = to + 1) {
    for (to = from; to < values.length && values[to] !== null; to++);
    if (to > from)
      path += frame.steps(edges.slice(from, to + 1), values.slice(from, to));
  }
  return path;
}

function drawMetric(view, title, text, { times, series, show, least }) {
  if (series.length === 0 || times.length < 2)
    return;
  const seconds = times.map(time => (time - times[0]) / 1000), end = seconds.at(-1);
  const names = series.map(one => clean(one.name)), key = keys(names, lineOf);
  plot(view, title, text, key, 150, 64, frame => {
    frame.axisY(Math.max(least, ...series.flatMap(one => one.values)), show, least);
    frame.axisX(0, end);
    for (const [i, { values }] of series.entries())
      frame.add("path", { class: lineOf(i).line, d: lines(frame, seconds, values.slice(0, -1)) });
    for (let strip = 0; strip < STRIPS; strip++) {
      const time = end * (strip + 0.5) / STRIPS, x = frame.x(end * strip / STRIPS);
      const at = seconds.findLastIndex(one => one <= time);
      frame.mark(x, frame.top, frame.x(end * (strip + 1) / STRIPS) - x, frame.bottom - frame.top,
        () => [`${duration(end - time)} ago`, ...series.map(({ values }, i) =>
          `${names[i]}: ${values[at] === null ? "not known" : show(values[at])}`)]);
    }
  });
}

export function drawHistory(view, { times, cpu, memory, gpu, others }) {
  const text = "Since this page was opened." +
    (others > 0 ? ` ${count(others)} tasks that used less CPU time are not shown.` : "");
  const inMib = memory.map(({ name, values }) =>
    ({ name, values: values.map(value => value === null ? null : value / MIB) }));
  drawMetric(view, "CPU", text, { times, series: cpu, show: percent, least: 1 });
  drawMetric(view, "Memory", "", { times, series: inMib, show: value => `${count(value)} MiB`, least: 1 });
  drawMetric(view, "GPU", "", { times, series: gpu, show: percent, least: 1 });
}
