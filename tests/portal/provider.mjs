// provider.mjs - a login provider that knows one user and asks nothing; it checks what the server sends
import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const text = value => Buffer.from(JSON.stringify(value)).toString("base64url");

export async function startProvider(user) {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const logins = new Map(); // of each code: what the browser has brought
  const of = { asked: [], refuses: false, stop: () => server.close() };
  const tokenOf = ({ nonce }) => {
    const now = Math.floor(Date.now() / 1000);
    const body = `${text({ alg: "RS256", kid: "k" })}.${text({ iss: of.issuer, aud: "openpai", sub: "1", nonce, iat: now, exp: now + 600, email: `${user}@example.org`, email_verified: true })}`;
    return `${body}.${sign("sha256", Buffer.from(body), privateKey).toString("base64url")}`;
  };
  const routes = {
    "/.well-known/openid-configuration": () => ({
      issuer: of.issuer, authorization_endpoint: `${of.issuer}/auth`, token_endpoint: `${of.issuer}/token`, jwks_uri: `${of.issuer}/keys`,
      response_types_supported: ["code"], subject_types_supported: ["public"], id_token_signing_alg_values_supported: ["RS256"],
    }),
    "/keys": () => ({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k", use: "sig", alg: "RS256" }] }),
    "/auth": (query, _body, response) => {
      const code = `code-${logins.size}`;
      logins.set(code, Object.fromEntries(query));
      of.asked.push(query.get("redirect_uri"));
      response.writeHead(302, { Location: `${query.get("redirect_uri")}?${new URLSearchParams({ state: query.get("state"), ...of.refuses ? { error: "access_denied" } : { code } })}` });
    },
    "/token": (_query, body) => {
      const form = new URLSearchParams(body), login = logins.get(form.get("code"));
      assert.equal(createHash("sha256").update(form.get("code_verifier")).digest("base64url"), login.code_challenge);
      return { access_token: "a", token_type: "Bearer", id_token: tokenOf(login) };
    },
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://provider");
    let body = "";
    for await (const piece of request)
      body += piece;
    const answer = routes[url.pathname]?.(url.searchParams, body, response);
    if (answer !== undefined)
      response.writeHead(200, { "Content-Type": "application/json" });
    response.end(answer === undefined ? "" : JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  of.issuer = `http://127.0.0.1:${server.address().port}`;
  return of;
}
