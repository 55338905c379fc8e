// helper.ts - the process `openpai helper`: one language client, which carries the calls too

import * as fs from "fs";
import * as os from "os";
import * as vscode from "vscode";
import { LanguageClient, ProgressType, State } from "vscode-languageclient/node";
import { clientOptions } from "../language/options";
import { findProgram } from "./find";
import {
  CALL, CLUSTERS, EVENTS, LOGS, USE_CLUSTER, type Answer, type Arguments, type CallAnswer,
  type CallFailure, type CallName, type CallParams, type EventsParams, type JobEvent,
  type KnownCluster, type LogPiece, type LogsParams,
} from "./protocol";

/** A stream that runs until it is disposed of; `ended` has the error that ended it, if any. */
export interface Stream extends vscode.Disposable {
  ended: Promise<Error | undefined>;
}

/** A call that was refused: the API's code, and the message with its help. */
export class CallError extends Error {
  constructor(readonly code: string | undefined, message: string) {
    super(message);
  }
}

function refusal(error: Error & { data?: CallFailure }): Error {
  const { code, help } = error.data ?? {};
  return new CallError(code ?? undefined, help ? `${error.message}: ${help}` : error.message);
}

export class MissingProgram extends Error {
  constructor(setting: string) {
    super(setting === "" ? "The program openpai was not found: install it, or choose where it is."
      : `The program of the setting openpai.path was not found: ${setting}`);
  }
}

export class Helper implements vscode.Disposable {
  private client: Promise<LanguageClient> | undefined;
  private last = 0;
  private readonly started = new vscode.EventEmitter<void>();
  /** A helper has started: it does not know yet which cluster is chosen. */
  readonly onStart = this.started.event;

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Path of the program; throws MissingProgram. */
  program(): string {
    const setting = vscode.workspace.getConfiguration("openpai").get("path", "").trim();
    const found = findProgram({
      setting, path: process.env.PATH ?? "", extension: this.context.extensionPath,
      home: os.homedir(), exists: file => {
        try {
          fs.accessSync(file, fs.constants.X_OK);
          return fs.statSync(file).isFile();
        } catch {
          return false;
        }
      },
    });
    if (found === undefined)
      throw new MissingProgram(setting);
    return found;
  }

  /** Starts the process if it does not run; each caller gets the same one. */
  start(): Promise<LanguageClient> {
    this.client ??= this.begin().catch(error => {
      this.client = undefined;
      throw error;
    });
    return this.client;
  }

  /** Whether it was started: what only shows something does not start it. */
  get isStarted(): boolean {
    return this.client !== undefined;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const client = await this.client?.catch(() => undefined);
    this.client = undefined;
    await client?.dispose();
  }

  dispose(): void {
    void this.stop();
  }

  private async begin(): Promise<LanguageClient> {
    // Without a `transport`: else the client adds the option --stdio, which the program lacks.
    const run = { command: this.program(), args: ["helper"] };
    const client = new LanguageClient("openpai", "OpenPAI", { run, debug: run },
      clientOptions(["file", "untitled"]));
    // Also when the client has started it again, after a crash.
    client.onDidChangeState(event => event.newState === State.Running && this.started.fire());
    await client.start();
    return client;
  }

  async call<N extends CallName>(cluster: string, name: N, args: Arguments<N>):
    Promise<Answer<N>> {
    const client = await this.start(), params: CallParams = { cluster, name, arguments: args };
    try {
      return (await client.sendRequest<CallAnswer>(CALL, params)).body as Answer<N>;
    } catch (error) {
      throw refusal(error as Error);
    }
  }

  async clusters(): Promise<KnownCluster[]> {
    return (await this.start()).sendRequest(CLUSTERS, {});
  }

  async use(cluster: string): Promise<void> {
    await (await this.start()).sendRequest(USE_CLUSTER, { cluster });
  }

  events(params: EventsParams, take: (event: JobEvent) => void): Stream {
    return this.stream(EVENTS, params, take);
  }

  logs(params: LogsParams, take: (piece: LogPiece) => void): Stream {
    return this.stream(LOGS, params, take);
  }

  private stream<T>(method: string, params: object, take: (item: T) => void): Stream {
    const cancel = new vscode.CancellationTokenSource(), token = `openpai-${++this.last}`;
    const run = async (): Promise<Error | undefined> => {
      const client = await this.start();
      const progress = client.onProgress(new ProgressType<T>(), token, take);
      try {
        await client.sendRequest(method, { ...params, partialResultToken: token }, cancel.token);
        return undefined;
      } finally {
        progress.dispose();
      }
    };
    const ended = run().catch(error =>
      cancel.token.isCancellationRequested ? undefined : refusal(error as Error));
    return { ended, dispose: () => cancel.cancel() };
  }
}
