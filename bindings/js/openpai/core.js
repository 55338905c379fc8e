// core.js - calls of a WebAssembly module: memory, objects, errors, callbacks
//
// A core makes of the table that interface_js.py wrote (check_calls.js,
// openpai_calls.js) a class for each class of bindings/interface.txt. Their
// methods take and give what JavaScript has; job.js, scheduler.js and so on are
// what users see of them.
import { OpenpaiError } from "./error.js";
import { load } from "./load.js";
import { system } from "./system.js";
import { writers } from "./values.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class Core {
  #file;
  #exports = null;
  #result = 0; // address of the struct `result` of exports.c
  #starting = null;
  #view = null;
  #objects = new Map(); // number -> { object, refs }
  #last = 0;
  #error = null; // the first that a callback threw in this call
  #forgotten = new FinalizationRegistry(
    ({ free, pointer }) => this.#exports[free](pointer));

  /** `calls` is the table; `file` the module beside this file. */
  constructor(calls, file) {
    this.#file = file;
    this.functions = {};
    for (const [name, methods] of Object.entries(calls))
      if (name === "functions")
        for (const [method, row] of Object.entries(methods))
          this.functions[method] = this.#caller(method, row);
      else
        this[name] = this.#made(name, methods);
    this.init = this.init.bind(this);
  }

  /** Compiles and starts the module, once; later calls wait for the first. */
  init(source) {
    this.#starting ??= this.#start(source).catch((error) => {
      this.#starting = null; // another source may do
      throw error;
    });
    return this.#starting;
  }

  async #start(source) {
    const module = await load(source, this.#file);
    const instance = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: system(module, () => this.memory),
      openpai: this.#callbacks(),
    });
    this.#exports = instance.exports;
    instance.exports._initialize();
    this.#result = instance.exports.result();
  }

  get exports() {
    if (this.#exports === null)
      throw new Error("openpai is not loaded: await init() first");
    return this.#exports;
  }

  /** The memory as bytes; it is another array after it has grown. */
  get memory() {
    const { buffer } = this.#exports.memory;
    if (this.#view === null || this.#view.buffer !== buffer)
      this.#view = new Uint8Array(buffer);
    return this.#view;
  }

  get version() {
    return this.#string(this.exports.version());
  }

  // --- texts -----------------------------------------------------------------

  /** Copies bytes or a text, and a zero. Returns the address and the length. */
  put(text) {
    const most = typeof text === "string" ? text.length * 3 : text.length;
    const at = this.exports.malloc(most + 1);
    if (at === 0)
      throw new OpenpaiError({ code: -2, name: "PAI_ENOMEM",
                               message: "out of memory" });
    const room = this.memory.subarray(at, at + most + 1);
    let length = most;
    if (typeof text === "string")
      length = encoder.encodeInto(text, room).written;
    else
      room.set(text);
    room[length] = 0;
    return [at, length];
  }

  #text(at, length) {
    return decoder.decode(this.memory.subarray(at, at + length));
  }

  #string(at) {
    return at === 0 ? null : this.#text(at, this.memory.indexOf(0, at) - at);
  }

  // --- calls -----------------------------------------------------------------

  #caller(name, [letters, result, isStatic]) {
    const core = this;
    const write = Array.from(letters, (letter) => writers[letter]);
    return function (...given) {
      const exports = core.exports;
      const call = { core, passed: isStatic ? [] : [this.pointer], held: [],
                     objects: [] };
      try {
        try {
          write.forEach((put, i) => put(call, given[i]));
        } catch (error) {
          call.objects.forEach((number) => core.#drop(number));
          throw error;
        }
        return core.#finish(result, exports[name](...call.passed));
      } finally {
        call.held.forEach((at) => exports.free(at));
      }
    };
  }

  /** Takes the text of the call; throws if the call has failed. */
  #taken() {
    const [code, at, length] = new Int32Array(this.memory.buffer, this.#result, 3);
    if (at === 0 && code >= 0)
      return null;
    const text = this.#text(at, length);
    this.#exports.free(at);
    new Int32Array(this.memory.buffer, this.#result, 2).fill(0);
    if (code >= 0)
      return text;
    const told = JSON.parse(text), error = this.#error;
    if (told.name !== "PAI_EUSER" || error === null)
      throw new OpenpaiError(told);
    this.#error = null;
    throw error.thrown;
  }

  #finish(result, value) {
    const text = this.#taken();
    switch (result[0]) {
      case "j": return JSON.parse(text);
      case "x": return text;
      case "s": return this.#string(value);
      case "t": return value !== 0;
      case "u": return value >>> 0;
      case "l": return Number(value);
      case "c": return this[result.slice(1)].of(value, true);
      case "r": return this[result.slice(1)].of(value, false);
      default: return value;
    }
  }

  // --- objects of the module -----------------------------------------------------

  #made(name, methods) {
    const core = this, free = name + "_free";
    class Made {
      #pointer = 0;

      /** `owned`: it is to be freed. */
      static of(pointer, owned) {
        const made = new Made();
        made.#pointer = pointer;
        made.owned = owned;
        if (owned)
          core.#forgotten.register(made, { free, pointer }, made);
        return made;
      }

      get pointer() {
        if (this.#pointer === 0)
          throw new OpenpaiError({
            code: -1, name: "PAI_EINVAL", message:
            `this ${name} was freed, or the call that it was for is over` });
        return this.#pointer;
      }

      free() {
        const pointer = this.#pointer;
        this.#pointer = 0;
        if (pointer === 0 || !this.owned)
          return;
        core.#forgotten.unregister(this);
        core.exports[free](pointer);
      }
    }
    for (const [method, row] of Object.entries(methods)) {
      const where = row[2] ? Made : Made.prototype;
      where[method] = this.#caller(`${name}_${method}`, row);
    }
    return Made;
  }

  // --- objects of JavaScript -----------------------------------------------------

  /** Gives an object a number, with one reference. */
  keep(object) {
    this.#last++;
    this.#objects.set(this.#last, { object, refs: 1 });
    return this.#last;
  }

  #drop(number) {
    const kept = this.#objects.get(number);
    if (--kept.refs === 0)
      this.#objects.delete(number);
  }

  /** Runs `work`, and keeps what it throws: no exception goes through C. */
  #guarded(failed, work) {
    try {
      return work();
    } catch (thrown) {
      this.#error ??= { thrown };
      return failed;
    }
  }

  #ask(number, method, host, text, length, answer) {
    const given = [];
    if (host !== 0)
      given.push(this.Scheduler.of(host, false));
    if (text !== 0)
      given.push(this.#text(text, length));
    try {
      const said = this.#objects.get(number).object[this.#string(method)](...given);
      if (answer !== 0)
        new Int32Array(this.memory.buffer, answer, 2).set(this.put(said ?? ""));
    } finally {
      if (host !== 0)
        given[0].free();
    }
    return 1;
  }

  #callbacks() {
    return {
      ask: (...given) => this.#guarded(0, () => this.#ask(...given)),
      hold: (number) => void this.#objects.get(number).refs++,
      drop: (number) => this.#drop(number),
      clone: (number) => this.#guarded(0, () => this.keep(
        this.#objects.get(number).object.clone())),
      settle: (failed) => {
        if (!failed)
          this.#error = null;
        return this.#error !== null ? 1 : 0;
      },
    };
  }
}
