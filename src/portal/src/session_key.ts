// session_key.ts - the key of the session, which opens the cookie that scripts cannot read
//
// It is of this origin alone, while browsers send the cookie to every port of the host. All tabs share both.

/** Header with which each request sends the key. */
export const KEY_HEADER = "OpenPAI-Session-Key";

const STORED = "openpai-session-key";

/** Null: nobody is signed in, as far as this browser knows. */
export function sessionKey(): string | null {
  return localStorage.getItem(STORED);
}

export function keepSessionKey(key: string): void {
  localStorage.setItem(STORED, key);
}

export function dropSessionKey(): void {
  localStorage.removeItem(STORED);
}

/** Calls a function when another tab has signed in or out. */
export function onOtherSession(listener: () => void): void {
  addEventListener("storage", event => {
    if (event.key === STORED || event.key === null)
      listener();
  });
}
