// test_clusters.ts - clusters: addresses, what a terminal gets, the old client's files, the store

import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";
import { execFileSync } from "node:child_process";
import { askUntil } from "../src/clusters/ask";
import { freeName, held, LOCAL, programFor, readAddress, readOldClusters } from "../src/clusters/cluster";
import { Clusters } from "../src/clusters/store";
import type { Helper } from "../src/helper/helper";
import { withoutSecrets } from "../src/helper/secrets";
import { InputBox } from "./fake_vscode";

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

test("a terminal of the program's cluster has its name in a variable, and no token", () => {
  const start = programFor("/bin/openpai", ["exec", "a~b"], { name: "lab", url: "https://x" });
  assert.deepEqual(start, {
    shellPath: "/bin/openpai", shellArgs: ["exec", "a~b"],
    // The program has the cluster's token: one of the environment must not replace it.
    env: { OPENPAI_CLUSTER: "lab", OPENPAI_TOKEN: null, OPENPAI_CA_FILE: null },
  });
  assert.equal(programFor("/bin/openpai", [], LOCAL).env.OPENPAI_CLUSTER, "local");
});

test("a terminal of our own cluster has its address and token in variables, not in words", () => {
  const start = held(programFor("/bin/openpai", ["ssh", "a~b"], { name: "lab" },
    { url: "https://x", token: "t0ken", caFile: "/ca.pem" }));
  assert.deepEqual(start.env,
    { OPENPAI_CLUSTER: "https://x", OPENPAI_TOKEN: "t0ken", OPENPAI_CA_FILE: "/ca.pem" });
  assert.ok(!start.shellArgs.join(" ").includes("t0ken"));
  assert.equal(programFor("/bin/openpai", [], { name: "lab" }, { url: "https://x" })
    .env.OPENPAI_TOKEN, null);
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

test("an answer that is refused is asked for again, with the reason", async () => {
  const asked: string[] = [];
  const answer = askUntil({ title: "t", prompt: "p" }, async text => {
    asked.push(text);
    if (text !== "right")
      throw new Error("wrong password");
    return 7;
  });
  const box = InputBox.last;
  await box.type("  ");
  await box.type(" left ");
  assert.equal(box.validationMessage, "wrong password");
  assert.equal(box.enabled, true);
  await box.type("right");
  assert.equal(await answer, 7);
  assert.equal(box.validationMessage, undefined);
  assert.deepEqual(asked, ["left", "right"]);
  const given = askUntil({ title: "t", prompt: "p" }, async text => text);
  InputBox.last.hide();
  assert.equal(await given, undefined);
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

/** SecretStorage over a map, which several windows can share. */
function makeSecrets(kept = new Map<string, string>()) {
  const listeners: ((event: { key: string }) => void)[] = [];
  const change = (key: string) => listeners.forEach(listener => listener({ key }));
  return {
    kept, change, storage: {
      get: async (key: string) => kept.get(key),
      store: async (key: string, value: string) => { kept.set(key, value); change(key); },
      onDidChange: (listener: (event: { key: string }) => void) => {
        listeners.push(listener);
        return { dispose: () => undefined };
      },
    },
  };
}

/** A store over memory, and what the helper was told. */
function makeStore(program = "/bin/false", secrets = makeSecrets()) {
  const memory = new Map<string, unknown>(), told: string[] = [];
  const memento = {
    get: (key: string, usual?: unknown) => memory.get(key) ?? usual,
    update: async (key: string, value: unknown) => { memory.set(key, value); },
  };
  const context = { workspaceState: memento, globalState: memento, secrets: secrets.storage };
  const helper = {
    isStarted: true, program: () => program,
    introduce: async (_: unknown): Promise<void> => undefined,
    addCluster: async (params: { name: string }) => { told.push(`add ${JSON.stringify(params)}`); },
    forgetCluster: async (name: string) => { told.push(`forget ${name}`); },
    use: async (name: string) => { told.push(`use ${name}`); },
    clusters: async () => [{ name: "local", url: null, user: "me", owner: "program" },
      { name: "lab", url: "https://lab", user: "alice", owner: "program" }],
  };
  return { told, memory, helper, make: () => new Clusters(
    context as unknown as vscode.ExtensionContext, helper as unknown as Helper) };
}

test("the chosen cluster is told to the helper, and kept", async () => {
  const { told, make } = makeStore();
  const clusters = make();
  assert.equal(clusters.current.name, "local");
  assert.deepEqual(await clusters.list(),
    [{ name: "local", user: "me" },
      { name: "lab", url: "https://lab", user: "alice", owner: "program" }]);
  await clusters.renew("lab"); // after a login with the program
  assert.deepEqual([clusters.current.url, told], ["https://lab", ["forget lab", "use lab"]]);
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

const LOGIN = { url: "https://own", user: "alice", token: "t0ken" };

test("a token is in SecretStorage and in the helper, and nowhere else", async () => {
  const secrets = makeSecrets(), { told, memory, make } = makeStore("/bin/sh", secrets);
  const clusters = make();
  await clusters.keep("own", LOGIN);
  await clusters.choose({ name: "own", url: LOGIN.url, owner: "editor" });
  // Once: each time its calls and streams end.
  assert.equal(told.filter(one => one.startsWith("add")).join(),
    `add ${JSON.stringify({ name: "own", ...LOGIN })}`);
  assert.ok([...secrets.kept.values()].join().includes("t0ken"));
  assert.ok(!JSON.stringify([...memory]).includes("t0ken"));
  assert.equal(await clusters.run(["-c", 'echo "$OPENPAI_CLUSTER $OPENPAI_TOKEN"']),
    "https://own t0ken\n");
  assert.equal(await clusters.run(["-c", 'echo "$OPENPAI_CLUSTER ${OPENPAI_TOKEN-none}"'],
    { cluster: { name: "lab" } }), "lab none\n");
  await clusters.remove({ name: "own" });
  assert.equal(told.filter(one => one.startsWith("forget")).join(), "forget own");
  assert.ok(![...secrets.kept.values()].join().includes("t0ken"));
});

test("a helper that starts is told of our own clusters before the chosen one", async () => {
  const secrets = makeSecrets(), { helper, make } = makeStore("/bin/false", secrets);
  const clusters = make(), sent: unknown[] = [];
  await clusters.keep("own", LOGIN);
  const client = { sendRequest: async (...words: unknown[]) => { sent.push(words); } };
  await helper.introduce(client);
  assert.deepEqual(sent, [["openpai/addCluster", { name: "own", ...LOGIN }],
    ["openpai/useCluster", { cluster: "local" }]]);
  // A keyring that is locked does not keep the helper from starting.
  secrets.storage.get = async () => { throw new Error("locked"); };
  await helper.introduce(client);
  assert.equal(sent.length, 3);
});

test("what another window has logged in to or removed is told to the helper", async () => {
  const secrets = makeSecrets(), here = makeStore("/bin/false", secrets);
  const clusters = here.make(), there = makeStore("/bin/false", secrets).make();
  const changed = () => new Promise<void>(resolve => clusters.onChange(resolve));
  let next = changed();
  await there.keep("own", LOGIN);
  await next;
  assert.deepEqual(here.told, [`add ${JSON.stringify({ name: "own", ...LOGIN })}`]);
  next = changed();
  await there.keep("other", LOGIN);
  await next;
  assert.deepEqual(here.told.slice(1), [`add ${JSON.stringify({ name: "other", ...LOGIN })}`]);
  next = changed();
  await there.remove({ name: "own" });
  await next;
  assert.deepEqual(here.told.slice(2), ["forget own"]);
});

test("the trace of messages has no secrets", () => {
  const traced = withoutSecrets(`Params: ${JSON.stringify({
    name: "own", token: 'a"b', password: "hunter2", nested: { code: "ABCD" }, url: "https://x",
  }, null, 4)}`);
  assert.ok(!/hunter2|a\\?"b|ABCD/.test(traced), traced);
  assert.match(traced, /"token": "\*{6}",\n *"password": "\*{6}"/);
  assert.match(traced, /https:\/\/x/);
});
