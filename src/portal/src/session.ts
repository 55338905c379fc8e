// session.ts - who uses the page
//
// The token of a login is sealed in a cookie that scripts cannot read; the page has the key, and asks whose it is.
import { signal } from "@preact/signals";
import { call, CallError, onSignedOut } from "./call";
import { startLive, stopLive } from "./live";
import { textOf } from "./parts/messages";
import { beginLogin, type Returned } from "./provider_login";
import { dropSessionKey, keepSessionKey, onOtherSession } from "./session_key";

export interface Who { name: string; admin: boolean }

/** Undefined until the server has said; null: nobody is signed in. */
export const who = signal<Who | null | undefined>(undefined);
/** Why the login at the provider failed, or empty. */
export const loginError = signal("");

/** Whether the user may stop and tag a job: its owner and administrators. */
export const mayChange = (job: string) => who.value?.admin === true || job.startsWith(`${who.value?.name}~`);

onOtherSession(() => {
  stopLive();
  void findSession();
});

onSignedOut.call = () => {
  stopLive();
  dropSessionKey();
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

/** Ends a login at the provider, if the browser comes from there, and asks whose session this is. */
export async function startSession(back: Returned | null): Promise<void> {
  if (back?.code !== undefined && back.verifier !== undefined)
    try {
      const login = await call("oidc.token", { code: back.code, code_verifier: back.verifier, cookie: true });
      keepSessionKey(login.sessionKey!);
    } catch (error) {
      loginError.value = textOf(error);
    }
  if (back?.error !== undefined)
    loginError.value = back.error;
  await findSession();
  if (back?.isHome && who.value === null)
    beginLogin(true);
}

export async function signIn(username: string, password: string): Promise<void> {
  const login = await call("authn.login", { username, password, cookie: true });
  keepSessionKey(login.sessionKey!);
  who.value = { name: login.user, admin: login.admin };
  startLive();
}

/** Throws a CallError if the session may still hold; then the page goes on showing it. */
export async function signOut(): Promise<void> {
  try {
    await call("authn.logout", {});
  } catch (error) {
    if (!(error instanceof CallError && error.status === 401)) // the session had ended before
      throw error;
  }
  loginError.value = "";
  onSignedOut.call();
}
