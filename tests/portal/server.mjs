// server.mjs - a server for a test: started, stopped, started again, called, removed
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const ADMIN = { name: "admin", password: "a-long-password-7" };
export const USER = { name: "ada", password: "another-password-7" };

/** A token of a user, from the password. */
async function tokenOf(address, { name, password }) {
  const login = await fetch(`${address}/api/v2/authn/basic/login`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ username: name, password }),
  });
  return (await login.json()).token;
}

/** The server of a folder; start() resolves when it listens. */
class Server {
  constructor(root) {
    this.root = root;
  }

  /** Runs `openpai serve`: at any port the first time, at the same port again. */
  async start({ port = this.port ?? 0, options = this.options ?? [] } = {}) {
    this.options = options;
    const child = this.child = spawn(process.env.OPENPAI_PROGRAM, ["serve", "--root", this.root, "--listen", `127.0.0.1:${port}`,
      "--runtime", "process", ...process.getuid() === 0 ? ["--jobs-as-root"] : [], ...options],
    { env: { ...process.env, OPENPAI_ADMIN_PASSWORD: ADMIN.password } });
    this.ended = new Promise(done => child.on("exit", done));
    this.address = await new Promise((done, failed) => {
      let told = "";
      const hear = piece => {
        told += piece;
        const found = /serves at (http:\S+)/.exec(told);
        if (found)
          done(found[1]);
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      void this.ended.then(() => failed(new Error(told)));
    });
    this.port = new URL(this.address).port;
  }

  async stop(signal = "SIGTERM") {
    this.child?.kill(signal);
    await this.ended;
  }

  async remove() {
    await this.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Sends a request as the administrator. */
  async fetch(path, init = {}) {
    this.token ??= await tokenOf(this.address, ADMIN);
    const response = await fetch(this.address + path, { ...init, headers: { ...init.headers, Authorization: `Bearer ${this.token}` } });
    if (!response.ok)
      throw new Error(`${init.method ?? "GET"} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  /** A call of the REST API as the administrator: a text is sent as YAML, another body as JSON. */
  async call(method, path, body) {
    const isText = typeof body === "string";
    const response = await this.fetch(path, {
      method,
      ...body && { headers: { "Content-Type": isText ? "text/yaml" : "application/json" }, body: isText ? body : JSON.stringify(body) },
    });
    return response.json();
  }

  /** Waits until the state of a job matches; the stream of events tells when to look again. */
  async waitForState(job, states) {
    const events = (await this.fetch(`/api/v2/events?job=${job}`)).body.values();
    while (!states.test((await this.call("GET", `/api/v2/jobs/${job}`)).jobStatus.state))
      if ((await events.next()).done)
        throw new Error(`the events of ${job} ended before ${states}`);
    await events.return();
  }
}

/** A server with a folder of its own, not started. */
export const makeServer = () => new Server(mkdtempSync(join(tmpdir(), "openpai-portal-")));

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
