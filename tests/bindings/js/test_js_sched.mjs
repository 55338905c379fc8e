// Schedulers in JavaScript, with built-in policies and with policies of one's own.
import assert from "node:assert/strict";
import test from "node:test";

import { native, temporary, thrown, whole } from "./shared.mjs";

const { Cluster, Scheduler, History, OpenpaiError, policies } = await whole();
const cluster = Cluster.synthetic("nodes:2 gpu:8:h100");
const HOUR = 3600_000000;

/** A scheduler with one request that runs and one that waits. */
function busy(options) {
  const scheduler = new Scheduler(cluster, options);
  scheduler.submit({ id: 1, tasks: 2, gpus: 8, duration: HOUR });
  scheduler.submit({ id: 2, gpus: 8, duration: HOUR });
  scheduler.decide();
  return scheduler;
}

class Oldest {
  constructor() {
    this.started = 0;
  }

  decide(host) {
    for (const id of host.waiting())
      while (host.start(id, { place: "pack" }))
        this.started++;
  }
}

test("clusters are those of the native program", () => {
  const text = native(["cluster", "show", "--yaml", "--from", "racks:2 nodes:4 gpu:8:a100"]);
  const parsed = Cluster.parse(text);
  assert.equal(parsed.toYaml(), text);
  assert.equal(parsed.text(), native(["cluster", "show", temporary("c.yaml", text)]));
  assert.deepEqual([parsed.sums.nodes, parsed.sums.gpus], [4, 32]);
  assert.equal(parsed.nodes[3].gpus.length, 8);
  parsed.setSick(0, "fan", 3);
  assert.equal(parsed.node(0).gpus[3].sick, "fan");
  assert.match(parsed.svg({ marks: [{ gpu: 0, text: "ann" }] }), /^<svg[^]*ann/);
  const error = thrown(() => Cluster.parse("nodes: {}\nclass: 1\n"));
  assert.ok(error instanceof OpenpaiError);
  assert.equal(typeof error.line, "number");
});

test("decisions, reasons and places", () => {
  const scheduler = busy();
  assert.deepEqual(scheduler.decisions.map(({ kind, id, count }) => [kind, id, count]),
                   [["start", 1, 2]]);
  assert.equal(scheduler.places(1)[1].node, "node0002");
  assert.deepEqual(scheduler.queue.map(({ id }) => id), [2]);
  assert.match(scheduler.explain(2), /^Request 2 waits: no node has 8 GPUs free/);
  assert.deepEqual(scheduler.reason(2).nodes_failed, { gpu: 2 });
  scheduler.finished(1, { time: HOUR });
  assert.deepEqual(scheduler.decide().map(({ id, time }) => [id, time]), [[2, HOUR]]);
  assert.equal(thrown(() => scheduler.request(9)).code, "PAI_ENOTFOUND");
  assert.equal(thrown(() => scheduler.submit({ id: 3, gpus: 99 })).code, "PAI_ENOROOM");
  assert.throws(() => scheduler.submit({ id: 3, gpus: 1, wants: [] }), TypeError);
});

test("a saved scheduler and its log go on as before", () => {
  const lines = [];
  const scheduler = new Scheduler(cluster);
  scheduler.log((line) => lines.push(line));
  scheduler.submit({ id: 1, gpus: 8 });
  const decisions = scheduler.decide();
  scheduler.log(null);
  assert.deepEqual([...Scheduler.replay(lines.join("").trimEnd().split("\n"))], decisions);
  assert.equal(Scheduler.load(scheduler.save()).save(), scheduler.save());
});

test("when, and what if", () => {
  const scheduler = busy();
  assert.equal(scheduler.when(2).p50, HOUR);
  const changed = scheduler.whatIf({ event: "cancel", id: 1 });
  assert.deepEqual([changed.sooner, changed.after.when(2).p50], [1, 0]);
  assert.match(String(changed), /starts at once: request 2/);
  const more = scheduler.whatIf([], { cluster: scheduler.changedCluster({ nodes: "1x gpu:8:h100" }) });
  assert.equal(more.sooner, 1);
  const history = new History();
  history.add({ user: "ann", gpus: 8, duration: HOUR });
  assert.equal(History.load(history.save()).guess({ user: "ann", gpus: 8 }).p50,
               history.guess({ user: "ann", gpus: 8 }).p50);
  assert.equal(scheduler.forecast({ history, runs: 10 }).all.length, 1);
});

