// worker.ts - beside the page: pictures of the scheduler now and in its log, and what-ifs
//
// One worker has one world: the present, of a snapshot, and the log once it was loaded.
import {
  History, init, policies, Replay, Scheduler, Trace,
  type Forecast, type SchedulerView, type WhatIf,
} from "openpai";
import type { Change, Effect, Start, Turned } from "./effect";
import { pictureOf, type Picture } from "./picture";

export interface Sample { time: number; waiting: number; running: number }
export interface Span { begin: number; end: number; samples: Sample[] }

/** What the worker can be asked, with its answers. */
export interface Questions {
  /** The present. */
  now: { ask: { snapshot: string }; answer: Picture };
  /** Takes a log; its first and last moment, and how many jobs waited and ran between. */
  log: { ask: { log: Uint8Array }; answer: Span };
  /** A moment of the log. */
  at: { ask: { time: number }; answer: Picture };
  /** Why a request waits, at the moment that was asked last. */
  explain: { ask: { request: number }; answer: string };
  /** What changes would do, at the moment that was asked last. */
  whatIf: { ask: { changes: Change[]; jobs: string }; answer: Effect };
  policies: { ask: Record<string, never>; answer: string[] };
}

export type Question = { [Kind in keyof Questions]: { id: number; kind: Kind; module: string } & Questions[Kind]["ask"] }[keyof Questions];
/** An answer, an error, or how much of the work is done. */
export interface Reply { id: number; answer?: unknown; error?: string; done?: number }

const RUNS = 60;      // futures of a what-if
const SAMPLES = 200;  // moments of the curve
const PIECE = 2000;   // lines without a look at what else is asked

let present: Scheduler | null = null;
let replay: Replay | null = null;
let span: Span = { begin: 0, end: 0, samples: [] }; // of the replay
let view: SchedulerView | null = null; // of the moment that was asked last

function world(): SchedulerView {
  if (view === null)
    throw new Error("no moment was chosen");
  return view;
}

function showNow(snapshot: string): Picture {
  const loaded = Scheduler.load(snapshot);
  present?.free();
  view = present = loaded;
  return pictureOf(view);
}

/* Time of a line of a log: one of its first members. */
function timeOf(line: string): number {
  return Number(/"time":(\d+)/.exec(line.slice(0, 200))?.[1] ?? NaN);
}

/* Reads the whole log once, and writes it again with snapshots in between, of which each moment
 * is found at once. A snapshot behind a gap is a new beginning. The last line may be cut. */
async function takeLog(log: Uint8Array, tell: (done: number) => void): Promise<Span> {
  const lines = new TextDecoder().decode(log.subarray(0, log.lastIndexOf(10) + 1)).split("\n");
  lines.pop();
  const begin = timeOf(lines[0] ?? ""), end = timeOf(lines.at(-1) ?? "");
  const written: string[] = [], samples: Sample[] = [];
  let scheduler: Scheduler | null = null;
  try {
    for (const [i, line] of lines.entries()) {
      for (let next; scheduler !== null && (next = begin + (end - begin) * samples.length / SAMPLES) < timeOf(line);) {
        const { waiting, running } = scheduler.sums;
        samples.push({ time: next, waiting, running });
      }
      const isSnapshot = line.startsWith('{"snapshot":');
      if (scheduler === null || isSnapshot && line.endsWith('"gap":true}')) {
        scheduler?.free();
        written.push(line);
        scheduler = Scheduler.load(line);
        scheduler.log(text => { written.push(text); }, { snapshots: true });
      } else if (!isSnapshot) {
        scheduler.send(line);
      }
      if (i % PIECE === PIECE - 1) {
        tell(i / lines.length);
        await new Promise(go => { setTimeout(go); });
      }
    }
    if (scheduler !== null)
      samples.push({ time: end, waiting: scheduler.sums.waiting, running: scheduler.sums.running });
  } finally {
    scheduler?.free();
  }
  const opened = Replay.parse(`${written.join("\n")}\n`);
  replay?.free();
  replay = opened;
  span = { begin, end, samples };
  return span;
}

function showAt(time: number): Picture {
  if (replay === null)
    throw new Error("no log was loaded");
  view = replay.at(Math.max(span.begin, Math.min(time, span.end)));
  return pictureOf(view, Math.max(span.begin, Math.min(time, Date.now() * 1000)));
}

