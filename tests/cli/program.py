"""What the tests of the program share: argv[1] is openpai."""

import contextlib
import errno
import faulthandler
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import answers

OPENPAI = os.path.abspath(sys.argv[1])

JOB = """\
protocolVersion: 2
name: test
type: job
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
taskRoles:
  a:
    instances: {instances}
    dockerImage: x
    resourcePerInstance: {{cpu: {cpu}, memoryMB: 200, gpu: 0}}
    commands:
      - {command}
"""


def bubblewrap_works():
    """Whether tasks can have a sandbox here."""
    try:
        return subprocess.run(
            ["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "true"],
            capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def end_tasks(root):
    """Ends what a platform has left running when a test ended it."""
    mark = f"RUNTIME_LOG_PIPE={root}/".encode()
    for environ in pathlib.Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in environ.read_bytes():
                os.kill(int(environ.parent.name), signal.SIGKILL)


def files_below(folder):
    """Paths of all files there.  Path.rglob() fails where a folder is removed
    meanwhile, as tasks that have just ended do."""
    for path, _, names in os.walk(folder):
        for name in names:
            yield pathlib.Path(path, name)


def bytes_below(folder):
    """Each file there with its content, but those that are removed meanwhile."""
    for file in files_below(folder):
        with contextlib.suppress(FileNotFoundError):
            if file.is_file():
                yield file, file.read_bytes()


def read_terminal(fd):
    """What a program has written on a terminal; b"" after its end.

    The kernel looks for output first, then whether the other end is closed:
    what was written last, in between, comes only with another read.
    """
    for _ in range(2):
        try:
            return os.read(fd, 65536)
        except OSError as e:
            if e.errno != errno.EIO:
                raise
    return b""


def read_terminal_until(fd, text):
    """What it has written when that has come."""
    shown = b""
    while text not in shown:
        some = read_terminal(fd)
        if not some:
            raise AssertionError((text, shown))
        shown += some
    return shown


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Programs run in this folder: under /tmp a task sees no other.
        self.env = dict(os.environ, XDG_STATE_HOME=str(self.folder / "state"),
                        XDG_CONFIG_HOME=str(self.folder / "config"))
        for name in ("OPENPAI_ROOT", "OPENPAI_CLUSTER", "OPENPAI_TOKEN"):
            self.env.pop(name, None)
        self.addCleanup(self.end_platforms)

    def end_platforms(self):
        """Ends those that tests have started, with their tasks."""
        for lock in list(files_below(self.folder)):
            if lock.name == "lock":
                self.run_cli("down", "--kill", "--quiet", "--root",
                             str(lock.parent))
                end_tasks(lock.parent)

    def job(self, command, instances=1, cpu=1, retries=0):
        path = self.folder / "job.yaml"
        path.write_text(JOB.format(command=json.dumps(command),
                                   instances=instances, cpu=cpu)
                        + (f"jobRetryCount: {retries}\n" if retries else ""))
        return str(path)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def fifo(self, name="fifo"):
        """Its path, for a task that waits until release()."""
        path = self.folder / name
        os.mkfifo(path)
        return path

    def release(self, fifo):
        """Lets a task go on that reads a line of `fifo`."""
        fd = os.open(fifo, os.O_RDWR)  # waits for no reader
        self.addCleanup(os.close, fd)
        os.write(fd, b"go\n")

    def run_cli(self, *args, **kwargs):
        """An openpai that has ended, with what it wrote."""
        kwargs = {"cwd": self.folder, "stdout": subprocess.PIPE,
                  "stderr": subprocess.PIPE, "text": True, **kwargs}
        return subprocess.run([OPENPAI, *args], env=self.env, timeout=60,
                              **kwargs)

    def refused(self, code, part, *args, **kwargs):
        """What an openpai says that ends with this code and prints nothing."""
        done = self.run_cli(*args, **kwargs)
        self.assertEqual((done.returncode, done.stdout), (code, ""),
                         (args, done.stderr))
        self.assertIn(part, done.stderr)
        return done.stderr

    def start(self, *args, **kwargs):
        """A running openpai whose stdout is a pipe."""
        kwargs = {"cwd": self.folder, "stdout": subprocess.PIPE,
                  "stderr": subprocess.PIPE, **kwargs}
        process = subprocess.Popen([OPENPAI, *args], env=self.env, text=True,
                                   **kwargs)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        if args[0] in ("serve", "up"):  # killed, it leaves its tasks
            self.addCleanup(self.end_platforms)
        return process

    document = None  # of the API, when a server was asked

    def described(self, method, path, status, kind, text):
        """An answer is as the document of the API says."""
        if self.document is None:
            self.document = answers.Document.at(self.root / "socket")
        self.document.check(method, path, status, kind or "", text)

    def on_terminal(self, *args, code=0):
        """What an openpai has shown that ends with `code`."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(OPENPAI, [OPENPAI, *args], self.env)
        shown = b""
        while chunk := read_terminal(fd):
            shown += chunk
        os.close(fd)
        status = os.waitpid(pid, 0)[1]
        self.assertEqual(os.waitstatus_to_exitcode(status), code)
        return shown.decode()


class RootTest(ProgramTest):
    """Whose platform has a root of its own."""
    runtime = "process"  # of tasks; None: as it is without being said

    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        self.env["OPENPAI_ROOT"] = str(self.root)
        self.env.pop("OPENPAI_RUNTIME", None)
        if self.runtime is not None:
            self.env["OPENPAI_RUNTIME"] = self.runtime

    def ok(self, *args, **kwargs):
        """What an openpai that succeeds has printed."""
        done = self.run_cli(*args, **kwargs)
        self.assertEqual(done.returncode, 0, (args, done.stdout, done.stderr))
        return done.stdout

    def until(self, what):
        """Until `what` holds; a test that waits for ever is a failure."""
        end = time.monotonic() + 50
        while not what():
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.05)

    def until_up(self, name="test", tasks=1):
        """Until a task of a job has printed that, and so many have begun.
        A task may print before the platform has heard that it runs."""
        process = self.start("logs", "-f", name)
        self.assertRegex(process.stdout.readline(), r"^(.* \| )?up\r?\n")
        process.kill()
        while self.begun(name) < tasks:
            pass

    def begun(self, name):
        roles = json.loads(self.ok("show", "--json", name))["taskRoles"]
        return sum(task["taskState"] != "WAITING" for role in roles.values()
                   for task in role["taskStatuses"])


def main(classes=()):
    """Runs all, or only those classes."""
    # A test that hangs says where, before ctest ends it.
    faulthandler.dump_traceback_later(580, exit=True)
    unittest.main(argv=[*sys.argv[:1], *classes])
