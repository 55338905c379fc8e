// answers.mjs - what test_js_browser.mjs compares of Node and of a browser; no API
// of either

/** Texts that tell all that was decided; `check` may be another module. */
export function answers(openpai, check, texts) {
  const { Cluster, Scheduler, Trace, policies, simulate } = openpai;
  const cluster = Cluster.synthetic("nodes:8 gpu:8:v100");
  const trace = Trace.generate({ jobs: 200, gpus: 64, load: 1.5, virtual_clusters: 2 });
  const scheduler = new Scheduler(cluster, { policy: function greedy(host) {
    for (const id of host.waiting())
      while (host.start(id));
  } });
  scheduler.submit({ id: 1, gpus: 5, instances: 9 });
  return {
    version: check.version(),
    reports: texts.map((text) => check.Job.check(text)),
    scripts: texts.map((text) => rendered(check.Job, text)),
    decisions: scheduler.decide(),
    simulations: [...policies().map(({ name }) => name), function last(host) {
      for (const id of [...host.waiting()].reverse())
        host.start(id);
    }].map((policy) => simulate(cluster, trace, { policy, seed: 3 }).toJson()),
  };
}

function rendered(Job, text) {
  try {
    const job = Job.parse(text), scripts = job.render();
    job.free();
    return scripts;
  } catch (error) {
    return [error.code, error.line, error.column, error.pointer];
  }
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
