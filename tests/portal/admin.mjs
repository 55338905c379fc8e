// admin.mjs - accounts, groups, storages, the audit log and one's own account in Chromium
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { call, checkPage, forgive, open, page, see, server, signIn, usePortal } from "./browser.mjs";
import { ADMIN, USER } from "./server.mjs";

usePortal();

const button = name => page.getByRole("button", { name, exact: true });
const csv = text => ({ name: "users.csv", mimeType: "text/csv", buffer: Buffer.from(text) });

async function canSignIn(username, password) {
  const answer = await fetch(`${server.address}/api/v2/authn/basic/login`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ username, password }) });
  return answer.status === 200;
}

test("an account is added, found, changed, and removed", async () => {
  await call("PUT", "/api/v2/virtual-clusters/lab", { vcCapacity: 10 });
  await signIn(ADMIN, "/users");
  await button("Add user").click();
  await page.getByLabel("User name").fill("bob");
  await page.getByLabel("Password").fill("bobs-password-7");
  await page.getByRole("checkbox", { name: "lab" }).check();
  await button("Add user").click();
  await page.getByRole("row", { name: /bob .*lab/ }).waitFor();
  await page.getByRole("searchbox").fill("bo");
  await page.getByLabel("Virtual cluster", { exact: true }).selectOption("lab");
  await page.getByLabel("Administrator", { exact: true }).selectOption("no");
  assert.match(page.url(), /keyword=bo&vc=lab&admin=no/);
  await button("Edit bob").click();
  await page.getByRole("textbox", { name: "Email" }).fill("bob@example.com");
  await page.getByLabel("New password").fill("a-newer-password-8");
  await page.getByRole("form").getByRole("checkbox", { name: "lab" }).first().uncheck();
  await checkPage("edit an account");
  await button("Save").click();
  await page.getByText("There is no").or(page.getByRole("rowheader", { name: "bob" })).first().waitFor({ state: "hidden" }); // no more in lab
  await page.getByLabel("Virtual cluster", { exact: true }).selectOption("");
  await page.getByRole("row", { name: /bob.*bob@example.com/ }).waitFor();
  assert.equal(await canSignIn("bob", "a-newer-password-8"), true);
  await button("Remove bob").click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("rowheader", { name: "bob" }).waitFor({ state: "detached" });
});

test("several accounts at once: passwords and virtual clusters", async () => {
  for (const username of ["ina", "ivo"])
    await call("POST", "/api/v2/users", { username, password: "the-first-one-1", virtualCluster: ["default"] });
  await signIn(ADMIN, "/users?keyword=i");
  await page.getByLabel("Select ina").check();
  await page.getByLabel("Select ivo").check();
  await page.getByText("Selected: 2").waitFor();
  await button("Set passwords").click();
  await page.getByLabel("New password").fill("the-second-one-2");
  await button("Save").click();
  await page.getByText("Changed: 2 of 2").waitFor();
  assert.deepEqual([await canSignIn("ina", "the-second-one-2"), await canSignIn("ivo", "the-second-one-2")], [true, true]);
  await button("Set virtual clusters").click();
  await page.getByRole("checkbox", { name: "lab" }).check();
  await page.screenshot({ path: "users.png" });
  await button("Save").click();
  await page.getByRole("row", { name: /ivo .*lab/ }).waitFor();
});

