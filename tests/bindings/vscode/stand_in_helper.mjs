// stand_in_helper.mjs - plays `openpai helper` where the program has none, for tests only
//
// Usage: stand_in_helper.mjs PROGRAM CALLS
// PROGRAM checks job files and knows the servers, CALLS is calls.json of
// src/api/typescript_calls.py. Calls go to the servers by HTTP.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const [, , program, callsFile] = process.argv;
const calls = JSON.parse(readFileSync(callsFile, "utf8"));
const documents = new Map(), running = new Map();
const OVER = ["SUCCEEDED", "FAILED", "STOPPED"];

/** The servers that `openpai login` knows, with their tokens. */
function clusters() {
  const told = JSON.parse(execFileSync(program, ["remote", "list", "--json"]));
  const file = `${process.env.XDG_CONFIG_HOME}/openpai/credentials`;
  const tokens = new Map(told.length === 0 ? [] : readFileSync(file, "utf8").split("\n")
    .map(line => line.split(" ")).map(([alias, , token]) => [alias, token]));
  return told.map(({ alias, url, user }) => ({ name: alias, url, user, token: tokens.get(alias) }));
}

function send(message) {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

class Refused extends Error {
  constructor(message, data) {
    super(message);
    this.data = data;
  }
}

async function ask(name, path, options = {}) {
  const cluster = clusters().find(one => one.name === name);
  if (cluster === undefined)
    throw new Refused(`There is no cluster ${name}.`);
  const headers = { ...options.headers };
  if (cluster.token)
    headers.Authorization = `Bearer ${cluster.token}`;
  const answer = await fetch(cluster.url + path, { ...options, headers });
  if (!answer.ok) {
    const error = await answer.json().catch(() => ({ message: answer.statusText }));
    throw new Refused(error.message, { code: error.code, help: error.help, httpStatus: answer.status });
  }
  return answer;
}

/** A call of the table: its path, its query and its body. */
async function call({ cluster, name, arguments: given }) {
  const known = calls[name], left = { ...given };
  if (known === undefined)
    throw new Refused(`There is no call ${name}.`);
  const take = one => {
    const value = left[one];
    delete left[one];
    return value;
  };
  const path = known.path.replace(/[:*](\w+)/g, (_, one) => encodeURIComponent(take(one)));
  const query = new URLSearchParams();
  for (const one of known.query) {
    const value = take(one);
    if (value !== undefined && value !== null)
      query.set(one, Array.isArray(value) ? value.join(",") : value);
  }
  const options = { method: known.method };
  if (known.text)
    Object.assign(options, { body: left.body, headers: { "Content-Type": "text/yaml" } });
  else if (Object.keys(left).length > 0)
    Object.assign(options,
      { body: JSON.stringify(left), headers: { "Content-Type": "application/json" } });
  const answer = await ask(cluster, query.size > 0 ? `${path}?${query}` : path, options);
  const type = answer.headers.get("content-type") ?? "", body = await answer.text();
  return { status: answer.status, type, body: /json/.test(type) ? JSON.parse(body) : body };
}

/** Reads server-sent events until they end or the request is cancelled. */
async function follow(cluster, path, signal, take) {
  const answer = await ask(cluster, path, { signal, headers: { Accept: "text/event-stream" } });
  let text = "";
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) {
      const data = text.slice(0, at).split("\n").filter(line => line.startsWith("data:"))
        .map(line => line.slice(5)).join("\n");
      if (data.trim() !== "")
        take(JSON.parse(data));
    }
  }
  return null;
}

const part = (token, value) => send({ method: "$/progress", params: { token, value } });

const events = ({ cluster, partialResultToken }, signal) =>
  follow(cluster, "/api/v2/events?states=true", signal, ({ event, name, state, code }) => {
    if (event === "job")
      part(partialResultToken, {
        job: name, state: state.toUpperCase(), exitCode: code ?? 0,
        final: OVER.includes(state.toUpperCase()),
      });
  });

