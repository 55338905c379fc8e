// register.ts - registers commands whose errors are shown

import * as vscode from "vscode";

export type Act = (...args: never[]) => unknown;

/** Shows an error, if it is more than that the user has given up. */
export function showError(error: unknown): void {
  if (!(error instanceof vscode.CancellationError))
    void vscode.window.showErrorMessage(`OpenPAI: ${(error as Error).message}`);
}

/** A function that registers the command openpai.NAME. */
export const registrar = (context: vscode.ExtensionContext,
  report: (error: unknown) => unknown) => (name: string, act: Act): void => {
  context.subscriptions.push(vscode.commands.registerCommand(`openpai.${name}`,
    async (...args: unknown[]) => {
      try {
        await act(...args as never[]);
      } catch (error) {
        await report(error);
      }
    }));
};
