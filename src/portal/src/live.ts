// live.ts - states of jobs as the server's event stream tells them
//
// Pages subscribe with onChange(); nobody asks the server at intervals.
import { signal } from "@preact/signals";
import { addressOf, ask, failureOf } from "./call";
import { serverEvents } from "./parts/server_events";

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
const PAUSE = 2000; // milliseconds until a lost stream is asked for again

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

async function read(signal: AbortSignal): Promise<void> {
  const answer = await ask(addressOf("events.watch"), { signal });
  if (!answer.ok)
    throw await failureOf(answer);
  isLive.value = true;
  if (wasOpen)
    listeners.forEach(listener => listener(null));
  wasOpen = true;
  for await (const { event, data } of serverEvents(answer))
    if (event === "job" || event === "task")
      gather(data);
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await read(signal).catch(() => {}); // the connection was lost, or the server does not answer
    if (signal.aborted)
      return;
    isLive.value = false;
    await new Promise(done => setTimeout(done, PAUSE));
  }
}

export function startLive(): void {
  if (running !== null)
    return;
  running = new AbortController();
  void follow(running.signal);
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
