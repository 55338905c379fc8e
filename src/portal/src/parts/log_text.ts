// log_text.ts - lines of a log as a terminal would show them: colours, and \r that begins a line anew

export interface Piece { text: string; style: string }

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** What is left of a line after its carriage returns: each part is written over the one before. */
export function overwritten(line: string): string {
  if (!line.includes("\r"))
    return line;
  let shown = "";
  for (const part of line.replace(/\r+$/, "").split("\r"))
    shown = part.length >= shown.length || part.includes("\x1b") ? part : part + shown.slice(part.length);
  return shown;
}

function styleOf(codes: number[], before: string[]): string[] {
  let style = before;
  for (const code of codes) {
    const colour = code >= 90 ? code - 90 : code - 30;
    if (code === 0)
      style = [];
    else if (code === 1)
      style = [...style.filter(one => one !== "bold"), "bold"];
    else if (code === 22)
      style = style.filter(one => one !== "bold");
    else if (code === 39 || COLOURS[colour] !== undefined && (code >= 30 && code <= 37 || code >= 90))
      style = [...style.filter(one => one === "bold"), ...code === 39 ? [] : [`ansi-${COLOURS[colour]}`]];
  }
  return style;
}

/** A line in pieces, each with the classes of its colours; other escape sequences are dropped. */
export function pieces(line: string): Piece[] {
  const out: Piece[] = [];
  let style: string[] = [];
  let from = 0;
  for (const found of line.matchAll(/\x1b\[([\d;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|[\x00-\x08\x0b-\x1f]/g)) {
    if (found.index > from)
      out.push({ text: line.slice(from, found.index), style: style.join(" ") });
    from = found.index + found[0].length;
    if (found[2] === "m")
      style = styleOf((found[1] || "0").split(";").map(Number), style);
  }
  if (from < line.length)
    out.push({ text: line.slice(from), style: style.join(" ") });
  return out;
}
