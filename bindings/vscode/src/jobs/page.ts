// page.ts - the page of a job: a web view that draws what the cluster says of it

import { randomBytes } from "crypto";
import * as vscode from "vscode";
import type { Clusters } from "../clusters/store";
import type { Cluster } from "../clusters/cluster";
import { History } from "./history";
import { usesOf } from "./metrics";
import { isOver } from "./names";
import type { JobTree, Node } from "./tree";
import { askWait, waitLines } from "./waits";

const EVERY = 5000; // milliseconds between looks at a job that is not over

/** What a press in the page asks for; all else that it sends is not looked at. */
const ACTIONS = ["log", "terminal", "stop", "retry", "clone", "config", "port"] as const;

interface Pressed {
  action?: unknown;
  role?: unknown;
  index?: unknown;
}

export class JobPages implements vscode.Disposable {
  private readonly open = new Map<string, { panel: vscode.WebviewPanel; history: History }>();
  private readonly onEvent: vscode.Disposable;
  private readonly waiting = new Map<string, NodeJS.Timeout>();

  constructor(private readonly extension: vscode.Uri, private readonly clusters: Clusters,
    tree: JobTree) {
    this.onEvent = tree.onEvent(event => event && this.soon(clusters.current, event.job, 150));
  }

  dispose(): void {
    this.onEvent.dispose();
    this.waiting.forEach(clearTimeout);
    this.open.forEach(({ panel }) => panel.dispose());
  }

  show(job: string): void {
    const cluster = this.clusters.current, key = `${cluster.name}/${job}`;
    const there = this.open.get(key);
    if (there !== undefined) {
      there.panel.reveal();
      return;
    }
    const media = vscode.Uri.joinPath(this.extension, "media");
    const panel = vscode.window.createWebviewPanel("openpai.job", job.split("~")[1] ?? job,
      vscode.ViewColumn.Active, { enableScripts: true, localResourceRoots: [media] });
    this.open.set(key, { panel, history: new History(EVERY) });
    panel.iconPath = vscode.Uri.joinPath(media, "openpai.svg");
    panel.webview.html = this.html(panel.webview, media);
    panel.webview.onDidReceiveMessage((pressed: Pressed) => this.pressed(cluster, job, pressed));
    panel.onDidChangeViewState(() => panel.visible && this.soon(cluster, job));
    panel.onDidDispose(() => this.open.delete(key));
  }

  private html(webview: vscode.Webview, media: vscode.Uri): string {
    const nonce = randomBytes(16).toString("hex");
    const at = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(media, name));
    return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}' ${webview.cspSource}">
<link rel="stylesheet" href="${at("viewer/viewer.css")}"><link rel="stylesheet" href="${at("job.css")}">
</head><body><main class="openpai-view"></main>
<script type="module" nonce="${nonce}" src="${at("job.js")}"></script></body></html>`;
  }

  private pressed(cluster: Cluster, job: string, { action, role, index }: Pressed): void {
    if (action === "ready") {
      this.soon(cluster, job);
      return;
    }
    const known = ACTIONS.find(one => one === action);
    if (known === undefined || cluster.name !== this.clusters.current.name)
      return;
    const node = typeof role === "string" && typeof index === "number"
      ? { kind: "task", id: job, role, task: { taskIndex: index } } : { kind: "job", id: job };
    void vscode.commands.executeCommand(`openpai.job.${known}`, node as Node);
  }

  /** Events come in groups: the page is drawn once for those that come close together. */
  private soon(cluster: Cluster, job: string, ms = 0): void {
    const key = `${cluster.name}/${job}`, page = this.open.get(key);
    if (!page?.panel.visible)
      return;
    clearTimeout(this.waiting.get(key)); // a look that is due later
    this.waiting.set(key, setTimeout(() => {
      this.waiting.delete(key);
      void this.send(cluster, job, page.panel, page.history);
    }, ms));
  }

  private async send(cluster: Cluster, job: string, panel: vscode.WebviewPanel,
    history: History): Promise<void> {
    const ask = <T>(asked: Promise<T>) => asked.catch(() => null); // an old server has no such call
    try {
      const shown = await this.clusters.call("jobs.show", { job }, cluster);
      const running = shown.jobStatus.state === "RUNNING";
      const [why, events, metrics] = await Promise.all([
        shown.jobStatus.state === "WAITING"
          ? askWait(this.clusters, cluster, job).then(waitLines) : [],
        ask(this.clusters.call("jobs.events", { job }, cluster)),
        running ? ask(this.clusters.call("server.metrics", {}, cluster)) : null,
      ]);
      const uses = usesOf(metrics ?? "", job);
      if (metrics !== null)
        history.add(Date.now(), uses);
      await panel.webview.postMessage(
        { job: shown, why, events, uses, history: history.shown() });
      if (!isOver(shown.jobStatus.state)) // the events are of jobs, not of tasks
        this.soon(cluster, job, EVERY);
    } catch (error) {
      await panel.webview.postMessage({ error: (error as Error).message });
    }
  }
}
