"""Fails on a word that docs/internals/glossary.md has retired, and on a type
name of src/ that is defined twice.

Usage: words.py [ROOT].
"""
import re

import source

RETIRED = re.compile(r"^\| `(\w+)` \| .* \|$", re.M)
TYPE = re.compile(r"^(?:typedef (?:struct|enum|union) \w+ \{.*?^\} (pai__\w+);|"
                  r"(?:struct|enum|union) (pai__\w+) \{)", re.M | re.S)


def retired(root):
    page = (root / "docs/internals/glossary.md").read_text()
    return RETIRED.findall(page.partition("\n## Retired words\n")[2])


def check_words(root, files):
    words = "|".join(re.escape(word) for word in retired(root))
    pattern = re.compile(r"(?<!\w)(?:%s)(?:_\w+|s)?(?!\w)" % words)
    for path in files if words else ():
        for m in pattern.finditer(path.read_text()):
            yield "%s:%d: %s is a retired word: see docs/internals/glossary.md" \
                % (path.relative_to(root),
                   m.string.count("\n", 0, m.start()) + 1, m.group())


def check_types(root, files):
    seen = {}
    for path in files:
        for m in TYPE.finditer(path.read_text()):
            name = m.group(1) or m.group(2)
            where = str(path.relative_to(root))
            if seen.setdefault(name, where) != where:
                yield "%s: %s is defined in %s, too" % (where, name, seen[name])


def check(root):
    files = [*source.files(root, "src/*.[ch]", "bindings/*.[chi]")]
    yield from check_words(root, files)
    yield from check_types(root, files)


if __name__ == "__main__":
    source.verdict(check(source.root_from_argv()))
