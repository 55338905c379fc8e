// language_worker.js - a web worker that is a language server: each message of the
// Language Server Protocol is an object for postMessage()
import { serve } from "./language.js";

serve(globalThis).then(() => globalThis.close(), reportError);
