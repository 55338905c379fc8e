// charts.tsx - time series as charts, live, and as a table
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Metrics } from "../api";
import { addressOf } from "../call";
import { amount, time } from "../format";
import { parameters, setParameters } from "../router";
import { t, type TextKey } from "../texts";
import { Failed } from "./failed";
import { readEvents } from "./server_events";
import { type Group, groupsOf, type Sample, timesOf, withSample } from "./series";
import { useCall } from "./use_call";

const MINUTE = 60000, MOST_ROWS = 40;
const COLOURS = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--chart-6", "--chart-7", "--chart-8"];

/** THE table of what a chart may show: how far back, in milliseconds. */
const RANGES: { name: string; text: TextKey; back: number }[] = [
  { name: "2m", text: "last2Minutes", back: 2 * MINUTE },
  { name: "1h", text: "lastHour", back: 60 * MINUTE },
  { name: "1d", text: "lastDay", back: 1440 * MINUTE },
  { name: "7d", text: "lastWeek", back: 7 * 1440 * MINUTE },
  { name: "30d", text: "lastMonth", back: 30 * 1440 * MINUTE },
];

const titleOf = (group: Group) => t(`metric_${group.name}` as TextKey);

function lastOf(values: (number | null)[]): number | null {
  return values.findLast(value => value !== null) ?? null;
}

/** What a chart shows, in words. */
function said(group: Group): string {
  return `${titleOf(group)}: ${group.lines.map(line => `${line.label} ${amount(lastOf(line.values), group.unit)}`.trim()).join(", ")}`;
}

/* Steps of an axis of bytes: powers of two. */
const POWERS = Array.from({ length: 50 }, (_, i) => 2 ** i);

/* The time below an axis: of the day, or with its date where the axis has several. */
function tickOf(second: number, span: number): string {
  const date = new Date(second * 1000);
  return span > 86400 ? date.toLocaleDateString(undefined, { month: "numeric", day: "numeric", hour: "numeric" })
    : date.toLocaleTimeString(undefined, { hour: "numeric", minute: "2-digit", ...span < 600 && { second: "2-digit" } });
}

/* Values without a neighbour, which no line shows: a busy machine has few samples, and a short job. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values, (_, i) => i).filter(i => values[i] != null && values[i - 1] == null && values[i + 1] == null);
}

function optionsOf(group: Group, width: number, style: CSSStyleDeclaration): uPlot.Options {
  const dim = style.getPropertyValue("--dim"), line = style.getPropertyValue("--line");
  const axis = { stroke: dim, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  return {
    width, height: 160, legend: { show: false }, cursor: { drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_plot, _least, most) => [0, group.unit === "percent" ? 100 : Math.max(most * 1.1, 1e-3)] } },
    axes: [{ ...axis, space: 90, values: (_plot, seconds) => seconds.map(second => tickOf(second, seconds.at(-1)! - seconds[0]!)) },
      { ...axis, size: 84, ...group.unit.startsWith("bytes") && { incrs: POWERS }, values: (_plot, values) => values.map(value => amount(value, group.unit)) }],
    series: [{}, ...group.lines.map((one, i) => ({
      label: one.label, width: 1.5, spanGaps: false, stroke: style.getPropertyValue(COLOURS[i % COLOURS.length]!), points: { show: true, size: 5, filter: (plot: uPlot, series: number) => alone(plot.data[series] ?? []) },
    }))],
  };
}

function Chart({ group, times }: { group: Group; times: number[] }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [times, ...group.lines.map(line => line.values)] as uPlot.AlignedData;
  const shape = `${group.name} ${group.lines.map(line => line.label).join()}`;

  useEffect(() => {
    const element = place.current!;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(group, element.clientWidth, getComputedStyle(element)), data, element);
    };
    draw();
    const onSize = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: 160 }));
    const onTheme = new MutationObserver(draw);
    onSize.observe(element);
    onTheme.observe(document.documentElement, { attributeFilter: ["class"] });
    return () => {
      onSize.disconnect();
      onTheme.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [times]);
  return <figure class="chart">
    <figcaption>{titleOf(group)} {group.lines.map((line, i) => <span key={line.label} class={`line-${i % COLOURS.length + 1}`}>
      {line.label} <strong>{amount(lastOf(line.values), group.unit)}</strong>
    </span>)}</figcaption>
    <div ref={place} role="img" aria-label={said(group)} />
  </figure>;
}

/* The same as numbers, at most so many rows. */
function Table({ groups, times }: { groups: Group[]; times: number[] }) {
  const each = Math.ceil(times.length / MOST_ROWS);
  const rows = times.map((_, i) => i).filter(i => (times.length - 1 - i) % each === 0);
  const columns = groups.flatMap(group => group.lines.map(line => ({ head: `${titleOf(group)} ${line.label}`.trim(), values: line.values, unit: group.unit })));
  return <div class="wide" tabIndex={0} role="region" aria-label={t("valuesAsTable")}><table>
    <thead><tr><th scope="col">{t("time")}</th>{columns.map(column => <th key={column.head} scope="col">{column.head}</th>)}</tr></thead>
    <tbody>{rows.map(i => <tr key={times[i]}>
      <th scope="row">{time(times[i]! * 1000)}</th>
      {columns.map(column => <td key={column.head}>{amount(column.values[i] ?? null, column.unit)}</td>)}
    </tr>)}</tbody>
  </table></div>;
}

