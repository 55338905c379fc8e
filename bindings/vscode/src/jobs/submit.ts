// submit.ts - submit a job file, with or without a copy of its folder; run it on this machine

import { userInfo } from "os";
import * as path from "path";
import * as vscode from "vscode";
import { held, LOCAL } from "../clusters/cluster";
import type { Clusters } from "../clusters/store";
import type { Explanations } from "../editor/configs";
import { openTerminal } from "../editor/terminal";
import { CallError } from "../helper/errors";
import { itemOf } from "./create";
import { copyName, jobId, looksLikeJob, nameIn, renameJob } from "./names";
import type { JobTree } from "./tree";
import { waitOfNew, waitText } from "./waits";

const ANYWAY = "Submit Anyway";

/** Of documents that are copies, the job: its folder is the copy's, too, and its secrets. */
export const cloned = new WeakMap<vscode.TextDocument, string>();

/** The document of a command: that of the file, or the one in the active editor. */
export async function jobDocument(file?: vscode.Uri | string): Promise<vscode.TextDocument> {
  const active = vscode.window.activeTextEditor?.document;
  if (file !== undefined)
    return vscode.workspace.openTextDocument(
      typeof file === "string" ? vscode.Uri.parse(file) : file);
  if (active !== undefined && looksLikeJob(active.fileName, active.getText()))
    return active;
  const [chosen] = await vscode.window.showOpenDialog({
    title: "Job file", filters: { "Job files": ["yaml", "yml", "json", "jsonc"] },
  }) ?? [];
  if (chosen === undefined)
    throw new vscode.CancellationError();
  return vscode.workspace.openTextDocument(chosen);
}

/** Whether the file has no error, or is to be submitted anyway: the server checks again. */
async function isFit(document: vscode.TextDocument): Promise<boolean> {
  const errors = vscode.languages.getDiagnostics(document.uri)
    .filter(one => one.severity === vscode.DiagnosticSeverity.Error);
  if (errors.length === 0)
    return true;
  const count = errors.length === 1 ? "an error" : `${errors.length} errors`;
  const answer = await vscode.window.showWarningMessage(
    `The job file has ${count}: ${errors[0].message}`, "Show Problems", ANYWAY);
  if (answer === "Show Problems")
    await vscode.commands.executeCommand("workbench.actions.view.problems");
  return answer === ANYWAY;
}

/** Submits a text; a name that is taken is counted on, after a question. */
export async function submitText(clusters: Clusters, tree: JobTree, text: string,
  options: { name?: string; like?: string; workDir?: string; template?: string } = {}): Promise<void> {
  if (clusters.current.url === undefined)
    await clusters.startPlatform();
  try {
    const told = await clusters.call("jobs.submit", { ...options, body: text });
    await done(clusters, tree, told.name);
  } catch (error) {
    const name = options.name ?? nameIn(text);
    if (!(error instanceof CallError && error.code === "ConflictJobError") || name === undefined)
      throw error;
    const other = copyName(name, tree.known().map(job => job.name));
    if (await vscode.window.showWarningMessage(`A job named ${name} exists.`,
      `Submit as ${other}`) !== undefined)
      await submitText(clusters, tree, renameJob(text, other), { ...options, name: other });
  }
}

/** A job of the chosen cluster that this user has submitted. */
function ownJob({ current }: Clusters, tree: JobTree, name: string): string {
  const job = tree.known().find(one => one.name === name &&
    (current.user === undefined || one.username === current.user));
  return jobId(job?.username ?? current.user ?? userInfo().username, name);
}

/** Says that a job was submitted, and of one that waits, why and until when. */
export async function done(clusters: Clusters, tree: JobTree, name: string): Promise<void> {
  tree.refresh();
  const { current } = clusters;
  const wait = await waitOfNew(clusters, current, ownJob(clusters, tree, name));
  const text = `${name} was submitted to ${current.name}.`;
  void vscode.window.showInformationMessage(
    wait === undefined ? text : `${text} ${waitText(wait)}`,
    "Open Job Page", "Open Log").then(answer => answer && vscode.commands.executeCommand(
    answer === "Open Log" ? "openpai.job.log" : "openpai.job.open",
    { kind: "job", id: ownJob(clusters, tree, name) }));
}

export async function submitFile(clusters: Clusters, tree: JobTree, file?: vscode.Uri | string):
  Promise<void> {
  const document = await jobDocument(file);
  // On this machine commands start where the file is; elsewhere there is no such folder.
  const near = clusters.current.url === undefined && document.uri.scheme === "file";
  if (await isFit(document))
    await submitText(clusters, tree, document.getText(), {
      like: cloned.get(document), template: itemOf.get(document), ...near ? { workDir: path.dirname(document.uri.fsPath) } : {},
    });
}

/** The job file on disk: a new one is saved first, where the user says; undefined: nowhere. */
export async function savedDocument(file?: vscode.Uri | string):
  Promise<vscode.TextDocument | undefined> {
  const document = await jobDocument(file);
  if (!document.isUntitled) {
    await document.save();
    return document;
  }
  const uri = await vscode.workspace.save(document.uri);
  return uri && await vscode.workspace.openTextDocument(uri);
}

/** Submits with a copy of the file's folder, without what its .openpaiignore names. */
export async function submitWithCode(clusters: Clusters, tree: JobTree, file?: vscode.Uri | string):
  Promise<void> {
  const document = await savedDocument(file);
  if (document === undefined || !await isFit(document))
    return;
  const folder = vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath ??
    path.dirname(document.uri.fsPath);
  const words = ["submit", "--json", "--code", folder, document.uri.fsPath];
  const told = await vscode.window.withProgress({
    location: vscode.ProgressLocation.Notification, cancellable: true,
    title: `Sending ${path.basename(folder)} to ${clusters.current.name}`,
  }, (_, cancel) => clusters.run(words, { cancel }));
  await done(clusters, tree, (JSON.parse(told) as { name: string }).name);
}

/** Runs all roles of the job on this machine, in a terminal: Ctrl-C stops it. */
export async function runHere(clusters: Clusters, file?: vscode.Uri | string): Promise<void> {
  const document = await savedDocument(file);
  if (document === undefined)
    return;
  const name = path.basename(document.uri.fsPath);
  await openRun(clusters, `run ${name}`, document.uri.fsPath, path.dirname(document.uri.fsPath));
}

/** Runs a job file in a terminal whose folder the commands start in. */
export async function openRun(clusters: Clusters, name: string, file: string, folder: string):
  Promise<vscode.Terminal> {
  const start = await clusters.start(["run", "--verbose", file], LOCAL);
  return openTerminal(name, held(start, true), vscode.Uri.file(folder));
}

/** Explains beside the file what it will do, or what that does to the jobs of a cluster. */
export async function explain(explanations: Explanations, file?: vscode.Uri | string,
  cluster?: string): Promise<void> {
  const document = await savedDocument(file);
  if (document === undefined)
    return;
  await explanations.show(document.uri, cluster);
}
