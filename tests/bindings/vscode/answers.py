"""What `openpai helper` says fits the types of vscode-languageserver-protocol:
an answer of each method is written as a constant of its type for tsc.

Usage: answers.py OPENPAI FOLDER, the one of make.sh
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "cli"))

from edited import Editor  # noqa: E402

JOB = """protocolVersion: 2
name: train
type: job
naem: x
parameters:
  rate: 0.1
prerequisites:
  - name: image
    type: dockerimage
    uri: https://example.org/image
taskRoles:
  train:
    instances: 2
    dockerImage: image
    resourcePerInstance: {cpu: 4,   memoryMB: 8192, gpu: 1}
    commands:
      - python train.py <% $parameters.rate %>
"""
URI = "file:///w/train.pai.yaml"
DOCUMENT = {"textDocument": {"uri": URI}}
START, END = {"line": 0, "character": 0}, {"line": 17, "character": 0}
RANGE = {**DOCUMENT, "range": {"start": START, "end": END}}
IMAGE = {**DOCUMENT, "position": {"line": 13, "character": 19}}
FORMAT = {"options": {"tabSize": 2, "insertSpaces": True}}

# Each method with its parameters and the type of its result.
ASKED = (
    ("textDocument/diagnostic", DOCUMENT, "DocumentDiagnosticReport"),
    ("workspace/diagnostic", {"previousResultIds": []},
     "WorkspaceDiagnosticReport"),
    ("textDocument/completion",
     {**DOCUMENT, "position": {"line": 12, "character": 4}},
     "CompletionItem[] | CompletionList"),
    ("textDocument/hover", IMAGE, "Hover"),
    ("textDocument/documentSymbol", DOCUMENT, "DocumentSymbol[]"),
    ("textDocument/definition", IMAGE, "Definition"),
    ("textDocument/references",
     {**IMAGE, "context": {"includeDeclaration": True}}, "Location[]"),
    ("textDocument/documentHighlight", IMAGE, "DocumentHighlight[]"),
    ("textDocument/rename", {**IMAGE, "newName": "other"}, "WorkspaceEdit"),
    ("textDocument/prepareRename", IMAGE, "PrepareRenameResult"),
    ("textDocument/foldingRange", DOCUMENT, "FoldingRange[]"),
    ("textDocument/selectionRange",
     {**DOCUMENT, "positions": [IMAGE["position"]]}, "SelectionRange[]"),
    ("textDocument/formatting", {**DOCUMENT, **FORMAT}, "TextEdit[]"),
    ("textDocument/rangeFormatting", {**RANGE, **FORMAT}, "TextEdit[]"),
    ("textDocument/onTypeFormatting",
     {**DOCUMENT, **FORMAT, "position": {"line": 15, "character": 0},
      "ch": "\n"}, "TextEdit[]"),
    ("textDocument/codeAction", {**RANGE, "context": {"diagnostics": []}},
     "(Command | CodeAction)[]"),
    ("textDocument/semanticTokens/full", DOCUMENT, "SemanticTokens"),
    ("textDocument/semanticTokens/range", RANGE, "SemanticTokens"),
    ("textDocument/documentLink", DOCUMENT, "DocumentLink[]"),
    ("textDocument/codeLens", DOCUMENT, "CodeLens[]"),
    ("textDocument/inlayHint", RANGE, "InlayHint[]"),
)

# What an editor can show.
CAPABILITIES = {
    "workspace": {"diagnostics": {"refreshSupport": True}},
    "textDocument": {
        "publishDiagnostics": {
            "relatedInformation": True, "codeDescriptionSupport": True,
            "tagSupport": {"valueSet": [1, 2]}, "versionSupport": True},
        "completion": {"completionItem": {
            "snippetSupport": True, "documentationFormat": ["markdown"],
            "tagSupport": {"valueSet": [1]}}},
        "hover": {"contentFormat": ["markdown"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {
            "valueSet": ["quickfix", "refactor", "source.fixAll"]}},
            "isPreferredSupport": True},
        "rename": {"prepareSupport": True}}}


def said(openpai):
    """Pairs of a type and what the helper said of it."""
    with subprocess.Popen([openpai, "helper"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        editor = Editor.of(process)
        result = editor.begin(**CAPABILITIES)
        yield "InitializeResult", result
        missing = {name for name in result["capabilities"]
                   if name.endswith("Provider")}
        editor.note("textDocument/didOpen", textDocument={
            "uri": URI, "languageId": "yaml", "version": 1, "text": JOB})
        yield "PublishDiagnosticsParams", editor.next_news(
            "textDocument/publishDiagnostics")
        for method, params, kind in ASKED:
            answer = editor.ask(method, **params)
            if not answer or answer == {"data": []}:
                raise SystemExit(f"{method}: nothing to see in {answer}")
            words = method.partition("/")[2].split("/")[0].lower()
            missing -= {name for name in missing if name.lower()
                        .replace("document", "").startswith(
                            words.replace("document", "").rstrip("s"))}
            yield kind, answer
        if missing:
            raise SystemExit(f"without a row in ASKED: {sorted(missing)}")
        editor.ask("shutdown")
        editor.note("exit")


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    pairs = list(said(sys.argv[1]))
    types = sorted({word for kind, _ in pairs
                    for word in re.findall("[A-Za-z]+", kind)})
    lines = ["import type { %s } from 'vscode-languageserver-protocol';"
             % ", ".join(types)]
    lines += ["export const said%d: %s = %s;"
              % (i, kind, json.dumps(value, indent=1))
              for i, (kind, value) in enumerate(pairs)]
    (folder / "answers.ts").write_text("\n".join(lines) + "\n")
    sys.exit(subprocess.run(
        ["node_modules/.bin/tsc", "--strict", "--noEmit", "--skipLibCheck",
         "--target", "ES2022", "--module", "Node16",
         "--moduleResolution", "Node16", "answers.ts"],
        cwd=folder, check=False).returncode)


if __name__ == "__main__":
    main()
