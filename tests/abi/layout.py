"""Compares sizes, offsets and constants of the public headers with a table.

Usage: layout.py --table FILE --cc PROGRAM [--cflag=FLAG]... [--accept]
                 HEADER...
Makes a C program from the headers, runs it, and compares what it prints.
--accept writes the table instead.
"""
import argparse
import difflib
import pathlib
import subprocess
import sys
import tempfile

import headers

SKIP = 77


def program(paths):
    """A C program that prints the table."""
    lines = ["#include <openpai/%s>" % path.name for path in paths]
    lines += ["#include <stdio.h>", "int main(void)", "{",
              'printf("pointer %zu\\n", sizeof(void *));']
    for path in paths:
        text = path.read_text()
        lines.append('puts("\\n# openpai/%s");' % path.name)
        for name in headers.constants(text):
            lines.append('printf("%s %%lld\\n", (long long)%s);'
                         % (name, name))
        for name, members in headers.structs(text).items():
            lines.append('printf("%s %%zu\\n", sizeof(%s));' % (name, name))
            for member in members:
                lines.append('printf("  %s %%zu %%zu\\n", offsetof(%s, %s), '
                             'sizeof(((%s *)0)->%s));'
                             % (member, name, member, name, member))
    return "\n".join(lines + ["return 0;", "}", ""])


def measure(args):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "layout.c"
        source.write_text(program(args.headers))
        subprocess.run([*args.cc.split(), "-w", *args.cflag, str(source), "-o",
                        folder + "/layout"], check=True)
        return subprocess.run([folder + "/layout"], check=True,
                              capture_output=True, text=True).stdout


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--table", required=True, type=pathlib.Path)
    args.add_argument("--cc", default="cc")
    args.add_argument("--cflag", action="append", default=[])
    args.add_argument("--accept", action="store_true")
    args.add_argument("headers", nargs="+", type=pathlib.Path)
    args = args.parse_args()
    args.headers.sort()
    now = measure(args)
    if args.accept:
        args.table.write_text(now)
        return 0
    then = args.table.read_text() if args.table.exists() else now[:9]
    if then.split()[:2] != now.split()[:2]:
        print("skipped: the table is for pointers of %s bytes, not %s"
              % (then.split()[1], now.split()[1]))
        return SKIP
    changes = list(difflib.unified_diff(
        then.splitlines(), now.splitlines(), "accepted", "now", n=1,
        lineterm=""))
    if changes:
        print("\n".join(changes) +
              "\ndeliberate, before 1.0: run tests/abi/accept")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
