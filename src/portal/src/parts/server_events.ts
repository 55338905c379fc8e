// server_events.ts - reads an event stream; an EventSource cannot send the key of the session

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

/** The events of an answer, until it ends. */
export async function* serverEvents(answer: Response): AsyncGenerator<ServerEvent> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = (rest + part.value).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks)
      yield eventOf(block);
  }
}
