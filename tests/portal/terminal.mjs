// terminal.mjs - a shell in a task, in the page
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccess, forgive, forgiveLostServer, page, server, signIn, status, stop, submit, usePortal } from "./browser.mjs";
import { ADMIN, USER } from "./server.mjs";

usePortal();

const shell = () => page.getByRole("group", { name: /^Shell in / });
const told = text => page.getByRole("status").filter({ hasText: text }).waitFor();

/** Opens the terminal of a running job. */
async function enter(name) {
  const job = await submit(name, "sleep 600");
  await signIn(ADMIN, `/jobs/${job}`);
  await status("RUNNING");
  await page.getByRole("tab", { name: "Terminal" }).click();
  await shell().waitFor();
  return job;
}

/** Types a command; its output must not be in what is typed. */
async function run(command, output) {
  await shell().locator("textarea:focus").waitFor({ state: "attached" }); // a new shell takes the focus when it is shown
  await page.keyboard.type(`${command}\n`);
  await shell().getByText(output).first().waitFor();
}

test("a shell in a task: output, size, exit status, and another one", async () => {
  const name = await enter("shell");
  await run("echo $((6*7))-$TERM", "42-xterm-256color");
  await run("echo task-$PAI_TASK_INDEX", "task-0");
  await page.setViewportSize({ width: 700, height: 800 });
  await page.waitForFunction(() => document.querySelector(".xterm-rows").firstElementChild.getBoundingClientRect().width < 660);
  await run("test $(tput cols) -lt 90 && echo nar''row", "narrow");
  await page.keyboard.type("exit 7\n");
  await told("The shell exited with code 7.");
  await page.screenshot({ path: "terminal-end.png" });
  await page.getByRole("button", { name: "New shell" }).click();
  await run("echo ag''ain", "again");
  await page.screenshot({ path: "terminal.png" });
  await stop(name);
  await told(/^The (task has ended|shell)/);
});

test("much output arrives whole and in order", async () => {
  const name = await enter("much");
  await run("seq 1 200000 | tail -n 200000; echo do''ne", "done");
  await shell().getByText("200000").first().waitFor();
  await stop(name);
});

test("the keyboard leads in and out, and axe-core finds nothing", async () => {
  const name = await enter("keys");
  await run("printf '\\033[31mre''d\\033[0m\\n'", "red");
  await checkAccess("terminal");
  await page.keyboard.press("Tab"); // is the shell's
  assert.equal(await shell().evaluate(box => box.contains(document.activeElement)), true);
  await page.keyboard.press("F6");
  assert.equal(await page.getByRole("tab", { name: "Terminal" }).evaluate(tab => tab === document.activeElement), true);
  await page.getByLabel("Screen reader mode").check();
  await page.locator(".xterm-accessibility").waitFor({ state: "attached" });
  await shell().getByRole("textbox").focus();
  await page.keyboard.type("echo re''ad\n");
  await page.locator(".xterm-accessibility").getByText("read", { exact: true }).first().waitFor();
  await stop(name);
});

test("a server that begins again ends the shell, and another one opens", async () => {
  const name = await enter("again");
  await run("echo be''fore", "before");
  forgiveLostServer();
  await server.stop();
  await told(/shutting down|connection was lost/);
  await server.start();
  await page.getByText(/server does not answer/).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "New shell" }).click();
  await run("echo af''ter", "after");
  await stop(name);
});

test("another user's job has no terminal for me, and a job that is over has none", async () => {
  forgive(/WebSocket/);
  const name = await submit("theirs", "sleep 600");
  await signIn(USER, `/jobs/${name}/terminal`);
  await told(/belongs to another user/);
  await stop(name);
  await page.reload();
  await page.getByText("The job is over: no task is running.").waitFor();
});
