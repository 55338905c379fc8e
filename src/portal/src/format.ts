// format.ts - times, durations and amounts as people read them
import { language } from "./texts";

const UNITS: [string, number][] = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** A duration in seconds in its two largest units: "2 h 5 min". */
export function duration(seconds: number): string {
  let left = Math.max(0, Math.round(seconds));
  const first = UNITS.findIndex(([, size]) => left >= size);
  if (first < 0)
    return "0 s";
  const said = [];
  for (const [unit, size] of UNITS.slice(first, first + 2)) {
    const n = Math.floor(left / size);
    if (n > 0)
      said.push(`${n} ${unit}`);
    left -= n * size;
  }
  return said.join(" ");
}

const locale = () => language.value === "zh" ? "zh-CN" : undefined;

/** A time in milliseconds as date and time, shorter if it is today. */
export function time(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined)
    return "";
  const date = new Date(milliseconds);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString(locale()) : date.toLocaleString(locale());
}

/** A value of a metric with its unit: "37.5 %", "1.5 GiB/s"; a dash if there is none. */
export function amount(value: number | null, unit: string): string {
  if (value === null)
    return "–";
  switch (unit) {
    case "bytes": return bytes(value);
    case "bytes/s": return `${bytes(value)}/s`;
    case "percent": return `${Math.round(value * 10) / 10} %`;
    case "celsius": return `${Math.round(value)} °C`;
    default: return String(Math.round(value * 100) / 100);
  }
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** An amount of bytes: "1.5 GiB". */
export function bytes(amount: number): string {
  let unit = 0;
  while (amount >= 1024 && unit < BYTES.length - 1) {
    amount /= 1024;
    unit++;
  }
  return `${amount >= 100 || unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${BYTES[unit]}`;
}
