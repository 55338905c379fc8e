// tree.ts - the view of the jobs of the chosen cluster, live by its events

import * as vscode from "vscode";
import type { File as JobFile, JobItem, JobPage, State, Task } from "../api";
import type { Clusters } from "../clusters/store";
import { Lack } from "../helper/errors";
import type { Stream } from "../helper/helper";
import type { JobEvent } from "../helper/protocol";
import { JobList, type Filter } from "./list";
import { duration, iconOf, isOver, jobId, LIVE } from "./names";

export type Node =
  | { kind: "job"; id: string; job: JobItem }
  | { kind: "task"; id: string; role: string; task: Task }
  | { kind: "folder" | "file"; id: string; path: string; file?: JobFile }
  | { kind: "more" | "problem" | "note"; text: string };

const icon = (name: string, colour?: string): vscode.ThemeIcon =>
  new vscode.ThemeIcon(name, colour === undefined ? undefined : new vscode.ThemeColor(colour));

function describe(job: JobItem): string {
  const state = job.state.toLowerCase(), user = `${job.username} · `;
  const from = job.launchedTime ?? job.submissionTime;
  const seconds = ((job.completedTime ?? Date.now()) - from) / 1000;
  const code = job.state === "FAILED" && job.appExitCode !== null ? ` (${job.appExitCode})` : "";
  const why = job.state === "WAITING" && job.queuedReason ? ` · ${job.queuedReason}` : "";
  return `${user}${state}${code}${why} · ${duration(seconds)}`;
}

