// index.d.ts - types of the whole package. Times are whole microseconds, memory
// is bytes; records have the names that they have in all languages.
import type { Report } from "./check.js";
import type {
  Decision, Guess, HiveDBinding, Node, Place, Policy, Reason, Request, Running,
  SchedNode, SchedSums, SchedVirtualCluster, SimCounts, SimJob, SimSums, Sku, Sums,
  TraceNote, TraceRecord, VirtualCluster, Want, WhatIfSums, When } from "./records.js";
export * from "./check.js";
export * from "./records.js";
export type { Diagnostic } from "./check.js"; // rather than the record's

type Text = string | Uint8Array;

// --- clusters ------------------------------------------------------------------

export interface Mark {
  /** The node's name and the GPU's number in it; without a node, its number in
   * the cluster. */
  node?: string;
  gpu: number;
  state?: "free" | "used" | "sick";
  text?: string;
}

/** A description of machines, their GPUs and virtual clusters. */
export class Cluster {
  private constructor();
  /** Reads a description; without a form it is recognized. */
  static parse(text: Text, form?: string | null): Cluster;
  /** Of one line, as "racks:2 nodes:16 gpu:8:h100". */
  static synthetic(description: string): Cluster;
  static check(text: Text, form?: string | null): Report;
  readonly sums: Sums;
  readonly nodeCount: number;
  readonly nodes: Node[];
  readonly skus: Sku[];
  readonly virtualClusters: VirtualCluster[];
  node(node: string | number): Node;
  /** null: it is healthy; without a GPU, the whole node. */
  setSick(node: string | number, why: string | null, gpu?: number): void;
  toYaml(): string;
  toJson(): string;
  toHived(format?: "yaml" | "json"): string;
  /** A drawing, for terminals and for pages. */
  text(options?: { marks?: Mark[]; colour?: boolean }): string;
  svg(options?: { marks?: Mark[] }): string;
  toString(): string;
  free(): void;
}

// --- schedulers ----------------------------------------------------------------

export interface TaskPlace {
  node: string | number;
  gpus?: number[];
}

export type PlaceOrder = "pack" | "spread" | "topo" | "first" | "score";

/** What a scheduler shows. */
interface Views {
  readonly now: number;
  readonly sums: SchedSums;
  /** Requests that are not done, by turn; and those of which something waits. */
  readonly requests: Request[];
  readonly queue: Request[];
  readonly nodes: SchedNode[];
  readonly virtualClusters: SchedVirtualCluster[];
  readonly running: Running[];
  request(id: number): Request;
  places(id: number, instance?: number): Place[];
}

/** What a policy sees and may do, as long as it is asked. Whatever it asks for is
 * checked: nothing is given twice, no gang in part. */
export interface PolicyHost extends Views {
  /** Ids of the requests that may start, by turn. */
  waiting(): IterableIterator<number>;
  /** What holds places, as it was placed. */
  placed(): { id: number; instance: number }[];
  node(number: number): SchedNode;
  /** Starts the next instance; false: there is no room, or nothing is left. */
  start(id: number, options?: { place?: PlaceOrder; beyondShare?: boolean }): boolean;
  /** The same, where less important instances have to stop for it. */
  startOver(id: number, options?: { place?: PlaceOrder; beyondShare?: boolean }): boolean;
  /** Starts it just there, task by task. */
  startAt(id: number, places: TaskPlace[]): boolean;
  /** The same where others are, which are preempted. */
  claimAt(id: number, places: TaskPlace[]): boolean;
  preempt(id: number, instance?: number, by?: number): void;
  resize(id: number, instance: number, want: number, tasks: number): boolean;
  /** Keeps the policy's own reason why a request waits. */
  refuse(id: number, text?: string | null, more?: {
    lack?: string; node?: string | null; behind?: number; until?: number }): void;
}

/** A policy of yours. It decides by what it is shown and by its own fields: no
 * clock, no random numbers. */
export interface SchedulingPolicy {
  /** Without one, the name of its class. */
  name?: string;
  /** Whether start() with beyondShare counts. */
  lends?: boolean;
  decide(host: PolicyHost): void;
  open?(host: PolicyHost, options: Record<string, unknown>): void;
  event?(host: PolicyHost, event: { event: string; time: number } & Record<string, unknown>): void;
  /** What forks get; without it, a copy of its fields. */
  clone?(): SchedulingPolicy;
  /** A value for JSON; without it, its fields. */
  save?(): unknown;
  load?(saved: unknown): void;
}

export type PolicyLike = string | SchedulingPolicy | ((host: PolicyHost) => void);

export interface FutureOptions {
  /** How long jobs like these took. */
  history?: History | null;
  /** Number of simulated futures (default 100). */
  runs?: number;
  seed?: number;
  horizon?: number;
  /** Whether jobs go on arriving as the history has seen them. */
  arrivals?: boolean;
}

export type Event = string | ({ event: string } & Record<string, unknown>);

