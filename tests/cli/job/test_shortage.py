"""A machine that lacks inodes, descriptors or processes: jobs that were accepted
wait, and run when there is room."""

import json
import os
import resource
import shutil
import signal
import threading

import program
import shortage


class InodesTest(shortage.ShortageTest):
    def test_jobs_wait_for_inodes(self):
        self.small_root("size=64m,nr_inodes=150")
        self.ok("up")
        job = self.job("echo hi", cpu=1)
        taken = []
        for i in range(40):  # the last may not be accepted
            if self.run_cli("submit", "--name", f"j{i}", job).returncode == 0:
                taken.append(f"j{i}")
        self.until(lambda: "is short of resources" in self.log())
        self.assertGreater(len(taken), 30)
        self.assertNotIn("FAILED", self.states())
        told = self.run_cli("list")
        self.assertIn("short of resources", told.stderr)
        self.assertIn("short of resources",
                      json.loads(self.ok("status", "--json"))["trouble"])
        waits = next(w for w in (self.ok("why", name) for name in taken)
                     if "left on device" in w or "supervisor" in w)
        self.assertIn("WAITING", waits)
        self.resize("size=64m,nr_inodes=5000")
        for name in taken:
            self.ok("wait", name)
        self.assertEqual(set(self.states()), {"SUCCEEDED"})
        self.assertNotIn("short of", self.run_cli("list").stderr)

    def test_what_waits_can_be_stopped(self):
        self.small_root("size=64m,nr_inodes=60")
        self.ok("up")
        for i in range(200):  # so that nothing is left for a task's folder
            try:
                (self.root / f"fill{i}").mkdir()
            except OSError:
                break
        self.ok("submit", self.job("echo hi"))
        self.until(lambda: "is short of resources" in self.log())
        self.ok("stop", "test")
        self.until(lambda: self.states() == ["STOPPED"])

    def test_what_waits_outlives_its_platform(self):
        self.small_root("size=64m,nr_inodes=60")
        self.ok("up")
        for i in range(200):
            try:
                (self.root / f"fill{i}").mkdir()
            except OSError:
                break
        self.ok("submit", self.job("echo hi"))
        self.until(lambda: "is short of resources" in self.log())
        self.ok("down")
        for i in range(3):  # for the socket
            (self.root / f"fill{i}").rmdir()
        self.ok("up")
        self.until(lambda: self.log().count("is short of resources") > 1)
        self.assertEqual(self.states(), ["WAITING"])
        self.resize("size=64m,nr_inodes=500")
        self.ok("wait", "test")


class DiskTest(shortage.ShortageTest):
    def fill_disk(self, before="true"):
        """Runs a job that fills the disk, until no other one is taken."""
        self.small_root("size=32m")
        self.ok("up")
        self.ok("submit", self.job(
            before + "; yes to fill the disk with that"))
        self.until(lambda: shutil.disk_usage(self.root).free < 8192)
        refused = []

        def is_refused():
            done = self.run_cli("submit", "--name", f"more{len(refused)}",
                                self.job("true"))
            refused.append(done)
            return done.returncode != 0

        self.until(is_refused)
        return refused[-1].stderr

    def test_a_chatty_job_is_stopped_and_removed_on_a_full_disk(self):
        self.assertIn("disk", self.fill_disk())
        self.assertIn("is full", self.run_cli("list").stderr)
        self.ok("stop", "test")
        self.until(lambda: "STOPPED" in self.states())
        self.ok("rm", "test")
        self.assertIn("room\n", self.ok("run", "--", "echo", "room"))

    def test_there_is_room_once_many_files_are_removed(self):
        self.fill_disk("cd ${RUNTIME_LOG_PIPE%/*}; "  # in the job's folder
                       "for i in $(seq 20000); do : > $i; done")
        self.assertGreater(len(list(self.root.rglob("20000"))), 0)
        self.ok("stop", "test")
        self.until(lambda: "STOPPED" in self.states())
        self.ok("rm", "test")
        self.assertIn("room\n", self.ok("run", "--", "echo", "room"))

    def test_output_that_is_lost_is_told(self):
        self.small_root("size=32m")
        self.ok("up")
        self.ok("submit", self.job("head -c 40000000 /dev/zero; true"))
        lost = "a/0: some of its output was not logged"
        self.assertIn(lost, self.run_cli("wait", "test").stderr)
        self.assertIn("OutputLost", self.ok("events", "test"))
        self.assertIn(f"warning    {lost}", self.ok("show", "test"))
        self.assertIn("output lost", self.ok("list"))
        self.assertTrue(json.loads(self.ok("list", "--json"))[0]["outputLost"])
        self.assertTrue(
            json.loads(self.ok("wait", "--json", "test"))["outputLost"])
        detail = json.loads(self.ok("show", "--json", "test"))  # as REST has it
        self.assertTrue(detail["jobStatus"]["outputLost"])
        self.assertTrue(
            detail["taskRoles"]["a"]["taskStatuses"][0]["outputLost"])
        self.ok("rm", "test")
        self.until(lambda: shutil.disk_usage(self.root).free > 16 << 20)
        self.assertNotIn("not logged", self.run_cli(
            "run", "--name", "small", "--", "echo", "hi").stderr)
        self.assertNotIn("output lost", self.ok("list"))
        ran = self.run_cli("run", "--name", "large", "--",
                           "head", "-c", "40000000", "/dev/zero")
        self.assertIn("/0: some of its output was not logged", ran.stderr)

    def test_lost_output_of_an_earlier_start_is_remembered(self):
        self.small_root("size=32m")
        self.ok("up")
        first = self.folder / "first"
        self.ok("submit", self.job(f"mkdir {first} || exit 0; "
                                   "head -c 40000000 /dev/zero; exit 7",
                                   retries=1))
        self.until(lambda: "OutputLost" in self.ok("events", "test"))
        next(self.root.glob("jobs/*~test/0/a-0/all")).unlink()  # makes room
        self.ok("down")
        self.ok("up")
        done = self.run_cli("wait", "test")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("an earlier start was not logged", done.stderr)
        self.assertIn("output lost", self.ok("list"))
        detail = json.loads(self.ok("show", "--json", "test"))
        self.assertEqual(detail["jobStatus"]["attemptId"], 1)
        task = detail["taskRoles"]["a"]["taskStatuses"][0]
        self.assertFalse(task["outputLost"])

    def test_run_ends_with_an_interrupt_on_a_full_disk(self):
        self.small_root("size=32m")
        process = self.start("run", "--name", "test", "--", "yes", "fill")
        read = threading.Thread(target=process.stdout.read)
        read.start()
        self.until(lambda: shutil.disk_usage(self.root).free < 8192)
        process.send_signal(signal.SIGINT)
        self.until(lambda: process.poll() is not None)
        read.join()


