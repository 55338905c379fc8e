// use_wait.ts - how long a job file would wait if it were submitted now, as a hook
import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../call";
import { who } from "../session";
import type { WaitAnswer, WaitQuestion } from "./wait_worker";

const PAUSE = 500; // milliseconds without typing, before the cluster is asked

/** Undefined while it is being computed. */
export function useWait(text: string): WaitAnswer["seconds"] | undefined {
  const worker = useRef<Worker>();
  const last = useRef(0);
  const [wait, setWait] = useState<WaitAnswer["seconds"]>();

  useEffect(() => {
    const address = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)!.content;
    const mine = worker.current = new Worker(address("openpai-wait"), { type: "module" });
    mine.addEventListener("message", (event: MessageEvent<WaitAnswer>) => {
      if (event.data.id === last.current)
        setWait(event.data.seconds);
    });
    return () => mine.terminate();
  }, []);
  useEffect(() => {
    const id = ++last.current;
    setWait(undefined);
    const timer = setTimeout(() => {
      call("scheduler.snapshot", {}).then(snapshot => worker.current?.postMessage({
        id, text, user: who.value?.name ?? "", snapshot: JSON.stringify(snapshot),
        module: document.querySelector<HTMLMetaElement>("meta[name=openpai-core]")!.content,
      } satisfies WaitQuestion), () => setWait(null));
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return wait;
}
