"""Fails on what does not belong at the top of the repository, on a file that
is there twice, and on a folder with too many files.

Usage: tree.py [ROOT].  Corpora of fuzz tests may have what others have, too,
and as many files as they need.
"""
import collections
import hashlib

import source

TOP = {"CMakeLists.txt", "CMakePresets.json", "dev", "README.md", "LICENSE",
       "include", "src", "bindings", "tests", "examples", "pkgconfig", "docs"}


FOLDER_FILES = 40


def is_corpus(where):
    return where.parts[:3] == ("tests", "fuzz", "corpus")


def check_folders(root, paths):
    folders = collections.Counter(
        path.relative_to(root).parent for path in paths)
    for folder, files in sorted(folders.items()):
        if files > FOLDER_FILES and not is_corpus(folder):
            yield "%s: %d files, %d allowed" % (folder, files, FOLDER_FILES)


def check_top(root, paths):
    found = {path.relative_to(root).parts[0] for path in paths}
    for name in sorted(found - TOP):
        if not name.startswith("."):
            yield "%s: the top level has no place for it" % name


def check_twice(root, paths):
    seen = {}
    for path in paths:
        where = path.relative_to(root)
        if is_corpus(where):
            continue
        text = path.read_bytes()
        other = seen.setdefault(hashlib.sha256(text).digest(), where)
        if text and other != where:
            yield "%s: the same as %s" % (where, other)


def check(root):
    paths = source.files(root, "*")
    yield from check_top(root, paths)
    yield from check_twice(root, paths)
    yield from check_folders(root, paths)


if __name__ == "__main__":
    source.verdict(check(source.root_from_argv()))
