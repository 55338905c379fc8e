"""Fails when code shown in a page is not the file that the tests compile.

Usage: includes.py [ROOT] [--fix].  A fenced block below a line
`<!-- PATH -->` must be that file; --fix writes it into the page.
"""
import re
import sys

import source

BLOCK = re.compile(r"(<!-- (?P<path>\S+) -->\n```\w*\n)(?P<code>.*?)(^```$)",
                   re.S | re.M)


def check(root, fix=False):
    for page in source.files(root, "*.md"):
        text = page.read_text()
        fixed = text
        for m in BLOCK.finditer(text):
            where = "%s:%d: %s" % (page.relative_to(root),
                                   text.count("\n", 0, m.start()) + 1,
                                   m["path"])
            if not (root / m["path"]).is_file():
                yield where + ": no such file"
                continue
            code = (root / m["path"]).read_text()
            if code != m["code"] and not fix:
                yield where + ": the file says something else (--fix)"
            fixed = fixed.replace(m[0], m[1] + code + m[4])
        if fix and fixed != text:
            page.write_text(fixed)


if __name__ == "__main__":
    fix = "--fix" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--fix"]
    source.verdict(check(source.root_from_argv(), fix))