async function logs({ cluster, job, role, index, name, partialResultToken }, signal) {
  const { body } = await call({ cluster, name: "jobs.show", arguments: { job } });
  const path = `${body.taskRoles[role].taskStatuses[index].containerLog}/${name}`;
  return follow(cluster, path, signal, ({ text }) => text && part(partialResultToken, { text }));
}

function check(uri) {
  const text = documents.get(uri);
  let told;
  try {
    told = execFileSync(program, ["spec", "check", "--json", "-"], { input: text });
  } catch (error) {
    told = error.stdout;
  }
  const [file] = JSON.parse(told);
  const at = (line, column) => ({ line: line - 1, character: column - 1 });
  const found = file.diagnostics.map(one => ({
    range: {
      start: at(one.line, one.column),
      end: one.endLine > one.line ? { line: one.line - 1, character: 1000 }
        : at(one.endLine, one.endColumn),
    },
    severity: one.severity === "error" ? 1 : 2, code: one.code, source: "openpai",
    message: one.message, data: one.fixes,
  }));
  send({ method: "textDocument/publishDiagnostics", params: { uri, diagnostics: found } });
}

function fixes({ textDocument: { uri }, context }) {
  return context.diagnostics.flatMap(one => (one.data ?? []).map(fix => ({
    title: fix.title, kind: "quickfix", diagnostics: [one],
    edit: { changes: { [uri]: fix.edits.map(edit => ({
      range: {
        start: { line: edit.line - 1, character: edit.column - 1 },
        end: { line: edit.endLine - 1, character: edit.endColumn - 1 },
      }, newText: edit.text,
    })) } },
  })));
}

const KEYS = ["protocolVersion", "prerequisites", "taskRoles", "defaults", "extras"];
const methods = {
  initialize: () => ({ capabilities: {
    textDocumentSync: 1, codeActionProvider: true, completionProvider: {},
  } }),
  shutdown: () => null,
  "textDocument/codeAction": fixes,
  "textDocument/completion": () => KEYS.map(label => ({ label, kind: 10 })),
  "openpai/call": call,
  "openpai/clusters": () => [{ name: "local", url: null, user: null },
    ...clusters().map(({ name, url, user }) => ({ name, url, user }))],
  "openpai/useCluster": () => null,
  "openpai/events": events,
  "openpai/logs": logs,
};
const notifications = {
  exit: () => process.exit(0),
  "textDocument/didOpen": ({ textDocument: { uri, text } }) => {
    documents.set(uri, text);
    check(uri);
  },
  "textDocument/didChange": ({ textDocument: { uri }, contentChanges }) => {
    documents.set(uri, contentChanges.at(-1).text);
    check(uri);
  },
  "$/cancelRequest": ({ id }) => running.get(id)?.abort(),
};

async function take({ id, method, params }) {
  if (id === undefined) {
    notifications[method]?.(params);
    return;
  }
  const cancel = new AbortController();
  running.set(id, cancel);
  try {
    if (!(method in methods))
      throw new Refused(`There is no method ${method}.`);
    send({ id, result: await methods[method](params, cancel.signal) });
  } catch (error) {
    const code = cancel.signal.aborted ? -32800 : -32603;
    send({ id, error: { code, message: error.message, data: error.data } });
  } finally {
    running.delete(id);
  }
}

let input = Buffer.alloc(0);
process.stdin.on("data", piece => {
  input = Buffer.concat([input, piece]);
  for (;;) {
    const end = input.indexOf("\r\n\r\n");
    const length = /Content-Length: (\d+)/i.exec(input.subarray(0, Math.max(end, 0)).toString());
    if (end < 0 || length === null || input.length < end + 4 + Number(length[1]))
      return;
    const text = input.subarray(end + 4, end + 4 + Number(length[1])).toString();
    input = input.subarray(end + 4 + Number(length[1]));
    void take(JSON.parse(text));
  }
});
process.stdin.on("end", () => process.exit(0));
