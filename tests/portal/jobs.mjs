// jobs.mjs - pages about jobs in Chromium: counters, the list, comparing, timeline, tasks, tags, logs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ADMIN, jobOf, trial } from "./trial.mjs";

const it = trial();

const tab = name => it.page.getByRole("tab", { name }).click();
const cells = row => row.getByRole("cell").allInnerTexts();

/** Submits a job and waits until it is over. */
async function run(name, command, change = file => file) {
  await it.call("POST", "/api/v2/jobs", change(jobOf(name, command)));
  const made = `${ADMIN.name}~${name}`;
  for (;;) {
    const job = await it.call("GET", `/api/v2/jobs/${made}`);
    if (/SUCCEEDED|FAILED|STOPPED/.test(job.jobStatus.state))
      return made;
    await new Promise(done => setTimeout(done, 100));
  }
}

test("home counts the user's jobs in one call, and goes on counting", async () => {
  const wanted = [];
  await run("counted", "true");
  await it.signIn(ADMIN);
  it.page.on("request", request => wanted.push(new URL(request.url()).pathname));
  const counter = state => it.page.locator(".counters a", { hasText: state }).locator(".big");
  await it.page.waitForFunction(() => document.querySelector(".counters .big")?.textContent === "0");
  const before = Number(await counter("SUCCEEDED").innerText());
  await run("counted-2", "true");
  await it.page.waitForFunction(([big, n]) => big.textContent === String(n), [await counter("SUCCEEDED").elementHandle(), before + 1]);
  assert.ok(wanted.includes("/api/v2/job-counts"), wanted.join());
  assert.deepEqual(await it.call("GET", "/api/v2/job-counts?username=nobody"),
    { waiting: 0, running: 0, stopping: 0, stopped: 0, succeeded: 0, failed: 0 });
  const all = await it.call("GET", "/api/v2/job-counts");
  assert.equal(all.succeeded, (await it.call("GET", "/api/v2/jobs?state=SUCCEEDED&withTotalCount=true&limit=0")).totalCount);
});

test("the list: priority, user, page, views, and all of a page at once", async () => {
  for (let i = 0; i < 22; i++)
    await it.submit(`many-${i}`, "true");
  const urgent = file => file.replace("type: job", "type: job\nextras: {hivedScheduler: {jobPriorityClass: prod}}");
  await it.call("POST", "/api/v2/jobs", urgent(jobOf("many-urgent", "true")));
  await it.signIn(ADMIN, "/jobs?keyword=many-");
  await it.page.getByLabel("Jobs on a page").selectOption("20");
  await it.page.getByText("1 – 20 of 23").waitFor();
  await it.page.getByLabel("Page", { exact: true }).fill("2");
  await it.page.keyboard.press("Enter");
  await it.page.getByText("21 – 23 of 23").waitFor();
  await it.page.getByLabel("Select all of this page").check();
  assert.equal(await it.page.locator("tbody input:checked").count(), 3);
  await it.page.getByLabel("Priority").selectOption("prod");
  await it.page.getByText("1 – 1 of 1").waitFor();
  await it.page.getByRole("button", { name: "Save this view" }).click();
  await it.page.getByRole("dialog").getByLabel("Name").fill("urgent ones");
  await it.page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await it.page.goto(`${it.server.address}/jobs?user=nobody`);
  await it.page.getByText("No jobs match.").waitFor();
  await it.page.getByLabel("Views").selectOption("urgent ones");
  await it.page.getByRole("row", { name: /many-urgent/ }).waitFor();
  await it.checkAccess("list with views");
  await it.page.getByRole("button", { name: "Remove this view" }).click();
  await it.page.getByRole("button", { name: "Save this view" }).waitFor();
  await it.page.getByRole("textbox", { name: "User" }).fill("@me");
  await it.page.keyboard.press("Enter");
  await it.page.getByRole("checkbox", { name: "Only my jobs" }).and(it.page.locator(":checked")).waitFor();
});

test("two jobs are compared by outcome, meaning and text", async () => {
  const good = await run("twin-a", "echo a");
  const bad = await run("twin-b", "exit 3", file => file.replace("memoryMB: 64", "memoryMB: 128"));
  await it.signIn(ADMIN, "/jobs?keyword=twin-");
  await it.page.getByLabel(`Select ${good}`).check();
  await it.page.getByLabel(`Select ${bad}`).check();
  await it.page.getByRole("link", { name: "Compare" }).click();
  const row = name => it.page.getByRole("row", { name });
  await row(/^State/).waitFor();
  assert.deepEqual((await cells(row(/^State/))).sort(), ["FAILED", "SUCCEEDED"]);
  assert.deepEqual((await cells(row(/^\/taskRoles\/main\/resourcePerInstance\/memoryMB/))).sort(), ["128", "64"]);
  const sides = it.page.getByRole("region", { name: "Config" }).locator("tr.differs");
  assert.equal(await sides.count(), 3); // the name, the memory, the command
  await it.checkAccess("compare");
  await it.page.screenshot({ path: "compare.png", fullPage: true });
  await it.page.setViewportSize({ width: 390, height: 800 });
  await it.checkWidth();
});

