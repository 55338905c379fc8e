#!/bin/sh
# run.sh - try the portal in Chromium
#
# Usage: run.sh PROGRAM FOLDER [TEST.mjs]
#
# FOLDER gets the packages of npm and the screenshots. Exit status: 0 all held,
# 1 something failed, 77 npm, the registry or Chromium is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$1
out=$2
skip() { echo "skipped: $*"; exit 77; }

for tool in node npm chromium; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
cp "$here"/*.json "$here"/*.mjs "$out"
cd "$out"
if ! cmp -s package-lock.json node_modules/.lock; then
  npm ci --ignore-scripts --no-audit --no-fund --fetch-retries 0 >npm.log 2>&1 ||
    { tail -n 5 npm.log; skip "npm cannot install packages"; }
  cp package-lock.json node_modules/.lock
fi
OPENPAI_PROGRAM=$program exec node --test --test-reporter=spec "${3:-portal.mjs}"
