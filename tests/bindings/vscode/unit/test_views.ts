// test_views.ts - the views of jobs and storages, and that the manifest and the code agree

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { JobEstimate, JobItem, JobWhy } from "../src/api";
import type { Cluster } from "../src/clusters/cluster";
import type { Clusters } from "../src/clusters/store";
import { refusal } from "../src/helper/errors";
import type { JobEvent } from "../src/helper/protocol";
import { TEMPLATES } from "../src/jobs/create";
import { JobTree, type Node } from "../src/jobs/tree";
import { waitLines, waitText } from "../src/jobs/waits";
import { StorageTree } from "../src/storages";
import { context } from "./fake_vscode";

type Answers = Record<string, (args: Record<string, unknown>) => unknown>;

/** A cluster that answers from a table, with a stream that the test feeds. */
function makeCluster(answers: Answers, current: Cluster = { name: "lab", url: "https://lab" }) {
  let feed: (event: JobEvent) => void = () => undefined;
  const clusters = {
    current, onChange: () => ({ dispose: () => undefined }),
    call: async (name: string, args: Record<string, unknown>) => answers[name](args),
    helper: {
      events: (_: unknown, take: typeof feed) => {
        feed = take;
        return { ended: new Promise(() => undefined), dispose: () => undefined };
      },
    },
  } as unknown as Clusters;
  return { clusters, tell: (event: JobEvent) => feed(event) };
}

const item = (name: string, state: string): JobItem => ({
  name, username: "alice", state, appExitCode: 7, submissionTime: 0, launchedTime: null,
  completedTime: 60000, queuedReason: "gpu",
}) as JobItem;

const told = (tree: JobTree, node: Node) => {
  const { label, description, contextValue, command } = tree.getTreeItem(node);
  return [label, description, contextValue, command?.command];
};

test("jobs, their tasks and their files are shown", async () => {
  const { clusters, tell } = makeCluster({
    "jobs.list": () => ({ totalCount: 3, data: [item("a", "WAITING"), item("b", "FAILED")] }),
    "jobs.show": () => ({ taskRoles: { w: { taskStatuses: [
      { taskIndex: 0, taskState: "RUNNING", containerExitCode: null, containerNodeName: "n1" },
    ] } } }),
    "files.list": ({ path }) => {
      if (path === "gone")
        throw new Error("there is no such folder");
      return { next: "out", entries: [{ path: "out", type: "folder" }] };
    },
  });
  const tree = new JobTree(clusters);
  try {
    const [a, b, more] = await tree.getChildren();
    assert.deepEqual(told(tree, a), ["a", "alice · waiting · gpu · 1 min", "job.live", "openpai.job.open"]);
    assert.deepEqual(told(tree, b), ["b", "alice · failed (7) · 1 min", "job.over", "openpai.job.open"]);
    assert.deepEqual(told(tree, more), ["View More…", "2 of 3", undefined, "openpai.container.joblist.more"]);
    const [task, files] = await tree.getChildren(a);
    assert.deepEqual(told(tree, task), ["w/0", "running · n1", "task.running", "openpai.job.log"]);
    const below = await tree.getChildren(files);
    assert.deepEqual(below.map(node => tree.getTreeItem(node).label),
      ["out", "There are more than 1: openpai files"]);
    const [note] = await tree.getChildren({ kind: "folder", id: "alice~a", path: "gone" });
    assert.deepEqual(told(tree, note), ["there is no such folder", undefined, undefined, undefined]);
    let seen = "";
    tree.onEvent(event => { seen = event?.job ?? "loaded"; });
    tell({ job: "alice~a", state: "STOPPING", final: false, exitCode: 0 });
    assert.deepEqual([seen, tree.known(["STOPPING"]).length], ["alice~a", 1]);
  } finally {
    tree.dispose();
  }
});

test("a platform that does not run yet is no problem; one that cannot be reached is", async () => {
  const failure = (near: boolean) => refusal(Object.assign(new Error("no program listens"),
    { data: { status: "PAI_ENOTFOUND", notReached: true } }), near);
  for (const [cluster, lines, key] of [
    [{ name: "local" }, [], "platform"],
    [{ name: "lab", url: "https://lab" }, ["no program listens"], "nothing"],
  ] as [Cluster, string[], string][]) {
    const tree = new JobTree(makeCluster({
      "jobs.list": () => { throw failure(cluster.url === undefined); },
    }, cluster).clusters);
    try {
      const nodes = await tree.getChildren();
      assert.deepEqual(nodes.map(node => tree.getTreeItem(node).tooltip), lines);
      assert.equal(context["openpai.lacks"], key);
    } finally {
      tree.dispose();
    }
  }
});

