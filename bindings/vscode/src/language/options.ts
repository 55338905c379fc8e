// options.ts - what a language client is told, wherever its server runs

import * as vscode from "vscode";
import type { LanguageClientOptions } from "vscode-languageclient";

// What may be job files; the server finds out.
const KINDS = [{ language: "yaml" }, { pattern: "**/*.pai.{json,jsonc}" }];

/** Documents of these schemes, or of all. */
export const clientOptions = (schemes?: string[]): LanguageClientOptions => ({
  documentSelector: schemes?.flatMap(scheme => KINDS.map(kind => ({ scheme, ...kind }))) ?? KINDS,
  outputChannelName: "OpenPAI",
  synchronize: { configurationSection: "openpai" }, // openpai.hived
  initializationOptions: { hived: vscode.workspace.getConfiguration("openpai").get("hived") },
});
