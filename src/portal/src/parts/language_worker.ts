// language_worker.ts - beside the page: the library's language server
import { serve, type Port } from "openpai/language";

addEventListener("message", (event: MessageEvent<WebAssembly.Module>) => {
  void serve(globalThis as unknown as Port, { source: event.data });
}, { once: true });
