// wait_worker.ts - beside the page: how long a job would wait, by a forecast on a copy of the
// scheduler's state, and the smallest change with which it would start now
import { init, Job, OpenpaiError, Scheduler, type Want } from "openpai";

export interface WaitQuestion { id: number; text: string; user: string; snapshot: string; module: WebAssembly.Module }

/** A change of what a task role asks for: the scheduler's word, the number of the role, the value. */
export interface Change { key: string; want: number; value: number }

export interface Wait {
  /** Seconds in which 10, 50 and 90 % of the futures have started it; null: not known. */
  seconds: [number, number, number] | null;
  /** Why it can never start here. */
  never: string | null;
  /** With all of these it would start now, or could start at all. */
  changes: Change[];
}

export interface WaitAnswer extends Wait { id: number }

const RUNS = 12;
const REQUEST = 2 ** 52; // beyond all that a platform counts
const UNKNOWN: Wait = { seconds: null, never: null, changes: [] };
const AMOUNTS = ["tasks", "gpus", "cpus", "memory"] as const;
const STEP = { tasks: 1, gpus: 1, cpus: 1, memory: 2 ** 20 };

/* Times of a scheduler are microseconds. */
function secondsTo(time: number, now: number): number {
  return Math.max(0, (time - now) / 1e6);
}

type Shape = Required<Pick<Want, "name" | typeof AMOUNTS[number]>>;

/* Whether a request for this could ever start; the scheduler refuses it otherwise. */
function isPossible(scheduler: Scheduler, vc: string, wants: Shape[]): boolean {
  try {
    scheduler.submit({ id: REQUEST, wants, vc });
  } catch {
    return false;
  }
  scheduler.cancel(REQUEST);
  return true;
}

/* The largest amount below the present one that is possible; 0: none is. */
function mostOf(scheduler: Scheduler, vc: string, wants: Shape[], want: number, key: typeof AMOUNTS[number]): number {
  const isGood = (units: number) => isPossible(scheduler, vc,
    wants.map((one, i) => i === want ? { ...one, [key]: units * STEP[key] } : one));
  let low = 0, high = Math.ceil(wants[want]![key] / STEP[key]);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isGood(middle))
      low = middle;
    else
      high = middle;
  }
  return low * STEP[key];
}

/* The one change that takes the least, with which a request could start at all. */
function possibleChange(scheduler: Scheduler, vc: string, wants: Shape[]): Change[] {
  let best: Change | null = null, share = 0;
  wants.forEach((one, want) => AMOUNTS.forEach(key => {
    const value = mostOf(scheduler, vc, wants, want, key);
    if (value > 0 && value / one[key] > share) {
      best = { key, want, value };
      share = value / one[key];
    }
  }));
  return best === null ? [] : [best];
}

function changesOf(scheduler: Scheduler): Change[] {
  const events = scheduler.reason(REQUEST).own_change as { event: string; key?: string; want?: number; value?: number }[] | undefined;
  return (events ?? []).map(({ key = "", want = 0, value = 0 }) => ({ key, want, value }));
}

function forecast(scheduler: Scheduler, now: number): Wait {
  const { unknown, p10, p50, p90 } = scheduler.when(REQUEST, { runs: RUNS });
  const isKnown = !unknown && p10 !== undefined && p50 !== undefined && p90 !== undefined;
  return {
    seconds: isKnown ? [secondsTo(p10!, now), secondsTo(p50!, now), secondsTo(p90!, now)] : null,
    never: null, changes: changesOf(scheduler),
  };
}

function waitOf({ text, user, snapshot }: WaitQuestion): Wait {
  const job = Job.parse(text);
  const scheduler = Scheduler.load(snapshot);
  try {
    const { now } = scheduler.sums, vc = job.virtualCluster;
    const wants = job.roles.map(role => ({
      name: role.name, tasks: role.instances, gpus: role.gpus, cpus: role.cpus, memory: role.memory_mb * 2 ** 20,
    }));
    try {
      scheduler.submit({ id: REQUEST, wants, vc, user }, now);
    } catch (error) {
      if (!(error instanceof OpenpaiError && error.code === "PAI_ENOROOM"))
        throw error;
      return { ...UNKNOWN, never: error.reason.replace(/^event \d+: /, ""), changes: possibleChange(scheduler, vc, wants) };
    }
    return scheduler.decide(now).some(one => one.id === REQUEST) ? { ...UNKNOWN, seconds: [0, 0, 0] } : forecast(scheduler, now);
  } finally {
    scheduler.free();
    job.free();
  }
}

addEventListener("message", (event: MessageEvent<WaitQuestion>) => {
  void init(event.data.module).then(() => {
    let wait = UNKNOWN;
    try {
      wait = waitOf(event.data);
    } catch {
      // a file that cannot be submitted; its problems are shown
    }
    postMessage({ id: event.data.id, ...wait } satisfies WaitAnswer);
  });
});
