// waits.ts - why a job waits and when it may start, in sentences

import type { JobEstimate, JobWhy } from "../api";
import type { Clusters } from "../clusters/store";
import type { Cluster } from "../clusters/cluster";

// How often, and in what steps in milliseconds, a new job is looked at until it counts as waiting.
const LOOKS = 4, MOMENT = 250;

const clock = (time: number): string => {
  const then = new Date(time), today = then.toDateString() === new Date().toDateString();
  return today ? then.toLocaleTimeString() : then.toLocaleString();
};

export interface Wait {
  why: JobWhy | null;
  estimate: JobEstimate | null;
}

/** When a job may start, as a sentence, or "". */
function startText({ estimate }: Wait): string {
  const start = estimate?.start;
  if (!start?.p50)
    return estimate?.unknown ? "When it starts is not known." : "";
  return `It may start ${clock(start.p50)}` +
    (start.p90 ? `, by ${clock(start.p90)} in 9 of 10 cases.` : ".");
}

/** All that is known, in lines. */
export function waitLines(wait: Wait): string[] {
  const { explanation, reasons, line } = wait.why ?? {};
  const lines = [explanation ?? "", ...(reasons ?? []).map(reason => reason.text),
    line?.place ? `Place ${line.place} of ${line.waiting} in ${line.virtualCluster}.` : "",
    startText(wait)];
  return [...new Set(lines)].filter(text => text !== "");
}

/** The first reason and the time, for a message. */
export function waitText(wait: Wait): string {
  const reason = (wait.why?.reasons[0]?.text ?? wait.why?.explanation ?? "").replace(/\.$/, "");
  const why = reason === "" ? "It waits." : /^waits\b/.test(reason) ? `It ${reason}.`
    : `It waits: ${reason}.`;
  return [why, startText(wait)].filter(text => text !== "").join(" ");
}

/** Asks why a job waits; an old server has no such calls. */
export async function askWait(clusters: Clusters, cluster: Cluster, job: string): Promise<Wait> {
  const [why, estimate] = await Promise.all([
    clusters.call("jobs.why", { job }, cluster).catch(() => null),
    clusters.call("jobs.estimate", { job }, cluster).catch(() => null),
  ]);
  return { why, estimate };
}

/**
 * The same of a job that was just submitted; undefined of one that starts. The scheduler gets a
 * moment to place it.
 */
export async function waitOfNew(clusters: Clusters, cluster: Cluster, job: string):
  Promise<Wait | undefined> {
  for (let look = 0; look < LOOKS; look++) {
    const told = await clusters.call("jobs.show", { job }, cluster).catch(() => undefined);
    if (told?.jobStatus.state !== "WAITING")
      return undefined;
    await new Promise(done => setTimeout(done, MOMENT));
  }
  return askWait(clusters, cluster, job);
}
