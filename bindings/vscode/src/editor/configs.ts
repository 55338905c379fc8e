// configs.ts - the files of jobs, as read-only documents

import * as vscode from "vscode";
import type { Clusters } from "../clusters/store";

export const CONFIG = "openpai-config";

export const configUri = (cluster: string, job: string): vscode.Uri =>
  vscode.Uri.from({ scheme: CONFIG, path: `/${cluster}/${job}.yaml` });

export class Configs implements vscode.TextDocumentContentProvider {
  constructor(private readonly clusters: Clusters) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const [, name, file] = uri.path.split("/");
    const told = await this.clusters.call("jobs.config",
      { job: file.replace(/\.yaml$/, ""), format: "yaml" }, { name });
    return typeof told === "string" ? told : JSON.stringify(told, null, 2);
  }
}
