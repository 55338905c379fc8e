#!/bin/sh
# run_editor.sh - the extension in VS Code and Chromium: without a server, then with one
#
# Usage: run_editor.sh PROGRAM BUILD
#
# It needs minutes and 400 MB, so it runs only in a long run: ./dev soak bindings/vscode_editor.
# $OPENPAI_EDITOR_CACHE is the folder where code-server is kept (default: the user's cache).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$1
build=$2
if [ -z "${OPENPAI_SOAK-}${OPENPAI_EDITOR_CACHE-}" ]; then
  echo 'skipped: VS Code is tried by ./dev soak bindings/vscode_editor'
  exit 77
fi
cache=${OPENPAI_EDITOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/openpai-editor}
"$here/setup.sh" "$cache"
"$here/../../../bindings/vscode/make.sh" "$build" package >"$build.log" 2>&1 ||
  { code=$?; cat "$build.log"; exit "$code"; }
if [ -n "${OPENPAI_JS-}" ]; then
  rm -rf "$build-unpacked"
  "${PYTHON:-python3}" -m zipfile -e "$build/openpai.vsix" "$build-unpacked"
  node "$here/web.mjs" "$cache" "$build-unpacked/extension" "$build-web"
fi
exec node "$here/editor.mjs" "$cache" "$program" "$build" "$build-work"
