// extension.ts - begins the extension: what it registers, and how errors are shown

import * as vscode from "vscode";
import {
  addCluster, chooseCluster, editCluster, importClusters, openPortal, removeCluster,
} from "./clusters/commands";
import { Clusters } from "./clusters/store";
import { CONFIG, Configs, EXPLAIN, Explanations } from "./editor/configs";
import { JobFiles } from "./editor/files";
import { followActiveEditor, onFirstJobFile } from "./editor/job_files";
import { Logs, LOG_SCHEME } from "./editor/logs";
import { registrar, showError, type Act } from "./editor/register";
import { StatusBar } from "./editor/status";
import { MissingProgram } from "./helper/errors";
import { Helper } from "./helper/helper";
import { JobCommands } from "./jobs/commands";
import { createConfig } from "./jobs/create";
import { debugHere } from "./jobs/debug";
import { JobPages } from "./jobs/page";
import { writeEntry } from "./jobs/ssh_entry";
import { explain, runHere, submitFile, submitWithCode } from "./jobs/submit";
import { JobTree, type Node } from "./jobs/tree";
import { StorageTree } from "./storages";

/** The setting openpai.path, which starts the helper again. */
async function chooseProgram(): Promise<void> {
  const [file] = await vscode.window.showOpenDialog({ title: "The program openpai" }) ?? [];
  if (file !== undefined)
    await vscode.workspace.getConfiguration("openpai")
      .update("path", file.fsPath, vscode.ConfigurationTarget.Global);
}

/** Opens the walkthrough. VS Code keeps another one that is in front, so that is closed. */
async function getStarted(context: vscode.ExtensionContext): Promise<void> {
  const other = vscode.window.tabGroups.all.map(group => group.activeTab)
    .filter(tab => tab?.input === undefined && tab?.label.startsWith("Walkthrough:"))
    .filter(tab => tab !== undefined);
  await vscode.window.tabGroups.close(other);
  await vscode.commands.executeCommand("workbench.action.openWalkthrough",
    `${context.extension.id}#start`, false);
}

/** Shows an error; one without the program has a way out. */
async function report(error: unknown): Promise<void> {
  if (!(error instanceof MissingProgram))
    return showError(error);
  const answer = await vscode.window.showErrorMessage(
    `OpenPAI: ${error.message}`, "Choose the Program…", "Try Again");
  if (answer === "Choose the Program…") {
    await chooseProgram();
  } else if (answer === "Try Again") {
    await vscode.commands.executeCommand("openpai.helper.restart");
  }
}

/** The language features begin with the first document that is meant to be a job file. */
function startWithJobFiles(context: vscode.ExtensionContext, helper: Helper): void {
  onFirstJobFile(context, () => void helper.start().catch(report));
  context.subscriptions.push(vscode.workspace.onDidChangeConfiguration(event => {
    if (event.affectsConfiguration("openpai.path") && helper.wasTried)
      void vscode.commands.executeCommand("openpai.helper.restart");
  }));
}

