// logins.ts - the clusters that were logged in to here: VS Code's SecretStorage keeps them

import * as vscode from "vscode";
import type { Login } from "./cluster";

const KEY = "openpai.logins";

export class Logins implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** They were changed, maybe in another window. */
  readonly onChange = this.changed.event;
  private readonly onSecret: vscode.Disposable;

  constructor(private readonly secrets: vscode.SecretStorage) {
    this.onSecret = secrets.onDidChange(event => event.key === KEY && this.changed.fire());
  }

  dispose(): void {
    this.onSecret.dispose();
    this.changed.dispose();
  }

  /** By the clusters' names. */
  async all(): Promise<Map<string, Login>> {
    const text = await this.secrets.get(KEY);
    return new Map(text === undefined ? [] : Object.entries(JSON.parse(text)));
  }

  async find(name: string): Promise<Login | undefined> {
    return (await this.all()).get(name);
  }

  async keep(name: string, login: Login): Promise<void> {
    await this.store((await this.all()).set(name, login));
  }

  /** Returns whether there was such a cluster. */
  async forget(name: string): Promise<boolean> {
    const all = await this.all(), had = all.delete(name);
    if (had)
      await this.store(all);
    return had;
  }

  private async store(all: Map<string, Login>): Promise<void> {
    await this.secrets.store(KEY, JSON.stringify(Object.fromEntries(all)));
  }
}
