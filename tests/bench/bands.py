"""How many start before P50 and P90 of `openpai when`, on real traces.

Usage: bands.py OPENPAI [FOLDER-OF-TRACES [POLICY...]]

Each trace runs under each policy; its log is cut at some places, all that wait
there are asked about, and compared with when they started.  One line for each:
trace, policy, how many were asked, of a thousand how many started before P50
and P90.  Who had not started at the end was told too early, if that is over.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Clusters that make queues of them.
TRACES = {"gavel-msr-0e4a51.trace": "nodes:16 gpu:8 cpus:64 mem:1T",
          "muri-trace1.csv": "nodes:32 gpu:8 cpus:64 mem:1T",
          "muri-trace3.csv": "nodes:12 gpu:8 cpus:64 mem:1T"}
POLICIES = ("fifo", "backfill", "fair", "hived")
CUTS = (40, 50, 60, 70)  # per cent of the log
FEW = 20  # fewer answers say nothing


def starts(log):
    """When each request first started."""
    times = {}
    for line in log:
        if b'"started"' in line:
            event = json.loads(line)
            if event.get("event") == "started":
                times.setdefault(str(event["id"]), event["time"])
    return times, json.loads(log[-1])["time"]


def ask(program, log, folder):
    cut = folder / "cut.log"
    cut.write_bytes(b"".join(log))
    done = subprocess.run([program, "when", "--json", cut], check=True,
                          stdout=subprocess.PIPE, timeout=600)
    return json.loads(done.stdout)["requests"]


def compare(program, log, folder):
    real, end = starts(log)
    told, early = 0, {"p50": 0, "p90": 0}
    for cut in CUTS:
        for request in ask(program, log[:len(log) * cut // 100], folder):
            told += 1
            start = real.get(str(request["id"]), end)
            for key in early:
                early[key] += request[key] is None or start <= request[key]
    return told, early


def run(program, trace, cluster, policy, folder):
    log = folder / "all.log"
    subprocess.run([program, "sim", "run", "-c", cluster, "-t", trace, "-p",
                    policy, "--log", log, "--json"], check=True,
                   stdout=subprocess.DEVNULL, timeout=600)
    told, early = compare(program, log.read_bytes().splitlines(True), folder)
    if told < FEW:
        print("%-24s %-9s hardly anybody waits: %d" %
              (trace.name, policy, told), flush=True)
    else:
        print("%-24s %-9s %6d %6d %6d" %
              (trace.name, policy, told, early["p50"] * 1000 // told,
               early["p90"] * 1000 // told), flush=True)


def main():
    program = os.path.abspath(sys.argv[1])
    traces = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else os.path.join(
        os.environ.get("OPENPAI_SHARED", "../shared"), "data", "traces"))
    for name, cluster in TRACES.items():
        if not (traces / name).is_file():
            print("skipped: there is no %s" % (traces / name))
            continue
        for policy in sys.argv[3:] or POLICIES:
            with tempfile.TemporaryDirectory() as folder:
                run(program, traces / name, cluster, policy,
                    pathlib.Path(folder))


if __name__ == "__main__":
    main()
