// use_jobs.ts - calls again when jobs have changed, at most once in a while
import { useEffect } from "preact/hooks";
import { onChange, type JobChange } from "../live";

const PAUSE = 500; // milliseconds between two calls while much happens

/** Calls `again` after changes of jobs that `matters` accepts. */
export function useJobChanges(again: () => void, matters: (change: JobChange) => boolean,
  pause = PAUSE): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const end = onChange(changes => {
      if (timer !== undefined || changes !== null && !changes.some(matters))
        return;
      timer = setTimeout(() => {
        timer = undefined;
        last = Date.now();
        again();
      }, Math.max(0, last + pause - Date.now()));
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [again]);
}
