// store.ts - the clusters that the program knows, and which of them is chosen

import { execFile } from "child_process";
import * as vscode from "vscode";
import type { Helper } from "../helper/helper";
import type { Answer, Arguments, CallName } from "../helper/protocol";
import { LOCAL, programFor, type Cluster, type Start } from "./cluster";

const CHOSEN = "openpai.cluster";

export class Clusters implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Another cluster is chosen, or one was added, removed or logged in to. */
  readonly onChange = this.changed.event;
  private chosen: Cluster;
  private readonly onStart: vscode.Disposable;

  constructor(private readonly context: vscode.ExtensionContext, readonly helper: Helper) {
    this.onStart = helper.onStart(() => void this.tellHelper());
    this.chosen = context.workspaceState.get<Cluster>(CHOSEN) ??
      context.globalState.get<Cluster>(CHOSEN) ?? LOCAL;
  }

  dispose(): void {
    this.onStart.dispose();
    this.changed.dispose();
  }

  get current(): Cluster {
    return this.chosen;
  }

  private async tellHelper(): Promise<void> {
    // A cluster that is gone shows in the view of jobs.
    await this.helper.use(this.chosen.name).catch(() => undefined);
  }

  async list(): Promise<Cluster[]> {
    const known = await this.helper.clusters();
    const far = known.filter(one => one.name !== LOCAL.name);
    const here = known.find(one => one.name === LOCAL.name);
    return [{ ...LOCAL, user: here?.user ?? undefined }, ...far.map(one => ({
      name: one.name, url: one.url ?? undefined, user: one.user ?? undefined,
    }))];
  }

  async choose(cluster: Cluster): Promise<void> {
    this.chosen = cluster;
    await this.context.workspaceState.update(CHOSEN, cluster);
    await this.context.globalState.update(CHOSEN, cluster);
    await this.tellHelper();
    this.changed.fire();
  }

  /** Chooses a cluster whose token is another one now: a helper keeps the one that it had. */
  async renew(name: string): Promise<void> {
    await this.helper.restart();
    const cluster = (await this.list()).find(one => one.name === name);
    await this.choose(cluster ?? LOCAL);
  }

  call<N extends CallName>(name: N, args: Arguments<N>, cluster: Cluster = this.chosen):
    Promise<Answer<N>> {
    return this.helper.call(cluster.name, name, args);
  }

  /** What starts the program with these words at a cluster. */
  start(words: string[], cluster = this.chosen): Start {
    return programFor(this.helper.program(), words, cluster);
  }

  /**
   * Runs the program to its end and returns what it printed; the error has what it said.
   * @param input  for its standard input, where a password or a token can be
   */
  run(words: string[], options: {
    cluster?: Cluster; input?: string; cancel?: vscode.CancellationToken; cwd?: string;
  } = {}): Promise<string> {
    const { shellPath, shellArgs, env } = this.start(words, options.cluster);
    const variables = Object.fromEntries(Object.entries({ ...process.env, ...env })
      .filter(([, value]) => value !== null)) as NodeJS.ProcessEnv;
    return new Promise((resolve, reject) => {
      const child = execFile(shellPath, shellArgs, {
        env: variables, cwd: options.cwd, maxBuffer: 1 << 28,
      }, (error, output, errors) => {
        if (options.cancel?.isCancellationRequested)
          reject(new vscode.CancellationError());
        else if (error)
          reject(new Error(errors.trim().replace(/^openpai: error: /, "") || error.message));
        else
          resolve(output);
      });
      options.cancel?.onCancellationRequested(() => child.kill());
      child.stdin?.on("error", () => undefined); // it ended before it read all
      child.stdin?.end(options.input ?? "");
    });
  }

  /** Starts the platform of this machine if it does not run. */
  async startPlatform(): Promise<void> {
    await this.run(["up"], { cluster: LOCAL });
  }

  refresh(): void {
    this.changed.fire();
  }
}