/** A scheduler to look at, as of a simulation. */
export class SchedulerView implements Views {
  protected constructor();
  readonly now: number;
  readonly sums: SchedSums;
  readonly requests: Request[];
  readonly queue: Request[];
  readonly nodes: SchedNode[];
  readonly virtualClusters: SchedVirtualCluster[];
  readonly running: Running[];
  request(id: number): Request;
  places(id: number, instance?: number): Place[];
  /** When decide() should be called though nothing happens; null: never. */
  readonly nextTime: number | null;
  /** Why a request waits, for people and for programs. */
  explain(id: number): string;
  reason(id: number): Reason;
  /** Another scheduler in the same state. */
  fork(): Scheduler;
  /** The whole state as one line of JSON. */
  save(): string;
  /** When what waits starts; `only`: that request alone counts. */
  forecast(options?: FutureOptions, only?: number): Forecast;
  when(id: number, options?: FutureOptions): When;
  /** Compares the future with one after some changes, now. */
  whatIf(events?: Event | Event[], options?: FutureOptions & { cluster?: Cluster | null }): WhatIf;
  /** The cluster, or `of`, with more nodes or other shares. */
  changedCluster(changes?: { nodes?: string | null; shares?: Record<string, string>;
                             of?: Cluster | null }): Cluster;
}

export interface SubmitRequest extends Partial<Want> {
  id: number;
  wants?: Partial<Want>[];
  vc?: string;
  user?: string;
  pin?: string;
  within?: string;
  priority?: number;
  duration?: number;
  limit?: number;
  instances?: number;
  at_once?: number;
  held?: boolean;
  lazy?: boolean;
  after?: (number | { id: number; when: string })[];
}

/** Decides what starts where, and why others wait. It reads no clock and starts
 * nothing: tell it what happened and when, and do what it decides. */
export class Scheduler extends SchedulerView {
  constructor(cluster: Cluster, options?: {
    /** A built-in policy, see policies(), or one of yours (default "fifo"). */
    policy?: PolicyLike; options?: Record<string, unknown>;
    firstPort?: number; lastPort?: number; unchecked?: boolean });
  static load(text: Text, policies?: {
    policy?: PolicyLike | null; shadow?: PolicyLike | null }): Scheduler;
  static replay(lines: Iterable<string>, policies?: {
    policy?: PolicyLike | null; shadow?: PolicyLike | null }): IterableIterator<Decision>;
  /** An event, as docs/internals/sched-log.md has it, or a line of JSON. */
  send(event: Event): void;
  submit(request: SubmitRequest, time?: number): void;
  change(id: number, what: { want?: number } & Record<string, unknown>, time?: number): void;
  cancel(id: number, instance?: number, time?: number): void;
  started(id: number, instance?: number, time?: number): void;
  finished(id: number, how?: { instance?: number; code?: number; time?: number }): void;
  returned(id: number, instance?: number, time?: number): void;
  resized(id: number, instance?: number, time?: number): void;
  node(name: string, state: "up" | "drain" | "sick",
       more?: { why?: string; gpu?: number; time?: number }): void;
  cluster(cluster: Cluster, time?: number): void;
  setPolicy(policy: PolicyLike, options?: Record<string, unknown> | null, time?: number): void;
  setShadow(policy: PolicyLike | null, options?: Record<string, unknown> | null, time?: number): void;
  decide(now?: number): Decision[];
  readonly decisions: Decision[];
  readonly shadowDecisions: Decision[] | null;
  /** Calls a function with each line of the log from now on; null: no more. */
  log(write: ((line: string) => void) | null, options?: { snapshots?: boolean; every?: number }): void;
  free(): void;
}

export function policies(): Policy[];

// --- forecasts -----------------------------------------------------------------

export interface Past {
  user?: string;
  vc?: string;
  name?: string;
  gpus?: number;
  estimate?: number;
  limit?: number;
}

/** How long jobs took. */
export class History {
  constructor();
  static load(text: Text): History;
  add(past: Past & { duration: number }): void;
  guess(past?: Past & { ran?: number }): Guess;
  /** Learns from a line of a scheduler's log, before it is sent. */
  learn(scheduler: Scheduler, line: Text): void;
  save(): string;
  free(): void;
}

/** When what waits starts, by turn. */
export class Forecast implements Iterable<When> {
  private constructor();
  readonly all: When[];
  [Symbol.iterator](): IterableIterator<When>;
  when(id: number): When;
  met(id: number, started: number, history: History): void;
  toJson(): string;
  toString(): string;
  free(): void;
}

/** The future as it is, and after some changes. */
export interface WhatIf extends Readonly<WhatIfSums> {}
export class WhatIf {
  private constructor();
  readonly before: Forecast;
  readonly after: Forecast;
  toJson(): string;
  toString(): string;
  free(): void;
}

// --- replays -------------------------------------------------------------------

/** A scheduler's log, which can be asked at any time of it. A time is microseconds, or a
 * text: "2026-05-01 14:05", "+2h" behind its begin, "-30m" before its end, "begin", "end". */
