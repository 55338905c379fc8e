// shared.mjs - what the tests of the JavaScript binding have in common
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** A module of the built package; with another query it is loaded once more. */
export function packaged(file, query = "") {
  return import(pathToFileURL(join(process.env.OPENPAI_JS, file)).href + query);
}

/** The whole package, loaded. */
export async function whole() {
  const openpai = await packaged("index.js");
  await openpai.init();
  return openpai;
}

/** A file of the inputs with known answers; ends the test where there are none. */
export function input(name) {
  const path = join(process.env.OPENPAI_SHARED ?? "../shared", "data", name);
  if (!existsSync(path)) {
    console.log(`skipped: no ${path} (set OPENPAI_SHARED)`);
    process.exit(77);
  }
  return path;
}

export function rows(name) {
  return readFileSync(input(name), "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Runs the native program; its output, whatever its exit code. */
export function native(words, { stdin = "", codes = [0] } = {}) {
  const done = spawnSync(process.env.OPENPAI_PROGRAM, words, {
    input: stdin, encoding: "utf8", maxBuffer: 1 << 30 });
  assert.ok(codes.includes(done.status), `${words.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

const folder = mkdtempSync(join(tmpdir(), "openpai-js-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

/** The path of a file of this test, which has the text, if there is one. */
export function temporary(name, text) {
  const path = join(folder, name);
  if (text !== undefined)
    writeFileSync(path, text);
  return path;
}

/** What a call throws. */
export function thrown(work) {
  try {
    work();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}
