// core.ts - the library as WebAssembly, compiled once for the page and its workers

let compiling: Promise<WebAssembly.Module> | undefined;

/** Address of a file whose name has a hash: the page names them. */
export function asset(name: "core" | "language" | "wait"): string {
  return document.querySelector<HTMLMetaElement>(`meta[name=openpai-${name}]`)!.content;
}

/** The module of all calls that the portal makes. */
export function core(): Promise<WebAssembly.Module> {
  compiling ??= WebAssembly.compileStreaming(fetch(asset("core"))).catch((error: unknown) => {
    compiling = undefined; // the server may be back the next time
    throw error;
  });
  return compiling;
}
