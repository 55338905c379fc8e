// state.tsx - the state of a job or task, as a word with a colour
import { t, type TextKey } from "../texts";

const KNOWN = new Set(["WAITING", "RUNNING", "STOPPING", "STOPPED", "SUCCEEDED", "FAILED"]);

export function State({ of, role }: { of: string; role?: "status" }) {
  const upper = of.toUpperCase();
  return <span class={`state ${upper.toLowerCase()}`} role={role}>{KNOWN.has(upper) ? t(upper as TextKey) : upper}</span>;
}

/** Whether a job in this state has ended. */
export function isFinal(state: string): boolean {
  return /^(STOPPED|SUCCEEDED|FAILED)$/i.test(state);
}
