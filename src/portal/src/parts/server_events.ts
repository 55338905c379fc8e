// server_events.ts - reads an event stream; an EventSource cannot send the key of the session
import { ask, CallError, failureOf } from "../call";

const PAUSE = 2000; // milliseconds until a lost stream is asked for again

export interface ServerEvent { event: string; data: string }

function eventOf(block: string): ServerEvent {
  const data: string[] = [];
  let event = "message";
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^(\w*):? ?(.*)$/.exec(line) ?? [];
    if (field === "event")
      event = value;
    else if (field === "data")
      data.push(value);
  }
  return { event, data: data.join("\n") };
}

/* The events of an answer, until it ends. */
async function* serverEvents(answer: Response): AsyncGenerator<ServerEvent> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks)
      yield eventOf(block);
  }
}

export interface Listeners {
  onOpen: () => void;
  onLost?: () => void;
  onEvent: (event: ServerEvent) => void;
}

async function read(address: URL, signal: AbortSignal, { onOpen, onEvent }: Listeners): Promise<void> {
  const answer = await ask(address, { signal });
  if (!answer.ok)
    throw await failureOf(answer);
  onOpen();
  for await (const event of serverEvents(answer))
    onEvent(event);
}

/* What was refused would be refused again, except for too many requests. */
const isRefusal = (error: unknown) => error instanceof CallError && error.status >= 400 && error.status < 500 && error.status !== 429;

/** Reads a stream until the signal; one that is lost is asked for again. */
export async function follow(address: URL, signal: AbortSignal, listeners: Listeners): Promise<void> {
  while (!signal.aborted) {
    try {
      await read(address, signal, listeners);
    } catch (error) {
      if (isRefusal(error))
        return;
    }
    if (signal.aborted)
      return;
    listeners.onLost?.();
    await new Promise(done => setTimeout(done, PAUSE));
  }
}
