"""What the tests of the program share: argv[1] is openpai."""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

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
    resourcePerInstance: {{cpu: {cpu}, memoryMB: 1, gpu: 0}}
    commands:
      - {command}
"""


class ProgramTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.env = dict(os.environ, XDG_STATE_HOME=str(self.folder / "state"))

    def job(self, command, instances=1, cpu=1):
        path = self.folder / "job.yaml"
        path.write_text(JOB.format(command=json.dumps(command),
                                   instances=instances, cpu=cpu))
        return str(path)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def fifo(self):
        """Its path, for a task that waits until release()."""
        path = self.folder / "fifo"
        os.mkfifo(path)
        return path

    def release(self, fifo):
        """Lets a task go on that reads a line of `fifo`."""
        fd = os.open(fifo, os.O_RDWR)  # waits for no reader
        self.addCleanup(os.close, fd)
        os.write(fd, b"go\n")

    def run_cli(self, *args, **kwargs):
        """An openpai that has ended, with what it wrote."""
        kwargs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                  **kwargs}
        return subprocess.run([OPENPAI, *args], env=self.env, text=True,
                              timeout=60, **kwargs)

    def start(self, *args, **kwargs):
        """A running openpai whose stdout is a pipe."""
        kwargs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                  **kwargs}
        process = subprocess.Popen([OPENPAI, *args], env=self.env, text=True,
                                   **kwargs)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def on_terminal(self, *args, code=0):
        """What an openpai has shown that ends with `code`."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(OPENPAI, [OPENPAI, *args], self.env)
        shown = b""
        try:
            while chunk := os.read(fd, 65536):
                shown += chunk
        except OSError:
            pass  # the other end is closed
        os.close(fd)
        status = os.waitpid(pid, 0)[1]
        self.assertEqual(os.waitstatus_to_exitcode(status), code)
        return shown.decode()


def main():
    unittest.main(argv=sys.argv[:1])
