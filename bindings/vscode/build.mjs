// build.mjs - bundle the extension into dist/extension.js, and its tests into dist/test/
import { existsSync, readdirSync } from "node:fs";
import { build } from "esbuild";

const common = {
  bundle: true, platform: "node", target: "node18", format: "cjs", logLevel: "warning",
};

await build({
  ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js",
  external: ["vscode"], minify: true, legalComments: "none",
});
const tests = existsSync("test") ? readdirSync("test").filter(name => /^test_.*\.ts$/.test(name)) : [];
if (tests.length > 0)
  await build({
    ...common, entryPoints: tests.map(name => `test/${name}`), outdir: "dist/test",
    alias: { vscode: "./test/fake_vscode.ts" }, sourcemap: "inline",
    logOverride: { "import-is-undefined": "silent" }, // of what no test calls
  });
