// logs.ts - logs of tasks in editor tabs: they grow, and their places of source files are links

import * as vscode from "vscode";
import type { Cluster } from "../clusters/cluster";
import type { Clusters } from "../clusters/store";
import type { Stream } from "../helper/helper";
import { askWait, waitLines } from "../jobs/waits";
import { LogText } from "./log_text";
import { bestMatch, placesOf } from "./places";

export const LOG_SCHEME = "openpai-log";
const MOST = 4 << 20; // characters of a log that an editor shows
const PAUSE = 200; // milliseconds between changes of a document
const AGAIN = 10000; // milliseconds until a job that waits is asked about again

export const logUri = (cluster: string, job: string, role: string, index: number): vscode.Uri =>
  vscode.Uri.from({
    scheme: LOG_SCHEME,
    path: `/${cluster}/${job}/${role}/${index}/${job.split("~").at(-1)}-${role}-${index}.log`,
  });

class Follower {
  readonly text = new LogText(MOST);
  /** Why there is no text yet; "": there is, or nothing is known. */
  note = "";
  asking: NodeJS.Timeout | undefined;
  stream: Stream | undefined;
  timer: NodeJS.Timeout | undefined;
}

class Link extends vscode.DocumentLink {
  constructor(range: vscode.Range, readonly path: string, readonly line: number,
    readonly column?: number) {
    super(range);
  }
}

export class Logs implements vscode.TextDocumentContentProvider,
  vscode.DocumentLinkProvider<Link>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly followers = new Map<string, Follower>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly clusters: Clusters) {
    this.subscriptions = [
      vscode.workspace.onDidOpenTextDocument(({ uri }) => this.catchUp(uri)),
      vscode.workspace.onDidCloseTextDocument(document => this.end(document.uri)),
      vscode.workspace.onDidChangeTextDocument(event => this.reveal(event)),
    ];
  }

  dispose(): void {
    this.subscriptions.forEach(one => one.dispose());
    for (const follower of this.followers.values()) {
      follower.stream?.dispose();
      clearTimeout(follower.timer);
      clearTimeout(follower.asking);
    }
  }

  async open(uri: vscode.Uri): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    const editor = await vscode.window.showTextDocument(document, { preview: false });
    const end = document.lineAt(document.lineCount - 1).range;
    editor.revealRange(end);
    editor.selection = new vscode.Selection(end.end, end.end);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    const key = uri.toString();
    let follower = this.followers.get(key);
    if (follower === undefined) {
      follower = new Follower();
      this.followers.set(key, follower);
      this.follow(uri, follower);
    }
    return follower.text.text || follower.note;
  }

  private follow(uri: vscode.Uri, follower: Follower): void {
    const [, cluster, job, role, number] = uri.path.split("/"), index = Number(number);
    const stream = follower.stream = this.clusters.helper.logs(
      { cluster, job, role, index, name: "all", follow: true }, ({ text }) => {
        follower.text.append(text);
        this.soon(uri, follower);
      });
    void this.explainWait(uri, follower, { name: cluster }, job);
    void stream.ended.then(error => {
      if (error !== undefined && follower.stream === stream)
        follower.text.append(`\n[the log cannot be read: ${error.message}]\n`);
      this.soon(uri, follower);
    });
  }

  /** While a job waits, its log says why and until when. */
  private async explainWait(uri: vscode.Uri, follower: Follower, cluster: Cluster, job: string):
    Promise<void> {
    const told = await this.clusters.call("jobs.show", { job }, cluster).catch(() => undefined);
    const waiting = told?.jobStatus.state === "WAITING";
    const lines = waiting ? waitLines(await askWait(this.clusters, cluster, job)) : [];
    if (this.followers.get(uri.toString()) !== follower || follower.text.text !== "")
      return;
    const note = waiting ? ["[the job waits, and this is not its log]", ...lines, ""].join("\n") : "";
    if (note !== follower.note) {
      follower.note = note;
      this.soon(uri, follower);
    }
    if (waiting)
      follower.asking = setTimeout(
        () => void this.explainWait(uri, follower, cluster, job), AGAIN);
  }

  private soon(uri: vscode.Uri, follower: Follower): void {
    follower.timer ??= setTimeout(() => {
      follower.timer = undefined;
      this.changed.fire(uri);
    }, PAUSE);
  }

  /** The editor drops a change of a document that it has asked for but does not have yet. */
  private catchUp(uri: vscode.Uri): void {
    const follower = this.followers.get(uri.toString());
    if (follower !== undefined)
      this.soon(uri, follower);
  }

  private end(uri: vscode.Uri): void {
    const follower = this.followers.get(uri.toString());
    if (follower === undefined)
      return;
    follower.stream?.dispose();
    clearTimeout(follower.timer);
    clearTimeout(follower.asking);
    this.followers.delete(uri.toString());
  }

  /** An editor whose cursor is in the last line stays at the end. */
  private reveal({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const [change] = contentChanges;
    if (document.uri.scheme !== LOG_SCHEME || change === undefined)
      return;
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== document ||
        editor.selection.active.line < change.range.end.line)
        continue;
      const end = document.lineAt(document.lineCount - 1).range.end;
      editor.selection = new vscode.Selection(end, end);
      editor.revealRange(new vscode.Range(end, end));
    }
  }

  provideDocumentLinks(document: vscode.TextDocument): Link[] {
    const links: Link[] = [];
    for (let line = 0; line < document.lineCount && links.length < 2000; line++)
      for (const place of placesOf(document.lineAt(line).text))
        links.push(new Link(new vscode.Range(line, place.start, line, place.end),
          place.path, place.line, place.column));
    return links;
  }

  async resolveDocumentLink(link: Link): Promise<Link> {
    const name = link.path.slice(link.path.lastIndexOf("/") + 1);
    const glob = `**/${name.replace(/[[\]{}*?]/g, "[$&]")}`;
    const files = await vscode.workspace.findFiles(glob, "**/node_modules/**", 200);
    const found = bestMatch(link.path, files.map(file => file.path));
    const file = files.find(one => one.path === found);
    if (file !== undefined)
      link.target = file.with({ fragment: `L${link.line}${link.column ? `,${link.column}` : ""}` });
    else
      link.tooltip = `There is no file ${name} in the workspace`;
    return link;
  }
}
