// check.d.ts - types of openpai/check: job files
import type { Diagnostic as Found, Prerequisite, Role, TextEdit, TextPlace } from "./records.js";
export type { Prerequisite, Role, TextEdit, TextPlace };

/** Where a module comes from; without one it is beside the package's files. */
export type Source =
  | WebAssembly.Module | BufferSource | Response | URL | string;

/** Loads the module. All else needs it to be over; later calls do nothing. */
export function init(source?: Source | Promise<Source>): Promise<void>;
/** The version of libopenpai. */
export function version(): string;

/** A call failed; `message` is the whole story: where, what, and what helps. */
export class OpenpaiError extends Error {
  /** As "PAI_EINVAL"; `number` is the library's. */
  readonly code: string;
  readonly number: number;
  /** One line that says what was wrong, without the place. */
  readonly reason: string;
  /** One line that tells how to fix it. */
  readonly help: string | null;
  /** Where in the input, both from 1. */
  readonly line: number | null;
  readonly column: number | null;
  /** JSON pointer into the input, as "/taskRoles/worker". */
  readonly pointer: string | null;
  /** All that was found in an invalid job file. */
  readonly report: Report | null;
  readonly retriable: boolean;
}

export interface Fix {
  readonly title: string;
  /** True: the meaning is certain or unchanged. False: a person should choose. */
  readonly sure: boolean;
  /** In the order of the text; they do not overlap. */
  readonly edits: TextEdit[];
}

export interface Diagnostic extends Found {
  readonly severity: "error" | "warning";
  readonly fixes: Fix[];
}

/** All that was found in a file, in the order of the file. */
export interface Report {
  readonly valid: boolean;
  /** 1: job config v1; 2: job protocol v2; absent: unknown, or no job file. */
  readonly version?: 1 | 2;
  readonly diagnostics: Diagnostic[];
}

export interface CheckOptions {
  /** Insists on a version. */
  version?: 0 | 1 | 2;
  /** Checks what is HiveD's, too. */
  hived?: boolean;
}

export interface Change {
  readonly kind: "added" | "removed" | "changed" | "moved";
  readonly pointer: string;
  readonly old?: unknown;
  readonly new?: unknown;
}

type Text = string | Uint8Array;

interface Owner {
  /** Frees the memory now, rather than when the object is collected. */
  free(): void;
}

/** A job file that was read; it does not change. */
export class Job implements Owner {
  private constructor();
  /** Reads job protocol v2, or job config v1, which becomes v2. The error of an
   * invalid file has its `report`. */
  static parse(text: Text): Job;
  /** Finds all that is wrong with a job file, of either version. */
  static check(text: Text, options?: CheckOptions): Report;
  /** The text with all corrections that are sure; comments and all else stay. */
  static fix(text: Text, options?: CheckOptions): string;
  /** A job file of either version as job protocol v2, in YAML, with its secrets. */
  static convert(text: Text): string;
  /** What is at a position, from 1, of a job file, which may be unfinished. */
  static placeAt(text: Text, line: number, column: number): TextPlace;
  /** Where the key and value of a JSON pointer stand. */
  static placeOf(text: Text, pointer: string): TextPlace;
  /** JSON Schema of job files, draft 7; 2 without a version. */
  static schema(version?: 1 | 2): Record<string, unknown>;

  readonly name: string;
  readonly retryCount: number;
  readonly taskCount: number;
  readonly virtualCluster: string;
  readonly deployment: string | null;
  readonly description: string | null;
  readonly contributor: string | null;
  /** Whether all tasks start together. */
  readonly gang: boolean;
  readonly roles: Role[];
  readonly prerequisites: Prerequisite[];
  /** What the file asks for and this version does not act on. */
  readonly notes: string[];
  /** Names in the commands' templates that nothing stands for. */
  readonly unresolved: string[];
  /** Places of secrets that the job needs and the file lacks. */
  readonly missingSecrets: string[];

  /** The commands of each role, with their parameters; what a secret stands for
   * is not in them. */
  render(): Record<string, string>;
  /** A copy with "******" for each secret. */
  masked(): Job;
  /** The job in the order of its file; "******" for secrets unless asked for. */
  toYaml(options?: { secrets?: boolean }): string;
  toJson(options?: { secrets?: boolean }): string;
  /** The value of a place, as "taskRoles.worker.completion"; undefined: none. */
  get(place: string): unknown;
  /** Docker's config.json to pull the job's images. Holds secrets. */
  dockerConfig(): string;
  /** What the job will do, for people and for programs. */
  explain(): string;
  explainJson(): Record<string, unknown>;
  /** What differs in `other`, by what it means. */
  diff(other: Job): Change[];
  /** A copy with other options in its file. */
  with(options: { time?: string; after?: string | string[]; virtual_cluster?: string;
                  priority?: "prod" | "test" | "oppo" }): Job;
  /** The job's YAML, to be changed. */
  edit(): Draft;
  toString(): string;
  free(): void;
}

/** A job file's text, of which single places are set; all else stays as it was
 * written. Places are keys with dots between them, [0] an item, [-1] the last,
 * [+] a new one; or JSON pointers. */
export class Draft implements Owner {
  constructor(text?: Text);
  readonly text: string;
  /** A text stays text: "4" is not 4. */
  set(place: string, value: unknown): this;
  /** Sets a place to what a piece of YAML says: "4" is 4. */
  setYaml(place: string, yaml: string): this;
  get(place: string): unknown;
  unset(place: string): this;
  /** Brings the text into its canonical layout; it means the same. */
  format(): this;
  job(): Job;
  check(options?: CheckOptions): Report;
  toString(): string;
  free(): void;
}
