// portal.mjs - the web portal in Chromium: as a user, as an administrator, and as a stranger
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { call, checkAccess, checkWidth, forgiveLostServer, open, page, see, server, signIn, status, stop, submit, usePortal } from "./browser.mjs";
import { ADMIN, jobOf, USER } from "./server.mjs";

usePortal();

test("a stranger sees the log-in page and nothing else", async () => {
  await open("/jobs");
  await see("button", "Sign in");
  assert.equal(await page.getByRole("table").count(), 0);
  await page.getByLabel("User name").fill(USER.name);
  await page.getByLabel("Password").fill("wrong-password-1");
  await page.getByRole("button", { name: "Sign in" }).click();
  await see("alert", "");
  await checkAccess("log-in");
});

test("paste an old JSON job, submit it, and watch it succeed", async () => {
  await signIn(USER, "/submit");
  const editor = page.getByRole("textbox", { name: "Job YAML" });
  await editor.waitFor();
  await editor.fill(JSON.stringify({
    jobName: "tutorial", image: "x", taskRoles: [
      { name: "main", taskNumber: 1, cpuNumber: 1, memoryMB: 64, gpuNumber: 0, command: "echo it ran" }],
  }, null, 2));
  await editor.getByText("protocolVersion").waitFor(); // it was converted
  await page.getByRole("button", { name: "Submit job" }).click();
  await see("heading", "ada~tutorial");
  await status("SUCCEEDED");
  await page.getByRole("tab", { name: "Logs" }).click();
  await page.getByRole("log").getByText("it ran").waitFor();
});

