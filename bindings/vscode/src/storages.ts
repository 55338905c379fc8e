// storages.ts - the view of the storages that jobs of the chosen cluster may use

import * as vscode from "vscode";
import type { StorageItem } from "./api";
import type { Clusters } from "./clusters/store";

// Of the data of a storage: what opens it.
const SECRET = /key|token|sas|password|secret/i;

type Node = { storage: StorageItem } | { text: string };

export class StorageTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly onCluster: vscode.Disposable;

  constructor(private readonly clusters: Clusters) {
    this.onCluster = clusters.onChange(() => this.changed.fire(undefined));
  }

  dispose(): void {
    this.onCluster.dispose();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node !== undefined && "storage" in node) {
      const told = await this.clusters.call("storages.show", { name: node.storage.name });
      const where = Object.entries(told.data)
        .filter(([name, value]) => !SECRET.test(name) &&
          (typeof value === "string" || typeof value === "number"));
      return [{ text: `type: ${told.type}` }, { text: told.readOnly ? "read only" : "read and write" },
        ...where.map(([name, value]) => ({ text: `${name}: ${String(value)}` }))];
    }
    try {
      const { storages } = await this.clusters.call("storages.list", {});
      return storages.map(storage => ({ storage }));
    } catch (error) {
      return [{ text: (error as Error).message }];
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (!("storage" in node))
      return new vscode.TreeItem(node.text);
    const item = new vscode.TreeItem(node.storage.name,
      vscode.TreeItemCollapsibleState.Collapsed);
    item.iconPath = new vscode.ThemeIcon("database");
    item.description = [node.storage.default && "default", node.storage.share && "shared"]
      .filter(Boolean).join(", ");
    item.tooltip = `Tasks have it at /mnt/${node.storage.name}`;
    return item;
  }
}
