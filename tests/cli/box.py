"""A user's platform, as tests of its verbs have it."""

import json
import pathlib

import program


class BoxTest(program.RootTest):
    def pid(self):
        return json.loads(self.ok("status", "--json"))["pid"]

    def lives(self, pid):
        """Whether a process is there, and no zombie."""
        try:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        return stat.rpartition(") ")[2][0] != "Z"

    def waits(self):
        """A job that prints "up" and then waits for release(self.gate)."""
        self.gate = self.fifo()
        return self.job(f"echo up; read -r x <{self.gate}; echo $x; exit 3")
