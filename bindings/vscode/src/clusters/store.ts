// store.ts - the clusters of this editor and of the program, and which of them is chosen

import { execFile } from "child_process";
import * as vscode from "vscode";
import type { Helper } from "../helper/helper";
import {
  ADD_CLUSTER, USE_CLUSTER, type Answer, type Arguments, type CallName,
} from "../helper/protocol";
import { LOCAL, programFor, type Cluster, type Login, type Start } from "./cluster";
import { Logins } from "./logins";

const CHOSEN = "openpai.cluster";

export class Clusters implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Another cluster is chosen, or one was added, removed or logged in to. */
  readonly onChange = this.changed.event;
  private chosen: Cluster;
  private readonly logins: Logins;
  private readonly told = new Map<string, string>(); // our own clusters that the helper has

  constructor(private readonly context: vscode.ExtensionContext, readonly helper: Helper) {
    this.logins = new Logins(context.secrets);
    this.logins.onChange(() => helper.isStarted && void this.update());
    helper.introduce = async client => {
      this.told.clear();
      // A keyring that is locked takes the other clusters from nobody.
      const all = await this.logins.all().catch(() => new Map<string, Login>());
      for (const [name, login] of all)
        if (await client.sendRequest(ADD_CLUSTER, { name, ...login }).then(() => true, () => false))
          this.told.set(name, JSON.stringify(login));
      // A cluster that is gone shows in the view of jobs.
      await client.sendRequest(USE_CLUSTER, { cluster: this.chosen.name }).catch(() => undefined);
    };
    this.chosen = context.workspaceState.get<Cluster>(CHOSEN) ??
      context.globalState.get<Cluster>(CHOSEN) ?? LOCAL;
  }

  dispose(): void {
    this.logins.dispose();
    this.changed.dispose();
  }

  get current(): Cluster {
    return this.chosen;
  }

  /** Tells the helper of clusters that were logged in to, or removed, in another window. */
  private async update(): Promise<void> {
    const all = await this.logins.all();
    // One that is the same is left alone: its streams go on.
    const added = [...all].filter(([name, login]) => this.told.get(name) !== JSON.stringify(login));
    const gone = [...this.told.keys()].filter(name => !all.has(name));
    if (added.length + gone.length === 0)
      return;
    added.forEach(([name, login]) => this.told.set(name, JSON.stringify(login)));
    gone.forEach(name => this.told.delete(name));
    await Promise.allSettled([
      ...added.map(([name, login]) => this.helper.addCluster({ name, ...login })),
      ...gone.map(name => this.helper.forgetCluster(name)),
    ]);
    this.changed.fire();
  }

  async list(): Promise<Cluster[]> {
    const known = await this.helper.clusters();
    const far = known.filter(one => one.name !== LOCAL.name);
    const here = known.find(one => one.name === LOCAL.name);
    return [{ ...LOCAL, user: here?.user ?? undefined }, ...far.map(one => ({
      name: one.name, url: one.url ?? undefined, user: one.user ?? undefined, owner: one.owner,
    }))];
  }

  async choose(cluster: Cluster): Promise<void> {
    this.chosen = cluster;
    await this.context.workspaceState.update(CHOSEN, cluster);
    await this.context.globalState.update(CHOSEN, cluster);
    await this.helper.use(cluster.name).catch(() => undefined);
    this.changed.fire();
  }

  /** Keeps a cluster that was logged in to here. */
  async keep(name: string, login: Login): Promise<void> {
    this.told.set(name, JSON.stringify(login));
    await this.logins.keep(name, login);
    await this.helper.addCluster({ name, ...login });
  }

  /** Removes a cluster where it is kept, with its token. */
  async remove(cluster: Cluster): Promise<void> {
    this.told.delete(cluster.name);
    if (!await this.logins.forget(cluster.name))
      await this.run(["remote", "remove", cluster.name], { cluster: LOCAL });
    await this.renew(this.chosen.name, cluster.name);
  }

  /** What the editor keeps of a cluster. */
  login(name: string): Promise<Login | undefined> {
    return this.logins.find(name);
  }

  /** Chooses a cluster after the program has changed one: a helper keeps the token it had. */
  async renew(name: string, changed = name): Promise<void> {
    await this.helper.forgetCluster(changed);
    const cluster = (await this.list()).find(one => one.name === name);
    await this.choose(cluster ?? LOCAL);
  }

  call<N extends CallName>(name: N, args: Arguments<N>, cluster: Cluster = this.chosen):
    Promise<Answer<N>> {
    return this.helper.call(cluster.name, name, args);
  }

  /** What starts the program with these words at a cluster. */
  async start(words: string[], cluster = this.chosen): Promise<Start> {
    const login = cluster.name === LOCAL.name ? undefined : await this.logins.find(cluster.name);
    return programFor(this.helper.program(), words, cluster, login);
  }

  /**
   * Runs the program to its end and returns what it printed; the error has what it said.
   * @param input  for its standard input, where a password or a token can be
   */
  async run(words: string[], options: {
    cluster?: Cluster; input?: string; cancel?: vscode.CancellationToken; cwd?: string;
  } = {}): Promise<string> {
    const { shellPath, shellArgs, env } = await this.start(words, options.cluster);
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
