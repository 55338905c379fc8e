// commands.ts - what is done with a job: stop, retry, clone, remove, log, terminal, compare, ...

import { userInfo } from "os";
import * as vscode from "vscode";
import type { JobItem, State } from "../api";
import { held } from "../clusters/cluster";
import type { Clusters } from "../clusters/store";
import { configUri } from "../editor/configs";
import { logUri, type Logs } from "../editor/logs";
import { openTaskTerminal, openTerminal } from "../editor/terminal";
import { cloned, done } from "./submit";
import { copyName, jobId, LIVE, nameIn, renameJob } from "./names";
import type { JobTree, Node } from "./tree";

export class JobCommands {
  constructor(private readonly clusters: Clusters, private readonly tree: JobTree,
    private readonly logs: Logs) {}

  /** The job of a node, or one that the user picks. */
  async job(node: Node | undefined, title: string, states?: State[]): Promise<string | undefined> {
    if (node !== undefined && "id" in node)
      return node.id;
    const jobs = this.tree.known(states);
    const picked = await vscode.window.showQuickPick(jobs.map((job: JobItem) => ({
      label: job.name, description: `${job.username} · ${job.state.toLowerCase()}`,
      id: jobId(job.username, job.name),
    })), { title, placeHolder: jobs.length === 0 ? "There is no such job" : undefined });
    return picked?.id;
  }

  /** A task of the job: that of the node, the only one, or one that the user picks. */
  async task(node: Node | undefined, title: string, running = false):
    Promise<{ id: string; role: string; index: number } | undefined> {
    if (node?.kind === "task")
      return { id: node.id, role: node.role, index: node.task.taskIndex };
    const id = await this.job(node, title, running ? ["RUNNING"] : undefined);
    if (id === undefined)
      return undefined;
    const told = await this.clusters.call("jobs.show", { job: id });
    const tasks = Object.entries(told.taskRoles).flatMap(([role, { taskStatuses }]) =>
      taskStatuses.filter(task => !running || task.taskState === "RUNNING").map(task => ({
        label: `${role}/${task.taskIndex}`, description: task.taskState.toLowerCase(),
        id, role, index: task.taskIndex,
      })));
    if (tasks.length === 0)
      throw new Error(`No task of ${id} is running.`);
    return tasks.length === 1 ? tasks[0] : vscode.window.showQuickPick(tasks, { title });
  }

  async stop(node?: Node): Promise<void> {
    const job = await this.job(node, "Stop Job", LIVE);
    if (job === undefined || await vscode.window.showWarningMessage(
      `Stop ${job}?`, { modal: true }, "Stop") !== "Stop")
      return;
    await this.clusters.call("jobs.stop", { job, value: "STOP" });
    this.tree.refresh();
  }

  async remove(node?: Node): Promise<void> {
    const job = await this.job(node, "Remove Job", ["SUCCEEDED", "FAILED", "STOPPED"]);
    if (job === undefined || await vscode.window.showWarningMessage(
      `Remove ${job} with its logs and files?`, { modal: true }, "Remove") !== "Remove")
      return;
    await this.clusters.call("jobs.remove", { job });
    this.tree.refresh();
  }

  private async fileOf(job: string): Promise<string> {
    const text = await this.clusters.call("jobs.config", { job, format: "yaml" });
    if (typeof text !== "string")
      throw new Error(`The file of ${job} is not known.`);
    return text;
  }

  /** Submits the job again under a new name; secrets were erased, so a terminal asks for them. */
  async retry(node?: Node): Promise<void> {
    const job = await this.job(node, "Retry Job", ["SUCCEEDED", "FAILED", "STOPPED"]);
    if (job === undefined)
      return;
    if (/^secrets:/m.test(await this.fileOf(job))) {
      openTerminal(`retry ${job}`, held(await this.clusters.start(["retry", job]), true));
      return;
    }
    const told = await this.clusters.run(["retry", "--json", job]);
    await done(this.clusters, this.tree, (JSON.parse(told) as { name: string }).name);
  }

