// places.ts - places of source files that a line of output names

export interface Place {
  /** Of the line: where the link begins and ends. */
  start: number;
  end: number;
  path: string;
  line: number;
  column?: number;
}

// Python: File "train.py", line 3.  Compilers and others: train.py:3 or train.py:3:14.
const PYTHON = /File "([^"]+)", line (\d+)/g;
const COLON = /(?<![\w./~-])((?:[\w.~-]*\/)*[\w.~-]+\.[A-Za-z]\w{0,7}):(\d+)(?::(\d+))?/g;

export function placesOf(text: string): Place[] {
  const found: Place[] = [];
  for (const m of text.matchAll(PYTHON))
    found.push({ start: m.index, end: m.index + m[0].length, path: m[1], line: Number(m[2]) });
  for (const m of text.matchAll(COLON)) {
    const [start, end] = [m.index, m.index + m[0].length];
    if (!found.some(one => start < one.end && one.start < end))
      found.push({
        start, end, path: m[1], line: Number(m[2]),
        ...(m[3] === undefined ? {} : { column: Number(m[3]) }),
      });
  }
  return found.filter(one => one.line > 0 && !one.path.startsWith("<"));
}

const partsOf = (path: string): string[] => path.split("/").filter(part => part !== "" && part !== ".");

/**
 * Which of the files of a workspace a path in a task means: the one whose path has the most
 * parts in common with it, from the end. A copy of the code has another folder in the task.
 */
export function bestMatch(path: string, files: string[]): string | undefined {
  const wanted = partsOf(path).reverse();
  let best: string | undefined, most = 0;
  for (const file of files) {
    const parts = partsOf(file).reverse();
    const other = wanted.findIndex((part, i) => part !== parts[i]);
    const common = other < 0 ? wanted.length : other;
    if (common > most)
      [best, most] = [file, common];
  }
  return best;
}
