// download.ts - files for the user to keep
import { ask, failureOf } from "../call";

/** Has the browser store what is at an address that needs no session. */
export function saveAddress(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

/** Has the browser store what a request of the session answers. */
export async function save(address: URL, name: string): Promise<void> {
  const response = await ask(address);
  if (!response.ok)
    throw await failureOf(response);
  const kept = URL.createObjectURL(await response.blob());
  saveAddress(kept, name);
  setTimeout(() => URL.revokeObjectURL(kept), 60_000); // when the browser has begun to read it
}
