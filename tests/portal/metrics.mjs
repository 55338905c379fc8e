// metrics.mjs - charts of a job and of a node in Chromium: live, as a table, under the page's policy
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { chromium } from "playwright-core";
import { ADMIN, call, jobOf, startServer } from "./server.mjs";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
let server, browser, context, page, problems, asked;

before(async () => {
  server = await startServer(process.env.OPENPAI_PROGRAM);
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});

after(async () => {
  await browser?.close();
  await server?.remove();
});

afterEach(async () => {
  await context?.close();
});

async function signIn(path, options = {}) {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  context.setDefaultTimeout(30000);
  page = await context.newPage();
  problems = [];
  asked = [];
  page.on("console", message => {
    if (message.type() === "error")
      problems.push(message.text());
  });
  page.on("pageerror", error => problems.push(String(error)));
  page.on("request", request => asked.push(request.url()));
  await page.goto(server.address + path);
  await page.getByLabel("User name").fill(ADMIN.name);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  problems = problems.filter(text => !/status of 401/.test(text)); // before the sign-in
}

async function checkPage() {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 160)).join(" | ")}`), []);
  assert.deepEqual(problems, []);
}

const chart = name => page.getByRole("img", { name });
const saidBy = async name => chart(name).getAttribute("aria-label");

/** Waits until a chart says something else than before. */
async function change(name, before) {
  await page.waitForFunction(([start, was]) => [...document.querySelectorAll("[role=img]")].some(
    one => one.getAttribute("aria-label")?.startsWith(start) && one.getAttribute("aria-label") !== was), [name, before]);
}

const submit = async (name, command) => (await call(server, "POST", "/api/v2/jobs", jobOf(name, command))).name;
const stop = name => call(server, "PUT", `/api/v2/jobs/${name}/executionType`, { value: "STOP" });

test("a job's charts grow while it runs, without asking again", async () => {
  await submit("burns", "while :; do timeout 1 sh -c 'while :; do :; done' || true; sleep 1; done");
  await signIn("/jobs/admin~burns/tasks");
  await page.getByRole("tab", { name: "Metrics" }).click();
  await chart(/^CPUs: [0-9.]+/).waitFor();
  await chart(/^Memory: [0-9.]+ [KMG]iB/).waitFor();
  const calls = asked.filter(url => /\/metrics\?/.test(url)).length;
  await change("CPUs:", await saidBy(/^CPUs:/));
  await change("CPUs:", await saidBy(/^CPUs:/));
  assert.equal(asked.filter(url => /\/metrics\?/.test(url)).length, calls);
  assert.equal(await page.locator(".chart canvas").count() >= 2, true);
  await checkPage();
  await page.screenshot({ path: "metrics-job.png", fullPage: true });
});

test("the same as a table, another range, and another theme", async () => {
  await signIn("/jobs/admin~burns/metrics");
  await chart(/^CPUs:/).waitFor();
  await page.getByText("Values as a table").click();
  await page.getByRole("columnheader", { name: "CPUs" }).waitFor();
  await page.getByLabel("Time range").selectOption("Last hour");
  await page.waitForURL(/range=1h/);
  await chart(/^CPUs:/).waitFor();
  await page.getByRole("button", { name: "Dark or light" }).click();
  await checkPage();
  await page.goBack();
  await page.screenshot({ path: "metrics-dark.png", fullPage: true });
});

test("a job that is over has its charts, and no stream", async () => {
  await stop("admin~burns");
  await signIn("/jobs/admin~burns/metrics");
  await page.getByRole("status").filter({ hasText: /^STOPPED$/ }).waitFor();
  await chart(/^CPUs:/).waitFor();
  await page.getByText("Mean CPU use").waitFor();
  assert.equal(await page.getByLabel("Time range").count(), 0);
  await checkPage();
});

test("a node has charts at its own address", async () => {
  const [node] = await call(server, "GET", "/api/v2/nodes");
  await signIn(`/nodes/${node.name}`);
  await page.getByRole("heading", { name: node.name }).waitFor();
  await chart(/^Memory: [0-9.]+ [KMG]iB/).waitFor();
  await chart(/^Load: /).waitFor();
  await change("Memory:", await saidBy(/^Memory:/));
  await checkPage();
  await page.screenshot({ path: "metrics-node.png", fullPage: true });
});

test("on a phone, in Chinese", async () => {
  const [node] = await call(server, "GET", "/api/v2/nodes");
  await signIn(`/nodes/${node.name}`, { viewport: { width: 390, height: 800 } });
  await chart(/^Memory:/).waitFor();
  await page.getByRole("button", { name: "中文" }).click();
  await chart(/^内存:/).waitFor();
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(width <= 390, true, `the page is ${width} wide`);
  await checkPage();
});

test("a node that does not exist says so", async () => {
  await signIn("/nodes/none");
  await page.getByRole("alert").waitFor();
});
