// trial.mjs - Chromium with a server, for the tests of one file
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";
import { ADMIN, call, jobOf, startServer, USER } from "./server.mjs";

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** Starts a server and a browser before the tests of the file, and ends them after these.
 * What a page's console complains about fails its test: errors, and reports of the policy. */
export function trial() {
  const it = {
    server: undefined, page: undefined, problems: [],
    /** Opens a page of the portal as a user who has signed in. */
    async signIn(who = USER, path = "/", options = {}) {
      it.context = await it.browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US", ...options });
      it.context.setDefaultTimeout(30000);
      it.page = await it.context.newPage();
      it.page.on("console", message => {
        if (message.type() === "error" && !/status of 4\d\d/.test(message.text()))
          it.problems.push(message.text());
      });
      it.page.on("pageerror", error => it.problems.push(String(error)));
      await it.page.goto(it.server.address + path);
      await it.page.getByLabel(/^(User name|用户名)$/).fill(who.name);
      await it.page.getByLabel(/^(Password|密码)$/).fill(who.password);
      await it.page.getByRole("button", { name: /^(Sign in|登录)$/ }).click();
      await it.page.getByRole("navigation").waitFor();
    },
    see: (role, name) => it.page.getByRole(role, { name }).first().waitFor(),
    status: state => it.page.getByRole("status").filter({ hasText: new RegExp(`^${state}$`) }).waitFor(),
    call: (...of) => call(it.server, ...of),
    submit: async (name, command) => (await call(it.server, "POST", "/api/v2/jobs", jobOf(name, command))).name,
    stop: name => call(it.server, "PUT", `/api/v2/jobs/${name}/executionType`, { value: "STOP" }),
    /** axe-core finds nothing on the page. */
    async checkAccess(what) {
      await it.page.evaluate(axe);
      const { violations } = await it.page.evaluate(() => globalThis.axe.run());
      assert.deepEqual(violations.map(one => `${what}: ${one.id}: ${one.nodes.map(node => node.html.slice(0, 160)).join(" | ")}`), []);
    },
    /** Nothing is wider than the page. */
    async checkWidth() {
      assert.equal(await it.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    },
  };

  before(async () => {
    it.server = await startServer(process.env.OPENPAI_PROGRAM);
    await it.call("POST", "/api/v2/users", { username: USER.name, password: USER.password, virtualCluster: ["default"] });
    it.browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  });
  afterEach(async () => {
    await it.context?.close();
    const found = it.problems;
    it.problems = [];
    assert.deepEqual(found, []);
  });
  after(async () => {
    await it.browser?.close();
    await it.server?.remove();
  });
  return it;
}

export { ADMIN, jobOf, USER };
