// status.ts - the chosen cluster in the status bar: its queue and its free GPUs

import * as vscode from "vscode";
import type { Status } from "../api";
import type { Clusters } from "../clusters/store";

const EVERY = 60000;

/** "2 running, 1 waiting · 3 of 8 GPUs free" */
export function statusText({ jobs, machine }: Pick<Status, "jobs" | "machine">): string {
  const queue = [
    jobs.running > 0 && `${jobs.running} running`, jobs.waiting > 0 && `${jobs.waiting} waiting`,
  ].filter(Boolean).join(", ");
  const gpus = machine.gpus > 0 ? `${machine.freeGpus} of ${machine.gpus} GPUs free` : "";
  return [queue || "idle", gpus].filter(Boolean).join(" · ");
}

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("openpai.status",
    vscode.StatusBarAlignment.Left);
  private readonly timer = setInterval(() => this.update(), EVERY);

  private readonly onStart: vscode.Disposable;

  constructor(private readonly clusters: Clusters) {
    this.item.name = "OpenPAI";
    this.item.command = "openpai.cluster.select";
    this.item.text = `$(server) ${clusters.current.name}`;
    this.item.tooltip = "Choose a cluster";
    this.onStart = clusters.helper.onStart(() => {
      this.item.show();
      this.update();
    });
  }

  dispose(): void {
    clearInterval(this.timer);
    this.onStart.dispose();
    this.item.dispose();
  }

  private asking = false;

  /** Asks again, once for what comes close together. */
  update(): void {
    if (this.asking || !this.clusters.helper.isStarted)
      return;
    this.asking = true;
    setTimeout(() => {
      this.asking = false;
      void this.ask();
    }, 300);
  }

  private async ask(): Promise<void> {
    const { name } = this.clusters.current;
    try {
      const status = await this.clusters.call("server.status", {});
      if (name !== this.clusters.current.name)
        return;
      this.item.text = `$(server) ${name}: ${statusText(status)}`;
      this.item.tooltip = status.trouble ?? status.warning ?? "Choose a cluster";
    } catch (error) {
      // An original OpenPAI has no status; one that cannot be reached has a node in the view.
      this.item.text = `$(server) ${name}`;
      this.item.tooltip = (error as Error).message;
    }
  }
}
