"""Each message between an editor and `openpai helper` fits the type that
vscode-languageserver-protocol has for its method: a session with all methods
of src/language/methods.c is written as constants of these types, for tsc.

Usage: answers.py OPENPAI FOLDER, the one of make.sh
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LANGUAGE = HERE.parents[2] / "src/language"
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

# Requests with their parameters.
ASKED = (
    ("textDocument/diagnostic", DOCUMENT),
    ("workspace/diagnostic", {"previousResultIds": [], "workDoneToken": 1}),
    ("textDocument/completion",
     {**DOCUMENT, "position": {"line": 12, "character": 4}}),
    ("textDocument/hover", IMAGE),
    ("textDocument/documentSymbol", DOCUMENT),
    ("textDocument/definition", IMAGE),
    ("textDocument/references",
     {**IMAGE, "context": {"includeDeclaration": True}}),
    ("textDocument/documentHighlight", IMAGE),
    ("textDocument/rename", {**IMAGE, "newName": "other"}),
    ("textDocument/prepareRename", IMAGE),
    ("textDocument/foldingRange", DOCUMENT),
    ("textDocument/selectionRange",
     {**DOCUMENT, "positions": [IMAGE["position"]]}),
    ("textDocument/formatting", {**DOCUMENT, **FORMAT}),
    ("textDocument/rangeFormatting", {**RANGE, **FORMAT}),
    ("textDocument/onTypeFormatting",
     {**DOCUMENT, **FORMAT, "position": {"line": 15, "character": 0},
      "ch": "\n"}),
    ("textDocument/codeAction", {**RANGE, "context": {"diagnostics": []}}),
    ("textDocument/semanticTokens/full", DOCUMENT),
    ("textDocument/semanticTokens/range", RANGE),
    ("textDocument/documentLink", DOCUMENT),
    ("textDocument/codeLens", DOCUMENT),
    ("textDocument/inlayHint", RANGE),
)
VERSION = {"textDocument": {"uri": URI, "version": 2}}
# Notifications of the editor, after the document was opened.
TOLD = (
    ("$/setTrace", {"value": "off"}),
    ("$/cancelRequest", {"id": 1}),
    ("workspace/didChangeConfiguration", {"settings": {"openpai": {}}}),
    ("textDocument/didChange", {**VERSION, "contentChanges": [
        {"range": {"start": START, "end": START}, "text": "# \n"}]}),
    ("textDocument/didSave", DOCUMENT),
    ("textDocument/didClose", DOCUMENT),
    # of a document that is not open: it says so in the editor's log
    ("textDocument/didClose", DOCUMENT),
)

# Types of what the package has without a method, and of answers that are of
# one of its types only.
PARAMS = {"exit": "{}", "shutdown": "{}", "$/setTrace": "lsp.SetTraceParams",
          "$/cancelRequest": "{ id: number | string }",
          "$/progress": "{ token: lsp.ProgressToken; value: "
                        "lsp.WorkDoneProgressBegin | "
                        "lsp.WorkDoneProgressReport | "
                        "lsp.WorkDoneProgressEnd }"}
RESULTS = {"shutdown": "null",
           "textDocument/documentSymbol": "lsp.DocumentSymbol[]",
           "textDocument/definition": "lsp.Definition"}
# What the package has of a method is in the namespace with its name.
TYPES = """import type * as lsp from 'vscode-languageserver-protocol';

type Package = typeof lsp;
type Of<M> = { [K in keyof Package]:
  Package[K] extends { method: M; type: infer T } ? T : never }[keyof Package];
type Known<M, T> = [Of<M>] extends [never] ? never : T;
type Params<M> = Known<M,
  Of<M> extends lsp.ProtocolRequestType<infer P, any, any, any, any> ? P
  : Of<M> extends lsp.ProtocolNotificationType<infer P, any> ? P : never>;
type Result<M> = Known<M, NonNullable<
  Of<M> extends lsp.ProtocolRequestType<any, infer R, any, any, any> ? R
  : never>>;
"""

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


class Recorder(Editor):
    """Keeps all messages: a method, "Params" or "Result", and the value."""

    def __init__(self, *files):
        super().__init__(*files)
        self.seen, self.methods = [], {}

    def send(self, message):
        self.methods[message.get("id")] = message["method"]
        self.seen.append((message["method"], "Params", message["params"]))
        super().send(message)

    def hear(self):
        message = super().hear()
        if message is None:
            return None
        if "method" in message:
            if "params" in message:
                self.seen.append(
                    (message["method"], "Params", message["params"]))
        else:
            self.seen.append((self.methods[message["id"]], "Result",
                              message["result"]))
        return message


def session(openpai):
    """All messages of a session with all methods."""
    with subprocess.Popen([openpai, "helper"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        editor = Recorder.of(process)
        editor.begin(**CAPABILITIES)
        editor.note("textDocument/didOpen", textDocument={
            "uri": URI, "languageId": "yaml", "version": 1, "text": JOB})
        editor.next_news("textDocument/publishDiagnostics")
        for method, params in ASKED:
            answer = editor.ask(method, **params)
            if not answer or answer == {"data": []}:
                raise SystemExit(f"{method}: nothing to see in {answer}")
        for method, params in TOLD:
            editor.note(method, **params)
        editor.next_news("window/logMessage")
        editor.ask("shutdown")
        editor.note("exit")
    return editor.seen


def missing(seen):
    """Messages of the server's methods, and of those that it calls, which
    the session lacks."""
    sources = [path.read_text() for path in LANGUAGE.glob("*.c")]
    wanted = {(method, "Params") for text in sources for method in
              re.findall(r'"((?!openpai/)[\w$]+/\w+)"', text)}
    for kind, method in re.findall(r'(REQUEST|NOTIFICATION)\("([^"]+)"',
                                   (LANGUAGE / "methods.c").read_text()):
        wanted.add((method, "Params"))
        if kind == "REQUEST":
            wanted.add((method, "Result"))
    return wanted - {(method, part) for method, part, _ in seen}


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    seen = session(sys.argv[1])
    if missing(seen):
        raise SystemExit(f"not in the session: {sorted(missing(seen))}")
    lines = [TYPES]
    for i, (method, part, value) in enumerate(seen):
        kind = (PARAMS if part == "Params" else RESULTS).get(
            method, f"{part}<'{method}'>")
        lines.append(f"export const said{i}: {kind} = "
                     f"{json.dumps(value, indent=1)};")
    (folder / "answers.ts").write_text("\n".join(lines) + "\n")
    sys.exit(subprocess.run(
        ["node_modules/.bin/tsc", "--strict", "--noEmit", "--skipLibCheck",
         "--target", "ES2022", "--module", "Node16",
         "--moduleResolution", "Node16", "answers.ts"],
        cwd=folder, check=False).returncode)


if __name__ == "__main__":
    main()
