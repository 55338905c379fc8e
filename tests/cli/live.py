"""A job's tasks on a terminal, for tests; their argv[2] is a library that plays NVML,
argv[3] one that makes a machine large."""

import json
import os
import re
import shutil
import sys
import time

import program
import terminal

FAKE_NVML, FAKE_MACHINE = map(os.path.abspath, sys.argv[2:4])
STYLE = re.compile(r"\033\[[\d;]*m")

JOB = """\
protocolVersion: 2
name: test
type: job
{more}
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
taskRoles:
  worker:
    instances: {instances}
    dockerImage: x
    completion: {{minFailedInstances: {fail}, minSucceededInstances: {instances}}}
    resourcePerInstance: {{cpu: 0, memoryMB: 20, gpu: {gpus}}}
    commands:
      - {command}
"""


class LiveTest(program.RootTest):
    def setUp(self):
        super().setUp()
        self.env["TERM"] = "xterm"
        self.env.pop("NO_COLOR", None)

    def tasks(self, command, instances=2, gpus=0, more="", fail=-1):
        return self.write("tasks.yaml", JOB.format(
            command=json.dumps(command), instances=instances, gpus=gpus,
            more=more, fail=fail))

    def open(self, *args, **size):
        return terminal.Terminal(self.env, *args, **size)

    def waits(self, before="true", **how):
        """A job whose tasks wait, and the fifo at which they do."""
        gate = self.fifo()
        return gate, self.tasks(f"{before}; read x < {gate}", **how)

    def let_go(self, gate, tasks=2):
        """Each reads a line of it: all at once, for none is to be missed."""
        fd = os.open(gate, os.O_RDWR)
        self.addCleanup(os.close, fd)
        os.write(fd, b"go\n" * tasks)

    def given_back(self, shown, code=0):
        """It ends so, and the terminal is as it was."""
        while shown.read():
            pass
        self.assertTrue(shown.screen.modes[25] and shown.screen.modes[7])
        self.assertTrue(shown.shows_keys())
        self.assertEqual(shown.end(), code, shown.text)
        self.assertNotRegex("\n".join(shown.screen.all), r"worker/\d|done: ")
        return shown.screen.all

    def until_running(self):
        end = time.monotonic() + 100
        while "RUNNING  " not in self.ok("top", "test"):
            self.assertLess(time.monotonic(), end, self.ok("top", "test"))
            time.sleep(0.05)

    def has_gpus(self, lines, count, memory):
        """Their numbers, of each of two tasks.  Which they are is not ours to
        say: other platforms of this machine may have some."""
        tasks = []
        for gpus, least, most in re.findall(
                rf"RUNNING +\d+s +([\d,-]+) +(\d+)-(\d+)% +0 B of {memory} ",
                lines):
            its = []
            for part in gpus.split(","):
                first, _, last = part.partition("-")
                its += range(int(first), int(last or first) + 1)
            self.assertEqual(len(its), count, lines)
            self.assertEqual((int(least), int(most)),
                             (90 + min(its), 90 + max(its)), lines)
            tasks.append(its)
        self.assertEqual(len(tasks), 2, lines)
        self.assertFalse(set(tasks[0]) & set(tasks[1]), lines)
        return tasks

    def large_machine(self):
        for file, name in ((FAKE_NVML, "libnvidia-ml.so.1"),
                           (FAKE_MACHINE, "fake_machine.so")):
            shutil.copy(file, self.folder / name)
        self.env.update(LD_LIBRARY_PATH=str(self.folder), FAKE_NVML="8 idle",
                        LD_PRELOAD=str(self.folder / "fake_machine.so"))
        if "verify_asan_link_order" not in self.env.get("ASAN_OPTIONS", ""):
            self.env["ASAN_OPTIONS"] = ":".join(filter(None, [
                self.env.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
