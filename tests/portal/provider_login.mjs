// provider_login.mjs - the portal of a server whose users log in with OpenID Connect
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, test } from "node:test";
import { context, open, page, see, server, usePortal } from "./browser.mjs";
import { startProvider } from "./provider.mjs";

let provider;

async function freePort() {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  return port;
}

usePortal(async () => {
  const port = await freePort();
  provider = await startProvider("ann");
  return { port, users: [], options: ["--oidc-issuer", provider.issuer, "--oidc-client-id", "openpai", "--oidc-domains", "example.org",
    "--oidc-redirect", `http://127.0.0.1:${port}/api/v1/authn/oidc/return`] };
});
after(() => provider?.stop());

const signIn = () => page.getByRole("button", { name: "Sign in with your organization" }).click();

test("a login ends in a session, at the page where it began", async () => {
  await open("/jobs?keyword=mine");
  await signIn();
  await see("heading", "Jobs");
  assert.equal(page.url(), `${server.address}/jobs?keyword=mine`); // no code in the address
  await see("link", "ann");
  assert.deepEqual((await context.cookies()).map(one => [one.name, one.httpOnly, one.sameSite]), [["openpai_session", true, "Strict"]]);
  await page.reload();
  await see("link", "ann");
  await page.getByRole("button", { name: "Sign out" }).click();
  await see("button", "Sign in with your organization");
  assert.deepEqual(await context.cookies(), []);
});

test("the server's own address is where the login happens", async () => {
  await open(server.address.replace("127.0.0.1", "localhost"));
  await signIn();
  await see("link", "ann");
  assert.equal(new URL(page.url()).origin, server.address);
});

test("a code that the page has not asked for signs nobody in", async () => {
  await open("/#code=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  await see("button", "Sign in with your organization");
  assert.equal(page.url(), `${server.address}/`);
  assert.deepEqual(await context.cookies(), []);
});

test("a refusal is told", async () => {
  provider.refuses = true;
  await open();
  await signIn();
  await page.getByRole("alert").filter({ hasText: "The login provider returned an error: access_denied" }).waitFor();
  assert.equal(page.url(), `${server.address}/`);
});
