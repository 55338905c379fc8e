// browser.mjs - Chromium with a server, for the tests of one file
//
// usePortal() starts both before the tests and ends them after these. What the
// console of any window complains about fails its test, also what the policy of
// a page forbids.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";
import { ADMIN, jobOf, makeServer, USER } from "./server.mjs";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const PATIENCE = 60000; // milliseconds: two busy cores are slow

/** The server; the window that was opened last, and its first page. */
export let server, context, page;

let browser, windows = [], problems = [], forgiven = [];

/** Starts a server with the user USER, and a browser.
 * `prepare` may write into the server's folder; it returns what start() takes, and `users` if there are others. */
export function usePortal(prepare = () => ({})) {
  before(async () => {
    server = makeServer();
    const { users = [USER], ...options } = await prepare(server.root) ?? {};
    await server.start(options);
    for (const { name, password } of users)
      await server.call("POST", "/api/v2/users", { username: name, password, virtualCluster: ["default"] });
    browser = await chromium.launch({
      executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"], timeout: PATIENCE });
  });
  afterEach(async test => {
    await Promise.all(windows.map(one => one.close()));
    const found = problems.filter(text => !forgiven.some(pattern => pattern.test(text)));
    windows = [];
    problems = [];
    forgiven = [];
    if (found.length > 0)
      console.log(`${test.name}: the console said:\n${found.join("\n")}`); // also if the test has failed before
    assert.deepEqual(found, []);
  });
  after(async () => {
    await browser?.close();
    await server?.remove();
  });
}

/** Lets the consoles of this test say something. */
export const forgive = pattern => void forgiven.push(pattern);

/** Lets the windows of this test lose the server. */
export const forgiveLostServer = () => forgive(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY|WebSocket/);

/** Opens a path of the server, or an address, in a new window without a session. */
export async function open(path = "/", options = {}) {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  windows.push(context);
  context.setDefaultTimeout(PATIENCE);
  context.on("console", message => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
      problems.push(message.text());
  });
  context.on("weberror", one => problems.push(String(one.error())));
  page = await context.newPage();
  await page.goto(new URL(path, server.address).href);
  return page;
}

/** Fills and sends the form of the log-in page, in either language. */
export async function fillSignIn({ name, password }, on = page) {
  await on.getByLabel(/^(User name|用户名)$/).fill(name);
  await on.getByLabel(/^(Password|密码)$/).fill(password);
  await on.getByRole("button", { name: /^(Sign in|登录)$/ }).click();
}

/** Opens a window that a user is signed in to. */
export async function signIn(who = USER, path = "/", options = {}) {
  await open(path, options);
  await fillSignIn(who);
  await page.getByRole("navigation").first().waitFor();
  return page;
}

export const see = (role, name, on = page) => on.getByRole(role, { name }).first().waitFor();
export const status = state => page.getByRole("status").filter({ hasText: new RegExp(`^${state}$`) }).waitFor();

/** A call of the REST API as the administrator. */
export const call = (method, path, body) => server.call(method, path, body);

/** Submits a job of the administrator, with a file that may be changed; returns its full name. */
export async function submit(name, command, change = file => file) {
  await call("POST", "/api/v2/jobs", change(jobOf(name, command)));
  return `${ADMIN.name}~${name}`;
}

export const stop = job => call("PUT", `/api/v2/jobs/${job}/executionType`, { value: "STOP" });
export const isRunning = job => server.waitForState(job, /^RUNNING$/);
export const isOver = job => server.waitForState(job, /^(SUCCEEDED|FAILED|STOPPED)$/);

/** axe-core finds nothing on the page. */
export async function checkAccess(what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(one => `${what}: ${one.id}: ${one.nodes.map(node => node.html.slice(0, 160)).join(" | ")}`), []);
}

/** Nothing is wider than the window. */
export async function checkWidth(what = page.url()) {
  const [width, most] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= most, `${what} is ${width} wide, the window ${most}`);
}

export async function checkPage(what) {
  await checkAccess(what);
  await checkWidth(what);
}
