// server.mjs - a server with a user, for a test; it ends with the test
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const ADMIN = { name: "admin", password: "a-long-password-7" };
export const USER = { name: "ada", password: "another-password-7" };

/** Starts `openpai serve` with more options; resolves when it listens. */
export async function startServer(program, port = 0, root = mkdtempSync(join(tmpdir(), "openpai-portal-")), ...more) {
  const child = spawn(program, ["serve", "--root", root, "--listen", `127.0.0.1:${port}`,
    "--runtime", "process", ...process.getuid() === 0 ? ["--jobs-as-root"] : [], ...more],
  { env: { ...process.env, OPENPAI_ADMIN_PASSWORD: ADMIN.password } });
  const ended = new Promise(done => child.on("exit", done));
  const address = await new Promise((done, failed) => {
    let told = "";
    const hear = piece => {
      told += piece;
      const found = /serves at (http:\S+)/.exec(told);
      if (found)
        done(found[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    void ended.then(() => failed(new Error(told)));
  });
  return {
    address, root,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await ended;
    },
    async remove() {
      await this.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** A call of the REST API as the administrator. */
export async function call(server, method, path, body) {
  if (server.token === undefined) {
    const login = await fetch(`${server.address}/api/v2/authn/basic/login`, {
      method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ username: ADMIN.name, password: ADMIN.password }),
    });
    server.token = (await login.json()).token;
  }
  const isText = typeof body === "string";
  const response = await fetch(server.address + path, {
    method, headers: { Authorization: `Bearer ${server.token}`, ...body && { "Content-Type": isText ? "text/yaml" : "application/json" } },
    ...body && { body: isText ? body : JSON.stringify(body) },
  });
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** A job file whose one task runs a command. */
export const jobOf = (name, command) => `protocolVersion: 2
name: ${name}
type: job
prerequisites: [{name: image, type: dockerimage, uri: x}]
taskRoles:
  main:
    dockerImage: image
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}
    commands:
      - |
        ${command}
`;
