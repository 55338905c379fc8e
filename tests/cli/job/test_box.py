"""The platform of a user through its verbs: up, status, down, ..."""

import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import unittest

import program
from box import BoxTest

# A bubblewrap that joins name spaces in its way, without making any: who runs
# the command was made by one that ends at once, here later than its pipes do.
LATE = """#!/usr/bin/python3
import ctypes, os, sys, time
args = sys.argv[1:]
if "--info-fd" not in args:
    os.execv(@BWRAP@, ["bwrap"] + args)
prctl = ctypes.CDLL(None).prctl
info, go = (int(args[args.index(n) + 1]) for n in ("--info-fd", "--block-fd"))
prctl(36, 1)  # orphans come here
if os.fork() == 0:
    if os.fork() == 0:
        os.write(info, b'{"child-pid": %d}' % os.getpid())
        os.close(info)
        os.read(go, 1)
        prctl(1, 9)  # and dies with its parent
        os.execv("/bin/bash", ["bash", "/dev/fd/3"])
    for fd in range(3, 100):
        try:
            os.close(fd)
        except OSError:
            pass
    time.sleep(0.5)
    os._exit(0)
os.close(info)
while True:
    try:
        status = os.wait()[1]
    except ChildProcessError:
        sys.exit(os.waitstatus_to_exitcode(status) % 128)
"""


class Sandbox(BoxTest):
    runtime = None

    @unittest.skipUnless(shutil.which("bwrap"), "no bubblewrap")
    def test_it_outlives_who_made_it(self):
        """Nothing kills a task before it begins, however slow the machine."""
        late = self.folder / "bin" / "bwrap"
        late.parent.mkdir()
        late.write_text(LATE.replace("@BWRAP@", repr(shutil.which("bwrap"))))
        late.chmod(0o700)
        self.env["PATH"] = f"{late.parent}:{self.env['PATH']}"
        job = self.job("sleep 1; echo hello", instances=2)
        self.assertEqual(self.ok("run", "-q", job).count("hello"), 2)


