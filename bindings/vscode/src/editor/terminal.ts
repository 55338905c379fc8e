// terminal.ts - a terminal of VS Code that runs the program itself

import * as vscode from "vscode";
import type { Start } from "../clusters/cluster";

export function openTerminal(name: string, start: Start, cwd?: vscode.Uri): vscode.Terminal {
  const terminal = vscode.window.createTerminal({
    name, cwd, iconPath: new vscode.ThemeIcon("server-process"), isTransient: true, ...start,
  });
  terminal.show();
  return terminal;
}
