// cluster.ts - what a cluster is, addresses of servers, and the old client's clusters

export interface Cluster {
  /** The program's alias, or the name that the user gave it here. */
  name: string;
  /** undefined: the platform of this machine. */
  url?: string;
  user?: string;
  /** Who has logged in to it; undefined: not known any more. */
  owner?: "editor" | "program";
}

/** A cluster that was logged in to here: what SecretStorage has of it. */
export interface Login {
  url: string;
  user?: string;
  /** File of certificate authorities to trust. */
  caFile?: string;
  /** undefined: not logged in. */
  token?: string;
}

export const LOCAL: Cluster = { name: "local" };

/** Something to start: its words and its variables; null removes one. */
export interface Start {
  shellPath: string;
  shellArgs: string[];
  env: Record<string, string | null>;
}

/**
 * What starts the program for a cluster. A token of ours is in a variable, which only this user
 * can read; of the program's own clusters the program has it.
 */
export const programFor = (program: string, words: string[], cluster: Cluster, login?: Login):
  Start => ({
  shellPath: program, shellArgs: words,
  env: login === undefined
    ? { OPENPAI_CLUSTER: cluster.name, OPENPAI_TOKEN: null, OPENPAI_CA_FILE: null }
    : {
      OPENPAI_CLUSTER: login.url, OPENPAI_TOKEN: login.token ?? null,
      OPENPAI_CA_FILE: login.caFile ?? null,
    },
});

/**
 * The same in a shell that shows how it ended until Enter is pressed: with a failure, or always.
 * Ctrl-C is for the program; the shell goes on.
 */
export const held = ({ shellPath, shellArgs, env }: Start, always = false): Start => ({
  shellPath: "/bin/sh", env,
  shellArgs: ["-c", `trap : INT QUIT; "$@"; code=$?
${always ? "" : '[ "$code" -ne 0 ] || exit 0\n'}printf '\\n[exit status %s: press Enter to close] ' "$code"
read -r _; exit 0`, "sh", shellPath, ...shellArgs],
});

/** The address of a server as a user types it, or why it is none. */
export function readAddress(typed: string): { url: string; plain: boolean } | { error: string } {
  const text = /^[a-z]+:\/\//i.test(typed.trim()) ? typed.trim() : `https://${typed.trim()}`;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { error: "This is not the address of a server, such as https://pai.example.org" };
  }
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return { error: "The address must begin with https:// or http://" };
  if (url.username !== "" || url.password !== "")
    return { error: "Leave the user and the password out of the address: they are asked for" };
  const near = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const path = url.pathname.replace(/\/+$/, "");
  return { url: url.origin + path, plain: url.protocol === "http:" && !near };
}

/** Whether the program takes a text as an alias. */
export const isAlias = (text: string): boolean => /^[A-Za-z0-9][\w.-]*$/.test(text);

/** A name that no other has. */
export function freeName(wanted: string, taken: Iterable<string>): string {
  const all = new Set(taken);
  let name = wanted;
  for (let i = 2; all.has(name); i++)
    name = `${wanted}_${i}`;
  return name;
}

interface OldCluster {
  name?: unknown;
  username?: unknown;
  rest_server_uri?: unknown;
  https?: unknown;
  token?: unknown;
}

/** A cluster of the old client, with its token if it has one. */
export interface Imported extends Cluster {
  url: string;
  token?: string;
}

function readOldCluster(old: OldCluster, taken: string[]): Imported | undefined {
  if (typeof old.rest_server_uri !== "string" || old.rest_server_uri === "")
    return undefined;
  const scheme = old.https === true ? "https" : "http";
  const address = readAddress(`${scheme}://${old.rest_server_uri}`);
  if ("error" in address)
    return undefined;
  const wanted = String(old.name ?? "").replace(/[^\w.-]+/g, "_");
  const name = freeName(isAlias(wanted) ? wanted : new URL(address.url).hostname, taken);
  return {
    name, url: address.url,
    ...(typeof old.username === "string" ? { user: old.username } : {}),
    ...(typeof old.token === "string" && old.token !== "" ? { token: old.token } : {}),
  };
}

/**
 * The clusters of a file of the old client: one as pai_cluster_*.json, or all of them as
 * pai_full_configuration.json. Passwords are not taken.
 */
export function readOldClusters(text: string, taken: string[] = []): Imported[] {
  // The old client allowed comments; in a line of their own, as its editor wrote them.
  const bare = text.replace(/^\s*\/\/.*$/gm, "").replace(/,(\s*[}\]])/g, "$1");
  const told = JSON.parse(bare) as OldCluster & { pais?: OldCluster[] };
  const found: Imported[] = [];
  for (const old of Array.isArray(told.pais) ? told.pais : [told]) {
    const names = [LOCAL.name, ...taken, ...found.map(one => one.name)];
    const one = readOldCluster(old, names);
    if (one !== undefined)
      found.push(one);
  }
  return found;
}
