"""Shows that each policy check can fail: plants faults and waits for the
complaint.  A clean tree must pass."""
import pathlib
import sys
import tempfile
import unittest

import cli
import includes
import layers
import links
import single_use
import style
import tree
import words

CMAKE = """openpai_room(base SOURCES base/a.c)
openpai_room(sched SOURCES sched/s.c DEPENDS base resource)
"""


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.plant("src/CMakeLists.txt", CMAKE)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def expect(self, check, *parts):
        """One complaint for each of `parts`, which it contains."""
        found = list(check)
        self.assertEqual(len(found), len(parts), found)
        for complaint, part in zip(found, parts):
            self.assertIn(part, complaint)

    def layer(self, name, header, *parts):
        path = self.plant(name, "#include %s\n" % header)
        self.expect(layers.check(self.root), *parts)
        path.unlink()


class Layers(Planted):
    def test_arrows(self):
        self.layer("src/sched/s.c", '"base/base.h"')
        self.layer("src/sched/s.c", '"sched/s.h"')
        self.layer("src/sched/s.c", '"spec/spec.h"', "may not see room spec")
        # house.txt would allow it, the DEPENDS line does not.
        self.layer("src/sched/s.c", '"json/json.h"', "may not see room json")
        self.layer("src/base/a.c", '"sched/s.h"', "may not see room sched")
        self.layer("src/sim/s.c", '"sched/inspect.h"')
        self.layer("src/sim/s.c", '"sched/core.h"', "sim may see sched/insp")
        self.layer("src/backend/local/l.c", '"store/store.h"', "room store")
        self.layer("src/cli/run.c", '"spec/spec.h"', "room spec")
        self.layer("src/cli/run.c", "<openpai/spec.h>")
        self.layer("src/newroom/n.c", '"base/base.h"', "no room 'newroom'")
        self.layer("src/base/a.c", '"a.h"', "name the room")
        self.layer("src/cli/run.c", '"cli.h"')

    def test_outside(self):
        for header in ("uv.h", "curl/curl.h", "sqlite3.h", "pthread.h",
                       "time.h", "sys/time.h", "unistd.h", "fcntl.h",
                       "dlfcn.h", "openpai/uv.h"):
            self.layer("src/sched/s.c", "<%s>" % header, "room sched")
        for header in ("uv.h", "pthread.h", "sqlite3.h"):
            self.layer("src/sched/posix_s.c", "<%s>" % header, "room sched")
        self.layer("src/sched/posix_s.c", "<unistd.h>")
        self.layer("src/loop/l.c", "<uv.h>")
        self.layer("src/loop/l.c", "<time.h>")
        self.layer("src/platform/p.c", "<uv.h>", "room platform")
        self.layer("src/json/j.c", "<yaml.h>", "room json")
        self.layer("src/yaml/y.c", "<yaml.h>")
        self.layer("src/resource/a.c", "<hwloc.h>")
        self.plant("src/resource/b.c", "#include <hwloc.h>\n")
        self.layer("src/resource/a.c", "<hwloc.h>", "for one file")

    def test_comments_do_not_count(self):
        self.plant("src/base/a.c", '/* as in\n#include "spec/spec.h"\n*/\n')
        self.expect(layers.check(self.root))

    def test_depends_line(self):
        self.plant("src/CMakeLists.txt",
                   "openpai_room(sched SOURCES s.c DEPENDS base loop)\n"
                   "openpai_room(cellar SOURCES c.c)\n")
        self.expect(layers.check(self.root), "sched DEPENDS loop",
                    "no room 'cellar'")

    def test_outsiders(self):
        self.layer("examples/c/hello.c", '"base/base.h"', "only <openpai/")
        self.layer("bindings/swig/openpai.i", '"job/job.h"', "only <openpai/")
        self.layer("include/openpai/x.h", "<uv.h>", "may not need <uv.h>")
        self.layer("include/openpai/uv.h", "<uv.h>")


class Style(Planted):
    def bad(self, name, text, *parts):
        path = self.plant(name, text)
        self.expect(style.check(self.root), *parts)
        path.unlink()

    def test_sizes(self):
        body = "int f(void)\n{\n" + "  ;\n" * 77 + "}\n"
        self.bad("src/base/a.c", body)
        self.bad("src/base/a.c", body.replace("{\n", "{\n  ;\n"),
                 "f() has 81 lines")
        self.bad("src/base/a.c", "\n" * 600)
        self.bad("src/base/a.c", "\n" * 601, "601 lines")
        self.bad("tests/cli/a.py", "\n" * 601, "601 lines")

    def test_banned(self):
        for call in ("sprintf(b, f)", "strcpy(a, b)", "strtok(a, b)",
                     "printf(f)", "abort()", "exit(1)", "signal(2, f)",
                     "getenv(n)", "strerror(n)", "strerror_r(n, b, s)"):
            self.bad("src/base/a.c", "int a = %s;\n" % call, "is banned")
        self.bad("src/cli/c.c", "int a = printf(f), b = signal(2, f);\n")
        self.bad("src/cli/c.c", "int a = strcat(a, b);\n", "strcat()")
        self.bad("src/cli/c.c", "const char *a = strerror(n);\n")
        self.bad("src/base/os/posix_errno.c", "int a = strerror_r(n, b, s);\n")
        self.bad("src/base/a.c", "int a = fprintf(stderr, f);\n", "stderr")
        # Not calls of these: a longer name, a member, text.
        self.bad("src/base/a.c", 'int a = snprintf(b), c = o.exit(1);\n'
                 'const char *s = "exit(1)"; /* abort() */\n'
                 "int d = o->signal(2), e = pai__signal(3);\n")

    def test_text(self):
        self.bad("src/base/a.c", "int a; \n", "white space")
        self.bad("src/base/a.c", "\tint a;\n", "a tab")
        self.bad("src/base/a.c", "int a;", "no newline")
        self.bad("docs/a.md", "TO" + "DO: write this\n", "note to self")
        self.bad("docs/a.md", "see /wo" + "rk/tree\n", "path of one machine")
        self.bad("dev", "cd /ho" + "me/me/src\n", "path of one machine")
        self.bad("docs/a.md", "see src/home/x and http://a/work/b\n")


