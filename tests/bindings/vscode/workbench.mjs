// workbench.mjs - VS Code in a browser, as a user has it: its boxes, editors and messages
//
// The last word of the command line is the folder for a test's files and screenshots, the
// first is what setup.sh has made.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

export const folder = resolve(process.argv[2]), work = resolve(process.argv.at(-1));
export const PATIENCE = 300000; // milliseconds until a step has failed, also where all is slow
const { chromium } = createRequire(join(folder, "node_modules/"))("playwright-core");

export async function until(what, look) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found)
      return found;
    if (Date.now() > end)
      assert.fail(`never seen: ${what}; see ${work}`);
    await new Promise(done => setTimeout(done, 100));
  }
}

export class Editor {
  constructor(page) {
    this.page = page;
  }
  shot(name) {
    return this.page.screenshot({ path: join(work, `${name}.png`) });
  }
  see(selector, options) {
    return this.page.locator(selector, options).first()
      .waitFor({ state: "visible", timeout: PATIENCE });
  }
  async command(title) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input.input").first();
    await input.waitFor({ state: "visible", timeout: PATIENCE });
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first()
      .click({ timeout: PATIENCE });
  }
  /** Answers a question in the box at the top. */
  async type(question, text) {
    await this.see(".quick-input-widget", { hasText: question });
    await this.retype(text);
  }
  /** The same after an answer that was refused: its reason stands where the question was. */
  async retype(text) {
    const input = this.page.locator(".quick-input-widget input.input").first();
    await until("a box to type in", () => input.evaluate(box => box === document.activeElement));
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.type(text);
    await this.page.keyboard.press("Enter");
  }
  async pick(text) {
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first()
      .click({ timeout: PATIENCE });
  }
  async open(name) {
    await this.page.keyboard.press("Control+p");
    await this.page.locator(".quick-input-widget input.input").first().fill(name);
    await this.pick(name);
    await this.see(".tab.active", { hasText: name });
  }
  async text() {
    const lines = await this.page.locator(".editor-instance .view-line").allInnerTexts();
    return lines.join("\n").replaceAll("\u00a0", " ");
  }
}

/** Corrects "tpye: job" of the open job file, and completes a key at its end. */
export async function mend(editor) {
  const { page } = editor;
  await editor.see(".squiggly-error");
  await page.locator(".view-line", { hasText: "tpye" }).first().click();
  await page.keyboard.press("Home");
  await editor.shot("squiggle");
  await page.keyboard.press("Control+.");
  await editor.see(".action-widget .monaco-list-row", { hasText: "type" });
  await editor.shot("fix");
  await page.keyboard.press("Enter"); // the first one: it corrects this place
  await until("the fix", async () => (await editor.text()).includes("\ntype: job"));
  await until("no squiggle", async () => await page.locator(".squiggly-error").count() === 0);
  // Completion, of a key that begins.
  await page.keyboard.press("Control+End");
  await page.keyboard.type("ext");
  await page.keyboard.press("Control+Space");
  await editor.see(".suggest-widget.visible", { hasText: "extras" });
  await editor.shot("complete");
  await page.keyboard.press("Escape");
  for (let i = 0; i < 3; i++)
    await page.keyboard.press("Backspace");
}

/** Opens a page and takes the steps; `failed.png` is where one has failed. */
export async function withEditor(url, Kind, steps) {
  const browser = await chromium.launch(
    { executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1000, height: 620 } });
  const editor = new Kind(page);
  page.setDefaultTimeout(PATIENCE);
  try {
    await page.goto(url);
    await editor.see(".monaco-workbench");
    for (const [name, step] of Object.entries(steps)) {
      const begin = Date.now();
      await step(editor);
      console.log(`${name}: seen, ${((Date.now() - begin) / 1000).toFixed(1)} s`);
    }
  } catch (error) {
    await editor.shot("failed");
    throw error;
  } finally {
    await browser.close();
  }
}
