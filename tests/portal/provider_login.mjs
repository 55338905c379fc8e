// provider_login.mjs - the portal of a server whose users log in with OpenID Connect
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { now, open, useBrowser } from "./browser.mjs";
import { startProvider } from "./provider.mjs";
import { startServer } from "./server.mjs";

let server, provider;

async function freePort() {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  return port;
}

before(async () => {
  const port = await freePort();
  provider = await startProvider("ann");
  server = await startServer(process.env.OPENPAI_PROGRAM, port, undefined,
    "--oidc-issuer", provider.issuer, "--oidc-client-id", "openpai", "--oidc-domains", "example.org",
    "--oidc-redirect", `http://127.0.0.1:${port}/api/v1/authn/oidc/return`);
});
after(async () => {
  await server?.remove();
  provider?.stop();
});
useBrowser();

const see = (page, role, name) => page.getByRole(role, { name }).first().waitFor();
const signIn = page => page.getByRole("button", { name: "Sign in with your organization" }).click();

test("a login ends in a session, at the page where it began", async () => {
  const page = await open(`${server.address}/jobs?keyword=mine`);
  await signIn(page);
  await see(page, "heading", "Jobs");
  assert.equal(page.url(), `${server.address}/jobs?keyword=mine`); // no code in the address
  await see(page, "link", "ann");
  assert.deepEqual((await now.context.cookies()).map(one => [one.name, one.httpOnly, one.sameSite]), [["openpai_session", true, "Strict"]]);
  await page.reload();
  await see(page, "link", "ann");
  await page.getByRole("button", { name: "Sign out" }).click();
  await see(page, "button", "Sign in with your organization");
  assert.deepEqual(await now.context.cookies(), []);
});

test("the server's own address is where the login happens", async () => {
  const page = await open(server.address.replace("127.0.0.1", "localhost"));
  await signIn(page);
  await see(page, "link", "ann");
  assert.equal(new URL(page.url()).origin, server.address);
});

test("a code that the page has not asked for signs nobody in", async () => {
  const page = await open(`${server.address}/#code=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA`);
  await see(page, "button", "Sign in with your organization");
  assert.equal(page.url(), `${server.address}/`);
  assert.deepEqual(await now.context.cookies(), []);
});

test("a refusal is told", async () => {
  provider.refuses = true;
  const page = await open(server.address);
  await signIn(page);
  await page.getByRole("alert").filter({ hasText: "The login provider returned an error: access_denied" }).waitFor();
  assert.equal(page.url(), `${server.address}/`);
});
