// load.js - finds and compiles a module, in browsers and in Node

/** Where there is no fetch() for files. */
async function read(url) {
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

async function compiled(response) {
  if (!response.ok)
    throw new Error(`cannot load ${response.url}: HTTP status ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** `source` is a WebAssembly.Module, bytes, a Response, a URL, or a promise of
 * one; without it, `file` beside this file. */
export async function load(source, file) {
  const given = (await source) ?? new URL(file, import.meta.url);
  if (given instanceof WebAssembly.Module)
    return given;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given))
    return WebAssembly.compile(given);
  if (typeof Response !== "undefined" && given instanceof Response)
    return compiled(given);
  const url = new URL(given, import.meta.url);
  if (url.protocol === "file:")
    return WebAssembly.compile(await read(url));
  return compiled(await fetch(url));
}
