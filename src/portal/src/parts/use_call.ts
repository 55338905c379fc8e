// use_call.ts - the answer of a call, as a hook
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Calls } from "../api";
import { call } from "../call";
import type { ways } from "../ways";

type Name = keyof Calls & keyof typeof ways;

interface Shown<N extends Name> { value?: Calls[N]["answer"]; error?: unknown }

export interface Answer<T> {
  value: T | undefined;
  error: unknown;
  /** Asks again; what is shown stays until the answer is there. */
  again: () => void;
}

/** Makes a call when its arguments change.  Null: nothing is asked. */
export function useCall<N extends Name>(name: N, values: Calls[N]["arguments"] | null): Answer<Calls[N]["answer"]> {
  const [state, setState] = useState<Shown<N>>({});
  const running = useRef<AbortController | null>(null);
  const isWanted = useRef(false);
  const key = JSON.stringify(values);
  const ask = useCallback(() => {
    if (values === null)
      return;
    const mine = running.current = new AbortController();
    const end = (change: (before: Shown<N>) => Shown<N>) => {
      if (mine.signal.aborted)
        return;
      running.current = null;
      setState(change);
      if (isWanted.current) {
        isWanted.current = false;
        ask();
      }
    };
    call(name, values, { signal: mine.signal }).then(
      value => end(() => ({ value })),
      (error: unknown) => end(before => ({ ...before, error })));
  }, [name, key]);
  // An answer under way is not given up: a slow one would never arrive while jobs change.
  const again = useCallback(() => {
    if (running.current === null)
      ask();
    else
      isWanted.current = true;
  }, [ask]);

  useEffect(() => {
    ask();
    return () => {
      running.current?.abort();
      running.current = null;
      isWanted.current = false;
    };
  }, [ask]);
  return { value: state.value, error: state.error, again };
}
