"""Fails on a function that is not static and that only its own file uses.

Usage: single_use.py [ROOT].  Public functions are used by whoever links the
library.  A use in a test counts: what is tested alone may stand alone.
"""
import re

import source


def uses_elsewhere(name, own, code):
    """Whether a file other than `own` does more than declare `name`."""
    word = re.compile(r"\b%s\b" % name)
    for path, text in code.items():
        if path != own:
            found = len(word.findall(text))
            if found > (1 if path.suffix == ".h" else 0):
                return True
    return False


def check(root):
    code = {path: source.strip_noise(path.read_text()) for path in
            source.files(root, "src/*.[ch]", "include/openpai/*.h",
                         "tests/*.[ch]")}
    public = "".join(text for path, text in code.items()
                     if path.parent.name == "openpai")
    for path, text in code.items():
        where = path.relative_to(root)
        if path.suffix != ".c" or where.parts[0] != "src":
            continue
        for name, static, line, _ in source.functions(text):
            if (static or name == "main" or
                    re.search(r"\b%s\b" % name, public) or
                    uses_elsewhere(name, path, code)):
                continue
            yield "%s:%d: only this file uses %s(): make it static" % (
                where, line, name)


if __name__ == "__main__":
    source.verdict(check(source.root_from_argv()))
