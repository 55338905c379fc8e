#!/bin/sh
# run_editor.sh - the extension in VS Code and Chromium: without a server, then with one
#
# Usage: run_editor.sh PROGRAM BUILD
#
# $OPENPAI_EDITOR_CACHE is the folder where code-server and its packages, 400 MB, are kept
# (default: openpai/editor in the user's cache).
# Exit status: 0 all held, 1 something failed, 77 the registry or a tool is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$1
build=$2
cache=${OPENPAI_EDITOR_CACHE:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/openpai/editor}
"$here/setup.sh" "$cache"
"$here/../../../bindings/vscode/make.sh" "$build" package >"$build.log" 2>&1 ||
  { code=$?; cat "$build.log"; exit "$code"; }
if [ -n "${OPENPAI_JS-}" ]; then
  rm -rf "$build-unpacked"
  "${PYTHON:-python3}" -m zipfile -e "$build/openpai.vsix" "$build-unpacked"
  node "$here/web.mjs" "$cache" "$build-unpacked/extension" "$build-web"
fi
exec node "$here/editor.mjs" "$cache" "$program" "$build" "$build-work"
