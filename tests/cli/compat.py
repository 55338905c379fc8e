"""The two old programs, called by links with their names, as tests call them."""

import json
import os
import subprocess

import program
import served

NOTE = ("if not set, only your job will be listed, user `--user __all__` to "
        "list jobs of all users\n")


class CompatTest(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.here = self.folder / "here"
        self.home.mkdir()
        self.here.mkdir()
        self.env.update(HOME=str(self.home), TZ="UTC",
                        XDG_CONFIG_HOME=str(self.home / "config"))
        for name in ("EDITOR", "VISUAL"):
            self.env.pop(name, None)
        for name in ("pai", "opai"):
            os.symlink(program.OPENPAI, self.folder / name)

    def old(self, tool, *words, code=0, **kwargs):
        """What an old program has printed, and what it has said."""
        done = subprocess.run(
            [self.folder / tool, *words], env=self.env, cwd=self.here,
            capture_output=True, text=True, timeout=60, **kwargs)
        self.assertEqual(done.returncode, code,
                         (tool, words, done.stdout, done.stderr))
        return done.stdout, done.stderr

    def good(self, *words, **kwargs):
        return self.old(*words, **kwargs)[0]

    def bad(self, *words, code=1, **kwargs):
        return self.old(*words, code=code, **kwargs)[1]

    def lab(self):
        """A server that is known as lab; it is all that is known."""
        self.process = self.serve()
        self.env.pop("OPENPAI_ROOT")
        token = self.login()
        self.assertEqual(
            self.good("pai", "addc", self.url, "admin", token, "-a", "lab"),
            '""\n')
        return token

    def file(self, name="job.yaml", **kwargs):
        path = self.here / name
        path.write_text(program.JOB.format(
            command=json.dumps(kwargs.get("command", "true")), instances=1,
            cpu=1))
        return path

    def state(self, job, state):
        self.run_cli("wait", job, "--quiet", "--cluster", "lab")
        self.assertIn(f"- {job} [{state}]\n",
                      self.good("opai", "job", "list", "-a", "lab"))
