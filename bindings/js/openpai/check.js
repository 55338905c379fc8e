// check.js - job files alone: a third of the size of the whole package
import { Core } from "./core.js";
import { calls } from "./check_calls.js";
import { jobClasses } from "./job.js";

const core = new Core(calls, "./check.wasm");

export const { init } = core;
export const { Job, Draft } = jobClasses(core);
export { OpenpaiError } from "./error.js";
export function version() {
  return core.version;
}
