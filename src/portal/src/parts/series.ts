// series.ts - time series as charts want them: grouped by metric, and growing
import type { MetricSeries, Metrics } from "../api";

export interface Line { label: string; values: (number | null)[] }

/** Lines of one metric, over the same times. */
export interface Group { name: string; unit: string; lines: Line[] }

/** A value of each series, as the stream sends it: in the order of the series. */
export interface Sample { time: number; values: (number | null)[] }

function labelOf(series: MetricSeries): string {
  if (series.gpu !== undefined)
    return `GPU ${series.gpu}`;
  return series.role !== undefined ? `${series.role}/${series.index ?? 0}` : "";
}

/** Groups series by their metric, in their order; those without any value are left out. */
export function groupsOf(metrics: Metrics): Group[] {
  const groups = new Map<string, Group>();
  for (const series of metrics.series) {
    const values = series.values as (number | null)[];
    const group = groups.get(series.name) ?? { name: series.name, unit: series.unit, lines: [] };
    groups.set(series.name, group);
    if (values.some(value => value !== null))
      group.lines.push({ label: labelOf(series), values });
  }
  return [...groups.values()].filter(group => group.lines.length > 0);
}

/** The times of the values, in seconds. */
export function timesOf(metrics: Metrics): number[] {
  const count = (metrics.series[0]?.values as unknown[] | undefined)?.length ?? 0;
  return Array.from({ length: count }, (_, i) => metrics.from / 1000 + i * metrics.step);
}

/** The series with a sample at their end and their first values gone; unchanged before the next step. */
export function withSample(metrics: Metrics, sample: Sample): Metrics {
  const steps = Math.floor((sample.time - metrics.to) / (1000 * metrics.step)) + 1;
  if (sample.values.length !== metrics.series.length || steps < 1)
    return metrics;
  // A sample is the mean since the one before, so it is that of the seconds between them, too.
  const gap = (value: number | null) => Array<number | null>(Math.min(steps - 1, 2000)).fill(steps <= 10 ? value : null);
  const ahead = 1000 * metrics.step * steps;
  return {
    ...metrics, from: metrics.from + ahead, to: metrics.to + ahead,
    series: metrics.series.map((series, i) => ({
      ...series, values: [...series.values as (number | null)[], ...gap(sample.values[i] ?? null), sample.values[i] ?? null].slice(steps),
    })),
  };
}
