// The language server in WebAssembly: what tests/unit/language plays natively is
// played again, and each message must be the same to the byte. Then what is
// JavaScript's own: the class, and serve() at the end of a port.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { join } from "node:path";

import { packaged, temporary, thrown } from "./shared.mjs";

const { LanguageServer, OpenpaiError, init, serve } = await packaged("language.js");

test("nothing works before init()", async () => {
  assert.match(thrown(() => new LanguageServer(() => {})).message, /await init\(\) first/);
  await init();
});

// --- what was recorded ---------------------------------------------------------------

/** The steps of all sessions of a file of the unit tests. */
function recorded(name) {
  const file = temporary(`${name}.jsonl`, "");
  const env = { ...process.env, OPENPAI_LANGUAGE_RECORD: file };
  delete env.OPENPAI_SOAK; // a long run would be gigabytes
  const done = spawnSync(process.env.OPENPAI_LANGUAGE_TESTS, [name], { env, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Does the steps again. Returns how many messages were the same, by method. */
function replay(steps, same) {
  const sessions = new Map(), methods = new Map();
  for (const { session, step, text } of steps) {
    const one = sessions.get(session);
    if (step === "begin") {
      const heard = [];
      const server = new LanguageServer((message) => heard.push(message), { docs: text });
      sessions.set(session, { server, heard });
    } else if (step === "receive") {
      one.server.receive(text);
      const { id, method } = peek(text);
      methods.set(`${session} ${JSON.stringify(id)}`, method);
    } else if (step === "work") {
      one.server.work();
    } else {
      assert.equal(one.heard.shift(), text);
      const { id, method = methods.get(`${session} ${JSON.stringify(id)}`) } = JSON.parse(text);
      same[method] = (same[method] ?? 0) + 1;
    }
  }
  for (const { server, heard } of sessions.values()) {
    assert.deepEqual(heard, []);
    server.free();
  }
  return sessions.size;
}

/** Clients of the tests send texts that are no JSON, too. */
function peek(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

test("recorded sessions give the same messages", () => {
  const same = {};
  let sessions = 0;
  for (const name of ["answers", "documents", "features", "protocol"])
    sessions += replay(recorded(name), same);
  for (const method of [
    "initialize", "textDocument/publishDiagnostics", "textDocument/completion",
    "textDocument/hover", "textDocument/rename", "textDocument/formatting",
    "textDocument/codeAction", "textDocument/documentSymbol",
    "textDocument/semanticTokens/full", "workspace/diagnostic", "$/progress",
    "window/logMessage"])
    assert.ok(same[method] > 0, `${method} was not asked for`);
  assert.ok(sessions >= 50, String(sessions));
});

// --- the class -----------------------------------------------------------------------

const INITIALIZE = { id: 1, method: "initialize", params: { capabilities: {} } };
const open = (text) => ({ method: "textDocument/didOpen", params: { textDocument: {
  uri: "file:///a", languageId: "yaml", version: 1, text } } });
const WRONG = open("protocolVersion: 2\nname: \u00e4\ud83d\ude00\ntpye: job\n");

/** A server, and a way to say something to it and hear what it sends. */
function talk(options) {
  const heard = [];
  const server = new LanguageServer((text) => heard.push(JSON.parse(text)), options);
  return { server, say(...messages) {
    for (const message of messages) {
      server.receive(message);
      while (server.work());
    }
    return heard.splice(0);
  } };
}

test("a server takes objects and texts, and ends", () => {
  const { server, say } = talk({ docs: "https://example.org/codes" });
  assert.equal(say(INITIALIZE)[0].result.serverInfo.name, "openpai");
  const [{ params }] = say(JSON.stringify(WRONG));
  const unknown = params.diagnostics.find(({ code }) => code === "unknown-key");
  assert.deepEqual(unknown.range.start, { line: 2, character: 0 });
  assert.equal(unknown.codeDescription.href, "https://example.org/codes#unknown-key");
  assert.equal(server.exitCode, null);
  assert.deepEqual(say({ id: 2, method: "shutdown" }), [{ jsonrpc: "2.0", id: 2, result: null }]);
  assert.deepEqual(say({ method: "exit" }), []);
  assert.equal(server.exitCode, 0);
  assert.deepEqual(say(WRONG), []);
  server.free();
  assert.throws(() => server.work(), /freed/);
});

test("what no server can be made of, or take, is refused", () => {
  assert.throws(() => new LanguageServer(), /send must be a function/);
  assert.throws(() => new LanguageServer(() => {}, { hive: true }), /no option hive/);
  const { server, say } = talk();
  assert.throws(() => server.receive(undefined), TypeError);
  assert.equal(say("{")[0].error.code, -32700);
});

test("HiveD's fields are checked where there is HiveD", () => {
  const text = "protocolVersion: 2\nname: a\nextras:\n  hivedScheduler: 3\n";
  const found = (hived) =>
    talk({ hived }).say(INITIALIZE, open(text)).at(-1).params.diagnostics.length;
  assert.equal(found(true), found(false) + 1);
});

test("what `send` throws comes out, and the messages behind it wait", () => {
  const heard = [];
  let failing = true;
  const server = new LanguageServer((text) => {
    if (failing)
      throw new Error("the port is closed");
    heard.push(JSON.parse(text).id);
  });
  server.receive(INITIALIZE);
  server.receive({ id: 2, method: "shutdown" });
  assert.throws(() => server.work(), /the port is closed/);
  failing = false;
  while (server.work());
  assert.deepEqual(heard, [2]);
  server.free();
});

test("the module is small", () => {
  const bytes = readFileSync(join(process.env.OPENPAI_JS, "language.wasm"));
  assert.ok(bytes.length <= 600e3, String(bytes.length));
  const { length } = gzipSync(bytes, { level: 9 });
  assert.ok(length <= 225e3, `${length} compressed`);
});

// --- at the end of a port ------------------------------------------------------------

/** A served port: a way to say something, and to wait for so many messages. */
function served(options, serveIt = serve) {
  const { port1, port2 } = new MessageChannel();
  const heard = [];
  let wake = () => {};
  port1.onmessage = ({ data }) => {
    heard.push(data);
    wake();
  };
  return {
    ended: serveIt(port2, options).finally(() => port1.close()),
    say: (...messages) => messages.forEach((message) => port1.postMessage(message)),
    async hear(count) {
      while (heard.length < count)
        await new Promise((done) => { wake = done; });
      return heard.splice(0);
    },
  };
}

test("a port is served, from before the module is there until the exit", async () => {
  const { serve: serveFresh } = await packaged("language.js", "?not-loaded-yet");
  let loaded;
  const source = new Promise((done) => { loaded = done; });
  const { ended, say, hear } = served({ source }, serveFresh);
  say(INITIALIZE, WRONG);
  await new Promise((done) => setImmediate(done)); // they have arrived
  loaded(readFileSync(join(process.env.OPENPAI_JS, "language.wasm")));
  const [first, second] = await hear(2);
  assert.equal(first.result.serverInfo.name, "openpai");
  assert.deepEqual(second, talk().say(INITIALIZE, WRONG)[1]);
  say({ id: 2, method: "shutdown" });
  assert.deepEqual(await hear(1), [{ jsonrpc: "2.0", id: 2, result: null }]);
  say({ method: "exit" });
  assert.equal(await ended, 0);
});

test("a request that waits is cancelled", async () => {
  const { ended, say, hear } = served();
  say(INITIALIZE, WRONG);
  await hear(2);
  say({ id: 2, method: "workspace/diagnostic", params: {} },
      { id: 3, method: "textDocument/hover", params: {
        textDocument: { uri: "file:///a" }, position: { line: 1, character: 1 } } },
      { method: "$/cancelRequest", params: { id: 2 } });
  const [second, third] = await hear(2);
  assert.equal(second.error.code, -32800);
  assert.equal(third.id, 3);
  say({ method: "exit" });
  assert.equal(await ended, 1);
});

test("what is no message breaks nothing; wrong options end it", async () => {
  const { ended, say, hear } = served();
  say("{", null, INITIALIZE);
  const heard = await hear(3);
  assert.deepEqual(heard.map(({ id, error }) => [id, error?.code]),
                   [[null, -32700], [null, -32600], [1, undefined]]);
  say({ method: "exit" });
  assert.equal(await ended, 1);
  await assert.rejects(served({ hive: true }).ended, /no option hive/);
});
