"""The benchmarks of the single box run, say JSON, and leave nothing behind."""

import json
import os
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    def run(*words):
        out = subprocess.check_output(
            [sys.argv[1], *words], text=True,
            env=dict(os.environ, TMPDIR=folder))
        assert os.listdir(folder) == [], (words, os.listdir(folder))
        return [json.loads(line) for line in out.splitlines()]

    lines = run("platform-rate", "--json", "8", "process")
    assert [x["name"][len("platform-process"):] for x in lines] == \
        ["", "-1g", "-1g-falls", "-started", "-started-alone", "-memory"]
    assert all(x["ours_ns"] > 0 and x["ratio"] > 0 for x in lines[:3]), lines
    assert all(0 < x["value"] < 1e6 for x in lines[3:]), lines
    # Of the others of api-rate each takes a while: a hundred thousand jobs.
    lines = run("api-rate", "--json", "--only", "rates", "0.1")
    assert len(lines) == 12, lines
    assert all(x["ours_ns"] > 0 and x["baseline_ns"] > 0 for x in lines), lines
    lines = run("api-rate", "--json", "--only", "submits", "0.1")
    assert [x["name"] for x in lines] == \
        ["api-submits-of-fdatasync", "api-submits-of-groups",
         "api-submits-cpu"], lines
