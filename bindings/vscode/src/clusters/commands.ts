// commands.ts - add, choose, log in to and remove clusters

import * as vscode from "vscode";
import { openTerminal } from "../editor/terminal";
import { CallError } from "../helper/errors";
import type { FoundServer, LoginResult, ServerAddress } from "../helper/protocol";
import { askUntil } from "./ask";
import {
  freeName, held, isAlias, LOCAL, readAddress, readOldClusters, type Cluster,
} from "./cluster";
import type { Clusters } from "./store";

const PLAIN = "Send It Unencrypted", AUTHORITIES = "Choose Certificate Authorities…";

interface Server extends FoundServer {
  caFile?: string;
}

/**
 * Finds the API at an address. A certificate that nobody signed whom the system knows needs a
 * file of authorities.
 */
async function reach(clusters: Clusters, at: ServerAddress): Promise<Server> {
  try {
    return { ...await clusters.helper.findServer(at), caFile: at.caFile };
  } catch (error) {
    if (!(error instanceof CallError && error.untrusted) || await vscode.window.showErrorMessage(
      error.message, { modal: true }, AUTHORITIES) !== AUTHORITIES)
      throw error;
  }
  const [file] = await vscode.window.showOpenDialog({
    title: "Certificate authorities to trust, in PEM",
  }) ?? [];
  if (file === undefined)
    throw new vscode.CancellationError();
  return reach(clusters, { url: at.url, caFile: file.fsPath });
}

/** Asks for the address until there is an OpenPAI. */
async function askServer(clusters: Clusters): Promise<Server | undefined> {
  const address = await askUntil({
    title: "Add PAI Cluster", prompt: "Address of the server",
    placeholder: "https://pai.example.org",
  }, async typed => {
    const read = readAddress(typed);
    if ("error" in read)
      throw new Error(read.error);
    await clusters.helper.findServer({ url: read.url }).catch(error => {
      if (!(error instanceof CallError && error.untrusted)) // that can be mended
        throw error;
    });
    return read;
  });
  if (address === undefined || address.plain && await vscode.window.showWarningMessage(
    `${address.url} is not encrypted: others can read the password and the token.`,
    { modal: true }, PLAIN) !== PLAIN)
    return undefined;
  return reach(clusters, { url: address.url });
}

type LogIn = (at: ServerAddress) => Promise<LoginResult | undefined>;

const WAYS = {
  password: { label: "Password", detail: "It is exchanged for a token and kept nowhere" },
  token: { label: "Token", detail: "Of the portal, or of openpai token create" },
  browser: { label: "Browser", detail: "The login page of the server" },
};

/** Logs in to a server that was found, and keeps the token here. */
async function logIn(clusters: Clusters, cluster: Cluster, server: Server): Promise<void> {
  const { helper } = clusters, title = `Log In to ${cluster.name}`;
  const ways: Record<string, LogIn> = {
    password: async at => {
      const user = await askUntil({ title, prompt: "User name", value: cluster.user },
        async text => text);
      return user === undefined ? undefined : askUntil({ title, prompt: `Password of ${user}`, password: true },
        password => helper.login({ ...at, user, password }));
    },
    token: at => askUntil({ title, prompt: "Token", password: true },
      token => helper.login({ ...at, token })),
    browser: at => logInWithBrowser(clusters, title, at),
  };
  const names = server.browser ? ["browser", "token"] as const : ["password", "token"] as const;
  const how = await vscode.window.showQuickPick(
    names.map(name => ({ ...WAYS[name], logIn: ways[name] })),
    { title, placeHolder: "How do you log in?", ignoreFocusOut: true });
  const { caFile } = server, result = await how?.logIn({ url: server.url, caFile });
  if (!result)
    return;
  const { url, token } = result, user = result.user ?? undefined;
  await clusters.keep(cluster.name, { url, user, caFile, token });
  await clusters.choose({ name: cluster.name, url, user, owner: "editor" });
}

/** The page shows words that must be ours, and after the login a code that is typed here. */
async function logInWithBrowser(clusters: Clusters, title: string, at: ServerAddress):
  Promise<LoginResult | undefined> {
  const { url, page, words, verifier } = await clusters.helper.loginPage(at);
  await vscode.env.openExternal(vscode.Uri.parse(page, true));
  return askUntil({
    title,
    prompt: `Check that the page in the browser shows ${words}, then type the other code that it shows`,
  }, code => clusters.helper.login({ ...at, url, code, verifier }));
}

/** Of the program's cluster the program keeps the token. */
async function logInWithProgram(clusters: Clusters, cluster: Cluster): Promise<void> {
  const start = await clusters.start(["login", cluster.name], LOCAL);
  const terminal = openTerminal(`Log in to ${cluster.name}`, held(start));
  const closed = vscode.window.onDidCloseTerminal(async one => {
    if (one !== terminal)
      return;
    closed.dispose();
    await clusters.renew(cluster.name);
  });
}