class Platform(BoxTest):
    def test_a_root_that_is_deleted(self):
        self.ok("up")
        pid = self.pid()
        self.ok("submit", self.waits())
        self.until_up()
        status = next(self.root.rglob("status")).read_text().split()
        fds = [os.pidfd_open(int(n)) for n in (pid, status[1], status[5])]
        for fd in fds:
            self.addCleanup(os.close, fd)
        # Which may remove its socket meanwhile.
        while os.path.exists(self.root):
            shutil.rmtree(self.root, ignore_errors=True)
        for fd in fds:  # platform, supervisor, task: nobody is left
            self.assertEqual(select.select([fd], [], [], 30)[0], [fd])
        self.assertFalse(self.root.exists())

    def test_up_status_down(self):
        self.assertEqual(self.run_cli("status").returncode, 1)
        self.assertEqual(self.run_cli("status", "--json").stdout, "null\n")
        self.assertIn("no platform runs in", self.ok("down"))
        self.assertFalse(self.root.exists())  # neither started one
        self.assertRegex(self.ok("up"), r"^the platform is up: process \d+, in ")
        status = json.loads(self.ok("status", "--json"))
        self.assertEqual(status["root"], str(self.root))
        self.assertEqual(status["jobs"]["running"], 0)
        self.assertIn("the platform was running already",
                      self.run_cli("up", "--policy", "priority").stderr)
        self.assertIn(f"process {status['pid']}", self.ok("status"))
        self.assertIn("runs already", self.ok("up"))
        self.assertEqual(json.loads(self.ok("up", "--json")),
                         {"pid": status["pid"], "root": str(self.root),
                          "started": False})
        self.assertIn("has stopped", self.ok("down"))
        self.assertFalse(self.lives(status["pid"]))
        self.assertEqual(self.run_cli("status").returncode, 1)
        self.assertEqual(self.ok("down", "-q"), "")

    def test_a_named_root_that_is_not_there_is_not_made(self):
        """Verbs that only look, or change jobs, would look into an empty one."""
        self.env["OPENPAI_ROOT"] = str(self.folder / "typo")
        for words in (["list"], ["stop", "a"], ["top"], ["rm", "a"]):
            done = self.run_cli(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn("no platform runs there", done.stderr)
        self.assertFalse((self.folder / "typo").exists())
        self.ok("run", "-q", "--", "true")
        self.assertIn("true", self.ok("list"))

    def test_it_is_detached(self):
        lent = os.open("/dev/zero", os.O_RDONLY)
        self.addCleanup(os.close, lent)
        self.ok("up", pass_fds=[lent])
        self.ok("run", "--", "true")  # the machine has been looked at
        pid = self.pid()
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().split(") ")[1]
        self.assertEqual(int(fields.split()[3]), pid)  # leads its session
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), "/")
        links = set()
        for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                links.add(os.readlink(fd))
        self.assertNotIn("/dev/zero", links)
        for link in links:
            if pathlib.Path(link).name == "openpai-task":
                continue  # as it was at the start, whatever is installed later
            self.assertTrue(link.startswith((
                str(self.root), "anon_inode:", "socket:", "pipe:",
                "/dev/null", "/run/lock/openpai-", "/tmp/openpai-",
                "/sys/", "/proc/")), link)  # how the machine is made
        os.kill(pid, signal.SIGHUP)  # who logs out does not end it
        self.assertEqual(self.pid(), pid)
        os.kill(pid, signal.SIGTERM)

    def test_a_submission_returns_at_once(self):
        job = self.waits()
        self.assertEqual(self.ok("submit", job), "test\n")  # its pipe is closed
        self.until_up()
        self.release(self.gate)
        done = self.run_cli("wait", "test")
        self.assertEqual((done.returncode, done.stdout), (3, "test FAILED\n"))
        self.assertEqual(self.ok("logs", "test"), "up\ngo\n")

    def test_starters_at_once(self):
        job = self.job("true")
        started = [self.start("submit", job) for _ in range(8)]
        names = [p.communicate(timeout=60)[0].strip() for p in started]
        self.assertEqual([p.returncode for p in started], [0] * 8)
        self.assertEqual(sorted(names),
                         ["test"] + [f"test_{n}" for n in range(2, 9)])
        for name in names:
            self.ok("wait", name)
        found = [p for p in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                 if self.reads(p, f"--root\0{self.root}\0")]
        self.assertEqual(len(found), 1)

    @staticmethod
    def reads(path, part):
        try:
            return part in path.read_text()
        except OSError:
            return False

    def test_jobs_go_on_when_it_is_down(self):
        self.ok("submit", self.waits())
        self.until_up()
        first = self.pid()
        done = self.run_cli("down")
        self.assertEqual(done.stdout, "the platform has stopped\n")
        self.assertIn("note: 1 job goes on; openpai up finds it", done.stderr)
        self.release(self.gate)
        self.assertEqual(self.run_cli("wait", "test").returncode, 3)
        self.assertNotEqual(self.pid(), first)
        self.assertEqual(self.ok("logs", "test"), "up\ngo\n")
        self.assertEqual(self.ok("down", "--leave"), "the platform has stopped\n")

    def test_down_may_kill(self):
        pid = self.folder / "pid"
        self.ok("submit", self.job(f"echo $$ >{pid}; echo up; sleep 1000"))
        self.until_up()
        self.ok("down", "--kill")
        self.assertFalse(self.lives(pid.read_text().strip()))
        self.assertEqual(self.run_cli("down", "--kill", "--leave").returncode,
                         2)

    def test_it_survives_being_killed(self):
        self.ok("submit", self.waits())
        self.until_up()
        os.kill(self.pid(), signal.SIGKILL)
        self.assertEqual(self.run_cli("status").returncode, 1)
        self.release(self.gate)
        self.assertEqual(self.run_cli("wait", "test").returncode, 3)
        self.assertEqual(self.ok("logs", "test"), "up\ngo\n")

    def test_roots(self):
        other = str(self.folder / "other")
        self.ok("--root", other, "up")
        self.assertEqual(self.run_cli("status").returncode, 1)
        self.assertIn(other, self.ok(f"--root={other}", "status"))
        self.assertIn(other, self.ok("status", "--root", other))
        self.assertIn(other, self.ok("status", "--root", "other/"))
        self.env["OPENPAI_ROOT"] = other
        self.assertIn(other, self.ok("status"))
        self.refused(1, "--root requires a folder", "status", "--root", "")

    def test_a_long_root(self):
        # An address of a socket holds 108 bytes.
        root = str(self.folder / "ä b" / ("x" * 200))
        self.assertEqual(self.ok("run", "--root", root, "--", "echo", "hi"),
                         "hi\n")
        self.ok("down", "--root", root)

    def test_planted_sockets(self):
        self.root.mkdir(mode=0o700)
        path = self.root / "socket"
        path.write_text("")
        for verb in (["status"], ["list"], ["up"]):
            self.refused(1, "is not a socket", *verb)
        path.unlink()
        other = socket.socket(socket.AF_UNIX)
        self.addCleanup(other.close)
        other.bind(str(self.folder / "theirs"))
        other.listen()
        path.symlink_to(self.folder / "theirs")
        self.refused(1, "is not a socket", "status")
        path.unlink()
        if os.geteuid() == 0:
            os.rename(self.folder / "theirs", path)
            os.chown(path, 65534, 65534)
            self.refused(1, "belongs to another user", "status")
            self.refused(1, "belongs to another user", "submit",
                         self.job("true"))
            path.unlink()
        self.ok("up")

    def test_a_scope_of_its_own(self):
        """Where systemd looks after this user's processes; without it, or if
        it refuses, as ever."""
        runtime = self.folder / "run"
        (runtime / "systemd").mkdir(parents=True)
        (runtime / "systemd/private").write_text("")
        words = self.folder / "words"
        program = self.folder / "systemd-run"
        program.write_text(f"#!/bin/bash\necho \"$*\" >>{words}\n"
                           "while [ \"$1\" != -- ]; do shift; done; shift\n"
                           "exec \"$@\"\n")
        program.chmod(0o755)
        self.env["PATH"] = f"{self.folder}:{self.env['PATH']}"
        self.env["XDG_RUNTIME_DIR"] = str(runtime)
        self.ok("up", "--runtime", "process")
        said = words.read_text()
        self.assertIn("--user --scope", said)
        self.assertIn("Delegate=yes", said)
        self.assertTrue(said.endswith(f" up --foreground --root {self.root} "
                                      "--runtime process\n"), said)
        self.assertIn("hi", self.ok("run", "--", "echo", "hi"))
        self.ok("down")
        program.write_text("#!/bin/bash\necho Failed to connect >&2\nexit 1\n")
        self.ok("up")
        self.assertIn("Failed to connect", (self.root / "log").read_text())
        self.ok("down")
        words.unlink()
        (runtime / "systemd/private").unlink()
        program.write_text(f"#!/bin/bash\necho asked >>{words}\nexit 1\n")
        self.ok("up")
        self.assertEqual(words.exists(), os.geteuid() == 0 and
                         os.path.exists("/run/systemd/private"))

    def test_foreground(self):
        process = self.start("up", "--foreground", "--verbose",
                             stderr=subprocess.PIPE)
        self.assertIn("the platform serves at", process.stderr.readline())
        self.assertEqual(self.pid(), process.pid)
        done = self.run_cli("up", "--foreground")
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(process.pid), done.stderr)  # who has the root
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 0)

    def test_policies(self):
        self.refused(1, "there is no policy 'lottery'", "up", "--policy",
                     "lottery")
        self.ok("up", "--policy", "priority")
        self.assertIn("\npolicy    priority\n", self.ok("status"))
        self.ok("down")
        self.env["OPENPAI_POLICY"] = "fair"
        self.ok("up")
        self.assertEqual(json.loads(self.ok("status", "--json"))["policy"],
                         "fair")
        self.ok("down")
        del self.env["OPENPAI_POLICY"]
        self.ok("up")  # one that is not named does not stay
        self.assertEqual(json.loads(self.ok("status", "--json"))["policy"],
                         "fifo")

    def test_tasks_are_placed_one_by_one(self):
        self.ok("up")
        cpus = json.loads(self.ok("status", "--json"))["machine"]["cpus"]
        go = self.folder / "go"
        self.ok("submit", self.write("part.yaml", f"""
protocolVersion: 2
name: part
type: job
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
extras: {{gangAllocation: false}}
taskRoles:
  a:
    instances: 2
    dockerImage: x
    resourcePerInstance: {{cpu: {cpus}, memoryMB: 64, gpu: 0}}
    commands: ["while ! test -e {go}; do sleep 0.01; done"]
"""))
        while "1 of 2 tasks have room, 1 waits: waits for" not in self.ok(
                "why", "part"):
            pass
        while not re.search(r"a/0 +RUNNING ", text := self.ok("show", "part")):
            pass  # it has room, and starts
        self.assertRegex(text, r"a/1 +WAITING ")
        why = json.loads(self.ok("why", "part", "--json"))
        self.assertEqual((why["state"], why["tasksRunning"],
                          why["tasksWaiting"]), ("RUNNING", 1, 1))
        go.touch()
        self.ok("wait", "part")
        self.assertRegex(self.ok("show", "part"), r"a/1 +SUCCEEDED ")

    def test_a_root_that_cannot_be(self):
        path = self.write("file", "")
        self.refused(1, "Not a directory", "up", "--root", path + "/x")
        self.refused(1, "Not a directory", "submit", "--root", path + "/x",
                     "--", "true")
        self.refused(1, "no platform runs there", "list", "--root",
                     path + "/x")
