// provider_login.ts - signing in with a login provider: there, and back with a code
//
// The code is worth nothing without the verifier, which only the page that began the login has.
import { addressOf } from "./call";
import { sha256 } from "./parts/sha256";

const STORED = "openpai-login"; // of this tab alone

interface Begun { verifier: string; to: string }

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Leaves for the provider. `isHome`: the server has sent the browser to this address of its own. */
export function beginLogin(isHome = false): void {
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  sessionStorage.setItem(STORED, JSON.stringify({ verifier, to: location.pathname + location.search } satisfies Begun));
  location.assign(addressOf("oidc.login", {
    redirect_uri: "/", code_challenge: base64url(sha256(verifier)), code_challenge_method: "S256",
    ...isHome && { home: "1" },
  }));
}

export interface Returned {
  /** Page to go on with. */
  to: string;
  code?: string;
  verifier?: string;
  error?: string;
  /** The server has led here, to the address at which logins begin. */
  isHome: boolean;
}

/** What the address says that the browser has come back with; null: nothing. It counts once. */
export function takeReturn(): Returned | null {
  const told = new URLSearchParams(location.hash.slice(1));
  const code = told.get("code"), error = told.get("error"), isHome = location.hash === "#sign-in";
  if (code === null && error === null && !isHome)
    return null;
  const begun = JSON.parse(sessionStorage.getItem(STORED) ?? "null") as Begun | null;
  sessionStorage.removeItem(STORED);
  if (begun === null) // another page has made this address up
    return { to: location.pathname + location.search, isHome };
  return { to: begun.to, isHome, verifier: begun.verifier, ...code !== null && { code }, ...error !== null && { error } };
}
