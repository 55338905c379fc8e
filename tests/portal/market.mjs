// market.mjs - the marketplace in Chromium: templates are found, used, made, shared and removed
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, checkAccess, checkWidth, page, server, signIn, status, submit, usePortal } from "./browser.mjs";
import { ADMIN, jobOf, USER } from "./server.mjs";

usePortal();

const create = body => call("POST", "/api/v2/marketplace/items", { protocol: jobOf("from-template", "echo it ran"), ...body });
const heading = name => page.getByRole("heading", { name, level: 1, exact: true }).waitFor();

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
  await status("SUCCEEDED");
  const item = await call("GET", `/api/v2/marketplace/items/${id}`);
  assert.deepEqual([item.useNumber, item.starNumber], [1, 1]);
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
});

test("a template is made from a job, changed, shared and removed", async () => {
  await call("POST", "/api/v2/groups", { groupname: "team" });
  await signIn(ADMIN, "/marketplace");
  await submit("base", "echo base");
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
  await checkWidth();
  await checkAccess("phone");
  await page.screenshot({ path: "market_phone.png" });
});
