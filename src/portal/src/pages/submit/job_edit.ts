// job_edit.ts - a job file as the form shows it, and edits of its text
//
// The text is the file; what the form shows is read from it.  The library's Draft changes
// single places, so comments and everything else stay.
import type { Draft } from "openpai/check";
import type { JobFiles } from "../../parts/job_files";

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };
export type Path = readonly (string | number)[];
export type Edit = (draft: Draft) => void;

/** Value of a place; undefined: there is none. */
export function valueAt(file: Value | undefined, path: Path): Value | undefined {
  let value = file;
  for (const key of path)
    value = value !== null && typeof value === "object" ? (value as Record<string, Value>)[key] : undefined;
  return value;
}

export function mapAt(file: Value, path: Path): Record<string, Value> {
  const value = valueAt(file, path);
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

export function listAt(file: Value, path: Path): Value[] {
  const value = valueAt(file, path);
  return Array.isArray(value) ? value : [];
}

export function textAt(file: Value | undefined, path: Path): string {
  const value = valueAt(file, path);
  return value === undefined || value === null || typeof value === "object" ? "" : String(value);
}

/** JSON pointer of a place. */
export function pointer(path: Path): string {
  return path.map(key => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** What the text says; null: it cannot be read. */
export function readFile({ Draft }: JobFiles, text: string): Record<string, Value> | null {
  try {
    const draft = new Draft(text);
    try {
      const file = draft.get("") as Value | undefined;
      return file !== null && typeof file === "object" && !Array.isArray(file) ? file : null;
    } finally {
      draft.free();
    }
  } catch {
    return null; // its problems are shown
  }
}

/** The text after an edit. */
export function edited({ Draft }: JobFiles, text: string, edit: Edit): string {
  const draft = new Draft(text);
  try {
    edit(draft);
    return draft.text;
  } finally {
    draft.free();
  }
}

// --- edits ---------------------------------------------------------------------

/** What a person types: a number where it is written as one, else a text. */
export function typed(text: string): Value {
  return text !== "" && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

export function set(path: Path, value: Value): Edit {
  return draft => { draft.set(pointer(path), value); };
}

/** Removes a place, and what is around it as long as that becomes empty. */
export function clear(path: Path): Edit {
  return draft => {
    let up = path;
    while (up.length > 1) {
      const around = draft.get(pointer(up.slice(0, -1))) as Value | undefined;
      if (around === undefined || around === null || typeof around !== "object" || Object.keys(around).length > 1)
        break;
      up = up.slice(0, -1);
    }
    if (draft.get(pointer(up)) !== undefined)
      draft.unset(pointer(up));
  };
}

export function append(path: Path, value: Value): Edit {
  return draft => {
    const list = draft.get(pointer(path)) as Value | undefined;
    if (Array.isArray(list) && list.length > 0)
      draft.set(`${pointer(path)}/-`, value);
    else
      draft.set(pointer(path), [value]);
  };
}

/** Gives a key another name; it goes to the end. */
export function moveKey(path: Path, from: string, to: string): Edit {
  return draft => {
    const value = draft.get(pointer([...path, from])) as Value | undefined;
    if (from === to || value === undefined || draft.get(pointer([...path, to])) !== undefined)
      return;
    draft.unset(pointer([...path, from]));
    draft.set(pointer([...path, to]), value);
  };
}

// --- commands --------------------------------------------------------------------

/** The commands of a role as one text: the task runs them joined by newlines. */
export function commandsOf(commands: Value[]): string {
  return commands.map(one => String(one ?? "").replace(/\n$/, "")).join("\n");
}

/* The items that a text of lines has in common with a list at one end. */
function same(items: string[][], lines: string[]): number {
  let n = 0, at = 0;
  while (n < items.length && at + items[n]!.length <= lines.length &&
         items[n]!.every((line, i) => line === lines[at + i]))
    at += items[n++]!.length;
  return n;
}

const lengthOf = (items: string[][]) => items.reduce((sum, item) => sum + item.length, 0);
const written = (item: string[]) => item.length > 1 ? `${item.join("\n")}\n` : item[0]!;

/* Replaces items of a list from a place on by others. */
function replace(draft: Draft, path: Path, at: number, old: string[][], items: string[][]): void {
  items.forEach((item, i) => {
    if (i >= old.length)
      append(path, written(item))(draft);
    else if (written(item) !== written(old[i]!))
      draft.set(pointer([...path, at + i]), written(item));
  });
  for (let i = old.length - 1; i >= items.length; i--)
    draft.unset(pointer([...path, at + i]));
}

/** Changes those commands in which the text differs.  A command of several lines stays one. */
export function setCommands(path: Path, text: string): Edit {
  return draft => {
    const list = draft.get(pointer(path)) as Value | undefined;
    const before = Array.isArray(list) ? list.map(one => String(one ?? "").replace(/\n$/, "").split("\n")) : [];
    const lines = text.split("\n");
    const first = same(before, lines);
    const rest = lines.slice(lengthOf(before.slice(0, first)));
    const last = same(before.slice(first).reverse().map(item => [...item].reverse()), [...rest].reverse());
    const old = before.slice(first, before.length - last), after = before.slice(before.length - last);
    const made = rest.slice(0, rest.length - lengthOf(after));
    const isOne = old.some(item => item.length > 1) || before.length === 0;
    const items = made.length === 0 ? [] : isOne ? [made] : made.map(line => [line]);
    // Nothing can be put between two items: those behind move.
    if (items.length > old.length)
      replace(draft, path, first, [...old, ...after], [...items, ...after]);
    else
      replace(draft, path, first, old, items);
  };
}
