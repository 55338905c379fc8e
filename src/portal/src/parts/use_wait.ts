// use_wait.ts - how long a job file would wait if it were submitted now, as a hook
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../call";
import { who } from "../session";
import { asset, core } from "./core";
import type { Wait, WaitAnswer, WaitQuestion } from "./wait_worker";

const PAUSE = 500; // milliseconds without typing, before the cluster is asked
const UNKNOWN: Wait = { seconds: null, never: null, changes: [] };

/** Undefined while it is being computed. */
export function useWait(text: string): Wait | undefined {
  const worker = useRef<Worker>();
  const last = useRef(0);
  const [wait, setWait] = useState<Wait>();

  useEffect(() => {
    const mine = worker.current = new Worker(asset("wait"), { type: "module" });
    mine.addEventListener("message", (event: MessageEvent<WaitAnswer>) => {
      if (event.data.id === last.current)
        setWait(event.data);
    });
    return () => mine.terminate();
  }, []);
  useEffect(() => {
    const id = ++last.current;
    setWait(undefined);
    const timer = setTimeout(() => {
      Promise.all([call("scheduler.snapshot", {}), core()]).then(([snapshot, module]) => worker.current?.postMessage({
        id, text, user: who.value?.name ?? "", snapshot: JSON.stringify(snapshot), module,
      } satisfies WaitQuestion), () => setWait(UNKNOWN));
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return wait;
}