export function activate(context: vscode.ExtensionContext): void {
  const helper = new Helper(context), clusters = new Clusters(context, helper);
  const tree = new JobTree(clusters), logs = new Logs(clusters), files = new JobFiles(clusters);
  const jobs = new JobCommands(clusters, tree, logs), storages = new StorageTree(clusters);
  const explanations = new Explanations(clusters);
  const pages = new JobPages(context.extensionUri, clusters, tree);
  const status = new StatusBar(clusters);
  const view = vscode.window.createTreeView("openpai.jobs",
    { treeDataProvider: tree, canSelectMany: true, showCollapseAll: true });
  tree.attach(view);
  context.subscriptions.push(helper, clusters, tree, logs, pages, status, view, storages,
    vscode.window.registerTreeDataProvider("openpai.storages", storages),
    vscode.workspace.registerTextDocumentContentProvider(LOG_SCHEME, logs),
    vscode.languages.registerDocumentLinkProvider({ scheme: LOG_SCHEME }, logs),
    vscode.workspace.registerTextDocumentContentProvider(CONFIG, new Configs(clusters)),
    vscode.workspace.registerTextDocumentContentProvider(EXPLAIN, explanations),
    vscode.workspace.registerFileSystemProvider("openpai", files, { isCaseSensitive: true }));

  const command = registrar(context, report);
  // What only a trusted workspace may do: run what its files say.
  const trusted = (name: string, act: Act) =>
    command(name, (...args) => {
      if (!vscode.workspace.isTrusted)
        throw new Error("Trust this workspace first: its files say what is run.");
      return act(...args);
    });

  command("cluster.add", () => addCluster(clusters));
  command("cluster.edit", () => editCluster(clusters));
  command("cluster.delete", () => removeCluster(clusters));
  command("cluster.select", () => chooseCluster(clusters));
  command("cluster.import", () => importClusters(clusters));
  command("cluster.refresh", () => clusters.refresh());
  command("cluster.dashboard.open", () => openPortal(clusters));
  command("cluster.job.list", () => openPortal(clusters, "/job-list.html"));
  command("cluster.job.create-config", () => createConfig(context, clusters));
  trusted("cluster.job.submit", (uri?: vscode.Uri) => submitFile(clusters, tree, uri));
  trusted("job.submit.code", (uri?: vscode.Uri) => submitWithCode(clusters, tree, uri));
  trusted("cluster.job.simulate", (uri?: vscode.Uri) => runHere(clusters, uri));
  trusted("job.debug", (uri?: vscode.Uri) => debugHere(context, clusters, uri));
  command("job.explain", (uri?: vscode.Uri) => explain(explanations, uri));
  command("job.whatIf", (uri?: vscode.Uri) => explain(explanations, uri, clusters.current.name));
  // The lenses of the helper, with the document's URI as a text.
  trusted("submit", (uri: string) => submitFile(clusters, tree, uri));
  trusted("runHere", (uri: string) => runHere(clusters, uri));
  command("explain", (uri: string) => explain(explanations, uri));
  command("container.joblist.refresh", () => tree.refresh());
  command("container.joblist.more", () => tree.more());
  command("job.filter", () => jobs.setFilter());
  command("job.filter.mine", () => jobs.toggleMine());
  command("job.open", async (node?: Node) => {
    const id = await jobs.job(node, "Open Job Page");
    if (id !== undefined)
      pages.show(id);
  });
  command("job.log", (node?: Node) => jobs.log(node));
  command("job.terminal", (node?: Node) => jobs.terminal(node));
  command("job.ssh", (node?: Node) => jobs.ssh(node));
  command("job.stop", (node?: Node) => jobs.stop(node));
  command("job.retry", (node?: Node) => jobs.retry(node));
  command("job.clone", (node?: Node) => jobs.clone(node));
  command("job.remove", (node?: Node) => jobs.remove(node));
  command("job.config", (node?: Node) => jobs.config(node));
  command("job.compare", (node?: Node, nodes?: Node[]) => jobs.compare(node, nodes));
  command("job.port", (node?: Node) => jobs.port(node));
  command("job.create.remote", async (node?: Node) => {
    const task = await jobs.task(node, "Add Task to the SSH Configuration", true);
    if (task !== undefined)
      await writeEntry(context, clusters, task.id, task.role, task.index);
  });
  command("storage.open", () => vscode.commands.executeCommand("openpai.storages.focus"));
  command("storage.download", (node: Node) => node.kind === "file" &&
    files.download(tree.getTreeItem(node).resourceUri!));
  command("program.choose", chooseProgram);
  command("walkthrough", () => getStarted(context));
  command("helper.restart", async () => {
    await helper.restart();
    clusters.refresh();
  });
  command("platform.up", async () => {
    await clusters.startPlatform();
    clusters.refresh();
  });

  context.subscriptions.push(clusters.onChange(() => status.update()),
    tree.onEvent(() => status.update()));
  startWithJobFiles(context, helper);
  followActiveEditor(context);
}

export function deactivate(): void {
  // What activate() has registered is disposed of by the editor.
}
