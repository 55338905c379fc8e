"""What tests of the ways into a task share, be it near or far."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import program

JOB = """\
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
taskRoles:
  a:
    instances: {instances}
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: {memory}, gpu: 0}}
    commands:
      - {command}
{rest}
"""


class Terminal:
    """An openpai on a terminal of its own."""

    def __init__(self, test, *args, rows=33, columns=101):
        self.shown = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(program.OPENPAI, [program.OPENPAI, *args],
                      dict(test.env, TERM="vt220"))
        test.addCleanup(self.end)

    def end(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def until(self, pattern):
        """What it has shown, up to this; from there on next time."""
        end = time.monotonic() + 100
        while not (found := re.search(pattern.encode(), self.shown)):
            left = end - time.monotonic()
            if left < 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError((pattern, self.shown))
            some = program.read_terminal(self.fd)
            if not some:
                raise AssertionError((pattern, self.shown))
            self.shown += some
        self.shown = self.shown[found.end():]
        return found

    def code(self):
        while select.select([self.fd], [], [], 100)[0]:
            some = program.read_terminal(self.fd)
            if not some:
                break
            self.shown += some
        else:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        status = os.waitpid(self.pid, 0)[1]
        self.pid = 0
        return os.waitstatus_to_exitcode(status)


class Tasks:
    """For a program.RootTest: tasks that can be entered."""

    def refused(self, part, *args, code=125):
        return super().refused(code, part, *args, stdin=subprocess.DEVNULL)

    def submit(self, command, name="j", instances=1, memory=200, rest=""):
        path = self.write(name + ".yaml", JOB.format(
            name=name, command=json.dumps(command), instances=instances,
            memory=memory, rest=rest))
        self.ok("submit", path)

    def waits(self, command="echo up; sleep 1000", name="j", **kwargs):
        """A job that has printed "up" and waits."""
        self.submit(command, name, **kwargs)
        self.until_up(name, kwargs.get("instances", 1))

    def until_up(self, name="j", tasks=1):
        super().until_up(name, tasks)

    def dir(self, name="j", task="a-0"):
        return next((self.root / "jobs").glob(f"*~{name}/0/{task}"))

    def status(self):
        """What the supervisor of that job's task says."""
        return (self.root / "own" / self.dir().relative_to(self.root) /
                "status").read_text()

    def gone(self, pid):
        """Waits until a process is no more."""
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        self.assertTrue(select.select([fd], [], [], 30)[0], pid)
        os.close(fd)


class Entered(Tasks):
    """What holds wherever the task is."""

    def test_streams_and_codes(self):
        self.waits()
        done = self.run_cli("exec", "j", "--", "sh", "-c",
                            "cat; echo err >&2; exit 7", input="in\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (7, "in\n", "err\n"))
        for words, code in (["sh", "-c", "kill -9 $$"], 137), \
                           (["sh", "-c", "kill -TERM $$"], 143), \
                           (["false"], 1):
            done = self.run_cli("exec", "j", "--", *words,
                                stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, words)
        self.refused("cannot start no-such: No such file", "exec", "j", "--",
                     "no-such", code=127)
        done = self.run_cli("exec", "--json", "j", "--", "sh", "-c",
                            "echo a; exit 2", stdin=subprocess.DEVNULL)
        self.assertEqual(
            [json.loads(line) for line in done.stdout.splitlines()],
            [{"event": "output", "stream": "stdout", "text": "a\n"},
             {"event": "end", "how": "exit", "code": 2, "text": ""}])

    def test_much_comes_back(self):
        self.waits()
        big = bytes(range(256)) * 40000
        done = self.run_cli("exec", "j", "--", "cat", input=big, text=False)
        self.assertEqual((done.returncode, len(done.stdout)), (0, len(big)))
        self.assertEqual(done.stdout, big)
        done = self.run_cli("exec", "j", "--", "true", input=big, text=False)
        self.assertEqual(done.returncode, 0)  # nobody reads it

    def test_ctrl_c_without_a_terminal(self):
        self.waits()
        process = self.start("exec", "j", "--", "sh", "-c",
                             "trap 'echo int; exit 5' INT; echo up; "
                             "while :; do sleep 0.01; done",
                             stdin=subprocess.DEVNULL)
        self.assertEqual(process.stdout.readline(), "up\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate()[0], "int\n")
        self.assertEqual(process.returncode, 5)

    def test_it_ends_with_the_task(self):
        self.waits()
        process = self.start("exec", "j", "--", "sh", "-c",
                             "trap '' TERM; echo up; while :; do sleep 1; done",
                             stdin=subprocess.DEVNULL)
        self.assertEqual(process.stdout.readline(), "up\n")
        self.ok("stop", "j")
        said = process.communicate()[1]
        self.assertEqual(process.returncode, 137, said)
        # In a sandbox the command may be the first to know: then it was killed,
        # which the code says.
        self.assertIn("has ended" if said else "", said)
        self.run_cli("wait", "j")
        self.assertFalse((self.dir() / "enter").exists())

    def test_a_job_with_its_input_here(self):
        done = self.run_cli("run", "-i", "--", "sh", "-c", "sort; exit 3",
                            input="b\na\n")
        self.assertEqual((done.returncode, done.stdout), (3, "a\nb\n"),
                         done.stderr)
