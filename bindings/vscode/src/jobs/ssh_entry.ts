// ssh_entry.ts - a host in the ssh configuration for a task, for Remote - SSH

import * as fs from "fs/promises";
import * as os from "os";
import * as path from "path";
import * as vscode from "vscode";
import type { SshContainer } from "../api";
import type { Clusters } from "../clusters/store";

const SAFE = /^[\w.:-]+$/;

/** The lines of the configuration; throws if a value could be more than one word of it. */
export function hostEntry(host: string, at: SshContainer, key: string, known: string): string {
  for (const value of [host, at.sshIp, at.sshPort, at.sshUser])
    if (!SAFE.test(value))
      throw new Error(`This is no value for the ssh configuration: ${value}`);
  return [
    `Host ${host}`, `  HostName ${at.sshIp}`, `  Port ${at.sshPort}`, `  User ${at.sshUser}`,
    `  IdentityFile "${key}"`, "  IdentitiesOnly yes", `  UserKnownHostsFile "${known}"`,
    `  HostKeyAlias ${host}`, "  StrictHostKeyChecking yes", "",
  ].join("\n");
}

/** A line of a file of known hosts. */
export const knownHost = (host: string, hostKey: string): string =>
  `${host} ${hostKey.trim().split(/\s+/).slice(0, 2).join(" ")}\n`;

const include = (file: string): string => `Include "${file}"\n`;

/** The user's configuration with our file in it: at its beginning, before any Host. */
export const withInclude = (text: string, file: string): string =>
  text.includes(include(file).trim()) ? text : include(file) + text;

/**
 * Writes the entry of a task, with the job's key, and offers to open a window there. Key and
 * host key are in the extension's own folder, which only the user can read.
 */
export async function writeEntry(context: vscode.ExtensionContext, clusters: Clusters,
  job: string, role: string, index: number): Promise<void> {
  const told = await clusters.call("jobs.ssh", { job });
  const at = told.containers.find(one => one.taskRole === role && one.taskIndex === index);
  if (at === undefined)
    throw new Error(`${role}/${index} has no sshd: add the plugin ssh to the job, or use a terminal.`);
  const { privateKey } = await clusters.call("jobs.ssh_key", { job });
  const server = clusters.current.url;
  if (at.sshIp === "127.0.0.1" && server !== undefined)
    at.sshIp = new URL(server).hostname;
  const folder = path.join(context.globalStorageUri.fsPath, "ssh");
  const host = `openpai-${job.replace(/[^\w.-]/g, "_")}-${role}-${index}`;
  const key = path.join(folder, `${host}.key`), known = path.join(folder, `${host}.known`);
  const mine = path.join(folder, "config"), usual = path.join(os.homedir(), ".ssh", "config");
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  await fs.rm(key, { force: true });
  await fs.writeFile(key, privateKey, { mode: 0o600 });
  await fs.writeFile(known, knownHost(host, at.hostKey));
  const before = await fs.readFile(mine, "utf8").catch(() => "");
  const others = before.split(/^(?=Host )/m).filter(entry => !entry.startsWith(`Host ${host}\n`));
  await fs.writeFile(mine, others.join("") + hostEntry(host, at, key, known));
  const config = await fs.readFile(usual, "utf8").catch(() => "");
  if (withInclude(config, mine) !== config) {
    const answer = await vscode.window.showInformationMessage(
      `Add a line to ${usual} that includes the hosts of OpenPAI's tasks?`, { modal: true }, "Add");
    if (answer !== "Add")
      return;
    await fs.mkdir(path.dirname(usual), { recursive: true, mode: 0o700 });
    await fs.writeFile(usual, withInclude(config, mine), { mode: 0o600 });
  }
  const open = await vscode.window.showInformationMessage(`The host ${host} is ready for ssh.`,
    "Open Window");
  if (open !== undefined)
    await vscode.commands.executeCommand("vscode.openFolder",
      vscode.Uri.parse(`vscode-remote://ssh-remote+${host}/`), { forceNewWindow: true });
}
