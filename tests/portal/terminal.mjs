// terminal.mjs - a shell in a task, in the page
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { now, signIn, useBrowser } from "./browser.mjs";
import { ADMIN, call, jobOf, startServer, USER } from "./server.mjs";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
let server;

before(async () => {
  server = await startServer(process.env.OPENPAI_PROGRAM);
  await call(server, "POST", "/api/v2/users", { username: USER.name, password: USER.password, virtualCluster: ["default"] });
});
after(() => server?.remove());
useBrowser();

const stop = name => call(server, "PUT", `/api/v2/jobs/${name}/executionType`, { value: "STOP" });
const shell = page => page.getByRole("group", { name: /^Shell in / });
const told = (page, text) => page.getByRole("status").filter({ hasText: text }).waitFor();

/** A window with the terminal of a running job. */
async function enter(name, who = ADMIN, options = {}) {
  const made = await call(server, "POST", "/api/v2/jobs", jobOf(name, "sleep 600"));
  const page = await signIn(server, who, `/jobs/${made.name}`, options);
  await page.getByRole("status").filter({ hasText: /^RUNNING$/ }).waitFor();
  await page.getByRole("tab", { name: "Terminal" }).click();
  await shell(page).waitFor();
  return { page, name: made.name };
}

/** Types a command; its output must not be in what is typed. */
async function run(page, command, output) {
  await page.keyboard.type(`${command}\n`);
  await shell(page).getByText(output).first().waitFor();
}

test("a shell in a task: output, size, exit status, and another one", async () => {
  const { page, name } = await enter("shell");
  await run(page, "echo $((6*7))-$TERM", "42-xterm-256color");
  await run(page, "echo task-$PAI_TASK_INDEX", "task-0");
  await page.setViewportSize({ width: 700, height: 800 });
  await page.waitForFunction(() => document.querySelector(".xterm-rows").firstElementChild.getBoundingClientRect().width < 660);
  await run(page, "test $(tput cols) -lt 90 && echo nar''row", "narrow");
  await page.keyboard.type("exit 7\n");
  await told(page, "The shell exited with code 7.");
  await page.screenshot({ path: "terminal-end.png" });
  await page.getByRole("button", { name: "New shell" }).click();
  await run(page, "echo ag''ain", "again");
  await page.screenshot({ path: "terminal.png" });
  await stop(name);
  await told(page, /^The (task has ended|shell)/);
});

test("much output arrives whole and in order", async () => {
  const { page, name } = await enter("much");
  await run(page, "seq 1 200000 | tail -n 200000; echo do''ne", "done");
  await shell(page).getByText("200000").first().waitFor();
  await stop(name);
});

test("the keyboard leads in and out, and axe-core finds nothing", async () => {
  const { page, name } = await enter("keys");
  await run(page, "printf '\\033[31mre''d\\033[0m\\n'", "red");
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 160)).join(" | ")}`), []);
  await page.keyboard.press("Tab"); // is the shell's
  assert.equal(await shell(page).evaluate(box => box.contains(document.activeElement)), true);
  await page.keyboard.press("F6");
  assert.equal(await page.getByRole("tab", { name: "Terminal" }).evaluate(tab => tab === document.activeElement), true);
  await page.getByLabel("Screen reader mode").check();
  await page.locator(".xterm-accessibility").waitFor({ state: "attached" });
  await shell(page).getByRole("textbox").focus();
  await page.keyboard.type("echo re''ad\n");
  await page.locator(".xterm-accessibility").getByText("read", { exact: true }).first().waitFor();
  await stop(name);
});

test("a server that begins again ends the shell, and another one opens", async () => {
  const { page, name } = await enter("again");
  await run(page, "echo be''fore", "before");
  const port = new URL(server.address).port;
  await server.stop();
  await told(page, /shutting down|connection was lost/);
  Object.assign(server, await startServer(process.env.OPENPAI_PROGRAM, port, server.root));
  await page.getByText(/server does not answer/).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "New shell" }).click();
  await run(page, "echo af''ter", "after");
  await stop(name);
  now.problems = now.problems.filter(text => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY|WebSocket/.test(text));
});

test("another user's job has no terminal for me, and a job that is over has none", async () => {
  const name = "admin~theirs";
  await call(server, "POST", "/api/v2/jobs", jobOf("theirs", "sleep 600"));
  const page = await signIn(server, USER, `/jobs/${name}/terminal`);
  await told(page, /belongs to another user/);
  now.problems = now.problems.filter(text => !/WebSocket/.test(text));
  await stop(name);
  await page.reload();
  await page.getByText("The job is over: no task is running.").waitFor();
});
