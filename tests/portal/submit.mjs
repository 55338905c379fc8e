// submit.mjs - the page *Submit* in Chromium: the form and the text, the editor, "make it fit"
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { call, checkAccess, checkWidth, page, see, signIn, status, stop, submit, usePortal } from "./browser.mjs";
import { ADMIN, jobOf, USER } from "./server.mjs";

usePortal();

const FILE = `# what it is for
protocolVersion: 2
name: made
type: job
prerequisites:
  - {name: image, type: dockerimage, uri: 'python:3'} # both roles
taskRoles:
  main: # the first
    instances: 1
    dockerImage: image
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}
    commands:
      - echo one # says one
      - echo two
      - |
        for i in 1 2; do
          echo $i
        done
`;

const editor = () => page.getByRole("textbox", { name: "Job YAML" });
const field = (name, exact = true) => page.getByLabel(name, { exact });

/** The text in the editor, all of which is in the page as it is short. */
const text = async () => (await editor().locator(".cm-line").allInnerTexts()).map(line => line.replace(/^\n$/, "")).join("\n");

async function open(file = FILE, who = USER) {
  await signIn(who, "/submit");
  await editor().waitFor();
  await page.getByText("No problems found.").waitFor();
  await editor().fill(file);
  await page.waitForFunction(name => document.querySelector(".job-form input")?.value === name, /^name: (.*)$/m.exec(file)[1]);
}

/** Waits until the text is as expected; in it, `PORT` is any of TensorBoard's. */
async function becomes(expected) {
  const end = Date.now() + 60000;
  let now;
  do
    now = (await text()).replace(/port: 1[0-4]\d{3}\n/, "port: PORT\n");
  while (now !== expected && Date.now() < end);
  assert.equal(now, expected);
}

test("each edit of the form changes its place of the text alone", async () => {
  await open();
  let expected = FILE;
  const change = async (from, to) => {
    assert.ok(expected.includes(from), from);
    expected = expected.replace(from, to);
    await becomes(expected);
  };
  await field("Job name").fill("other");
  await change("name: made", "name: other");
  await field("Instances").fill("2");
  await change("instances: 1", "instances: 2");
  await field("CPUs").fill("0.5");
  await change("cpu: 1", "cpu: 0.5");
  await field("Command").fill("echo one\necho 2\nfor i in 1 2; do\n  echo $i\ndone");
  await change("- echo two", "- echo 2");
  await field("Command").fill("echo one\necho 2\nfor i in 1 2; do\n  echo $i $i\ndone");
  await change("echo $i\n", "echo $i $i\n");
  await field("Image").fill("python:3.12");
  await change("'python:3'", "'python:3.12'");
  await field("Job retries").fill("3");
  await change("        done\n", "        done\njobRetryCount: 3\n");
  await field("Job retries").fill("");
  await field("Job name").focus();
  await change("\njobRetryCount: 3\n", "\n");
});

test("each edit of the text refreshes the form", async () => {
  await open();
  assert.equal(await field("Command").inputValue(), "echo one\necho two\nfor i in 1 2; do\n  echo $i\ndone");
  await editor().fill(FILE.replace("instances: 1", "instances: 7").replace("main:", "learner:"));
  await see("tab", "learner");
  assert.equal(await field("Instances").inputValue(), "7");
  await editor().fill("a: [");
  await page.getByText("The form is locked until the YAML has no syntax error.").waitFor();
  assert.equal(await field("Instances").isDisabled(), true);
  await editor().fill(FILE);
  await see("tab", "main");
});

