// How fast WebAssembly is beside the native program: checking job files, HiveD's
// decisions, a fifo simulation. Processor time, the best of some runs.
// Usage: OPENPAI_SHARED=DIR node ratio.mjs BUILD_FOLDER [ROUNDS]
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { WASI } from "node:wasi";

const [build = "build/release", rounds = "5"] = process.argv.slice(2);
const data = join(process.env.OPENPAI_SHARED ?? "../shared", "data");
const folder = mkdtempSync(join(tmpdir(), "openpai-ratio-"));
process.on("exit", () => rmSync(folder, { recursive: true }));
const openpai = await import(pathToFileURL(resolve(build, "js/openpai/index.js")).href);
await openpai.init();

function file(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** Seconds of processor time of a native program. */
function native(words) {
  const done = spawnSync("bash", ["-c", 'TIMEFORMAT=%U; time "$@" > /dev/null', "-", ...words],
                         { encoding: "utf8", maxBuffer: 1 << 26 });
  return Number(done.stderr.trim().split("\n").at(-1));
}

function here(work) {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1e6;
}

async function best(run) {
  let least = Infinity;
  for (let i = 0; i < Number(rounds); i++)
    least = Math.min(least, await run());
  return least;
}

/** `amount` is how many of `unit` were done in these seconds. */
function report(name, unit, amount, ours, theirs) {
  console.log(`${name}: ${Math.round(amount / ours)} ${unit}/s, native ` +
    `${Math.round(amount / theirs)}, ratio ${(theirs / ours).toFixed(2)}`);
}

async function check() {
  const texts = ["v1", "v2"].flatMap((name) =>
    readFileSync(join(data, `specs/${name}-cases.jsonl`), "utf8").trimEnd().split("\n")
      .map((line) => JSON.parse(line).text));
  const paths = texts.map((text, i) => file(String(i), text));
  report("check", "files", texts.length,
         await best(() => here(() => texts.forEach((text) => openpai.Job.check(text)))),
         await best(() => native([`${build}/bin/openpai`, "spec", "check", "--json", ...paths])));
}

/** Pods a second of hived-workload, native or compiled. */
function pods(text) {
  return JSON.parse(text).pods_per_cpu_s;
}

async function compiled(words) {
  const path = file("out", ""), out = openSync(path, "w");
  const wasi = new WASI({ version: "preview1", args: ["rooms", ...words],
                          preopens: { "/": "/" }, stdout: out, returnOnExit: true });
  const module = await WebAssembly.compile(readFileSync(`${build}/bindings/js/rooms.wasm`));
  wasi.start(await WebAssembly.instantiate(
    module, { wasi_snapshot_preview1: wasi.wasiImport }));
  closeSync(out);
  return readFileSync(path, "utf8");
}

async function hived() {
  const words = ["hived-workload", resolve(data, "hived/bench/cluster-128.yaml"),
                 resolve(data, "hived/bench/workload-mixed-128.jsonl")];
  report("hived", "pods", 1,
         await best(async () => 1 / pods(await compiled(words))),
         await best(() => 1 / pods(spawnSync(`${build}/bin/openpai-bench`, words,
                                             { encoding: "utf8" }).stdout)));
}

async function fifo() {
  const jobs = 100000, description = "nodes:64 gpu:8:v100";
  const trace = openpai.Trace.generate({ jobs, seed: 1, gpus: 512 });
  const text = trace.text(), path = file("trace.jsonl", text);
  const cluster = openpai.Cluster.synthetic(description);
  report("fifo", "jobs", jobs,
         await best(() => here(() => openpai.simulate(cluster, openpai.Trace.parse(text)).toJson())),
         await best(() => native([`${build}/bin/openpai`, "sim", "run", "--cluster", description,
                                  "--trace", path, "--json"])));
}

await check();
await hived();
await fifo();