test("the timeline has the starts of all attempts, also as a table", async () => {
  const sign = `${it.server.root}/again`;
  const name = await run("timed", `test -e ${sign} && sleep 0.3 && exit 0; touch ${sign}; exit 1`, file => file.replace("type: job", "type: job\njobRetryCount: 1"));
  await it.signIn(ADMIN, `/jobs/${name}/timeline`);
  await it.page.getByRole("img", { name: /^main\/0: .*: FAILED/ }).waitFor();
  await it.page.getByText("As a table").click();
  const rows = await it.page.getByRole("region", { name: "As a table" }).locator("tbody tr").allInnerTexts();
  assert.ok(rows.some(row => /^0\s+main\/0\s+\w+: FAILED/.test(row)), rows.join("\n"));
  assert.ok(rows.some(row => /^1\s+main\/0\s+running: SUCCEEDED/.test(row)), rows.join("\n"));
  await it.checkAccess("timeline");
  await it.page.screenshot({ path: "timeline.png", fullPage: true });
  await tab("Tasks");
  await it.page.getByLabel("Attempt").selectOption("0");
  await it.page.getByRole("row", { name: /FAILED/ }).waitFor();
});

test("tasks are filtered, explained and exported", async () => {
  const name = await run("parts", "exit $PAI_TASK_INDEX", file => file.replace("dockerImage: image", "instances: 2\n    completion: {minFailedInstances: 3}\n    dockerImage: image"));
  await it.signIn(ADMIN, `/jobs/${name}`);
  await it.page.getByRole("row", { name: /FAILED/ }).waitFor();
  assert.equal(await it.page.locator("tbody tr").count(), 2);
  await it.page.getByLabel("Exit code").selectOption("0");
  await it.page.getByRole("row", { name: /FAILED/ }).waitFor({ state: "detached" });
  await it.page.getByLabel("Exit code").selectOption("");
  await it.page.getByLabel("Filter tasks").fill("main/1");
  await it.page.getByRole("row", { name: /SUCCEEDED/ }).waitFor({ state: "detached" });
  const [saved] = await Promise.all([it.page.waitForEvent("download"), it.page.getByRole("button", { name: "Export as CSV" }).click()]);
  const lines = readFileSync(await saved.path(), "utf8").split("\r\n");
  assert.equal(lines[0], "Task Role,Task Index,Task State,Task Retries,IP,Ports,Exit Type,Exit Code,Running Start Time,Running Duration,Node Name,Container ID");
  assert.match(lines[1], /^main,1,FAILED,0,/);
  assert.equal(lines.length, 3);
  await it.page.getByRole("button", { name: "Details: main/1" }).click();
  await it.page.getByRole("table", { name: "Starts of main/1" }).locator("tbody tr").waitFor();
  await it.checkAccess("tasks");
  await it.page.screenshot({ path: "tasks.png", fullPage: true });
});

test("tags come and go", async () => {
  const name = await run("tagged", "true");
  await it.signIn(ADMIN, `/jobs/${name}`);
  await it.page.getByRole("button", { name: "Add a tag" }).click();
  await it.page.getByLabel("Tag", { exact: true }).fill("keep me");
  await it.page.getByRole("dialog").getByRole("button", { name: "Add a tag" }).click();
  await it.page.getByRole("button", { name: "Remove the tag keep me" }).waitFor();
  assert.deepEqual((await it.call("GET", `/api/v2/jobs/${name}`)).tags, ["keep me"]);
  await it.page.getByRole("button", { name: "Remove the tag keep me" }).click();
  await it.page.getByRole("button", { name: "Remove the tag keep me" }).waitFor({ state: "detached" });
});

test("find in a log does not look at the case, unless told to", async () => {
  const name = await run("cases", "echo Error: one; echo error: two");
  await it.signIn(ADMIN, `/jobs/${name}/logs`);
  await it.page.getByRole("log").getByText("two").waitFor();
  await it.page.getByLabel("Find in the log").fill("ERROR");
  await it.page.getByText("Matches: 2").waitFor();
  await it.page.getByLabel("Find in the log").fill("Error");
  await it.page.getByLabel("Match case").check();
  await it.page.getByText("Matches: 1").waitFor();
});

test("pages about a job in Chinese, dark, on a phone", async () => {
  const name = await run("small", "true");
  await it.signIn(ADMIN, `/jobs/${name}`, { viewport: { width: 390, height: 800 }, locale: "zh-CN", colorScheme: "dark" });
  for (const part of ["实例", "时间线"]) {
    await tab(part);
    await it.checkAccess(part);
    await it.checkWidth();
  }
  await it.page.screenshot({ path: "timeline-phone.png" });
});
