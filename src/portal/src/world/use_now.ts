// use_now.ts - the picture of the present, as a hook: made anew when jobs change
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useJobChanges } from "../parts/use_jobs";
import { fetchText } from "./fetched";
import type { Picture } from "./picture";
import type { World } from "./world";

const SLOW = 2000; // milliseconds between two pictures, each of which has all jobs

export interface Now { picture?: Picture; error?: unknown; again: () => void }

/** While it is not wanted, nothing is asked. */
export function useNow(world: World, isWanted = true): Now {
  const [shown, setShown] = useState<{ picture?: Picture; error?: unknown }>({});
  const state = useRef({ isAsking: false, isStale: false, wanted: isWanted, end: new AbortController() });

  state.current.wanted = isWanted;
  const again = useCallback(() => {
    const its = state.current;
    if (!its.wanted)
      return;
    if (its.isAsking) {
      its.isStale = true;
      return;
    }
    its.isAsking = true;
    fetchText("scheduler.snapshot", {}, its.end.signal)
      .then(snapshot => its.wanted ? world.ask("now", { snapshot }) : undefined)
      .then(picture => { if (its.wanted && picture !== undefined) setShown({ picture }); },
        (error: unknown) => { if (!its.end.signal.aborted) setShown(before => ({ ...before, error })); })
      .finally(() => {
        its.isAsking = false;
        if (its.isStale) {
          its.isStale = false;
          again();
        }
      });
  }, [world]);

  useEffect(again, [again, isWanted]);
  useEffect(() => {
    const { end } = state.current;
    return () => { state.current.wanted = false; end.abort(); };
  }, []);
  useJobChanges(again, () => true, SLOW);
  return { ...shown, again };
}
