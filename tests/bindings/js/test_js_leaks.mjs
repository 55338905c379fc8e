// Memory: what is freed is used again, and so is what was only forgotten.
import assert from "node:assert/strict";
import test from "node:test";

import { packaged } from "./shared.mjs";

const { Core } = await packaged("core.js");
const { calls } = await packaged("openpai_calls.js");
const languageCalls = (await packaged("language_calls.js")).calls;
const { jobClasses } = await packaged("job.js");
const core = new Core(calls, "./openpai.wasm");
await core.init();
const { Job } = jobClasses(core);

const TEXT = "protocolVersion: 2\nname: one\ntype: job\nprerequisites:\n" +
  "  - {type: dockerimage, uri: x, name: x}\ntaskRoles:\n  w:\n" +
  "    dockerImage: x\n    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}\n" +
  "    commands: [echo]\n";
const BAD = "name: [\n";

/** How much the memory grows while `work` is done so often, after a warm-up. */
function growth(times, work, of = core) {
  for (let i = 0; i < 50; i++)
    work();
  const before = of.memory.length;
  for (let i = 0; i < times; i++)
    work();
  return of.memory.length - before;
}

test("10,000 checks", () => {
  assert.equal(growth(10000, () => {
    Job.check(TEXT);
    Job.check(BAD);
  }), 0);
});

test("jobs and failures", () => {
  assert.equal(growth(3000, () => {
    const job = Job.parse(TEXT);
    job.roles;
    job.edit().free();
    job.free();
    assert.throws(() => Job.parse(BAD), { code: "PAI_EINVAL" });
  }), 0);
});

test("schedulers, policies and simulations", () => {
  const { Cluster, Scheduler, Trace, Simulation } = core;
  const cluster = Cluster.synthetic("nodes:2 gpu:8:h100");
  const policy = { name: "mine", lends: false, hears: false, open() {}, decide() {
    throw new Error("mine"); }, clone() { return this; }, save: () => "{}", load() {} };
  assert.equal(growth(200, () => {
    const scheduler = Scheduler.make(cluster, "{}", 0, 0, false, policy);
    const fork = scheduler.fork();
    assert.throws(() => scheduler.decide(0), /mine/);
    fork.free();
    scheduler.free();
    const trace = Trace.generate(["jobs", "20", "like", "philly"], []);
    const simulation = Simulation.make(cluster, trace, [], "fifo", null);
    simulation.step(2n ** 63n - 1n);
    simulation.report().free();
    simulation.free();
    trace.free();
  }), 0);
});

test("language servers", async () => {
  const languages = new Core(languageCalls, "./language.wasm");
  await languages.init();
  const messages = [
    { id: 1, method: "initialize", params: {} },
    { method: "textDocument/didOpen",
      params: { textDocument: { uri: "a", languageId: "yaml", version: 1, text: TEXT } } },
    { id: 2, method: "textDocument/hover",
      params: { textDocument: { uri: "a" }, position: { line: 1, character: 1 } } },
  ].map((message) => JSON.stringify(message));
  assert.equal(growth(1000, () => {
    const server = languages.Language.make(null, false);
    for (const message of messages) {
      server.receive(message);
      while (server.work());
    }
    assert.match(server.sent(), /"id":2,"result":\{/);
    server.receive("{"); // its answer is not taken
    server.free();
  }, languages), 0);
});

test("objects that are forgotten", { skip: !globalThis.gc && "needs --expose-gc" }, async () => {
  const forget = async () => {
    for (let i = 0; i < 500; i++)
      Job.parse(TEXT);
    globalThis.gc();
    await new Promise((done) => setImmediate(done)); // finalizers are tasks
  };
  await forget();
  const before = core.memory.length;
  for (let i = 0; i < 20; i++)
    await forget();
  assert.equal(core.memory.length, before);
});
