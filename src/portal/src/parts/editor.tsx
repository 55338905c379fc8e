// editor.tsx - CodeMirror for job files: problems are underlined, and corrections offered
import { autocompletion, closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { forceLinting, linter, lintGutter, type Action, type Diagnostic } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import { checker, type Diagnostic as Found } from "./check";

/* Positions of the checker are lines and columns of bytes, both from 1. */
function offsetOf(state: EditorState, line: number | null, column: number | null): number {
  const of = state.doc.line(Math.min(Math.max(line ?? 1, 1), state.doc.lines));
  const bytes = new TextEncoder().encode(of.text).subarray(0, Math.max((column ?? 1) - 1, 0));
  return Math.min(of.from + new TextDecoder().decode(bytes).length, of.to);
}

function actionsOf(state: EditorState, found: Found): Action[] {
  return found.fixes.map(fix => ({
    name: fix.title,
    apply: view => view.dispatch({
      changes: fix.edits.map(edit => ({
        from: offsetOf(state, edit.line, edit.column), to: offsetOf(state, edit.end_line, edit.end_column), insert: edit.text,
      })),
    }),
  }));
}

function shown(state: EditorState, found: Found): Diagnostic {
  const from = offsetOf(state, found.line, found.column);
  const to = Math.max(offsetOf(state, found.end_line, found.end_column), Math.min(from + 1, state.doc.length));
  return {
    from, to, severity: found.severity, actions: actionsOf(state, found),
    message: found.help ? `${found.message}\nhelp: ${found.help}` : found.message,
  };
}

/* Styles of the page do not reach into the editor's shadow, but its variables do. */
const THEME = EditorView.theme({
  "&": { backgroundColor: "var(--field)", fontSize: "14px", maxHeight: "62vh", minHeight: "320px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--row)", border: "0", color: "var(--dim)" },
  ".cm-tooltip": { backgroundColor: "var(--field)", borderColor: "var(--line)", color: "var(--text)" },
  ".cm-diagnosticText": { whiteSpace: "pre-wrap" },
});
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.comment, tags.meta], color: "var(--dim)" },
  { tag: [tags.keyword, tags.atom, tags.bool, tags.number], color: "var(--waiting)" },
]);

interface Props {
  label: string;
  text: string;
  onChange: (text: string) => void;
  onProblems: (problems: Found[]) => void;
}

/** The text may be changed from outside, too. */
export function Editor({ label, text, onChange, onProblems }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>();
  const heard = useRef({ onChange, onProblems });

  heard.current = { onChange, onProblems };
  useEffect(() => {
    const check = linter(async editor => {
      const Job = await checker();
      const problems = Job.check(editor.state.doc.toString()).diagnostics;
      heard.current.onProblems(problems);
      return problems.map(found => shown(editor.state, found));
    }, { delay: 150 });
    // Its styles are no inline ones in a shadow, which the page's policy refuses.
    const root = place.current!.shadowRoot ?? place.current!.attachShadow({ mode: "open" });
    const editor = view.current = new EditorView({
      parent: root, root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), autocompletion(),
          yaml(), syntaxHighlighting(COLOURS), THEME, lintGutter(), check,
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
          EditorView.updateListener.of(update => {
            if (update.docChanged)
              heard.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    forceLinting(editor);
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor !== undefined && editor.state.doc.toString() !== text)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
  }, [text]);
  return <div ref={place} class="editor" />;
}
