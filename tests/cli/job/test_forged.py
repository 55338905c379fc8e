"""What a task writes into its own folder is not taken for the platform's."""

import json
import os
import pathlib
import shlex
import signal
import subprocess

import program
from entered import Tasks

# A task that says of itself that it is over, that it never ran, or that another
# process is its supervisor, and listens where that one does.
FORGE = """
import os, pathlib, signal, socket, sys
folder = pathlib.Path(os.environ["RUNTIME_LOG_PIPE"]).parent
os.chdir(folder)
for name in "status", "enter":
    if os.path.lexists(name):
        os.unlink(name)
pathlib.Path("status").write_text(sys.argv[1])
door = socket.socket(socket.AF_UNIX)
door.bind("enter")
door.listen()
print("up", flush=True)
with open(sys.argv[2]) as gate:
    gate.readline()
sys.exit(5)
"""


class Forged(Tasks, program.RootTest):
    def name(self, pid):
        """What a supervisor with that number would write."""
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        ticks = stat.rpartition(") ")[2].split()[19]
        return f"supervisor {pid} {ticks} {boot.strip()}\nstarted 1 1 {pid}\n"

    def killed(self):
        """The platform is killed, and another one started."""
        pid = json.loads(self.ok("status", "--json"))["pid"]
        os.kill(pid, signal.SIGKILL)
        self.gone(pid)
        self.ok("up")

    def test_a_platform_that_was_killed_learns_the_truth(self):
        victim = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        name = self.name(victim.pid)
        script = self.write("forge.py", FORGE)
        gate = self.fifo()
        for i, text in enumerate(("never\n", name,
                                  name + "exit 0 1 1 1 1 0 0\n",
                                  name + "failed 126 1 1 1 1 0 28\n")):
            job = f"j{i}"
            self.waits(f"python3 {script} {shlex.quote(text)} {gate}", job)
            self.killed()
            self.assertIn("RUNNING", self.ok("list"), text)
            # Nor is it entered by a socket of its own.
            self.refused("is not its supervisor", "exec", job, "--", "true")
            self.release(gate)
            self.assertEqual(self.run_cli("wait", job).returncode, 5, text)
        self.assertIsNone(victim.poll())

    def test_a_task_is_stopped_whatever_it_says(self):
        victim = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        script = self.write("forge.py", FORGE)
        name = self.name(victim.pid)
        self.waits(f"python3 {script} {shlex.quote(name)} {self.fifo()}")
        task = int(self.status().split()[5])
        self.killed()
        self.ok("stop", "j")
        self.gone(task)
        self.assertIsNone(victim.poll())
