"""Simulations of a million jobs: processor time and memory of each policy,
against sha256sum of the same trace and a simulator in Python.

Usage: sim.py OPENPAI-BENCH [JOBS [POLICY...]]; as a test, of 2,000 jobs.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOALS = {"fifo": 2.0, "backfill": 5.0, "hived": 20.0}  # of a million


def cpu(command, **kwargs):
    """Processor time of a command, and what it wrote."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), check=True,
                          stdout=kwargs.pop("stdout", subprocess.PIPE),
                          **kwargs)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime -
            before.ru_stime), done.stdout


def main():
    program = os.path.abspath(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    policies = sys.argv[3:] or list(GOALS)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.jsonl")
        with open(trace, "wb") as out:
            made, _ = cpu([program, "sim-write", jobs], stdout=out)
        check, _ = cpu(["sha256sum", trace])
        python, text = cpu([sys.executable, HERE / "sim_fifo.py", trace])
        same = json.loads(text)
        if same["jobs"] != jobs or same["finished"] != jobs:
            sys.exit("the simulator in Python found %s" % text)
        print("%d jobs, %.1f MB; written in %.2f s, sha256sum %.3f s, "
              "Python %.1f s" % (jobs, trace.stat().st_size / 1e6, made,
                                 check, python))
        for policy in policies:
            found = json.loads(cpu([program, "sim-run", policy, trace])[1])
            if found["jobs"] != jobs or found["left"] != 0:
                sys.exit("%s: %s" % (policy, found))
            if (policy == "fifo" and
                    found["wait_mean_us"] != round(same["wait_mean_s"] * 1e6)):
                sys.exit("in Python: %s; fifo: %s" % (same, found))
            goal = GOALS.get(policy, 0) * jobs / 1e6
            print("%-9s %8.3f s (goal %.2f)  %5.1f MB  %6.2f x sha256sum  "
                  "%5.1f x faster than Python"
                  % (policy, found["cpu_s"], goal, found["max_mb"],
                     found["cpu_s"] / max(check, 1e-3),
                     python / max(found["cpu_s"], 1e-3)))


if __name__ == "__main__":
    main()
