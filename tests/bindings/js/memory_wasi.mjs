// memory_wasi.mjs - runs a WebAssembly program on files in memory, in Node and in browsers
// alike: of WASI, what a program needs that reads files and prints

const SUCCESS = 0, EBADF = 8, ENOENT = 44, ENOTSUP = 58;
const STDOUT = 1, STDERR = 2, ROOT = 3;
const DIRECTORY = 3, REGULAR_FILE = 4;
const encoder = new TextEncoder();

class Exit {
  constructor(code) {
    this.code = code;
  }
}

class System {
  #words;
  #files;
  #open = new Map(); // number -> { content, at }
  #last = ROOT;
  #decoders = { [STDOUT]: new TextDecoder(), [STDERR]: new TextDecoder() };
  printed = { [STDOUT]: "", [STDERR]: "" };
  memory = null;

  constructor(words, files) {
    this.#words = words.map((word) => encoder.encode(word + "\0"));
    this.#files = files;
  }

  #bytes(at, length) {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  #put(at, ...numbers) {
    const view = new DataView(this.memory.buffer);
    numbers.forEach((number, i) => view.setUint32(at + 4 * i, number, true));
    return SUCCESS;
  }

  /** The parts of memory that a read or a write is about. */
  #parts(at, count) {
    const numbers = new DataView(this.memory.buffer, at, 8 * count);
    return Array.from({ length: count }, (_, i) => this.#bytes(
      numbers.getUint32(8 * i, true), numbers.getUint32(8 * i + 4, true)));
  }

  args_sizes_get = (count, size) => {
    this.#put(count, this.#words.length);
    return this.#put(size, this.#words.reduce((sum, { length }) => sum + length, 0));
  };

  args_get = (pointers, at) => {
    this.#words.forEach((word, i) => {
      this.#put(pointers + 4 * i, at);
      this.#bytes(at, word.length).set(word);
      at += word.length;
    });
    return SUCCESS;
  };

  environ_sizes_get = (count, size) => this.#put(count, 0) || this.#put(size, 0);
  environ_get = () => SUCCESS;
  clock_time_get = (clock, precision, time) => this.#put(time, 0, 0);
  proc_exit = (code) => { throw new Exit(code); };

  // --- files: one folder is open, the root -------------------------------------

  fd_prestat_get = (fd, at) => (fd === ROOT ? this.#put(at, 0, 1) : EBADF);

  fd_prestat_dir_name = (fd, at) => {
    this.#bytes(at, 1)[0] = "/".charCodeAt(0);
    return SUCCESS;
  };

  fd_fdstat_get = (fd, at) => {
    this.#bytes(at, 24).fill(0).fill(0xff, 8); // with all rights
    this.#bytes(at, 1)[0] = fd === ROOT ? DIRECTORY : REGULAR_FILE;
    return SUCCESS;
  };

  path_open = (folder, lookup, at, length, how, rights, inherited, flags, opened) => {
    const path = new TextDecoder().decode(this.#bytes(at, length));
    const content = this.#files[new URL(path, "file:///").pathname]; // without `..`
    if (content === undefined)
      return ENOENT;
    this.#open.set(++this.#last, { content: encoder.encode(content), at: 0 });
    return this.#put(opened, this.#last);
  };

  fd_read = (fd, at, count, read) => {
    const file = this.#open.get(fd);
    if (file === undefined)
      return EBADF;
    const before = file.at;
    for (const part of this.#parts(at, count)) {
      const chunk = file.content.subarray(file.at, file.at + part.length);
      part.set(chunk);
      file.at += chunk.length;
    }
    return this.#put(read, file.at - before);
  };

  fd_write = (fd, at, count, written) => {
    if (this.printed[fd] === undefined)
      return EBADF;
    let sum = 0;
    for (const part of this.#parts(at, count)) {
      this.printed[fd] += this.#decoders[fd].decode(part, { stream: true });
      sum += part.length;
    }
    return this.#put(written, sum);
  };

  fd_close = (fd) => (this.#open.delete(fd) || this.printed[fd] !== undefined ? SUCCESS : EBADF);
  fd_seek = () => ENOTSUP;
  fd_fdstat_set_flags = () => ENOTSUP;
}

/** Runs `module` with the words of a command line on `files`, texts by absolute path.
 * Returns its exit status and what it printed. */
export async function run(module, words, files) {
  const system = new System(words, files);
  const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system });
  system.memory = exports.memory;
  let code = 0;
  try {
    exports._start();
  } catch (thrown) {
    if (!(thrown instanceof Exit))
      throw thrown;
    ({ code } = thrown);
  }
  return { code, stdout: system.printed[STDOUT], stderr: system.printed[STDERR] };
}
