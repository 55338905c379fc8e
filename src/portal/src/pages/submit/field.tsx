// field.tsx - fields of the form, each a place of the job file
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { clear, set, textAt, typed, type Edit, type Path, type Value } from "./job_edit";

export interface Form {
  file: Record<string, Value>;
  /** Whether the text can be read; if not, `file` is what it said before. */
  isRead: boolean;
  edit: (edit: Edit) => void;
  /** Gives a key of the file another name, wherever it is used. */
  rename: (path: Path, key: string, to: string) => void;
}

/** What a field writes: always a text, or a number where one is typed; `number` also asks for one. */
type Kind = "text" | "any" | "number";

interface Props {
  form: Form;
  path: Path;
  label: string;
  kind?: Kind;
  /** An empty field stays in the file. */
  isNeeded?: boolean;
  hint?: string;
  list?: string;
}

/** A field whose text stays as it is typed, until it loses the focus. */
export function Typed({ label, value, hint, list, isNumber, onType, onDone }: {
  label: string; value: string; hint?: string | undefined; list?: string | undefined; isNumber?: boolean | undefined;
  onType?: (text: string) => void; onDone?: (text: string) => void;
}) {
  const [own, setOwn] = useState<string | null>(null);
  return <label class="field"><span>{label}</span>
    <input value={own ?? value} placeholder={hint} list={list} inputMode={isNumber ? "decimal" : undefined} autocomplete="off" spellcheck={false}
      onInput={event => { setOwn(event.currentTarget.value); onType?.(event.currentTarget.value); }}
      onKeyDown={event => { if (event.key === "Enter") event.currentTarget.blur(); }}
      onBlur={() => {
        if (own !== null)
          onDone?.(own);
        setOwn(null);
      }} />
  </label>;
}

export function Field({ form, path, label, kind = "text", isNeeded, hint, list }: Props) {
  const put = (text: string) => form.edit(set(path, kind === "text" ? text : typed(text)));
  return <Typed label={label} value={textAt(form.file, path)} hint={hint} list={list} isNumber={kind === "number"}
    onType={text => { if (text !== "" || isNeeded) put(text); }}
    onDone={text => { if (text === "" && !isNeeded) form.edit(clear(path)); }} />;
}

/** One of some values; the empty one is none. */
export function Choice({ label, value, values, none, onChoose }: {
  label: string; value: string; values: string[]; none: string; onChoose: (value: string) => void;
}) {
  const all = value === "" || values.includes(value) ? values : [value, ...values];
  return <label class="field"><span>{label}</span>
    <select value={value} onChange={event => onChoose(event.currentTarget.value)}>
      <option value="">{none}</option>
      {all.map(one => <option key={one} value={one}>{one}</option>)}
    </select>
  </label>;
}

/** A part of the form that is made when it is opened: a file may have thousands of parameters. */
export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  return <details class="part" onToggle={event => setOpen(event.currentTarget.open)}><summary>{title}</summary>{isOpen && children}</details>;
}
