// protocol.ts - what `openpai helper` and this extension say to each other beside the Language
// Server Protocol: the only file that knows the methods' names and forms

import type { Calls } from "../api";

/** Makes any call of the REST API at a cluster. */
export const CALL = "openpai/call";
/** Lists the clusters that the program knows. */
export const CLUSTERS = "openpai/clusters";
/** Says which cluster completion and estimates are about. */
export const USE_CLUSTER = "openpai/useCluster";
/** A cluster of this editor alone, with a token in memory; and its end. */
export const ADD_CLUSTER = "openpai/addCluster";
export const FORGET_CLUSTER = "openpai/forgetCluster";
/** Finds the API at an address. */
export const FIND_SERVER = "openpai/findServer";
/** Gets a token, for a password or for the code of a server's page. */
export const LOGIN = "openpai/login";
export const LOGIN_PAGE = "openpai/loginPage";
/** Streams, until they are cancelled, of partial results: states of jobs; output of a task. */
export const EVENTS = "openpai/events";
export const LOGS = "openpai/logs";
/** Copies a file between a job and this machine. */
export const COPY = "openpai/copy";
/** A command in a task, and its input. */
export const EXEC = "openpai/exec";
export const EXEC_INPUT = "openpai/execInput";
/** The effect of changes, by a forecast. */
export const WHAT_IF = "openpai/whatIf";
/** The text of a job file whose first Python program waits for a debugger. */
export const DEBUG_JOB = "openpai/debugJob";

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
  /** Nobody whom the system knows has signed the server's certificate. */
  untrusted?: boolean;
  /** There is no such host, or nothing listens there. */
  notReached?: boolean;
}

export interface KnownCluster {
  name: string;
  url: string | null;
  user: string | null;
  /** Who has logged in to it. */
  owner: "editor" | "program";
}

export interface AddClusterParams {
  name: string;
  url: string;
  user?: string;
  caFile?: string;
  token?: string;
}

export interface ServerAddress {
  url: string;
  caFile?: string;
}
export interface FoundServer {
  /** Of the API, which may be below that of a portal. */
  url: string;
  /** Users log in with a browser, and have no password there. */
  browser: boolean;
}
/** A user and a password, a token, or a code with the verifier of its page. */
export type LoginParams = ServerAddress & (
  { user: string; password: string } | { token: string } | { code: string; verifier: string });
export interface LoginResult {
  url: string;
  user: string | null;
  token: string;
}
export interface LoginPage {
  url: string;
  /** To be opened in a browser. */
  page: string;
  /** The page must show these. */
  words: string;
  verifier: string;
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

export interface CopyParams {
  cluster: string;
  job: string;
  path: string;
  /** Absolute. */
  file: string;
  to: "job" | "here";
}

export interface ExecParams {
  cluster: string;
  job: string;
  role: string;
  index: number;
  /** Without one: a shell. */
  command?: string[];
  tty?: boolean;
  /** As in $TERM. */
  terminal?: string;
  columns?: number;
  rows?: number;
}
export type ExecEvent = { event: "started"; terminal: boolean } |
  { event: "output"; stream: "stdout" | "stderr"; text: string };
export interface ExecEnd {
  how: "exit" | "signal" | "failed" | "lost";
  code: number;
  signal: number;
  text: string;
}
export interface ExecInput {
  text?: string;
  columns?: number;
  rows?: number;
  signal?: number;
  end?: boolean;
}

export interface DebugJob {
  text: string;
  role: string;
  index: number;
}