test("a policy of one's own decides, is copied and saved", () => {
  const policy = new Oldest(), scheduler = new Scheduler(cluster, { policy });
  assert.equal(scheduler.sums.policy, "Oldest");
  scheduler.submit({ id: 1, gpus: 4, instances: 3 });
  const fork = scheduler.fork();
  assert.equal(scheduler.decide().length, 3);
  assert.equal(fork.decide().length, 3);
  assert.equal(policy.started, 3); // not what the fork's copy counted
  const other = new Oldest();
  Scheduler.load(scheduler.save(), { policy: other }).decide();
  assert.equal(other.started, 3);
});

test("a function is a policy", () => {
  const scheduler = new Scheduler(cluster, { policy: function reversed(host) {
    for (const id of [...host.waiting()].reverse())
      host.startAt(id, [{ node: "node0002", gpus: [id] }]);
  } });
  scheduler.submit({ id: 1, gpus: 1 });
  scheduler.submit({ id: 2, gpus: 1 });
  assert.deepEqual(scheduler.decide().map(({ id, tasks }) => [id, tasks[0].gpus]),
                   [[2, [2]], [1, [1]]]);
});

test("events, options and refusals of a policy", () => {
  const told = [];
  const scheduler = new Scheduler(cluster, { options: { most: 1 }, policy: {
    name: "picky",
    open(host, options) { this.most = options.most; },
    event(host, event) { told.push(event.event); },
    decide(host) {
      for (const id of host.waiting())
        if (host.placed().length >= this.most || !host.start(id))
          host.refuse(id, "one is enough");
    },
  } });
  scheduler.submit({ id: 1, gpus: 1 });
  scheduler.submit({ id: 2, gpus: 1 });
  assert.equal(scheduler.decide().length, 1);
  assert.deepEqual(told, ["submit", "submit"]);
  assert.match(scheduler.explain(2), /one is enough/);
});

test("what a policy throws comes out as it is, and its host is over", () => {
  let kept;
  const mine = new RangeError("mine");
  const scheduler = new Scheduler(cluster, { policy(host) { kept = host; throw mine; } });
  scheduler.submit({ id: 1, gpus: 1 });
  assert.equal(thrown(() => scheduler.decide()), mine);
  assert.match(thrown(() => kept.now).message, /the call that it was for is over/);
  assert.throws(() => new Scheduler(cluster, { policy: {} }), TypeError);
  assert.equal(thrown(() => new Scheduler(cluster, { policy: "none" })).code, "PAI_ENOTFOUND");
  assert.ok(policies().some(({ name }) => name === "hived"));
});

test("a shadow decides beside", () => {
  const scheduler = new Scheduler(cluster);
  scheduler.setShadow("backfill");
  scheduler.submit({ id: 1, gpus: 8 });
  assert.equal(scheduler.decide()[0].agreed, true);
  assert.equal(scheduler.shadowDecisions.length, 1);
});

test("what a shadow throws harms nobody", () => {
  const caught = [];
  const scheduler = new Scheduler(cluster, { policy(host) {
    for (const id of host.waiting()) {
      caught.push(thrown(() => host.startAt(id, [{ node: "none" }])).code);
      host.start(id);
    }
  } });
  scheduler.setShadow({ name: "broken", decide() { throw new Error("shadow"); } });
  scheduler.submit({ id: 1, gpus: 1 });
  assert.equal(scheduler.decide().length, 1);
  assert.deepEqual(caught, ["PAI_ENOTFOUND"]);
  assert.equal(scheduler.sums.shadow_failed, 1);
  assert.equal(scheduler.shadowDecisions, null);
});