class MaskTest(shortage.ShortageTest):
    def test_a_mask_that_keeps_its_own_user_out(self):
        self.ok("up", preexec_fn=lambda: os.umask(0o377))
        self.assertIn("hi\n", self.ok("run", "--", "echo", "hi",
                                      preexec_fn=lambda: os.umask(0o377)))


class DescriptorsTest(shortage.ShortageTest):
    def idle(self, pid):
        """Nobody is connected, and no task's file is open."""
        try:
            files = [os.readlink(f"/proc/{pid}/fd/{fd}")
                     for fd in os.listdir(f"/proc/{pid}/fd")]
        except FileNotFoundError:  # closed meanwhile
            return False
        return not any(file.startswith(f"{self.root}/{folder}/")
                       for file in files for folder in ("jobs", "own")) and \
            sum(file.startswith("socket:") for file in files) == 1

    def limit(self, more):
        pid = self.pid()
        self.until(lambda: self.idle(pid))
        have = len(os.listdir(f"/proc/{pid}/fd"))
        hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
        resource.prlimit(pid, resource.RLIMIT_NOFILE,
                         (have + more if more else hard, hard))

    def test_jobs_and_readers_wait_for_descriptors(self):
        self.ok("run", "--name", "before", "--", "echo", "printed")
        self.limit(3)  # a connection, the task's order, not its folder
        self.ok("submit", self.job("echo hi"))
        self.until(lambda: "is short of resources" in self.log())
        self.assertEqual(self.states()[0], "WAITING")
        self.limit(1)  # a connection alone
        read = self.run_cli("logs", "-f", "before")
        self.assertEqual((read.returncode, read.stdout), (1, ""))
        self.assertIn("Too many open files", read.stderr)
        self.limit(0)
        self.ok("wait", "test")
        self.assertEqual(self.ok("logs", "-f", "before"), "printed\n")


class SandboxTest(shortage.ShortageTest):
    """bubblewrap that fails as where no process can be made."""
    runtime = None

    def setUp(self):
        super().setUp()
        if not program.bubblewrap_works():
            self.skip("bubblewrap does not work here")
        folder = self.folder / "bin"
        folder.mkdir()
        self.says = self.folder / "says"
        (folder / "bwrap").write_text(
            "#!/bin/bash\n"
            # one look: the test may remove the file at any moment
            f"if text=$(cat {self.says} 2>/dev/null); then\n"
            "  echo \"$text\" >&2; exit 1\nfi\n"
            f"exec {shutil.which('bwrap')} \"$@\"\n")
        (folder / "bwrap").chmod(0o755)
        self.env["PATH"] = f"{folder}:{self.env['PATH']}"
        self.ok("run", "--name", "before", "--", "true")

    def test_a_sandbox_for_which_there_is_no_process(self):
        self.says.write_text("bwrap: Creating new namespace failed: "
                             "Resource temporarily unavailable\n")
        self.ok("submit", self.job("echo hi"))
        self.until(lambda: "cannot create the sandbox" in self.log())
        self.until(lambda: self.states()[0] == "WAITING")
        self.says.unlink()
        self.ok("wait", "test")

    def test_a_sandbox_that_cannot_be_made(self):
        """That is no code of the program's."""
        self.says.write_text("bwrap: Can't find source path /nowhere: "
                             "No such file or directory\n")
        self.assertNotEqual(
            self.run_cli("run", "--name", "t", "--", "true").returncode, 0)
        self.assertIn("cannot create the sandbox", self.ok("show", "t"))
        self.assertNotIn("own", self.ok("why", "t").splitlines()[1])

    def test_codes_of_programs_stay(self):
        self.assertEqual(
            self.run_cli("run", "--", "sh", "-c", "exit 1").returncode, 1)
