// effect.ts - changes of a what-if, and what they would do

export type Change =
  | { kind: "drain" | "resume"; node: string }
  | { kind: "add"; nodes: string }
  | { kind: "share"; vc: string; share: string }
  | { kind: "policy"; policy: string }
  | { kind: "cancel"; id: number };

/** Times when one in ten, half, and nine in ten futures have started it; null: not within the horizon. */
export type Band = readonly [number, number, number | null];

export interface Start {
  id: number;
  name: string;
  vc: string;
  change: "new" | "sooner" | "later" | "same" | "never";
  /** Microseconds by which it waits longer; null: it starts in one of the two alone. */
  longer: number | null;
  before: Band | null;
  after: Band | null;
  /** Nothing like it has ended yet, so that nothing is known. */
  unknown: boolean;
}

/** What happens at once. */
export interface Turned {
  id: number;
  name: string;
  instance: number;
  what: "start" | "stop" | "move";
  asked: boolean;
  node_lost: boolean;
}

export interface Effect {
  now: number;
  starts: Start[];
  turned: Turned[];
  startNow: number;
  stopNow: number;
  move: number;
  sooner: number;
  later: number;
  same: number;
  never: number;
  /** Running jobs would be stopped or moved. */
  unsafe: boolean;
  /** The present is unlike the past. */
  unlike: boolean;
  waitBefore: number;
  waitAfter: number;
  /** GPUs in use until all have started, in percent. */
  usedBefore: number;
  usedAfter: number;
}
