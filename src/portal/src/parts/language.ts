// language.ts - a client of the language server, which runs in a worker and has one document
import { asset, core } from "./core";

export interface Position { line: number; character: number }
export interface Range { start: Position; end: Position }
export interface TextEdit { range: Range; newText: string }

interface Marked { kind: string; value: string }

export interface Found { range: Range; severity: 1 | 2 | 3 | 4; code?: string; message: string }

export interface Action {
  title: string;
  kind: string;
  diagnostics?: Found[];
  edit?: { changes: Record<string, TextEdit[]> };
}

export interface Item {
  label: string;
  kind?: number;
  detail?: string;
  documentation?: Marked;
  sortText?: string;
  insertTextFormat?: 1 | 2;
  textEdit: TextEdit;
}

/** Requests, by their methods: their parameters besides the document, and their answers. */
interface Requests {
  "textDocument/diagnostic": { of: object; answer: { items: Found[] } };
  "textDocument/codeAction": { of: { range: Range; context: { diagnostics: Found[] } }; answer: Action[] | null };
  "textDocument/completion": { of: { position: Position }; answer: { items: Item[] } | null };
  "textDocument/hover": { of: { position: Position }; answer: { contents: Marked; range?: Range } | null };
  "textDocument/formatting": { of: { options: { tabSize: number; insertSpaces: boolean } }; answer: TextEdit[] | null };
  "textDocument/rename": { of: { position: Position; newName: string }; answer: { changes: Record<string, TextEdit[]> } | null };
}

interface Answer { id?: number; result?: unknown; error?: { message: string } }

const URI = "file:///job.yaml";
const CAN = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    completion: { completionItem: { snippetSupport: true } },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "refactor", "source"] } } },
    diagnostic: {},
  },
};

export class LanguageClient {
  #worker = new Worker(asset("language"), { type: "module" });
  #ready: Promise<void>;
  #last = 0;
  #version = 1;
  #waiting = new Map<number, { done: (result: never) => void; failed: (error: Error) => void }>();

  constructor(text: string) {
    this.#worker.addEventListener("message", (event: MessageEvent<Answer>) => this.#hear(event.data));
    this.#ready = core().then(module => this.#worker.postMessage(module));
    void this.#ask("initialize", { capabilities: CAN });
    this.#send({ method: "initialized", params: {} });
    this.#send({ method: "textDocument/didOpen", params: { textDocument: { uri: URI, languageId: "yaml", version: 1, text } } });
  }

  /** What requests from now on are about. */
  change(text: string): void {
    this.#version++;
    this.#send({ method: "textDocument/didChange", params: { textDocument: { uri: URI, version: this.#version }, contentChanges: [{ text }] } });
  }

  request<Method extends keyof Requests>(method: Method, of: Requests[Method]["of"]): Promise<Requests[Method]["answer"]> {
    return this.#ask(method, { textDocument: { uri: URI }, ...of });
  }

  end(): void {
    this.#worker.terminate();
  }

  #ask<Result>(method: string, params: object): Promise<Result> {
    const id = ++this.#last;
    this.#send({ id, method, params });
    return new Promise((done, failed) => this.#waiting.set(id, { done: done as (result: never) => void, failed }));
  }

  #send(message: object): void {
    void this.#ready.then(() => this.#worker.postMessage({ jsonrpc: "2.0", ...message }), () => {});
  }

  #hear({ id, result, error }: Answer): void {
    const asked = id === undefined ? undefined : this.#waiting.get(id);
    if (asked === undefined)
      return;
    this.#waiting.delete(id!);
    if (error !== undefined)
      asked.failed(new Error(error.message));
    else
      asked.done(result as never);
  }
}

/** The edits of an action or a renaming. */
export function editsOf(changes: Record<string, TextEdit[]> | undefined): TextEdit[] {
  return changes?.[URI] ?? [];
}
