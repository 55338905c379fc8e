// worlds.mjs - the simulations that the tests compare; no API of Node or of a browser

export const CLUSTER = "nodes:8 gpu:8:v100 cpus:64 mem:512G";
const SHARES = `
virtualClusters:
  vc1: {part: 50%}
  vc2: {part: 25%, max: 50%}
  default: {part: rest}
`;
const TRACE = { jobs: 400, gpus: 64, load: 1.5, like: "helios", virtual_clusters: 2 };
export const HOUR = 3600_000000;
/** The same worlds, in the program's words and in JavaScript's. */
export const WORLDS = {
  plain: [["--estimates"], { estimates: true }],
  faults: [
    ["--mtbf", "30h", "--mttr", "2h", "--fail", "0.1", "--restart-cost", "60",
     "--checkpoint", "1h", "--spread", "0.2", "--patience", "3d"],
    { node_up: 30 * HOUR, node_down: 2 * HOUR, fail: 0.1, restart_cost: 60_000000,
      checkpoint: HOUR, spread: 0.2, patience: 72 * HOUR }],
};

/** Pairs of a policy's name and its options. */
export function tried(openpai) {
  return [...openpai.policies().map(({ name }) => [name]),
          ["fifo", { greedy: true }], ["backfill", { mode: "easy" }]];
}

/** The description of the cluster and the trace. */
export function inputs({ Cluster, Trace }) {
  return { description: Cluster.synthetic(CLUSTER).toYaml() + SHARES,
           trace: Trace.generate({ ...TRACE }).text() };
}

/** The log, the events and the report of a simulation, as texts. */
export function simulated({ Cluster, Trace, simulate }, { description, trace }, world, policy,
                          options) {
  const told = { log: "", events: "" };
  const report = simulate(Cluster.parse(description), Trace.parse(trace), {
    policy, options, seed: 7, ...WORLDS[world][1],
    log: (line) => { told.log += line; }, events: (line) => { told.events += line; } });
  return { ...told, report: report.toJson() };
}