test("problems are shown while one types", async () => {
  await signIn(USER, "/submit");
  const editor = page.getByRole("textbox", { name: "Job YAML" });
  await editor.waitFor();
  await page.getByText("No problems found.").waitFor();
  await editor.fill("protocolVersion: 2\nname: x\ntpye: job\n");
  await page.getByText(/tpye/).nth(1).waitFor();
  await page.getByRole("button", { name: "Submit job" }).click();
  assert.match(await page.getByRole("alert").innerText(), /^\d+:\d+ [^{]*tpye[^{]*$/); // no JSON
});

test("how long a job would wait is told before it is submitted", async () => {
  const cpus = (await call("GET", "/api/v2/nodes"))[0].cpus;
  await signIn(USER, "/submit");
  await page.getByText("It would start now").waitFor();
  const name = await submit("fills", "sleep 600", file => file
    .replace("cpu: 1", `cpu: ${cpus}`).replace("type: job", "type: job\nextras: {openpai: {timeLimit: 10m}}"));
  const editor = page.getByRole("textbox", { name: "Job YAML" });
  await editor.fill(jobOf("after", "true"));
  await page.getByText(/May start: .* min/).waitFor();
  await page.screenshot({ path: "wait.png" });
  await stop(name);
});

test("the list of jobs is live, filtered and sorted", async () => {
  await signIn(USER, "/jobs");
  const name = await submit("listed", "sleep 600");
  const row = page.getByRole("row", { name: /listed/ });
  await row.getByText("RUNNING").waitFor();
  for (const heading of ["Name", "User", "State", "Virtual cluster"])
    await see("columnheader", heading);
  await page.getByRole("searchbox").fill("no-such-job");
  await page.getByText("No jobs match.").waitFor();
  await page.goBack();
  await page.goto(`${server.address}/jobs?keyword=listed`);
  await row.waitFor();
  await stop(name);
  await row.getByText("STOPPED").waitFor();
  await page.getByRole("button", { name: "Name" }).click();
  await page.locator("th[aria-sort=descending]", { hasText: "Name" }).waitFor();
});

test("a job's page: tabs, log with colours, why, stop", async () => {
  const name = await submit("paged", "printf '\\033[31mred\\033[0m line\\n10%%\\r100%%\\n'; sleep 600");
  await signIn(ADMIN, `/jobs/${name}`);
  await see("heading", name);
  await status("RUNNING");
  for (const tab of ["Tasks", "Logs", "Why", "Events", "Config", "Files"]) {
    await page.getByRole("tab", { name: tab }).click();
    await checkAccess(tab);
  }
  await page.getByRole("tab", { name: "Logs" }).click();
  const log = page.getByRole("log");
  await log.locator(".ansi-red", { hasText: "red" }).waitFor();
  await log.getByText("100%").waitFor();
  assert.equal(await log.getByText("10%", { exact: true }).count(), 0);
  await page.screenshot({ path: "job.png" });
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await status("STOPPED");
});

test("a failure is explained with its cure", async () => {
  const name = await submit("broken", "python3 -c 'import nosuchmodule'");
  await signIn(ADMIN, `/jobs/${name}`);
  await status("FAILED");
  await page.getByText("Python has no module 'nosuchmodule'.").waitFor();
  await page.getByText(/pip install nosuchmodule/).waitFor();
  await page.screenshot({ path: "failed.png" });
});

test("every page holds up to axe-core, in light, dark, Chinese and on a phone", async () => {
  await signIn(ADMIN);
  for (const [path, heading] of [["/", "Home"], ["/jobs", "Jobs"], ["/submit", "Submit"], ["/nodes", "Nodes"],
    ["/virtual-clusters", "Virtual clusters"], ["/alerts", "Alerts"], ["/users", "Users"], ["/profile", "admin"]]) {
    await page.goto(server.address + path);
    await see("heading", heading);
    await checkAccess(path);
    await page.screenshot({ path: `page${path.replaceAll("/", "-")}.png` });
  }
  await page.getByRole("button", { name: "Dark or light" }).click();
  await checkAccess("dark");
  await page.screenshot({ path: "dark.png" });
  await page.getByRole("button", { name: "中文" }).click();
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`${server.address}/jobs`);
  await see("heading", "任务");
  await checkAccess("phone");
  await page.screenshot({ path: "phone.png" });
  await checkWidth();
});

test("an administrator drains a node and adds a user", async () => {
  await signIn(ADMIN, "/nodes");
  await page.getByRole("button", { name: "Drain" }).click();
  await page.getByLabel("Reason (users see it)").fill("new disk");
  await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
  await page.getByText("new disk").waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await see("button", "Drain");
  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("button", { name: "Add user" }).click();
  await page.getByLabel("User name").fill("bob");
  await page.getByLabel("Password").fill("bobs-password-7");
  await page.getByRole("button", { name: "Add user" }).click();
  await see("rowheader", "bob");
});

test("what only administrators may do is not shown to users", async () => {
  await signIn(USER, "/nodes");
  await see("rowheader", "");
  assert.equal(await page.getByRole("button", { name: "Drain" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Users" }).count(), 0);
  await page.goto(`${server.address}/users`);
  await page.getByText("There is no such page.").waitFor();
});

test("old addresses lead to the new pages", async () => {
  const name = await submit("old-address", "true");
  await signIn(ADMIN, `/job-detail.html?username=admin&jobName=old-address`);
  await see("heading", name);
  for (const [old, now] of [["/job-list.html", "/jobs"], ["/submit.html", "/submit"], ["/home.html", "/"],
    ["/submit.html?op=resubmit&user=admin&jobName=old-address", "/submit?clone=admin~old-address"]]) {
    const response = await fetch(server.address + old, { redirect: "manual" });
    assert.equal(response.status, 302);
    assert.equal(response.headers.get("Location"), now);
  }
  assert.equal((await fetch(`${server.address}/view.html`)).status, 404);
});

test("a server that begins again loses nothing on the screen", async () => {
  const name = await submit("survivor", "sleep 600");
  await signIn(ADMIN, `/jobs/${name}`);
  await status("RUNNING");
  forgiveLostServer();
  await server.stop();
  await page.getByText(/server does not answer/).waitFor();
  await see("heading", name);
  await server.start();
  await page.getByText(/server does not answer/).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await status("STOPPED");
});

test("the keyboard alone: palette, search, rows", async () => {
  await submit("keyed", "true");
  await signIn(ADMIN);
  await see("heading", "Home"); // keys are heard
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("keyed");
  await see("option", /keyed/);
  await page.keyboard.press("Enter");
  await see("heading", /keyed/);
  await page.getByRole("link", { name: "Jobs" }).focus();
  await page.keyboard.press("Enter");
  await see("heading", "Jobs");
  await page.keyboard.press("/");
  await page.keyboard.type("keyed");
  await page.getByRole("row", { name: /keyed/ }).waitFor();
});

test("a job's page shows nothing of another job", async () => {
  const name = await submit("shown", "true");
  await signIn(ADMIN, `/jobs/${name}`);
  await see("heading", name);
  await page.evaluate(() => { history.pushState(null, "", "/jobs/not-there"); dispatchEvent(new PopStateEvent("popstate")); });
  await see("alert", "");
  assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 0);
});

test("the duration of a running job grows", async () => {
  const name = await submit("ticks", "sleep 600");
  await signIn(ADMIN, `/jobs/${name}`);
  await status("RUNNING");
  const shown = page.locator(".summary div", { hasText: "Duration" }).locator("dd");
  const first = await shown.innerText();
  await page.waitForFunction(([dd, text]) => dd.innerText !== text, [await shown.elementHandle(), first]);
  await stop(name);
});

test("a log: a progress bar moves, a long one is followed and says what is left out", async () => {
  const wait = n => `until [ -e ${server.root}/go${n} ]; do sleep 0.1; done`;
  const name = await submit("grows", `printf 'done 10%%'; ${wait(1)}; printf '\\rdone 99%%'; ${wait(2)}; seq 1 150000; sleep 600`);
  await signIn(ADMIN, `/jobs/${name}/logs`);
  const log = page.getByRole("log");
  await log.getByText("done 10%").waitFor();
  writeFileSync(`${server.root}/go1`, "");
  await log.getByText("done 99%").waitFor();
  writeFileSync(`${server.root}/go2`, "");
  await log.getByText("150000").waitFor();
  await page.getByText(/^Only about the last 100,000 lines/).waitFor();
  const seen = await log.evaluate(box => box.scrollTop);
  assert.ok(seen < 130000 * 18, `${seen} pixels of lines are kept`);
  await log.focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(box => box.scrollTop === 0, await log.elementHandle());
  await stop(name);
});

test("the log of a task that waits says so", async () => {
  const cpus = (await call("GET", "/api/v2/nodes"))[0].cpus;
  const name = await submit("too-big", "true", file => file.replace("dockerImage", `instances: ${cpus + 1}\n    dockerImage`));
  await signIn(ADMIN, `/jobs/${name}/logs`);
  await page.getByText("The task has not started: there is no log yet.").waitFor();
  await stop(name);
});

test("the row that j chose stays chosen when jobs come", async () => {
  const name = await submit("chosen", "true");
  await signIn(ADMIN, "/jobs");
  await page.getByRole("row", { name: /chosen/ }).waitFor();
  await page.keyboard.press("j");
  await page.locator("tr.at", { hasText: "chosen" }).waitFor();
  await submit("newer", "true");
  await page.getByRole("row", { name: /newer/ }).waitFor();
  await page.keyboard.press("Enter");
  await see("heading", name);
});

test("a dialog gives the focus back", async () => {
  const name = await submit("focus", "sleep 600");
  await signIn(ADMIN, `/jobs/${name}`);
  const button = page.getByRole("button", { name: "Stop" });
  for (const close of [() => page.keyboard.press("Escape"), () => page.getByRole("button", { name: "Cancel" }).click()]) {
    await button.click();
    await see("dialog", "");
    await close();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    assert.equal(await button.evaluate(one => one === document.activeElement), true);
  }
  await stop(name);
});

test("a slow answer arrives although jobs go on changing", async () => {
  await signIn(ADMIN, "/jobs");
  await page.getByRole("row").nth(1).waitFor();
  await page.route("**/api/v2/jobs?*", async route => {
    const response = await route.fetch();
    await new Promise(done => setTimeout(done, 1500));
    await route.fulfill({ response }).catch(() => {}); // given up
  });
  let isSeen = false;
  void page.getByRole("row", { name: /slow-0/ }).waitFor().then(() => { isSeen = true; }, () => {});
  for (let i = 0; !isSeen && i < 100; i++) {
    await submit(`slow-${i}`, "true");
    await new Promise(done => setTimeout(done, 300));
  }
  assert.ok(isSeen);
});

test("two clicks on Retry submit one job", async () => {
  const name = await submit("again", "true");
  await signIn(ADMIN, `/jobs/${name}`);
  await status("SUCCEEDED");
  await page.getByRole("button", { name: "Retry" }).evaluate(button => { button.click(); setTimeout(() => button.click()); });
  await see("heading", /again_/);
  await page.goto(`${server.address}/jobs?keyword=again_`);
  await page.getByText("1 – 1 of 1").waitFor();
});

test("the list on a phone shows names and states", async () => {
  await submit("a-name-that-a-program-made-and-that-nobody-would-ever-type", "true");
  await signIn(ADMIN, "/jobs", { viewport: { width: 390, height: 800 } });
  const state = page.locator("tbody tr").first().locator(".state");
  await state.waitFor();
  const box = await state.boundingBox();
  assert.ok(box.x + box.width <= 390, `the state ends at ${box.x + box.width}`);
  await page.screenshot({ path: "phone-list.png" });
});
