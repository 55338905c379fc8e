// csv.ts - rows of a file with values between commas, as spreadsheets write it

/** The rows; values may be in quotes, in which "" stands for one. */
export function rowsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  let value = "", isQuoted = false;
  const end = () => { rows.at(-1)!.push(value); value = ""; };
  for (let i = text.charCodeAt(0) === 0xfeff ? 1 : 0; i < text.length; i++) {
    const c = text[i]!;
    if (isQuoted && c === '"' && text[i + 1] === '"') {
      value += c;
      i++;
    } else if (c === '"') {
      isQuoted = !isQuoted;
    } else if (!isQuoted && c === ",") {
      end();
    } else if (!isQuoted && (c === "\n" || c === "\r")) {
      if (c === "\r" && text[i + 1] === "\n")
        i++;
      end();
      rows.push([]);
    } else {
      value += c;
    }
  }
  end();
  return rows.filter(row => row.some(one => one.trim() !== ""));
}
