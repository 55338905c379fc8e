// lasted.tsx - a duration, which grows each second while it has no end
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { duration } from "../format";

const now = signal(Date.now());
let growing = 0;
let timer: ReturnType<typeof setInterval> | undefined;

function watch(): () => void {
  if (growing++ === 0)
    timer = setInterval(() => { now.value = Date.now(); }, 1000);
  now.value = Date.now();
  return () => {
    if (--growing === 0)
      clearInterval(timer);
  };
}

/** The time, in milliseconds; it goes on while something grows. */
export function useNow(isGrowing: boolean): number {
  useEffect(() => isGrowing ? watch() : undefined, [isGrowing]);
  return now.value;
}

/** From one time to another, in milliseconds; null: not begun, not ended. */
export function Lasted({ from, to }: { from: number | null; to: number | null }) {
  const at = useNow(from !== null && to === null);
  return from === null ? null : <>{duration(((to ?? at) - from) / 1000)}</>;
}
