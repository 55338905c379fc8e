// job_files.ts - job files in the browser: the library's own reader and writer
import { useEffect, useState } from "preact/hooks";
import type { Job as JobClass } from "openpai/check";
import { core } from "./core";

export type JobFiles = typeof import("openpai/check");

let loading: Promise<JobFiles> | undefined;

/** The classes Job and Draft, which are loaded when they are first needed. */
export function jobFiles(): Promise<JobFiles> {
  loading ??= import("openpai/check").then(async module => {
    await module.init(core());
    return module;
  }).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** The same as a hook. Undefined while they are being loaded. */
export function useJobFiles(): { files?: JobFiles; error?: unknown } {
  const [found, setFound] = useState<{ files?: JobFiles; error?: unknown }>({});
  useEffect(() => {
    jobFiles().then(files => setFound({ files }), (error: unknown) => setFound({ error }));
  }, []);
  return found;
}

export interface Demand { gpus: number; cpus: number; memory: number }

/** What all tasks of a job file ask for together; null if it cannot be read. */
export function demandOf(Job: typeof JobClass, text: string): Demand | null {
  try {
    const job = Job.parse(text);
    try {
      const sum = { gpus: 0, cpus: 0, memory: 0 };
      for (const role of job.roles) {
        sum.gpus += role.instances * role.gpus;
        sum.cpus += role.instances * role.cpus;
        sum.memory += role.instances * role.memory_mb * 2 ** 20;
      }
      return sum;
    } finally {
      job.free();
    }
  } catch {
    return null; // its problems are shown
  }
}

/** Whether a text is an old job file, which was JSON. */
export function isV1(text: string): boolean {
  return /^\s*\{/.test(text) && /"jobName"/.test(text) && !/"protocolVersion"/.test(text);
}
