// The package in browsers: the same answers as in Node, which other tests hold to those
// of the native program and of HiveD.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import test from "node:test";

import { answers, languageAnswers } from "./answers.mjs";
import { packaged, recorded, rows, temporary, whole } from "./shared.mjs";

/** Names of the program, and the words with which it opens a page; the profile is an empty
 * folder, in which `settings` becomes user.js. */
const BROWSERS = {
  Chromium: {
    programs: ["chromium", "chromium-browser", "google-chrome"],
    words: (profile, page) => ["--headless", "--no-sandbox", "--disable-gpu",
      "--disable-dev-shm-usage", `--user-data-dir=${profile}`, "--no-first-run", page],
  },
  Firefox: {
    programs: ["firefox-esr", "firefox"],
    words: (profile, page) => ["--headless", "--no-remote", "--profile", profile, page],
    settings: { "browser.shell.checkDefaultBrowser": false, "browser.aboutwelcome.enabled": false,
                "datareporting.policy.dataSubmissionEnabled": false,
                "app.normandy.enabled": false, "dom.max_script_run_time": 0 },
  },
};

const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html",
                ".wasm": "application/wasm", ".json": "application/json" };
const PAGE = `<!doctype html><script type="module">
  const send = (answer) => fetch("/answer", { method: "POST", body: JSON.stringify(answer) });
  try {
    const openpai = await import("/package/index.js");
    const check = await import("/package/check.js");
    await Promise.all([openpai.init(), check.init()]);
    const { answers, languageAnswers } = await import("/tests/answers.mjs");
    const given = await (await fetch("/given.json")).json();
    const rooms = await WebAssembly.compileStreaming(fetch("/rooms.wasm"));
    const worker = new Worker("/package/language_worker.js", { type: "module" });
    worker.onerror = ({ message }) => send({ error: "the worker: " + message });
    await send({ ...await answers(openpai, check, given, rooms),
                 language: await languageAnswers(worker) });
  } catch (error) {
    await send({ error: String(error) + "\\n" + error.stack });
  }
</script>`;
const given = {
  texts: ["v1", "v2"].flatMap((name) => rows(`specs/${name}-cases.jsonl`))
    .map(({ text }) => text),
  hived: recorded(),
};

function content(path) {
  switch (path) {
    case "/": return PAGE;
    case "/given.json": return JSON.stringify(given);
    case "/rooms.wasm": return readFileSync(process.env.OPENPAI_ROOMS);
    default:
  }
  const [, where, file] = normalize(path).split("/");
  return readFileSync(where === "tests" ? new URL(file, import.meta.url)
                                        : join(process.env.OPENPAI_JS, file));
}

async function body(request) {
  const parts = [];
  for await (const part of request)
    parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Serves the page; `done` gets what it sends. */
async function served(done) {
  const server = createServer(async (request, response) => {
    if (request.url === "/answer") {
      done(JSON.parse(await body(request)));
      return response.end();
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
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** What the page sends in a browser. */
async function asked(program, { words, settings = {} }) {
  let server, started;
  const profile = temporary(program);
  mkdirSync(profile);
  temporary(`${program}/user.js`, Object.entries(settings)
    .map(([name, value]) => `user_pref("${name}", ${value});\n`).join(""));
  try {
    return await new Promise((done, failed) => {
      served(done).then((ready) => {
        server = ready;
        started = spawn(program, words(profile, `http://127.0.0.1:${server.address().port}/`), {
          stdio: "ignore", env: { ...process.env, HOME: profile } });
        started.on("error", failed);
        started.on("exit", (code, signal) =>
          failed(new Error(`${program} ended with ${code ?? signal}`)));
      }, failed);
    });
  } finally {
    if (started?.pid !== undefined && started.exitCode === null && started.signalCode === null) {
      started.kill("SIGKILL");
      await once(started, "exit");
    }
    server?.closeAllConnections();
    server?.close();
  }
}

const found = Object.entries(BROWSERS).map(([name, browser]) => {
  const program = browser.programs.find((one) => spawnSync(one, ["--version"]).status === 0);
  if (program === undefined)
    console.log(`skipped: no ${name} (${browser.programs.join(", ")}): ` +
                "./dev soak bindings/test_js_browser.mjs installs it");
  return [name, program, browser];
});
if (found.every(([, program]) => program === undefined))
  process.exit(77);

const openpai = await whole();
const rooms = await WebAssembly.compile(readFileSync(process.env.OPENPAI_ROOMS));
const { serve } = await packaged("language.js");
const { port1, port2 } = new MessageChannel();
void serve(port2).then(() => port1.close());
const expected = JSON.parse(JSON.stringify({
  ...await answers(openpai, openpai, given, rooms), language: await languageAnswers(port1) }));
assert.equal(expected.language[1].params.diagnostics.length, 4);

for (const [name, program, browser] of found)
  test(`${name} gives the same answers`, { skip: program === undefined }, async () => {
    const seen = await asked(program, browser);
    assert.equal(seen.error, undefined);
    for (const part of Object.keys(expected))
      assert.deepEqual(seen[part], expected[part], part);
    assert.deepEqual(Object.keys(seen), Object.keys(expected));
  });
