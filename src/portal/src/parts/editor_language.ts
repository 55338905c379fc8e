// editor_language.ts - what the language server knows, in CodeMirror: problems with their
// corrections, completion, and descriptions under the mouse
import {
  autocompletion, snippet, type Completion, type CompletionContext, type CompletionResult,
} from "@codemirror/autocomplete";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import type { ChangeSpec, Extension, Text } from "@codemirror/state";
import { hoverTooltip, ViewPlugin, type EditorView, type Tooltip } from "@codemirror/view";
import { editsOf, type Action, type Found, type Item, type LanguageClient, type Position, type TextEdit } from "./language";

/** A correction, as changes of the text. */
export interface Fix { title: string; changes: ChangeSpec[] }

export interface Problem {
  from: number;
  to: number;
  isError: boolean;
  message: string;
  line: number;
  column: number;
  fixes: Fix[];
}

/** What is wrong with a text, and what else could be done with it. */
export interface Findings { problems: Problem[]; more: Fix[] }

const PAUSE = 150; // milliseconds without typing, before the text is checked

function offsetOf(doc: Text, { line, character }: Position): number {
  const of = doc.line(Math.min(line, doc.lines - 1) + 1);
  return Math.min(of.from + character, of.to);
}

function positionOf(doc: Text, offset: number): Position {
  const line = doc.lineAt(offset);
  return { line: line.number - 1, character: offset - line.from };
}

export function changesOf(doc: Text, edits: TextEdit[]): ChangeSpec[] {
  return edits.map(({ range, newText }) => (
    { from: offsetOf(doc, range.start), to: offsetOf(doc, range.end), insert: newText }));
}

// --- problems ------------------------------------------------------------------

const isOf = (found: Found) => (one: Found) => one.message === found.message &&
  one.range.start.line === found.range.start.line && one.range.start.character === found.range.start.character;

function problemOf(doc: Text, found: Found, actions: Action[]): Problem {
  const from = offsetOf(doc, found.range.start);
  return {
    from, to: Math.max(offsetOf(doc, found.range.end), Math.min(from + 1, doc.length)),
    isError: found.severity === 1, message: found.message,
    line: found.range.start.line + 1, column: found.range.start.character + 1,
    fixes: actions.filter(one => one.diagnostics?.some(isOf(found)))
      .map(one => ({ title: one.title, changes: changesOf(doc, editsOf(one.edit?.changes)) })),
  };
}

async function findingsOf(server: LanguageClient, doc: Text): Promise<Findings> {
  const whole = { start: { line: 0, character: 0 }, end: positionOf(doc, doc.length) };
  const [{ items }, actions] = await Promise.all([
    server.request("textDocument/diagnostic", {}),
    server.request("textDocument/codeAction", { range: whole, context: { diagnostics: [] } }),
  ]);
  return {
    problems: items.map(found => problemOf(doc, found, actions ?? [])),
    more: (actions ?? []).filter(one => one.diagnostics === undefined && one.edit !== undefined)
      .map(one => ({ title: one.title, changes: changesOf(doc, editsOf(one.edit!.changes)) })),
  };
}

function shown({ from, to, isError, message, fixes }: Problem): Diagnostic {
  return {
    from, to, message, severity: isError ? "error" : "warning",
    actions: fixes.map(fix => ({ name: fix.title, apply: view => view.dispatch({ changes: fix.changes }) })),
  };
}

// --- completion ----------------------------------------------------------------

const KINDS: Record<number, string> = { 6: "variable", 10: "property", 12: "constant", 18: "class" };

/* A choice of the protocol is its first value here.  The server has written the indentation
   of the lines, which CodeMirror would add once more. */
function templateOf(view: EditorView, from: number, text: string): string {
  const indent = /^\s*/.exec(view.state.doc.lineAt(from).text)![0];
  return text.replace(/\$\{(\d+)\|([^,|]*)[^}]*\|\}/g, (_all, stop: string, first: string) => `\${${stop}:${first}}`)
    .split("\n").map((line, i) => i > 0 && line.startsWith(indent) ? line.slice(indent.length) : line).join("\n");
}

