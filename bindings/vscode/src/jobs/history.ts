// history.ts - what the tasks of a job have used since its page was opened

import type { Use } from "./metrics";

/** A metric of some tasks: a value for each time, null where it is not known. */
export interface Series {
  name: string;
  values: (number | null)[];
}
export interface Shown {
  /** Milliseconds; a value holds until the next time. */
  times: number[];
  cpu: Series[];
  memory: Series[];
  gpu: Series[];
  /** Tasks that are not shown. */
  others: number;
}

const MOST = 720, MOST_TASKS = 8;

export class History {
  private samples: { time: number; uses: Record<string, Use> }[] = [];

  /** @param every  the usual time between two samples; after a longer one there is a gap */
  constructor(private readonly every: number) {}

  add(time: number, uses: Record<string, Use>): void {
    const last = this.samples.at(-1);
    if (last !== undefined && time - last.time > 3 * this.every)
      this.samples.push({ time: last.time + this.every, uses: {} });
    this.samples.push({ time, uses });
    // The older half with half the samples, so that a page of a long job stays whole.
    if (this.samples.length > MOST)
      this.samples = this.samples.filter((_, i) => i >= MOST / 2 || i % 2 === 0);
  }

  /** Of the tasks that used most CPU time. */
  shown(): Shown {
    const sums = new Map<string, number>();
    for (const { uses } of this.samples)
      for (const [task, use] of Object.entries(uses))
        sums.set(task, (sums.get(task) ?? 0) + (use.cpuPercent ?? 0));
    const tasks = [...sums].sort((a, b) => b[1] - a[1]).map(([task]) => task).slice(0, MOST_TASKS);
    tasks.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const series = (metric: keyof Use): Series[] => tasks.map(name => ({
      name, values: this.samples.map(({ uses }) => uses[name]?.[metric] ?? null),
    })).filter(({ values }) => values.some(value => value !== null));
    return {
      times: this.samples.map(one => one.time), cpu: series("cpuPercent"),
      memory: series("memory"), gpu: series("gpuPercent"), others: sums.size - tasks.length,
    };
  }
}
