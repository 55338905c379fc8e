/* methods.c - the methods that the server has: one row each */
#include "language/language.h"

#define REQUEST(name, handler, flags, capability, options)       \
  {                                                              \
    name, pai__language_do_##handler, flags, capability, options \
  }
#define NOTIFICATION(name, handler, flags)                                \
  {                                                                       \
    name, pai__language_do_##handler, (flags) | PAI__METHOD_NOTIFICATION, \
      NULL, NULL                                                          \
  }

enum {
  EARLY = PAI__METHOD_EARLY,
  NOW = PAI__METHOD_NOW,
  DOCUMENT = PAI__METHOD_DOCUMENT,
  AT = DOCUMENT | PAI__METHOD_AT,
  RANGE = DOCUMENT | PAI__METHOD_RANGE
};

/* Of pai__token_type and its modifiers, in their order. */
#define TOKENS                                                            \
  "{\"legend\":{\"tokenTypes\":[\"macro\",\"namespace\",\"parameter\","   \
  "\"variable\",\"class\",\"type\"],\"tokenModifiers\":[\"declaration\"," \
  "\"readonly\",\"unresolved\"]},\"full\":true,\"range\":true}"

const pai__language_method pai__language_methods[] = {
  REQUEST("initialize", initialize, EARLY, NULL, NULL),
  NOTIFICATION("initialized", initialized, 0),
  REQUEST("shutdown", shutdown, 0, NULL, NULL),
  NOTIFICATION("exit", exit, EARLY),
  NOTIFICATION("$/cancelRequest", cancel, EARLY | NOW),
  NOTIFICATION("$/setTrace", ignore, EARLY | NOW),
  NOTIFICATION("workspace/didChangeConfiguration", configuration, 0),
  NOTIFICATION("textDocument/didOpen", open, 0),
  NOTIFICATION("textDocument/didChange", change, 0),
  NOTIFICATION("textDocument/didClose", close, 0),
  NOTIFICATION("textDocument/didSave", ignore, NOW),
  REQUEST("textDocument/diagnostic", diagnostic, DOCUMENT,
          "diagnosticProvider",
          "{\"identifier\":\"openpai\",\"interFileDependencies\":false,"
          "\"workspaceDiagnostics\":true,\"workDoneProgress\":true}"),
  REQUEST("workspace/diagnostic", workspace_diagnostic, 0, NULL, NULL),
  REQUEST("textDocument/completion", completion, AT, "completionProvider",
          "{\"triggerCharacters\":[\"$\",\".\",\":\",\" \",\"-\",\"%\"]}"),
  REQUEST("textDocument/hover", hover, AT, "hoverProvider", "true"),
  REQUEST("textDocument/documentSymbol", outline, DOCUMENT,
          "documentSymbolProvider", "true"),
  REQUEST("textDocument/definition", definition, AT, "definitionProvider",
          "true"),
  REQUEST("textDocument/references", references, AT, "referencesProvider",
          "true"),
  REQUEST("textDocument/documentHighlight", highlight, AT,
          "documentHighlightProvider", "true"),
  REQUEST("textDocument/rename", rename, AT, "renameProvider",
          "{\"prepareProvider\":true}"),
  REQUEST("textDocument/prepareRename", prepare_rename, AT, NULL, NULL),
  REQUEST("textDocument/foldingRange", folding, DOCUMENT,
          "foldingRangeProvider", "true"),
  REQUEST("textDocument/selectionRange", selection, DOCUMENT,
          "selectionRangeProvider", "true"),
  REQUEST("textDocument/formatting", format, DOCUMENT,
          "documentFormattingProvider", "true"),
  REQUEST("textDocument/rangeFormatting", format_range, RANGE,
          "documentRangeFormattingProvider", "true"),
  REQUEST("textDocument/onTypeFormatting", format_typed, AT,
          "documentOnTypeFormattingProvider",
          "{\"firstTriggerCharacter\":\"\\n\"}"),
  REQUEST("textDocument/codeAction", code_action, RANGE, "codeActionProvider",
          "{\"codeActionKinds\":[\"quickfix\",\"refactor\","
          "\"source.fixAll.openpai\"]}"),
  REQUEST("textDocument/semanticTokens/full", tokens, DOCUMENT,
          "semanticTokensProvider", TOKENS),
  REQUEST("textDocument/semanticTokens/range", tokens, RANGE, NULL, NULL),
  REQUEST("textDocument/documentLink", links, DOCUMENT, "documentLinkProvider",
          "{}"),
  REQUEST("textDocument/codeLens", lenses, DOCUMENT, "codeLensProvider", "{}"),
  REQUEST("textDocument/inlayHint", hints, RANGE, "inlayHintProvider", "true"),
};
const size_t pai__language_method_count = PAI__LEN(pai__language_methods);
