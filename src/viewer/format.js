// format.js - numbers, times and names as people read them; round distances of ticks

const NARROW = "\u202f"; // a space that does not break
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** "1 234 567" */
export const count = n => WHOLE.format(n).replaceAll(",", NARROW);

/** A part of one: "81.3 %"; for axes without ".0" */
export const percent = part => `${(part * 100).toFixed(1)}${NARROW}%`;
export const roundPercent = part => percent(part).replace(".0", "");

/** "1.03", "12.3", "1 234" */
export const factor = n => n < 9.995 ? n.toFixed(2) : n < 99.95 ? n.toFixed(1) : count(n);

/** GPU seconds in hours: "0.4", "1 234", "1.2M" */
export function hours(seconds) {
  const n = seconds / 3600;
  return n > 0 && n < 0.05 ? "<0.1" : n < 99.95 ? String(Number(n.toFixed(1)))
    : n < 99999.5 ? count(n) : SHORT.format(n);
}

const UNITS = [["y", 31536000], ["d", 86400], ["h", 3600], ["min", 60], ["s", 1], ["ms", 1e-3],
  ["µs", 1e-6]];

/** "3 d 4 h", "59 s", "1.5 s", "20 ms": two units at most */
export function duration(seconds) {
  const at = UNITS.findIndex(([, size]) => seconds >= size * 0.9995);
  const [name, size] = UNITS[at] ?? UNITS.at(-1), [small, part] = UNITS[at + 1] ?? [];
  if (at < 0)
    return "0 s";
  if (size <= 1)
    return `${Number((seconds / size).toFixed(seconds / size < 9.95 ? 1 : 0))} ${name}`;
  const parts = Math.round(seconds / part), rest = parts % (size / part);
  return `${count(Math.floor(parts * part / size))} ${name}${rest > 0 ? ` ${rest} ${small}` : ""}`;
}

/** How far a value is from another: "+12.3 %", "×4.5"; "" where that says nothing */
export function change(value, from) {
  const part = from > 0 ? Math.max((value - from) / from, value > 0 ? -0.999 : -1) : 0;
  return Math.abs(part) < 0.0005 ? "" : part >= 9 ? `×${count(part + 1)}`
    : (part > 0 ? "+" : "") + percent(part);
}

/** A name from a report, without control characters and marks that turn text around */
export const clean = name => String(name).replace(
  /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd") || "(no name)";

/** A text that ends, if need be with an ellipsis, within so many pixels */
export function fit(text, width) {
  const letters = Array.from(text);
  let used = 0;
  const end = letters.findIndex(letter => (used += letter > "\u2e7f" ? 12 : 6.6) > width);
  return end < 0 ? text : letters.slice(0, Math.max(end - 1, 0)).join("") + "…";
}

/** The distance of round ticks, of which at most `most` lie before `end` */
export function step(end, most) {
  const rough = end / most, unit = 10 ** Math.floor(Math.log10(rough));
  return unit * [1, 2, 5, 10].find(part => unit * part >= rough * 0.999999);
}

const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];

/** The same for times, as clocks and calendars divide them */
export const timeStep = (end, most) => end < 1 ? step(end, most)
  : CLOCK.find(s => end / s <= most) ?? 86400 * Math.max(1, step(end / 86400, most));
