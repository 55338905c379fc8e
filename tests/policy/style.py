"""Fails on what the house style forbids and no compiler sees.

Usage: style.py [ROOT].  Sizes of files and functions, functions that are
never called, white space, notes to self, absolute paths of one machine.
"""
import re

import source

FILE_LINES, FUNCTION_LINES = 600, 80

# Never right, anywhere in src/.
UNSAFE = "sprintf vsprintf strcpy strcat gets strtok setenv putenv chdir"
# A library leaves these to its host: no output, no exit, no handlers.
HOSTS = "printf puts putchar perror abort exit quick_exit atexit signal"
# One file says what an error number means (base/os/posix_errno.h): both are other
# functions where a file asks for GNU's names, or in another thread.
NUMBERS = "strerror strerror_r"
# A pure room gets what it needs from its caller.
IMPURE = "fopen freopen tmpfile getenv system popen rand srand"

PROGRAMS = {"cli", "helper", "task"}
PURE = {"base", "json", "yaml", "spec", "resource", "sched", "job", "sim",
        "language"}

CODE = ("*.c", "*.h", "*.cc", "*.py", "*.lua", "*.i", "*.pyi")

# Written so that this file does not find itself.
NOTE = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X|H[A]CK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.})-])/(work|workspaces?|Users|home)/(?=\w)")
TEXT = ("*.c", "*.h", "*.cc", "*.py", "*.sh", "*.cmake", "*.md", "*.txt",
        "*.in", "*.i", "*.swg", "*.lua", "*.json", "*.yaml", "*.1", "*.map",
        "dev", "*/run", "*/accept")


def calls(code, names):
    """Yields (line, name) of each call of one of `names`."""
    pattern = r"(?<![\w.>])(%s)\s*\(" % "|".join(names.split())
    for m in re.finditer(pattern, code):
        yield code.count("\n", 0, m.start()) + 1, m.group(1)


def banned(path, room):
    names = UNSAFE
    if room not in PROGRAMS:
        names += " " + HOSTS
        if path.name != "posix_errno.c":
            names += " " + NUMBERS
    elif room == "helper":
        names += " signal"
    if room in PURE and not re.match(r"(posix|linux)_", path.name):
        names += " " + IMPURE
    return names


def check_sizes(root):
    for path in source.files(root, *CODE):
        lines = path.read_bytes().count(b"\n")
        if lines > FILE_LINES:
            yield "%s: %d lines, %d allowed" % (
                path.relative_to(root), lines, FILE_LINES)


def check_source(root):
    """src/: sizes of functions and banned calls."""
    for path in source.files(root, "src/*.[ch]"):
        where = path.relative_to(root)
        text = path.read_text()
        code = source.strip_noise(text)
        for name, _, line, length in source.functions(code):
            if length > FUNCTION_LINES:
                yield "%s:%d: %s() has %d lines, %d allowed" % (
                    where, line, name, length, FUNCTION_LINES)
        for line, name in calls(code, banned(path, where.parts[1])):
            yield "%s:%d: %s() is banned here" % (where, line, name)
        if where.parts[1] not in PROGRAMS:
            for m in re.finditer(r"\b(stdout|stderr)\b", code):
                yield "%s:%d: a library does not write to %s" % (
                    where, code.count("\n", 0, m.start()) + 1, m.group())


def check_text(root):
    """All text files: white space in C, notes and paths everywhere."""
    for path in source.files(root, *TEXT):
        where = path.relative_to(root)
        if where.parts[:2] == ("tests", "fuzz") and "corpus" in where.parts:
            continue
        text = path.read_text(errors="replace")
        for n, line in enumerate(text.split("\n"), 1):
            if path.suffix in (".c", ".h") and re.search(r"\t|[ \r]$", line):
                yield "%s:%d: a tab, or white space at the end" % (where, n)
            if NOTE.search(line):
                yield "%s:%d: a note to self: do it or file it" % (where, n)
            if MACHINE_PATH.search(line):
                yield "%s:%d: a path of one machine" % (where, n)
        if path.suffix in (".c", ".h") and not text.endswith("\n"):
            yield "%s: no newline at the end" % where


def check(root):
    return [*check_sizes(root), *check_source(root), *check_text(root)]


if __name__ == "__main__":
    source.verdict(check(source.root_from_argv()))
