// values.js - how values of JavaScript are passed to the module, by the letters
// of interface_js.py

function wrong(what, value) {
  const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
  return new TypeError(`${what}, not ${shown}`);
}

/** A text without zeros, which C would take for its end. */
function checked(value) {
  if (typeof value !== "string")
    throw wrong("a text is wanted", value);
  if (value.includes("\0"))
    throw new TypeError("a text has no NUL");
  return value;
}

function hold(call, text) {
  const [at, length] = call.core.put(text);
  call.held.push(at);
  call.passed.push(at);
  return length;
}

function string(call, value) {
  if (value === null || value === undefined)
    call.passed.push(0);
  else
    hold(call, checked(value));
}

function bytes(call, value) {
  if (typeof value !== "string" && !(value instanceof Uint8Array))
    throw wrong("a text or its bytes are wanted", value);
  call.passed.push(hold(call, value));
}

function integer(call, value) {
  if (!Number.isInteger(value) || value < -(2 ** 31) || value >= 2 ** 32)
    throw wrong("a whole number is wanted", value);
  call.passed.push(value);
}

function long(call, value) {
  if (typeof value !== "bigint" && !Number.isSafeInteger(value))
    throw wrong("a whole number is wanted", value);
  call.passed.push(BigInt(value));
}

/** A number of an object for the module; it owns that reference. */
function object(call, value) {
  const number = value === null || value === undefined ? 0 : call.core.keep(value);
  if (number !== 0)
    call.objects.push(number);
  call.passed.push(number);
}

function policy(call, value) {
  const own = value !== null && typeof value === "object";
  string(call, own ? value.name : value);
  object(call, own ? value : null);
  call.passed.push(own && value.lends ? 1 : 0, own && value.hears ? 1 : 0);
}

/** An object of the module, or nothing. */
function handle(call, value) {
  call.passed.push(value === null || value === undefined ? 0 : value.pointer);
}

function node(call, value) {
  string(call, typeof value === "string" ? value : null);
  if (typeof value === "string")
    call.passed.push(0);
  else
    integer(call, value);
}

/** { text } is a text, { yaml } a piece of YAML or JSON. */
function draftValue(call, value) {
  const text = value.text !== undefined;
  call.passed.push(hold(call, text ? value.text : checked(value.yaml)),
                   text ? 1 : 0);
}

export const writers = {
  s: string,
  b: bytes,
  w: (call, list) => bytes(call, list.map((word) => checked(word) + "\0").join("")),
  t: (call, value) => call.passed.push(value ? 1 : 0),
  i: integer,
  l: long,
  h: handle,
  n: node,
  o: object,
  p: policy,
  d: draftValue,
};
