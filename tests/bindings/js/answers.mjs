// answers.mjs - all that test_js_browser.mjs compares of Node and of browsers; no API
// of either
import { decisions, transcript } from "./hived.mjs";
import { WORLDS, inputs, simulated, tried } from "./worlds.mjs";

/** Texts that tell all that was decided. `check` may be another module; `given` has the
 * inputs with known answers, and `rooms` is the program of rooms.c. */
export async function answers(openpai, check, given, rooms) {
  const { config, records, files } = given.hived;
  return {
    version: check.version(),
    jobs: given.texts.map((text) => job(check.Job, text)),
    decisions: own(openpai),
    simulations: simulations(openpai),
    transcript: transcript(openpai.HiveD, config, records),
    hived: await decisions(rooms, files),
  };
}

function job(Job, text) {
  const report = Job.check(text);
  try {
    const parsed = Job.parse(text);
    const told = { report, scripts: parsed.render(), yaml: parsed.toYaml({ secrets: true }) };
    parsed.free();
    return told;
  } catch (error) {
    return { report, error: [error.code, error.line, error.column, error.pointer] };
  }
}

/** A policy in JavaScript. */
function own({ Cluster, Scheduler }) {
  const cluster = Cluster.synthetic("nodes:8 gpu:8:v100");
  const scheduler = new Scheduler(cluster, { policy: function greedy(host) {
    for (const id of host.waiting())
      while (host.start(id));
  } });
  scheduler.submit({ id: 1, gpus: 5, instances: 9 });
  return scheduler.decide();
}

function simulations(openpai) {
  const given = inputs(openpai);
  const all = [...tried(openpai), [function last(host) {
    for (const id of [...host.waiting()].reverse())
      host.start(id);
  }]];
  return [given, ...Object.keys(WORLDS).flatMap((world) =>
    all.map(([policy, options]) => simulated(openpai, given, world, policy, options)))];
}

/** What a language server at the other end of a port says about a broken job file. */
export async function languageAnswers(port) {
  const at = { textDocument: { uri: "file:///a" } };
  const heard = [];
  for (const message of [
    { id: 1, method: "initialize", params: { capabilities: {} } },
    { method: "textDocument/didOpen", params: { textDocument: {
      ...at.textDocument, languageId: "yaml", version: 1,
      text: "protocolVersion: 2\nname:   \u00e4\ntpye: job\n" } } },
    { id: 2, method: "textDocument/completion", params: { ...at, position: { line: 2, character: 2 } } },
    { id: 3, method: "textDocument/formatting", params: at },
    { id: 4, method: "shutdown" },
  ]) {
    port.postMessage({ jsonrpc: "2.0", ...message });
    heard.push(await new Promise((done) => { port.onmessage = ({ data }) => done(data); }));
  }
  port.postMessage({ method: "exit" });
  return heard;
}
