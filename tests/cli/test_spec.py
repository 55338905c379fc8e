"""openpai spec: what is told of job files, and in which form."""

import errno
import json
import os
import pathlib
import re
import resource
import signal
import urllib.parse

import program

GOOD = """\
protocolVersion: 2
name: good
type: job
prerequisites: [{name: x, type: dockerimage, uri: x}]
taskRoles:
  a:
    instances: 1
    dockerImage: x
    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}
    commands: [echo hi]
"""
WARNED = GOOD + "parameters: {lr: 1}\n"
BAD = GOOD.replace("a:\n    instances: 1", "a:\n    instances: 0").replace(
    "dockerImage: x", 'dockerImage: "\u65e5\u672c"')
BAD_TEXT = """\
bad.yaml:7:16: error: instances cannot be 0 [too-small]
    7 |     instances: 0
      |                ^
  help: give 1 or more
bad.yaml:8:18: error: there is no dockerimage prerequisite '\u65e5\u672c' \
[unknown-name]
    8 |     dockerImage: "\u65e5\u672c"
      |                  ^~~~~~
  help: there are: x
"""
V1 = json.dumps({"jobName": "old", "image": "x", "taskRoles": [{
    "name": "a", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 1,
    "gpuNumber": 0, "command": "echo hi"}]})
SECRETS = """\
secrets: {pw: hunter1, list: [hunter2], "key": 'hunter3'}
"""


def with_two_roles(text):
    """Its role `a`, and the same as `b` with a template and a secret."""
    head, role = text.split("  a:\n")
    other = role.replace("echo hi",
                         "echo <% $parameters.lr %> <% $parameters.no %> "
                         "<% $secrets.pw %>")
    return (head + "  a:\n" + role + "  b:\n" + other
            + "parameters: {lr: 0.1}\nsecrets: {pw: hunter1}\n")


class SpecTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("good.yaml", GOOD)
        self.write("warned.yaml", WARNED)
        self.write("bad.yaml", BAD)

    def spec(self, *args, **kwargs):
        return self.run_cli("spec", *args, cwd=self.folder, **kwargs)

    def expect(self, code, out, err, *args, **kwargs):
        done = self.spec(*args, **kwargs)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (code, out, err), args)

    def usage(self, *args):
        """A call that is wrong: what is said of it."""
        done = self.spec(*args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), args)
        return done.stderr


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
            self.assertIn(f"  spec {verb} ", self.run_cli("help").stdout)
            done = self.spec(verb, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(
                done.stdout.startswith(f"usage: openpai spec {verb} "))
            self.assertIn("Exit code: 0", done.stdout)
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
        for verb in ("check", "render", "show", "fmt"):
            self.assertIn(f"spec {verb}: which job file", self.usage(verb))
        self.assertIn("which job file?", self.usage("convert", "--to", "v1"))
        for verb in ("render", "show"):
            self.assertIn("one job file at a time",
                          self.usage(verb, "good.yaml", "bad.yaml"))
        self.assertIn("one job file at a time", self.usage(
            "convert", "--to", "v1", "good.yaml", "bad.yaml"))
        for pair in (("--json", "--sarif"), ("--json", "-q"),
                     ("--sarif", "--quiet")):
            self.assertIn("exclude each other",
                          self.usage("check", *pair, "good.yaml"))
        for to in ([], ["--to=2"], ["--to", "v3"]):
            self.assertIn("give --to v1 or --to v2",
                          self.usage("convert", *to, "good.yaml"))
        for files in ([], ["good.yaml"], ["good.yaml"] * 3):
            self.assertIn("which two job files?", self.usage("diff", *files))
        self.assertIn("takes no file", self.usage("schema", "good.yaml"))
        self.assertIn("give --version v1", self.usage("schema",
                                                      "--version=1"))

    def test_output_that_cannot_be_written(self):
        for args in (["check", "bad.yaml"], ["check", "--json", "good.yaml"],
                     ["check", "--sarif", "good.yaml"],
                     ["render", "good.yaml"],
                     ["render", "--json", "good.yaml"],
                     ["show", "good.yaml"], ["show", "--json", "good.yaml"],
                     ["convert", "--to", "v2", "good.yaml"],
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
                 "help": "give 1 or more"},
                {"severity": "error", "code": "unknown-name",
                 "pointer": "/taskRoles/a/dockerImage", "line": 8,
                 "column": 18, "endLine": 8, "endColumn": 22,
                 "message": "there is no dockerimage prerequisite "
                            "'\u65e5\u672c'", "help": "there are: x"}]})
        self.assertEqual(good, {"file": "good.yaml", "version": 2,
                                "valid": True, "diagnostics": []})
        self.assertEqual((old["version"], old["valid"]), (1, True))
        self.assertEqual((none["file"], none["version"], none["valid"]),
                         ("none", None, False))
        said, = none["diagnostics"]
        self.assertEqual(said, dict(
            bad["diagnostics"][0], code="unreadable", pointer="", line=1,
            column=1, endLine=1, endColumn=1, help=None,
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
        self.assertEqual(first["properties"], {"help": "give 1 or more"})
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
        root = pathlib.Path(__file__).resolve().parents[2] / "src"
        told = re.findall(r'\{ "([a-z-]+)",',
                          (root / "cli/codes.c").read_text())
        self.assertEqual(told, sorted(told))
        for room, least in (("spec", 25), ("resource", 50)):
            found = set()
            for path in (root / room).glob("*.c"):
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


class Render(SpecTest):
    def test_text(self):
        self.expect(0, "echo hi\n", "", "render", "good.yaml")
        text = with_two_roles(GOOD)
        said = "warning: nothing stands for $parameters.no\n"
        b = "echo 0.1 <% $parameters.no %> <% $secrets.pw %>\n"
        self.expect(0, f"# a\necho hi\n\n# b\n{b}", said, "render", "-",
                    input=text)
        self.expect(0, b, said, "render", "--role", "b", "-", input=text)
        self.expect(0, "echo hi\n", said, "render", "--role=a", "-",
                    input=text)

    def test_parameters(self):
        text = GOOD.replace("echo hi", "'echo <% $parameters.lr %> "
                            "<% $parameters.a/b %>'")
        self.expect(0, "echo 0.5 x\n", "", "render", "-p", "lr=9", "-p",
                    "lr=0.5", "--param=a/b=x", "-", input=text)
        for wrong in ("-plr",), ("-p", "lr"), ("-p", "=1"), ("-p",):
            done = self.spec("render", *wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("NAME=VALUE: " + wrong[-1].replace("-plr", "lr")
                          if wrong != ("-p",) else "needs a value: -p",
                          done.stderr)
        path = self.write("job.yaml", text)
        done = self.run_cli("run", "-p", "lr=[1, 2]", "-p", "a/b=y", path)
        self.assertEqual((done.returncode, done.stdout),
                         (0, "a[0] | 1,2 y\n"))

    def test_parameters_are_what_they_say(self):
        text = GOOD.replace("echo hi", "'<% $parameters.x %>|'")
        for value in ("1.10", "1.5", "007", "0", "-3", "-0", "12:30", "0x10",
                      "2020-01-01", "a #b", "a: b", "", "a\nb", "~", "yes",
                      "1e3", "1.", "0.0000001", "123456789012345678",
                      "[a, b]", "{x}", "*a", "[1] // c", '"a" /**/', "[1", "true", '"', "'a'", "q\t r"):
            self.expect(0, value + "|\n", "", "render", "-px=" + value, "-",
                        input=text)
        for value, shown in (("[1, [2, 3]]", "1,2,3"), ('"007"', "007"),
                             ('{"a": 1}', "[object Object]")):
            self.expect(0, shown + "|\n", "", "render", "-p", "x=" + value,
                        "-", input=text)

    def test_parameters_that_nothing_uses(self):
        text = GOOD.replace("echo hi", "'<% $parameters.lr %>'") + (
            "parameters: {lr: {a: 1, ',': 2}, 'x\"y': [3, {z: 4}]}\n")
        self.expect(0, "1\n", "openpai: warning: nothing uses parameter "
                    "'learning_rate'\n  help: the file's own are: lr, "
                    'x\\"y\n', "render", "-p", "lr=1", "-p",
                    "learning_rate=2", "-", input=text)

    def test_parameters_that_are_shared(self):
        text = GOOD.replace("echo hi", "'<% $parameters.a %> "
                            "<% $parameters.b %> <% $parameters.c %>'")
        for parameters, want in (("{a: &x 1, b: *x, c: 3}", "0.5 1 3"),
                                 ("{<<: {a: 1, b: 2}, c: 3}", "0.5 2 3")):
            self.expect(0, want + "\n", "", "render", "-pa=0.5", "-",
                        input=text + "parameters: " + parameters + "\n")
        self.expect(0, "0.5 1 2\n", "", "render", "-pa=0.5", "-",
                    input="%sextras: &x {b: 1, c: 2}\nparameters: *x\n" % text)

    def test_parameters_need_a_valid_file_of_version_2(self):
        done = self.spec("render", "-pa=0.5", "-", input=V1)
        self.assertEqual((done.returncode, done.stderr), (
            2, "openpai: error: <stdin> is a job config v1, which has no "
            "parameters\n"))
        done = self.spec("render", "-pa=0.5", "bad.yaml")
        self.assertEqual((done.returncode, done.stderr), (1, BAD_TEXT))

    def test_json(self):
        done = self.spec("render", "--json", "-", input=with_two_roles(GOOD))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), {
            "taskRoles": {
                "a": {"entrypoint": "echo hi"},
                "b": {"entrypoint":
                      "echo 0.1 <% $parameters.no %> <% $secrets.pw %>"}},
            "unresolved": ["$parameters.no"]})
        done = self.spec("render", "--json", "--role", "a", "-",
                         input=with_two_roles(GOOD))
        self.assertEqual(list(json.loads(done.stdout)["taskRoles"]), ["a"])

    def test_no_such_role(self):
        self.expect(2, "", "openpai: error: good has no task role 'c'\n"
                    "  help: there is a, b\n", "render", "--role", "c", "-",
                    input=with_two_roles(GOOD))


class Show(SpecTest):
    def test_text_and_json(self):
        done = self.spec("show", "good.yaml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("good", done.stdout)
        done = self.spec("show", "--json", "-", input=GOOD)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["name"], "good")


class Convert(SpecTest):
    def test_round_trip(self):
        self.write("old.json", V1)
        done = self.spec("convert", "--to", "v2", "old.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\njobRetryCount: 0\n", done.stdout)
        self.write("new.yaml", done.stdout)
        self.expect(0, done.stdout, "", "convert", "--to=v2", "new.yaml")
        back = self.spec("convert", "--to", "v1", "new.yaml")
        self.assertEqual((back.returncode, back.stderr), (0, ""))
        self.assertEqual(json.loads(back.stdout), json.loads(V1))
        done = self.spec("convert", "--to", "v2", "--json", "old.json")
        self.assertEqual(json.loads(done.stdout)["name"], "old")
        self.expect(0, back.stdout, "", "convert", "--to=v1", "--json",
                    "new.yaml")

    def test_what_version_1_cannot_say(self):
        """A warning comes with the text, an error instead of it."""
        done = self.spec("convert", "--to", "v1", "good.yaml")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout)["jobName"], "good")
        self.assertRegex(done.stderr, r"^good.yaml:9:\d+: warning: v1 .*\n")
        done = self.spec("convert", "--to", "v1", "-",
                         input=with_two_roles(GOOD).replace(
                             "b:\n    instances: 1",
                             "b:\n    instances: 1\n    taskRetryCount: 3"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("<stdin>:", done.stderr)
        self.assertIn(": error: ", done.stderr)


class Fmt(SpecTest):
    UGLY = '# first\n{"b": [1,  2], a: "x"}   # last\n'
    TIDY = "# first\nb: [1, 2]\na: x # last\n"

    def setUp(self):
        super().setUp()
        self.ugly = pathlib.Path(self.write("ugly.yaml", self.UGLY))
        self.tidy = pathlib.Path(self.write("tidy.yaml", self.TIDY))

    def test_one_file_is_printed(self):
        self.expect(0, self.TIDY, "", "fmt", "ugly.yaml")
        self.expect(0, self.TIDY, "", "fmt", "-", input=self.TIDY)
        self.assertEqual(self.ugly.read_text(), self.UGLY)

    def test_check(self):
        self.expect(1, "ugly.yaml\n<stdin>\n", "", "fmt", "--check",
                    "ugly.yaml", "tidy.yaml", "-", input=self.UGLY)
        self.expect(0, "", "", "fmt", "--check", "tidy.yaml")
        self.assertEqual(self.ugly.read_text(), self.UGLY)

    def test_write(self):
        self.ugly.chmod(0o640)
        os.symlink("ugly.yaml", self.folder / "link")
        tidy = self.tidy.stat()
        self.expect(0, "", "", "fmt", "-w", "link", "tidy.yaml")
        self.assertEqual(self.ugly.read_text(), self.TIDY)
        self.assertEqual(self.ugly.stat().st_mode & 0o777, 0o640)
        self.assertTrue((self.folder / "link").is_symlink())
        now = self.tidy.stat()  # it was not written anew
        self.assertEqual((now.st_ino, now.st_mtime_ns),
                         (tidy.st_ino, tidy.st_mtime_ns))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["bad.yaml", "good.yaml", "link", "tidy.yaml",
                          "ugly.yaml", "warned.yaml"])

    def test_what_cannot_be_written(self):
        """Nothing is left behind, and the file is as it was."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

        done = self.spec("fmt", "--write", "ugly.yaml", preexec_fn=limit)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "openpai: error: cannot write ugly.yaml:"
                         f" {os.strerror(errno.EFBIG)}\n")
        self.assertEqual(self.ugly.read_text(), self.UGLY)
        self.assertEqual(list(self.folder.glob("ugly.yaml?*")), [])

    def test_what_is_wrong(self):
        self.write("broken.yaml", "a: [\n")
        done = self.spec("fmt", "-w", "broken.yaml", "ugly.yaml")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^broken.yaml:\d:\d: error: ")
        self.assertEqual(self.ugly.read_text(), self.TIDY)
        self.expect(2, "", "openpai: error: cannot read none: No such file or "
                    "directory\n", "fmt", "none")
        for args in (["--write", "--check", "a"], ["a", "b"], ["-w", "-"]):
            self.assertIn("spec fmt: ", self.usage("fmt", *args))


class Diff(SpecTest):
    def setUp(self):
        super().setUp()
        self.write("two.yaml", with_two_roles(GOOD))
        self.write("more.yaml", with_two_roles(GOOD).replace(
            "instances: 1", "instances: 2", 1).replace(
            "parameters: {lr: 0.1}", "description: new").replace(
                "hunter1", "hunter2"))

    def test_text(self):
        self.expect(0, "", "", "diff", "good.yaml", "-",
                    input="# the same\n" + GOOD + "jobRetryCount: 0\n")
        self.expect(1, "- /parameters/lr: 0.1\n"
                    "~ /taskRoles/a/instances: 1 -> 2\n"
                    '+ /description: "new"\n'
                    '~ /secrets: "******" -> "******" (they differ and are '
                    'not shown)\n', "", "diff",
                    "two.yaml", "more.yaml")

    def test_json(self):
        done = self.spec("diff", "--json", "two.yaml", "more.yaml")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(json.loads(done.stdout), [
            {"kind": "removed", "pointer": "/parameters/lr", "old": 0.1},
            {"kind": "changed", "pointer": "/taskRoles/a/instances",
             "old": 1, "new": 2},
            {"kind": "added", "pointer": "/description", "new": "new"},
            {"kind": "changed", "pointer": "/secrets", "old": "******",
             "new": "******"}])
        self.expect(0, "[\n]\n", "", "diff", "--json", "good.yaml",
                    "good.yaml")

    def test_a_role_that_moved(self):
        head, a = GOOD.split("  a:\n")
        self.write("ab.yaml", head + "  a:\n" + a + "  b:\n" + a)
        self.expect(1, "> /taskRoles/a: 0 -> 1\n", "", "diff", "ab.yaml", "-",
                    input=head + "  b:\n" + a + "  a:\n" + a)

    def test_nothing_acts_on_the_terminal(self):
        done = self.spec("diff", "good.yaml", "-",
                         input=GOOD + 'description: "\u202ea"\n')
        self.assertEqual(done.stdout, '+ /description: "\ufffda"\n')

    def test_what_cannot_be_compared(self):
        self.expect(2, "", BAD_TEXT + "openpai: error: cannot read none: "
                    "No such file or directory\n", "diff", "bad.yaml", "none")
        self.expect(2, "", BAD_TEXT, "diff", "good.yaml", "bad.yaml")


class Schema(SpecTest):
    def test_each_version(self):
        new = json.loads(self.spec("schema").stdout)
        self.assertIn("taskRoles", new["required"])
        self.assertEqual(json.loads(self.spec("schema", "--version",
                                              "v2").stdout), new)
        old = json.loads(self.spec("schema", "--version=v1").stdout)
        self.assertIn("image", old["required"])


class Secrets(SpecTest):
    TEXTS = [
        GOOD + SECRETS,
        BAD + SECRETS,
        BAD + "secrets:\n  hunted: hunter1\n  more: [hunter2]\n",
        GOOD + 'secrets: "hunter1"\n',
        GOOD + "secrets: {pw: hunter1, bad: !x hunter2}\n",
        GOOD.replace("uri: x}", "uri: x, auth: {password: hunter1, "
                     "username: 1}}"),
        json.dumps({"protocolVersion": 2, "name": "a b",
                    "secrets": {"pw": "hunter1"}, "type": "jib"}),
        '{"secrets": {"pw": "hunter1" "b": 1}}',
        with_two_roles(GOOD),
    ]

    def test_are_never_shown(self):
        for text in self.TEXTS:
            self.assertIn("hunter", text)
            for args in (["check"], ["check", "--json"], ["check", "--sarif"],
                         ["render"], ["render", "--json"],
                         ["show"], ["show", "--json"],
                         ["convert", "--to", "v2"],
                         ["convert", "--to", "v2", "--json"],
                         ["convert", "--to", "v1"]):
                done = self.spec(*args, "-", input=text)
                self.assertIn(done.returncode, (0, 1))
                self.assertNotIn("hunter", done.stdout + done.stderr,
                                 (args, text))

    def test_unless_asked_for(self):
        text = with_two_roles(GOOD)
        for json_too in ([], ["--json"]):
            done = self.spec("convert", "--to", "v2", "--show-secrets",
                             *json_too, "-", input=text)
            self.assertIn("hunter1", done.stdout)

    def test_but_what_is_beside_them_is(self):
        out = self.spec("check", "-", input=self.TEXTS[6]).stdout
        self.assertIn('"name": "a b", "secrets": *', out)


class Invalid(SpecTest):
    def test_verbs_that_need_a_valid_file_tell_all(self):
        for code, *args in ((1, "spec", "render"),
                            (1, "spec", "render", "--json"),
                            (1, "spec", "show"),
                            (1, "spec", "convert", "--to", "v1"),
                            (125, "run"), (125, "run", "--json")):
            done = self.run_cli(*args, "bad.yaml", cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (code, "", BAD_TEXT), args)
            done = self.run_cli(*args, "none", cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (
                code if code > 1 else 2, "", "openpai: error: cannot read "
                "none: No such file or directory\n"))

    def test_run_takes_a_job_config_too(self):
        done = self.run_cli("run", "-", input=V1)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "a[0] | hi\n", ""))


if __name__ == "__main__":
    program.main()
