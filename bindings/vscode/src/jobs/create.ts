// create.ts - a new job file from one of the examples that came with the extension

import * as vscode from "vscode";
import type { Clusters } from "../clusters/store";

/** Of the folder `templates`, which cannot be listed where it is behind a web server; first what
 * runs on any machine. */
export const TEMPLATES = ["count", "hello", "train", "distributed", "notebook"];

async function read(context: vscode.ExtensionContext, name: string): Promise<string> {
  const file = vscode.Uri.joinPath(context.extensionUri, "templates", `${name}.yaml`);
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
}

/** Of documents that began as an item of the marketplace, its id: submissions are counted. */
export const itemOf = new WeakMap<vscode.TextDocument, string>();

interface Choice extends vscode.QuickPickItem {
  content?: string;
  /** Id of an item of the marketplace, whose text is fetched when it is picked. */
  item?: string;
}

/* A cluster that does not answer, or has no marketplace, has no items. */
async function itemsOf(clusters: Clusters): Promise<Choice[]> {
  try {
    const items = await clusters.call("marketplace.list", { brief: true, type: "template" });
    return items.map(one => ({
      label: one.name, description: `${one.author}, marketplace`, detail: one.summary, item: one.id,
    }));
  } catch {
    return [];
  }
}

/** Without clusters, as in a browser, the marketplace is not asked. */
export async function createConfig(context: vscode.ExtensionContext, clusters?: Clusters): Promise<void> {
  const own = Promise.all(TEMPLATES.map(async (label): Promise<Choice> => {
    const content = await read(context, label);
    return { label, content, detail: /^#\s*(.*)$/m.exec(content)?.[1] };
  }));
  const items = clusters === undefined ? Promise.resolve<Choice[]>([]) : itemsOf(clusters);
  const choices = Promise.all([own, items]).then(([first, more]): Choice[] => [...first, ...more]);
  const picked = await vscode.window.showQuickPick<Choice>(choices,
    { title: "Create PAI Job Config", matchOnDetail: true });
  if (picked === undefined)
    return;
  const { item } = picked;
  const content = item === undefined || clusters === undefined ? picked.content
    : (await clusters.call("marketplace.show", { item })).protocol;
  const document = await vscode.workspace.openTextDocument({ language: "yaml", content });
  if (item !== undefined)
    itemOf.set(document, item);
  await vscode.window.showTextDocument(document);
}
