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

/** From one time to another, in milliseconds; null: not begun, not ended. */
export function Lasted({ from, to }: { from: number | null; to: number | null }) {
  const isGrowing = from !== null && to === null;
  useEffect(() => isGrowing ? watch() : undefined, [isGrowing]);
  return from === null ? null : <>{duration(((to ?? now.value) - from) / 1000)}</>;
}
