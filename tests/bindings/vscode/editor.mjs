// editor.mjs - the extension in VS Code itself: code-server and Chromium, as a new user meets it
//
// Usage: editor.mjs FOLDER PROGRAM BUILD WORK
// FOLDER is what setup.sh has made, PROGRAM is openpai, BUILD has openpai.vsix,
// WORK is a folder for this test; screenshots are put there.
import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import {
  mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { availableParallelism, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { Editor, PATIENCE, folder, mend, until, withEditor, work } from "./workbench.mjs";

const [program, build] = process.argv.slice(3).map(path => resolve(path));
const PASSWORD = "a-long-password-7";
const ROW = "[id='workbench.view.extension.openpai'] .monaco-list-row";
const WELCOME = ".welcome-view-content";
const children = [];

const JOB = `protocolVersion: 2
name: train
tpye: job
prerequisites:
  - name: image
    type: dockerimage
    uri: python:3-slim
taskRoles:
  train:
    instances: 1
    dockerImage: image
    resourcePerInstance: { cpu: 1, memoryMB: 128, gpu: 0 }
    commands:
      - echo epoch 1
      - 'echo "  File \\"train.py\\", line 2, in step"'
      - until [ -e go ]; do sleep 0.1; done
      - echo the terminal was here
      - sleep 600
`;
// It waits while any other runs.
const WHOLE = JOB.replace("tpye", "type").replaceAll("train", "whole")
  .replace("cpu: 1", `cpu: ${availableParallelism()}`);

function start(command, args, env, log) {
  const child = spawn(command, args,
    { env: { ...process.env, ...env }, cwd: work, detached: true });
  children.push(child);
  const told = { text: "", ended: false };
  child.on("exit", () => { told.ended = true; });
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", piece => {
      told.text += piece;
      writeFileSync(join(work, log), told.text);
    });
  return told;
}

/** Waits until a program has printed something; one that has ended will not. */
const said = (told, pattern) => until(pattern, () => {
  assert.ok(!told.ended, `it has ended: ${told.text}`);
  return pattern.exec(told.text);
});

