// protocol.ts - what `openpai helper` and this extension say to each other beside the Language
// Server Protocol: the only file that knows the methods' names and forms

import type { Calls } from "../api";

/** Makes any call of the REST API at a cluster. */
export const CALL = "openpai/call";
/** Lists the clusters that the program knows. */
export const CLUSTERS = "openpai/clusters";
/** Says which cluster completion and estimates are about. */
export const USE_CLUSTER = "openpai/useCluster";
/** Streams, until they are cancelled, of partial results: states of jobs; output of a task. */
export const EVENTS = "openpai/events";
export const LOGS = "openpai/logs";

export type CallName = keyof Calls;
export type Arguments<N extends CallName> = Calls[N]["arguments"];
export type Answer<N extends CallName> = Calls[N]["answer"];

export interface CallParams {
  /** An alias of the program, or "local". */
  cluster: string;
  name: CallName;
  arguments: object;
}
/** The answer of a call; a body that is no JSON is a text. */
export interface CallAnswer {
  status: number;
  type: string;
  body: unknown;
}
/** What the error of a call has as its data. */
export interface CallFailure {
  status?: string;
  httpStatus?: number;
  /** The API's code, such as NoJobError. */
  code?: string | null;
  help?: string | null;
}

export interface KnownCluster {
  name: string;
  url: string | null;
  user: string | null;
}

export interface EventsParams {
  cluster: string;
  job?: string;
}
/** A job has another state, or the one that it had when the stream began. */
export interface JobEvent {
  /** USER~NAME */
  job: string;
  state: string;
  final: boolean;
  exitCode: number;
}

export interface LogsParams {
  cluster: string;
  job: string;
  role: string;
  index: number;
  /** all, stdout, stderr or runtime */
  name: string;
  follow: boolean;
}
export interface LogPiece {
  text: string;
}
