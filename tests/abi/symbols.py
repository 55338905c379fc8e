"""Compares the version map, the exported symbols and the public headers.

Usage: symbols.py --map FILE --lib FILE --nm PROGRAM HEADER...
A function has to be in all three, its @since has to name its map node, and
the node has to be the one it is exported under.  Nodes *_PRIVATE_* are for a
library of the very same version: in the map and exported, in no header.
"""
import argparse
import pathlib
import re
import subprocess
import sys

import headers


def read_map(text):
    """{symbol: node}"""
    found = {}
    text = re.sub(r"/\*.*?\*/|#[^\n]*", " ", text, flags=re.S)
    for node, body in re.findall(r"([\w.]+)\s*\{(.*?)\}[^;]*;", text, re.S):
        exported = re.sub(r"\blocal\s*:.*", "", body, flags=re.S)
        for name in re.sub(r"\bglobal\s*:", " ", exported).split(";"):
            if name.strip():
                found[name.strip()] = node
    return found


def read_exports(nm_output):
    """{symbol: node} from nm's lines "ADDRESS TYPE NAME@@NODE"."""
    found = {}
    for line in nm_output.splitlines():
        *_, kind, symbol = line.split()
        name, _, node = symbol.partition("@")
        if kind != "A":  # the nodes themselves
            found[name] = node.lstrip("@")
    return found


def compare(mapped, exported, declared):
    for name in sorted(mapped.keys() | exported.keys() | declared.keys()):
        node = mapped.get(name)
        if node is None:
            yield "%s: not in the map" % name
        elif not re.fullmatch(r"\w+", name):
            yield "%s: the map lists names, not patterns" % name
        elif name not in exported:
            yield "%s: in the map, not exported" % name
        elif exported[name] != node:
            yield "%s: exported under '%s', mapped to %s" % (
                name, exported[name], node)
        if name not in declared:
            if "_PRIVATE_" not in (node or ""):
                yield "%s: in no public header" % name
        elif declared[name] is None:
            yield "%s: no @since in its comment" % name
        elif node and not node.endswith("_" + declared[name]):
            yield "%s: @since %s, mapped to %s" % (name, declared[name], node)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--map", required=True, type=pathlib.Path)
    args.add_argument("--lib", required=True)
    args.add_argument("--nm", default="nm")
    args.add_argument("headers", nargs="+", type=pathlib.Path)
    args = args.parse_args()
    nm = subprocess.run([args.nm, "-D", "--defined-only", args.lib],
                        check=True, capture_output=True, text=True)
    declared = {}
    for path in args.headers:
        declared.update(headers.functions(path.read_text()))
    complaints = list(compare(read_map(args.map.read_text()),
                              read_exports(nm.stdout), declared))
    print("\n".join(complaints) or "%d symbols" % len(declared))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
