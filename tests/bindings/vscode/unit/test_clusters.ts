// test_clusters.ts - clusters: addresses, what a terminal gets, the old client's files, the store

import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";
import { execFileSync } from "node:child_process";
import { freeName, held, LOCAL, programFor, readAddress, readOldClusters } from "../src/clusters/cluster";
import { Clusters } from "../src/clusters/store";
import type { Helper } from "../src/helper/helper";

test("an address is https unless it says otherwise, and has no password", () => {
  assert.deepEqual(readAddress("pai.example.org"), { url: "https://pai.example.org", plain: false });
  assert.deepEqual(readAddress(" https://pai.example.org/rest-server/ "),
    { url: "https://pai.example.org/rest-server", plain: false });
  assert.deepEqual(readAddress("http://pai.example.org:9186"),
    { url: "http://pai.example.org:9186", plain: true });
  assert.deepEqual(readAddress("http://127.0.0.1:9186"), { url: "http://127.0.0.1:9186", plain: false });
  assert.ok("error" in readAddress("https://alice:secret@pai.example.org"));
  assert.ok("error" in readAddress("ftp://pai.example.org"));
  assert.ok("error" in readAddress("https://"));
});

test("a terminal has the cluster in a variable, and no token", () => {
  const start = programFor("/bin/openpai", ["exec", "a~b"], { name: "lab", url: "https://x" });
  assert.deepEqual(start, {
    shellPath: "/bin/openpai", shellArgs: ["exec", "a~b"],
    // The program has the cluster's token: one of the environment must not replace it.
    env: { OPENPAI_CLUSTER: "lab", OPENPAI_TOKEN: null },
  });
  assert.equal(programFor("/bin/openpai", [], LOCAL).env.OPENPAI_CLUSTER, "local");
});

test("a terminal is held until its end was read, and the words stay words", () => {
  const run = (words: string[], always = false) => {
    const { shellPath, shellArgs } = held(programFor("/bin/sh", words, LOCAL), always);
    // Its end is at the end of the input, as well as at Enter.
    return execFileSync(shellPath, shellArgs, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
  };
  assert.equal(run(["-c", "echo done"]), "done\n");
  assert.match(run(["-c", "exit 137"]), /\n\[exit status 137: press Enter/);
  assert.match(run(["-c", 'echo "$1"', "x", "$(id); 'a b'"], true),
    /^\$\(id\); 'a b'\n\n\[exit status 0/);
});

test("a free name counts on", () => {
  assert.equal(freeName("lab", []), "lab");
  assert.equal(freeName("lab", ["lab", "lab_2"]), "lab_3");
});

test("the old client's clusters are read, without their passwords", () => {
  const text = `{
    // Comments are allowed.
    "version": "0.0.1",
    "pais": [
      { "name": "lab", "username": "alice", "password": "hunter2", "rest_server_uri": "lab/rest-server", "https": true },
      { "name": "lab", "username": "bob", "token": "t0ken", "rest_server_uri": "10.0.0.1:9186", },
      { "name": "-x", "rest_server_uri": "host" },
      { "name": "empty" }
    ]
  }`;
  const all = readOldClusters(text, ["lab"]);
  assert.deepEqual(all, [
    { name: "lab_2", url: "https://lab/rest-server", user: "alice" },
    { name: "lab_3", url: "http://10.0.0.1:9186", user: "bob", token: "t0ken" },
    { name: "host", url: "http://host" },
  ]);
  assert.ok(!JSON.stringify(all).includes("hunter2"));
  assert.equal(readOldClusters('{"rest_server_uri": "one"}')[0].name, "one");
  assert.throws(() => readOldClusters("{"));
});

/** A store over memory, and what the helper was told. */
function makeStore(program = "/bin/false") {
  const memory = new Map<string, unknown>(), told: string[] = [];
  const memento = {
    get: (key: string, usual?: unknown) => memory.get(key) ?? usual,
    update: async (key: string, value: unknown) => { memory.set(key, value); },
  };
  const context = { workspaceState: memento, globalState: memento };
  const helper = {
    onStart: () => ({ dispose: () => undefined }), program: () => program,
    restart: async () => { told.push("restart"); },
    use: async (name: string) => { told.push(`use ${name}`); },
    clusters: async () => [{ name: "local", url: null, user: "me" },
      { name: "lab", url: "https://lab", user: "alice" }],
  };
  return { told, make: () => new Clusters(context as unknown as vscode.ExtensionContext,
    helper as unknown as Helper) };
}

test("the chosen cluster is told to the helper, and kept", async () => {
  const { told, make } = makeStore();
  const clusters = make();
  assert.equal(clusters.current.name, "local");
  assert.deepEqual(await clusters.list(),
    [{ name: "local", user: "me" }, { name: "lab", url: "https://lab", user: "alice" }]);
  await clusters.renew("lab"); // after a login
  assert.deepEqual([clusters.current.url, told], ["https://lab", ["restart", "use lab"]]);
  assert.equal(make().current.name, "lab"); // also after a restart of the editor
  await clusters.renew("gone");
  assert.equal(clusters.current.name, "local");
});

test("the program gets secrets at its standard input, and its error is ours", async () => {
  const clusters = makeStore("/bin/sh").make();
  const said = await clusters.run(["-c", 'read line; echo "$line $OPENPAI_CLUSTER $#"'],
    { input: "s3cret\n", cluster: { name: "lab" } });
  assert.equal(said, "s3cret lab 0\n");
  await assert.rejects(clusters.run(["-c", "echo openpai: error: it failed >&2; exit 1"]),
    /^Error: it failed$/);
  await assert.rejects(clusters.run(["-c", "exit 3"], { input: "x".repeat(1 << 20) }), Error);
});
