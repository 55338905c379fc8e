// errors.ts - what goes wrong between the extension, the helper and a cluster

import type { CallFailure } from "./protocol";

/** A call that was refused: the API's code, and the message with its help. */
export class CallError extends Error {
  constructor(readonly code: string | undefined, message: string, readonly untrusted = false) {
    super(message);
  }
}

/** Something is not there yet: the view of jobs has a welcome for it. */
export class Lack extends Error {
  constructor(readonly what: "platform" | "program", message: string) {
    super(message);
  }
}

/** The platform of this machine has not been started. */
export class NotRunning extends Lack {
  constructor() {
    super("platform", "The platform of this machine is not running: it starts with your first job.");
  }
}

export class MissingProgram extends Lack {
  constructor(setting: string) {
    super("program", setting === "" ? "The program openpai was not found: install it, or choose where it is."
      : `The program of the setting openpai.path was not found: ${setting}`);
  }
}

/** The error of a request, as what it means; `near`: it was about the platform of this machine. */
export function refusal(error: Error & { data?: CallFailure }, near: boolean): Error {
  const { code, help, untrusted, notReached } = error.data ?? {};
  if (near && notReached)
    return new NotRunning();
  const message = help ? `${error.message.replace(/\.$/, "")}: ${help}` : error.message;
  return new CallError(code ?? undefined, message, untrusted);
}
