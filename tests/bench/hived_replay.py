"""openpai-bench hived-replay: argv[1] is openpai-bench."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.abspath(sys.argv.pop(1))

CONFIG = """\
physicalCluster:
  cellTypes:
    N: {childCellType: G, childCellNumber: 2, isNodeLevel: true}
  physicalCells: [{cellType: N, cellAddress: n0}]
virtualClusters:
  a: {virtualCells: [{cellType: N, cellNumber: 1}]}
"""


def steps(node):
    bind = {"kind": "bind", "node": node, "leafCells": [0], "chain": "N",
            "group": [[{"node": node, "idx": [0], "type": "N"}]]}
    return "\n".join(json.dumps(step) for step in [
        {"case": "c", "step": 0, "op": "init", "config": "one.yaml"},
        {"step": 1, "op": "nodes_healthy"},
        {"step": 2, "op": "schedule", "pod": "p", "phase": "Filtering",
         "suggested": "all",
         "spec": {"virtualCluster": "a", "leafCellNumber": 1},
         "expect": bind},
        {"step": 3, "op": "add", "pod": "p"},
    ]) + "\n"


class ReplayTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("config", "traces", "other"):
            os.mkdir(self.folder / name)
        self.write("config/one.yaml", CONFIG)
        self.good = self.write("good.jsonl", steps("n0"))
        self.bad = self.write("traces/bad.jsonl", steps("n1"))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def replay(self, *words):
        return subprocess.run([BENCH, "hived-replay", *words], text=True,
                              capture_output=True, check=False)

    def test_agrees(self):
        done = self.replay(self.good)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[:3] for line in
                          done.stdout.splitlines()],
                         [["done", "0", "init"], ["done", "1", "nodes_healthy"],
                          ["agrees", "2", "schedule"], ["done", "3", "add"]])
        self.assertEqual(done.stderr, "")

    def test_differs(self):
        """Of two files; the configuration lies beside the second's folder."""
        done = self.replay(self.good, self.bad)
        self.assertEqual(done.returncode, 1)
        self.assertIn("differs          2  schedule p: /group/0/0/node: want "
                      "n1, got n0", done.stdout)

    def test_json(self):
        done = self.replay("--json", self.bad)
        self.assertEqual(done.returncode, 1)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(found[2], {
            "file": self.bad, "line": 3, "step": 2, "case": "c", "op": "schedule",
            "subject": "p", "verdict": "differs",
            "place": "/group/0/0/node", "want": "n1", "got": "n0"})

    def test_config_dir(self):
        done = self.replay("--config-dir", str(self.folder / "config"),
                           self.good)
        self.assertEqual(done.returncode, 0)
        done = self.replay("--config-dir", str(self.folder / "other"),
                           self.good)
        self.assertEqual(done.returncode, 1)
        self.assertIn("good.jsonl:1: error: there is no configuration "
                      "'one.yaml'\n  help: it is not in ", done.stderr)
        os.mkdir(self.folder / "other" / "one.yaml")
        done = self.replay("--config-dir", str(self.folder / "other"),
                           self.good)
        self.assertIn("configuration 'one.yaml' cannot be read\n  help: "
                      "cannot read ", done.stderr)
        alone = self.write("other/alone.jsonl", steps("n0"))
        os.rename(self.folder / "config", self.folder / "elsewhere")
        self.assertIn("--config-dir names another folder",
                      self.replay(alone).stderr)

    def test_other_files(self):
        """What is no record is told, and who reads it."""
        for text, said in (
                ("", "has no steps"), (" \n\n", "has no steps"),
                (CONFIG, "openpai cluster check"),
                ('{"snapshot":1}\n', "`openpai sched replay` reads it"),
                ('{"op":"submit","g":"g0"}\n', "seems to be a workload"),
                ('{"protocolVersion":2}\n', "seems to be a job"),
                ("[\n1]\n", "one JSON object a line"),
                ("name: x\n", "one step a line, in JSON"),
                ("{}{\0\0", "it is no text")):
            with self.subTest(said):
                done = self.replay(self.write("what", text))
                self.assertEqual(done.returncode, 1)
                self.assertIn(said, done.stderr)

    def test_wrong_lines(self):
        """The line, and of a configuration its own place, too."""
        self.write("config/broken.yaml", "physicalCluster: [")
        first = steps("n0").splitlines()[0]
        for line, said in (
                (first.replace("one.", "broken."),
                 "error: configuration broken.yaml:1:"),
                (first.replace("one.", "../"), "without its folder"),
                ('{"op":"shedule"}', "did you mean 'schedule'?"),
                ('{"op":"delete","pod":"q"}', "was not there before"),
                ('{"op":"add","pod":"q"}', "needs \"spec\" and")):
            with self.subTest(said):
                done = self.replay(self.write(
                    "wrong.jsonl", "\n" + first + "\n" + line + "\n"))
                self.assertEqual(done.returncode, 1)
                self.assertIn("wrong.jsonl:3: error: ", done.stderr)
                self.assertIn(said, done.stderr)

    def test_lines_without_numbers(self):
        """Steps are called by their lines then."""
        text = steps("n0").replace('"step": 2, ', "")
        done = self.replay(self.write("bare.jsonl", "\n" + text))
        lines = [line.split()[:3] for line in done.stdout.splitlines()]
        self.assertEqual(lines[2], ["agrees", "4", "schedule"])
        self.assertIn("init one.yaml of c", done.stdout)

    def test_wrong(self):
        self.assertEqual(self.replay().returncode, 2)
        self.assertEqual(self.replay("--what", self.good).returncode, 2)
        self.assertIn("--config-dir DIR", self.replay("--help").stdout)
        done = self.replay(str(self.folder / "none"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read", done.stderr)
        done = self.replay(self.write("bad.jsonl", "\n{]\n"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.jsonl:2: error: expected a key", done.stderr)


if __name__ == "__main__":
    unittest.main()
