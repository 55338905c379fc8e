"""Neovim with its own client of the protocol, on `openpai helper`."""

import json
import pathlib
import shutil
import subprocess
import unittest

import program

HERE = pathlib.Path(__file__).parent
JOB = """\
protocolVersion: 2
name: test
type: job
prerequisites: [{name: x, type: dockerimage, uri: x}]
taskRoles:
  worker:
    instances: 1
    dockerImage: x
    resourcePerInstance: {cpu: 1, memoryMB: 200, gpu: 0}
    comands:
      - echo $PAI_HOST_IP_worker_0
"""


@unittest.skipUnless(shutil.which("nvim"),
                     "SKIPPED: nvim is not installed (apt install neovim)")
class Neovim(program.ProgramTest):
    def test_a_person_edits_a_job(self):
        path = self.write("job.yaml", JOB)
        out = self.folder / "seen"
        script = "".join(f"arg_{name} = {json.dumps(str(value))}\n"
                         for name, value in (("program", program.OPENPAI),
                                             ("path", path), ("out", out)))
        script += (HERE / "neovim.lua").read_text()
        done = subprocess.run(
            ["nvim", "--headless", "--clean", "-u", "NONE", "-n", "-c",
             "luafile " + self.write("test.lua", script)],
            env=dict(self.env, HOME=str(self.folder)), cwd=self.folder,
            timeout=120, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = out.read_text().split("\n")
        self.assertEqual(seen, ["ok", "5:2 missing-key", "9:4 unknown-key",
                                "completion true",
                                "rename 11", ""], done.stderr)
