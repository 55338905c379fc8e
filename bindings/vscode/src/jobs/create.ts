// create.ts - a new job file from one of the examples that came with the extension

import * as vscode from "vscode";

/** Of the folder `templates`, which cannot be listed where it is behind a web server; first what
 * runs on any machine. */
export const TEMPLATES = ["count", "hello", "train", "distributed", "notebook"];

async function read(context: vscode.ExtensionContext, name: string): Promise<string> {
  const file = vscode.Uri.joinPath(context.extensionUri, "templates", `${name}.yaml`);
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
}

export async function createConfig(context: vscode.ExtensionContext): Promise<void> {
  const texts = await Promise.all(TEMPLATES.map(name => read(context, name)));
  const picked = await vscode.window.showQuickPick(TEMPLATES.map((label, i) => ({
    label, content: texts[i], detail: /^#\s*(.*)$/m.exec(texts[i])?.[1],
  })), { title: "Create PAI Job Config", matchOnDetail: true });
  if (picked !== undefined)
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(
      { language: "yaml", content: picked.content }));
}
