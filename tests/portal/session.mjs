// session.mjs - who is signed in, and what a job that serves a page at another port can steal
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { context, fillSignIn, open, page, see, server, signIn, submit, usePortal } from "./browser.mjs";
import { ADMIN, jobOf, USER } from "./server.mjs";

usePortal();

const keyOf = page => page.evaluate(() => localStorage.getItem("openpai-session-key"));

/** A program at another port of the server's host; `seen` has the headers that it gets. */
async function startThief(page = "<title>a job</title>") {
  const seen = [];
  const thief = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader("Content-Type", "text/html");
    response.end(page);
  }).listen(0, "127.0.0.1");
  await once(thief, "listening");
  return { seen, address: `http://127.0.0.1:${thief.address().port}`, stop: () => thief.close() };
}

/** Statuses of a read and of a change with these headers. */
async function tryBoth(headers) {
  const read = await fetch(`${server.address}/api/v2/jobs`, { headers });
  const change = await fetch(`${server.address}/api/v2/jobs/ada~x/executionType`, {
    method: "PUT", body: JSON.stringify({ value: "STOP" }), headers: { "Content-Type": "application/json", ...headers },
  });
  return [read.status, change.status];
}

test("the cookie that a job's page at another port gets is worth nothing", async () => {
  await signIn(USER);
  const thief = await startThief();
  const forged = { Origin: server.address, "Sec-Fetch-Site": "same-origin" };
  const tab = await context.newPage();
  await tab.goto(thief.address);
  const [{ cookie }] = thief.seen;
  assert.match(cookie, /openpai_session=/);
  assert.equal(await keyOf(tab), null); // what a page has stored is of its port alone
  assert.deepEqual(await tryBoth({ ...forged, Cookie: cookie }), [401, 401]);
  assert.deepEqual(await tryBoth({ ...forged, Authorization: `Bearer ${cookie.split("=")[1]}` }), [401, 401]);
  // Only both together are a session, and only for requests of this origin.
  const both = { Cookie: cookie, "OpenPAI-Session-Key": await keyOf(page) };
  assert.deepEqual(await tryBoth({ ...both, ...forged }), [200, 404]);
  assert.deepEqual(await tryBoth(both), [200, 401]);
  assert.deepEqual(await tryBoth({ ...both, Origin: "http://evil.example" }), [401, 401]);
  assert.deepEqual(await tryBoth({ ...both, "Sec-Fetch-Site": "cross-site", Origin: server.address }), [401, 401]);
  thief.stop();
});

test("a cookie that another port sets signs nobody in as somebody else", async () => {
  await signIn(USER);
  const login = await fetch(`${server.address}/api/v2/authn/basic/login`, {
    method: "POST", headers: { "Content-Type": "application/json", Origin: server.address },
    body: JSON.stringify({ username: ADMIN.name, password: ADMIN.password, cookie: true }),
  });
  const thief = await startThief(`<script>document.cookie = ${JSON.stringify(login.headers.get("Set-Cookie").split(";")[0] + "; Path=/profile")}</script>`);
  const tab = await context.newPage();
  await tab.goto(thief.address);
  assert.equal((await context.cookies(`${server.address}/profile`)).length, 2);
  await page.goto(`${server.address}/profile`);
  await see("heading", USER.name);
  thief.stop();
});

test("no script can read the cookie, and signing out ends the session", async () => {
  await signIn(USER);
  const [cookie] = await context.cookies();
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.sameSite, "Strict");
  assert.equal(await page.evaluate(() => document.cookie), "");
  const key = await keyOf(page);
  await page.reload();
  await see("navigation", "Menu");
  await page.route("**/logout", route => route.fulfill({ status: 429, body: "{}" }));
  await page.getByRole("button", { name: "Sign out" }).click();
  await see("alert", ""); // the session still holds, so the page does not say that it has ended
  await see("navigation", "Menu");
  await page.unroute("**/logout");
  await page.getByRole("button", { name: "Sign out" }).click();
  await see("button", "Sign in");
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await keyOf(page), null);
  assert.deepEqual(await tryBoth({ Cookie: `${cookie.name}=${cookie.value}`, "OpenPAI-Session-Key": key, Origin: server.address }), [401, 401]);
});

test("another tab that signs out, or in as somebody else, is heard", async () => {
  await signIn(USER, "/jobs");
  const other = await context.newPage();
  await other.goto(server.address);
  await other.getByRole("button", { name: "Sign out" }).click();
  await see("button", "Sign in");
  await fillSignIn(ADMIN, other);
  await see("link", "Users");
});

test("a session outlives the server and the browser's window", async () => {
  await signIn(USER);
  const state = await context.storageState();
  await context.close();
  await server.stop();
  await server.start();
  await open("/", { storageState: state });
  await see("navigation", "Menu");
});

/** A tar archive of one file. */
function archiveOf(name, text) {
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write("0000644\0", 100);
  head.write(`${text.length.toString(8).padStart(11, "0")}\0`, 124);
  head.write("        0", 148);
  head.write("ustar\x0000", 257);
  head.write(`${head.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([head, Buffer.from(text.padEnd(512, "\0")), Buffer.alloc(1024)]);
}

test("a file, a log and a job file are downloaded", async () => {
  const { token } = await (await fetch(`${server.address}/api/v2/authn/basic/login`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ username: USER.name, password: USER.password }),
  })).json();
  const send = (method, path, type, body) => fetch(server.address + path, {
    method, headers: { Authorization: `Bearer ${token}`, "Content-Type": type }, body }).then(async answer => { const told = await answer.json(); assert.ok(answer.ok, JSON.stringify(told)); return told; });
  const { codeDir } = await send("PUT", "/api/v2/jobs/ada~downloads/code", "application/x-tar", archiveOf("kept.txt", "kept\n"));
  await send("POST", `/api/v2/jobs?codeDir=${encodeURIComponent(codeDir)}`, "text/yaml", jobOf("downloads", "echo told"));
  await signIn(USER, "/jobs/ada~downloads/files"); // no administrator, to whom the server does not tell the folder's path
  for (const [tab, button, text] of [["Files", "kept.txt", /^kept$/m], ["Logs", "Download", /^told$/m], ["Config", "Download", /^name: downloads$/m]]) {
    await page.getByRole("tab", { name: tab }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button }).click()]);
    assert.match(readFileSync(await download.path(), "utf8"), text);
  }
});

test("a job that was submitted without code has no folder, and says so", async () => {
  const name = await submit("bare", "true");
  await signIn(ADMIN, `/jobs/${name}/files`);
  await page.getByText("The job has no folder").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});
