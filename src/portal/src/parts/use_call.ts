// use_call.ts - the answer of a call, as a hook
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Calls } from "../api";
import { call } from "../call";
import type { ways } from "../ways";

type Name = keyof Calls & keyof typeof ways;

export interface Answer<T> {
  value: T | undefined;
  error: unknown;
  /** Asks again; what is shown stays until the answer is there. */
  again: () => void;
}

/** Makes a call when its arguments change.  Null: nothing is asked. */
export function useCall<N extends Name>(name: N, values: Calls[N]["arguments"] | null): Answer<Calls[N]["answer"]> {
  const [state, setState] = useState<{ value?: Calls[N]["answer"]; error?: unknown }>({});
  const running = useRef<AbortController | null>(null);
  const key = JSON.stringify(values);
  const again = useCallback(() => {
    running.current?.abort();
    if (values === null)
      return;
    const mine = running.current = new AbortController();
    call(name, values, { signal: mine.signal }).then(
      value => setState({ value }),
      (error: unknown) => {
        if (!mine.signal.aborted)
          setState(before => ({ ...before, error }));
      });
  }, [name, key]);

  useEffect(() => {
    again();
    return () => running.current?.abort();
  }, [again]);
  return { value: state.value, error: state.error, again };
}
