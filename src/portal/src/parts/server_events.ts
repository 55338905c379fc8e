// server_events.ts - reads an event stream; an EventSource cannot send the key of the session
import { ask, failureOf } from "../call";

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

export interface EventReader {
  /** The stream is open; again, after the connection was lost. */
  onOpen: (isAgain: boolean) => void;
  onEvent: (event: ServerEvent) => void;
  onLost?: () => void;
}

/** Reads the events of an address until it is aborted, or there is no such stream. */
export async function readEvents(address: URL, signal: AbortSignal, reader: EventReader): Promise<void> {
  let isAgain = false, isThere = true;
  const read = async () => {
    const answer = await ask(address, { signal });
    isThere = answer.status !== 404;
    if (!answer.ok)
      throw await failureOf(answer);
    reader.onOpen(isAgain);
    isAgain = true;
    for await (const event of serverEvents(answer))
      reader.onEvent(event);
  };
  while (isThere) {
    await read().catch(() => {}); // the connection was lost, or the server does not answer
    if (signal.aborted)
      return;
    reader.onLost?.();
    await new Promise(done => setTimeout(done, PAUSE));
  }
}
