// download.ts - files for the user to keep, and tables for spreadsheets
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

/* A cell that begins like a formula is a text, also for a spreadsheet. */
function cell(value: string | number | null | undefined): string {
  const text = String(value ?? "");
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(rows: (string | number | null | undefined)[][]): string {
  return rows.map(row => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Has the browser store a text. */
export function saveText(text: string, name: string, type: string): void {
  const kept = URL.createObjectURL(new Blob([text], { type }));
  saveAddress(kept, name);
  URL.revokeObjectURL(kept);
}
