// Job files with the verdicts of OpenPAI's own server, in WebAssembly: each report
// is that of the native program, to the byte, and commands are rendered alike.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { gzipSync } from "node:zlib";

import { native, packaged, rows, temporary, thrown } from "./shared.mjs";

const { Job, OpenpaiError, init } = await packaged("check.js");
const cases = ["v1", "v2"].flatMap((name) => rows(`specs/${name}-cases.jsonl`));

test("nothing works before init()", () => {
  assert.match(thrown(() => Job.check("")).message, /await init\(\) first/);
});

test("the module is loaded once", async () => {
  const first = init();
  assert.equal(init(), first);
  await first;
});

test("reports are those of the native program", () => {
  const paths = cases.map((row, i) => temporary(`${i}`, row.text));
  const reports = JSON.parse(native(["spec", "check", "--json", ...paths], { codes: [0, 1] }));
  assert.equal(reports.length, cases.length);
  cases.forEach((row, i) => {
    const { file, ...told } = reports[i];
    assert.equal(file, paths[i]);
    assert.deepEqual(shown(Job.check(row.text)), told, row.id);
  });
});

test("commands are rendered as OpenPAI does", () => {
  let rendered = 0;
  for (const row of cases)
    if (row.entrypoints !== undefined && Job.check(row.text).valid) {
      const job = Job.parse(row.text);
      assert.deepEqual(job.render(), row.entrypoints, row.id);
      job.free();
      rendered++;
    }
  assert.ok(rendered > 300, String(rendered));
});

test("job config v1 becomes v2", () => {
  const row = cases.find(({ id, verdict }) => id.endsWith(".json") && verdict === "valid");
  assert.equal(Job.check(row.text).version, 1);
  assert.equal(Job.convert(row.text), native(
    ["spec", "convert", "--show-secrets", temporary("v1.json", row.text)]));
  assert.equal(Job.check(Job.convert(row.text)).version, 2);
});

test("an error has its place", () => {
  const error = thrown(() => Job.parse(
    "protocolVersion: 2\nname: a b\ntype: job\ntaskRoles: {}\n"));
  assert.ok(error instanceof OpenpaiError);
  assert.deepEqual([error.code, error.line, error.column, error.pointer],
                   ["PAI_EINVAL", 2, 7, "/name"]);
  assert.match(error.message, /^line 2, column 7: name cannot be 'a b'/);
  assert.equal(error.help, "use letters, digits, _ and -");
  assert.equal(error.report.valid, false);
  assert.equal(error.report.diagnostics[0].pointer, "/name");
});

test("the modules are small", () => {
  for (const [name, most, compressed] of [["check", 400e3, 160e3], ["openpai", 1.5e6, 450e3]]) {
    const bytes = readFileSync(join(process.env.OPENPAI_JS, `${name}.wasm`));
    assert.ok(bytes.length <= most, `${name}: ${bytes.length}`);
    const { length } = gzipSync(bytes, { level: 9 });
    assert.ok(length <= compressed, `${name}: ${length} compressed`);
  }
});

test("what is no text is refused", () => {
  assert.throws(() => Job.check(7), TypeError);
  assert.throws(() => Job.check("", { versions: 2 }), /no option versions/);
  assert.throws(() => Job.check("", { version: 3 }), { code: "PAI_EINVAL" });
  assert.throws(() => Job.check("", { version: 1.5 }), TypeError);
});

/** A report as the program writes it: without the lines of the file. */
function shown({ diagnostics, ...report }) {
  return { version: null, ...report, diagnostics: diagnostics.map((found) => {
    const { source, source_column, source_end_column, fixes, ...rest } = found;
    return { help: null, ...ends(rest), fixes: fixes.map(
      ({ edits, ...fix }) => ({ ...fix, edits: edits.map(ends) })) };
  }) };
}

function ends({ end_line: endLine, end_column: endColumn, ...rest }) {
  return { ...rest, endLine, endColumn };
}
