// helper.ts - the process `openpai helper`: one language client, which carries the calls too

import * as fs from "fs";
import * as os from "os";
import * as vscode from "vscode";
import { LanguageClient, ProgressType, State } from "vscode-languageclient/node";
import { LOCAL } from "../clusters/cluster";
import { clientOptions } from "../language/options";
import { MissingProgram, refusal } from "./errors";
import { findProgram } from "./find";
import {
  ADD_CLUSTER, CALL, CLUSTERS, COPY, DEBUG_JOB, EVENTS, EXEC, EXEC_INPUT, FIND_SERVER,
  FORGET_CLUSTER, LOGIN, LOGIN_PAGE, LOGS, USE_CLUSTER, WHAT_IF, type AddClusterParams,
  type Answer, type Arguments, type CallAnswer, type CallName, type CallParams, type CopyParams,
  type DebugJob, type EventsParams, type ExecEnd, type ExecEvent, type ExecInput,
  type ExecParams, type FoundServer, type JobEvent, type KnownCluster, type LogPiece,
  type LoginPage, type LoginParams, type LoginResult, type LogsParams, type ServerAddress,
} from "./protocol";
import { withoutSecrets } from "./secrets";

/** A channel for the trace of messages, in which there are passwords and tokens. */
const guarded = (output: vscode.OutputChannel): vscode.OutputChannel => ({
  name: output.name,
  append: text => output.append(withoutSecrets(text)),
  appendLine: text => output.appendLine(withoutSecrets(text)),
  replace: text => output.replace(withoutSecrets(text)),
  clear: () => output.clear(), show: () => output.show(), hide: () => output.hide(),
  dispose: () => undefined, // its owner does
});

/** A stream that runs until it is disposed of; `ended` has the error that ended it, if any. */
export interface Stream extends vscode.Disposable {
  ended: Promise<Error | undefined>;
}

/** A command in a task. */
export interface Exec extends vscode.Disposable {
  /** Rejects if it could not be started, or was disposed of. */
  ended: Promise<ExecEnd>;
  /** Resolves when the input is sent. */
  send(input: ExecInput): Promise<void>;
}

const isNear = (params: { cluster?: string }): boolean => params.cluster === LOCAL.name;

export class Helper implements vscode.Disposable {
  private client: Promise<LanguageClient> | undefined;
  private tried = false;
  private last = 0;
  private readonly started = new vscode.EventEmitter<void>();
  /** A helper has started, and knows the editor's clusters. */
  readonly onStart = this.started.event;
  /** Tells a helper that has started what it must know before the first call. */
  introduce: (client: LanguageClient) => Promise<void> = async () => undefined;
  private readonly output = vscode.window.createOutputChannel("OpenPAI");

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
    this.tried = true;
    this.client ??= this.begin().catch(error => {
      this.client = undefined;
      throw error;
    });
    return this.client;
  }

  /** Whether something has needed it, also in vain. */
  get wasTried(): boolean {
    return this.tried;
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
    void this.stop().finally(() => this.output.dispose());
  }

  private async begin(): Promise<LanguageClient> {
    // Without a `transport`: else the client adds the option --stdio, which the program lacks.
    const run = { command: this.program(), args: ["helper"] };
    const client = new LanguageClient("openpai", "OpenPAI", { run, debug: run }, {
      ...clientOptions(["file", "untitled"]),
      outputChannel: this.output,
      traceOutputChannel: guarded(this.output),
    });
    let first = true;
    client.onDidChangeState(event => {
      // The client has started it again, after a crash: calls wait until it knows the clusters.
      if (event.newState === State.Running && !first)
        this.client = this.greet(client);
    });
    await client.start();
    first = false;
    return this.greet(client);
  }

  private async greet(client: LanguageClient): Promise<LanguageClient> {
    await this.introduce(client);
    this.started.fire();
    return client;
  }

  private async ask<T>(method: string, params: object): Promise<T> {
    const client = await this.start();
    try {
      return await client.sendRequest<T>(method, params);
    } catch (error) {
      throw refusal(error as Error, isNear(params));
    }
  }

  async call<N extends CallName>(cluster: string, name: N, args: Arguments<N>):
    Promise<Answer<N>> {
    const params: CallParams = { cluster, name, arguments: args };
    return (await this.ask<CallAnswer>(CALL, params)).body as Answer<N>;
  }

  clusters(): Promise<KnownCluster[]> {
    return this.ask(CLUSTERS, {});
  }

  use(cluster: string): Promise<void> {
    return this.ask(USE_CLUSTER, { cluster });
  }

  addCluster(params: AddClusterParams): Promise<void> {
    return this.ask(ADD_CLUSTER, params);
  }

  /** One of the program is opened again, with the token that is stored then. */
  forgetCluster(name: string): Promise<void> {
    return this.ask(FORGET_CLUSTER, { name });
  }

  /** Finds the API at an address, before anything secret is asked for. */
  findServer(params: ServerAddress): Promise<FoundServer> {
    return this.ask(FIND_SERVER, params);
  }

  login(params: LoginParams): Promise<LoginResult> {
    return this.ask(LOGIN, params);
  }

  loginPage(params: ServerAddress): Promise<LoginPage> {
    return this.ask(LOGIN_PAGE, params);
  }

  copy(params: CopyParams): Promise<void> {
    return this.ask(COPY, params);
  }

  /** What the jobs of a cluster would do if this one were submitted, as text. */
  whatIf(cluster: string, job: string): Promise<string> {
    return this.ask(WHAT_IF, { cluster, job, format: "text" });
  }

  debugJob(text: string, port: number): Promise<DebugJob> {
    return this.ask(DEBUG_JOB, { text, port });
  }

  events(params: EventsParams, take: (event: JobEvent) => void): Stream {
    return this.follow(EVENTS, params, take);
  }

  logs(params: LogsParams, take: (piece: LogPiece) => void): Stream {
    return this.follow(LOGS, params, take);
  }

  exec(params: ExecParams, take: (event: ExecEvent) => void): Exec {
    const { token, ended, cancel } = this.stream<ExecEvent, ExecEnd>(EXEC, params, take);
    return {
      ended, dispose: () => cancel.cancel(),
      send: input => this.ask(EXEC_INPUT, { token, ...input }),
    };
  }

  private follow<T>(method: string, params: object, take: (item: T) => void): Stream {
    const { ended, cancel } = this.stream<T, null>(method, params, take);
    return {
      dispose: () => cancel.cancel(),
      ended: ended.then(() => undefined,
        (error: Error) => cancel.token.isCancellationRequested ? undefined : error),
    };
  }

  private stream<T, R>(method: string, params: object, take: (item: T) => void) {
    const cancel = new vscode.CancellationTokenSource(), token = `openpai-${++this.last}`;
    const run = async (): Promise<R> => {
      const client = await this.start();
      const progress = client.onProgress(new ProgressType<T>(), token, take);
      try {
        return await client.sendRequest<R>(method, { ...params, partialResultToken: token },
          cancel.token);
      } catch (error) {
        throw refusal(error as Error, isNear(params));
      } finally {
        progress.dispose();
      }
    };
    return { token, ended: run(), cancel };
  }
}
