// call.ts - calls of the REST API, by the names and arguments of the call table
import type { Calls } from "./api";
import { KEY_HEADER, sessionKey } from "./session_key";
import { ways } from "./ways";

/** An error that the server answered, or that kept it from answering. */
export class CallError extends Error {
  constructor(readonly status: number, readonly code: string, message: string) {
    super(message);
  }
}

/** Called when the session has ended: the page asks to sign in. */
export const onSignedOut: { call: () => void } = { call: () => {} };

type Values = Record<string, unknown>;

function put(url: URL, name: string, value: unknown): void {
  if (Array.isArray(value))
    value = value.join(",");
  if (value !== undefined && value !== null && value !== "")
    url.searchParams.set(name, String(value));
}

/** Address of a call. */
export function addressOf(name: keyof typeof ways, values: Values = {}): URL {
  const way = ways[name];
  const used = new Set<string>();
  const path = way.path.replace(/[:*](\w+)/g, (_all, part: string) => {
    used.add(part);
    return encodeURIComponent(String(values[part])).replaceAll("%7E", "~");
  });
  const url = new URL(path, location.origin);
  for (const query of way.query)
    if (!used.has(query))
      put(url, query, values[query]);
  return url;
}

interface Finding { text?: string; line?: number; column?: number; help?: string }

/* What is wrong with a job file is a list as JSON, for the clients of OpenPAI. */
function readable(message: string): string {
  try {
    const found = JSON.parse(message) as unknown;
    return !Array.isArray(found) ? message : (found as Finding[]).map(({ text = "", line, column, help }) =>
      `${line === undefined ? "" : `${line}:${column} `}${text}${help ? `; ${help}` : ""}`).join("\n");
  } catch {
    return message;
  }
}

export async function failureOf(response: Response): Promise<CallError> {
  const text = await response.text();
  try {
    const told = JSON.parse(text) as { code?: string; message?: string };
    return new CallError(response.status, told.code ?? "", readable(told.message ?? text));
  } catch {
    return new CallError(response.status, "", text || response.statusText);
  }
}

/** Sends a request of the session. Throws a CallError if there is no answer. */
export async function ask(address: URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const key = sessionKey();
  let response: Response;
  if (key !== null)
    headers.set(KEY_HEADER, key);
  try {
    response = await fetch(address, { ...init, headers, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError")
      throw error;
    throw new CallError(0, "Unreachable", "The server does not answer.");
  }
  if (response.status === 401 && key === sessionKey()) // else another tab has signed in meanwhile
    onSignedOut.call();
  return response;
}

/** Makes a call. Throws a CallError. */
export async function call<Name extends keyof Calls & keyof typeof ways>(
  name: Name, values: Calls[Name]["arguments"], options: { signal?: AbortSignal } = {},
): Promise<Calls[Name]["answer"]> {
  const way = ways[name];
  const of = values as Values;
  const url = addressOf(name, of);
  const init: RequestInit = { method: way.method, ...options };
  if (way.body === "json") {
    const inAddress = new Set([...way.query, ...Array.from(way.path.matchAll(/[:*](\w+)/g), found => found[1])]);
    init.body = JSON.stringify(Object.fromEntries(
      Object.entries(of).filter(([key, value]) => !inAddress.has(key) && value !== undefined)));
    init.headers = { "Content-Type": "application/json" };
  } else if (way.body !== "") {
    init.body = String(of.body ?? "");
    init.headers = { "Content-Type": way.body };
  }
  const response = await ask(url, init);
  if (!response.ok)
    throw await failureOf(response);
  const kind = response.headers.get("Content-Type") ?? "";
  const answer: unknown = kind.startsWith("application/json") ? await response.json() : await response.text();
  return answer as Calls[Name]["answer"];
}
