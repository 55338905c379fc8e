// fetched.ts - answers that the page hands on as they are, because a worker reads them
import { addressOf, CallError, onSignedOut } from "../call";
import type { ways } from "../ways";

async function fetched(name: keyof typeof ways, values: Record<string, unknown>, signal: AbortSignal): Promise<Response> {
  const response = await fetch(addressOf(name, values), { credentials: "same-origin", signal });
  if (response.status === 401)
    onSignedOut.call();
  if (!response.ok) {
    const text = await response.text();
    const { message } = ((): { message?: string } => {
      try {
        return JSON.parse(text) as { message?: string };
      } catch {
        return {};
      }
    })();
    throw new CallError(response.status, "", message ?? text);
  }
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
