// Jobs and drafts in JavaScript: reading, editing, comparing, and memory.
import assert from "node:assert/strict";
import test from "node:test";

import { packaged, thrown } from "./shared.mjs";

const { Job, Draft, init, version } = await packaged("check.js");
await init();

const TEXT = `# kept
protocolVersion: 2
name: one
type: job
prerequisites:
  - {type: dockerimage, uri: "ubuntu:22.04", name: image}
secrets: {token: sesame}
parameters: {epochs: 3}
taskRoles:
  worker:
    instances: 2
    dockerImage: image
    resourcePerInstance: {cpu: 4, memoryMB: 8192, gpu: 1}
    commands:
      - "train --epochs <% $parameters.epochs %> --token <% $secrets.token %>"
`;

test("a job shows what is in it", () => {
  const job = Job.parse(TEXT);
  assert.equal(job.name, "one");
  assert.equal(String(job), "one");
  assert.equal(job.taskCount, 2);
  assert.equal(job.virtualCluster, "default");
  assert.equal(job.deployment, null);
  assert.equal(job.roles[0].instances, 2);
  assert.equal(job.prerequisites[0].uris[0], "ubuntu:22.04");
  assert.deepEqual(job.render(), {
    worker: "train --epochs 3 --token <% $secrets.token %>" });
  assert.deepEqual(job.get("parameters"), { epochs: 3 });
  assert.equal(job.get("nothing.here"), undefined);
  assert.equal(job.gang, Job.parse(TEXT + "extras: {gangAllocation: true}\n").gang);
});

test("secrets show only on request", () => {
  const job = Job.parse(TEXT);
  assert.match(job.toYaml(), /secrets: '\*{6}'/);
  assert.match(job.toYaml({ secrets: true }), /sesame/);
  assert.doesNotMatch(job.explain() + job.toJson() + job.masked().toYaml({ secrets: true }),
                      /sesame/);
  assert.equal(JSON.parse(job.toJson({ secrets: true })).secrets.token, "sesame");
});

test("a draft changes one place and keeps all else", () => {
  const draft = new Draft(TEXT);
  draft.set("taskRoles.worker.instances", 4).set("name", "4");
  draft.setYaml("parameters.epochs", "7");
  assert.equal(draft.text, TEXT.replace("instances: 2", "instances: 4")
    .replace("name: one", "name: '4'").replace("epochs: 3", "epochs: 7"));
  assert.equal(draft.get("name"), "4");
  draft.unset("parameters");
  assert.equal(draft.get("parameters"), undefined);
  const [found] = draft.check().diagnostics; // the command names it
  assert.match(found.message, /epochs/);
  assert.equal(thrown(() => draft.set("a..b", 1)).code, "PAI_EINVAL");
});

test("jobs are compared by what they mean", () => {
  const job = Job.parse(TEXT), draft = job.edit();
  draft.set("taskRoles.worker.instances", 3);
  const changed = draft.job();
  assert.deepEqual(job.diff(changed), [{ kind: "changed", old: 2, new: 3,
    pointer: "/taskRoles/worker/instances" }]);
  assert.throws(() => job.diff("text"), TypeError);
  const soon = job.with({ priority: "test", after: ["a", "b"] });
  assert.deepEqual(job.diff(soon).map((change) => change.pointer),
                   ["/extras/hivedScheduler", "/extras/openpai"]);
});

test("positions and corrections", () => {
  const wrong = TEXT.replace("instances", "instancs");
  assert.equal(Job.fix(wrong), TEXT);
  const place = Job.placeOf(TEXT, "/taskRoles/worker/instances");
  assert.deepEqual([place.key.line, place.key.column], [11, 5]);
  assert.equal(Job.placeAt(TEXT, 11, 6).pointer, "/taskRoles/worker/instances");
  assert.equal(Job.schema(1).type, "object");
});

test("texts of every kind of character", () => {
  const name = "é 漢字 😀";
  const job = Job.parse(TEXT.replace("name: one", `name: one\ndescription: "${name}"`));
  assert.equal(job.description, name);
  assert.equal(Job.check("\ud800").valid, false); // half a character
  assert.equal(Job.parse(new TextEncoder().encode(TEXT)).name, "one");
  assert.throws(() => job.get("a\0b"), /no NUL/);
});

test("a freed job is refused", () => {
  const job = Job.parse(TEXT);
  job.free();
  job.free();
  assert.match(thrown(() => job.name).message, /was freed/);
  assert.match(version(), /^\d+\.\d+\.\d+$/);
});
