"""openpai spec, and spec check: what is told of job files, in which form."""

import json
import os
import pathlib
import re
import threading
import urllib.parse

from specs import GOOD, BAD, BAD_TEXT, V1, SpecTest


class Group(SpecTest):
    VERBS = ("check", "render", "show", "convert", "fmt",
             "diff", "schema")

    def test_help(self):
        overview = self.run_cli("help", "spec")
        self.assertEqual((overview.returncode, overview.stderr), (0, ""))
        self.assertIn("usage: openpai spec VERB", overview.stdout)
        self.assertNotIn("doctor", overview.stdout)
        for word in ("--help", "-h", "help"):
            self.expect(0, overview.stdout, "", word)
        self.expect(2, "", overview.stdout)
        for verb in self.VERBS:
            self.assertIn(f"  spec {verb} ", overview.stdout)
            self.assertIn(f"  spec {verb} ", self.run_cli("help", "--all").stdout)
            done = self.spec(verb, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(
                done.stdout.startswith(f"usage: openpai spec {verb} "))
            self.assertIn("Exit status: 0", done.stdout)
            self.assertEqual(self.run_cli("help", "spec", verb).stdout,
                             done.stdout)

    def test_unknown_verbs(self):
        said = ("openpai: error: there is no verb 'spec chek'\n"
                "  help: did you mean 'openpai spec check'?\n")
        self.expect(2, "", said, "chek", "good.yaml")
        done = self.run_cli("help", "spec", "chek")
        self.assertEqual((done.returncode, done.stderr), (2, said))
        said = self.run_cli("spec", "nothing").stderr
        self.assertEqual(said, "openpai: error: there is no verb 'spec nothing'"
                         "\n  help: openpai help spec lists them\n")
        self.assertIn("did you mean 'openpai run'?", self.run_cli("rum").stderr)
        for word in ("check", "spec check"):
            done = self.run_cli(word)
            self.assertIn(f"no verb '{word}'\n  help: openpai help lists",
                          done.stderr)

    def test_usage(self):
        for verb in self.VERBS:
            said = self.usage(verb, "--frobnicate=x")
            self.assertEqual(said, "openpai: error: unknown option: "
                             "--frobnicate=x\n"
                             f"  help: openpai spec {verb} --help\n")
        self.assertEqual(self.usage("check", "--jsn"),
                         "openpai: error: unknown option: --jsn\n"
                         "  help: did you mean --json?\n")
        for verb in ("check", "render", "show", "convert", "fmt"):
            self.assertIn(f"spec {verb}: which job file", self.usage(verb))
        for verb in ("render", "show", "convert"):
            self.assertIn("one job file at a time",
                          self.usage(verb, "good.yaml", "bad.yaml"))
        for pair in (("--json", "--sarif"), ("--json", "-q"),
                     ("--sarif", "--quiet")):
            self.assertIn("exclude each other",
                          self.usage("check", *pair, "good.yaml"))
        for files in ([], ["good.yaml"], ["good.yaml"] * 3):
            self.assertIn("which two job files?", self.usage("diff", *files))
        self.assertIn("takes no argument", self.usage("schema", "good.yaml"))
        self.assertIn("--version is v1 or v2",
                      self.usage("schema", "--version=1"))

    def test_output_that_cannot_be_written(self):
        for args in (["check", "bad.yaml"], ["check", "--json", "good.yaml"],
                     ["check", "--sarif", "good.yaml"],
                     ["render", "good.yaml"],
                     ["render", "--json", "good.yaml"],
                     ["show", "good.yaml"], ["show", "--json", "good.yaml"],
                     ["convert", "good.yaml"],
                     ["diff", "good.yaml", "warned.yaml"],
                     ["diff", "--json", "good.yaml", "good.yaml"],
                     ["fmt", "good.yaml"], ["fmt", "--check", "bad.yaml"],
                     ["schema"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = self.spec(*args, stdout=full)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn("cannot write standard output", done.stderr)


class Check(SpecTest):
    def test_exit_codes(self):
        none = "openpai: error: cannot read none: No such file or directory\n"
        for code, *args in ((0, "good.yaml"), (0, "warned.yaml"),
                            (1, "--strict", "warned.yaml"),
                            (0, "--strict", "good.yaml"),
                            (1, "bad.yaml"), (1, "good.yaml", "bad.yaml"),
                            (1, "bad.yaml", "good.yaml"),
                            (2, "bad.yaml", "none", "good.yaml"),
                            (2, "none")):
            for form in ([], ["--json"], ["--sarif"], ["-q"]):
                done = self.spec("check", *form, *args)
                self.assertEqual(done.returncode, code, (form, args))
                self.assertEqual(done.stderr, none if code == 2 else "")

    def test_text(self):
        self.expect(0, "", "", "check", "good.yaml")
        self.expect(1, BAD_TEXT, "", "check", "bad.yaml")
        self.expect(1, BAD_TEXT.replace("bad.yaml", "<stdin>"), "", "check",
                    "-", input=BAD)
        done = self.spec("check", "warned.yaml")
        self.assertTrue(done.stdout.startswith(
            "warned.yaml:11:14: warning: "), done.stdout)
        self.assertIn(" [unused-parameter]\n   11 | parameters: {lr: 1}\n"
                      "      |              ^", done.stdout)

    def test_quiet(self):
        self.expect(1, "", "", "check", "-q", "bad.yaml", "good.yaml")
        self.expect(1, "", "", "check", "--quiet", "--strict", "warned.yaml")

    def test_several_files_are_counted(self):
        for files, last in (
                (["good.yaml", "good.yaml"], "nothing wrong in 2 files"),
                (["bad.yaml", "good.yaml", "warned.yaml"],
                 "2 errors, 1 warning in 2 of 3 files"),
                (["good.yaml", "warned.yaml"], "1 warning in 1 of 2 files"),
                (["bad.yaml", "none"],
                 "2 errors in 1 of 1 files; 1 could not be read"),
                (["none", "none"],
                 "nothing wrong in 0 files; 2 could not be read")):
            out = self.spec("check", *files).stdout
            self.assertEqual(out.splitlines()[-1], last)

    def shown(self, text):
        """Each line that is shown of a file, with what is below it."""
        return re.findall(r"^ *\d+ \| (.*)\n +\| (.*)\n",
                          self.spec("check", "-", input=text).stdout, re.M)

    def test_marks(self):
        # A tab is one character, and is shown up to the next stop.
        self.assertEqual(
            self.shown(GOOD.replace("instances: 1", '"instances": \t\t0')),
            [('    "instances":' + " " * 16 + "0", " " * 32 + "^")])
        # Some characters are wide, and some take no room.
        line = 'parameters: {"\u65e5e\u0301\U0001f600": 1, z: 1}'
        self.assertEqual(self.shown(GOOD + line + "\n"),
                         [(line, " " * 13 + "^~~~~~~"),
                          (line, " " * 25 + "^")])
        # Past the end of the line, and over its end.
        name = GOOD.partition("name: good")
        self.assertEqual(self.shown(name[0] + "name:" + name[2]),
                         [("name:", "     ^")])
        self.assertEqual(self.shown(name[0] + "name:\n  - x\n  - y" + name[2]),
                         [("  - x", "  ^")])

    def test_long_lines_are_cut(self):
        text = json.dumps({"x": "y" * 100, "name": "a b", "z": "\t" * 500})
        line, marks = next(found for found in self.shown(text)
                           if found[0].startswith("...yyy"))
        self.assertEqual(line[marks.index("^"):marks.index("^") + 5], '"a b"')
        self.assertEqual(marks.strip(), "^~~~~")
        self.assertLess(len(line), 200)

    def test_nothing_acts_on_the_terminal(self):
        out = self.spec("check", "-", input=GOOD
                        + 'parameters: {"\u202ea\u2066": 1, "\\e[2J": 1}\n')
        self.assertEqual(out.stdout.count("\ufffda\ufffd"), 4)
        self.assertNotRegex(out.stdout, "[\x1b\u202e\u2066]")

    def test_names_do_not_act_on_the_terminal(self):
        name, shown = "a\x1b[31m\nb.yaml", "a\ufffd[31m\ufffdb.yaml"
        self.write(name, BAD)
        out = self.spec("check", name)
        self.assertEqual(out.stdout, BAD_TEXT.replace("bad.yaml", shown))
        self.assertTrue(self.spec("show", name).stderr.startswith(shown + ":"))
        self.write(name, "a: [")
        self.assertTrue(self.spec("fmt", name).stderr.startswith(shown + ":"))
        text = GOOD.replace("echo hi",
                            r'"\e[31m <% $parameters.a\e[32mb %>"')
        done = self.spec("render", "-", input=text)
        self.assertEqual(done.stderr, "warning: nothing stands for "
                         "$parameters.a\ufffd[32mb\n")
        self.assertIn("\x1b[31m ", done.stdout)
        path = self.write("good.yaml", text.replace("echo", "x"))
        shown = self.on_terminal("spec", "render", path)
        self.assertIn("\ufffd[31m <% $parameters.a\ufffd[32mb %>\r\n", shown)

    def test_colour_and_a_closing_line_on_a_terminal(self):
        self.env.pop("NO_COLOR", None)
        self.env["TERM"] = "xterm"
        path = str(self.folder / "bad.yaml")
        out = self.on_terminal("spec", "check", path, code=1)
        for part in (f"\033[1m{path}:7:16:\033[0m \033[1;31merror:\033[0m ",
                     "\033[1;32m                 ^~~~~~\033[0m",
                     "\033[1;36mhelp:\033[0m ",
                     "\r\n2 errors\r\n"):
            self.assertIn(part, out)
        self.env["NO_COLOR"] = "1"
        path = str(self.folder / "warned.yaml")
        out = self.on_terminal("spec", "check", path)
        self.assertNotIn("\033", out)
        self.assertTrue(out.endswith("\r\n1 warning\r\n"))
        path = str(self.folder / "good.yaml")
        self.assertEqual(self.on_terminal("spec", "check", path),
                         "nothing wrong\r\n")

    def test_json(self):
        self.write("old.json", V1)
        done = self.spec("check", "--json", "bad.yaml", "none", "good.yaml",
                         "old.json", "-", input="a: [")
        bad, none, good, old, stdin = json.loads(done.stdout)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(bad, {
            "file": "bad.yaml", "version": 2, "valid": False, "diagnostics": [
                {"severity": "error", "code": "too-small",
                 "pointer": "/taskRoles/a/instances", "line": 7, "column": 16,
                 "endLine": 7, "endColumn": 17,
                 "message": "instances cannot be 0",
                 "help": "use 1 or more", "fixes": [
                     {"title": "write 1", "sure": False, "edits": [
                         {"line": 7, "column": 16, "endLine": 7,
                          "endColumn": 17, "text": "1"}]}]},
                {"severity": "error", "code": "unknown-name",
                 "pointer": "/taskRoles/a/dockerImage", "line": 8,
                 "column": 18, "endLine": 8, "endColumn": 22,
                 "message": "there is no dockerimage prerequisite "
                            "'\u65e5\u672c'", "help": "there are: x",
                 "fixes": []}]})
        self.assertEqual(good, {"file": "good.yaml", "version": 2,
                                "valid": True, "diagnostics": []})
        self.assertEqual((old["version"], old["valid"]), (1, True))
        self.assertEqual((none["file"], none["version"], none["valid"]),
                         ("none", None, False))
        said, = none["diagnostics"]
        self.assertEqual(said, dict(
            bad["diagnostics"][0], code="unreadable", pointer="", line=1,
            column=1, endLine=1, endColumn=1, help=None, fixes=[],
            message="cannot read none: No such file or directory"))
        self.assertEqual((stdin["file"], stdin["version"]), ("-", None))
        self.assertEqual(stdin["diagnostics"][0]["code"], "syntax")
        warned, = json.loads(self.spec("check", "--json", "--strict",
                                       "warned.yaml").stdout)
        self.assertEqual((warned["valid"],
                          warned["diagnostics"][0]["severity"]),
                         (True, "warning"))

    def test_sarif(self):
        name = "a b%\u00e4:.yaml"
        self.write(name, BAD)
        done = self.spec("check", "--sarif", name, "none", "good.yaml", "none",
                         str(self.folder / "warned.yaml"))
        log = json.loads(done.stdout)
        run, = log["runs"]
        driver = run["tool"]["driver"]
        self.assertEqual((log["version"], driver["name"],
                          run["columnKind"]),
                         ("2.1.0", "openpai", "unicodeCodePoints"))
        self.assertEqual(f"openpai {driver['version']}\n",
                         self.run_cli("--version").stdout)
        self.assertEqual([rule["id"] for rule in driver["rules"]],
                         ["too-small", "unknown-name", "unreadable",
                          "unused-parameter"])
        self.assertEqual(driver["rules"][0], {
            "id": "too-small",
            "shortDescription": {"text": "A number is too small"}})
        for rule in driver["rules"]:
            self.assertTrue(rule["shortDescription"]["text"])
        self.assertEqual(run["invocations"], [{"executionSuccessful": False}])
        places = []
        for result in run["results"]:
            place, = result["locations"]
            place = place["physicalLocation"]
            uri = place["artifactLocation"]["uri"]
            self.assertRegex(uri, r"^[A-Za-z0-9._~/%-]+$|^file:///")
            places.append((result["ruleId"], result["level"],
                           urllib.parse.unquote(uri),
                           tuple(place.get("region", {}).values())))
        self.assertEqual(places, [
            ("too-small", "error", name, (7, 16, 7, 17)),
            ("unknown-name", "error", name, (8, 18, 8, 22)),
            ("unreadable", "error", "none", ()),
            ("unreadable", "error", "none", ()),
            ("unused-parameter", "warning",
             f"file://{self.folder}/warned.yaml", (11, 14, 11, 16))])
        first = run["results"][0]
        self.assertEqual(first["message"], {"text": "instances cannot be 0"})
        self.assertEqual(first["properties"], {"help": "use 1 or more"})
        self.assertEqual(first["locations"][0]["logicalLocations"],
                         [{"fullyQualifiedName": "/taskRoles/a/instances"}])
        self.assertEqual(list(first["locations"][0]["physicalLocation"]
                              ["region"]),
                         ["startLine", "startColumn", "endLine", "endColumn"])
        clean = json.loads(self.spec("check", "--sarif", "good.yaml").stdout)
        self.assertEqual(clean["runs"][0]["results"], [])
        self.assertEqual(clean["runs"][0]["invocations"],
                         [{"executionSuccessful": True}])
        self.assertEqual(clean["runs"][0]["tool"]["driver"]["rules"], [])

    def test_all_codes_are_described(self):
        root = pathlib.Path(__file__).resolve().parents[3] / "src"
        told = re.findall(r'\{ "([a-z-]+)",',
                          (root / "cli/check/check.c").read_text())
        self.assertEqual(told, sorted(told))
        for room, least in (("spec", 25), ("resource", 50)):
            found = set()
            for path in (root / room).rglob("*.c"):
                for codes in re.findall(
                        r'pai__find\w*\([^;"]*"([a-z-]+)"'
                        r'(?:\s*:\s*"([a-z-]+)")?,', path.read_text()):
                    found.update(filter(None, codes))
            self.assertGreater(len(found), least)
            self.assertEqual(found - set(told), set())

    def test_what_cannot_be_read(self):
        self.write("long.yaml", GOOD + "#" * ((4 << 20) - len(GOOD)))
        self.expect(0, "", "", "check", "long.yaml")
        self.write("long.yaml", GOOD + "#" * ((4 << 20) - len(GOOD) + 1))
        for name in ("long.yaml", "/dev/zero"):
            done = self.spec("check", name)
            self.assertEqual(done.returncode, 1)
            self.assertIn("more than 4194304 bytes [limit]", done.stdout)
        self.expect(2, "", "openpai: error: cannot read .: Is a directory\n",
                    "check", ".")
        with open(self.folder / "good.yaml", "ab") as unreadable:
            done = self.spec("check", "-", stdin=unreadable)
        self.assertEqual((done.returncode, done.stderr), (
            2, "openpai: error: cannot read standard input: "
            "Bad file descriptor\n"))

    def test_hived(self):
        text = GOOD + "extras: {hivedScheduler: {jobPriorityClass: best}}\n"
        self.expect(0, "", "", "check", "-", input=text)
        done = self.spec("check", "--hived", "-", input=text)
        self.assertEqual(done.returncode, 1)
        self.assertIn("jobPriorityClass cannot be 'best'", done.stdout)


SLIPS = GOOD.replace("type: job", "typ: job  # it is").replace(
    "instances: 1", "instances: '1'").replace(
    "commands: [echo hi]", "commands: echo it's, hi  # one") + (
        "jobRetryCount: -1\n")
MENDED = GOOD.replace("type: job", "type: job  # it is").replace(
    "commands: [echo hi]", "commands: ['echo it''s, hi']  # one") + (
        "jobRetryCount: -1\n")
LEFT = """\
%s:11:16: error: jobRetryCount cannot be -1 [too-small]
   11 | jobRetryCount: -1
      |                ^~
  help: use 0 or more
"""


class Fix(SpecTest):
    """spec check --fix."""

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def test_what_is_sure_is_written_and_the_rest_is_told(self):
        self.write("slips.yaml", SLIPS)
        self.expect(1, LEFT % "slips.yaml", "", "check", "--fix", "slips.yaml")
        self.assertEqual(self.read("slips.yaml"), MENDED)
        self.expect(1, LEFT % "slips.yaml", "", "check", "--fix", "slips.yaml")
        self.assertEqual(self.read("slips.yaml"), MENDED)

    def test_a_person_sees_what_was_changed(self):
        path = self.write("slips.yaml", SLIPS)
        out = self.on_terminal("spec", "check", "--fix", path, code=1)
        self.env["NO_COLOR"] = "1"
        for line in (":3:1: fixed: write 'type' [unknown-key]",
                     ":7:16: fixed: write 1 [wrong-type]",
                     ":10:15: fixed: write a list [wrong-type]"):
            self.assertIn(path + line + "\r\n", out)
        self.assertNotIn("fixed", self.on_terminal("spec", "check", "--fix",
                                                   path, code=1))

    def test_a_file_that_is_right_is_not_touched(self):
        path = pathlib.Path(self.write("good.yaml", GOOD))
        before = path.stat()
        self.expect(0, "", "", "check", "--fix", "good.yaml")
        self.assertEqual((path.stat().st_ino, path.stat().st_mtime_ns),
                         (before.st_ino, before.st_mtime_ns))

    def test_several_rounds(self):
        # A tab, then the key that it hid, then its value.
        self.write("tab.yaml", GOOD.replace(
            "    instances: 1\n", "\tinstancs: '1'\n"))
        self.expect(0, "", "", "check", "--fix", "tab.yaml")
        self.assertEqual(self.read("tab.yaml"), GOOD)

    def test_standard_input(self):
        self.expect(1, MENDED, LEFT % "<stdin>", "check", "--fix", "-",
                    input=SLIPS)
        self.expect(0, GOOD, "", "check", "--fix", "-", input=GOOD)
        self.expect(1, MENDED, "", "check", "-q", "--fix", "-", input=SLIPS)
        self.assertIn("standard output", self.usage("check", "--fix", "--json",
                                                    "-"))
        self.assertIn("standard output", self.usage("check", "--fix", "-",
                                                    "good.yaml"))
        done = self.spec("check", "--fix", "-",
                         input=GOOD + "#" * (4 << 20))
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_other_forms(self):
        self.write("slips.yaml", SLIPS)
        found, = json.loads(self.spec("check", "--fix", "--json",
                                      "slips.yaml").stdout)
        self.assertEqual([d["code"] for d in found["diagnostics"]],
                         ["too-small"])
        self.assertEqual(self.read("slips.yaml"), MENDED)
        self.write("slips.yaml", SLIPS)
        log = json.loads(self.spec("check", "--sarif", "slips.yaml").stdout)
        fix, = next(result["fixes"] for result in log["runs"][0]["results"]
                    if result["ruleId"] == "unknown-key")
        self.assertEqual(fix["description"]["text"], "write 'type'")
        change, = fix["artifactChanges"]
        self.assertEqual(change["artifactLocation"]["uri"], "slips.yaml")
        self.assertEqual(change["replacements"], [
            {"deletedRegion": {"startLine": 3, "startColumn": 1, "endLine": 3,
                               "endColumn": 4},
             "insertedContent": {"text": "type"}}])

    def test_whose_file_it_is(self):
        path = pathlib.Path(self.write("slips.yaml", SLIPS))
        other = self.folder / "other.yaml"
        os.link(path, other)
        self.spec("check", "--fix", "slips.yaml")
        self.assertEqual((self.read("slips.yaml"), self.read("other.yaml")),
                         (MENDED, MENDED))
        other.unlink()
        path.write_text(SLIPS)
        path.chmod(0o640)
        if os.getuid() == 0:
            os.chown(path, 1, 2)
        before = path.stat()
        self.spec("check", "--fix", "slips.yaml")
        after = path.stat()
        self.assertEqual(self.read("slips.yaml"), MENDED)
        self.assertEqual((after.st_uid, after.st_gid, after.st_mode),
                         (before.st_uid, before.st_gid, before.st_mode))
        self.assertNotEqual(after.st_ino, before.st_ino)

    def test_what_is_no_file(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        writer = threading.Thread(target=fifo.write_text, args=(SLIPS,))
        writer.start()
        done = self.spec("check", "--fix", "fifo")
        writer.join()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("cannot write fifo: it is not a regular file",
                      done.stderr)
        self.assertTrue(fifo.is_fifo())

    def test_what_cannot_be_written(self):
        folder = self.folder / "closed"
        folder.mkdir()
        (folder / "slips.yaml").write_text(SLIPS, encoding="utf-8")
        (folder / "slips.yaml").chmod(0o444)
        if os.access(folder / "slips.yaml", os.W_OK):
            name = "/proc/self/mem/none"  # root may write anywhere
            self.assertEqual(self.spec("check", "--fix", name).returncode, 2)
            return
        done = self.spec("check", "--fix", "closed/slips.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot write closed/slips.yaml: Permission denied",
                      done.stderr)
        self.assertEqual(self.read("closed/slips.yaml"), SLIPS)
