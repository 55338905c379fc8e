// shared.js - what the classes for users have in common

/** The object of the module that an object of a user stands for. */
export const made = Symbol("made");

export class Owner {
  constructor(object) {
    this[made] = object;
  }

  /** Frees the memory now, rather than when the object is forgotten. */
  free() {
    this[made].free();
  }
}
if (Symbol.dispose !== undefined) // using job = Job.parse(text);
  Object.defineProperty(Owner.prototype, Symbol.dispose, {
    value() { this.free(); } });

/** The module's object of one of a user's. */
export function inside(object, type) {
  if (!(object instanceof type))
    throw new TypeError(`a ${type.name} is wanted, not ${String(object)}`);
  return object[made];
}

/** Options as the module has them: names and values. What is absent, false or 0
 * is the default. */
export function words(options) {
  const list = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false || value === 0)
      continue;
    if (typeof value === "number" && !Number.isSafeInteger(value))
      throw new TypeError(`${name} is a whole number, not ${value}`);
    list.push(name, value === true ? "1" : String(value));
  }
  return list;
}

/** Refuses options that there are not, which are misspelt. */
export function known(options, names) {
  for (const name of Object.keys(options))
    if (!names.includes(name))
      throw new TypeError(`there is no option ${name}: ${names.join(", ")}`);
  return options;
}

/** 0.05 as 50. */
export function thousandths(part) {
  return Math.round(part * 1000);
}
