// debug.ts - runs a job here with its first Python program under debugpy, and attaches to it

import * as fs from "fs/promises";
import * as path from "path";
import * as vscode from "vscode";
import type { Clusters } from "../clusters/store";
import { attachTo, freePort, listens } from "./attach";
import { openRun, savedDocument } from "./submit";

const DEBUGGER = "ms-python.debugpy", EVERY = 200;

/** Waits until debugpy listens: a connection to try it would be taken for the debugger. */
async function waitFor(port: number, cancel: vscode.CancellationToken): Promise<boolean> {
  while (!cancel.isCancellationRequested) {
    if (listens(await fs.readFile("/proc/net/tcp", "utf8"), port))
      return true;
    await new Promise(resolve => setTimeout(resolve, EVERY));
  }
  return false;
}

/** Ends the wait when the terminal is closed, or the user does not want to wait. */
async function waitInProgress(terminal: vscode.Terminal, task: string, port: number):
  Promise<boolean> {
  const cancel = new vscode.CancellationTokenSource();
  const closed = vscode.window.onDidCloseTerminal(one => one === terminal && cancel.cancel());
  try {
    return await vscode.window.withProgress({
      location: vscode.ProgressLocation.Notification, cancellable: true,
      title: `Waiting for Python in ${task}`,
    }, (_, token) => {
      token.onCancellationRequested(() => cancel.cancel());
      return waitFor(port, cancel.token);
    });
  } finally {
    closed.dispose();
  }
}

/** Runs a changed copy of the file, which is in a folder of the extension, as long as it runs. */
export async function debugHere(context: vscode.ExtensionContext, clusters: Clusters,
  file?: vscode.Uri): Promise<void> {
  if (vscode.extensions.getExtension(DEBUGGER) === undefined)
    throw new Error(`Install the extension Python Debugger (${DEBUGGER}) first.`);
  const document = await savedDocument(file);
  if (document === undefined)
    return;
  const port = await freePort();
  const { text, role, index } = await clusters.helper.debugJob(document.getText(), port);
  const folder = path.dirname(document.uri.fsPath), name = path.basename(document.uri.fsPath);
  const copies = path.join(context.globalStorageUri.fsPath, "debug");
  const copy = path.join(copies, `${port}-${name}`);
  await fs.mkdir(copies, { recursive: true, mode: 0o700 });
  await fs.writeFile(copy, text, { mode: 0o600 });
  const terminal = await openRun(clusters, `debug ${name}`, copy, folder);
  const closed = vscode.window.onDidCloseTerminal(one => {
    if (one !== terminal)
      return;
    closed.dispose();
    void fs.rm(copy, { force: true });
  });
  const workspace = vscode.workspace.getWorkspaceFolder(document.uri);
  if (await waitInProgress(terminal, `${role}/${index}`, port))
    await vscode.debug.startDebugging(workspace,
      attachTo(`${name} ${role}/${index}`, port, workspace?.uri.fsPath ?? folder));
}