function optionOf(item: Item, place: number): Completion {
  const { label, detail, documentation, kind = 0, insertTextFormat, textEdit: { newText } } = item;
  return {
    label, boost: 99 - Math.min(place, 198),
    ...detail !== undefined && { detail },
    ...KINDS[kind] !== undefined && { type: KINDS[kind] },
    ...documentation !== undefined && { info: () => described(documentation.value) },
    apply: insertTextFormat === 2
      ? (view, completion, from, to) => snippet(templateOf(view, from, newText))(view, completion, from, to)
      : newText,
  };
}

async function complete(server: LanguageClient, context: CompletionContext): Promise<CompletionResult | null> {
  const doc = context.state.doc;
  if (!context.explicit && context.matchBefore(/[\w$.%]$|: $|- $/) === null)
    return null;
  const answer = await server.request("textDocument/completion", { position: positionOf(doc, context.pos) });
  const items = [...answer?.items ?? []].sort((a, b) => (a.sortText ?? a.label) < (b.sortText ?? b.label) ? -1 : 1);
  if (items.length === 0)
    return null;
  const { range } = items[0]!.textEdit;
  return { from: offsetOf(doc, range.start), to: offsetOf(doc, range.end), options: items.map(optionOf), validFor: /^[\w.-]*$/ };
}

// --- descriptions --------------------------------------------------------------

/* Of Markdown the server writes bold words, code, and paragraphs. */
function described(markdown: string): HTMLElement {
  const box = document.createElement("div");
  box.className = "described";
  for (const paragraph of markdown.split(/\n{2,}/)) {
    const p = box.appendChild(document.createElement("p"));
    for (const piece of paragraph.split(/(\*\*[^*]+\*\*|`[^`]+`)/)) {
      const mark = piece.startsWith("**") ? "strong" : piece.startsWith("`") ? "code" : null;
      if (mark === null)
        p.append(piece);
      else
        p.appendChild(document.createElement(mark)).textContent = piece.replace(/^(\*\*|`)|(\*\*|`)$/g, "");
    }
  }
  return box;
}

async function describe(server: LanguageClient, view: EditorView, at: number): Promise<Tooltip | null> {
  const doc = view.state.doc;
  const answer = await server.request("textDocument/hover", { position: positionOf(doc, at) });
  if (answer === null)
    return null;
  const { contents, range } = answer;
  return {
    pos: range === undefined ? at : offsetOf(doc, range.start), above: true,
    ...range !== undefined && { end: offsetOf(doc, range.end) },
    create: () => ({ dom: described(contents.value) }),
  };
}

// --- all of it -----------------------------------------------------------------

/* Checks the text when nobody has typed for a while.  Where nothing is to be shown the editor
   is left alone: an update of it ends a selection of which it does not know yet. */
function checks(server: LanguageClient, onFindings: (findings: Findings) => void): Extension {
  return ViewPlugin.define(view => {
    let isShown = false;
    async function check(): Promise<void> {
      const doc = view.state.doc;
      const findings = await findingsOf(server, doc);
      if (view.state.doc !== doc)
        return;
      onFindings(findings);
      if (isShown || findings.problems.length > 0)
        view.dispatch(setDiagnostics(view.state, findings.problems.map(shown)));
      isShown = findings.problems.length > 0;
    }
    let timer = setTimeout(() => void check());
    return {
      update({ docChanged, state }) {
        if (!docChanged)
          return;
        server.change(state.doc.toString());
        clearTimeout(timer);
        timer = setTimeout(() => void check(), PAUSE);
      },
      destroy: () => clearTimeout(timer),
    };
  });
}

/** Everything above, for one editor. */
export function languageOf(server: LanguageClient, onFindings: (findings: Findings) => void): Extension {
  return [
    checks(server, onFindings), lintGutter(),
    autocompletion({ override: [context => complete(server, context).catch(() => null)] }),
    hoverTooltip((view, at) => describe(server, view, at).catch(() => null)),
  ];
}
