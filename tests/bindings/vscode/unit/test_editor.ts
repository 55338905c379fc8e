// test_editor.ts - logs, places of source files, files of jobs, and where the program is

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { Clusters } from "../src/clusters/store";
import type { CopyParams } from "../src/helper/protocol";
import { JobFiles, readUri } from "../src/editor/files";
import { LogText } from "../src/editor/log_text";
import { Logs } from "../src/editor/logs";
import { bestMatch, placesOf } from "../src/editor/places";
import { findProgram } from "../src/helper/find";
import { Uri, opened } from "./fake_vscode";

const logOf = (pieces: string[], most = 1000): string => {
  const log = new LogText(most);
  pieces.forEach(piece => log.append(piece));
  return log.text;
};

test("a log has no control sequences, also where a piece ends within one", () => {
  assert.equal(logOf(["\x1b[1;31mred\x1b[0m\n"]), "red\n");
  assert.equal(logOf(["a\x1b[3", "1mb\n"]), "ab\n");
  assert.equal(logOf(["\x1b]0;title\x07x\r\ny\n"]), "x\ny\n");
  assert.equal(logOf(["a\r", "\nb\n"]), "a\nb\n");
});

test("of a progress bar the last state is kept", () => {
  assert.equal(logOf(["start\n10 %\r20 %", "\r30 %\ndone\n"]), "start\n30 %\ndone\n");
  assert.equal(logOf(["10 %\r", "20 %\r", "30 %"]), "30 %");
});

test("a long log loses its beginning, at the end of a line", () => {
  const text = logOf(Array.from({ length: 100 }, (_, i) => `line ${i}\n`), 200);
  assert.match(text, /^\[the beginning is left out.*\]\nline \d+\n/);
  assert.ok(text.endsWith("line 99\n") && text.length < 280);
});

test("what a log had before its document was there is shown with it", async () => {
  let tell: (piece: { text: string }) => void = () => undefined;
  const clusters = { call: async () => undefined, helper: { logs: (_: unknown, take: typeof tell) => {
    tell = take;
    return { ended: new Promise(() => undefined), dispose: () => undefined };
  } } } as unknown as Clusters;
  const logs = new Logs(clusters), uri = new Uri("openpai-log", "", "/lab/a~b/w/0/w-0.log");
  const changed = () => new Promise(done => logs.onDidChange(done));
  assert.equal(logs.provideTextDocumentContent(uri as never), "");
  tell({ text: "epoch 1\n" });
  await changed(); // which the editor drops
  opened.fire({ uri });
  await changed();
  assert.equal(logs.provideTextDocumentContent(uri as never), "epoch 1\n");
});

test("the log of a job that waits says why, until there is a log", async () => {
  let tell: (piece: { text: string }) => void = () => undefined;
  const answers: Record<string, unknown> = {
    "jobs.show": { jobStatus: { state: "WAITING" } },
    "jobs.why": { explanation: "No GPU is free." }, "jobs.estimate": { unknown: true },
  };
  const clusters = {
    call: async (name: string) => answers[name],
    helper: { logs: (_: unknown, take: typeof tell) => {
      tell = take;
      return { ended: new Promise(() => undefined), dispose: () => undefined };
    } },
  } as unknown as Clusters;
  const logs = new Logs(clusters), uri = new Uri("openpai-log", "", "/lab/a~b/w/0/w-0.log");
  const shown = () => logs.provideTextDocumentContent(uri as never);
  const changed = () => new Promise(done => logs.onDidChange(done));
  try {
    assert.equal(shown(), "");
    await changed();
    assert.equal(shown(), "[the job waits, and this is not its log]\n" +
      "No GPU is free.\nWhen it starts is not known.\n");
    tell({ text: "epoch 1\n" });
    await changed();
    assert.equal(shown(), "epoch 1\n");
  } finally {
    logs.dispose();
  }
});

test("places of source files are found", () => {
  const places = (text: string) => placesOf(text).map(one => [one.path, one.line, one.column]);
  assert.deepEqual(places('  File "/mnt/code/train.py", line 12, in main'),
    [["/mnt/code/train.py", 12, undefined]]);
  assert.deepEqual(places("src/main.cc:3:14: error, see ./util.h:7"),
    [["src/main.cc", 3, 14], ["./util.h", 7, undefined]]);
  assert.deepEqual(places('File "<stdin>", line 1; http://10.0.0.1:80/ at 12:30:45'), []);
  const [place] = placesOf("at train.py:3");
  assert.deepEqual([place.start, place.end], [3, 13]);
});

test("the file whose path ends most alike is meant", () => {
  const files = ["/w/a/train.py", "/w/b/net/train.py", "/w/c/train.py"];
  assert.equal(bestMatch("/mnt/code/net/train.py", files), "/w/b/net/train.py");
  assert.equal(bestMatch("./a/train.py", files), "/w/a/train.py");
  assert.equal(bestMatch("other.py", files), undefined);
});

test("the program of the setting is the one, or none", () => {
  const find = (setting: string, there: string[]) => findProgram({
    setting, path: "bin:/usr/bin:/opt/bin", extension: "/ext", home: "/home/a",
    exists: file => there.includes(file),
  });
  assert.equal(find("", ["/opt/bin/openpai", "/usr/bin/openpai"]), "/usr/bin/openpai");
  assert.equal(find("", ["/ext/bin/openpai"]), "/ext/bin/openpai");
  assert.equal(find("", ["bin/openpai"]), undefined); // not one of the workspace
  assert.equal(find("~/x", ["/home/a/x", "/usr/bin/openpai"]), "/home/a/x");
  assert.equal(find("/gone", ["/usr/bin/openpai"]), undefined);
  assert.equal(find("x", ["x"]), undefined);
});

test("files of a job are listed page by page and copied as bytes", async () => {
  const asked: unknown[] = [];
  const entry = (path: string, type = "file") => ({ path, type, size: 3, modified: 5 });
  const clusters = {
    helper: {
      copy: async ({ cluster, job, path, file, to }: CopyParams) => {
        if (to === "here")
          writeFileSync(file, Buffer.from([0, 255]));
        else
          asked.push([`${job}:${path}`, cluster, [...readFileSync(file)]]);
      },
    },
    call: async (name: string, args: { after?: string }) => {
      asked.push([name, args]);
      return args.after === undefined
        ? { entries: [entry("out/a")], next: "out/a" }
        : { entries: [entry("out/sub", "folder")], next: null };
    },
  } as unknown as Clusters;
  const files = new JobFiles(clusters);
  const uri = (path: string) => new Uri("openpai", "lab", path) as never;
  assert.deepEqual(readUri(uri("/alice~a/out/x")), { cluster: "lab", job: "alice~a", path: "out/x" });
  assert.deepEqual(await files.readDirectory(uri("/alice~a/out")), [["a", 1], ["sub", 2]]);
  assert.deepEqual(asked[1], ["files.list", { job: "alice~a", path: "out", limit: 1000, after: "out/a" }]);
  assert.deepEqual([...await files.readFile(uri("/alice~a/out/a"))], [0, 255]);
  assert.equal((await files.stat(uri("/alice~a/out/sub"))).type, 2);
  await assert.rejects(files.stat(uri("/alice~a/out/none")));
  await files.writeFile(uri("/alice~a/b"), new Uint8Array([0xff]));
  assert.deepEqual(asked.at(-1), ["alice~a:b", "lab", [0xff]]);
});
