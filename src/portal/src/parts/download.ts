// download.ts - files that the page hands to the browser, and tables for spreadsheets

/* A cell that begins like a formula is a text, also for a spreadsheet. */
function cell(value: string | number | null | undefined): string {
  const text = String(value ?? "");
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(rows: (string | number | null | undefined)[][]): string {
  return rows.map(row => `${row.map(cell).join(",")}\r\n`).join("");
}

/** Hands a file to the browser, as a download. */
export function download(text: string, name: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
