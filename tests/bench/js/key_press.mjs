// How long a key press takes until its diagnostics are there, with the language server in
// WebAssembly: the job files and edits of tests/bench/node/key_press.py, in this thread and
// through a worker's port.
// Usage: node key_press.mjs BUILD_FOLDER [PRESSES]
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [build = "build/release", presses = "2000"] = process.argv.slice(2);
const { LanguageServer, init, serve } = await import(
  pathToFileURL(resolve(join(build, "js/openpai/language.js"))).href);

const role = (i) => `  role${i}:
    instances: 2
    dockerImage: image
    resourcePerInstance: {cpu: 4, memoryMB: 8192, gpu: 1}
    completion: {minFailedInstances: 1}
    commands:
      - python train.py --index ${i} --rate <% $parameters.rate %>
      - echo "this role has ended" >> log.txt; sleep 1
`;
const job = (roles) => "protocolVersion: 2\nname: train\ntype: job\nparameters:\n" +
  "  rate: 0.1\nprerequisites:\n  - name: image\n    type: dockerimage\n" +
  "    uri: openpai/standard\ntaskRoles:\n" + Array.from({ length: roles }, (_, i) => role(i)).join("");

const uri = "file:///job.pai.yaml";
const INITIALIZE = { id: 1, method: "initialize", params: { capabilities: {} } };
const open = (roles) => ({ method: "textDocument/didOpen", params: { textDocument: {
  uri, languageId: "yaml", version: 1, text: job(roles) } } });

/** A press that makes a fault, or mends it. */
const press = (i) => ({ method: "textDocument/didChange", params: {
  textDocument: { uri, version: i + 2 },
  contentChanges: [{ range: { start: { line: 2, character: 6 },
                              end: { line: 2, character: i % 2 ? 10 : 9 } },
                     text: i % 2 ? "job" : "jobs" }] } });

function verify(message, i) {
  if (message.params.diagnostics.length !== (i % 2 ? 0 : 1))
    throw new Error(`press ${i}: ${JSON.stringify(message)}`);
}

/** Presses `count` times, and as often before; prints milliseconds of a press. */
async function measure(what, count, say) {
  const times = [];
  let processor;
  for (let i = 0; i < 2 * count; i++) {
    if (i === count)
      processor = process.cpuUsage();
    const began = performance.now();
    const message = await say(press(i));
    if (i >= count)
      times.push(performance.now() - began);
    verify(message, i);
  }
  const { user, system } = process.cpuUsage(processor);
  const median = times.sort((a, b) => a - b)[Math.floor(count / 2)];
  console.log(`${what}: processor ${((user + system) / 1e3 / count).toFixed(2)} ms, ` +
    `median until its diagnostics ${median.toFixed(2)} ms`);
}

const began = performance.now();
await init();
let last = null;
const start = () => new LanguageServer((text) => { last = JSON.parse(text); });
let server = start();
const say = (message) => {
  server.receive(message);
  while (server.work());
  return last;
};
say(INITIALIZE);
say(open(9));
console.log("from loading the module to the first diagnostics: " +
  `${(performance.now() - began).toFixed(0)} ms`);
await measure(`a key press in ${(job(9).length / 1000).toFixed(1)} KB`, Number(presses), say);
server.free();
server = start();
say(INITIALIZE);
say(open(3500));
await measure(`in ${(job(3500).length / 1e6).toFixed(1)} MB`, Math.ceil(presses / 200) * 2, say);

const { port1, port2 } = new MessageChannel();
void serve(port2).then(() => port1.close());
const through = (message) => new Promise((done) => {
  port1.onmessage = ({ data }) => done(data);
  port1.postMessage(message);
});
await through(INITIALIZE);
await through(open(9));
await measure("through a port", Number(presses), through);
port1.postMessage({ method: "exit" });
