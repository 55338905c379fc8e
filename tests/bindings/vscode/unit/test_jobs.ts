// test_jobs.ts - jobs: the list and its events, names, states, the status bar, ssh entries

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobItem, JobPage, State } from "../src/api";
import { statusText } from "../src/editor/status";
import type { Arguments } from "../src/helper/protocol";
import { History } from "../src/jobs/history";
import { JobList } from "../src/jobs/list";
import { usesOf } from "../src/jobs/metrics";
import { copyName, duration, iconOf, looksLikeJob, nameIn, renameJob } from "../src/jobs/names";
import { hostEntry, knownHost, withInclude } from "../src/jobs/ssh_entry";

const job = (name: string, state: State = "RUNNING"): JobItem =>
  ({ name, username: "alice", state, appExitCode: null }) as JobItem;

/** A server with these jobs, and what it was asked. */
function serve(names: string[]) {
  const asked: Arguments<"jobs.list">[] = [];
  const ask = async (args: Arguments<"jobs.list">): Promise<JobPage> => {
    asked.push(args);
    const { offset = 0, limit = 5000 } = args;
    return { totalCount: names.length, data: names.slice(offset, offset + limit).map(one => job(one)) };
  };
  return { asked, ask, names };
}

test("pages are asked for one after the other", async () => {
  const { asked, ask, names } = serve(["a", "b", "c", "d", "e"]);
  const list = new JobList(ask, 2, { keyword: "x", states: ["RUNNING"], user: "alice" });
  await list.load();
  await list.more();
  assert.deepEqual(list.jobs.map(one => one.name), ["a", "b", "c", "d"]);
  assert.ok(list.hasMore);
  assert.deepEqual(asked[1], {
    offset: 2, limit: 2, withTotalCount: true, keyword: "x", state: ["RUNNING"], username: ["alice"],
  });
  names.unshift("new"); // the pages have moved by one
  await list.more();
  assert.deepEqual(list.jobs.map(one => one.name), ["a", "b", "c", "d", "e"]);
  await list.load(); // as many as were shown
  assert.deepEqual(list.jobs.map(one => one.name), ["new", "a", "b", "c", "d"]);
});

test("an answer that comes after that of a later question is not taken", async () => {
  const answers: ((page: JobPage) => void)[] = [];
  const list = new JobList(() => new Promise(resolve => answers.push(resolve)), 2);
  const first = list.load(), second = list.load();
  answers[1]({ totalCount: 1, data: [job("new")] });
  answers[0]({ totalCount: 1, data: [job("old")] });
  await Promise.all([first, second]);
  assert.deepEqual(list.jobs.map(one => one.name), ["new"]);
});

test("events change what is shown, or say that the list must be asked for", async () => {
  const list = new JobList(serve(["a"]).ask, 2);
  await list.load();
  const tell = (name: string, state: State, final = false) =>
    list.apply({ job: `alice~${name}`, state, final, exitCode: 0 });
  assert.equal(tell("a", "RUNNING"), "none");
  assert.equal(tell("a", "STOPPING"), "shown");
  assert.equal(tell("a", "FAILED", true), "ask");
  assert.equal(list.jobs[0].state, "FAILED");
  assert.equal(tell("b", "WAITING"), "ask");
  list.filter = { states: ["FAILED"] }; // whether the filter still takes it, the server knows
  assert.equal(tell("a", "WAITING"), "ask");
});

test("copies are counted on", () => {
  assert.equal(copyName("train", []), "train_2");
  assert.equal(copyName("train_2", ["train_3"]), "train_4");
  assert.equal(copyName("train_7", []), "train_2"); // never the name without a number: that was the first
});

test("a job file is renamed in its own line", () => {
  const text = "name: \"a b\" # why\ntaskRoles:\n  name: x\n";
  assert.equal(renameJob(text, "c"), "name: c # why\ntaskRoles:\n  name: x\n");
  assert.equal(nameIn(text), "a b");
  assert.equal(nameIn("name: train  # x\n"), "train");
  assert.equal(nameIn("taskRoles:\n  name: x\n"), undefined);
  assert.equal(renameJob("type: job\n", "c"), "type: job\n");
  assert.equal(renameJob("name: a$&\n", "c$&d"), "name: c$&d\n");
});