  /** Opens the job's file as a new one to be edited. */
  async clone(node?: Node): Promise<void> {
    const job = await this.job(node, "Clone Job");
    if (job === undefined)
      return;
    const text = await this.fileOf(job), old = nameIn(text) ?? job.slice(job.indexOf("~") + 1);
    const name = copyName(old, this.tree.known().map(one => one.name));
    const document = await vscode.workspace.openTextDocument(
      { language: "yaml", content: renameJob(text, name) });
    cloned.set(document, job);
    await vscode.window.showTextDocument(document);
  }

  async log(node?: Node): Promise<void> {
    const task = await this.task(node, "Open Log");
    if (task !== undefined)
      await this.logs.open(logUri(this.clusters.current.name, task.id, task.role, task.index));
  }

  async terminal(node?: Node): Promise<void> {
    const task = await this.task(node, "Open Terminal in Task", true);
    if (task === undefined)
      return;
    openTaskTerminal(this.clusters.helper, {
      cluster: this.clusters.current.name, job: task.id, role: task.role, index: task.index,
    });
  }

  async ssh(node?: Node): Promise<void> {
    const task = await this.task(node, "SSH into Task", true);
    if (task === undefined)
      return;
    const where = `${task.role}/${task.index}`;
    openTerminal(`ssh ${where}`,
      held(await this.clusters.start(["ssh", "--task", where, task.id])));
  }

  async config(node?: Node): Promise<void> {
    const job = await this.job(node, "Show Job File");
    if (job !== undefined)
      await vscode.window.showTextDocument(configUri(this.clusters.current.name, job),
        { preview: true });
  }

  /** Shows two jobs' files side by side, with what differs. */
  async compare(node?: Node, nodes?: Node[]): Promise<void> {
    const chosen = (nodes ?? []).flatMap(one => one.kind === "job" ? [one.id] : []);
    const first = chosen[0] ?? await this.job(node, "Compare: First Job");
    const second = first === undefined ? undefined
      : chosen[1] ?? await this.job(undefined, `Compare ${first} With`);
    if (first === undefined || second === undefined)
      return;
    const { name } = this.clusters.current;
    await vscode.commands.executeCommand("vscode.diff", configUri(name, first),
      configUri(name, second), `${first} ↔ ${second}`);
  }

  /** Opens a port of a task in the browser: Jupyter, TensorBoard, ... */
  async port(node?: Node): Promise<void> {
    const task = await this.task(node, "Open Port", true);
    if (task === undefined)
      return;
    const told = await this.clusters.call("jobs.show", { job: task.id });
    const status = told.taskRoles[task.role]?.taskStatuses
      .find(one => one.taskIndex === task.index);
    const ports = Object.entries(status?.containerPorts ?? {}).flatMap(([label, numbers]) =>
      String(numbers).split(",").map(number => ({ label, description: number, number })));
    const port = await vscode.window.showQuickPick(ports, { title: "Open Port" });
    if (port === undefined || !status?.containerIp)
      return;
    const address = status.containerIp;
    const { url } = this.clusters.current;
    // A server that says 127.0.0.1 of its tasks means its own host.
    const host = address === "127.0.0.1" && url !== undefined ? new URL(url).hostname : address;
    const local = vscode.Uri.parse(`http://${host}:${port.number}/`);
    await vscode.env.openExternal(await vscode.env.asExternalUri(local));
  }

  async setFilter(): Promise<void> {
    const states: State[] = ["WAITING", "RUNNING", "STOPPING", "SUCCEEDED", "FAILED", "STOPPED"];
    const { filter } = this.tree;
    const picked = await vscode.window.showQuickPick(states.map(state => ({
      label: state.toLowerCase(), state, picked: filter.states?.includes(state) ?? false,
    })), { title: "Filter Jobs", canPickMany: true, placeHolder: "States; none: all" });
    if (picked === undefined)
      return;
    const keyword = await vscode.window.showInputBox({
      title: "Filter Jobs", prompt: "Text in the user, the name or the virtual cluster",
      value: filter.keyword ?? "",
    });
    if (keyword !== undefined)
      this.tree.filter = {
        ...filter, keyword: keyword.trim() || undefined,
        states: picked.length > 0 ? picked.map(one => one.state) : undefined,
      };
  }

  /** Only one's own jobs, or all again. */
  toggleMine(): void {
    const { user, ...others } = this.tree.filter;
    const own = this.clusters.current.user ?? userInfo().username;
    this.tree.filter = user === undefined ? { ...others, user: own } : others;
  }
}
