"""Into a task: exec, attach, ssh, run -i."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import program
from entered import JOB, Entered, Tasks, Terminal


class Exec(Entered, program.RootTest):
    def setUp(self):
        super().setUp()
        self.env["SHELL"] = "/bin/bash"

    # --- a command -------------------------------------------------------------

    def test_it_is_in_the_task(self):
        self.waits()
        shown = self.ok("exec", "j", "--", "sh", "-c",
                        "echo $PAI_JOB_NAME $PAI_TASK_INDEX; pwd; "
                        "cat /proc/self/cgroup; taskset -p $$ | sed 's/.*://'",
                        stdin=subprocess.DEVNULL)
        lines = shown.splitlines()
        self.assertRegex(lines[0], r"^\S*j 0$")
        self.assertEqual(os.path.realpath(lines[1]),
                         os.path.realpath(self.folder))
        pid = re.search(r"started (\d+)", self.status())[1]
        self.assertEqual("\n".join(lines[2:-1]) + "\n", pathlib.Path(
            f"/proc/{pid}/cgroup").read_text())
        cpus = os.sched_getaffinity(int(pid))
        self.assertEqual(int(lines[-1], 16), sum(1 << c for c in cpus))

    def test_what_cannot_be_a_command(self):
        self.waits()
        self.refused("cannot start /etc: Permission denied", "exec", "j",
                     "--", "/etc", code=126)
        self.refused("longer than", "exec", "j", "--", "echo", "x" * 70000)

    def test_without_words_it_is_a_shell(self):
        self.waits()
        done = self.run_cli("exec", "j", input="echo $0; exit 3\n")
        self.assertEqual((done.returncode, done.stdout), (3, "/bin/bash\n"))

    def test_what_is_wrong(self):
        self.refused("no program listens on", "exec", "j", "--", "true")
        self.assertFalse(self.root.exists())  # it starts no platform
        self.waits(instances=2)
        self.refused("Job", "exec", "nope", "--", "true")
        text = self.refused("has several running tasks: choose one", "exec",
                            "j", "--", "true")
        self.assertIn("    --task a/0  RUNNING\n    --task a/1  RUNNING\n",
                      text)
        text = self.refused("has no task a/2", "exec", "--task", "a/2",
                            "j", "--", "true")
        self.assertIn("--task a/1  RUNNING", text)
        self.refused("a task is ROLE/INDEX", "exec", "--task", "a/x", "j")
        self.refused("put the command after --: ls\n"
                     "  help: openpai exec j -- ls ...", "exec", "j", "ls")
        self.refused("one job is allowed: 1\n"
                     "  help: --task ROLE/1 chooses a task",
                     "exec", "j", "-i", "1", "--", "true")
        self.refused("exclude each other", "exec", "-t", "-i", "j")
        for index in "0", "1":
            self.assertEqual(
                self.ok("exec", "--task", f"a/{index}", "j", "--", "printenv",
                        "PAI_TASK_INDEX", stdin=subprocess.DEVNULL),
                index + "\n")
        self.refused("no sshd", "ssh", "--task", "a/0", "j")
        self.ok("stop", "j")
        self.run_cli("wait", "j")
        self.submit("true", "over")
        self.ok("wait", "over")
        for verb in "exec", "attach", "ssh":
            self.refused("", verb, "over")
        self.assertIn("is over", self.run_cli(
            "exec", "over", stdin=subprocess.DEVNULL).stderr)
        self.refused("~j is running\n    --task a/0  STOPPED\n", "exec", "j",
                     "--", "true")

    def test_the_only_one_that_runs(self):
        self.waits("test $PAI_TASK_INDEX = 1 || exit 0; echo up; sleep 1000",
                   instances=2)
        end = time.monotonic() + 60
        while self.run_cli("exec", "j", "--", "true",
                           stdin=subprocess.DEVNULL).returncode != 0:
            self.assertLess(time.monotonic(), end)
        for task in ([], ["--task", "a"]):
            self.assertEqual(self.ok(
                "exec", "j", *task, "--", "printenv", "PAI_TASK_INDEX",
                stdin=subprocess.DEVNULL), "1\n")

    def test_a_role_as_the_file_spells_it(self):
        file = JOB.format(name="j", instances=1, memory=100, rest="",
                          command=json.dumps("echo up; sleep 1000"))
        self.ok("submit", self.write("j.yaml",
                                     file.replace("  a:", "  Work_A:")))
        process = self.start("logs", "-f", "j")
        process.stdout.readline()
        process.kill()
        for task in "Work_A/0", "worka/0", "Work_A":
            self.assertEqual(self.ok(
                "exec", "j", "--task", task, "--", "printenv",
                "PAI_TASK_INDEX", stdin=subprocess.DEVNULL), "0\n")

    def test_nothing_is_done_to_carriage_returns(self):
        """Of a command without a terminal, whatever the streams are here."""
        self.waits()
        raw = r"printf 'a\nb\rc\r\n'; printf 'e\n\r' >&2"
        done = self.run_cli("exec", "j", "--", "sh", "-c", raw, text=False,
                            stdin=subprocess.DEVNULL)
        self.assertEqual((done.stdout, done.stderr), (b"a\nb\rc\r\n", b"e\n\r"))
        t = Terminal(self, "exec", "-i", "j", "--", "sh", "-c", raw)
        self.assertEqual(t.code(), 0)  # this terminal adds its own
        self.assertEqual(t.shown.replace(b"\r\n", b"\n").replace(b"\r\n", b"\n"),
                         b"a\nb\rc\ne\n\r")

    def test_who_is_killed_ends_it(self):
        self.waits()
        process = self.start("exec", "j", "--", "sh", "-c",
                             "trap '' HUP; echo $$; sleep 999",
                             stdin=subprocess.PIPE)
        first = int(process.stdout.readline())
        polite = self.start("exec", "j", "--", "sh", "-c",
                            "trap 'echo hup > hup; exit' HUP; echo $$; "
                            "while :; do sleep 0.01; done",
                            stdin=subprocess.PIPE)
        second = int(polite.stdout.readline())
        process.kill()
        polite.kill()
        if self.runtime == "process":  # else numbers are the sandbox's
            self.gone(second)
            self.gone(first)
        else:
            while self.ok("exec", "j", "--", "sh", "-c",
                          f"ls -d /proc/{first} /proc/{second} || true",
                          stdin=subprocess.DEVNULL):
                pass
        self.assertEqual((self.folder / "hup").read_text(), "hup\n")
        self.assertIn("RUNNING", self.ok("list"))

    def test_it_outlives_the_platform(self):
        self.waits()
        process = self.start("exec", "j", "--", "sh", "-c",
                             "echo up; read x; echo $x; exit 6",
                             stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "up\n")
        pid = json.loads(self.ok("status", "--json"))["pid"]
        os.kill(pid, signal.SIGKILL)
        self.gone(pid)
        self.assertEqual(process.communicate("on\n")[0], "on\n")
        self.assertEqual(process.returncode, 6)
        self.ok("up")  # which adopts the task
        self.assertEqual(self.ok("exec", "j", "--", "echo", "again",
                                 stdin=subprocess.DEVNULL), "again\n")

    def test_memory_counts(self):
        self.waits(memory=100)
        done = self.run_cli("exec", "j", "--", sys.executable, "-c",
                            "x = b'x' * (400 << 20); input()",
                            stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, (137, 1, 120), done)
        self.assertNotEqual(done.returncode, 0)

    def test_secrets_are_in_no_list(self):
        self.waits()
        process = self.start("exec", "j", "--", "sh", "-c",
                             "echo up; read x", stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "up\n")
        supervisor = re.search(r"supervisor (\d+)", self.status())[1]
        shown = subprocess.run(["ps", "-o", "args", "--ppid", supervisor],
                               capture_output=True, text=True).stdout
        self.assertNotIn("PAI_", shown)
        process.communicate("\n")

    # --- on a terminal ------------------------------------------------------------

    def test_a_shell(self):
        self.waits()
        t = Terminal(self, "exec", "j")
        t.until(r"a shell with a terminal in a/0 of \S+\r\n")
        t.type("PS1='> '; stty size; echo $TERM; tty\n")
        t.until(r"33 101\r\nvt220\r\n/dev/pts/\d+\r\n")
        t.type("sh -c 'trap \"echo go\"t INT; echo re\"\"ady; read x'; "
               "exit 9\n")
        t.until("ready")
        t.type("\x03")
        t.until(r"got\r\n")
        t.type("\n")  # the signal may have come before it read
        self.assertEqual(t.code(), 9)

    def test_one_of_several_is_asked_for(self):
        self.waits(instances=2)
        t = Terminal(self, "exec", "j", "--", "printenv", "PAI_TASK_INDEX")
        t.until(r"several running tasks:\r\n   1  a/0\r\n   2  a/1\r\n"
                r"which task \(1-2\)\? ")
        t.type("2\n")
        t.until(r"\r\n1\r\n")
        self.assertEqual(t.code(), 0)
        for answer, shown in ("a/1", r"\r\n1\r\n"), ("3", "none of the tasks"):
            t = Terminal(self, "exec", "j", "--", "printenv",
                         "PAI_TASK_INDEX")
            t.until(r"which task")
            t.type(answer + "\n")
            t.until(shown)
            self.assertEqual(t.code(), 0 if answer == "a/1" else 125)

    def test_a_terminal_of_another_size(self):
        self.waits()
        t = Terminal(self, "exec", "j", "--", "sh", "-c",
                     "trap 'stty size; exit 5' WINCH; echo ready; "
                     "while :; do sleep 0.01; done")
        t.until("ready")
        t.resize(20, 60)
        t.until("20 60")
        self.assertEqual(t.code(), 5)

    def test_a_terminal_when_both_ends_are(self):
        self.waits()
        test = ["sh", "-c", "test -t 0 && echo tt''y || echo no''ne"]
        t = Terminal(self, "exec", "j", "--", *test)
        t.until("tty")
        self.assertEqual(t.code(), 0)
        t = Terminal(self, "exec", "-i", "j", "--", *test)
        t.until("none")
        self.assertEqual(t.code(), 0)
        self.assertEqual(self.ok("exec", "-t", "j", "--", *test,
                                 stdin=subprocess.DEVNULL), "tty\n")

    def test_a_terminal_that_is_closed_ends_it(self):
        self.waits()
        t = Terminal(self, "exec", "j", "--", "sh", "-c",
                     "trap 'echo hup > hup; exit' HUP; echo up; "
                     "while :; do sleep 0.01; done")
        t.until("up")
        os.kill(t.pid, signal.SIGKILL)
        path = self.folder / "hup"
        end = time.monotonic() + 30
        while not path.exists() or not path.read_text():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    # --- attach -------------------------------------------------------------------

    def test_attach_to_a_pipe(self):
        self.submit("echo up; cat; echo e >&2; exit 4",
                    rest="extras: {openpai: {stdin: true}}")
        self.until_up()
        first = self.start("attach", "j", stdin=subprocess.PIPE)
        self.assertEqual(first.stdout.readline(), "up\n")
        first.stdin.write("one\n")
        first.stdin.flush()
        self.assertEqual(first.stdout.readline(), "one\n")
        first.send_signal(signal.SIGINT)
        first.wait()
        self.assertEqual(first.returncode, 130)
        pid = json.loads(self.ok("status", "--json"))["pid"]
        os.kill(pid, signal.SIGKILL)  # its input is the supervisor's
        self.gone(pid)
        self.ok("up")
        done = self.run_cli("attach", "j", "--tail", "0", input="two\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (4, "two\n", "e\n"))
        self.assertEqual(self.ok("logs", "--log", "stdout", "j"),
                         "up\none\ntwo\n")

    def test_an_orphan_is_no_stream(self):
        """What a command leaves behind does not end the task's input, whatever
        it ends with."""
        self.ok("submit", "--stdin", self.job(
            "echo up; read x; echo got $x"))
        self.until_up("test")
        for code in range(1, 20):
            self.ok("exec", "test", "--", "sh", "-c",
                    f"(exec >&- 2>&-; exit {code}) & exec true")
        done = self.run_cli("attach", "test", input="word\n")
        self.assertIn("got word", done.stdout)

    def test_attach_without_an_input(self):
        fifo = self.fifo()
        self.submit(f"echo up; read x < {fifo}; echo $x")
        self.until_up()
        process = self.start("attach", "j", stdin=subprocess.DEVNULL)
        self.assertEqual(process.stdout.readline(), "up\n")
        self.assertIn("the task has no open standard input",
                      process.stderr.readline())
        self.assertIn("showing its output only", process.stderr.readline())
        self.release(fifo)
        out, _ = process.communicate()
        self.assertEqual((process.returncode, out), (0, "go\n"))

    def test_attach_to_a_terminal(self):
        self.submit("stty -echo; echo up; tty; read x; echo $x; stty size; "
                    "read y; echo $y; exit 3",
                    rest="extras: {openpai: {tty: true}}")
        self.until_up()
        t = Terminal(self, "attach", "j")
        t.until(r"/dev/pts/\d+")
        t.until("Ctrl-P Ctrl-Q detaches")
        t.type("\x10x\n")  # Ctrl-P alone goes on its way
        t.until(r"\x10x\r\n33 101")
        t.type("\x10\x11")
        t.until("detached; task a/0 continues")
        self.assertEqual(t.code(), 0)
        t = Terminal(self, "attach", "j")
        t.until("detaches")
        t.type("bye\n")
        t.until("bye")
        self.assertEqual(t.code(), 3)

    def test_wrong_extras(self):
        path = self.write("bad.yaml", JOB.format(
            name="j", command="x", instances=1, memory=200,
            rest="extras: {openpai: {stdin: 3}}"))
        self.refused("stdin must be true or false", "submit", path, code=1)

    def test_a_size_that_is_written_back(self):
        """As shells do before they prompt: what they read may be old."""
        # No fifo: a sandbox does not see it.  Attached is who gave the size.
        t = Terminal(self, "run", "-t", "--", "sh", "-c",
                     'until [ "$(stty size)" = "33 101" ]; do :; done; '
                     "stty rows 24 columns 80; echo ready; "
                     "read x; stty size; exit 4")
        t.until("ready")
        t.type("\n")
        t.until("33 101")
        self.assertEqual(t.code(), 4)

    def test_run_interactive(self):
        t = Terminal(self, "run", "-t", "--name", "t", "--", "bash", "--norc")
        # The prompt may come before the line that says how to leave.
        t.until("(?s)detaches.*bash-|bash-.*detaches")
        t.type("stty size; exit 4\n")
        t.until("33 101")
        self.assertEqual(t.code(), 4)
        self.refused("jobs with one task", "run", "-i",
                     self.job("true", instances=2))
        self.refused("exclude each other", "run", "-i", "--json", "x")
        self.ok("submit", "--stdin", self.job("echo up; cat"))
        self.until_up("test")
        done = self.run_cli("attach", "test", input="x\n")
        self.assertEqual((done.returncode, done.stdout), (0, "up\nx\n"))

    # --- ssh ----------------------------------------------------------------------

    @unittest.skipUnless(shutil.which("sshd", path="/usr/sbin:/usr/bin") and
                         shutil.which("ssh"), "needs OpenSSH")
    def test_ssh(self):
        self.submit("echo up; sleep 1000", rest="""\
