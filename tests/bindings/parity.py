"""Whether bindings/parity.txt is true; and the page of the guide made of it.

Usage: parity.py --source DIR [--lua INTERPRETER] [--write]

Each public function has a line, each name of Python is one of the module's,
and each of Lua one of an object's.  --write writes the page anew.
"""
import argparse
import pathlib
import re
import subprocess
import sys

import openpai

PAGE = "docs/guide/bindings-parity.md"

HEAD = """\
# Names of the C functions in Python and Lua

Generated from `bindings/parity.txt`; do not edit. A function without a name in a language has the reason instead.
"""


def public(source):
    """The functions of the libraries' maps, without what is private."""
    names = set()
    for path in ("src/openpai.map", "src/openpai-server.map"):
        for node in re.findall(r"^(\S+) \{(.*?)^\}",
                               (source / path).read_text(), re.M | re.S):
            if "PRIVATE" not in node[0]:
                names.update(re.findall(r"\b(pai_\w+);", node[1]))
    headers = "".join(path.read_text() for path in
                      (source / "include/openpai").glob("*.h"))
    return {name for name in names if name + "(" in headers}


def read(path):
    """[(header, function, Python's names, Lua's, reason)]."""
    rows, reasons, header = [], {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if re.match(r"\[.*\]$", line):
            header = line[1:-1]
        elif ":=" in line:
            name, _, text = line.partition(":=")
            reasons[name.strip()] = text.strip()
        elif "|" in line:
            name, python, lua = (part.strip() for part in line.split("|"))
            rows.append((header, name, re.split(", *", python),
                         re.split(", *", lua), None))
        elif "=" in line:
            name, _, text = line.partition("=")
            text = text.strip()
            rows.append((header, name.strip(), [], [],
                         reasons.get(text, text)))
        else:
            sys.exit("%s:%d: neither names nor a reason" % (path, number))
    return rows


def in_python(name):
    """Whether the module has it: a name, or one of a class."""
    first, _, rest = name.partition(".")
    found = getattr(openpai, first, None)
    if found is None or not rest:
        return found is not None
    return hasattr(found, rest) or any(
        rest in getattr(cls, "__annotations__", {}) for cls in found.__mro__)


LUA = r"""
local openpai = require "openpai"
local job = [[
protocolVersion: 2
name: j
type: job
prerequisites: [ { name: n, type: dockerimage, uri: n } ]
taskRoles: { m: { instances: 1, dockerImage: n,
  resourcePerInstance: { cpu: 1, memoryMB: 64, gpu: 0 },
  commands: [ "echo up; exec sleep 1000" ] } }
]]
local config = openpai.cluster.synthetic("nodes:1 gpu:8")
local s = openpai.scheduler(config, { policy = "fifo" })
local trace = openpai.trace.generate { jobs = 3, gpus = 8 }
local report = openpai.simulate(config, trace, { policy = "fifo" })
local p = openpai.platform.open { root = arg[1] }
local h = p:submit(openpai.job.parse(job))
assert(h:logs { follow = true }:line())
s:submit { id = 1, tasks = 1, gpus = 8 }
s:decide()
s:started(1, 0)
s:submit { id = 2, tasks = 1, gpus = 8 }
s:decide()
-- Whether a server answers is nothing to a client that only shows its methods.
local c = openpai.client { root = arg[1] }
local objects = {
  client = c, watch = c:watch(), client_log = c:logs("a~b", { role = "r" }),
  accounts = p:accounts(), virtual_clusters = p:virtual_clusters(),
  allocation = openpai.allocation.new(), cluster = config, platform = p,
  handle = h, session = assert(h:session { "cat" }), log = h:logs { follow = true }, job = openpai.job.parse(job),
  draft = openpai.draft.new(job), life = openpai.life.new(
    openpai.job.parse(job)), scheduler = s, trace = trace, report = report,
  topology = openpai.topology.synthetic("pack:1 core:1 pu:1"),
  simulation = openpai.simulation(config, trace, { policy = "fifo" }),
  comparison = openpai.compare { report }, history = openpai.history.new(),
  forecast = s:forecast(), what_if = s:what_if {}, shapes = s:shapes(2),
  sampler = openpai.sampler.new(),
  hived = openpai.hived.parse(config:to_hived()),
  replay = openpai.replay.parse(s:save()), shadow = p:shadow("fifo"),
}
local function has(object, name)
  local meta = getmetatable(object)
  if name:find("^__") then
    return meta ~= nil and (meta[name] ~= nil or meta[".fn"] ~= nil)
  end
  local good, found = pcall(function() return object[name] end)
  return good and found ~= nil
end
for line in io.lines() do
  local first, sign, rest = line:match("^(%w+_?%w*)([.:])([%w_]+)$")
  local good
  if not first then
    good = openpai[line] ~= nil
  elseif sign == "." then
    good = openpai[first] ~= nil and openpai[first][rest] ~= nil
  else
    good = objects[first] ~= nil and has(objects[first], rest)
  end
  if not good then
    print(line)
  end
end
c:close()
p:close()
"""


def not_in_lua(lua, names, folder):
    done = subprocess.run([lua, "-e", "arg = { %r }" % str(folder), "-e", LUA],
                          input="\n".join(names) + "\n", text=True,
                          stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit("parity: %s failed" % lua)
    return done.stdout.split()


def page(rows):
    text, last = [HEAD], None
    for header, name, python, lua, reason in rows:
        if header != last:
            text.append("\n## `<openpai/%s>`\n\n| C | Python | Lua |\n"
                        "| --- | --- | --- |" % header)
            last = header
        if reason:
            text.append("| `%s()` | %s | |" % (name, reason))
        else:
            cells = [", ".join("`%s`" % one.replace("->", ".")
                               for one in names) for names in (python, lua)]
            text.append("| `%s()` | %s | %s |" % (name, *cells))
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--lua")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    rows = read(args.source / "bindings/parity.txt")
    bad = []
    functions, named = public(args.source), [row[1] for row in rows]
    bad += ["%s() lacks" % name for name in sorted(functions - set(named))]
    bad += ["there is no %s()" % name for name in named
            if name not in functions]
    bad += ["%s() is there twice" % name for name in sorted(functions)
            if named.count(name) > 1]
    bad += ["Python has no %s" % name for row in rows for name in row[2]
            if not in_python(name)]
    if args.lua:
        names = [name for row in rows for name in row[3] if "->" not in name]
        bad += ["Lua has no %s" % name for name in
                not_in_lua(args.lua, names, args.work)]
    where = args.source / PAGE
    if args.write:
        where.write_text(page(rows))
    elif not where.exists() or where.read_text() != page(rows):
        bad.append("%s is old: run this with --write" % PAGE)
    print("\n".join(bad) if bad else "parity: good, %d functions" % len(rows))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