export async function addCluster(clusters: Clusters): Promise<void> {
  const server = await askServer(clusters);
  if (server === undefined)
    return;
  const taken = (await clusters.list()).map(one => one.name);
  const name = await vscode.window.showInputBox({
    title: "Add PAI Cluster", prompt: "Name for it", ignoreFocusOut: true,
    value: freeName(new URL(server.url).hostname, taken),
    validateInput: text => !isAlias(text) ? "Letters, digits, _ . and -"
      : taken.includes(text) ? "There is a cluster with this name" : undefined,
  });
  if (name)
    await logIn(clusters, { name, url: server.url }, server);
}

async function pick(clusters: Clusters, title: string, far: boolean):
  Promise<Cluster | undefined> {
  const all = (await clusters.list()).filter(one => !far || one.url !== undefined);
  const picked = await vscode.window.showQuickPick(all.map(cluster => ({
    label: cluster.name === clusters.current.name ? `$(check) ${cluster.name}` : cluster.name,
    description: cluster.url ?? "this machine",
    detail: [cluster.user && `as ${cluster.user}`,
      cluster.url && cluster.owner === "program" && "logged in to with the program"]
      .filter(Boolean).join(", "),
    cluster,
  })), { title, placeHolder: all.length === 0 ? "Add a cluster first" : undefined });
  return picked?.cluster;
}

export async function chooseCluster(clusters: Clusters): Promise<void> {
  const cluster = await pick(clusters, "Choose a Cluster", false);
  if (cluster)
    await clusters.choose(cluster);
}

/** Logs in again; the address of a cluster never changes. */
export async function editCluster(clusters: Clusters): Promise<void> {
  const cluster = await pick(clusters, "Log In Again", true);
  if (cluster?.owner !== "editor")
    return cluster && logInWithProgram(clusters, cluster);
  const caFile = (await clusters.login(cluster.name))?.caFile;
  await logIn(clusters, cluster, await reach(clusters, { url: cluster.url!, caFile }));
}

export async function removeCluster(clusters: Clusters): Promise<void> {
  const cluster = await pick(clusters, "Delete a Cluster", true);
  if (cluster === undefined || await vscode.window.showWarningMessage(
    `Delete ${cluster.name} and its token? Its jobs go on.`, { modal: true },
    "Delete") !== "Delete")
    return;
  await clusters.remove(cluster);
}

/** Takes the clusters of a file of the old client. */
async function importOld(clusters: Clusters): Promise<void> {
  const [file] = await vscode.window.showOpenDialog({
    title: "Configuration of the old client", filters: { JSON: ["json", "jsonc"] },
  }) ?? [];
  if (file === undefined)
    return;
  const text = Buffer.from(await vscode.workspace.fs.readFile(file)).toString("utf8");
  const found = readOldClusters(text, (await clusters.list()).map(one => one.name));
  const logInTo: string[] = [];
  for (const { name, url, user, token } of found) {
    const told = token === undefined ? undefined
      : await clusters.helper.login({ url, token }).catch(() => undefined);
    await clusters.keep(name, told === undefined ? { url, user }
      : { url: told.url, user: told.user ?? user, token: told.token });
    if (told === undefined)
      logInTo.push(name);
  }
  clusters.refresh();
  void vscode.window.showInformationMessage(found.length === 0
    ? "There is no cluster in this file." : logInTo.length === 0
      ? `Imported: ${found.map(one => one.name).join(", ")}.`
      : `Imported: ${found.map(one => one.name).join(", ")}. Log in to ${logInTo.join(", ")}.`);
}

export async function importClusters(clusters: Clusters): Promise<void> {
  const how = await vscode.window.showQuickPick([
    { label: "Of the program opai", detail: "~/.openpai/clusters.yaml", opai: true },
    { label: "Of the old VS Code client…", detail: "A saved configuration, as JSON", opai: false },
  ], { title: "Import Clusters" });
  if (how?.opai) {
    await clusters.run(["remote", "import"], { cluster: LOCAL });
    await clusters.renew(clusters.current.name);
    await chooseCluster(clusters);
  } else if (how) {
    await importOld(clusters);
  }
}

/** The web page of a server, which has its portal if it has one. */
export async function openPortal(clusters: Clusters, path = "/"): Promise<void> {
  const { url } = clusters.current;
  if (url === undefined)
    throw new Error("The platform of this machine has no web page: choose a server.");
  await vscode.env.openExternal(vscode.Uri.parse(new URL(url).origin + path));
}
