// The types of the package, by the compiler of TypeScript, which npm installs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { temporary } from "./shared.mjs";

const VERSION = "5.4.5";
const npm = process.env.OPENPAI_NPM, compiler = join(npm, "node_modules/typescript/bin/tsc");
mkdirSync(npm, { recursive: true });
if (!existsSync(compiler)) {
  const done = spawnSync("npm", ["install", "--prefix", npm, "--no-audit", "--no-fund",
                                 `typescript@${VERSION}`], { encoding: "utf8" });
  if (done.status !== 0) {
    console.log(`skipped: npm cannot install typescript@${VERSION}`);
    process.exit(77);
  }
}

test("the types are true for a user with strict settings", () => {
  const folder = temporary("types");
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(process.env.OPENPAI_JS, join(folder, "node_modules/openpai"));
  copyFileSync(fileURLToPath(new URL("./typed_use.mts", import.meta.url)),
               join(folder, "typed_use.mts"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
    compilerOptions: { strict: true, noEmit: true, module: "nodenext", target: "es2022",
                       lib: ["es2022", "dom"], types: [] },
    files: ["typed_use.mts"] }));
  const done = spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
  assert.equal(done.stdout, "");
  assert.equal(done.status, 0);
});
