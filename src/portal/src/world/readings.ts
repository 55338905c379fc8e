// readings.ts - what is measured of cells, from the text of /metrics
import type { Picture } from "./picture";
import type { Mode } from "./colours";

interface Series { labels: Record<string, string>; value: number }

/** Measurements by name. */
export type Metrics = Map<string, Series[]>;

const WANTED = new Set(["task_gpu_percent", "task_gpu_mem_percent", "task_cpu_percent", "task_mem_usage_percent", "nvidiasmi_temperature"]);

export function metricsOf(text: string): Metrics {
  const found: Metrics = new Map();
  for (const line of text.split("\n")) {
    const name = /^\w+/.exec(line)?.[0] ?? "";
    if (!WANTED.has(name))
      continue;
    const labels = Object.fromEntries(Array.from(line.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, key, value]) => [key, value]));
    const value = Number(line.slice(line.lastIndexOf(" ") + 1));
    found.set(name, [...found.get(name) ?? [], { labels, value }]);
  }
  return found;
}

/* Of a task; a job with one role has it without a name in the picture. */
function keyOf(job: string, role: string, index: number | string): string {
  return `${job}\n${role}\n${index}`;
}

/** What is known of the cells of each node: numbers, or nothing. */
export function readingsOf(mode: Mode, picture: Picture, metrics: Metrics): (number | undefined)[][] {
  const byTask = (name: string) => {
    const map = new Map<string, Map<string, number>>();
    for (const { labels, value } of metrics.get(name) ?? [])
      for (const role of [labels.role_name ?? "", ""]) {
        const key = keyOf(labels.job_name ?? "", role, labels.task_index ?? "");
        map.set(key, (map.get(key) ?? new Map<string, number>()).set(labels.minor_number ?? "", value));
      }
    return map;
  };
  if (mode === "temperature")
    return picture.nodes.map(node => node.cells.map((_cell, gpu) => node.unit === "gpu" ?
      metrics.get("nvidiasmi_temperature")?.find(({ labels }) => labels.minor_number === String(gpu) &&
        (labels.node_name ?? picture.nodes[0]!.name) === node.name)?.value : undefined));
  const ofGpu = byTask(mode === "use" ? "task_gpu_percent" : "task_gpu_mem_percent");
  const ofCpu = byTask(mode === "use" ? "task_cpu_percent" : "task_mem_usage_percent");
  return picture.nodes.map(node => node.cells.map((cell, number) => {
    const task = picture.tasks[cell];
    if (task === undefined)
      return undefined;
    const key = keyOf(picture.jobs[task.job]!.name, task.role ?? "", task.index);
    if (node.unit === "gpu")
      return ofGpu.get(key)?.get(String(number));
    const value = ofCpu.get(key)?.get("");
    return value === undefined ? undefined : mode === "use" ? value / Math.max(task.cpus, 0.001) : value;
  }));
}
