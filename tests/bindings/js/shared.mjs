// shared.mjs - what the tests of the JavaScript binding have in common
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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

/** What was recorded of HiveD, for hived.mjs. `files` has the paths as keys. */
export function recorded() {
  const transcript = input("hived/http-transcript.json"), files = {};
  const take = (folder, names) => names.sort().forEach((name) => {
    files[join(folder, name)] = readFileSync(join(folder, name), "utf8");
  });
  const folder = dirname(transcript);
  take(folder, ["cases.jsonl"]);
  for (const part of ["config", "traces"])
    take(join(folder, part), readdirSync(join(folder, part)));
  return { config: files[join(folder, "config/feature-2.yaml")], files,
           records: JSON.parse(readFileSync(transcript, "utf8")) };
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
