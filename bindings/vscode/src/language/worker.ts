// worker.ts - the web worker that is the language server; the first message is its module

import { serve } from "openpai/language";

self.onmessage = ({ data }: MessageEvent<Uint8Array>) =>
  void serve(self, { source: data }).then(() => self.close(), reportError);
