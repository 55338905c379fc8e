// files.ts - the files of jobs as a file system: openpai://CLUSTER/USER~NAME/PATH

import * as fs from "fs/promises";
import * as os from "os";
import * as nodePath from "path";
import * as vscode from "vscode";
import type { File as JobFile, Files } from "../api";
import type { Clusters } from "../clusters/store";

interface Where {
  cluster: string;
  job: string;
  path: string;
}

/** The parts of an address. */
export function readUri(uri: { authority: string; path: string }): Where {
  const [, job, ...rest] = uri.path.split("/");
  return { cluster: uri.authority, job, path: rest.join("/") };
}

/** The type of a file as VS Code has it. */
export function typeOf(type: string): vscode.FileType {
  switch (type) {
    case "folder": return vscode.FileType.Directory;
    case "file": return vscode.FileType.File;
    case "link": return vscode.FileType.SymbolicLink;
    default: return vscode.FileType.Unknown;
  }
}

export class JobFiles implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;

  constructor(private readonly clusters: Clusters) {}

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined); // the server does not say what changes
  }

  private async list({ cluster, job, path }: Where): Promise<JobFile[]> {
    const all: JobFile[] = [];
    for (let after: string | null = ""; after !== null;) {
      const page: Files = await this.clusters.call("files.list",
        { job, path, limit: 1000, ...(after === "" ? {} : { after }) }, { name: cluster });
      all.push(...page.entries);
      after = page.next;
    }
    return all;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const where = readUri(uri);
    if (where.path === "")
      return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
    const at = where.path.lastIndexOf("/");
    const entries = await this.list({ ...where, path: where.path.slice(0, Math.max(at, 0)) });
    const file = entries.find(one => one.path === where.path);
    if (file === undefined)
      throw vscode.FileSystemError.FileNotFound(uri);
    return {
      type: typeOf(file.type), ctime: file.modified, mtime: file.modified, size: file.size,
    };
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    const where = readUri(uri), skip = where.path === "" ? 0 : where.path.length + 1;
    return (await this.list(where)).map(one => [one.path.slice(skip), typeOf(one.type)]);
  }

  /** Through a file of this machine: messages of the helper carry text, and files are bytes. */
  private async withCopy<T>(uri: vscode.Uri, act: (file: string,
    copy: (to: "job" | "here") => Promise<void>) => Promise<T>): Promise<T> {
    const folder = await fs.mkdtemp(nodePath.join(os.tmpdir(), "openpai-"));
    const file = nodePath.join(folder, "file");
    try {
      return await act(file, to => this.clusters.helper.copy({ ...readUri(uri), file, to }));
    } finally {
      await fs.rm(folder, { recursive: true, force: true });
    }
  }

  readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return this.withCopy(uri, async (file, copy) => {
      await copy("here");
      return fs.readFile(file);
    });
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    await this.withCopy(uri, async (file, copy) => {
      await fs.writeFile(file, content);
      await copy("job");
    });
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  createDirectory(): void {
    throw vscode.FileSystemError.NoPermissions("Folders of a job are made by its commands");
  }

  delete(): void {
    throw vscode.FileSystemError.NoPermissions("Files of a job are removed with the job");
  }

  rename(): void {
    throw vscode.FileSystemError.NoPermissions("Files of a job cannot be renamed");
  }

  /** Copies a file of a job to this machine. */
  async download(uri: vscode.Uri): Promise<void> {
    const name = uri.path.slice(uri.path.lastIndexOf("/") + 1);
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const target = await vscode.window.showSaveDialog(
      folder === undefined ? {} : { defaultUri: vscode.Uri.joinPath(folder, name) });
    if (target !== undefined)
      await vscode.workspace.fs.writeFile(target, await this.readFile(uri));
  }
}
