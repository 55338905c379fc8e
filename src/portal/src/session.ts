// session.ts - who uses the page
//
// The token of a login is in a cookie that scripts cannot read; here is only whose it is.
import { signal } from "@preact/signals";
import { call, CallError, onSignedOut } from "./call";
import { startLive, stopLive } from "./live";

export interface Who { name: string; admin: boolean }

/** Undefined until the server has said; null: nobody is signed in. */
export const who = signal<Who | null | undefined>(undefined);

/* The cookie is of all tabs: what one does, the others must see. */
const tabs = new BroadcastChannel("openpai-session");

tabs.addEventListener("message", () => {
  stopLive();
  void findSession();
});

onSignedOut.call = () => {
  stopLive();
  who.value = null;
};

/** Asks the server whose session this is. */
export async function findSession(): Promise<void> {
  try {
    const token = await call("tokens.check", {});
    who.value = { name: token.username, admin: token.admin };
    startLive();
  } catch (error) {
    if (error instanceof CallError && error.status !== 0) {
      who.value = null;
      return;
    }
    setTimeout(() => void findSession(), 2000);
  }
}

export async function signIn(username: string, password: string): Promise<void> {
  const login = await call("authn.login", { username, password, cookie: true });
  who.value = { name: login.user, admin: login.admin };
  startLive();
  tabs.postMessage("");
}

/** Throws a CallError if the session may still hold; then the page goes on showing it. */
export async function signOut(): Promise<void> {
  try {
    await call("authn.logout", {});
  } catch (error) {
    if (!(error instanceof CallError && error.status === 401)) // the session had ended before
      throw error;
  }
  onSignedOut.call();
  tabs.postMessage("");
}
