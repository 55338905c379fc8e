// attach.ts - where a debugger of this machine is reached

import * as net from "net";
import type * as vscode from "vscode";

const HOST = "127.0.0.1";

/** A port of this machine at which nothing listens. */
export const freePort = (): Promise<number> => new Promise((resolve, reject) => {
  const server = net.createServer().on("error", reject).listen(0, HOST, () => {
    const { port } = server.address() as net.AddressInfo;
    server.close(() => resolve(port));
  });
});

/** What VS Code needs to attach; the tasks have the folder at the same place. */
export const attachTo = (name: string, port: number, folder: string): vscode.DebugConfiguration => ({
  type: "debugpy", request: "attach", name, connect: { host: HOST, port },
  pathMappings: [{ localRoot: folder, remoteRoot: folder }], justMyCode: false,
});

/** Whether something listens at a port of 127.0.0.1 or of all addresses, by /proc/net/tcp. */
export function listens(table: string, port: number): boolean {
  const at = port.toString(16).toUpperCase().padStart(4, "0");
  return new RegExp(`^ *\\d+: (?:0100007F|00000000):${at} 00000000:0000 0A `, "m").test(table);
}
