// alerts.mjs - the portal's page of alerts: list, bell, silence, acknowledgement, rules
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkAccess, checkWidth, page, signIn, usePortal } from "./browser.mjs";
import { ADMIN, USER } from "./server.mjs";

usePortal(root => writeFileSync(join(root, "alerts.yaml"), `interval: 1s
rules: [{alert: Here, expr: openpai_cpus > 0, severity: error, summary: "There are {{value}} <b>CPUs</b>."}]
disabled: [NodeFilesystemUsage, NodeMemoryUsage, NodeCPUUsage]
`, { mode: 0o600 }));

const row = () => page.getByRole("region", { name: "Alerts" }).getByRole("row").filter({ hasText: "Here" });

test("an administrator acknowledges and silences an alert; the bell counts", async () => {
  await signIn(ADMIN, "/alerts");
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
});

test("a user sees no alerts of the machine, and silences nothing", async () => {
  await signIn(USER, "/alerts");
  await page.getByText("There are no alerts.").waitFor();
  await page.getByRole("link", { name: "Alerts: 0" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "End silence" }).count(), 0);
});

test("in Chinese, on a phone", async () => {
  await signIn(ADMIN, "/alerts", { locale: "zh-CN", viewport: { width: 390, height: 800 } });
  await page.getByRole("heading", { name: "告警" }).waitFor();
  await page.getByRole("link", { name: "告警：1" }).waitFor();
  await page.getByRole("button", { name: "确认" }).first().waitFor();
  await checkAccess("Chinese");
  await page.screenshot({ path: "alerts-zh.png" });
  await checkWidth(); // only tables scroll
});
