"""openpai sched hived-replay."""

import json
import os
import sys

import program

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


class ReplayTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        for name in ("config", "traces", "other"):
            os.mkdir(self.folder / name)
        self.write("config/one.yaml", CONFIG)
        self.good = self.write("good.jsonl", steps("n0"))
        self.bad = self.write("traces/bad.jsonl", steps("n1"))

    def replay(self, *words):
        return self.run_cli("sched", "hived-replay", *words)

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
            "file": self.bad, "step": 2, "case": "c", "op": "schedule",
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
                      "'one.yaml'", done.stderr)

    def test_wrong(self):
        self.assertEqual(self.replay().returncode, 2)
        self.assertEqual(self.replay("--what", self.good).returncode, 2)
        done = self.replay(str(self.folder / "none"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read", done.stderr)
        done = self.replay(self.write("bad.jsonl", "\n{]\n"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.jsonl:2: error: expected a key", done.stderr)
        self.assertEqual(self.run_cli("sched").returncode, 2)
        self.assertEqual(self.run_cli("sched", "dance").returncode, 2)


if __name__ == "__main__":
    program.main()
