"""Shows that the gates can fail: plants differences and waits for each."""
import argparse
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import headers
import interface
import layout
import symbols

CC = "cc"
HEADER = """
#ifndef X
#define X
#include <stddef.h>
#define PAI_API
#define PAI_MAX 7
#define PAI_VERSION_MAJOR 0
/** Words. */
enum { PAI_A = 1, /**< one, two */ PAI_B };
typedef struct pai_s {
  size_t struct_size;
  int *a, b[2]; /* a comment; { */
  int (*f)(int x, int y);
} pai_s;
/** Does it.  @since 0.1 */
PAI_API
int pai_f(const pai_s *s);
PAI_API int pai_g(void);
#endif
"""


class Headers(unittest.TestCase):
    def test_reads(self):
        self.assertEqual(headers.functions(HEADER),
                         {"pai_f": "0.1", "pai_g": None})
        self.assertEqual(headers.structs(HEADER),
                         {"pai_s": ["struct_size", "a", "b", "f"]})
        self.assertEqual(headers.constants(HEADER),
                         ["PAI_MAX", "PAI_A", "PAI_B"])
        self.assertEqual(headers.structs("typedef struct pai_s pai_s;\n"
                                         "struct pai_s { pai_s *next; };"),
                         {"pai_s": ["next"]})

    def test_refuses_what_it_cannot_read(self):
        for text in ("typedef struct pai_s { int a : 3; } pai_s;",
                     "typedef struct pai_s { union { int a; } u; } pai_s;",
                     "struct pai_s { int a; };"):
            with self.assertRaises(ValueError, msg=text):
                headers.structs(text)
        with self.assertRaises(ValueError):
            headers.functions("PAI_API extern int pai_x;")


class Symbols(unittest.TestCase):
    MAP = "N_0.1 { global: pai_a; /* pai_z; */ local: *; };\n"
    NM = "0000 A N_0.1\n0010 T pai_a@@N_0.1\n"

    def expect(self, *parts, map_text=MAP, nm=NM, declared=None):
        found = list(symbols.compare(
            symbols.read_map(map_text), symbols.read_exports(nm),
            {"pai_a": "0.1"} if declared is None else declared))
        self.assertEqual(len(found), len(parts), found)
        for complaint, part in zip(found, parts):
            self.assertIn(part, complaint)

    def test_three_ways(self):
        self.expect()
        self.expect("not in the map", map_text="N_0.1 { local: *; };")
        self.expect("not exported", nm="")
        self.expect("in no public header", declared={})
        self.expect("no @since", declared={"pai_a": None})
        self.expect("@since 0.2, mapped to N_0.1", declared={"pai_a": "0.2"})
        self.expect("exported under ''", nm="0010 T pai_a\n")
        self.expect("pai_b: not in the map", "pai_b: in no public header",
                    nm=self.NM + "0020 T pai_b@@N_0.1\n")
        self.expect("not patterns", "in no public header",
                    map_text="N_0.1 { global: pai_a; };\nM { pai_*; } N_0.1;")

    def test_private_node(self):
        self.expect(map_text=self.MAP + "N_PRIVATE_0.1.0 { pai__p; } N_0.1;",
                    nm=self.NM + "0020 T pai__p@@N_PRIVATE_0.1.0\n")


class Layout(unittest.TestCase):
    def run_on(self, folder, text, *args):
        include = folder / "openpai"
        include.mkdir(exist_ok=True)
        (include / "x.h").write_text(text)
        out = io.StringIO()
        with mock.patch.object(sys, "argv", [
                "layout.py", "--cc", CC, "--table", str(folder / "table"),
                "--cflag=-I%s" % folder, *args, str(include / "x.h")]), \
                contextlib.redirect_stdout(out):
            return layout.main(), out.getvalue()

    def test_each_change(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.assertEqual(self.run_on(folder, HEADER, "--accept")[0], 0)
            self.assertEqual(self.run_on(folder, HEADER)[0], 0)
            for old, new in (("PAI_A = 1", "PAI_A = 2"),
                             ("PAI_MAX 7", "PAI_MAX 8"),
                             ("int *a, b[2]", "int *a, b[4]"),
                             ("int *a, b[2];", "int b[2], *a;"),
                             ("int (*f)(int x, int y);", "")):
                changed = HEADER.replace(old, new)
                self.assertNotEqual(changed, HEADER)
                rc, out = self.run_on(folder, changed)
                self.assertEqual(rc, 1, new)
                self.assertIn("tests/abi/accept", out)
            table = folder / "table"
            table.write_text(table.read_text().replace("pointer ",
                                                       "pointer 1"))
            self.assertEqual(self.run_on(folder, HEADER)[0], 77)


class Interface(unittest.TestCase):
    def run_on(self, *args):
        out = io.StringIO()
        with mock.patch.object(sys, "argv", ["interface.py", *args]), \
                contextlib.redirect_stdout(out):
            try:
                return interface.main(), out.getvalue()
            except SystemExit as end:
                return end.code, out.getvalue()

    PUBLIC = "struct pai_o; struct pai_s { int a; int b; };\n" \
             "int pai_f(struct pai_s *s, struct pai_o *o);\n"
    PRIVATE = '#include <x.h>\nstruct pai_o { int c; };\n'

    def build(self, folder, public, private, *flags):
        for name, text in (
                ("include/x.h", public), ("src/x.h", private),
                ("src/x.c", '#include "x.h"\nint pai_f(struct pai_s *s, '
                            "struct pai_o *o)\n{ return s->a + o->c; }\n")):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        layout.subprocess.run([*CC.split(), *flags, "-fPIC", "-shared",
                               "-I%s" % (folder / "include"),
                               str(folder / "src/x.c"), "-o",
                               str(folder / "x.so")], check=True)

    def test_changes_and_skips(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            args = ["--dump", name + "/x.abi", "--lib", name + "/x.so",
                    "--include", name + "/include", "--compiler"]
            self.build(folder, self.PUBLIC, self.PRIVATE, "-g")
            rc, out = self.run_on(*args, "c-1 m", "--accept")
            if rc == 77:
                self.skipTest(out)
            self.assertEqual(rc, 0)
            self.assertNotIn(name, (folder / "x.abi").read_text())
            self.assertEqual(self.run_on(*args, "c-1 m")[0], 0)
            self.assertEqual(self.run_on(*args, "c-2 m")[0], 77)
            self.assertEqual(self.run_on(*args, "c-1 m",
                                         "--instrumented")[0], 77)
            for old, new in (("int b", "long b"), ("int b", "int b; int c"),
                             ("int a; int b", "int b; int a")):
                self.build(folder, self.PUBLIC.replace(old, new),
                           self.PRIVATE, "-g")
                self.assertEqual(self.run_on(*args, "c-1 m")[0], 1, new)
            # What is private may change, also in a header of the same name.
            self.build(folder, self.PUBLIC,
                       self.PRIVATE.replace("int c", "long d; int c"), "-g")
            self.assertEqual(self.run_on(*args, "c-1 m")[0], 0)
            self.build(folder, self.PUBLIC, self.PRIVATE)
            self.assertEqual(self.run_on(*args, "c-1 m")[0], 77)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--cc", default=CC)
    CC = options.parse_args().cc
    sys.dont_write_bytecode = True
    unittest.main(argv=sys.argv[:1])
