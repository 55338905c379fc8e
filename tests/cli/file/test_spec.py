"""openpai spec: job files shown, converted, formatted and compared."""

import errno
import json
import os
import pathlib
import resource
import signal

from specs import GOOD, BAD, BAD_TEXT, V1, SECRETS, with_two_roles, SpecTest


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
                         (0, "1,2 y\n"), done.stderr)

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
                    "'learning_rate'\n  help: parameters in the file: lr, "
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
            2, "openpai: error: <stdin> is a job config v1: it has no "
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
        done = self.spec("convert", "old.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\njobRetryCount: 0\n", done.stdout)
        self.write("new.yaml", done.stdout)
        self.expect(0, done.stdout, "", "convert", "new.yaml")
        done = self.spec("convert", "--json", "old.json")
        self.assertEqual(json.loads(done.stdout)["name"], "old")

    def test_what_json_cannot_say(self):
        done = self.spec("convert", "--json", "-",
                         input=GOOD + "extras: {x: .nan}\n")
        self.assertEqual(done.returncode, 0)
        self.assertIsNone(json.loads(done.stdout)["extras"]["x"])
        self.assertRegex(done.stderr, r"^<stdin>:\d+:\d+: warning: JSON .*\n")


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
        for args in (["a", "b"], ["-w", "-"]):
            self.assertIn("spec fmt: ", self.usage("fmt", *args))
        self.assertIn("exclude each other",
                      self.usage("fmt", "--write", "--check", "a"))


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
                    '~ /secrets: "******" -> "******" (secret values '
                    'that differ)\n', "", "diff",
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
                         ["convert"], ["convert", "--json"]):
                done = self.spec(*args, "-", input=text)
                self.assertIn(done.returncode, (0, 1))
                self.assertNotIn("hunter", done.stdout + done.stderr,
                                 (args, text))

    def test_unless_asked_for(self):
        text = with_two_roles(GOOD)
        for json_too in ([], ["--json"]):
            done = self.spec("convert", "--show-secrets",
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
                            (1, "spec", "convert"),
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
                         (0, "hi\n", ""))
