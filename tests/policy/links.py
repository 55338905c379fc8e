"""Fails on a relative link of README.md or docs/ that leads nowhere, and on a
source file that docs/internals names and that does not exist.

Usage: links.py [ROOT].  An anchor must be a heading of its page.  A source
file of the page's room may be named by the end of its path; `*` and words in
capitals stand for any text.
"""
import re

import source

LINK = re.compile(r"\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
CODE = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1[`~]*\s*$|`[^`\n]+`",
                  re.M | re.S)

SOURCE = re.compile(r"(?<=`)[\w*][\w*/.-]*\."
                    r"(?:\[ch\]|c|h|py|js|txt|map)(?=[`:])")


def anchors(text):
    """The anchors GitHub makes of the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ +(.+?) *#*$", text, re.M):
        heading = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        again = sum(1 for a in found if re.fullmatch(slug + r"(-\d+)?", a))
        found.add("%s-%d" % (slug, again) if again else slug)
    return found


def why_dead(page, target):
    path, _, anchor = target.partition("#")
    goal = (page.parent / path) if path else page
    if not goal.exists():
        return "no such file"
    if anchor and goal.suffix == ".md" and anchor not in anchors(
            goal.read_text()):
        return "no such heading"
    return None


def check_sources(root):
    names = "".join("%s\n" % path.relative_to(root)
                    for path in source.files(root, "*"))
    for page in source.files(root, "docs/internals/*.md"):
        if page.name == "progress.md":  # It names files of the past.
            continue
        room = page.stem.split("-")[0]
        if not (root / "src" / room).is_dir():
            room = "[^/\n]+"
        text = page.read_text()
        for m in SOURCE.finditer(text):
            name = m.group().removeprefix("src/").replace(".", "[.]")
            name = re.sub(r"\*|[A-Z]{3,}", "[^/\n]*", name)
            if not re.search("^(?!src/)(.*/)?%s$|^src/(%s/(.*/)?)?%s$"
                             % (name, room, name), names, re.M):
                yield "%s:%d: %s: no such file" % (
                    page.relative_to(root),
                    text.count("\n", 0, m.start()) + 1, m.group())


def check(root):
    yield from check_sources(root)
    for page in source.files(root, "*.md"):
        text = CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()),
                        page.read_text())
        for m in LINK.finditer(text):
            target = m.group(1)
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            why = why_dead(page, target)
            if why:
                yield "%s:%d: %s: %s" % (page.relative_to(root),
                                         text.count("\n", 0, m.start()) + 1,
                                         target, why)


if __name__ == "__main__":
    source.verdict(check(source.root_from_argv()))