test("accounts of a CSV file: wrong rows are told, mended, and created", async () => {
  await signIn(ADMIN, "/users/register");
  const file = page.locator("input[type=file]");
  await file.setInputFiles(csv("name,secret\nx,y\n"));
  await see("alert", "");
  await button("Close").click();
  await file.setInputFiles(csv("\ufeffvirtual cluster,username,password,email,admin\r\n\"default,lab\",kim,\"a \"\"quoted\"\", one\",kim@example.com,no\r\nnowhere,lee,short,,TRUE\r\n,kim,another-one-9,,\r\n"));
  await button("Add users: 3").click();
  await page.getByText("A password has at least 8 characters.").waitFor();
  assert.equal(await page.getByText("Two rows have this user name.").count(), 2);
  await checkPage("register many");
  await page.screenshot({ path: "register.png" });
  await page.getByLabel("Password 2").fill("a-long-one-of-lee");
  await button("Remove 3").click();
  await button("Add users: 2").click();
  await page.getByText("There is no virtual cluster nowhere.").waitFor();
  await page.getByText("created").waitFor();
  await page.getByLabel("Virtual clusters 2").fill("default");
  await button("Add users: 1").click();
  await page.getByText("created").nth(1).waitFor();
  assert.equal(await canSignIn("kim", 'a "quoted", one'), true);
  const users = await call("GET", "/api/v2/users");
  assert.deepEqual(users.filter(one => /^(kim|lee)$/.test(one.username)).map(one => [one.username, one.admin, one.virtualCluster.includes("lab")]),
    [["kim", false, true], ["lee", true, true]]); // administrators may use all
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download a template" }).click()]);
  assert.equal(download.suggestedFilename(), "users.csv");
});

test("groups and storages: rights, members, grants", async () => {
  await signIn(ADMIN, "/users/groups");
  await button("Add group").click();
  await page.getByLabel("Name", { exact: true }).fill("vision");
  await page.getByLabel("Description").fill("cameras");
  await page.getByRole("checkbox", { name: "lab" }).check();
  await button("Save").click();
  await page.getByRole("row", { name: /vision cameras .*lab/ }).waitFor();
  await button("Members vision").click();
  await page.getByLabel("User name").fill(USER.name);
  await button("Add member").click();
  await page.getByRole("list", { name: "Members: vision" }).getByText(USER.name).waitFor();
  await checkPage("groups");
  await page.getByRole("link", { name: "Storages" }).click();
  await button("Add storage").click();
  await page.getByLabel("Name").fill("pictures");
  await page.getByLabel("Settings").fill('{"address": "10.0.0.1", "path": "/share"}');
  await button("Save").click();
  await page.getByText("There are no storages.").waitFor({ state: "visible" }); // nobody may use it yet
  await button("Add storage").click();
  await page.getByLabel("Name").fill("pictures");
  await page.getByLabel("Settings").fill('{"address": "10.0.0.1", "path": "/share"}');
  await page.getByRole("checkbox", { name: "vision" }).check();
  await button("Save").click();
  await page.getByRole("rowheader", { name: "pictures" }).waitFor();
  await checkPage("storages");
  const vision = async () => (await call("GET", "/api/v2/groups")).find(one => one.groupname === "vision").extension.acls;
  assert.deepEqual((await vision()).storageConfigs, ["pictures"]);
  await page.getByRole("row", { name: /pictures/ }).getByRole("checkbox", { name: "default" }).click();
  await page.getByRole("row", { name: /pictures/ }).getByRole("checkbox", { name: "default", checked: true }).waitFor();
  assert.deepEqual((await vision()).virtualClusters, ["lab"]); // what else it had stays
});