extras:
  com.microsoft.pai.runtimeplugin:
    - {plugin: ssh, parameters: {jobssh: true}}""")
        self.until_up()
        done = self.run_cli("ssh", "j", "--", "echo $USER in; cat; exit 8",
                            input="x\n")
        self.assertEqual(done.returncode, 8, done.stderr)
        self.assertRegex(done.stdout, r"^\w+ in\nx\n$")
        way = json.loads(self.ok("ssh", "--json", "j", "--", "echo", "a b"))
        self.assertEqual(way["command"][0], "ssh")
        self.assertEqual(way["command"][-4:], [way["host"], "--", "echo",
                                               "a b"])
        self.assertIn(str(way["port"]), way["command"])
        done = subprocess.run(way["command"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "a b\n"))


ENGINE = """\
#!/bin/bash
echo "$@" >> {folder}/asked
case $1 in
  run)
    while [ "$1" != -- ]; do shift; done
    shift 2
    exec bash "$@" ;;
  exec)
    shift
    while [ "${{1#--}}" != "$1" ]; do shift; done
    shift
    exec "$@" ;;
  *) echo 4.3.1 ;;
esac
"""


class Early(Tasks, program.RootTest):
    """A task runs, and its supervisor does not listen yet: on a machine that is
    busy that may last for long."""

    def setUp(self):
        super().setUp()
        self.waits("echo up; cat; exit 4",
                   rest="extras: {openpai: {stdin: true}}")
        self.door, self.away = self.dir() / "enter", self.dir() / "away"
        self.door.rename(self.away)

    def test_the_input_comes_late(self):
        """Who leaves before is not kept."""
        both = [self.start("attach", "j", stdin=subprocess.PIPE)
                for _ in range(2)]
        for process in both:
            self.assertEqual(process.stdout.readline(), "up\n")
            self.assertIn("has just started", process.stderr.readline())
        both[0].send_signal(signal.SIGINT)
        self.assertEqual(both[0].wait(60), 130)
        self.away.rename(self.door)
        self.assertEqual(both[1].communicate("late\n", timeout=60),
                         ("late\n", ""))
        self.assertEqual(both[1].returncode, 4)

    def test_ctrl_c_between_two_tries(self):
        process = self.start("exec", "j", "--", "true",
                             stdin=subprocess.DEVNULL)
        self.until_heeded(process.pid, signal.SIGINT)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)

    def until_heeded(self, pid, number):
        """Waits until a process has a handler for a signal."""
        end = time.monotonic() + 60
        while True:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
            if caught & 1 << number - 1:
                return
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)


class Container(Exec):
    """Commands go where an engine, which is played, has its container."""
    runtime = "podman"

    def setUp(self):
        super().setUp()
        engine = self.folder / "bin" / "podman"
        engine.parent.mkdir()
        engine.write_text(ENGINE.format(folder=self.folder))
        engine.chmod(0o755)
        self.env["PATH"] = f"{engine.parent}:{self.env['PATH']}"

    def test_the_engine_is_asked(self):
        self.waits()
        done = self.run_cli("exec", "j", "--", "sh", "-c", "cat; exit 5",
                            input="x\n")
        self.assertEqual((done.returncode, done.stdout), (5, "x\n"))
        asked = (self.folder / "asked").read_text()
        self.assertRegex(asked, r"(?m)^exec --interactive openpai-\w+ sh -c")
        self.assertEqual(self.run_cli("exec", "-t", "j", "--", "test", "-t",
                                      "0", stdin=subprocess.DEVNULL
                                      ).returncode, 0)
        asked = (self.folder / "asked").read_text()
        self.assertRegex(asked, r"(?m)^exec --interactive --tty openpai-\w+ te")
        done = self.run_cli("exec", "j", input="echo $BASH\n")
        self.assertRegex(done.stdout, "/bash\n")


for name in dir(Exec):  # the engine that is played is none for all of them
    if name.startswith("test_") and name not in vars(Container):
        setattr(Container, name, None)


@unittest.skipUnless(program.bubblewrap_works(), "needs bubblewrap")
class Sandbox(Exec):
    """The same where tasks have a /tmp and process numbers of their own."""
    runtime = "auto"

    def test_it_sees_what_the_task_sees(self):
        self.submit("echo secret > /tmp/mine; echo up; sleep 1000")
        self.until_up()
        self.assertEqual(self.ok("exec", "j", "--", "cat", "/tmp/mine",
                                 stdin=subprocess.DEVNULL), "secret\n")
        shown = self.ok("exec", "j", "--", "sh", "-c",
                        "ls /proc | grep -c '^[0-9]'; "
                        "grep NoNewPrivs /proc/self/status /proc/2/status",
                        stdin=subprocess.DEVNULL).splitlines()
        self.assertLess(int(shown[0]), 10)
        self.assertEqual(shown[1].split()[1], shown[2].split()[1])


if __name__ == "__main__":
    program.main(sys.argv[2:])
