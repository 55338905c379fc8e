// jobs.mjs - pages about jobs in Chromium: counters, the list, comparing, timeline, tasks, tags, logs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call, checkAccess, checkWidth, isOver, page, server, signIn, submit, usePortal } from "./browser.mjs";
import { ADMIN } from "./server.mjs";

usePortal();

const tab = name => page.getByRole("tab", { name }).click();

async function cells(row) {
  await row.waitFor();
  return row.getByRole("cell").allInnerTexts();
}

/** Submits a job and waits until it is over. */
async function run(name, command, change) {
  const job = await submit(name, command, change);
  await isOver(job);
  return job;
}

test("home counts the user's jobs in one call, and goes on counting", async () => {
  const wanted = [];
  await run("counted", "true");
  await signIn(ADMIN);
  page.on("request", request => wanted.push(new URL(request.url()).pathname));
  const counter = state => page.locator(".counters a", { hasText: state }).locator(".big");
  await page.waitForFunction(() => document.querySelector(".counters .big")?.textContent === "0");
  const before = Number(await counter("SUCCEEDED").innerText());
  await run("counted-2", "true");
  await page.waitForFunction(([big, n]) => big.textContent === String(n), [await counter("SUCCEEDED").elementHandle(), before + 1]);
  assert.ok(wanted.includes("/api/v2/job-counts"), wanted.join());
  assert.deepEqual(await call("GET", "/api/v2/job-counts?username=nobody"),
    { waiting: 0, running: 0, stopping: 0, stopped: 0, succeeded: 0, failed: 0 });
  const all = await call("GET", "/api/v2/job-counts");
  assert.equal(all.succeeded, (await call("GET", "/api/v2/jobs?state=SUCCEEDED&withTotalCount=true&limit=0")).totalCount);
});

