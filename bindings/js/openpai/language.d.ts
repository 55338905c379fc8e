// language.d.ts - types of openpai/language: the language server
import type { Source } from "./check.js";
export { OpenpaiError } from "./check.js";
export type { Source };

/** Loads the module. All else needs it to be over; later calls do nothing. */
export function init(source?: Source | Promise<Source>): Promise<void>;
/** The version of libopenpai. */
export function version(): string;

export interface LanguageOptions {
  /** URL of a page with an anchor for each code of a problem; codes link there. */
  docs?: string;
  /** Checks what is HiveD's, too. The client's setting `hived` replaces it. */
  hived?: boolean;
}

/** The Language Server Protocol 3.17 for job files and cluster files, as a function
 * of messages. It knows no cluster: names and waits are not known. */
export class LanguageServer {
  /** `send` gets each message for the client, as JSON. It must not call the server. */
  constructor(send: (message: string) => void, options?: LanguageOptions);
  /** Takes a message of the client, as JSON or as an object. */
  receive(message: string | object): void;
  /** Does the next piece of work: answers a request, or checks a document that has
   * changed. Returns whether there may be more. */
  work(): boolean;
  /** Of the client's `exit`; null: it has not come. */
  readonly exitCode: number | null;
  /** Frees the memory now, rather than when the object is collected. */
  free(): void;
}

/** As much of a worker's scope or of a MessagePort as serve() needs. */
export interface Port {
  postMessage(message: unknown): void;
  onmessage: ((event: MessageEvent) => unknown) | null;
}

/** Loads the module and serves the client at the other end: each message is an
 * object. Keeps what comes before it is loaded. Returns the exit code when the
 * client has sent `exit`. */
export function serve(port: Port, options?: LanguageOptions & {
  source?: Source | Promise<Source>;
}): Promise<number>;
