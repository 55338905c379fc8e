#!/bin/sh
# make.sh - build the portal outside of the source tree
#
# Usage: make.sh FOLDER PACKAGE
#
# PACKAGE is the package of bindings/js, with portal.wasm beside it. FOLDER gets the sources, what is generated, the
# packages of npm, files/ and portal_files.c. Where npm cannot install packages,
# portal_files.c has no files, and a line says so.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
js=$2

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/src" "$out/openpai"
cp -R "$root/src/portal/src" "$root/src/portal/package.json" "$root/src/portal/package-lock.json" \
  "$root/src/portal/tsconfig.json" "$root/src/portal/build.mjs" "$out"
cp -R "$js" "$out/openpai"
cp "$js/../portal.wasm" "$out"
mkdir -p "$out/src/examples"
cp "$root"/examples/templates/*.yaml "$out/src/examples"
"${PYTHON:-python3}" -B "$root/src/api/typescript_calls.py" "$out/src" ways

cd "$out"
if ! cmp -s package-lock.json node_modules/.lock; then
  if ! npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 0 >npm.log 2>&1; then
    tail -n 5 npm.log
    echo "warning: npm cannot install packages: the server is built without the web portal"
    cp "$root/src/portal/none.c" portal_files.c
    exit 0
  fi
  cp package-lock.json node_modules/.lock
fi
npm run --silent check
npm run --silent bundle -- .
