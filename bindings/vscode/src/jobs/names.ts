// names.ts - names of jobs and tasks, states, and how they are shown

import type { State } from "../api";
import { freeName } from "../clusters/cluster";

/** USER~NAME, as the REST API names a job. */
export const jobId = (user: string, name: string): string => `${user}~${name}`;

/** "4 min", "3 h 20 min", from seconds. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60)
    return `${whole} s`;
  if (whole < 3600)
    return `${Math.floor(whole / 60)} min`;
  if (whole < 86400)
    return `${Math.floor(whole / 3600)} h ${Math.floor(whole % 3600 / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole % 86400 / 3600)} h`;
}

export const LIVE: State[] = ["WAITING", "RUNNING", "STOPPING"];

export const isOver = (state: State): boolean =>
  !LIVE.includes(state);

/** An icon of VS Code and its colour, for each state. */
export function iconOf(state: State): [name: string, colour: string] {
  switch (state) {
    case "WAITING": return ["watch", "charts.yellow"];
    case "RUNNING": return ["play-circle", "charts.blue"];
    case "STOPPING": return ["stop-circle", "charts.orange"];
    case "SUCCEEDED": return ["pass", "charts.green"];
    case "FAILED": return ["error", "charts.red"];
    default: return ["circle-slash", "disabledForeground"];
  }
}

/** The name of a copy: that of the job with _2, _3, ..., also of a job that has such an end. */
export function copyName(name: string, taken: Iterable<string>): string {
  const first = name.replace(/_\d+$/, "");
  return freeName(first, [first, name, ...taken]);
}

const NAME = /^(name:[ \t]*)(?:"[^"\n]*"|'[^'\n]*'|[^\s#][^\n#]*?)([ \t]*(?:#.*)?)$/m;

/** The text of a job file with another name; unchanged where it has none in a line of its own. */
export const renameJob = (text: string, name: string): string =>
  text.replace(NAME, (_, key: string, rest: string) => `${key}${name}${rest}`);

/** The name in a job file, without quotes. */
export function nameIn(text: string): string | undefined {
  const line = NAME.exec(text)?.[0];
  return line?.replace(/^name:\s*/, "").replace(/\s+#.*$/, "").replace(/^(["'])(.*)\1\s*$/, "$2").trim();
}

/** Whether a text is meant to be a job file: it may be broken, or just begun. */
export function looksLikeJob(path: string, text: string): boolean {
  return /\.pai\.(ya?ml|jsonc?)$/.test(path) ||
    /^["']?(protocolVersion|taskRoles)["']?\s*:/m.test(text.slice(0, 65536));
}
