// line_diff.ts - two texts side by side, line by line

/** A line of the first text and one of the second; null: there is none beside the other. */
export interface Pair { first: string | null; second: string | null }

const MOST = 4_000_000; // pairs of lines that are compared

/* lengths[i][j]: how many lines the texts have in common from their lines i and j on. */
function common(a: string[], b: string[]): Uint32Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  return lengths;
}

/* Lines that only one text has stand beside one another as far as they go. */
function beside(first: string[], second: string[]): Pair[] {
  return Array.from({ length: Math.max(first.length, second.length) }, (_none, i) => ({ first: first[i] ?? null, second: second[i] ?? null }));
}

export function sideBySide(one: string, other: string): Pair[] {
  const a = one.replace(/\n$/, "").split("\n"), b = other.replace(/\n$/, "").split("\n");
  if (a.length * b.length > MOST)
    return beside(a, b);
  const lengths = common(a, b);
  const pairs: Pair[] = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    const fromA = i, fromB = j;
    while ((i < a.length || j < b.length) && a[i] !== b[j])
      if (j >= b.length || i < a.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)
        i++;
      else
        j++;
    pairs.push(...beside(a.slice(fromA, i), b.slice(fromB, j)));
    while (i < a.length && j < b.length && a[i] === b[j])
      pairs.push({ first: a[i++]!, second: b[j++]! });
  }
  return pairs;
}
