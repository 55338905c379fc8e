// error.js - the exception for a failed call

export class OpenpaiError extends Error {
  /** `told` is what exports.c writes of a failure. */
  constructor(told) {
    super(told.text ?? told.message,
          told.cause === undefined ? undefined
                                   : { cause: new OpenpaiError(told.cause) });
    this.name = "OpenpaiError";
    this.code = told.name;
    this.number = told.code;
    this.reason = told.message;
    for (const part of ["help", "line", "column", "pointer", "report"])
      this[part] = told[part] ?? null;
    this.retriable = told.retriable ?? false;
  }
}
