// wait_worker.ts - beside the page: how long a job would wait, by a forecast on a copy of the
// scheduler's state
import { init, Job, Scheduler } from "openpai";

export interface WaitQuestion { id: number; text: string; user: string; snapshot: string; module: string }
export interface WaitAnswer { id: number; seconds: [number, number, number] | null }

const RUNS = 12;
const REQUEST = 2 ** 52; // beyond all that a platform counts

/* Times of a scheduler are microseconds. */
function secondsTo(time: number, now: number): number {
  return Math.max(0, (time - now) / 1e6);
}

/* Seconds in which 10, 50 and 90 % of the futures have started it; null: not known. */
function waitOf(question: WaitQuestion): WaitAnswer["seconds"] {
  const job = Job.parse(question.text);
  const scheduler = Scheduler.load(question.snapshot);
  try {
    const { now } = scheduler.sums;
    const wants = job.roles.map(role => ({
      name: role.name, tasks: role.instances, gpus: role.gpus, cpus: role.cpus, memory: role.memory_mb * 2 ** 20,
    }));
    scheduler.submit({ id: REQUEST, wants, vc: job.virtualCluster, user: question.user }, now);
    if (scheduler.decide(now).some(one => one.id === REQUEST))
      return [0, 0, 0];
    const { unknown, p10, p50, p90 } = scheduler.when(REQUEST, { runs: RUNS });
    return unknown || p10 === undefined || p50 === undefined || p90 === undefined ? null
      : [secondsTo(p10, now), secondsTo(p50, now), secondsTo(p90, now)];
  } finally {
    scheduler.free();
    job.free();
  }
}

addEventListener("message", (event: MessageEvent<WaitQuestion>) => {
  void init(event.data.module).then(() => {
    let seconds: WaitAnswer["seconds"] = null;
    try {
      seconds = waitOf(event.data);
    } catch {
      // a file that cannot be submitted; its problems are shown
    }
    postMessage({ id: event.data.id, seconds } satisfies WaitAnswer);
  });
});
