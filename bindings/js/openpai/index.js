// index.js - the whole package
import { clusterClass } from "./cluster.js";
import { Core } from "./core.js";
import { forecastClasses, futuresOf } from "./forecast.js";
import { hivedClass } from "./hived.js";
import { jobClasses } from "./job.js";
import { calls } from "./openpai_calls.js";
import { replayClass } from "./replay.js";
import { schedulerClasses } from "./scheduler.js";
import { simulationClasses } from "./simulation.js";

const core = new Core(calls, "./openpai.wasm");
const clusters = clusterClass(core);
const forecasts = forecastClasses(core);
const schedulers = schedulerClasses(core, clusters, futuresOf(forecasts));
const simulations = simulationClasses(core, clusters, schedulers);

export const { init } = core;
export const { Job, Draft } = jobClasses(core);
export const { Cluster } = clusters;
export const { Scheduler, SchedulerView } = schedulers;
export const { Trace, Simulation, SimReport, Comparison, simulate, compare } = simulations;
export const { History, Forecast, WhatIf } = forecasts;
export const { Replay } = replayClass(core, schedulers);
export const { HiveD } = hivedClass(core);
export { PolicyHost } from "./policy.js";
export { OpenpaiError } from "./error.js";

export function policies() {
  return core.functions.policies();
}

export function version() {
  return core.version;
}
