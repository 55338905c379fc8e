// job_files.ts - which documents are job files: the first begins the language features, the
// active one has commands in menus

import * as vscode from "vscode";
import { looksLikeJob } from "../jobs/names";

/** What a job file is known by, without the rest of a long document. */
const isJob = (document: vscode.TextDocument): boolean =>
  looksLikeJob(document.fileName, document.getText(new vscode.Range(0, 0, 500, 0)));

/** Calls `start` for the first document that is meant to be a job file, and only once: what is
 * missing is told of once, not with each file. */
export function onFirstJobFile(context: vscode.ExtensionContext, start: () => void): void {
  let found = false;
  const look = (document: vscode.TextDocument) => {
    if (found || !isJob(document))
      return;
    found = true;
    start();
  };
  vscode.workspace.textDocuments.forEach(look);
  context.subscriptions.push(vscode.workspace.onDidOpenTextDocument(look));
}

/** The context key openpai.isJobFile, which menus of the editor ask for. */
export function followActiveEditor(context: vscode.ExtensionContext): void {
  let before: boolean | undefined;
  const look = (editor = vscode.window.activeTextEditor) => {
    const document = editor?.document;
    const now = document !== undefined && isJob(document);
    if (now !== before)
      void vscode.commands.executeCommand("setContext", "openpai.isJobFile", now);
    before = now;
  };
  look();
  context.subscriptions.push(vscode.window.onDidChangeActiveTextEditor(look),
    vscode.workspace.onDidChangeTextDocument(event =>
      event.document === vscode.window.activeTextEditor?.document && look()));
}
