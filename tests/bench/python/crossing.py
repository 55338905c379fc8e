"""What a call into the library costs: through the Python module as users call
it, and through an extension by hand that does no more than it must.

Usage: crossing.py FOLDER-OF-THE-EXTENSION [CALLS]; as a test, of few calls.
The goal is a ratio of 3 at most, for each.
"""
import pathlib
import sys
import time

import openpai

sys.path.insert(0, sys.argv[1])
import crossing  # noqa: E402

CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
ROUNDS = 15
GOAL = 3.0
JOB = (pathlib.Path(__file__).resolve().parents[3] /
       "examples/jobs/hello.yaml").read_text()
NODES, FREE, MINE = "nodes:4 gpu:8", "node 0: gpu 0-7", "node 0: gpu 2"


# A loop of its own for each: a function around a call would cost as much.
def empty(calls, _):
    for _ in range(calls):
        pass


def name(calls, job):
    for _ in range(calls):
        job.name


def now(calls, scheduler):
    for _ in range(calls):
        scheduler.now


def take(calls, sets):
    free, mine = sets
    for _ in range(calls // 2):
        free.take(mine)
        free.give(mine)


def make(calls, make_one):
    for _ in range(calls):
        make_one(FREE)


def parse(calls, parse_one):
    for _ in range(calls // 50 + 1):
        parse_one(JOB)


BENCHES = (
    ("a field of a job: Job.name", name, openpai.Job.parse(JOB),
     crossing.Job(JOB)),
    ("a number: Scheduler.now", now,
     openpai.Scheduler(openpai.Cluster.synthetic(NODES), "fifo"),
     crossing.Scheduler(NODES)),
    ("two objects: Allocation.take()", take,
     (openpai.Allocation(FREE), openpai.Allocation(MINE)),
     (crossing.Allocation(FREE), crossing.Allocation(MINE))),
    ("an object is made: Allocation(text)", make, openpai.Allocation,
     crossing.Allocation),
    ("a text is read: Job.parse(text)", parse, openpai.Job.parse,
     crossing.Job))


def once(bench, what):
    start = time.thread_time_ns()
    bench(CALLS, what)
    return time.thread_time_ns() - start


def main():
    missed = 0
    loop = min(once(empty, None) for _ in range(ROUNDS))
    print("%-38s %8s %8s %6s" % ("call, ns", "module", "by hand", "ratio"))
    for title, bench, ours, theirs in BENCHES:
        # In turn, and the best of each: others use the machine, too.
        pairs = [(once(bench, ours), once(bench, theirs))
                 for _ in range(ROUNDS)]
        module, hand = (max(min(side) - loop, 1) for side in zip(*pairs))
        calls = CALLS // 50 + 1 if bench is parse else CALLS
        print("%-38s %8.0f %8.0f %6.2f%s" % (
            title, module / calls, hand / calls, module / hand,
            "" if module <= GOAL * hand else "  missed"))
        missed += module > GOAL * hand
    print("%d of %d within %g" % (len(BENCHES) - missed, len(BENCHES), GOAL))


main()
