"""A person's hour: a sweep of 30 small jobs, watched, corrected, harvested and
cleaned up, in the commands of the guide's first page."""

import pathlib
import re
import subprocess
import sys

import program
from box import BoxTest

GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs/guide/first-job.md"

TRAIN = """\
import pathlib, sys
lr = int(sys.argv[1])
loss = (lr - 12) ** 2 / 100 + 0.5
pathlib.Path("model.txt").write_text(f"{lr}")
print("loss", loss)
"""


class Hour(BoxTest):
    def commands(self):
        """Those of the guide, as they stand there."""
        text = GUIDE.read_text().split("## A sweep")[1]
        return re.findall(r"^    \$ (.*?)(?:\s{2,}#.*)?$", text, re.M)

    def test_the_hour(self):
        commands = self.commands()
        self.assertLessEqual(len(commands), 10)
        self.assertLessEqual(sum(map(len, commands)), 260, commands)
        work, tools = self.folder / "work", self.folder / "bin"
        work.mkdir()
        tools.mkdir()
        (work / "train.py").write_text(TRAIN)
        (tools / "openpai").symlink_to(program.OPENPAI)
        (tools / "python").symlink_to(sys.executable)
        self.env["PATH"] = f"{tools}:{self.env['PATH']}"
        for command in commands:
            if "top" in command:
                continue  # it is looked at
            done = subprocess.run(["bash", "-c", command], cwd=work,
                                  env=self.env, capture_output=True,
                                  text=True, timeout=120)
            if "wait" not in command:  # which fails with those stopped
                self.assertEqual(done.returncode, 0,
                                 (command, done.stdout, done.stderr))
            if "logs" in command:
                self.assertEqual(done.stdout, "train_12/main[0] | loss 0.5\n")
        self.assertEqual((work / "model.txt").read_text(), "12")
        self.assertEqual(self.run_cli("list").stderr, "no jobs\n")
