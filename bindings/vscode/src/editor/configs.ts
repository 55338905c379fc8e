// configs.ts - read-only documents: the files of jobs, and explanations of job files

import * as vscode from "vscode";
import { LOCAL } from "../clusters/cluster";
import type { Clusters } from "../clusters/store";

export const CONFIG = "openpai-config";

export const configUri = (cluster: string, job: string): vscode.Uri =>
  vscode.Uri.from({ scheme: CONFIG, path: `/${cluster}/${job}.yaml` });

export const EXPLAIN = "openpai-explain";

/** The address of the explanation of a file, or of its effect on a cluster. */
export const explainUri = (file: vscode.Uri, cluster = ""): vscode.Uri => vscode.Uri.from({
  scheme: EXPLAIN, query: file.fsPath, fragment: cluster,
  path: `${file.path} ${cluster === "" ? "explained" : `in ${cluster}`}`,
});

export class Explanations implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly clusters: Clusters) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    if (uri.fragment === "")
      return this.clusters.run(["spec", "show", uri.query], { cluster: LOCAL });
    const text = Buffer.from(await vscode.workspace.fs.readFile(vscode.Uri.file(uri.query)));
    return this.clusters.helper.whatIf(uri.fragment, text.toString("utf8"));
  }

  /** @param cluster  shows its effect there instead */
  async show(file: vscode.Uri, cluster = ""): Promise<void> {
    const uri = explainUri(file, cluster);
    this.changed.fire(uri); // one that is open is of an older file
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri),
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
  }
}

export class Configs implements vscode.TextDocumentContentProvider {
  constructor(private readonly clusters: Clusters) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [, name, file] = uri.path.split("/");
    const told = await this.clusters.call("jobs.config",
      { job: file.replace(/\.yaml$/, ""), format: "yaml" }, { name });
    return typeof told === "string" ? told : JSON.stringify(told, null, 2);
  }
}
