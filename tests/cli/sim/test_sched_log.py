"""openpai sched replay, show and explain: logs of schedulers."""

import json
import re
import sys

import program

PAGE = sys.argv.pop()  # docs/internals/sched-log.md


class LogTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        with open(PAGE, encoding="utf-8") as page:
            blocks = re.findall(r"```json\n(.*?)```", page.read(), re.S)
        self.text, self.decisions = blocks[0], blocks[1]
        self.log = self.write("a.log", self.text)

    def test_replay(self):
        done = self.run_cli("sched", "replay", self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, self.decisions)
        self.assertEqual(done.stderr, "")
        self.assertEqual(
            self.run_cli("sched", "replay", "--json", "--until", "5",
                         self.log).stdout,
            self.decisions.splitlines(keepends=True)[0])

    def test_standard_input(self):
        done = self.run_cli("sched", "replay", "-", input=self.text)
        self.assertEqual(done.stdout, self.decisions)

    def test_other_policy(self):
        done = self.run_cli("sched", "replay", "--policy", "backfill",
                            self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"decision":"start","id":7', done.stdout)
        done = self.run_cli("sched", "replay", "--policy", "best", self.log)
        self.assertEqual(done.returncode, 2)
        self.assertIn("openpai: error: --policy best: there is no policy "
                      "'best'\n  help: one of: fifo,", done.stderr)
        done = self.run_cli("sched", "replay", "--policy", "fair",
                            "--options", '{"mode": "decay"}', self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words, what in (
                (["--policy", "fair", "--options", '{"mod": 1}'],
                 'no option "mod"; it may have: mode, shares,'),
                (["--policy", "fair", "--options", "{"], "expected a key"),
                (["--options", "{}"], "--options requires --policy")):
            done = self.run_cli("sched", "replay", *words, self.log)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(what, done.stderr)

    def test_other_policy_of_blanks(self):
        """What is written by hand may have blanks."""
        text = self.text.replace('"event":"policy"', '"event" : "policy"')
        done = self.run_cli("sched", "show", self.write("b.log", text))
        self.assertEqual(done.returncode, 0)
        one, other = (
            self.run_cli("sched", "replay", "--policy", "backfill", log).stdout
            for log in (self.log, self.folder / "b.log"))
        self.assertEqual(one, other)

    def test_a_snapshot_begins_a_log(self):
        lines = self.text.splitlines(keepends=True)
        done = self.run_cli("sched", "show", "--json", "--until", "12",
                            self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["snapshot"], 1)
        rest = self.write("rest.log", done.stdout + "".join(lines[12:]))
        whole = self.run_cli("sched", "show", "--json", self.log).stdout
        self.assertEqual(
            self.run_cli("sched", "show", "--json", rest).stdout, whole)

    def test_show(self):
        done = self.run_cli("sched", "show", "--until", "10", self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertIn(["default", "all", "3", "0", "1", "1"], rows)
        self.assertIn(["b", "drain", "0", "of", "2", "6", "of", "8", "16.0G",
                       "of", "16.0G", "1",
                       "new", "disks"], rows)
        self.assertIn(["7", "default", "10", "0", "1", "ann", "mnist"], rows)
        self.assertIn(["8", "default", "-1", "3", "0", "after", "-", "-"], rows)

    def test_explain(self):
        done = self.run_cli("sched", "explain", "--until", "4", self.log, "8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("held", done.stdout)
        done = self.run_cli("sched", "explain", "--json", "--until", "4",
                            self.log, "8")
        self.assertEqual(json.loads(done.stdout)["lack"], "release")
        done = self.run_cli("sched", "explain", self.log, "99")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no request 99", done.stderr)
        done = self.run_cli("sched", "explain", self.log, "x")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no request 'x'", done.stderr)
        self.assertEqual(
            self.run_cli("sched", "explain", "--until", "4", self.log,
                         "mnist").returncode, 0)
        self.assertEqual(self.run_cli("sched", "explain", self.log).returncode,
                         2)

    def test_wrong_lines(self):
        lines = self.text.splitlines(keepends=True)
        bad = self.write("bad.log", "".join(lines[:4]) +
                         '\n{"time":1,"event":"tim"}\n')
        done = self.run_cli("sched", "replay", bad)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.log:6:19: error: \"event\" cannot be \"tim\"",
                      done.stderr)
        self.assertEqual(done.stdout, self.decisions.splitlines(True)[0])
        done = self.run_cli("sched", "replay",
                            self.write("cut.log", self.text[:-20]))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cut.log:%d:" % len(lines), done.stderr)
        for text, what in (("", "is empty"), (lines[1], "snapshot")):
            done = self.run_cli("sched", "show", self.write("x.log", text))
            self.assertEqual(done.returncode, 1)
            self.assertIn(what, done.stderr)

    def test_misuse(self):
        for words in ([], [self.log, self.log], ["--until", "0", self.log],
                      ["--until", "x", self.log], ["--what", self.log],
                      [str(self.folder / "none")]):
            done = self.run_cli("sched", "replay", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertNotEqual(done.stderr, "")