class SingleUse(Planted):
    def test_static(self):
        self.plant("src/base/a.c", "int pai__f(void)\n{\n}\n\n"
                   "static int g(void)\n{\n}\n\nint pai_h(void)\n{\n}\n")
        self.plant("src/base/a.h", "int pai__f(void);\n")
        self.plant("include/openpai/a.h", "int pai_h(void);\n")
        self.expect(single_use.check(self.root), "pai__f()")
        self.plant("src/base/b.c", "int b = pai__f();\n")
        self.expect(single_use.check(self.root))


class Words(Planted):
    def test_retired_words(self):
        self.plant("docs/internals/glossary.md",
                   "# Glossary\n\n## Retired words\n\n| `pai__roll` | job index |\n")
        self.plant("src/store/a.c", "void pai__roll_free(void);\n"
                   "void pai__rolling(void);\n")
        self.expect(words.check(self.root),
                    "src/store/a.c:1: pai__roll_free is a retired word")

    def test_types(self):
        self.plant("docs/internals/glossary.md", "")
        self.plant("src/a/a.h", "typedef struct pai__x {\n  int a;\n} pai__x;\n")
        self.plant("src/b/b.h", "struct pai__x {\n  int b;\n};\n")
        self.expect(words.check(self.root), "pai__x is defined in")


class Links(Planted):
    def test_links(self):
        self.plant("docs/b.md", "# The *second* page\n## Part: two\n")
        self.plant("README.md", "[a](docs/a.md) [b](docs/b.md)\n"
                   "[c](docs/b.md#part-two) [d](docs/b.md#part-three)\n"
                   "[e](#none) [f](https://example.org/x) `[g](x)`\n"
                   "```\n[h](nowhere)\n```\n")
        self.expect(links.check(self.root), "docs/a.md: no such file",
                    "#part-three: no such heading", "#none: no such heading")

    def test_sources(self):
        self.plant("src/base/os/tree.c", "")
        self.plant("src/sched/s.c", "")
        self.plant("tests/t.py", "")
        self.plant("docs/internals/base.md", "`os/tree.c` `ree.c` `*.c:`\n"
                   "`os/NAME.c` `s.c` `sched/s.c` `t.py`\n")
        self.expect(links.check(self.root), "base.md:1: ree.c: no such file",
                    "base.md:2: s.c: no such file")


class Includes(Planted):
    def test_blocks(self):
        code = self.plant("examples/a.c", "int a;\n")
        page = self.plant("README.md",
                          "<!-- examples/a.c -->\n```c\nint b;\n```\n"
                          "<!-- examples/b.c -->\n```c\n```\n"
                          "```c\nint c;\n```\n")
        self.expect(includes.check(self.root), "README.md:1: examples/a.c",
                    "examples/b.c: no such file")
        self.expect(includes.check(self.root, fix=True), "examples/b.c")
        self.assertIn("```c\nint a;\n```\n", page.read_text())
        code.write_text("int a;\nint d;\n")
        self.expect(includes.check(self.root), "README.md:1: examples/a.c",
                    "examples/b.c: no such file")


class Tree(Planted):
    def test_top(self):
        self.plant("README.md", "a\n")
        self.plant(".ci/run", "b\n")
        self.expect(tree.check(self.root))
        self.plant("notes.txt", "c\n")
        self.plant("scripts/x.sh", "d\n")
        self.expect(tree.check(self.root), "notes.txt", "scripts")

    def test_twice(self):
        self.plant("docs/a.md", "a\n")
        self.plant("tests/fuzz/corpus/x/a", "a\n")
        self.plant("src/empty.c", "")
        self.plant("src/none.c", "")
        self.expect(tree.check(self.root))
        self.plant("docs/b.md", "a\n")
        self.expect(tree.check(self.root), "docs/b.md: the same as docs/a.md")

    def test_a_folder_with_too_many_files(self):
        for i in range(40):
            self.plant("docs/%d.md" % i, "%d\n" % i)
        for i in range(41):
            self.plant("tests/fuzz/corpus/a/%d" % i, "a %d\n" % i)
        self.expect(tree.check(self.root))
        self.plant("docs/b.md", "b\n")
        self.expect(tree.check(self.root), "docs: 41 files")


class Cli(unittest.TestCase):
    VERB = """area x
group spec -- Of files
verb spec check FILE... -- Check files
  --json {not=quiet} -- one array
  -q, --quiet -- nothing
  exit 0 all is well
"""

    def test_each_fault(self):
        verbs, _ = cli.read(pathlib.Path(__file__).resolve().parents[2])
        for old, new, *parts in (
                ("", ""),
                ("not=quiet", "not=silent", "--silent, which there is not"),
                ("--json {not", "-q, --json {not", "two options are called q"),
                ("one array", "one array.", "is no phrase"),
                ("Check files", "check files", "is no sentence"),
                ("  exit 0 all is well\n", "", "no exit status"),
                ("group spec", "group file", "there is no group spec"),
                ("array", "a" * 90, "too long")):
            book = verbs.Book()
            book.read(self.VERB.replace(old, new) if old else self.VERB)
            found = list(cli.check(verbs, book))
            self.assertEqual(len(found), len(parts), (old, found))
            for complaint, part in zip(found, parts):
                self.assertIn(part, complaint)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
