// colours.ts - colours of the machine map, which people who do not see all colours can tell apart

/** What the colours of cells say. */
export const MODES = ["taken", "job", "user", "vc", "use", "memory", "temperature"] as const;
export type Mode = typeof MODES[number];

/** Whether a mode shows measurements. */
export const isMeasured = (mode: Mode) => mode === "use" || mode === "memory" || mode === "temperature";

/* Blue, and vermilion with a cross (Okabe and Ito). */
export const TAKEN = "#0072b2", SICK_CELL = "#d55e00", UNKNOWN = "#8a929c";

/* Dark blue to yellow, and growing lighter all the way (cividis). */
export const SCALE = ["#00336f", "#42506e", "#72716f", "#a59c74", "#d3c064", "#fdea45"];

/* Names by colour: neighbours differ in hue and in lightness (Tol). */
const NAMED = ["#332288", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#cc6677", "#882255", "#aa4499", "#0072b2", "#e69f00", "#56b4e9"];

/** Least and most of a measurement, with its unit. */
export const RANGES = { use: [0, 100, "%"], memory: [0, 100, "%"], temperature: [30, 90, "°C"] } as const;

/** Colour of a measurement. */
export function scaled(mode: keyof typeof RANGES, value: number): string {
  const [least, most] = RANGES[mode];
  const step = Math.floor((value - least) / (most - least) * SCALE.length);
  return SCALE[Math.max(0, Math.min(step, SCALE.length - 1))]!;
}

function hashed(name: string): string {
  let hash = 7;
  for (let i = 0; i < name.length; i++)
    hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
  return NAMED[hash % NAMED.length]!;
}

/** Colours of names: each its own while they are few, and otherwise always the same. */
export function colouring(names: Iterable<string>): (name: string) => string {
  const all = [...new Set(names)].sort();
  const own = all.length <= NAMED.length ? new Map(all.map((name, i) => [name, NAMED[i]!])) : null;
  return name => own?.get(name) ?? hashed(name);
}
