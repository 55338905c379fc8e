// Simulations of every policy: reports, logs and events are those of the native
// program, to the byte.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { native, temporary, thrown, whole } from "./shared.mjs";

const { Cluster, Simulation, SimReport, Trace, compare, policies, simulate } = await whole();
const CLUSTER = "nodes:8 gpu:8:v100 cpus:64 mem:512G";
const SHARES = `
virtualClusters:
  vc1: {part: 50%}
  vc2: {part: 25%, max: 50%}
  default: {part: rest}
`;
const TRACE = { jobs: 400, gpus: 64, load: 1.5, like: "helios", virtual_clusters: 2 };
const HOUR = 3600_000000;
/** The same worlds, in the program's words and in JavaScript's. */
const WORLDS = {
  plain: [["--estimates"], { estimates: true }],
  faults: [
    ["--mtbf", "30h", "--mttr", "2h", "--fail", "0.1", "--restart-cost", "60",
     "--checkpoint", "1h", "--spread", "0.2", "--patience", "3d"],
    { node_up: 30 * HOUR, node_down: 2 * HOUR, fail: 0.1, restart_cost: 60_000000,
      checkpoint: HOUR, spread: 0.2, patience: 72 * HOUR }],
};
const POLICIES = [...policies().map(({ name }) => [name]),
                  ["fifo", { greedy: true }], ["backfill", { mode: "easy" }]];

const description = native(["cluster", "show", "--yaml", "--from", CLUSTER]) + SHARES;
const cluster = Cluster.parse(description);
const trace = Trace.generate({ ...TRACE });

test("generated traces are the same", () => {
  assert.equal(trace.text(), native(["sim", "generate", "--jobs", "400", "--gpus", "64",
    "--load", "1.5", "--like", "helios", "--vcs", "2"]));
});

for (const [world, [words, options]] of Object.entries(WORLDS))
  for (const [policy, own] of POLICIES)
    test(`${world}: ${policy}${own ? JSON.stringify(own) : ""}`, () => {
      const named = policy + (own ? ":" + JSON.stringify(own) : "");
      const report = native(["sim", "run", "--cluster", temporary("c.yaml", description),
        "--trace", temporary("t.jsonl", trace.text()), "--json", "--seed", "7", ...words,
        "--policy", named, "--log", temporary("log"), "--events", temporary("events")]);
      const told = { log: "", events: "" };
      const seen = simulate(cluster, Trace.parse(trace.text()), {
        policy, options: own, seed: 7, ...options,
        log: (line) => { told.log += line; }, events: (line) => { told.events += line; } });
      assert.equal(told.log, readFileSync(temporary("log"), "utf8"));
      assert.equal(told.events, readFileSync(temporary("events"), "utf8"));
      assert.deepEqual(JSON.parse(seen.toJson()), JSON.parse(report));
      assert.equal(seen.toJson(), report);
    });

test("reports are read, compared and drawn", () => {
  const one = simulate(cluster, trace), other = simulate(cluster, trace, { policy: "backfill" });
  assert.equal(SimReport.parse(one.toJson()).toJson(), one.toJson());
  const both = compare([one, other]);
  assert.equal(JSON.parse(both.toJson()).runs.length, 2);
  assert.equal(both.toCsv().trimEnd().split("\n").length, 3);
  assert.match(both.toHtml(), /^<!doctype html>/i);
  assert.match(String(both), /fifo +backfill/);
  assert.throws(() => { one.jobs = 0; }, TypeError);
});

test("a simulation is halted, looked at, and goes on", () => {
  const simulation = new Simulation(cluster, trace, { policy: "fifo" });
  assert.equal(simulation.step(10 * HOUR), true);
  const { scheduler } = simulation;
  assert.ok(scheduler.running.length > 0);
  assert.equal(simulation.now, 10 * HOUR);
  assert.equal(thrown(() => scheduler.fork().send({ event: "none" })).code, "PAI_EINVAL");
  assert.equal(simulation.step(), false);
  assert.equal(simulation.report().toJson(), simulate(cluster, trace).toJson());
});

test("a simulation under a policy of one's own", () => {
  const ended = [];
  const report = simulate(cluster, trace, {
    policy: function greedy(host) {
      for (const id of host.waiting())
        while (host.start(id));
    },
    onJob: (job) => ended.push(job.state) });
  assert.equal(report.policy, "greedy");
  assert.equal(ended.length, report.jobs);
});

test("what a callback throws ends it, and traces have their notes", () => {
  const mine = new Error("mine");
  assert.equal(thrown(() => simulate(cluster, trace, { onJob() { throw mine; } })), mine);
  assert.throws(() => simulate(cluster, trace, { sede: 1 }), /no option sede/);
  const notes = [];
  const [job] = Trace.parse('{"time":0,"id":"a","gpus":1,"duration":5}\n{"time":1,"id":\n',
                            { onLine: (note) => notes.push(note) });
  assert.deepEqual([job.kind, job.id], ["job", "a"]);
  assert.ok(notes.length === 0 || notes[0].line === 2);
});
