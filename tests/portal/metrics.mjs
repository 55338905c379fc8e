// metrics.mjs - charts of a job and of a node in Chromium: live, as a table, under the page's policy
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, checkAccess, page, signIn, status, stop, submit, usePortal } from "./browser.mjs";
import { ADMIN } from "./server.mjs";

usePortal();

/** Paths that the page asks for, and those of them that it did not get, since the sign-in. */
let asked, refused;

async function enter(path, options = {}) {
  asked = [];
  refused = [];
  await signIn(ADMIN, path, options);
  page.on("request", request => asked.push(request.url()));
  page.on("response", answer => answer.status() >= 400 && refused.push(answer.url()));
}

async function checkAll(what) {
  await checkAccess(what);
  assert.deepEqual(refused, []);
}

const chart = name => page.getByRole("img", { name });
const saidBy = async name => chart(name).getAttribute("aria-label");

/** Waits until a chart says something else than before. */
async function change(name, before) {
  await page.waitForFunction(([start, was]) => [...document.querySelectorAll("[role=img]")].some(
    one => one.getAttribute("aria-label")?.startsWith(start) && one.getAttribute("aria-label") !== was), [name, before]);
}

test("a job's charts grow while it runs, without asking again", async () => {
  await submit("burns", "while :; do timeout 1 sh -c 'while :; do :; done' || true; sleep 1; done");
  await enter("/jobs/admin~burns/tasks");
  await page.getByRole("tab", { name: "Metrics" }).click();
  await chart(/^CPUs: [0-9.]+/).waitFor();
  await chart(/^Memory: [0-9.]+ [KMG]iB/).waitFor();
  const calls = asked.filter(url => /\/metrics\?/.test(url)).length;
  await change("CPUs:", await saidBy(/^CPUs:/));
  await change("CPUs:", await saidBy(/^CPUs:/));
  assert.equal(asked.filter(url => /\/metrics\?/.test(url)).length, calls);
  assert.equal(await page.locator(".chart canvas").count() >= 2, true);
  await checkAll("job");
  await page.screenshot({ path: "metrics-job.png", fullPage: true });
});

test("the same as a table, another range, and another theme", async () => {
  await enter("/jobs/admin~burns/metrics");
  await chart(/^CPUs:/).waitFor();
  await page.getByText("Values as a table").click();
  await page.getByRole("columnheader", { name: "CPUs" }).waitFor();
  await page.getByLabel("Time range").selectOption("Last hour");
  await page.waitForURL(/range=1h/);
  await chart(/^CPUs:/).waitFor();
  await page.getByRole("button", { name: "Dark or light" }).click();
  await checkAll("table, dark");
  await page.goBack();
  await page.screenshot({ path: "metrics-dark.png", fullPage: true });
});

test("a job that is over has its charts, and no stream", async () => {
  await stop("admin~burns");
  await enter("/jobs/admin~burns/metrics");
  await status("STOPPED");
  await chart(/^CPUs:/).waitFor();
  await page.getByText("Mean CPU use").waitFor();
  assert.equal(await page.getByLabel("Time range").count(), 0);
  await checkAll("job that is over");
});

test("a node has charts at its own address", async () => {
  const [node] = await call("GET", "/api/v2/nodes");
  await enter(`/nodes/${node.name}`);
  await page.getByRole("heading", { name: node.name }).waitFor();
  await chart(/^Memory: [0-9.]+ [KMG]iB/).waitFor();
  await chart(/^Load: /).waitFor();
  await change("Memory:", await saidBy(/^Memory:/));
  await checkAll("node");
  await page.screenshot({ path: "metrics-node.png", fullPage: true });
});

test("on a phone, in Chinese", async () => {
  const [node] = await call("GET", "/api/v2/nodes");
  await enter(`/nodes/${node.name}`, { viewport: { width: 390, height: 800 } });
  await chart(/^Memory:/).waitFor();
  await page.getByRole("button", { name: "中文" }).click();
  await chart(/^内存:/).waitFor();
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(width <= 390, true, `the page is ${width} wide`);
  await checkAll("phone");
});

test("a node that does not exist says so", async () => {
  await enter("/nodes/none");
  await page.getByRole("alert").waitFor();
});
