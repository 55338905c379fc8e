// web.ts - begins the extension in a browser, where no program can be started: the language
// features run in a web worker, on WebAssembly

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/browser";
import { followActiveEditor, onFirstJobFile } from "./editor/job_files";
import { registrar, showError } from "./editor/register";
import { createConfig } from "./jobs/create";
import { clientOptions } from "./language/options";

const CREATE = "cluster.job.create-config";

/** The worker, of copies: an extension that is on a remote machine has no URL for a worker. */
async function startWorker(context: vscode.ExtensionContext): Promise<Worker> {
  const read = (name: string) => vscode.workspace.fs.readFile(
    vscode.Uri.joinPath(context.extensionUri, "dist", name));
  const [script, module] = await Promise.all([read("worker.js"), read("language.wasm")]);
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  worker.postMessage(module);
  return worker;
}

async function startServer(context: vscode.ExtensionContext): Promise<void> {
  const worker = await startWorker(context);
  const client = new LanguageClient("openpai", "OpenPAI", {
    ...clientOptions(),
    // Lenses submit, run and explain, which the program does.
    middleware: { provideCodeLenses: () => [] },
  }, worker);
  context.subscriptions.push({
    dispose: () => void client.dispose().finally(() => worker.terminate()),
  });
  await client.start();
}

/** Commands of the program are hidden, and say why when something else calls them. */
function refuseOthers(context: vscode.ExtensionContext,
  command: ReturnType<typeof registrar>): void {
  void vscode.commands.executeCommand("setContext", "openpai.web", true);
  const { commands } = (context.extension.packageJSON as {
    contributes: { commands: { command: string; title: string }[] };
  }).contributes;
  for (const { command: id, title } of commands) {
    const name = id.replace(/^openpai\./, "");
    if (name !== CREATE)
      command(name, () => {
        throw new Error(`"${title}" needs the program openpai, which a browser cannot start. ` +
          "Open the folder with VS Code on a machine that has it.");
      });
  }
}

export function activate(context: vscode.ExtensionContext): void {
  const command = registrar(context, showError);
  refuseOthers(context, command);
  command(CREATE, () => createConfig(context));
  onFirstJobFile(context, () => void startServer(context).catch(showError));
  followActiveEditor(context);
}
