"""openpai clone --edit: a job once more, from a file that its user has edited."""

import os
import pathlib
import re

import program
import terminal

SECRET = "hunter2-Xyzzy-Plugh"


class Edited(program.RootTest):
    def setUp(self):
        super().setUp()
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()
        self.env["TMPDIR"] = str(self.tmp)
        self.env.pop("VISUAL", None)

    def log(self, name):
        """What a job has printed in the end."""
        self.run_cli("wait", name)
        return self.ok("logs", name, "--log", "stdout")

    def editor(self, script):
        """Gets the file as $1."""
        path = self.folder / "editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        self.env["EDITOR"] = str(path)

    def kept(self, told):
        """The text of the file that was kept, which is the only one."""
        path = re.search(r"the edited file is kept: (.*?)\r?\n", told)[1]
        self.assertEqual([str(file) for file in self.tmp.rglob("*.yaml")],
                         [path])
        self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o77, 0)
        return pathlib.Path(path).read_text(encoding="utf-8")

    def test_another_command(self):
        self.ok("run", "-q", self.job("echo one"))
        self.editor('case $1 in */test.yaml) sed -i s/one/two/ "$1";; esac')
        self.assertEqual(self.ok("clone", "--edit", "test"), "test_2\n")
        self.assertEqual(self.log("test_2"), "two\n")
        self.assertEqual(list(self.tmp.iterdir()), [])
        self.env["VISUAL"] = "sed -i s/one/three/"  # goes before $EDITOR
        self.assertEqual(self.ok("clone", "-e", "test", "third"), "third\n")
        self.assertEqual(self.log("third"), "three\n")
        self.env["VISUAL"] = "sed -i s/test/fourth/"
        self.assertEqual(self.ok("clone", "--edit", "test"), "fourth\n")

    def test_secrets(self):
        """They are not in the file, and those of one that runs are its
        clone's."""
        job = pathlib.Path(self.job(
            "key='<% $secrets.key %>'; echo ${#key}; sleep 1000"))
        job.write_text(f"{job.read_text()}secrets: {{key: {SECRET}}}\n")
        self.ok("submit", str(job))
        seen = self.folder / "seen"
        self.editor(f'cp "$1" {seen}; sed -i "s/sleep 1000/true/" "$1"')
        self.assertEqual(self.ok("clone", "--edit", "test"), "test_2\n")
        self.assertEqual(self.log("test_2"), f"{len(SECRET)}\n")
        self.assertIn("******", seen.read_text())
        self.assertNotIn(SECRET, seen.read_text())

    def test_what_is_wrong(self):
        self.ok("run", "-q", self.job("true"))
        self.editor('sed -i s/taskRoles/taskRolls/ "$1"')
        told = self.refused(1, "taskRolls", "clone", "--edit", "test")
        self.assertRegex(told, r"/test\.yaml:\d+:1: error: ")
        self.assertIn("taskRolls", self.kept(told))

    def test_what_is_refused(self):
        self.ok("run", "-q", self.job("true"))
        self.editor("echo 'defaults: {virtualCluster: none}' >> \"$1\"")
        told = self.refused(1, "none", "clone", "--edit", "test")
        self.assertIn("virtualCluster: none", self.kept(told))

    def test_nothing_is_submitted(self):
        self.ok("run", "-q", self.job("true"))
        for script, what in (('> "$1"', "the edited file is empty"),
                             ("exit 3", "editor failed")):
            self.editor(script)
            self.refused(1, what, "clone", "--edit", "test")
            self.assertEqual(list(self.tmp.iterdir()), [])
        self.env["EDITOR"] = "no-such-editor"
        self.refused(1, "there is no editor no-such-editor", "clone", "-e",
                     "test")
        self.refused(1, "~none is not found", "clone", "--edit", "none")
        self.refused(2, "unknown option: --edit", "retry", "--edit", "test")
        self.assertEqual(len(self.ok("list").splitlines()), 2)

    def test_again_on_a_terminal(self):
        self.ok("run", "-q", self.job("echo one"))
        self.editor("if grep -q taskRolls $1; then sed -i s/Rolls/Roles/ $1; "
                    "else sed -i 's/taskRoles/taskRolls/; s/one/two/' $1; fi")
        for answer, code in (b"\n", 0), (b"n\n", 1):
            shown = terminal.Terminal(self.env, "clone", "--edit", "test")
            shown.until_shown(r"edit it again\? \[Y/n\]:")
            shown.type(answer)
            self.assertEqual(shown.end(), code, shown.text)
            self.assertIn("did you mean 'taskRoles'?", shown.text)
            if code == 0:
                self.assertEqual(self.log("test_2"), "two\n")
                self.assertEqual(list(self.tmp.iterdir()), [])
        self.assertIn("taskRolls", self.kept(shown.text))
