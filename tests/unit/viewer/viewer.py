"""The viewer's modules: what they may not do, and what they draw.

Usage: viewer.py ROOT PROGRAM, the program being pages_made.

Exit code 77: there is no node to draw with; the rest was checked.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
SETS = "empty one large few cpus strange huge compared".split()
#: What would make a report's words code or HTML, or fetch anything.
BANNED = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|write(ln)?\(|eval|Function|"
    r"setTimeout|fetch|XMLHttpRequest|WebSocket|import\(|localStorage|cookie|"
    r"window\.|globalThis)\b")
METRIC = re.compile(r'METRIC\("(\w+)", \w+, \w+,\s+(-?\d), "([^"]+)"\)')
MODULE_METRIC = re.compile(r'^  \["(\w+)", "([^"]+)", \w+, (-?\d), "', re.M)


def check_sources(root):
    """Yields what is wrong in src/viewer."""
    known = {path.name for path in (root / "src/viewer").glob("*.js")}
    for path in sorted((root / "src/viewer").glob("*.js")):
        text = path.read_text()
        for m in BANNED.finditer(text):
            yield "%s: %s" % (path.name, m.group())
        for name in re.findall(r'^import .* from "(.*)";$', text, re.M):
            if name[:2] != "./" or name[2:] not in known:
                yield "%s imports %s" % (path.name, name)
        if len(re.findall(r"^\s*import\b", text, re.M)) != len(
                re.findall(r'^import \{ [^\n]* \} from "\./', text, re.M)):
            yield "%s: an import is to be one line" % path.name
    pages = METRIC.findall((root / "src/sim/report/report_form.c").read_text())
    drawn = [(key, better, name) for key, name, better in
             MODULE_METRIC.findall((root / "src/viewer/report.js").read_text())]
    if not pages or pages != drawn:
        yield "report.js has other numbers than src/sim/report/report_form.c: %s" % (
            set(pages) ^ set(drawn) or "another order")


def draw(node, root, program, work):
    """Whether the modules draw all sets, and the page's script is one."""
    for name in SETS:
        (work / (name + ".json")).write_bytes(subprocess.run(
            [program, name, "json"], check=True, stdout=subprocess.PIPE).stdout)
    page = subprocess.run([program, "one", "html"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    script = re.search('<script type="module">(.*?)</script>', page, re.S)
    (work / "page.mjs").write_text(script.group(1))
    modules = work / "modules"
    shutil.copytree(root / "src/viewer", modules)
    (modules / "package.json").write_text('{ "type": "module" }')
    return not (
        subprocess.run([node, "--check", work / "page.mjs"], check=False).returncode or
        subprocess.run([node, HERE / "test_viewer.mjs", modules, work],
                       check=False).returncode)


def main(root, program):
    wrong = list(check_sources(pathlib.Path(root)))
    for line in wrong:
        print(line)
    if wrong:
        return 1
    node = shutil.which("node")
    if node is None:
        print("skipped: no node (Debian's nodejs) to draw reports with")
        return 77
    with tempfile.TemporaryDirectory() as work:
        return 0 if draw(node, pathlib.Path(root), program,
                         pathlib.Path(work)) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
