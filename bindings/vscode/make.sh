#!/bin/sh
# make.sh - build the extension outside of the source tree
#
# Usage: make.sh FOLDER [package]
#
# FOLDER gets the sources, what is generated, the packages of npm, and dist/; with `package`
# also openpai.vsix. $OPENPAI_JS is the built package of bindings/js; without it the extension
# does not run in a browser.
# Exit status: 0 built, 77 node, npm or the registry is missing.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
skip() { echo "skipped: $*"; exit 77; }

command -v node >/dev/null || skip "no node"
command -v npm >/dev/null || skip "no npm"
mkdir -p "$out"
out=$(cd "$out" && pwd)
(cd "$out" && rm -rf src test media templates dist walkthrough)
cp -R "$root/bindings/vscode/." "$out"
[ ! -d "$root/tests/bindings/vscode/unit" ] || cp -R "$root/tests/bindings/vscode/unit" "$out/test"
cp "$root/LICENSE" "$out"
mkdir "$out/media/viewer"
cp "$root"/src/viewer/*.js "$root/src/viewer/viewer.css" "$out/media/viewer"
cp "$root/examples/jobs/hello.yaml" "$out/templates"
"${PYTHON:-python3}" -B "$root/src/api/typescript_calls.py" "$out/src"

cd "$out"
if ! cmp -s package-lock.json node_modules/.lock; then
  npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 0 >npm.log 2>&1 ||
    { tail -n 5 npm.log; skip "npm cannot install packages"; }
  cp package-lock.json node_modules/.lock
fi
rm -rf node_modules/openpai
if [ -f "${OPENPAI_JS:+$OPENPAI_JS/language.wasm}" ]; then
  cp -R "$OPENPAI_JS" node_modules/openpai
else
  echo "without the language features in a browser: no JavaScript binding" >&2
  rm src/web.ts src/language/worker.ts
  npm pkg delete browser
fi
npm run --silent check
npm run --silent bundle
[ "${2-}" = package ] || exit 0
npm_config_fetch_retries=1 npm_config_fetch_retry_mintimeout=3000 \
  npm run --silent vsce -- --version >npm.log 2>&1 ||
  { tail -n 5 npm.log; skip "npm cannot install vsce"; }
npm run --silent package
