// commands.ts - add, choose, log in to and remove clusters: what `openpai login` and
// `openpai remote` do, which keep the tokens

import * as vscode from "vscode";
import { openTerminal } from "../editor/terminal";
import { freeName, isAlias, LOCAL, readAddress, readOldClusters, type Cluster } from "./cluster";
import type { Clusters } from "./store";

const PLAIN = "Send It Unencrypted", AUTHORITIES = "Choose Certificate Authorities…";

async function askAddress(): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    title: "Add PAI Cluster", prompt: "Address of the server", ignoreFocusOut: true,
    placeHolder: "https://pai.example.org",
    validateInput: text => {
      const address = readAddress(text);
      return text.trim() !== "" && "error" in address ? address.error : undefined;
    },
  });
  if (!typed?.trim())
    return undefined;
  const address = readAddress(typed);
  if ("error" in address)
    return undefined;
  if (address.plain && await vscode.window.showWarningMessage(
    `${address.url} is not encrypted: others can read the password and the token.`,
    { modal: true }, PLAIN) !== PLAIN)
    return undefined;
  return address.url;
}

const ask = (cluster: Cluster, prompt: string, password: boolean, value?: string) =>
  vscode.window.showInputBox({
    title: `Log In to ${cluster.name}`, prompt, password, value, ignoreFocusOut: true,
  });

/** Runs `openpai login`; a certificate that nobody signed whom the system knows needs a file. */
async function runLogin(clusters: Clusters, cluster: Cluster, words: string[], input: string):
  Promise<void> {
  const login = ["login", ...words, "--alias", cluster.name];
  try {
    await clusters.run([...login, cluster.url!], { cluster: LOCAL, input });
  } catch (error) {
    if (!/certificate/i.test((error as Error).message) || await vscode.window.showErrorMessage(
      (error as Error).message, { modal: true }, AUTHORITIES) !== AUTHORITIES)
      throw error;
    const [file] = await vscode.window.showOpenDialog({
      title: "Certificate authorities to trust, in PEM",
    }) ?? [];
    if (file === undefined)
      throw new vscode.CancellationError();
    await clusters.run([...login, "--ca-file", file.fsPath, cluster.url!],
      { cluster: LOCAL, input });
  }
  await clusters.renew(cluster.name);
}

async function logIn(clusters: Clusters, cluster: Cluster): Promise<void> {
  const how = await vscode.window.showQuickPick([
    { label: "Password", detail: "It is exchanged for a token and kept nowhere", how: "password" },
    { label: "Token", detail: "Of the portal, or of openpai token create", how: "token" },
    { label: "Browser", detail: "If users log in with OpenID Connect", how: "browser" },
  ], { title: `Log In to ${cluster.name}`, placeHolder: "How do you log in?", ignoreFocusOut: true });
  if (how?.how === "password") {
    const user = await ask(cluster, "User name", false, cluster.user);
    const password = user && await ask(cluster, `Password of ${user}`, true);
    if (user && password)
      await runLogin(clusters, cluster, ["--password-stdin", "--user", user], `${password}\n`);
  } else if (how?.how === "token") {
    const token = await ask(cluster, "Token", true);
    if (token?.trim())
      await runLogin(clusters, cluster, ["--token-stdin"], `${token.trim()}\n`);
  } else if (how?.how === "browser") {
    logInWithBrowser(clusters, cluster);
  }
}

/** The terminal shows the code that must be the same in the browser. */
function logInWithBrowser(clusters: Clusters, cluster: Cluster): void {
  const words = ["login", "--oidc", "--alias", cluster.name, cluster.url!];
  const terminal = openTerminal(`Log in to ${cluster.name}`, clusters.start(words, LOCAL));
  const closed = vscode.window.onDidCloseTerminal(async one => {
    if (one !== terminal)
      return;
    closed.dispose();
    if (one.exitStatus?.code === 0)
      await clusters.renew(cluster.name);
  });
}

export async function addCluster(clusters: Clusters): Promise<void> {
  const url = await askAddress();
  if (url === undefined)
    return;
  const taken = (await clusters.list()).map(one => one.name);
  const name = await vscode.window.showInputBox({
    title: "Add PAI Cluster", prompt: "Name for it", ignoreFocusOut: true,
    value: freeName(new URL(url).hostname, taken),
    validateInput: text => !isAlias(text) ? "Letters, digits, _ . and -"
      : taken.includes(text) ? "There is a cluster with this name" : undefined,
  });
  if (name)
    await logIn(clusters, { name, url });
}

async function pick(clusters: Clusters, title: string, far: boolean):
  Promise<Cluster | undefined> {
  const all = (await clusters.list()).filter(one => !far || one.url !== undefined);
  const picked = await vscode.window.showQuickPick(all.map(cluster => ({
    label: cluster.name === clusters.current.name ? `$(check) ${cluster.name}` : cluster.name,
    description: cluster.url ?? "this machine",
    detail: cluster.user && `as ${cluster.user}`, cluster,
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
  if (cluster)
    await logIn(clusters, cluster);
}

export async function removeCluster(clusters: Clusters): Promise<void> {
  const cluster = await pick(clusters, "Delete a Cluster", true);
  if (cluster === undefined || await vscode.window.showWarningMessage(
    `Delete ${cluster.name} and its token? Its jobs go on.`, { modal: true },
    "Delete") !== "Delete")
    return;
  await clusters.run(["remote", "remove", cluster.name], { cluster: LOCAL });
  await clusters.renew(clusters.current.name);
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
    await clusters.run(["remote", "add", name, url, ...(user ? ["--user", user] : [])],
      { cluster: LOCAL });
    const words = ["login", "--token-stdin", "--alias", name, url];
    const done = token !== undefined &&
      await clusters.run(words, { cluster: LOCAL, input: `${token}\n` }).catch(() => false);
    if (done === false)
      logInTo.push(name);
  }
  await clusters.renew(clusters.current.name);
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
