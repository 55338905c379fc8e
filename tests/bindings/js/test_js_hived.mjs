// HiveD in WebAssembly: what was recorded of its web server is answered again, and
// recorded decisions are those of the native program.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, readdirSync } from "node:fs";
import { WASI } from "node:wasi";
import { dirname, join } from "node:path";
import test from "node:test";

import { input, temporary, thrown, whole } from "./shared.mjs";

const { HiveD } = await whole();
const records = JSON.parse(readFileSync(input("hived/http-transcript.json"), "utf8"));
const NODES = ["10.151.41.18", "10.151.41.19", "10.151.41.23", "10.151.41.24", "10.151.41.26"];
const POD = { containers: [{ resources: { limits: {
  "hivedscheduler.microsoft.com/pod-scheduling-enable": "1" } } }] };

function node(name, ready) {
  return { type: "MODIFIED", object: { kind: "Node", metadata: { name }, spec: {},
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } } };
}

function bound({ metadata: { name, namespace, uid, annotations }, target }) {
  return { type: "MODIFIED", object: { kind: "Pod",
    metadata: { name, namespace, uid, annotations },
    spec: { nodeName: target.name, ...POD }, status: { phase: "Running" } } };
}

/** What the records say in words of pods and nodes. */
function happen(hived, event, rest, binding) {
  const [, deleted] = /^(?:victim|opportunistic pod) (\S+) deleted/.exec(event) ?? [];
  if (event.includes("created")) {
    const end = rest.findIndex((later) => later.event?.includes("created"));
    for (const { request } of rest.slice(0, end < 0 ? rest.length : end))
      if (request?.Pod)
        hived.tell({ type: "ADDED", object: request.Pod });
  } else if (event.includes(" bound ")) {
    hived.tell(bound(JSON.parse(binding.body)));
  } else if (deleted !== undefined) {
    const { request } = records.find((one) => one.request?.Pod?.metadata.name === deleted);
    hived.tell({ type: "DELETED", object: request.Pod });
  }
  for (const [, name, not] of event.matchAll(/node (\S+) (not )?ready/g))
    hived.tell(node(name, not === undefined));
}

/** HiveD lists groups in no order, and tells times of its own clock. */
function sorted(given) {
  const answer = JSON.parse(JSON.stringify(
    given, (key, value) => (key === "preemptionTime" ? "" : value)) ?? "null");
  const name = ({ metadata }) => metadata.name;
  answer?.items?.sort((a, b) => (name(a) < name(b) ? -1 : 1));
  return answer;
}

test("the transcript of HiveD's web server", () => {
  const hived = HiveD.parse(readFileSync(input("hived/config/feature-2.yaml"), "utf8"));
  NODES.forEach((name) => hived.tell(node(name, true)));
  let binding = null;
  records.forEach((record, i) => {
    if (record.event !== undefined)
      return happen(hived, record.event, records.slice(i + 1), binding);
    const body = record.rawRequest ?? record.request ?? "";
    let answer = hived.request(record.method, record.path, body);
    if (answer.status === 301)
      answer = hived.request(record.method, answer.location, body);
    assert.equal(answer.status, record.status, record.note);
    assert.deepEqual(sorted(JSON.parse(answer.body)), sorted(record.response), record.note);
    binding = answer.binding ?? binding;
    if (record.apiServerWrites !== undefined)
      assert.deepEqual(JSON.parse(binding.body), record.apiServerWrites[0].body);
    return undefined;
  });
  assert.equal(records.length, 61);
});

test("a configuration that is wrong has its place", () => {
  const error = thrown(() => HiveD.parse("physicalCluster: 7\n"));
  assert.deepEqual([error.code, error.line], ["PAI_EINVAL", 1]);
});

/** What openpai-bench's program hived-replay prints: native, and compiled to
 * WebAssembly. */
async function replayed(files, path) {
  const out = openSync(path, "w");
  const wasi = new WASI({ version: "preview1", args: ["rooms", "hived-replay", ...files],
                          preopens: { "/": "/" }, stdout: out, returnOnExit: true });
  const module = await WebAssembly.compile(readFileSync(process.env.OPENPAI_ROOMS));
  const code = wasi.start(await WebAssembly.instantiate(
    module, { wasi_snapshot_preview1: wasi.wasiImport }));
  closeSync(out);
  return [code, readFileSync(path, "utf8")];
}

test("HiveD's cases and traces", { skip: !process.env.OPENPAI_BENCH && "no openpai-bench" },
     async () => {
  const traces = dirname(input("hived/traces/design-seed01.jsonl"));
  const files = [input("hived/cases.jsonl"),
                 ...readdirSync(traces).sort().map((name) => join(traces, name))];
  const told = spawnSync(process.env.OPENPAI_BENCH, ["hived-replay", ...files],
                         { encoding: "utf8", maxBuffer: 1 << 30 });
  const [code, text] = await replayed(files, temporary("out"));
  assert.equal(text, told.stdout);
  assert.equal(code, told.status);
  assert.ok(text.split("\n").length > 10000);
});
