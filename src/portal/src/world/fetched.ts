// fetched.ts - answers that the page hands on as they are, because a worker reads them
import { addressOf, ask, failureOf } from "../call";
import type { ways } from "../ways";

async function fetched(name: keyof typeof ways, values: Record<string, unknown>, signal: AbortSignal): Promise<Response> {
  const response = await ask(addressOf(name, values), { signal });
  if (!response.ok)
    throw await failureOf(response);
  return response;
}

export async function fetchText(name: keyof typeof ways, values: Record<string, unknown>, signal: AbortSignal): Promise<string> {
  return (await fetched(name, values, signal)).text();
}

/** The bytes; tells how many have come. */
export async function fetchBytes(name: keyof typeof ways, values: Record<string, unknown>, signal: AbortSignal, tell: (bytes: number) => void): Promise<Uint8Array> {
  const response = await fetched(name, values, signal);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const reader = response.body!.getReader();;) {
    const { done, value } = await reader.read();
    if (done)
      break;
    parts.push(value);
    length += value.length;
    tell(length);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
