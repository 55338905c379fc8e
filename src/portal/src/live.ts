// live.ts - states of jobs as the server's event stream tells them
//
// Pages subscribe with onChange(); nobody asks the server at intervals.
import { signal } from "@preact/signals";
import { addressOf } from "./call";
import { follow } from "./parts/server_events";

export interface JobChange {
  event: "job" | "task";
  name: string;
  state: string;
  role?: string;
  index?: number;
  text?: string;
}

/* A tab that is hidden has no frames: from so many changes on, it only knows that much changed. */
const MOST = 1000;

/** Whether the stream is open. */
export const isLive = signal(false);

/** Null: anything may have changed, because the connection was lost. */
type Listener = (changes: JobChange[] | null) => void;

const listeners = new Set<Listener>();
let running: AbortController | null = null;
let gathered: JobChange[] = [];
let wasOpen = false;

function deliver(): void {
  const changes = gathered.length < MOST ? gathered : null;
  gathered = [];
  for (const listener of listeners)
    listener(changes);
}

/* Changes of one frame are delivered together: a thousand tasks repaint once. */
function gather(data: string): void {
  if (gathered.length === 0)
    requestAnimationFrame(deliver);
  if (gathered.length < MOST)
    gathered.push(JSON.parse(data) as JobChange);
}

function onOpen(): void {
  isLive.value = true;
  if (wasOpen)
    listeners.forEach(listener => listener(null));
  wasOpen = true;
}

export function startLive(): void {
  if (running !== null)
    return;
  running = new AbortController();
  void follow(addressOf("events.watch"), running.signal, {
    onOpen,
    onLost: () => { isLive.value = false; },
    onEvent({ event, data }) {
      if (event === "job" || event === "task")
        gather(data);
    },
  });
}

export function stopLive(): void {
  running?.abort();
  running = null;
  isLive.value = wasOpen = false;
}

/** Calls a function with each change of jobs; returns a function that ends that. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}