export class Replay {
  private constructor();
  /** `policy`: a built-in one, which decides instead of the log's own, or the one of yours
   * that the log names. `check`: a snapshot in the middle that is not what the lines before
   * it make is an error. */
  static parse(text: Text, options?: {
    policy?: PolicyLike | null; options?: Record<string, unknown>; check?: boolean }): Replay;
  /** The times of its first and of its last line. */
  readonly range: [number, number];
  /** Goes to a time, later or earlier; PAI_ENOTFOUND: the log has no such time. */
  at(time: number | string): SchedulerView;
  /** Takes the next line, unless it is later; false: there is none. */
  step(until?: number | string): boolean;
  /** The scheduler as it was; it goes where the replay goes. */
  readonly scheduler: SchedulerView;
  /** What the line of the last step has decided. */
  readonly decisions: Decision[];
  /** Number of the last line that was taken, from 1. */
  readonly line: number;
  /** Lines left out, because another policy has not done what they tell of. */
  readonly skipped: number;
  time(time: number | string): number;
  showTime(time: number): string;
  free(): void;
}

// --- simulations ---------------------------------------------------------------

export interface TraceOptions {
  form?: string;
  strict?: boolean;
  sort?: boolean;
  window?: number;
  model?: string;
  onLine?: (note: TraceNote) => void;
}

export interface GenerateOptions {
  jobs?: number;
  seed?: number | bigint;
  like?: "philly" | "helios";
  gpus?: number;
  /** Kept busy of those GPUs (default 0.8). */
  load?: number;
  most_gpus?: number;
  gpus_per_node?: number;
  users?: number;
  virtual_clusters?: number | string[];
  model?: string;
  faults?: boolean;
}

/** A workload, which each use reads from its start. */
export class Trace implements Iterable<TraceRecord> {
  private constructor();
  static parse(text: Text, options?: TraceOptions): Trace;
  static generate(options?: GenerateOptions): Trace;
  [Symbol.iterator](): IterableIterator<TraceRecord>;
  /** In OpenPAI's form: a line of JSON for each record. */
  text(): string;
}

export interface SimulationOptions {
  policy?: PolicyLike;
  options?: Record<string, unknown>;
  seed?: number | bigint;
  strict?: boolean;
  estimates?: boolean;
  until?: number;
  start_cost?: number;
  restart_cost?: number;
  stop_cost?: number;
  checkpoint?: number;
  node_up?: number;
  node_down?: number;
  fail?: number;
  patience?: number;
  stretch?: number;
  spread?: number;
  bars?: number;
  onJob?: (job: SimJob) => void;
  onLine?: (note: TraceNote) => void;
  /** Called with lines of the scheduler's log, and of what happens to jobs. */
  log?: (line: string) => void;
  events?: (line: string) => void;
}

/** A simulation that can be halted, and looked at. */
export class Simulation {
  constructor(cluster: Cluster, trace: Trace, options?: SimulationOptions);
  /** Goes on to a time, or to the end; false: it is over. */
  step(until?: number): boolean;
  run(): SimReport;
  report(): SimReport;
  readonly scheduler: SchedulerView;
  readonly now: number;
  free(): void;
}

export function simulate(cluster: Cluster, trace: Trace, options?: SimulationOptions): SimReport;

interface Written {
  toJson(): string;
  toCsv(): string;
  /** A page with charts that needs no other file. */
  toHtml(): string;
  toString(): string;
}

/** What a simulation has found. */
export interface SimReport extends Readonly<SimCounts>, Readonly<SimSums>, Written {}
export class SimReport {
  private constructor();
  static parse(text: Text): SimReport;
  free(): void;
}

/** Reports side by side; the first is what the others are compared with. */
export class Comparison implements Written {
  constructor(reports: Iterable<SimReport>);
  readonly reports: readonly SimReport[];
  toJson(): string;
  toCsv(): string;
  toHtml(): string;
  toString(): string;
}

export function compare(reports: Iterable<SimReport>): Comparison;

// --- HiveD -----------------------------------------------------------------------

export interface HiveDAnswer {
  readonly status: number;
  readonly body?: string;
  readonly content_type?: string;
  readonly location?: string;
  readonly hold_ms?: number;
  readonly binding?: HiveDBinding;
}

type Json = Text | Record<string, unknown>;

/** HiveD's extender of Kubernetes' scheduler. Times are microseconds since the
 * epoch. */
export class HiveD {
  private constructor();
  static parse(text: Text): HiveD;
  /** An event of the Kubernetes API server, or a list. */
  tell(event: Json, now?: number): void;
  request(method: string, target: string, body?: Json, now?: number): HiveDAnswer;
  filter(args: Json, now?: number): HiveDAnswer;
  preempt(args: Json, now?: number): HiveDAnswer;
  bind(args: Json, now?: number): HiveDAnswer;
  inspect(what?: string): unknown;
  /** What to answer to bind when the API server has refused the binding. */
  unbound(uid: string, reason: string): HiveDAnswer;
  free(): void;
}