export interface OfCharts {
  /** What is shown: a job or a node. */
  of: { job: string } | { node: string };
  /** Of a job that is over: its beginning and its end. */
  over?: { from: number; to: number } | undefined;
}

function useMetrics({ of, over }: OfCharts, back: number) {
  const [from] = useMemo(() => [Date.now() - back], [back, JSON.stringify(of)]);
  const range = over ?? { from };
  const job = useCall("jobs.metrics", "job" in of ? { ...of, ...range } : null);
  const node = useCall("nodes.metrics", "node" in of ? { ...of, ...range } : null);
  return "job" in of ? job : node;
}

/* The server sends a sample each second; after a lost connection all is asked for again. */
function useSamples(of: OfCharts["of"], isLive: boolean, onSample: (sample: Sample) => void, again: () => void): void {
  useEffect(() => {
    if (!isLive)
      return;
    const address = "job" in of ? addressOf("jobs.watch_metrics", of) : addressOf("nodes.watch_metrics", of);
    const stop = new AbortController();
    void readEvents(address, stop.signal, {
      onOpen(isAgain) {
        if (isAgain)
          again();
      },
      onEvent({ event, data }) {
        if (event === "sample")
          onSample(JSON.parse(data) as Sample);
      },
    });
    return () => stop.abort();
  }, [JSON.stringify(of), isLive]);
}

export function Charts({ of, over }: OfCharts) {
  const range = RANGES.find(one => one.name === parameters.value.get("range")) ?? RANGES[0]!;
  const answer = useMetrics({ of, over }, range.back);
  const [live, setLive] = useState<Metrics | undefined>();
  const [isTable, setTable] = useState(false);

  useEffect(() => setLive(answer.value), [answer.value]);
  useSamples(of, over === undefined, sample => setLive(before => before && withSample(before, sample)), answer.again);
  const groups = useMemo(() => live === undefined ? [] : groupsOf(live), [live]);
  const times = useMemo(() => live === undefined ? [] : timesOf(live), [live]);
  if (live === undefined)
    return answer.error !== undefined ? <Failed error={answer.error} /> : <p class="loading" aria-busy="true" />;
  return <>
    {over === undefined && <p class="filters"><label>{t("timeRange")} <select value={range.name} onChange={event => setParameters({ range: event.currentTarget.value })}>
      {RANGES.map(one => <option key={one.name} value={one.name}>{t(one.text)}</option>)}
    </select></label></p>}
    {groups.length === 0 && <p class="empty">{t("noMetrics")}</p>}
    <div class="charts">{groups.map(group => <Chart key={group.name} group={group} times={times} />)}</div>
    {groups.length > 0 && <details onToggle={event => setTable(event.currentTarget.open)}>
      <summary>{t("valuesAsTable")}</summary>
      {isTable && <Table groups={groups} times={times} />}
    </details>}
  </>;
}