const freePort = () => new Promise(done => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

/** The program as the extension finds it, until the test takes it away. */
function linkProgram() {
  const path = join(work, "openpai");
  symlinkSync(program, path);
  return path;
}

async function startServer() {
  const told = start(program, ["serve", "--root", join(work, "root"), "--listen", "127.0.0.1:0",
    "--runtime", "process", "--jobs-as-root"], { OPENPAI_ADMIN_PASSWORD: PASSWORD }, "serve.log");
  return (await said(told, /serves at (http:\S+)/))[1];
}

async function startEditor(path) {
  const data = join(work, "data"), extensions = join(work, "extensions");
  const home = join(work, "workspace");
  mkdirSync(join(data, "User"), { recursive: true });
  mkdirSync(home);
  writeFileSync(join(home, "train.pai.yaml"), JOB);
  writeFileSync(join(home, "whole.pai.yaml"), WHOLE);
  writeFileSync(join(home, "train.py"), "def step():\n    raise ValueError\n");
  writeFileSync(join(data, "User/settings.json"), JSON.stringify({
    "openpai.path": path, "workbench.startupEditor": "none", "window.commandCenter": false,
    "workbench.colorTheme": "Default Light Modern", "workbench.tips.enabled": false,
    "terminal.integrated.gpuAcceleration": "off", "files.autoSave": "off",
    "editor.minimap.enabled": false, "chat.commandCenter.enabled": false,
    "git.openRepositoryInParentFolders": "never",
  }));
  const server = join(folder, "node_modules/code-server/out/node/entry.js");
  const common = ["--user-data-dir", data, "--extensions-dir", extensions];
  const vsix = join(build, "openpai.vsix");
  await new Promise((done, failed) => execFile(process.execPath,
    [server, ...common, "--install-extension", vsix], (error, output) =>
      error ? failed(new Error(`${error}\n${output}`)) : done()));
  const port = await freePort();
  const told = start(process.execPath, [server, "--auth", "none", "--bind-addr",
    `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check",
    "--disable-workspace-trust", "--disable-getting-started-override", ...common, home],
  { XDG_CONFIG_HOME: join(work, "config"), XDG_DATA_HOME: join(work, "share"),
    OPENPAI_ROOT: join(work, "here") }, "editor.log");
  await said(told, /HTTP server listening/);
  return `http://127.0.0.1:${port}/?folder=${encodeURIComponent(home)}`;
}

class Workbench extends Editor {
  /** Opens a row of the tree; a click that comes as the tree is drawn again is lost. */
  async expand(name) {
    const row = this.page.locator(ROW, { hasText: name }).first();
    await until(`the rows below ${name}`, async () => {
      if (await row.getAttribute("aria-expanded") === "true")
        return true;
      await row.locator(".monaco-tl-twistie").click();
      await this.page.locator(`${ROW}[aria-expanded=true]`, { hasText: name }).first()
        .waitFor({ timeout: 20000 }).catch(() => undefined); // a second click closes it again
      return false;
    });
  }
  /** A message, while it is shown, or where those are that were shown for their ten seconds. */
  async notice(text) {
    const item = this.page.locator(".notification-list-item", { hasText: text }).first();
    await until(`the message ${text}`, () => item.waitFor({ timeout: 20000 })
      .then(() => true, () => this.command("Notifications: Show Notifications")));
    return item;
  }
  async press(text, button) {
    await (await this.notice(text)).locator(".monaco-button", { hasText: button })
      .click({ timeout: PATIENCE });
  }
  async stop(name, user = "admin") {
    await this.command("OpenPAI: Stop Job");
    await this.pick(name);
    await this.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Stop" }).first()
      .click({ timeout: PATIENCE });
    await this.see(ROW, { hasText: new RegExp(`${name}(?!_).*${user} · stopped`) });
  }
}

/** From an empty view to a running job and its log, on this machine, by what is shown. */
async function firstJob(editor) {
  const { page } = editor;
  await page.locator(".activitybar .action-item a[aria-label='OpenPAI']").first().click();
  await editor.see(WELCOME, { hasText: "is not running: it starts with your first job" });
  await editor.shot("welcome");
  const press = text => page.locator(`${WELCOME} .monaco-button`, { hasText: text }).first()
    .click({ timeout: PATIENCE });
  await press("Get Started");
  await editor.see(".gettingStartedContainer", { hasText: "Write a job file" });
  await press("Create Job Config");
  await editor.pick("count");
  await page.locator(".codelens-decoration a", { hasText: "Submit" }).first()
    .click({ timeout: PATIENCE });
  await editor.press("count was submitted to local.", "Open Log");
  await until("the log", async () => (await editor.text()).includes("step 2"));
  await editor.shot("first");
  await editor.stop("count", userInfo().username);
}

async function writeJob(editor) {
  await editor.open("train.pai.yaml");
  await mend(editor);
  await editor.page.keyboard.press("Control+s");
}

async function addCluster(editor, address) {
  await editor.command("OpenPAI: Add PAI Cluster");
  await editor.type("Address of the server", "http://127.0.0.1:1");
  await editor.see(".quick-input-message", { hasText: "127.0.0.1:1" });
  await editor.retype(address);
  await editor.type("Name for it", "lab");
  await editor.pick("Password");
  await editor.type("User name", "admin");
  await editor.type("Password of admin", "not-the-password");
  await editor.see(".quick-input-message", { hasText: /password/ });
  await editor.shot("wrong");
  await editor.retype(PASSWORD);
  await editor.see(".statusbar-item", { hasText: "lab: idle" });
}

async function runJob(editor) {
  const { page } = editor;
  await editor.command("OpenPAI: Submit Job");
  await editor.notice("train was submitted to lab");
  await editor.see(ROW, { hasText: /train.*admin · running/ });
  await editor.see(".statusbar-item", { hasText: "lab: 1 running" });
  await page.locator(ROW, { hasText: "train" }).first().click();
  const frame = page.frameLocator("iframe.webview.ready").last().frameLocator("iframe");
  await frame.locator("h1", { hasText: "train" }).waitFor({ timeout: PATIENCE });
  await frame.locator("th", { hasText: "train/0" }).waitFor({ timeout: PATIENCE });
  await editor.command("Notifications: Clear All Notifications");
  await editor.shot("page");
  await editor.expand("train");
  await page.locator(ROW, { hasText: "train/0" }).first().click();
  await until("the log", async () => (await editor.text()).includes("epoch 1"));
  await until("a link", () => page.locator(".editor-instance .detected-link").count());
  await editor.shot("log");
}

async function enterTask(editor) {
  const { page } = editor;
  await editor.command("OpenPAI: Open Terminal in Task");
  await editor.see(".quick-input-widget", { hasText: "Open Terminal in Task" });
  await editor.pick("train");
  await editor.see(".terminal-wrapper.active .xterm");
  await until("a prompt", async () =>
    /[$#]/.test(await page.locator(".terminal-wrapper.active .xterm-rows").innerText()));
  await page.locator(".terminal-wrapper.active .xterm").click();
  await page.keyboard.type("touch go\n");
  await until("what the terminal did, in the log", async () =>
    (await editor.text()).includes("the terminal was here"));
  await editor.shot("terminal");
}

/** The job again under another name; its file, and what differs; a copy to be edited. */
async function retryJob(editor) {
  const { page } = editor;
  await editor.command("OpenPAI: Retry Job");
  await editor.pick("train");
  await editor.see(ROW, { hasText: /train_2.*admin · running/ });
  await editor.command("OpenPAI: Show Job File");
  await editor.pick("train_2");
  await editor.see(".tab.active", { hasText: "admin~train_2.yaml" });
  await until("its file", async () => (await editor.text()).includes("echo epoch 1"));
  await editor.command("OpenPAI: Compare Jobs");
  await editor.pick("train_2");
  await editor.see(".quick-input-widget", { hasText: "Compare admin~train_2 With" });
  await page.locator(".quick-input-list .monaco-list-row", { hasText: /^train(?!_)/ }).click();
  await editor.see(".monaco-diff-editor");
  await editor.stop("train_2");
  await editor.command("OpenPAI: Clone Job");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: /^train(?!_)/ }).click();
  await until("the copy", async () => (await editor.text()).includes("name: train_3"));
  await editor.command("OpenPAI: Submit Job");
  await editor.see(ROW, { hasText: /train_3.*admin · running/ });
  await editor.stop("train_3");
}

/** The folder goes with the job, and comes back as its files. */
async function submitFolder(editor) {
  const { page } = editor;
  await editor.open("train.pai.yaml");
  await editor.command("OpenPAI: Submit Job with Its Folder");
  await editor.see(ROW, { hasText: /train_4.*admin · running/ });
  await editor.expand("train_4");
  await until("the files of both", async () => await page.locator(ROW, { hasText: "Files" }).count() === 2);
  await editor.expand("Files");
  await page.locator(ROW, { hasText: "train.py" }).first().click();
  await until("the file", async () => (await editor.text()).includes("raise ValueError"));
  await editor.shot("files");
  await editor.stop("train_4");
}

/** All roles on this machine, in a terminal; Ctrl-C ends them, and the end stays readable. */
async function runHere(editor) {
  const { page } = editor;
  const terminal = ".terminal-wrapper.active .xterm-rows";
  await editor.open("train.pai.yaml");
  await editor.command("OpenPAI: Explain Job File");
  await until("the explanation", async () => (await editor.text()).includes("1 task in 1 role"));
  await editor.open("train.pai.yaml");
  await editor.command("OpenPAI: Forecast the Effect of This Job");
  await until("the effect", async () => (await editor.text()).includes("starts at once: train"));
  await editor.open("train.pai.yaml");
  await page.keyboard.press("Control+F5");
  await editor.see(terminal, { hasText: "epoch 1" });
  await page.locator(".terminal-wrapper.active .xterm").click();
  await page.keyboard.press("Control+c");
  await editor.see(terminal, { hasText: "exit status 130: press Enter to close" });
  await editor.shot("here");
}

/** A job that waits says why, where it was submitted and where its log will be. */
async function waitForRoom(editor) {
  await editor.open("whole.pai.yaml");
  await editor.command("OpenPAI: Submit Job");
  await editor.press(/whole was submitted to lab. It waits for .* CPUs/, "Open Log");
  await until("why there is no log", async () => /the job waits.*CPU/s.test(await editor.text()));
  await editor.shot("waits");
  await editor.stop("whole");
}

async function stopJob(editor) {
  await editor.stop("train");
  await editor.see(".terminal-wrapper.active .xterm-rows", { hasText: "press a key to close" });
  await editor.shot("stopped");
}

/** A program that is gone is told, with ways out; when it is back all goes on. */
async function loseProgram(editor) {
  const toast = ".notification-toast", path = join(work, "openpai");
  renameSync(path, `${path}.away`);
  await editor.command("OpenPAI: Restart the Helper");
  await editor.see(toast, { hasText: `was not found: ${path}` });
  await editor.see(`${toast} .monaco-button`, { hasText: "Choose the Program…" });
  await editor.command("OpenPAI: Refresh Jobs");
  await editor.see(WELCOME, { hasText: "The program openpai was not found" });
  await editor.shot("missing");
  renameSync(`${path}.away`, path);
  await editor.page.locator(`${toast} .monaco-button`, { hasText: "Try Again" }).first().click();
  await editor.see(ROW, { hasText: /train.*admin · stopped/ });
}

/** The words of all processes of this test: they name its folder, also in their variables. */
function ownWords() {
  const read = (pid, name) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "latin1");
    } catch {
      return ""; // it has ended, or is another user's
    }
  };
  return readdirSync("/proc").filter(name => /^\d+$/.test(name))
    .map(pid => [read(pid, "cmdline"), read(pid, "environ")])
    .filter(texts => texts.some(text => text.includes(work)))
    .map(([words]) => words.replaceAll("\0", " ")).join("\n");
}

/** SecretStorage, which is the browser's here, has the token: no file and no word of a process. */
function lookForSecrets() {
  const found = spawnSync("grep", ["-rlE", `eyJ|${PASSWORD}`,
    ...["data", "config", "share", "workspace", "editor.log"].map(name => join(work, name))]);
  assert.equal(found.stdout.toString(), "", "a token or a password is in a file");
  const words = ownWords();
  assert.ok(words.includes("helper"), "the helper is among the processes of this test");
  assert.ok(!words.includes("eyJ"), "a token is among the words of a process");
}

async function main() {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const address = await startServer(), url = await startEditor(linkProgram());
  await withEditor(url, Workbench, {
    firstJob, writeJob, addCluster: editor => addCluster(editor, address), runJob, enterTask,
    lookForSecrets, waitForRoom, stopJob, retryJob, submitFolder, runHere, loseProgram,
  });
}

try {
  await main();
} finally {
  // The server's platform, and the one that `openpai run` has started here: no task stays.
  for (const root of ["root", "here"])
    spawnSync(program, ["down", "--kill", "--root", join(work, root)]);
  for (const child of children)
    try {
      process.kill(-child.pid, "SIGTERM");
    } catch {
      // It has ended by itself.
    }
}
