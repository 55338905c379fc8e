// test_run.ts - terminals into tasks, and debugging a job that runs here

import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { endText, TaskTerminal } from "../src/editor/terminal";
import type { Exec } from "../src/helper/helper";
import type { ExecEnd, ExecEvent, ExecInput, ExecParams } from "../src/helper/protocol";
import { attachTo, freePort, listens } from "../src/jobs/attach";

const WHERE = { cluster: "lab", job: "alice~a", role: "w", index: 0 };
const END: ExecEnd = { how: "exit", code: 0, signal: 0, text: "" };

/** A terminal over a task that the test plays. */
function makeTerminal() {
  let tell: (event: ExecEvent) => void = () => undefined, settle!: {
    resolve: (end: ExecEnd) => void; reject: (error: Error) => void };
  const asked: ExecParams[] = [], sent: ExecInput[] = [];
  const shown: string[] = [], closed: (number | void)[] = [];
  let disposed = false;
  const helper = {
    exec: (params: ExecParams, take: typeof tell): Exec => {
      asked.push(params);
      tell = take;
      return {
        ended: new Promise<ExecEnd>((resolve, reject) => { settle = { resolve, reject }; }),
        send: async input => { sent.push(input); }, dispose: () => { disposed = true; },
      };
    },
  };
  const terminal = new TaskTerminal(helper, WHERE);
  terminal.onDidWrite(text => shown.push(text));
  terminal.onDidClose(code => closed.push(code));
  terminal.open({ columns: 80, rows: 24 });
  return {
    terminal, asked, sent, shown, closed, tell: (event: ExecEvent) => tell(event),
    settle: () => settle, isDisposed: () => disposed,
    rest: () => new Promise(resolve => setImmediate(resolve)), // until what is promised is done
  };
}

test("a terminal is a shell in the task, with its size and what was typed early", async () => {
  const { terminal, asked, sent, shown, closed, tell, settle, rest } = makeTerminal();
  assert.deepEqual(asked, [{ ...WHERE, tty: true, terminal: "xterm-256color", columns: 80, rows: 24 }]);
  terminal.handleInput("l");
  terminal.handleInput("s\r");
  terminal.setDimensions({ columns: 100, rows: 30 });
  assert.deepEqual(sent, []); // it has not started
  tell({ event: "started", terminal: true });
  terminal.setDimensions({ columns: 90, rows: 20 });
  terminal.handleInput("x");
  await rest();
  assert.deepEqual(sent, [{ columns: 100, rows: 30, text: "ls\r" }, { columns: 90, rows: 20 },
    { text: "x" }]);
  tell({ event: "output", stream: "stdout", text: "a\r\n" });
  settle().resolve(END);
  await rest();
  assert.deepEqual([shown, closed], [["a\r\n"], [0]]);
});

test("what ended with something to say stays until a key is pressed", async () => {
  for (const [end, text] of [
    [{ ...END, code: 3 }, "exit status 3"], [{ ...END, how: "lost", code: 137 }, "the task has ended"],
    [{ ...END, how: "failed", code: 127, text: "no shell" }, "the command was not started: no shell"],
    [new Error("no such job"), "no such job"],
  ] as [ExecEnd | Error, string][]) {
    const { terminal, shown, closed, settle, rest } = makeTerminal();
    if (end instanceof Error)
      settle().reject(end);
    else
      settle().resolve(end);
    await rest();
    assert.deepEqual([shown, closed], [[`\r\n[${text}: press a key to close]`], []]);
    terminal.handleInput("q");
    assert.equal(closed.length, 1);
  }
  assert.equal(endText(END), "");
});

test("a terminal that is closed ends the shell", () => {
  const { terminal, isDisposed } = makeTerminal();
  assert.ok(!isDisposed());
  terminal.close();
  assert.ok(isDisposed());
});

test("a debugger attaches to this machine alone, with the folder's paths", () => {
  assert.deepEqual(attachTo("job w/0", 5678, "/home/a"), {
    type: "debugpy", request: "attach", name: "job w/0",
    connect: { host: "127.0.0.1", port: 5678 },
    pathMappings: [{ localRoot: "/home/a", remoteRoot: "/home/a" }], justMyCode: false,
  });
});

test("a port that listens is seen without a connection", async () => {
  const table = () => readFileSync("/proc/net/tcp", "utf8");
  const port = await freePort();
  assert.ok(!listens(table(), port));
  const server = createServer();
  await new Promise<void>(resolve => server.listen(port, "127.0.0.1", resolve));
  assert.equal((server.address() as AddressInfo).port, port);
  assert.ok(listens(table(), port));
  await new Promise(resolve => server.close(resolve));
  assert.ok(!listens(table(), port));
});