test("one's own account: mail, keys, tokens, storages, other clusters", async () => {
  await signIn(USER, "/profile");
  await page.getByRole("textbox", { name: "Email" }).fill("ada@example.com");
  await page.locator("section", { hasText: "Email" }).getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByLabel("Title").fill("laptop");
  await page.getByLabel("Public key").fill("no key");
  await button("Add key").click();
  await page.getByText(/This is not a public key/).waitFor();
  await page.getByLabel("Public key").fill("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMhGfStzpTSYSUN2Lhc0511qMeMkI/7IM0cvuRwn81se ada");
  await button("Add key").click();
  await see("rowheader", "laptop");
  await page.getByRole("row", { name: /pictures nfs/ }).waitFor();
  await page.getByLabel("Alias").fill("west");
  await page.getByLabel("Address").fill("https://west.example");
  await page.locator("section", { hasText: "Bound clusters" }).getByLabel("User name").fill("ada");
  await page.getByLabel("Token", { exact: true }).fill("secret-of-west");
  await button("Bind cluster").click();
  await see("rowheader", "west");
  await page.locator("section", { hasText: "Tokens" }).getByLabel("Name").fill("ci");
  await page.getByLabel("Expires").selectOption("7");
  await page.getByRole("checkbox", { name: "read" }).check();
  await button("New token").click();
  const token = await page.locator("code.secret").innerText();
  const asked = (method, path) => fetch(server.address + path, { method, headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await asked("GET", "/api/v2/jobs")).status, 200);
  assert.equal((await asked("POST", "/api/v2/jobs")).status, 403);
  await checkPage("profile");
  await page.screenshot({ path: "profile.png", fullPage: true });
  await page.reload();
  await see("rowheader", "ci");
  assert.equal(await page.locator("code.secret").count(), 0); // shown once
  await see("rowheader", "laptop");
  await button("Revoke ci").click();
  await page.getByRole("rowheader", { name: "ci" }).waitFor({ state: "detached" });
  assert.equal((await asked("GET", "/api/v2/jobs")).status, 401);
  await button("Remove west").click();
  await page.getByRole("rowheader", { name: "west" }).waitFor({ state: "detached" });
});

test("the audit log tells who changed what", async () => {
  await call("POST", "/api/v2/users", { username: "noted", password: "a-long-password-9" });
  await signIn(ADMIN, "/users/audit");
  await page.getByRole("row", { name: /admin 127.0.0.1 POST \/api\/v2\/users 201/ }).first().waitFor();
  await checkPage("audit");
  await page.getByRole("searchbox").fill(USER.name);
  await page.getByRole("searchbox").press("Enter");
  await page.getByRole("row", { name: /ada 127.0.0.1 PUT/ }).first().waitFor();
  await page.getByRole("row", { name: /admin 127/ }).first().waitFor({ state: "detached" });
});

test("hostile names are text", async () => {
  const evil = '"><img src=x onerror=alert(1)>';
  await call("PUT", "/api/v2/groups", { data: { groupname: "vision", description: evil }, patch: true });
  await signIn(ADMIN, "/users/groups");
  await page.getByText(evil).waitFor();
  assert.equal(await page.locator("img").count(), 0);
});

test("only administrators have these pages, also by their addresses", async () => {
  await signIn(USER, "/users/audit");
  await page.getByText("There is no such page.").waitFor();
  assert.equal(await page.getByRole("link", { name: "Users" }).count(), 0);
  await open("/users/groups");
  await see("button", "Sign in");
});

test("administration in Chinese on a phone", async () => {
  await signIn(ADMIN, "/users", { viewport: { width: 390, height: 800 } });
  await page.getByRole("button", { name: "中文" }).click();
  for (const [path, heading] of [["/users", "用户"], ["/users/groups", "用户组"], ["/users/register", "批量添加用户"], ["/users/storages", "存储"], ["/users/audit", "审计日志"],
    ["/profile", "admin"], ["/virtual-clusters", "虚拟集群"], ["/time", "时间回溯与假设分析"]]) {
    await page.goto(server.address + path);
    await see("heading", heading);
    await checkPage(path);
  }
  await page.screenshot({ path: "time-phone.png" });
});

