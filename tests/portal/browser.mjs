// browser.mjs - windows of Chromium for a test file; what their console complains about fails the test
import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";

/** The open window: its context, its first page, and what went wrong in it. */
export const now = { context: null, page: null, problems: [] };

let browser;

/** Opens a browser for all tests of the file, and closes each test's windows. */
export function useBrowser() {
  before(async () => {
    browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  });
  after(() => browser?.close());
  afterEach(async () => {
    await now.context?.close();
    const found = now.problems;
    now.problems = [];
    assert.deepEqual(found, []);
  });
}

/** Opens a new window at an address. */
export async function open(address, options = {}) {
  now.context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  now.context.setDefaultTimeout(30000);
  const page = now.page = await now.context.newPage();
  now.problems = [];
  page.on("console", message => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
      now.problems.push(message.text());
  });
  page.on("pageerror", error => now.problems.push(String(error)));
  await page.goto(address);
  return page;
}

/** Opens a window that a user is signed in to. */
export async function signIn(server, who, path = "/", options = {}) {
  const page = await open(server.address + path, options);
  await page.getByLabel("User name").fill(who.name);
  await page.getByLabel("Password").fill(who.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation").waitFor();
  return page;
}
