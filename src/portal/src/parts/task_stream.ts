// task_stream.ts - a stream into a task, over a WebSocket: docs/internals/server.md has its frames
import { addressOf, ask, CallError, failureOf } from "../call";
import { sessionKey } from "../session_key";

const BEGIN = 1, INPUT = 2, SIZE = 4, OUTPUT = 17, ERRORS = 18, END = 19; // types of frames
const HEAD = 4, MOST = 65535; // bytes of a frame's head, and of its data
const VERSION = 1, TERMINAL = 1;

export interface StreamEnd {
  /** "lost": the connection ended before the command did. */
  how: "exited" | "killed" | "not started" | "gone" | "lost";
  code: number;
  text: string;
}

const ENDS = [undefined, "exited", "killed", "not started", "gone"] as const;

export interface Size { columns: number; rows: number }

function frame(type: number, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEAD + data.length);
  bytes.set([type, 0, data.length >> 8, data.length & 255]);
  bytes.set(data, HEAD);
  return bytes;
}

const two = (value: number) => [value >> 8 & 255, value & 255];

/** A shell in a task, on a terminal. */
export class TaskStream {
  readonly #socket: WebSocket;
  readonly #address: URL;
  #early: Uint8Array<ArrayBuffer>[] = []; // typed while the WebSocket opens
  #rest = new Uint8Array(0);
  #isOver = false;

  constructor(of: { job: string; role: string; index: number }, size: Size,
    readonly onOutput: (bytes: Uint8Array) => void, readonly onEnd: (end: StreamEnd) => void) {
    const address = this.#address = addressOf("jobs.enter", of);
    const key = sessionKey();
    const socket = this.#socket = new WebSocket(Object.assign(new URL(address), { protocol: address.protocol.replace("http", "ws") }),
      ["openpai-stream", ...key === null ? [] : [`openpai-session-key.${key}`]]);
    let isOpen = false;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      isOpen = true;
      const words = new TextEncoder().encode("xterm-256color\0");
      this.#send(BEGIN, new Uint8Array([VERSION, TERMINAL, ...two(size.columns), ...two(size.rows), ...words]));
      this.#early.forEach(one => socket.send(one));
      this.#early = [];
    });
    socket.addEventListener("message", (message: MessageEvent<ArrayBuffer>) => this.#take(new Uint8Array(message.data)));
    socket.addEventListener("close", () => {
      if (isOpen)
        this.#end({ how: "lost", code: 0, text: "" });
      else
        void this.#explain();
    });
  }

  input(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += MOST)
      this.#send(INPUT, bytes.subarray(at, at + MOST));
  }

  resize({ columns, rows }: Size): void {
    this.#send(SIZE, new Uint8Array([...two(columns), ...two(rows)]));
  }

  /** Ends the command; nothing is told any more. */
  close(): void {
    this.#isOver = true;
    this.#socket.close();
  }

  #send(type: number, data: Uint8Array): void {
    if (this.#socket.readyState === WebSocket.CONNECTING)
      this.#early.push(frame(type, data));
    else if (this.#socket.readyState === WebSocket.OPEN)
      this.#socket.send(frame(type, data));
  }

  #end(end: StreamEnd): void {
    if (!this.#isOver)
      this.onEnd(end);
    this.close();
  }

  /* Browsers do not tell why a WebSocket was refused: the same call without one says so. */
  async #explain(): Promise<void> {
    let text = "";
    try {
      const answer = await ask(this.#address);
      text = answer.status === 426 ? "" : (await failureOf(answer)).message; // 426: only the WebSocket was missing
    } catch (error) {
      text = error instanceof CallError ? error.message : String(error);
    }
    this.#end({ how: "not started", code: 0, text });
  }

  #take(bytes: Uint8Array): void {
    let all = new Uint8Array(this.#rest.length + bytes.length);
    all.set(this.#rest);
    all.set(bytes, this.#rest.length);
    while (all.length >= HEAD && all.length >= HEAD + (all[2]! << 8 | all[3]!)) {
      const end = HEAD + (all[2]! << 8 | all[3]!);
      this.#hear(all[0]!, all.subarray(HEAD, end));
      all = all.slice(end);
    }
    this.#rest = all;
  }

  #hear(type: number, data: Uint8Array): void {
    if (this.#isOver)
      return;
    if (type === OUTPUT || type === ERRORS)
      this.onOutput(data);
    else if (type === END)
      this.#end({ how: ENDS[data[0]!] ?? "gone", code: data[1] ?? 0, text: new TextDecoder().decode(data.subarray(2)) });
  }
}
