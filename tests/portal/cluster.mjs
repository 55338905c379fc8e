// cluster.mjs - the machine map, virtual clusters, time travel and what-if in Chromium
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, checkPage, isOver, isRunning, page, see, server, signIn, stop, submit, usePortal } from "./browser.mjs";
import { ADMIN, USER } from "./server.mjs";

usePortal();

/** A large cluster, in place of the server's machine. */
async function pretend(nodes) {
  const { init, Cluster, Scheduler } = await import(`${process.env.OPENPAI_JS}/index.js`);
  await init();
  const now = Date.now() * 1000, hour = 3600e6;
  const scheduler = new Scheduler(Cluster.synthetic(`nodes:${nodes} gpu:8:a100`), { policy: "fifo" });
  for (let id = 1; id <= nodes; id++)
    scheduler.submit({ id, name: `train-${id}`, user: id % 2 ? "ann" : "bob", gpus: 8, duration: hour * (1 + id % 5) }, now - hour);
  for (let id = nodes + 1; id <= nodes + 20; id++)
    scheduler.submit({ id, name: `wait-${id}`, user: "cid", gpus: 8, duration: hour }, now - hour);
  for (const one of scheduler.decide(now - hour))
    scheduler.started(one.id, one.instance, now - hour);
  scheduler.node("node0002", "sick", { why: "Xid 79", gpu: 3, time: now });
  const snapshot = scheduler.save();
  await page.route("**/api/v2/scheduler", route => route.fulfill({ body: snapshot, contentType: "application/json" }));
  await page.route("**/api/v2/nodes", route => route.fulfill({ json: scheduler.nodes.map(node => ({
    name: node.name, state: node.state, why: null, address: "10.0.0.1", gpus: 8, freeGpus: node.free_gpus.length, sickGpus: node.sick_gpus.length,
    cpus: 64, freeCpus: 0, memory: 2 ** 39, freeMemory: 2 ** 38 })) }));
}

const map = () => page.getByRole("application", { name: "Map of the machines" });
const cell = text => page.locator(".machine-cell", { hasText: text }).waitFor();

test("the map tells of each cell, by keys and by the mouse, and leads to the job", async () => {
  const name = await submit("on-the-map", "sleep 600");
  await signIn(USER, "/nodes");
  await page.getByRole("link", { name }).waitFor(); // in the table, for those who cannot see the map
  await map().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  await cell(`CPU 0 · ${name}`);
  await checkPage("map");
  await page.screenshot({ path: "map.png" });
  await page.keyboard.press("Enter");
  await see("heading", name);
  await page.goBack();
  const there = { position: { x: 20, y: 32 } };
  await page.locator("canvas").hover(there);
  await cell(name);
  await page.locator("canvas").click(there);
  await see("heading", name);
  await stop(name);
  await isOver(name);
});

test("a task's use and memory colour its cells", async () => {
  const name = await submit("busy", "while :; do :; done");
  await signIn(USER, "/nodes?colour=memory");
  await page.getByText("in use, not measured").waitFor();
  await map().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  const told = page.locator(".machine-cell", { hasText: /busy.*\d+ %/ });
  for (let i = 1; i <= 20 && await told.count() === 0; i++) { // it asks again when jobs change
    await isOver(await submit(`busy-${i}`, "true"));
    await told.waitFor({ timeout: 3000 }).catch(() => {});
  }
  await told.waitFor();
  await page.getByLabel("Colours by").selectOption("user");
  await page.locator(".legend li", { hasText: ADMIN.name }).waitFor();
  await stop(name);
  await isOver(name);
});

test("500 nodes of 8 GPUs are one map, with faults, and a table that can be searched", async () => {
  await signIn(ADMIN);
  await pretend(500);
  await page.goto(`${server.address}/nodes`);
  await page.locator("canvas").waitFor();
  await map().focus();
  for (const key of ["ArrowRight", "ArrowLeft", "ArrowDown"])
    await page.keyboard.press(key);
  await cell("node0002 GPU 0");
  for (let i = 0; i < 3; i++)
    await page.keyboard.press("ArrowRight");
  await cell("node0002 GPU 3 · faulty");
  await page.keyboard.press("ArrowRight");
  await cell("node0002 GPU 4 · bob~train-2");
  await page.getByRole("rowheader").nth(49).waitFor();
  assert.equal(await page.getByRole("rowheader").count(), 50);
  await page.getByRole("searchbox").fill("node0499");
  await page.getByRole("row", { name: /node0499.*ann~train-499/ }).waitFor();
  await checkPage("large map");
  await page.screenshot({ path: "map-large.png" });
});

test("the map fits a phone and has a Chinese name", async () => {
  await signIn(ADMIN, "/nodes", { viewport: { width: 390, height: 800 } });
  await pretend(40);
  await page.goto(`${server.address}/nodes?colour=job`);
  await page.getByRole("button", { name: "中文" }).click();
  await page.getByRole("application", { name: "机器图" }).waitFor();
  await page.locator("canvas").waitFor();
  await checkPage("phone");
  await page.screenshot({ path: "map-phone.png" });
});