/* How long jobs took that had ended by then. */
function learned(jobs: string, now: number): History {
  const history = new History();
  const ended = (JSON.parse(jobs) as { completedTime?: number }[])
    .filter(job => (job.completedTime ?? 0) * 1000 <= now);
  if (ended.length > 0)
    for (const { kind, user, vc, name, estimate, limit, wants, attempts } of Trace.parse(JSON.stringify(ended), { form: "openpai" })) {
      const last = attempts?.at(-1);
      if (kind === "job" && last !== undefined)
        history.add({
          gpus: (wants ?? []).reduce((sum, want) => sum + want.tasks * want.gpus, 0), duration: last.duration,
          ...user !== undefined && { user }, ...vc !== undefined && { vc }, ...name !== undefined && { name },
          ...estimate !== undefined && { estimate }, ...limit !== undefined && { limit },
        });
    }
  return history;
}

/* The changes as events, and the cluster that comes of them. */
function eventsOf(from: SchedulerView, changes: Change[]) {
  const shares = Object.fromEntries(changes.flatMap(one => one.kind === "share" ? [[one.vc, one.share]] : []));
  let cluster = Object.keys(shares).length > 0 ? from.changedCluster({ shares }) : null;
  const events = changes.flatMap((one): ({ event: string } & Record<string, unknown>)[] => {
    switch (one.kind) {
      case "drain": return [{ event: "node", node: one.node, state: "drain", why: "what if" }];
      case "resume": return [{ event: "node", node: one.node, state: "up" }];
      case "cancel": return [{ event: "cancel", id: one.id }];
      case "policy": return [{ event: "policy", policy: one.policy }];
      case "add":
        cluster = from.changedCluster({ nodes: one.nodes, of: cluster });
        return [];
      default: return [];
    }
  });
  return { events, cluster };
}

interface Told {
  at_once: { id: number; instance: number; what: Turned["what"]; asked: boolean; node_lost: boolean }[];
  waits: { id: number; change: Start["change"]; longer: number | null }[];
}

function startsOf(from: SchedulerView, found: WhatIf): Start[] {
  const told = JSON.parse(found.toJson()) as Told;
  const named = new Map(from.requests.map(one => [one.id, one]));
  const times = (forecast: Forecast) => new Map(forecast.all.map(one => [one.id, one]));
  const before = times(found.before), after = times(found.after);
  const band = (id: number, of: typeof before) => {
    const { p10, p50, p90 } = of.get(id) ?? {};
    return p50 === undefined ? null : [p10 ?? p50, p50, p90 ?? null] as const;
  };
  return told.waits.map(({ id, change, longer }) => {
    const request = named.get(id);
    const { unknown = false } = after.get(id) ?? {};
    return {
      id, change, longer, unknown, name: request?.user ? `${request.user}~${request.name ?? id}` : request?.name ?? String(id),
      vc: request?.vc ?? "", before: band(id, before), after: band(id, after),
    };
  });
}

function tryOut(changes: Change[], jobs: string): Effect {
  const from = world().fork(), history = learned(jobs, from.now);
  const { events, cluster } = eventsOf(from, changes);
  const found = from.whatIf(events, { history, runs: RUNS, ...cluster !== null && { cluster } });
  const named = new Map(from.requests.map(one => [one.id, one.user ? `${one.user}~${one.name ?? one.id}` : one.name ?? String(one.id)]));
  try {
    const { start_now, stop_now, move, sooner, later, same, never, wait_before, wait_after, used_before, used_after, unsafe, unlike } = found;
    return {
      now: from.now, starts: startsOf(from, found),
      turned: (JSON.parse(found.toJson()) as Told).at_once.map(one => ({ ...one, name: named.get(one.id) ?? String(one.id) })),
      startNow: start_now, stopNow: stop_now, move, sooner, later, same, never, unsafe, unlike,
      waitBefore: wait_before, waitAfter: wait_after, usedBefore: 100 * used_before, usedAfter: 100 * used_after,
    };
  } finally {
    found.free();
    history.free();
    from.free();
  }
}

function answer(asked: Question, tell: (done: number) => void): unknown {
  switch (asked.kind) {
    case "now": return showNow(asked.snapshot);
    case "log": return takeLog(asked.log, tell);
    case "at": return showAt(asked.time);
    case "explain": return world().explain(asked.request);
    case "whatIf": return tryOut(asked.changes, asked.jobs);
    case "policies": return policies().map(({ name }) => name);
  }
}

addEventListener("message", (event: MessageEvent<Question>) => {
  const { id, module } = event.data;
  init(module).then(() => answer(event.data, done => postMessage({ id, done } satisfies Reply))).then(
    given => postMessage({ id, answer: given } satisfies Reply),
    (error: unknown) => postMessage({ id, error: error instanceof Error ? error.message : String(error) } satisfies Reply));
});
