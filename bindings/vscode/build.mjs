// build.mjs - bundle the extension into dist/, and its tests into dist/test/
//
// dist/web.js, dist/worker.js and dist/language.wasm are the extension in a browser. They are
// left out where there is no package `openpai`.
import { copyFileSync, existsSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const common = {
  bundle: true, platform: "node", target: "node18", format: "cjs", logLevel: "warning",
};
const small = { minify: true, legalComments: "none" };
const browser = { ...common, ...small, platform: "browser", target: "es2022" };

await build({
  ...common, ...small, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js",
  external: ["vscode"],
});
if (existsSync("src/web.ts")) {
  await build({
    ...browser, entryPoints: ["src/web.ts"], outfile: "dist/web.js", external: ["vscode"],
  });
  await build({
    ...browser, format: "iife", entryPoints: ["src/language/worker.ts"],
    outfile: "dist/worker.js", external: ["node:fs/promises"],
    logOverride: { "empty-import-meta": "silent" }, // the module is given, not looked for
  });
  copyFileSync("node_modules/openpai/language.wasm", "dist/language.wasm");
}
const tests = existsSync("test") ? readdirSync("test").filter(name => /^test_.*\.ts$/.test(name)) : [];
if (tests.length > 0)
  await build({
    ...common, entryPoints: tests.map(name => `test/${name}`), outdir: "dist/test",
    alias: { vscode: "./test/fake_vscode.ts" }, sourcemap: "inline",
    logOverride: { "import-is-undefined": "silent" }, // of what no test calls
  });
