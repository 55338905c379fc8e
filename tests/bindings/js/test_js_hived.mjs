// HiveD in WebAssembly: what was recorded of its web server is answered again, and
// recorded decisions are those of the native program.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";

import { decisions, transcript } from "./hived.mjs";
import { recorded, thrown, whole } from "./shared.mjs";

const { HiveD } = await whole();
const { config, records, files } = recorded();

/** HiveD lists groups in no order, and tells times of its own clock. */
function sorted(given) {
  const answer = JSON.parse(JSON.stringify(
    given, (key, value) => (key === "preemptionTime" ? "" : value)) ?? "null");
  const name = ({ metadata }) => metadata.name;
  answer?.items?.sort((a, b) => (name(a) < name(b) ? -1 : 1));
  return answer;
}

test("the transcript of HiveD's web server", () => {
  transcript(HiveD, config, records).forEach((answer, i) => {
    const record = records[i];
    if (answer === null)
      return;
    assert.equal(answer.status, record.status, record.note);
    assert.deepEqual(sorted(JSON.parse(answer.body)), sorted(record.response), record.note);
    if (record.apiServerWrites !== undefined)
      assert.deepEqual(JSON.parse(answer.binding), record.apiServerWrites[0].body);
  });
  assert.equal(records.length, 61);
});

test("a configuration that is wrong has its place", () => {
  const error = thrown(() => HiveD.parse("physicalCluster: 7\n"));
  assert.deepEqual([error.code, error.line], ["PAI_EINVAL", 1]);
});

test("HiveD's cases and traces", { skip: !process.env.OPENPAI_BENCH && "no openpai-bench" },
     async () => {
  const names = Object.keys(files).filter((path) => path.endsWith(".jsonl"));
  const told = spawnSync(process.env.OPENPAI_BENCH, ["hived-replay", ...names],
                         { encoding: "utf8", maxBuffer: 1 << 30 });
  const rooms = await WebAssembly.compile(readFileSync(process.env.OPENPAI_ROOMS));
  const { code, stdout } = await decisions(rooms, files);
  assert.equal(stdout, told.stdout);
  assert.equal(code, told.status);
  assert.ok(stdout.split("\n").length > 10000);
});
