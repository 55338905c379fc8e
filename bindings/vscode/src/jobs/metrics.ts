// metrics.ts - what tasks use, from a server's metrics in the form of Prometheus

export interface Use {
  /** Of one CPU, or of the GPUs. */
  cpuPercent?: number;
  gpuPercent?: number;
  memory?: number;
  memoryLimit?: number;
}

const NAMES: Record<string, keyof Use> = {
  task_cpu_percent: "cpuPercent", task_gpu_percent: "gpuPercent",
  task_mem_usage_byte: "memory", task_mem_limit_byte: "memoryLimit",
};
const LINE = /^(task_\w+)\{([^}]*)\} (\S+)/gm;

/** The use of each task of a job, by ROLE/INDEX; of several GPUs the mean. */
export function usesOf(text: string, job: string): Record<string, Use> {
  const uses: Record<string, Use> = {}, counts: Record<string, number> = {};
  for (const [, metric, labels, number] of text.matchAll(LINE)) {
    const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1];
    const member = NAMES[metric], value = Number(number);
    if (member === undefined || !Number.isFinite(value) || label("job_name") !== job)
      continue;
    const task = `${label("role_name")}/${label("task_index")}`, key = `${task} ${member}`;
    const use = uses[task] ??= {}, before = counts[key] ?? 0;
    use[member] = ((use[member] ?? 0) * before + value) / (before + 1);
    counts[key] = before + 1;
  }
  return uses;
}
