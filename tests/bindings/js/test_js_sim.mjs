// Simulations of every policy: reports, logs and events are those of the native
// program, to the byte.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { native, temporary, thrown, whole } from "./shared.mjs";
import { CLUSTER, HOUR, WORLDS, inputs, simulated, tried } from "./worlds.mjs";

const openpai = await whole();
const { Cluster, Replay, Simulation, SimReport, Trace, compare, simulate } = openpai;
const given = inputs(openpai);
const cluster = Cluster.parse(given.description), trace = Trace.parse(given.trace);

test("clusters and traces are the same", () => {
  assert.ok(given.description.startsWith(
    native(["cluster", "show", "--yaml", "--from", CLUSTER])));
  assert.equal(given.trace, native(["sim", "generate", "--jobs", "400", "--gpus", "64",
    "--load", "1.5", "--like", "helios", "--vcs", "2"]));
});

for (const [world, [words]] of Object.entries(WORLDS))
  for (const [policy, own] of tried(openpai))
    test(`${world}: ${policy}${own ? JSON.stringify(own) : ""}`, () => {
      const named = policy + (own ? ":" + JSON.stringify(own) : "");
      const report = native(["sim", "run", "--cluster", temporary("c.yaml", given.description),
        "--trace", temporary("t.jsonl", given.trace), "--json", "--seed", "7", ...words,
        "--policy", named, "--log", temporary("log"), "--events", temporary("events")]);
      const seen = simulated(openpai, given, world, policy, own);
      assert.equal(seen.log, readFileSync(temporary("log"), "utf8"));
      assert.equal(seen.events, readFileSync(temporary("events"), "utf8"));
      assert.deepEqual(JSON.parse(seen.report), JSON.parse(report));
      assert.equal(seen.report, report);
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

test("a log is asked at any time, as the program is", () => {
  const lines = [];
  simulate(cluster, trace, { policy: "fifo", log: (text) => lines.push(text) });
  const path = temporary("replay.log", lines.join(""));
  const replay = Replay.parse(lines.join(""));
  const [begin, end] = replay.range;
  assert.ok(begin === 0 && end > HOUR);
  assert.equal(thrown(() => replay.scheduler.now).code, "PAI_EINVAL"); // before the first line
  const late = replay.at("end").save();
  assert.equal(replay.at(begin).sums.requests, 0);
  for (const time of ["+10h", "+3h", "+40h"]) {
    const queue = JSON.parse(native(["at", time, "queue", "--json", "--log", path]));
    assert.deepEqual(replay.at(time).requests.map(({ id }) => id),
                     (queue.requests ?? queue).map(({ id }) => id));
  }
  const kept = replay.at("+10h").fork(), text = kept.save();
  assert.equal(replay.at(end).save(), late);
  assert.equal(kept.save(), text);
  assert.equal(replay.showTime(12500000), "@12.500000");
  replay.at(begin);
  let started = 0;
  while (replay.step())
    started += replay.decisions.filter(({ kind }) => kind === "start").length;
  assert.ok(started > 0 && replay.line > started && replay.skipped === 0);
  assert.equal(thrown(() => replay.at("+99w")).code, "PAI_ENOTFOUND");
  assert.equal(thrown(() => Replay.parse("{}\n").range).code, "PAI_EINVAL");
  assert.throws(() => Replay.parse("", { polcy: "fifo" }), /no option polcy/);
  assert.equal(Replay.parse(lines.join(""), { policy: "backfill" }).at("end").sums.policy, "backfill");
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
