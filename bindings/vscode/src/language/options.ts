// options.ts - what a language client is told, wherever its server runs

import * as vscode from "vscode";
import type { LanguageClientOptions } from "vscode-languageclient";

/** Documents of these schemes, or of all, may be job files; the server finds out. */
export const clientOptions = (schemes?: string[]): LanguageClientOptions => ({
  documentSelector: [
    ...(schemes?.map(scheme => ({ scheme, language: "yaml" })) ?? [{ language: "yaml" }]),
    { ...schemes && { scheme: schemes[0] }, pattern: "**/*.pai.{json,jsonc}" },
  ],
  outputChannelName: "OpenPAI",
  synchronize: { configurationSection: "openpai" }, // openpai.hived
  initializationOptions: { hived: vscode.workspace.getConfiguration("openpai").get("hived") },
});