test("the list: priority, user, page, views, and all of a page at once", async () => {
  for (let i = 0; i < 22; i++)
    await submit(`many-${i}`, "true");
  const urgent = file => file.replace("type: job", "type: job\nextras: {hivedScheduler: {jobPriorityClass: prod}}");
  await submit("many-urgent", "true", urgent);
  await signIn(ADMIN, "/jobs?keyword=many-");
  await page.getByLabel("Jobs on a page").selectOption("20");
  await page.getByText("1 – 20 of 23").waitFor();
  await page.getByLabel("Page", { exact: true }).fill("2");
  await page.keyboard.press("Enter");
  await page.getByText("21 – 23 of 23").waitFor();
  await page.getByLabel("Select all of this page").check();
  assert.equal(await page.locator("tbody input:checked").count(), 3);
  await page.getByLabel("Priority").selectOption("prod");
  await page.getByText("1 – 1 of 1").waitFor();
  await page.getByRole("button", { name: "Save this view" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("urgent ones");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.goto(`${server.address}/jobs?user=nobody`);
  await page.getByText("No jobs match.").waitFor();
  await page.getByLabel("Views").selectOption("urgent ones");
  await page.getByRole("row", { name: /many-urgent/ }).waitFor();
  await checkAccess("list with views");
  await page.getByRole("button", { name: "Remove this view" }).click();
  await page.getByRole("button", { name: "Save this view" }).waitFor();
  await page.getByRole("textbox", { name: "User" }).fill("@me");
  await page.keyboard.press("Enter");
  await page.getByRole("checkbox", { name: "Only my jobs" }).and(page.locator(":checked")).waitFor();
});

test("two jobs are compared by outcome, meaning and text", async () => {
  const good = await run("twin-a", "echo a");
  const bad = await run("twin-b", "exit 3", file => file.replace("memoryMB: 64", "memoryMB: 128"));
  await signIn(ADMIN, "/jobs?keyword=twin-");
  await page.getByLabel(`Select ${good}`).check();
  await page.getByLabel(`Select ${bad}`).check();
  await page.getByRole("link", { name: "Compare" }).click();
  const row = name => page.getByRole("row", { name });
  assert.deepEqual((await cells(row(/^State/))).sort(), ["FAILED", "SUCCEEDED"]);
  assert.deepEqual((await cells(row(/^\/taskRoles\/main\/resourcePerInstance\/memoryMB/))).sort(), ["128", "64"]);
  const sides = page.getByRole("region", { name: "Config" }).locator("tr.differs");
  await sides.nth(2).waitFor();
  assert.equal(await sides.count(), 3); // the name, the memory, the command
  await checkAccess("compare");
  await page.screenshot({ path: "compare.png", fullPage: true });
  await page.setViewportSize({ width: 390, height: 800 });
  await checkWidth();
});

test("the timeline has the starts of all attempts, also as a table", async () => {
  const sign = `${server.root}/again`;
  const name = await run("timed", `test -e ${sign} && sleep 0.3 && exit 0; touch ${sign}; exit 1`, file => file.replace("type: job", "type: job\njobRetryCount: 1"));
  await signIn(ADMIN, `/jobs/${name}/timeline`);
  await page.getByRole("img", { name: /^main\/0: .*: FAILED/ }).waitFor();
  await page.getByText("As a table").click();
  const lines = page.getByRole("region", { name: "As a table" }).locator("tbody tr");
  await lines.first().waitFor();
  const rows = await lines.allInnerTexts();
  assert.ok(rows.some(row => /^0\s+main\/0\s+\w+: FAILED/.test(row)), rows.join("\n"));
  assert.ok(rows.some(row => /^1\s+main\/0\s+running: SUCCEEDED/.test(row)), rows.join("\n"));
  await checkAccess("timeline");
  await page.screenshot({ path: "timeline.png", fullPage: true });
  await tab("Tasks");
  await page.getByLabel("Attempt").selectOption("0");
  await page.getByRole("row", { name: /FAILED/ }).waitFor();
});

test("tasks are filtered, explained and exported", async () => {
  const name = await run("parts", "exit $PAI_TASK_INDEX", file => file.replace("dockerImage: image", "instances: 2\n    completion: {minFailedInstances: 3}\n    dockerImage: image"));
  await signIn(ADMIN, `/jobs/${name}`);
  await page.getByRole("row", { name: /FAILED/ }).waitFor();
  assert.equal(await page.locator("tbody tr").count(), 2);
  await page.getByLabel("Exit code").selectOption("0");
  await page.getByRole("row", { name: /FAILED/ }).waitFor({ state: "detached" });
  await page.getByLabel("Exit code").selectOption("");
  await page.getByLabel("Filter tasks").fill("main/1");
  await page.getByRole("row", { name: /SUCCEEDED/ }).waitFor({ state: "detached" });
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export as CSV" }).click()]);
  const lines = readFileSync(await saved.path(), "utf8").split("\r\n");
  assert.equal(lines[0], "Task Role,Task Index,Task State,Task Retries,IP,Ports,Exit Type,Exit Code,Running Start Time,Running Duration,Node Name,Container ID");
  assert.match(lines[1], /^main,1,FAILED,0,/);
  assert.equal(lines.length, 3);
  await page.getByRole("button", { name: "Details: main/1" }).click();
  await page.getByRole("table", { name: "Starts of main/1" }).locator("tbody tr").waitFor();
  await checkAccess("tasks");
  await page.screenshot({ path: "tasks.png", fullPage: true });
});

test("tags come and go", async () => {
  const name = await run("tagged", "true");
  await signIn(ADMIN, `/jobs/${name}`);
  await page.getByRole("button", { name: "Add a tag" }).click();
  await page.getByLabel("Tag", { exact: true }).fill("keep me");
  await page.getByRole("dialog").getByRole("button", { name: "Add a tag" }).click();
  await page.getByRole("button", { name: "Remove the tag keep me" }).waitFor();
  assert.deepEqual((await call("GET", `/api/v2/jobs/${name}`)).tags, ["keep me"]);
  await page.getByRole("button", { name: "Remove the tag keep me" }).click();
  await page.getByRole("button", { name: "Remove the tag keep me" }).waitFor({ state: "detached" });
});

test("find in a log does not look at the case, unless told to", async () => {
  const name = await run("cases", "echo Error: one; echo error: two");
  await signIn(ADMIN, `/jobs/${name}/logs`);
  await page.getByRole("log").getByText("two").waitFor();
  await page.getByLabel("Find in the log").fill("ERROR");
  await page.getByText("Matches: 2").waitFor();
  await page.getByLabel("Find in the log").fill("Error");
  await page.getByLabel("Match case").check();
  await page.getByText("Matches: 1").waitFor();
});

test("pages about a job in Chinese, dark, on a phone", async () => {
  const name = await run("small", "true");
  await signIn(ADMIN, `/jobs/${name}`, { viewport: { width: 390, height: 800 }, locale: "zh-CN", colorScheme: "dark" });
  for (const part of ["实例", "时间线"]) {
    await tab(part);
    await checkAccess(part);
    await checkWidth();
  }
  await page.screenshot({ path: "timeline-phone.png" });
});
