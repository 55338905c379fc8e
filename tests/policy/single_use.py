"""Fails on a function that is not static and that only its own file uses.

Usage: single_use.py [ROOT].  Public functions are used by whoever links the
library, functions that answer calls by the tables of src/api/schema, and those
of verbs by src/cli/verbs.  A use in a test counts: what is tested alone may
stand alone.
"""
import collections
import re

import source


WORD = re.compile(r"[A-Za-z_]\w*")


def count_words(code):
    """Of each word, in which files it is, and how often."""
    words = collections.defaultdict(dict)
    for path, text in code.items():
        for word, n in collections.Counter(WORD.findall(text)).items():
            words[word][path] = n
    return words


def of_calls(root):
    """Names of the functions that answer the calls of the schema."""
    text = "".join(path.read_text() for path in
                   sorted(root.glob("src/api/schema/*.txt")))
    names = re.findall(r"^call (\S+)|^  take +(\S+)", text, re.M)
    return {"pai__do_" + (call or take).replace(".", "_")
            for call, take in names}


def of_verbs(root):
    """Names of the functions of the program's verbs."""
    text = "".join(path.read_text() for path in
                   sorted(root.glob("src/cli/verbs/*.txt")))
    return {"cli_make_calls"} | {
        "cli_do_" + re.sub(r"\W", "_", name) for name in re.findall(
            r"^verb ([a-z][a-z-]*(?: [a-z][a-z-]*)?)", text, re.M)}


def is_used_elsewhere(found, own):
    """Whether a file other than `own` does more than declare it."""
    return any(n > (1 if path.suffix == ".h" else 0)
               for path, n in found.items() if path != own)


def check(root):
    code = {path: source.strip_noise(path.read_text()) for path in
            source.files(root, "src/*.[ch]", "include/openpai/*.h",
                         "tests/*.[ch]")}
    words = count_words(code)
    called = of_calls(root) | of_verbs(root)
    for path, text in code.items():
        where = path.relative_to(root)
        if path.suffix != ".c" or where.parts[0] != "src":
            continue
        for name, static, line, _ in source.functions(text):
            found = words[name]
            if (static or name == "main" or name in called or
                    any(f.parent.name == "openpai" for f in found) or
                    is_used_elsewhere(found, path)):
                continue
            yield "%s:%d: only this file uses %s(): make it static" % (
                where, line, name)


if __name__ == "__main__":
    source.verdict(check(source.root_from_argv()))
