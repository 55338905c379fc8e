"""Reads the HTML pages of reports made by hand.

Usage: pages.py PROGRAM, the program being pages_made.  A page is one file that
needs no other: nothing in it makes a browser fetch anything, and what it says
of a report is the report's JSON and its page for terminals.
"""
import html
import json
import re
import subprocess
import sys
from html.parser import HTMLParser

SETS = "empty one large few cpus strange huge compared".split()
#: Of the page itself; what is drawn is made by its script.
TAGS = set("html head meta title style body div pre template script".split())
ATTRIBUTES = set("lang charset name content http-equiv data-openpai type".split())


class Page(HTMLParser):
    """The texts of a page by the tag they are in."""

    def __init__(self, name, text):
        super().__init__(convert_charrefs=False)
        self.name, self.tag, self.texts = name, None, {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS, (self.name, tag)
        for key, _ in attrs:
            assert key in ATTRIBUTES, (self.name, tag, key)
        kind = dict(attrs).get("type", "")
        self.tag = ((tag + " " + kind).strip()
                    if tag in "title style pre script".split() else None)

    def handle_endtag(self, tag):
        assert tag in TAGS, (self.name, tag)
        self.tag = None

    def handle_data(self, data):
        if self.tag is not None:
            self.texts[self.tag] = self.texts.get(self.tag, "") + data

    def handle_entityref(self, name):
        self.handle_data("&%s;" % name)


def check(name, text, report, shown):
    assert text.startswith("<!DOCTYPE html>\n"), name
    assert len(text.encode()) <= 1000000, name
    page = Page(name, text)
    data = page.texts["script application/json"]
    assert json.loads(data) == json.loads(report), name
    assert not re.search("[<\u2028\u2029]", data), name
    assert html.unescape(page.texts["pre"]).rstrip("\n") == shown.rstrip("\n"), name
    assert set(page.texts) == {"title", "style", "pre", "script module",
                               "script application/json"}, (name, page.texts)
    assert "default-src 'none'" in text, name
    code = page.texts["script module"] + page.texts["style"]
    code = code.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"://|@import|\burl\((?!#)", code), name


def main(program):
    def made(name, form):
        return subprocess.run([program, name, form], check=True,
                              stdout=subprocess.PIPE).stdout.decode("utf-8")
    for name in SETS:
        text = made(name, "html")
        check(name, text, made(name, "json"), made(name, "text"))
        print("%s: %d bytes" % (name, len(text.encode())))


if __name__ == "__main__":
    main(sys.argv[1])