test("why a job waits is said once, and until when", () => {
  const why = {
    state: "WAITING", explanation: "2 of 2 nodes have too few free GPUs.",
    reasons: [{ code: "gpu", text: "2 of 2 nodes have too few free GPUs.", nodes: 2 }],
    line: { virtualCluster: "default", order: "arrival", place: 2, waiting: 3 },
  } as JobWhy;
  const lines = ["2 of 2 nodes have too few free GPUs.", "Place 2 of 3 in default."];
  assert.deepEqual(waitLines({ why, estimate: null }), lines);
  const unknown = { unknown: true } as JobEstimate;
  assert.deepEqual(waitLines({ why, estimate: unknown }), [...lines, "When it starts is not known."]);
  assert.equal(waitText({ why, estimate: unknown }),
    "It waits: 2 of 2 nodes have too few free GPUs. When it starts is not known.");
  const at = new Date().setHours(12, 30, 0);
  const estimate = { start: { p50: at } } as JobEstimate;
  const start = `It may start ${new Date(at).toLocaleTimeString()}.`;
  assert.deepEqual(waitLines({ why: null, estimate }), [start]);
  assert.equal(waitText({ why: null, estimate }), `It waits. ${start}`);
  why.reasons[0].text = "waits for 2 CPUs, 1 are free";
  assert.equal(waitText({ why, estimate: null }), "It waits for 2 CPUs, 1 are free.");
  assert.deepEqual(waitLines({ why: null, estimate: null }), []);
});

test("storages show where their data is, and never what protects it", async () => {
  const tree = new StorageTree(makeCluster({
    "storages.list": () => ({ storages: [{ name: "data", default: true, share: true }] }),
    "storages.show": () => ({ type: "azureBlob", readOnly: true, data: {
      accountName: "acct", containerName: "c", accountKey: "k3y", accountSASToken: "t0ken",
      password: "pw", secretKey: "s", keys: [1],
    } }),
  }).clusters);
  const [storage] = await tree.getChildren();
  assert.equal(tree.getTreeItem(storage).description, "default, shared");
  const lines = (await tree.getChildren(storage)).map(node => tree.getTreeItem(node).label);
  assert.deepEqual(lines, ["type: azureBlob", "read only", "accountName: acct", "containerName: c"]);
});

test("what the manifest contributes is what the extension registers", () => {
  const root = join(__dirname, "../..");
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const code = readFileSync(join(root, "src/extension.ts"), "utf8");
  const registered = [...code.matchAll(/\b(?:command|trusted)\("([\w.-]+)"/g)]
    .map(([, name]) => `openpai.${name}`);
  const contributed = manifest.contributes.commands.map((one: { command: string }) => one.command);
  const lenses = ["openpai.submit", "openpai.runHere", "openpai.explain"];
  assert.deepEqual(registered.sort(), [...contributed, ...lenses].sort());
  const menus = Object.values(manifest.contributes.menus).flat() as { command: string }[];
  assert.deepEqual(menus.filter(one => !contributed.includes(one.command)), []);
  assert.ok(!manifest.activationEvents.includes("*"));
  // Only what a trusted workspace may do can be hidden in another.
  const trusted = [...code.matchAll(/\btrusted\("([\w.-]+)"/g)].map(([, name]) => `openpai.${name}`);
  const hidden = manifest.contributes.commands
    .filter((one: { enablement?: string }) => one.enablement?.startsWith("isWorkspaceTrusted"))
    .map((one: { command: string }) => one.command);
  assert.deepEqual(hidden.sort(), trusted.filter(name => !lenses.includes(name)).sort());
});

test("in a browser only what needs no program is shown", () => {
  const { contributes } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
  const CREATE = "openpai.cluster.job.create-config";
  const open = contributes.commands.map((one: { command: string; enablement?: string }) =>
    [one.command, /(^|&& )!openpai\.web$/.test(one.enablement ?? "")])
    .filter(([, hidden]: [string, boolean]) => !hidden);
  assert.deepEqual(open, [[CREATE, false]]);
  // Menus of the views go with them.
  const shown = (things: { when?: string }[]) =>
    things.filter(one => !/^!openpai\.web\b/.test(one.when ?? ""));
  for (const menu of ["editor/title/run", "editor/context", "explorer/context"])
    assert.deepEqual(shown(contributes.menus[menu]), [], menu);
  assert.deepEqual(shown(contributes.views.openpai), []);
  assert.deepEqual(shown(contributes.walkthroughs[0].steps).map(one => (one as { id: string }).id),
    ["create"]);
});

test("all templates are offered", () => {
  const names = readdirSync(join(__dirname, "../../templates")).map(name => name.replace(".yaml", ""));
  assert.deepEqual(names.sort(), [...TEMPLATES].sort());
});
