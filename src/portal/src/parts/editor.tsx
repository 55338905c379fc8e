// editor.tsx - CodeMirror for job files
import { closeBrackets } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState, type ChangeSpec } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { changesOf, languageOf, type Findings } from "./editor_language";
import { editsOf, LanguageClient, type Position } from "./language";

/* Styles of the page do not reach into the editor's shadow, but its variables do. */
const THEME = EditorView.theme({
  "&": { backgroundColor: "var(--field)", fontSize: "14px", maxHeight: "72vh", minHeight: "320px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--row)", border: "0", color: "var(--dim)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--field)", borderColor: "var(--line)", color: "var(--text)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--main)", color: "var(--on-main)" },
  ".cm-completionDetail": { color: "var(--dim)" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-diagnosticText": { whiteSpace: "pre-wrap" },
  ".cm-diagnosticAction": { backgroundColor: "var(--main)", color: "var(--on-main)" },
  ".described": { maxWidth: "440px", padding: "2px 10px" },
  ".described p": { margin: "4px 0", whiteSpace: "pre-line" },
});
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--link)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.comment, tags.meta], color: "var(--dim)" },
  { tag: [tags.keyword, tags.atom, tags.bool, tags.number], color: "var(--waiting)" },
]);

/** What the page may do with the editor. */
export interface EditorHandle {
  /** Applies changes of the text that is shown. */
  apply: (changes: ChangeSpec[]) => void;
  /** Puts the cursor at a place and shows it. */
  goTo: (offset: number) => void;
  /** Gives the name at a position another one, wherever it is used; false: it cannot. */
  rename: (at: Position, name: string) => Promise<boolean>;
}

interface Props {
  label: string;
  text: string;
  onChange: (text: string) => void;
  onFindings: (findings: Findings) => void;
  handle: { current: EditorHandle | null };
}

/* The part in which two texts differ: what stays keeps its cursor, and its place in the history. */
function difference(before: string, after: string): ChangeSpec {
  const most = Math.min(before.length, after.length);
  let start = 0, end = 0;
  while (start < most && before[start] === after[start])
    start++;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end])
    end++;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

function handleOf(view: EditorView, server: LanguageClient): EditorHandle {
  return {
    apply: changes => view.dispatch({ changes }),
    goTo: offset => {
      view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, scrollIntoView: true });
      view.focus();
    },
    rename: async (position, newName) => {
      const doc = view.state.doc;
      const answer = await server.request("textDocument/rename", { position, newName });
      const changes = changesOf(doc, editsOf(answer?.changes));
      if (changes.length === 0 || view.state.doc !== doc)
        return false;
      view.dispatch({ changes });
      return true;
    },
  };
}

/** The text may be changed from outside, too. */
export function Editor({ label, text, onChange, onFindings, handle }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>();
  const heard = useRef({ onChange, onFindings });

  heard.current = { onChange, onFindings };
  useEffect(() => {
    const server = new LanguageClient(text);
    // Its styles are no inline ones in a shadow, which the page's policy refuses.
    const root = place.current!.shadowRoot ?? place.current!.attachShadow({ mode: "open" });
    const editor = view.current = new EditorView({
      parent: root, root,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
          yaml(), syntaxHighlighting(COLOURS), THEME,
          languageOf(server, findings => heard.current.onFindings(findings)),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap, indentWithTab]),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
          EditorView.updateListener.of(update => {
            if (update.docChanged)
              heard.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    handle.current = handleOf(editor, server);
    return () => {
      handle.current = null;
      editor.destroy();
      server.end();
    };
  }, []);
  // Before a key that follows could change the text once more.
  useLayoutEffect(() => {
    const editor = view.current;
    const before = editor?.state.doc.toString();
    if (editor !== undefined && before !== text)
      editor.dispatch({ changes: difference(before!, text) });
  }, [text]);
  return <div ref={place} class="editor" />;
}
