// The package in a browser: the same answers as in Node, which other tests hold to
// those of the native program.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import test from "node:test";

import { answers, languageAnswers } from "./answers.mjs";
import { packaged, rows, temporary, whole } from "./shared.mjs";

const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];
const browser = BROWSERS.find((name) => spawnSync(name, ["--version"]).status === 0);
if (browser === undefined) {
  console.log(`skipped: no browser (${BROWSERS.join(", ")})`);
  process.exit(77);
}

const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html",
                ".wasm": "application/wasm", ".json": "application/json" };
const PAGE = `<!doctype html><script type="module">
  const send = (answer) => fetch("/answer", { method: "POST", body: JSON.stringify(answer) });
  try {
    const openpai = await import("/package/index.js");
    const check = await import("/package/check.js");
    await Promise.all([openpai.init(), check.init()]);
    const { answers, languageAnswers } = await import("/answers.mjs");
    const worker = new Worker("/package/language_worker.js", { type: "module" });
    worker.onerror = ({ message }) => send({ error: "the worker: " + message });
    await send({ ...answers(openpai, check, await (await fetch("/texts.json")).json()),
                 language: await languageAnswers(worker) });
  } catch (error) {
    await send({ error: String(error.stack) });
  }
</script>`;
const texts = ["v1", "v2"].flatMap((name) => rows(`specs/${name}-cases.jsonl`))
  .map(({ text }) => text);

function content(path) {
  if (path === "/")
    return PAGE;
  if (path === "/texts.json")
    return JSON.stringify(texts);
  if (path === "/answers.mjs")
    return readFileSync(new URL("./answers.mjs", import.meta.url));
  return readFileSync(join(process.env.OPENPAI_JS, normalize(path).replace("/package/", "")));
}

async function body(request) {
  const parts = [];
  for await (const part of request)
    parts.push(part);
  return Buffer.concat(parts).toString();
}

/** What the page of a browser sends. */
function asked() {
  let started;
  return new Promise((done, failed) => {
    const server = createServer(async (request, response) => {
      if (request.url === "/answer") {
        done(JSON.parse(await body(request))); // all of it, before its browser ends
        response.end();
        server.close();
        return started.kill();
      }
      try {
        const told = content(request.url);
        response.setHeader("Content-Type", TYPES[extname(request.url)] ?? "text/html");
        return response.end(told);
      } catch {
        response.statusCode = 404;
        return response.end();
      }
    });
    server.listen(0, "127.0.0.1", () => {
      started = spawn(browser, [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        `--user-data-dir=${temporary("profile")}`, "--no-first-run",
        `http://127.0.0.1:${server.address().port}/`], { stdio: "ignore" });
      started.on("error", failed);
      started.on("exit", (code) => failed(new Error(`${browser} ended with ${code}`)));
    });
  });
}

test("a browser gives the same answers", async () => {
  const openpai = await whole();
  const seen = await asked();
  assert.equal(seen.error, undefined);
  const { language, ...rest } = seen;
  assert.deepEqual(rest, JSON.parse(JSON.stringify(answers(openpai, openpai, texts))));
  const { serve } = await packaged("language.js");
  const { port1, port2 } = new MessageChannel();
  void serve(port2).then(() => port1.close());
  assert.deepEqual(language, await languageAnswers(port1));
  assert.equal(language[1].params.diagnostics.length, 4);
});