test("a drained node is marked, with its reason", async () => {
  await signIn(ADMIN, "/nodes");
  await page.getByRole("button", { name: "Drain" }).click();
  await page.getByLabel("Reason (users see it)").fill("new fan");
  await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
  await see("button", /Resume/);
  await map().focus();
  await page.keyboard.press("ArrowRight");
  await cell("new fan");
  await page.getByRole("button", { name: "Resume" }).click();
  await see("button", /Drain/);
});

test("virtual clusters: added, used beyond the share, who has what, removed", async () => {
  await signIn(ADMIN, "/virtual-clusters");
  await page.getByRole("button", { name: "Add virtual cluster" }).click();
  await page.getByLabel("Name").fill("lab");
  await page.getByLabel("Share (percent)").fill("50");
  await page.getByLabel("Maximum (percent)").fill("100");
  await page.getByRole("button", { name: "Save" }).click();
  const card = page.locator(".vc-card", { hasText: "lab" });
  await card.waitFor();
  const { cpus } = (await call("GET", "/api/v2/nodes"))[0];
  const name = await submit("borrows", "sleep 600", file => file
    .replace("cpu: 1", `cpu: ${cpus}`).replace("type: job", "type: job\ndefaults: {virtualCluster: lab}"));
  await card.locator("div", { hasText: new RegExp(`^Borrowed${cpus / 2}$`) }).waitFor();
  await page.locator(".vc-card", { hasText: "default" }).locator("div", { hasText: new RegExp(`^Lent${cpus / 2}$`) }).waitFor();
  await page.getByText("Usage by user").click();
  await page.getByRole("row", { name: new RegExp(`lab admin 1 0 ${cpus}`) }).waitFor();
  await checkPage("virtual clusters");
  await page.screenshot({ path: "virtual-clusters.png" });
  await page.getByRole("link", { name: "Running jobs: 1" }).click();
  await page.getByRole("row", { name: /borrows/ }).waitFor();
  await stop(name);
  await isOver(name);
  await page.goBack();
  await page.getByRole("button", { name: "Remove lab" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await card.waitFor({ state: "detached" });
});

test("the queue and the machines of a second that has passed", async () => {
  const cpus = (await call("GET", "/api/v2/nodes"))[0].cpus;
  const first = await submit("first", "sleep 600", file => file.replace("cpu: 1", `cpu: ${cpus}`));
  const behind = await submit("behind", "true");
  await isRunning(first);
  const at = Math.ceil(Date.now() / 1000);
  await new Promise(go => { setTimeout(go, at * 1000 - Date.now() + 500); }); // that second has to pass
  await stop(first);
  await isOver(first);
  await isOver(behind);
  await signIn(USER, `/time?at=${at}`);
  const queue = page.getByRole("region", { name: "Queue" });
  await queue.getByRole("link", { name: behind }).waitFor();
  await queue.getByRole("group").first().locator("summary").click();
  await queue.getByText(/waits: no node has 1 CPU free/).waitFor();
  await page.locator(".legend li", { hasText: first }).waitFor();
  await checkPage("a second that has passed");
  await page.screenshot({ path: "time.png" });
  await page.getByRole("slider").focus();
  await page.keyboard.press("End");
  await page.getByText("No job waits.").waitFor();
  await page.goBack();
  await page.goForward();
  await page.getByRole("button", { name: "now" }).click();
  await page.getByText("now · RUNNING 0").waitFor();
});

test("what if: ten nodes more, one less, another policy; on a phone, by keys", async () => {
  await signIn(USER, "/", { viewport: { width: 390, height: 800 } });
  await pretend(10);
  await page.goto(`${server.address}/time`);
  const kind = page.getByLabel("Change", { exact: true });
  await kind.selectOption("add");
  await page.getByLabel("New nodes").fill("10x gpu:8:a100");
  await page.getByLabel("New nodes").press("Enter");
  await kind.selectOption("policy");
  await page.getByLabel("Change the policy").selectOption("backfill");
  await page.getByRole("button", { name: "Add", exact: true }).press("Enter");
  await page.getByRole("button", { name: "Compare" }).press("Enter");
  await page.getByRole("row", { name: /cid~wait-11 .*now .*sooner/ }).waitFor();
  assert.match(await page.locator(".summary").innerText(), /Start at once\s+10\s/);
  await checkPage("what if");
  await page.screenshot({ path: "what-if.png", fullPage: true });
  await page.getByRole("button", { name: /Remove: Add nodes/ }).press("Enter");
  await page.getByRole("button", { name: /Remove: Change the policy/ }).press("Enter");
  await kind.selectOption("drain");
  await page.getByLabel("Drain a node").selectOption("node0001");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("row", { name: /cid~wait-\d+ .*later/ }).first().waitFor();
  await kind.selectOption("add");
  await page.getByLabel("New nodes").fill("no nodes at all");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByRole("button", { name: "Compare" }).click();
  await see("alert", "");
});

test("a stranger sees none of it", async () => {
  for (const path of ["/api/v2/scheduler", "/api/v2/scheduler/log", "/api/v2/nodes", "/api/v2/audit", "/metrics"])
    assert.equal((await fetch(server.address + path)).status, 401, path);
});
