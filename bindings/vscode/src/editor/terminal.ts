// terminal.ts - terminals of VS Code: of the program itself, and of tasks through the helper

import * as vscode from "vscode";
import type { Start } from "../clusters/cluster";
import type { Exec, Helper } from "../helper/helper";
import type { ExecEnd, ExecEvent, ExecParams } from "../helper/protocol";

function show(options: vscode.TerminalOptions | vscode.ExtensionTerminalOptions): vscode.Terminal {
  const terminal = vscode.window.createTerminal({
    ...options, iconPath: new vscode.ThemeIcon("server-process"), isTransient: true,
  });
  terminal.show();
  return terminal;
}

export const openTerminal = (name: string, start: Start, cwd?: vscode.Uri): vscode.Terminal =>
  show({ name, cwd, ...start });

/** How a command ended, for a terminal; "" where there is nothing to say. */
export function endText({ how, code, text }: ExecEnd): string {
  if (how === "lost")
    return text || "the task has ended";
  if (how === "failed")
    return `the command was not started: ${text}`;
  return code === 0 ? "" : `exit status ${code}`;
}

/** A shell in a task. It stays until a key is pressed if it ended with something to say. */
export class TaskTerminal implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  readonly onDidWrite = this.written.event;
  private readonly closed = new vscode.EventEmitter<number | void>();
  readonly onDidClose = this.closed.event;
  private exec: Exec | undefined;
  private size: { columns?: number; rows?: number } = {};
  private started = false;
  private over = false;
  private typed = ""; // before it has started
  private sent: Promise<unknown> = Promise.resolve();

  constructor(private readonly helper: Pick<Helper, "exec">,
    private readonly where: Pick<ExecParams, "cluster" | "job" | "role" | "index">) {}

  open(size: vscode.TerminalDimensions | undefined): void {
    this.size = { columns: size?.columns, rows: size?.rows };
    this.exec = this.helper.exec({
      ...this.where, ...this.size, tty: true, terminal: "xterm-256color",
    }, event => this.take(event));
    this.exec.ended.then(end => this.end(endText(end), end.code),
      (error: Error) => this.end(error.message, 1));
  }

  private take(event: ExecEvent): void {
    if (event.event === "output") {
      this.written.fire(event.text);
      return;
    }
    this.started = true;
    this.send({ ...this.size, ...(this.typed === "" ? {} : { text: this.typed }) });
    this.typed = "";
  }

  /** One after the other: the answer comes when the task has room for more. */
  private send(input: Parameters<Exec["send"]>[0]): void {
    this.sent = this.sent.then(() => this.exec?.send(input)).catch(() => undefined);
  }

  private end(text: string, code: number): void {
    this.over = true;
    if (text === "")
      this.closed.fire(code);
    else
      this.written.fire(`\r\n[${text}: press a key to close]`);
  }

  handleInput(text: string): void {
    if (this.over)
      this.closed.fire();
    else if (this.started)
      this.send({ text });
    else
      this.typed += text;
  }

  setDimensions({ columns, rows }: vscode.TerminalDimensions): void {
    this.size = { columns, rows };
    if (this.started && !this.over)
      this.send(this.size);
  }

  /** The user has closed it: the shell is hung up. */
  close(): void {
    this.exec?.dispose();
  }
}

export const openTaskTerminal = (helper: Helper, where: ConstructorParameters<typeof TaskTerminal>[1]):
  vscode.Terminal => show({
  name: `${where.job.split("~")[1]} ${where.role}/${where.index}`,
  pty: new TaskTerminal(helper, where),
});
