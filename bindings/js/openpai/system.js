// system.js - what the module's C library finds of a system: none. There are no
// files, no environment, and a clock that stands still.

const ENOSYS = 52, SUCCESS = 0;

/** Functions for all that a module imports of WASI. */
export function system(module, memory) {
  const known = {
    clock_time_get: (clock, precision, time) => {
      memory().fill(0, time, time + 8);
      return SUCCESS;
    },
    environ_sizes_get: (count, size) => {
      memory().fill(0, count, count + 4).fill(0, size, size + 4);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    proc_exit: (code) => {
      throw new Error(`openpai ended with code ${code}: a bug in libopenpai`);
    },
  };
  const functions = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    if (from === "wasi_snapshot_preview1")
      functions[name] = known[name] ?? (() => ENOSYS);
  return functions;
}
