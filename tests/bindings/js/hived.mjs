// hived.mjs - what was recorded of HiveD, asked again; no API of Node or of a browser
import { run } from "./memory_wasi.mjs";

const NODES = ["10.151.41.18", "10.151.41.19", "10.151.41.23", "10.151.41.24", "10.151.41.26"];
const POD = { containers: [{ resources: { limits: {
  "hivedscheduler.microsoft.com/pod-scheduling-enable": "1" } } }] };

function node(name, ready) {
  return { type: "MODIFIED", object: { kind: "Node", metadata: { name }, spec: {},
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } } };
}

function bound({ metadata: { name, namespace, uid, annotations }, target }) {
  return { type: "MODIFIED", object: { kind: "Pod",
    metadata: { name, namespace, uid, annotations },
    spec: { nodeName: target.name, ...POD }, status: { phase: "Running" } } };
}

/** What a record says in words of pods and nodes. */
function happen(hived, event, records, i, binding) {
  const [, deleted] = /^(?:victim|opportunistic pod) (\S+) deleted/.exec(event) ?? [];
  if (event.includes("created")) {
    const rest = records.slice(i + 1);
    const end = rest.findIndex((later) => later.event?.includes("created"));
    for (const { request } of rest.slice(0, end < 0 ? rest.length : end))
      if (request?.Pod)
        hived.tell({ type: "ADDED", object: request.Pod });
  } else if (event.includes(" bound ")) {
    hived.tell(bound(JSON.parse(binding.body)));
  } else if (deleted !== undefined) {
    const { request } = records.find((one) => one.request?.Pod?.metadata.name === deleted);
    hived.tell({ type: "DELETED", object: request.Pod });
  }
  for (const [, name, not] of event.matchAll(/node (\S+) (not )?ready/g))
    hived.tell(node(name, not === undefined));
}

/** For each record of HiveD's web server the answer, and the binding that was the last
 * until then; null for a record of an event. */
export function transcript(HiveD, config, records) {
  const hived = HiveD.parse(config);
  NODES.forEach((name) => hived.tell(node(name, true)));
  let binding = null;
  return records.map((record, i) => {
    if (record.event !== undefined) {
      happen(hived, record.event, records, i, binding);
      return null;
    }
    const body = record.rawRequest ?? record.request ?? "";
    let answer = hived.request(record.method, record.path, body);
    if (answer.status === 301)
      answer = hived.request(record.method, answer.location, body);
    binding = answer.binding ?? binding;
    return { status: answer.status, body: answer.body, binding: binding?.body ?? null };
  });
}

/** What openpai-bench's program hived-replay prints of the recorded decisions, compiled
 * to WebAssembly. `files` are texts by path: those to repeat, and configurations. */
export function decisions(rooms, files) {
  const names = Object.keys(files).filter((path) => path.endsWith(".jsonl"));
  return run(rooms, ["rooms", "hived-replay", ...names], files);
}