export class JobTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly told = new vscode.EventEmitter<JobEvent | undefined>();
  /** Each event of the cluster; undefined when the list was loaded. */
  readonly onEvent = this.told.event;
  private list!: JobList;
  private view: vscode.TreeView<Node> | undefined;
  private stream: Stream | undefined;
  private problem: Error | undefined;
  private loaded: Promise<void> | undefined;
  private timers = new Set<NodeJS.Timeout>();
  private readonly onCluster: vscode.Disposable;
  // Times pass, and events are of jobs: tasks are asked for again.
  private readonly clock = setInterval(() => {
    if (this.view?.visible && this.known(LIVE).length > 0)
      this.changed.fire(undefined);
  }, 20000);

  constructor(private readonly clusters: Clusters) {
    this.onCluster = clusters.onChange(() => this.reset());
    this.reset();
  }

  attach(view: vscode.TreeView<Node>): void {
    this.view = view;
    view.onDidChangeVisibility(event => event.visible && this.refresh());
    this.title();
  }

  dispose(): void {
    this.onCluster.dispose();
    this.stream?.dispose();
    clearInterval(this.clock);
    this.timers.forEach(clearTimeout);
  }

  get filter(): Filter {
    return this.list.filter;
  }

  set filter(filter: Filter) {
    this.list.filter = filter;
    this.list.jobs = [];
    this.title();
    this.refresh();
  }

  /** Jobs that are shown and in one of these states. */
  known(states?: State[]): JobItem[] {
    return this.list.jobs.filter(job => states === undefined || states.includes(job.state));
  }

  private title(): void {
    if (!this.view)
      return;
    const { keyword, states, user } = this.list.filter;
    const parts = [user, states?.map(one => one.toLowerCase()).join(", "), keyword && `"${keyword}"`];
    this.view.description = [this.clusters.current.name, ...parts].filter(Boolean).join(" · ");
  }

  private reset(): void {
    const cluster = this.clusters.current;
    const pageSize = vscode.workspace.getConfiguration("openpai").get("jobs.pageSize", 20);
    const before = this.list as JobList | undefined;
    this.list = new JobList(args => this.clusters.call("jobs.list", args, cluster) as
      Promise<JobPage>, pageSize, before?.filter ?? {});
    this.stream?.dispose();
    this.stream = undefined;
    this.title();
    if (before !== undefined)
      this.refresh();
  }

  refresh(): void {
    this.loaded = undefined;
    this.changed.fire(undefined);
  }

  async more(): Promise<void> {
    await this.list.more();
    this.changed.fire(undefined);
  }

  private async load(): Promise<void> {
    const list = this.list;
    try {
      await list.load();
      this.problem = undefined;
    } catch (error) {
      this.problem = error as Error;
    }
    if (list !== this.list)
      return;
    void vscode.commands.executeCommand("setContext", "openpai.lacks",
      this.problem instanceof Lack ? this.problem.what : "nothing");
    this.told.fire(undefined);
    if (this.problem === undefined)
      this.follow(1000);
    else
      this.later(15000, () => this.problem !== undefined && this.refresh());
  }

  private later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, ms);
    this.timers.add(timer);
  }

  /** Follows the events; a stream that broke is begun again, each time later. */
  private follow(wait: number): void {
    if (this.stream !== undefined)
      return;
    const cluster = this.clusters.current;
    const stream: Stream = this.stream = this.clusters.helper.events({ cluster: cluster.name },
      event => this.stream === stream && this.take(event));
    void stream.ended.then(() => {
      if (this.stream !== stream)
        return;
      this.later(wait, () => {
        if (this.stream === stream) {
          this.stream = undefined;
          this.follow(Math.min(wait * 2, 30000));
          this.soon();
        }
      });
    });
  }

  private waiting = false;
  /** Asks for the list once for all events that come close together. */
  private soon(): void {
    if (this.waiting)
      return;
    this.waiting = true;
    this.later(300, () => {
      this.waiting = false;
      this.refresh();
    });
  }

  private take(event: JobEvent): void {
    const change = this.list.apply(event);
    if (change === "ask")
      this.soon();
    else if (change === "shown")
      this.changed.fire(undefined);
    this.told.fire(event);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined)
      return this.roots();
    if (node.kind === "job")
      return this.tasks(node.id);
    return node.kind === "folder" ? this.files(node.id, node.path) : [];
  }

  private async roots(): Promise<Node[]> {
    this.loaded ??= this.load();
    await this.loaded;
    if (this.problem instanceof Lack)
      return []; // the view's welcome says what to do
    if (this.problem !== undefined)
      return [{ kind: "problem", text: this.problem.message }];
    const nodes: Node[] = this.list.jobs.map(job =>
      ({ kind: "job", id: jobId(job.username, job.name), job }));
    if (this.list.hasMore)
      nodes.push({ kind: "more", text: `${this.list.jobs.length} of ${this.list.total}` });
    return nodes;
  }

  private async tasks(id: string): Promise<Node[]> {
    const told = await this.clusters.call("jobs.show", { job: id });
    const tasks = Object.entries(told.taskRoles).flatMap(([role, { taskStatuses }]) =>
      taskStatuses.map((task): Node => ({ kind: "task", id, role, task })));
    return [...tasks, { kind: "folder", id, path: "" }];
  }

  private async files(id: string, path: string): Promise<Node[]> {
    const told = await this.clusters.call("files.list", { job: id, path, limit: 1000 })
      .catch((error: Error) => error);
    if (told instanceof Error) // mostly a job without code, which has no folder of its own
      return [{ kind: "note", text: told.message }];
    const nodes = told.entries.map((file): Node =>
      ({ kind: file.type === "folder" ? "folder" : "file", id, path: file.path, file }));
    return told.next === null ? nodes
      : [...nodes, { kind: "note", text: `There are more than ${nodes.length}: openpai files` }];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "job": return this.jobItem(node.id, node.job);
      case "task": return this.taskItem(node.id, node.role, node.task);
      case "folder": case "file": return this.fileItem(node.kind, node.id, node.path, node.file);
      case "more": {
        const item = new vscode.TreeItem("View More…");
        item.description = node.text;
        item.command = { command: "openpai.container.joblist.more", title: "View More" };
        return item;
      }
      case "note": {
        const item = new vscode.TreeItem(node.text);
        item.iconPath = icon("info");
        item.tooltip = node.text;
        return item;
      }
      default: {
        const item = new vscode.TreeItem(node.text);
        item.iconPath = icon("warning", "problemsWarningIcon.foreground");
        item.tooltip = node.text;
        item.command = { command: "openpai.helper.restart", title: "Try Again" };
        return item;
      }
    }
  }

  private jobItem(id: string, job: JobItem): vscode.TreeItem {
    const item = new vscode.TreeItem(job.name, vscode.TreeItemCollapsibleState.Collapsed);
    item.id = `${this.clusters.current.name}/${id}`;
    item.description = describe(job);
    item.iconPath = icon(...iconOf(job.state));
    item.contextValue = isOver(job.state) ? "job.over" : "job.live";
    item.tooltip = [
      `${id} · ${job.state}`, `${job.totalTaskNumber} tasks, ${job.totalGpuNumber} GPUs`,
      `virtual cluster ${job.virtualCluster}`,
      `submitted ${new Date(job.submissionTime).toLocaleString()}`,
    ].join("\n");
    item.command = { command: "openpai.job.open", title: "Open Job Page", arguments: [{ kind: "job", id, job }] };
    return item;
  }

  private taskItem(id: string, role: string, task: Task): vscode.TreeItem {
    const item = new vscode.TreeItem(`${role}/${task.taskIndex}`);
    const code = task.containerExitCode === null ? "" : ` (${task.containerExitCode})`;
    const node = task.containerNodeName ? ` · ${task.containerNodeName}` : "";
    item.description = `${task.taskState.toLowerCase()}${code}${node}`;
    item.iconPath = icon(...iconOf(task.taskState));
    item.contextValue = task.taskState === "RUNNING" ? "task.running" : "task";
    item.tooltip = task.runtime ?? undefined;
    item.command = { command: "openpai.job.log", title: "Open Log", arguments: [{ kind: "task", id, role, task }] };
    return item;
  }

  private fileItem(kind: "folder" | "file", id: string, path: string, file?: JobFile):
    vscode.TreeItem {
    const item = new vscode.TreeItem(path === "" ? "Files" : path.slice(path.lastIndexOf("/") + 1),
      kind === "folder" ? vscode.TreeItemCollapsibleState.Collapsed : undefined);
    item.iconPath = kind === "folder" ? vscode.ThemeIcon.Folder : vscode.ThemeIcon.File;
    item.contextValue = path === "" ? "files" : kind;
    if (kind === "file") {
      item.resourceUri = vscode.Uri.from({ scheme: "openpai", authority: this.clusters.current.name, path: `/${id}/${path}` });
      item.command = { command: "vscode.open", title: "Open", arguments: [item.resourceUri] };
      item.description = file?.type === "file" ? `${file.size} B` : file?.target ?? file?.type;
    }
    return item;
  }
}
