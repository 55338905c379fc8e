"""Reads the HTML pages of reports made by hand as XML.

Usage: pages.py PROGRAM, the program being pages_made.  A page is one file that
needs no other: no script, and nothing that a browser would fetch.
"""
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

SETS = "empty one large few cpus strange huge compared".split()
SVG = "{http://www.w3.org/2000/svg}"
HTML = "{http://www.w3.org/1999/xhtml}"
TAGS = {HTML + name for name in
        "html head meta title style body main h1 h2 h3 p dl div dt dd ul li "
        "section table thead tbody tr td th".split()} | {
        SVG + name for name in
        "svg defs pattern g path rect text title".split()}
ATTRIBUTES = set("""lang charset name content class title scope colspan style
viewBox role aria-label aria-hidden id width height patternUnits d x y""".split())


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def check_drawing(page, svg):
    """All of a drawing lies in it."""
    _, _, width, height = numbers(svg.get("viewBox"))
    for shape in svg.iter(SVG + "rect"):
        x, y = float(shape.get("x", 0)), float(shape.get("y", 0))
        right = x + float(shape.get("width"))
        low = y + float(shape.get("height"))
        assert 0 <= x <= right <= width + 1.1, (page, shape.attrib)
        assert 0 <= y <= low <= height, (page, shape.attrib)
    for shape in svg.iter(SVG + "text"):
        assert 0 <= float(shape.get("x")) <= width, (page, shape.attrib)
        assert 0 <= float(shape.get("y")) <= height, (page, shape.attrib)


def check(name, text):
    assert text.startswith("<!DOCTYPE html>\n"), name
    assert len(text.encode()) <= 1000000, name
    root = tree.fromstring(text)
    style = root.find(HTML + "head").find(HTML + "style").text
    ids, classes = set(), set(re.findall(r"\.([a-z]+\d?)\b", style))
    for node in root.iter():
        assert node.tag in TAGS, (name, node.tag)
        for key, value in node.attrib.items():
            assert key in ATTRIBUTES, (name, node.tag, key)
            if key == "id":
                assert value not in ids, (name, value)
                ids.add(value)
            if key == "class":
                unknown = set(value.split()) - classes
                assert not unknown, (name, unknown)
    for target in re.findall(r"url\(#?([^)]*)\)", text):
        assert target in ids, (name, target)
    rest = text.replace("http://www.w3.org/2000/svg", "")
    rest = rest.replace("http://www.w3.org/1999/xhtml", "")
    assert "://" not in rest and "@import" not in rest, name
    for svg in root.iter(SVG + "svg"):
        if svg.get("role") == "img":
            check_drawing(name, svg)
    return len(list(root.iter(SVG + "svg")))


def main(program):
    for name in SETS:
        text = subprocess.run([program, name, "html"], check=True,
                              stdout=subprocess.PIPE).stdout.decode("utf-8")
        print("%s: %d drawings" % (name, check(name, text)))


if __name__ == "__main__":
    main(sys.argv[1])
