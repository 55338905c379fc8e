// ask.ts - a question whose answer is tried at once, and asked for again with what was wrong

import * as vscode from "vscode";

export interface Question {
  title: string;
  prompt: string;
  value?: string;
  placeholder?: string;
  password?: boolean;
}

/**
 * Asks for a text until `take` accepts one; the message of its error is shown below what was
 * typed. Returns what `take` made of the text, or undefined: the user has given up.
 */
export function askUntil<T>(question: Question, take: (text: string) => Promise<T>):
  Promise<T | undefined> {
  const box = Object.assign(vscode.window.createInputBox(), question, { ignoreFocusOut: true });
  return new Promise<T | undefined>(resolve => {
    box.onDidChangeValue(() => { box.validationMessage = undefined; });
    box.onDidHide(() => resolve(undefined));
    box.onDidAccept(async () => {
      const text = box.value.trim();
      if (text === "" || box.busy)
        return;
      box.busy = true;
      box.enabled = false;
      try {
        resolve(await take(text));
      } catch (error) {
        box.validationMessage = (error as Error).message;
      }
      box.busy = false;
      box.enabled = true;
    });
    box.show();
  }).finally(() => box.dispose());
}
