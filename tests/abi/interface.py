"""Compares the library's interface, as its debug information tells it, with
the dump of the last accepted one.

Usage: interface.py --dump FILE --lib FILE --include DIR --compiler NAME
                    [--instrumented] [--accept]
A dump is true for the tools and the kind of machine that made it; its last
line names them, and elsewhere this is skipped.  --accept writes the dump
instead.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIP)


# Types from elsewhere than the public headers become opaque.  The label is the
# one that --headers-dir uses itself; that option compares base names only, and
# so takes src/spec/spec.h for <openpai/spec.h>.
PRIVATE = """[suppress_type]
  label = Artificial private types suppression specification
  source_location_not_regexp = %s/
  drop = yes
"""


def maker(args):
    """Names what a dump depends on."""
    version = subprocess.run(["abidw", "--version"], check=True, text=True,
                             capture_output=True).stdout.split()[-1]
    return "%s, abidw %s" % (args.compiler, version)


def dump(args):
    """The interface as XML, without any path of this machine."""
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as private:
        private.write(PRIVATE % re.sub(r"[^\w/]", ".", args.include))
        private.flush()
        xml = subprocess.run(
            ["abidw", "--suppressions", private.name, "--no-elf-needed",
             "--exported-interfaces-only", "--no-corpus-path",
             "--no-comp-dir-path", "--no-show-locs", "--no-parameter-names",
             "--type-id-style", "hash", args.lib],
            check=True, capture_output=True, text=True).stdout
    xml = xml.replace(" path='%s/" % pathlib.Path(args.include).parent,
                      " path='")
    return "%s<!-- made with %s -->\n" % (xml, maker(args))


def check_can_run(args):
    if args.instrumented:
        skip("this build is instrumented")
    for tool in ("abidw", "abidiff"):
        if not shutil.which(tool):
            skip("no %s: install the package abigail-tools" % tool)
    if b".debug_info" not in pathlib.Path(args.lib).read_bytes():
        skip("%s has no debug information" % args.lib)


def compare(args):
    if not args.dump.exists():
        print("no %s yet: run tests/abi/accept" % args.dump)
        return 1
    made_with = re.search(r"<!-- made with (.*) -->",
                          args.dump.read_text()).group(1)
    if made_with != maker(args):
        skip("the dump is for %s, this is %s" % (made_with, maker(args)))
    # Dump against dump: given the library itself and --headers-dir2, abidiff
    # 2.2 takes changes of public structs for private ones and hides them.
    # Harmless growth and true breaks both exit with 4: any change fails.
    with tempfile.NamedTemporaryFile("w", suffix=".abi") as now:
        now.write(dump(args))
        now.flush()
        done = subprocess.run(["abidiff", args.dump, now.name], check=False)
    if done.returncode != 0:
        print("deliberate, before 1.0: run tests/abi/accept")
    return 1 if done.returncode != 0 else 0


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--dump", required=True, type=pathlib.Path)
    args.add_argument("--lib", required=True)
    args.add_argument("--include", required=True)
    args.add_argument("--compiler", required=True)
    args.add_argument("--instrumented", action="store_true")
    args.add_argument("--accept", action="store_true")
    args = args.parse_args()
    check_can_run(args)
    if args.accept:
        args.dump.write_text(dump(args))
        return 0
    return compare(args)


if __name__ == "__main__":
    sys.exit(main())
