"""The platform as a service of systemd's, with a systemctl that only listens."""

import os
import shutil
import subprocess
import unittest

import program

UNIT = "openpai.service"


class ServiceTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.env["OPENPAI_RUNTIME"] = "process"
        self.unit = self.folder / "config" / "systemd" / "user" / UNIT
        self.calls = self.folder / "calls"
        self.fake("exit 0")

    def fake(self, end):
        """A systemctl that says how it was called, and ends so."""
        path = self.folder / "bin"
        path.mkdir(exist_ok=True)
        (path / "systemctl").write_text(
            f"#!/bin/sh\necho \"$@\" >> '{self.calls}'\n{end}\n")
        (path / "systemctl").chmod(0o755)
        self.env["PATH"] = f"{path}:{os.environ['PATH']}"

    def ok(self, *args):
        done = self.run_cli(*args)
        self.assertEqual(done.returncode, 0, (args, done.stderr))
        return done

    def called(self):
        return self.calls.read_text().splitlines()

    def setting(self, name):
        return [line.split("=", 1)[1]
                for line in self.unit.read_text().splitlines()
                if line.startswith(name + "=")]

    def test_enable_and_disable(self):
        done = self.ok("up", "--enable", "--runtime", "bwrap")
        self.assertIn(str(self.unit), done.stdout)
        self.assertIn("loginctl enable-linger", done.stderr)
        self.assertEqual(self.called(), ["--user daemon-reload",
                                         f"--user enable --now {UNIT}"])
        self.assertEqual(self.setting("ExecStart"),
                         [f'"{program.OPENPAI}" up --foreground --verbose '
                          f'--root "{self.folder}/state/openpai" '
                          '--runtime "bwrap"'])
        # Tasks outlive a restart of the platform.
        self.assertEqual(self.setting("KillMode"), ["process"])
        self.assertEqual(self.setting("Delegate"), ["yes"])
        self.assertEqual(self.setting("Type"), ["exec"])
        self.calls.unlink()
        self.ok("up", "--enable")  # once more: another text
        self.assertNotIn("bwrap", self.unit.read_text())
        self.calls.unlink()
        self.ok("down", "--disable")
        self.assertEqual(self.called(), [f"--user disable --now {UNIT}",
                                         "--user daemon-reload"])
        self.assertFalse(self.unit.exists())
        self.assertIn("no systemd service", self.ok("down", "--disable").stdout)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "no systemd-analyze")
    def test_systemd_understands_it(self):
        root = self.folder / "a $HOME %h \"root\""
        self.ok("up", "--enable", "--root", str(root))
        run = self.folder / "run"
        run.mkdir(mode=0o700)
        env = dict(self.env, XDG_RUNTIME_DIR=str(run))
        done = subprocess.run(["systemd-analyze", "--user", "--man=no",
                               "verify", str(self.unit)], env=env,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_one_that_runs_makes_room(self):
        self.ok("up")
        gate = self.fifo()
        self.ok("submit", self.job(f"read -r x < {gate}; exit 5"))
        self.ok("up", "--enable")
        self.assertEqual(self.run_cli("status").returncode, 1)
        # The service's own process would do this; its jobs went on.
        self.ok("up")
        self.release(gate)
        self.assertEqual(self.run_cli("wait", "test").returncode, 5)

    def test_the_first_user_of_a_service(self):
        """Its journal would keep a password."""
        done = self.ok("up", "--enable", "--listen", "127.0.0.1:0")
        self.assertIn("openpai user add --admin --root "
                      f"{self.folder}/state/openpai NAME", done.stderr)
        self.assertNotIn("user add", self.ok("up", "--enable").stderr)

    def test_without_systemd(self):
        self.fake("echo 'no bus' >&2; exit 1")
        done = self.run_cli("up", "--enable")
        self.assertEqual(done.returncode, 1)
        self.assertIn("systemd does not answer", done.stderr)
        self.assertIn("is written, but not active", done.stderr)
        self.ok("down", "--disable")
        self.assertFalse(self.unit.exists())

    def test_what_somebody_else_wrote_stays(self):
        self.unit.parent.mkdir(parents=True)
        self.unit.write_text("[Service]\nExecStart=/bin/true\n")
        for args in (("up", "--enable"), ("down", "--disable")):
            done = self.run_cli(*args)
            self.assertEqual(done.returncode, 1)
            self.assertIn("was not made by openpai", done.stderr)
        self.assertIn("/bin/true", self.unit.read_text())
        self.assertFalse(self.calls.exists())

    def test_misused(self):
        self.assertEqual(self.run_cli("up", "--enable",
                                      "--foreground").returncode, 2)

    def test_a_folder_that_cannot_be_made(self):
        (self.folder / "config").write_text("a file")
        done = self.run_cli("up", "--enable")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot make the folder", done.stderr)
