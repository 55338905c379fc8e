// visit.mjs - a browser on a server of its own, for a file of tests
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";
import { call, startServer, USER } from "./server.mjs";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** What the tests of a file use; `page` is that of the last sign-in. */
export const visit = { server: null, page: null };

let browser, context, problems = [];

before(async () => {
  visit.server = await startServer(process.env.OPENPAI_PROGRAM);
  await call(visit.server, "POST", "/api/v2/users", { username: USER.name, password: USER.password, virtualCluster: ["default"] });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});

after(async () => {
  await browser?.close();
  await visit.server?.remove();
});

/* Whatever the console complains about fails the test: also what the page's policy forbids. */
afterEach(async () => {
  await context?.close();
  const found = problems;
  problems = [];
  assert.deepEqual(found, []);
});

/** What the console said, and was to say. */
export function forgive(text) {
  problems = problems.filter(one => !text.test(one));
}

/** Opens an address in a new window, without a session. */
export async function open(path = "/", options = {}) {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  context.setDefaultTimeout(30000);
  const page = visit.page = await context.newPage();
  page.on("console", message => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
      problems.push(message.text());
  });
  page.on("pageerror", error => problems.push(String(error)));
  await page.goto(visit.server.address + path);
  return page;
}

export async function signIn(who, path = "/", options = {}) {
  const page = await open(path, options);
  await page.getByLabel("User name").fill(who.name);
  await page.getByLabel("Password").fill(who.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").first().waitFor();
  return page;
}

export const see = (role, name) => visit.page.getByRole(role, { name }).first().waitFor();

/** axe-core finds nothing, and the page is not wider than the window. */
export async function checkAccess(what) {
  const { page } = visit;
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(one => `${what}: ${one.id}: ${one.nodes.map(node => node.html.slice(0, 160)).join(" | ")}`), []);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${what} is wider than the window`);
}
