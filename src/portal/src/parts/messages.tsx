// messages.tsx - short messages at the edge of the page: what was done, and what went wrong
import { signal } from "@preact/signals";
import { CallError } from "../call";
import { t } from "../texts";

interface Message { id: number; text: string; isError: boolean }

const SHOWN = 6000; // milliseconds; errors stay until they are closed
const messages = signal<Message[]>([]);
let last = 0;

function close(id: number): void {
  messages.value = messages.value.filter(one => one.id !== id);
}

export function tell(text: string, isError = false): void {
  const id = ++last;
  messages.value = [...messages.value, { id, text, isError }];
  if (!isError)
    setTimeout(() => close(id), SHOWN);
}

/** Text of an error that a person can act on. */
export function textOf(error: unknown): string {
  return error instanceof CallError || error instanceof Error ? error.message : String(error);
}

/** Runs what a button does; an error becomes a message. */
export async function attempt(action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    tell(textOf(error), true);
  }
}

export function Messages() {
  return <div class="messages" aria-live="polite">
    {messages.value.map(({ id, text, isError }) =>
      <div key={id} class={isError ? "message error" : "message"} role={isError ? "alert" : undefined}>
        <span>{text}</span>
        <button type="button" aria-label={t("close")} onClick={() => close(id)}>×</button>
      </div>)}
  </div>;
}
