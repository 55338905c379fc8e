// market.mjs - the marketplace in Chromium: templates are found, used, made, shared and removed
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { chromium } from "playwright-core";
import { ADMIN, call, jobOf, startServer, USER } from "./server.mjs";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
let server, browser, context, page, problems;

before(async () => {
  server = await startServer(process.env.OPENPAI_PROGRAM);
  await call(server, "POST", "/api/v2/users", { username: USER.name, password: USER.password, virtualCluster: ["default"] });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});

after(async () => {
  await browser?.close();
  await server?.remove();
});

afterEach(async () => {
  await context?.close();
});

async function signIn(who, path, options = {}) {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  context.setDefaultTimeout(30000);
  page = await context.newPage();
  problems = [];
  page.on("console", message => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
      problems.push(message.text());
  });
  page.on("pageerror", error => problems.push(String(error)));
  await page.goto(server.address + path);
  const zh = options.locale === "zh-CN";
  await page.getByLabel(zh ? "用户名" : "User name").fill(who.name);
  await page.getByLabel(zh ? "密码" : "Password").fill(who.password);
  await page.getByRole("button", { name: zh ? "登录" : "Sign in", exact: true }).click();
  await page.getByRole("navigation").waitFor();
}

const create = body => call(server, "POST", "/api/v2/marketplace/items", { protocol: jobOf("from-template", "echo it ran"), ...body });
const heading = name => page.getByRole("heading", { name, level: 1, exact: true }).waitFor();

async function checkAccess(what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(one => `${what}: ${one.id}: ${one.nodes.map(node => node.html.slice(0, 160)).join(" | ")}`), []);
}

test("templates are found by text, category and tag, and used", async () => {
  const { id } = await create({ name: "shared", summary: "Runs an echo", tags: ["speed"], categories: ["demo"] });
  await signIn(USER, "/");
  await page.getByRole("link", { name: "Marketplace", exact: true }).click();
  await heading("Marketplace");
  await page.getByRole("link", { name: "sweep", exact: true }).waitFor(); // built in
  await page.getByRole("link", { name: "shared", exact: true }).waitFor();
  await checkAccess("list");
  await page.screenshot({ path: "market_list.png" });
  await page.getByRole("searchbox", { name: "Search templates" }).fill("ECHO");
  await page.getByRole("link", { name: "sweep", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "Search templates" }).fill("");
  await page.getByLabel("All tags").selectOption("speed");
  await page.getByRole("link", { name: "sweep", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "shared", exact: true }).click();
  await heading("shared");
  await page.getByRole("button", { name: "Add star" }).click();
  await page.getByRole("button", { name: "Remove star" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Edit" }).count(), 0); // it is another user's
  await page.getByRole("link", { name: "Use", exact: true }).click();
  await page.getByRole("textbox", { name: "Job YAML" }).getByText("it ran").waitFor();
  await page.getByRole("button", { name: "Submit job" }).click();
  await page.getByRole("status").filter({ hasText: /^SUCCEEDED$/ }).waitFor();
  const item = await call(server, "GET", `/api/v2/marketplace/items/${id}`);
  assert.deepEqual([item.useNumber, item.starNumber], [1, 1]);
  assert.deepEqual(problems, []);
});

test("a template of OpenPAI opens the page Submit with its text", async () => {
  await signIn(USER, "/marketplace/train-checkpoints");
  await heading("train-checkpoints");
  await page.getByText("The first attempt ends in the middle of the training").first().waitFor();
  await page.getByRole("link", { name: "Use", exact: true }).click();
  await page.getByRole("textbox", { name: "Job YAML" }).getByText("train-checkpoints").waitFor();
  await page.getByText("No problems found.").waitFor();
});

test("descriptions of other users run nothing", async () => {
  const description = [
    "# Title", "<script>document.title='bad'</script><img src=x onerror=\"document.title='bad'\">",
    "[bad](javascript:document.title='bad') [good](https://example.org/a) **bold** `code`",
    "[data](data:text/html,x) <a href='//evil'>x</a>", "- one", "- two", "```", "<b>raw</b>", "```", "*".repeat(5000) + "[".repeat(5000),
  ].join("\n\n");
  const { id } = await create({ name: "hostile", description });
  await signIn(USER, `/marketplace/${id}`);
  await page.getByRole("heading", { name: "Title" }).waitFor();
  const text = page.locator(".markdown");
  assert.equal(await text.locator("script, img, b, iframe").count(), 0);
  assert.deepEqual(await text.locator("a").evaluateAll(all => all.map(one => one.getAttribute("href"))), ["https://example.org/a"]);
  assert.equal(await text.locator("li").count(), 2);
  assert.match(await text.innerText(), /<script>/); // as text
  assert.match(await page.title(), /^hostile/);
  await checkAccess("item");
  assert.deepEqual(problems, []);
});

test("a template is made from a job, changed, shared and removed", async () => {
  await call(server, "POST", "/api/v2/groups", { groupname: "team" });
  await signIn(ADMIN, "/marketplace");
  await call(server, "POST", "/api/v2/jobs", jobOf("base", "echo base"));
  await page.getByRole("link", { name: "New template" }).click();
  await heading("New template");
  await page.getByLabel("From one of your jobs").selectOption("base");
  await page.waitForFunction(() => [...document.querySelectorAll("textarea")].some(one => one.value.includes("echo base")));
  await page.getByLabel("Name", { exact: true }).fill("made here");
  await page.getByLabel("Description (Markdown)").fill("*Made* in a test");
  await checkAccess("edit");
  await page.screenshot({ path: "market_edit.png", fullPage: true });
  await page.getByRole("button", { name: "Save" }).click();
  await heading("made here");
  await page.getByText("Only me").waitFor();
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByLabel("Visible to").selectOption("groups");
  await page.getByLabel("Groups, separated by commas").fill("team");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("· team ·").waitFor();
  await page.screenshot({ path: "market_item.png" });
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Save" }).waitFor();
  await page.goto(`${server.address}/marketplace?mine=1`);
  const links = page.getByRole("link", { name: "made here", exact: true });
  await links.nth(1).waitFor();
  await links.first().click();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await heading("Marketplace");
  assert.deepEqual(problems, []);
});

test("another user's private template is not found", async () => {
  const { id } = await create({ name: "mine alone", isPrivate: true });
  await signIn(USER, `/marketplace/${id}`);
  await heading("There is no such template.");
  await page.goto(`${server.address}/submit`);
  await page.getByLabel("Example").waitFor();
  assert.equal(await page.getByRole("option", { name: /mine alone/ }).count(), 0);
});

test("in Chinese, on a phone", async () => {
  await create({ name: "中文模板", summary: "一个例子" });
  await signIn(USER, "/marketplace", { locale: "zh-CN", viewport: { width: 390, height: 844 } });
  await page.getByRole("heading", { name: "模板市场" }).waitFor();
  await page.getByRole("link", { name: "中文模板" }).click();
  await page.getByRole("link", { name: "使用", exact: true }).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await checkAccess("phone");
  await page.screenshot({ path: "market_phone.png" });
});
