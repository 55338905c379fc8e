// check.ts - checks job files in the browser, with the library's own checker
import type { Diagnostic, Job as JobClass } from "openpai/check";

type Checker = typeof JobClass;

let loading: Promise<Checker> | undefined;

/** The checker, which is loaded when it is first needed. */
export function checker(): Promise<Checker> {
  loading ??= import("openpai/check").then(async module => {
    await module.init(document.querySelector<HTMLMetaElement>("meta[name=openpai-check]")!.content);
    return module.Job;
  });
  return loading;
}

export interface Demand { gpus: number; cpus: number; memory: number }

/** What all tasks of a job file ask for together; null if it cannot be read. */
export function demandOf(Job: Checker, text: string): Demand | null {
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

export type { Diagnostic };