test("a plugin: its element, its attributes, a token that ends, and nothing of the portal", async () => {
  const script = `customElements.define("pai-plugin", class extends HTMLElement {
    connectedCallback() {
      const of = name => this.getAttribute(name);
      const probe = work => { try { return String(work()); } catch (error) { return error.name; } };
      fetch(of("pai-rest-server-uri") + "/api/v2/jobs", { headers: { Authorization: "Bearer " + of("pai-rest-server-token") } })
        .then(answer => answer.status, error => error.name).then(status => fetch("ELSEWHERE").then(() => "sent", () => "kept").then(sent => {
          this.textContent = JSON.stringify({ status, sent, user: of("pai-user"), version: of("pai-version"), given: of("job"),
            token: of("pai-rest-server-token"), cookie: probe(() => document.cookie), above: probe(() => parent.document.title), stored: probe(() => localStorage.length) });
        }));
    }
  });`;
  const elsewhere = createServer((_request, response) => response.setHeader("Access-Control-Allow-Origin", "*").end("heard"));
  await new Promise(go => { elsewhere.listen(0, "127.0.0.1", go); });
  const plugins = createServer((_request, response) => response.setHeader("Content-Type", "text/javascript")
    .end(script.replace("ELSEWHERE", `http://127.0.0.1:${elsewhere.address().port}/`)));
  await new Promise(go => { plugins.listen(0, "127.0.0.1", go); });
  const uri = `http://127.0.0.1:${plugins.address().port}/charts.js`;
  writeFileSync(`${server.root}/plugins.yaml`, `- {title: Charts, uri: ${uri}}\n- {title: Gone, uri: "http://127.0.0.1:1/gone.js"}\n`);
  forgive(/violates (the document's|the following) Content Security Policy/); // what its policy forbade it, the console tells
  try {
    await signIn(USER, "/");
    await page.getByRole("link", { name: "Charts" }).click();
    await see("heading", "Charts");
    const said = page.frameLocator("iframe").locator("pai-plugin");
    await said.getByText("status").waitFor();
    const { token, version, ...others } = JSON.parse(await said.innerText());
    assert.deepEqual(others, { status: 200, sent: "kept", user: USER.name, given: null, cookie: "SecurityError", above: "SecurityError", stored: "SecurityError" });
    assert.match(version, /^\d/);
    const asked = (method, path) => fetch(server.address + path, { method, headers: { Authorization: `Bearer ${token}` } });
    assert.equal((await asked("GET", "/api/v2/tokens")).status, 403); // it makes no tokens of its own
    assert.equal((await asked("POST", "/api/v2/tokens/application")).status, 403);
    await checkPage("plugin");
    await page.screenshot({ path: "plugin.png" });
    const revoked = page.waitForResponse(answer => answer.request().method() === "DELETE" && /\/tokens\//.test(answer.url()));
    await page.getByRole("link", { name: "Jobs" }).click();
    await revoked;
    assert.equal((await asked("GET", "/api/v2/jobs")).status, 401);
    const old = await fetch(`${server.address}/plugin.html?index=1`, { redirect: "manual" });
    assert.equal(old.headers.get("Location"), "/plugins/1");
    await page.goto(`${server.address}/plugins/0?job=mnist&onclick=x&pai-user=root`);
    await said.getByText('"given":"mnist"').waitFor();
    await said.getByText(`"user":"${USER.name}"`).waitFor();
    await page.goto(`${server.address}/plugins/7`);
    await page.getByText("There is no such page.").waitFor();
  } finally {
    plugins.close();
    elsewhere.close();
  }
});

test("a plugin's address cannot write headers or HTML", async () => {
  for (const uri of ["https://a.example/x.js; script-src *", "https://a.example/\"><script>", "javascript:alert(1)", "//a.example/x.js", "https://u@a.example/x.js", ""]) {
    writeFileSync(`${server.root}/plugins.yaml`, JSON.stringify([{ title: "Evil", uri }]));
    const answer = await fetch(`${server.address}/plugin-frame/0`);
    assert.notEqual(answer.status, 200, uri);
    assert.doesNotMatch(answer.headers.get("Content-Security-Policy") ?? "", /\*/);
    await assert.rejects(call("GET", "/api/v2/plugins"), /plugin 1 of plugins.yaml/);
  }
  writeFileSync(`${server.root}/plugins.yaml`, "");
  assert.deepEqual(await call("GET", "/api/v2/plugins"), []);
});
