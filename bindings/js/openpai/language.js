// language.js - the language server for job files and cluster files
import { Core } from "./core.js";
import { calls } from "./language_calls.js";
import { Owner, known, made } from "./shared.js";

const core = new Core(calls, "./language.wasm");

export const { init } = core;
export { OpenpaiError } from "./error.js";
export function version() {
  return core.version;
}

export class LanguageServer extends Owner {
  #send;
  #unsent = [];

  constructor(send, options = {}) {
    if (typeof send !== "function")
      throw new TypeError("send must be a function");
    const { docs = null, hived = false } = known(options, ["docs", "hived"]);
    super(core.Language.make(docs, hived));
    this.#send = send;
  }

  receive(message) {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    try {
      this[made].receive(text);
    } finally {
      this.#deliver();
    }
  }

  work() {
    try {
      return this[made].work();
    } finally {
      this.#deliver();
    }
  }

  get exitCode() {
    const code = this[made].ended();
    return code < 0 ? null : code;
  }

  /** Messages that follow one whose `send` has thrown wait for the next call. */
  #deliver() {
    const sent = this[made].sent();
    if (sent !== null)
      this.#unsent.push(...sent.split("\n").slice(0, -1));
    while (this.#unsent.length > 0)
      this.#send(this.#unsent.shift());
  }
}

/** Waits until messages that have arrived meanwhile were received. */
function turn() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((done) => {
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(null);
  });
}

export async function serve(port, { source, ...options } = {}) {
  const early = [];
  let server = null, working = false, end;
  const ended = new Promise((done, failed) => { end = { done, failed }; });

  async function work() {
    working = true;
    while (server.exitCode === null && server.work())
      await turn(); // so that $/cancelRequest overtakes requests that wait
    working = false;
  }

  async function receive(message) {
    if (server === null)
      return void early.push(message);
    server.receive(message);
    if (server.exitCode !== null)
      end.done(server.exitCode);
    else if (!working)
      await work();
  }

  port.onmessage = ({ data }) => void receive(data).catch(end.failed);
  try {
    await init(source);
    server = new LanguageServer((text) => port.postMessage(JSON.parse(text)), options);
    early.splice(0).forEach((message) => void receive(message).catch(end.failed));
    return await ended;
  } finally {
    port.onmessage = null;
    server?.free();
  }
}
