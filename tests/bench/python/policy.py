"""A policy in Python against the same one in C, in one simulation: a trace on
1,000 nodes.  It reads no more than who waits.

Usage: policy.py FOLDER-OF-CROSSING PLUG-IN [JOBS]; as a test, of few jobs.  The goal is a ratio of
5 at most.  The reports of both have to be the same.
"""
import json
import os
import pathlib
import sys
import tempfile
import time

import openpai

sys.path.insert(0, sys.argv[1])
import crossing  # noqa: E402

PLUGIN = os.path.abspath(sys.argv[2])
JOBS = int(sys.argv[3]) if len(sys.argv) > 3 else 500
NODES = "nodes:1000 gpu:8 cpus:64 mem:512G"
ROUNDS = 5
GOAL = 5.0


class Strict:
    """First come, first served; who has no room holds up all others."""
    name = "strict"

    def decide(self, host):
        for id in host.waiting():
            if not host.start(id):
                break


def in_c(trace):
    return crossing.simulate(PLUGIN, NODES, str(trace))


def in_python(trace):
    return openpai.simulate(openpai.Cluster.synthetic(NODES), trace,
                            Strict).to_json()


def main():
    best, reports = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.jsonl")
        openpai.Trace.generate(JOBS, seed=1, gpus=8000).write(trace)
        for _ in range(ROUNDS):
            for way in in_c, in_python:
                start = time.process_time_ns()
                reports[way] = json.loads(way(trace))
                spent = (time.process_time_ns() - start) / JOBS / 1e3
                best[way] = min(spent, best.get(way, spent))
    if reports[in_c] != reports[in_python]:
        sys.exit("in C: %s\nin Python: %s" % tuple(reports.values()))
    ratio = best[in_python] / best[in_c]
    print("%d jobs: C %.1f µs a job, Python %.1f: %.2f times%s" % (
        JOBS, best[in_c], best[in_python], ratio,
        "" if ratio <= GOAL else "  missed"))


main()