test("roles are copied, renamed with what refers to them, and removed", async () => {
  await open(FILE.replace("- echo two", "- echo $PAI_TASK_ROLE_TASK_COUNT_main"));
  await page.getByRole("button", { name: "Copy role" }).click();
  await page.getByRole("tab", { name: "main2", selected: true }).waitFor();
  await page.getByText("No problems found.").waitFor();
  await field("Image").fill("python:3.9"); // of the copy alone
  await page.getByRole("tab", { name: "main", exact: true }).click();
  assert.equal(await field("Image").inputValue(), "python:3");
  await field("Role name").fill("learner");
  await field("Role name").press("Enter");
  await see("tab", "learner");
  assert.match(await text(), /learner: # the first[^]*PAI_TASK_ROLE_TASK_COUNT_learner/);
  await page.getByRole("tab", { name: "main2" }).click();
  await page.getByRole("button", { name: "Remove role" }).click();
  await page.getByRole("tab", { name: "main2" }).waitFor({ state: "detached" });
  await page.getByText("No problems found.").waitFor();
});

test("parameters, secrets and tools come and go", async () => {
  await open();
  for (const part of ["Parameters", "Secrets", "Tools"])
    await page.locator("summary", { hasText: part }).click();
  await page.getByRole("button", { name: "Add: Parameter" }).click();
  await field("Parameter name").fill("rate");
  await field("Parameter name").press("Enter");
  await field("Value").fill("0.1");
  await page.getByRole("button", { name: "Add: Secret" }).click();
  await field("Value of name1").fill("hush");
  await field("SSH").check();
  await field("TensorBoard").check();
  await field("Log folder").fill("/mnt/boards");
  await becomes(`${FILE}parameters:
  rate: 0.1
secrets:
  name1: hush
extras:
  com.microsoft.pai.runtimeplugin:
    - plugin: ssh
      parameters:
        jobssh: true
    - plugin: tensorboard
      parameters:
        port: PORT
        logdir:
          path: /mnt/boards
`);
  await field("Job name").focus();
  assert.equal(await field("Value of name1").inputValue(), ""); // it is not shown again
  await field("SSH").uncheck();
  await field("TensorBoard").uncheck();
  await page.getByRole("button", { name: "Remove rate" }).click();
  await page.getByRole("button", { name: "Remove name1" }).click();
  await becomes(FILE);
});

test("a file is opened, and saved as it is shown", async () => {
  await open();
  await page.getByLabel("Open a file").setInputFiles({ name: "x.yaml", mimeType: "text/yaml", buffer: Buffer.from(FILE.replace("made", "opened")) });
  await becomes(FILE.replace("made", "opened"));
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a file" }).click()]);
  assert.equal(saved.suggestedFilename(), "opened.pai.yaml");
  assert.equal(readFileSync(await saved.path(), "utf8"), FILE.replace("made", "opened"));
});

test("the editor completes, describes and corrects", async () => {
  await open();
  const options = editor().locator("xpath=ancestor::*[contains(@class, 'cm-editor')]").locator(".cm-tooltip-autocomplete");
  await editor().press("Control+End");
  await editor().pressSequentially("jobR");
  await options.getByText("jobRetryCount").click();
  await editor().getByText("jobRetryCount: 0").waitFor();
  await editor().getByText("protocolVersion").hover();
  await page.getByText("Allowed:").waitFor();
  await page.mouse.move(0, 0);
  await editor().fill(FILE.replace("type: job", "tpye: job"));
  await page.getByRole("button", { name: "write 'type'" }).click();
  await becomes(FILE);
  await page.getByText("No problems found.").waitFor();
});

test("a file that cannot start is made to fit", async () => {
  const [{ cpus }] = await call("GET", "/api/v2/nodes");
  await open(FILE.replace("cpu: 1", `cpu: ${8 * cpus}`));
  await page.getByText("It can never start on this cluster").waitFor();
  await page.getByRole("button", { name: `Make it fit: main: CPUs ${cpus}` }).click();
  await becomes(FILE.replace("cpu: 1", `cpu: ${cpus}`));
  await page.getByText("It would start now").waitFor();
  const other = await submit("holds", "sleep 600");
  await editor().fill(FILE.replace("instances: 1", `instances: ${cpus}`));
  await page.getByRole("button", { name: `Make it fit: main: Instances ${cpus - 1}` }).click();
  await becomes(FILE.replace("instances: 1", `instances: ${cpus - 1}`));
  await stop(other);
});

test("what the form makes is submitted and runs", async () => {
  await open(jobOf("formed", "true"));
  await field("Command").fill("echo it was formed");
  await editor().getByText("it was formed").waitFor();
  await page.getByRole("button", { name: "Submit job" }).click();
  await see("heading", "ada~formed");
  await status("SUCCEEDED");
});

test("the page holds up to axe-core, dark, in Chinese and on a phone", async () => {
  await open(FILE, ADMIN);
  for (const part of await page.locator("summary").all())
    await part.click();
  await field("SSH").check();
  await field("Your public key").waitFor();
  await checkAccess("submit");
  await page.screenshot({ path: "submit.png", fullPage: true });
  await page.getByRole("button", { name: "Dark or light" }).click();
  await checkAccess("submit, dark");
  await page.getByRole("button", { name: "中文" }).click();
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByLabel("任务名称").waitFor();
  await checkAccess("submit, phone");
  await checkWidth();
  await page.screenshot({ path: "submit-phone.png", fullPage: true });
});