test("job files are known by their content or their name", () => {
  assert.ok(looksLikeJob("a.yaml", "protocolVersion: 2\n"));
  assert.ok(looksLikeJob("a.yaml", "# begun\ntaskRoles:\n"));
  assert.ok(looksLikeJob("a.pai.yaml", ""));
  assert.ok(looksLikeJob("a.pai.json", "{"));
  assert.ok(!looksLikeJob("compose.yaml", "services:\n  taskRoles: 1\n"));
});

test("times and states are short", () => {
  assert.deepEqual([0, 59, 61, 3600, 90061].map(duration),
    ["0 s", "59 s", "1 min", "1 h 0 min", "1 d 1 h"]);
  const states: State[] = ["WAITING", "RUNNING", "STOPPING", "STOPPED", "SUCCEEDED", "FAILED"];
  assert.equal(new Set(states.map(state => iconOf(state)[0])).size, states.length);
});

test("metrics of a job's tasks are read", () => {
  const line = (metric: string, job: string, more: string, value: string) =>
    `${metric}{username="a",job_name="${job}",role_name="w",task_index="0"${more}} ${value}\n`;
  const text = "# HELP task_cpu_percent x\nopenpai_cpus 2\n" +
    line("task_cpu_percent", "a~b", "", "150.5") + line("task_cpu_percent", "a~c", "", "1") +
    line("task_gpu_percent", "a~b", ',minor_number="0"', "100") +
    line("task_gpu_percent", "a~b", ',minor_number="1"', "50") +
    line("task_mem_usage_byte", "a~b", "", "1024") + line("task_mem_limit_byte", "a~b", "", "NaN");
  assert.deepEqual(usesOf(text, "a~b"),
    { "w/0": { cpuPercent: 150.5, gpuPercent: 75, memory: 1024 } });
  assert.deepEqual(usesOf("", "a~b"), {});
});

test("the status bar has the queue and the free GPUs", () => {
  const told = (running: number, waiting: number, gpus: number) => statusText({
    jobs: { running, waiting, stopping: 0 }, machine: { gpus, freeGpus: 3 },
  } as never);
  assert.equal(told(2, 1, 8), "2 running, 1 waiting · 3 of 8 GPUs free");
  assert.equal(told(0, 0, 0), "idle");
});

test("an entry for ssh checks the host's key, and takes no value with more words", () => {
  const at = {
    taskRole: "w", taskIndex: 0, sshUser: "root", sshIp: "10.0.0.1", sshPort: "2222", hostKey: "",
  };
  const entry = hostEntry("h", at, "/k", "/n");
  assert.match(entry, /StrictHostKeyChecking yes/);
  assert.match(entry, /^ {2}HostName 10.0.0.1$/m);
  assert.throws(() => hostEntry("h", { ...at, sshIp: "x\n  ProxyCommand sh" }, "/k", "/n"));
  assert.equal(knownHost("h", "ssh-ed25519 AAAA comment\nmore"), "h ssh-ed25519 AAAA\n");
  const once = withInclude("Host a\n", "/c");
  assert.equal(once, 'Include "/c"\nHost a\n');
  assert.equal(withInclude(once, "/c"), once);
});

test("the history of a page has gaps where it was not looked at, and stays small", () => {
  const history = new History(5000), use = (cpuPercent: number) => ({ cpuPercent, memory: 1024 });
  history.add(0, { "w/10": use(1), "w/2": use(2) });
  history.add(5000, { "w/10": use(3) });
  history.add(60000, { "w/10": use(4), "w/2": {} });
  assert.deepEqual(history.shown(), {
    times: [0, 5000, 10000, 60000], others: 0, gpu: [],
    cpu: [{ name: "w/2", values: [2, null, null, null] }, { name: "w/10", values: [1, 3, null, 4] }],
    memory: [{ name: "w/2", values: [1024, null, null, null] },
      { name: "w/10", values: [1024, 1024, null, 1024] }],
  });
  for (let i = 0; i < 5000; i++)
    history.add(65000 + 5000 * i, Object.fromEntries(
      Array.from({ length: 10 }, (_, task) => [`x/${task}`, use(task)])));
  const { times, cpu, others } = history.shown();
  assert.ok(times.length <= 720 && times[0] === 0, String(times.length));
  assert.equal(times.at(-1), 65000 + 5000 * 4999);
  assert.deepEqual([cpu.map(one => one.name), others],
    [["x/2", "x/3", "x/4", "x/5", "x/6", "x/7", "x/8", "x/9"], 4]);
});
