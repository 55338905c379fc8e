// alerts.mjs - the portal's page of alerts: list, bell, silence, acknowledgement, rules
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { chromium } from "playwright-core";
import { ADMIN, call, startServer, USER } from "./server.mjs";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
let server, root, browser, context, page, problems;

before(async () => {
  root = mkdtempSync(join(tmpdir(), "openpai-portal-"));
  writeFileSync(join(root, "alerts.yaml"), `interval: 1s
rules: [{alert: Here, expr: openpai_cpus > 0, severity: error, summary: "There are {{value}} <b>CPUs</b>."}]
disabled: [NodeFilesystemUsage, NodeMemoryUsage, NodeCPUUsage]
`, { mode: 0o600 });
  server = await startServer(process.env.OPENPAI_PROGRAM, 0, root);
  await call(server, "POST", "/api/v2/users", { username: USER.name, password: USER.password, virtualCluster: ["default"] });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});

after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(root, { recursive: true, force: true });
});

afterEach(async () => {
  await context?.close();
});

async function signIn(who, options = {}) {
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  context.setDefaultTimeout(30000);
  page = await context.newPage();
  problems = [];
  page.on("console", message => {
    if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
      problems.push(message.text());
  });
  page.on("pageerror", error => problems.push(String(error)));
  await page.goto(`${server.address}/alerts`);
  await page.getByLabel(/User name|用户名/).fill(who.name);
  await page.getByLabel(/Password|密码/).fill(who.password);
  await page.getByRole("button", { name: /Sign in|登录/ }).click();
  await page.getByRole("navigation").waitFor();
}

async function checkAccess(what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(one => `${what}: ${one.id}: ${one.nodes.map(node => node.html.slice(0, 160)).join(" | ")}`), []);
}

const row = () => page.getByRole("region", { name: "Alerts" }).getByRole("row").filter({ hasText: "Here" });

test("an administrator acknowledges and silences an alert; the bell counts", async () => {
  await signIn(ADMIN);
  await row().waitFor();
  assert.match(await row().innerText(), /There are \d+ <b>CPUs<\/b>\./); // as text
  await page.getByRole("link", { name: "Alerts: 1" }).waitFor();
  await page.getByRole("region", { name: "Rules" }).getByText("openpai_job_retries >= 4").waitFor();
  await checkAccess("alerts");
  await row().getByRole("button", { name: "Acknowledge" }).click();
  await row().getByText("acknowledged by admin").waitFor();
  await page.getByRole("link", { name: "Alerts: 0" }).waitFor();
  await row().getByRole("button", { name: "Remove acknowledgement" }).click();
  await page.getByRole("link", { name: "Alerts: 1" }).waitFor();
  await row().getByRole("button", { name: "Silence" }).click();
  await page.getByLabel("Comment").fill("planned");
  await checkAccess("dialog");
  await page.getByRole("dialog").getByRole("button", { name: "Silence" }).click();
  await row().getByText("silenced").waitFor();
  const silences = page.getByRole("region", { name: "Silences" });
  await silences.getByRole("row").filter({ hasText: "alertname=Here" }).filter({ hasText: "planned" }).waitFor();
  await page.getByRole("link", { name: "Alerts: 0" }).waitFor();
  await page.screenshot({ path: "alerts.png" });
  await checkAccess("silences");
  await silences.getByRole("button", { name: "End silence" }).click();
  await silences.getByText("expired").waitFor();
  await row().getByText("firing").waitFor();
  assert.deepEqual(problems, []);
});

test("a user sees no alerts of the machine, and silences nothing", async () => {
  await signIn(USER);
  await page.getByText("There are no alerts.").waitFor();
  await page.getByRole("link", { name: "Alerts: 0" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "End silence" }).count(), 0);
  assert.deepEqual(problems, []);
});

test("in Chinese, on a phone", async () => {
  await signIn(ADMIN, { locale: "zh-CN", viewport: { width: 390, height: 800 } });
  await page.getByRole("heading", { name: "告警" }).waitFor();
  await page.getByRole("link", { name: "告警：1" }).waitFor();
  await page.getByRole("button", { name: "确认" }).first().waitFor();
  await checkAccess("Chinese");
  await page.screenshot({ path: "alerts-zh.png" });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)); // only tables scroll
  assert.deepEqual(problems, []);
});
