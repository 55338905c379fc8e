"""Shows that each policy check can fail: plants faults and waits for the
complaint.  A clean tree must pass."""
import pathlib
import stat
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

CMAKE = """openpai_room(base SOURCES base/a.c)
openpai_room(sched SOURCES sched/s.c DEPENDS base resource)
"""
HELP = """#!/bin/sh
case "$*" in
  help)
    echo '  run FILE    runs a job'
    echo '  spec check  checks one' ;;
  'help run') echo '  --json     one object a line' ;;
  'help spec check') echo '  --strict   is strict' ;;
esac
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
        self.bad("src/base/a.c", "\n" * 1000)
        self.bad("src/base/a.c", "\n" * 1001, "1001 lines")

    def test_banned(self):
        for call in ("sprintf(b, f)", "strcpy(a, b)", "strtok(a, b)",
                     "printf(f)", "abort()", "exit(1)", "signal(2, f)",
                     "getenv(n)", "strerror(n)", "strerror_r(n, b, s)"):
            self.bad("src/base/a.c", "int a = %s;\n" % call, "is banned")
        self.bad("src/cli/c.c", "int a = printf(f), b = signal(2, f);\n")
        self.bad("src/cli/c.c", "int a = strcat(a, b);\n", "strcat()")
        self.bad("src/cli/c.c", "const char *a = strerror(n);\n")
        self.bad("src/base/posix_errno.c", "int a = strerror_r(n, b, s);\n")
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


class Links(Planted):
    def test_links(self):
        self.plant("docs/b.md", "# The *second* page\n## Part: two\n")
        self.plant("README.md", "[a](docs/a.md) [b](docs/b.md)\n"
                   "[c](docs/b.md#part-two) [d](docs/b.md#part-three)\n"
                   "[e](#none) [f](https://example.org/x) `[g](x)`\n"
                   "```\n[h](nowhere)\n```\n")
        self.expect(links.check(self.root), "docs/a.md: no such file",
                    "#part-three: no such heading", "#none: no such heading")


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


class Cli(Planted):
    PAGES = {
        "docs/openpai.1": '.SH VERBS\n.SS "run FILE"\n.TP\n.B \\-\\-json\n'
                          'text\n.SS "spec check FILE..."\n'
                          ".TP\n.B \\-\\-strict\n.SH OPTIONS\n",
        "pkgconfig/completions/openpai.bash":
            "  local verbs='run spec'\n  local spec_verbs='check'\n"
            "    run) options='--json --help' ;;\n"
            "    'spec check') options='--strict --help' ;;\n",
        "pkgconfig/completions/_openpai":
            "verbs=(\n  'run:Run'\n  'spec:Specs'\n)\n"
            "spec_verbs=(\n  'check:Check'\n)\n  run)\n  '--json[x]'\n  ;;\n"
            "  'spec check')\n  '--strict[x]'\n  ;;\n",
        "pkgconfig/completions/openpai.fish":
            "complete -n __fish_use_subcommand -f -a run\n"
            "complete -n '__fish_seen_subcommand_from run' -l json\n"
            "complete -n __fish_use_subcommand -f -a spec\n"
            "complete -n '__fish_seen_subcommand_from spec; and not "
            "__fish_seen_subcommand_from check' -f -a check\n"
            "complete -n '__fish_seen_subcommand_from spec; and "
            "__fish_seen_subcommand_from check' -l strict\n",
    }

    def setUp(self):
        super().setUp()
        for name, text in self.PAGES.items():
            self.plant(name, text)
        self.program = self.plant("openpai", HELP)
        self.program.chmod(stat.S_IRWXU)

    def test_same(self):
        self.expect(cli.check(self.root, self.program))

    def test_each_page(self):
        for name, text in self.PAGES.items():
            for old, new, parts in (
                    ("json", "jsom", ("no option --json",
                                      "no option --jsom")),
                    ("strict", "strikt", ("spec check: no option --strict",
                                          "no option --strikt")),
                    ("run", "ran", ("no verb 'run'", "no verb 'ran'")),
                    ("check", "chick", ("no verb 'spec check'",
                                        "no verb 'spec chick'"))):
                self.plant(name, text.replace(old, new))
                self.expect(cli.check(self.root, self.program), *parts)
            self.plant(name, text)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
