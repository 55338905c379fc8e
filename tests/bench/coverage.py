"""How many of the jobs that wait start before P10, P50 and P90 of `openpai when`,
on traces of real clusters.

Usage: coverage.py OPENPAI FOLDER [--set tune|report|queues] [--cuts N] [POLICY...]

FOLDER has the traces named below; one that is missing is skipped.  Each runs under each policy.  Its log is cut
at N places; `openpai when` is asked at each, of what waits there, and what it tells
is compared with what then happened.  What has not started at the end of the log
counts as started after all that lies before the end, and is not counted where P90
lies behind it.  --quick leaves out the correction by forecasts within the log, as
a platform does.  Forecasts were tuned on the set "tune" alone.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

# The trace, and nodes of 8 GPUs that are busy for 70 to 90 % of its span.
SETS = {
    "tune": (("gavel-msr-0e4a51.trace", 10), ("gavel-msr-2869ce.trace", 8),
             ("gavel-msr-e13805.trace", 7)),
    "report": (("muri-trace1.csv", 18), ("muri-trace3.csv", 8),
               ("openb_pod_list_default.csv", 3)),
    # More nodes, for the figures of docs/performance.md
    "queues": (("gavel-msr-0e4a51.trace", 16), ("muri-trace1.csv", 32),
               ("muri-trace3.csv", 12)),
}
POLICIES = ("fifo", "backfill", "fair")
MOST = 40  # jobs of a cut


def simulate(program, trace, nodes, policy, folder):
    """The lines of the log, when each job started, and when each line was."""
    log = folder / "log"
    subprocess.run(
        [program, "sim", "run", "-c", f"nodes:{nodes} gpu:8 cpus:512 mem:8T",
         "-t", trace, "-p", policy, "--sort", "--log", log, "--json"],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = log.read_bytes().splitlines(True)
    starts, times = {}, []
    for line in lines:
        event = json.loads(line) if b'"snapshot"' not in line[:12] else {}
        times.append(event.get("time", times[-1] if times else 0))
        if event.get("event") == "started":
            starts.setdefault(event["id"], event["time"])
    return lines, starts, times


def ask(program, lines, options):
    done = subprocess.run([program, "when", "--json", "--runs", "25", *options, "-"],
                          input=b"".join(lines), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def compare(told, starts, end, sums):
    requests = told["requests"]
    for request in requests[::-(-len(requests) // MOST)]:
        start, p90 = starts.get(request["id"]), request["p90"]
        if start is None and (p90 is None or p90 > end):
            continue
        start = end + 1 if start is None else start
        sums["asked"] += 1
        for name in ("p10", "p50", "p90"):
            sums[name] += request[name] is None or start <= request[name]
        if p90 is not None:
            sums["wide"].append((p90 - told["now"]) /
                                max(start - told["now"], 60 * 10**6))
        sums["unlike"] += bool(told.get("unlike"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("policies", nargs="*", default=POLICIES)
    wish = parser.parse_intermixed_args()
    options = ["--quick"] if wish.quick else []
    print("| trace | policy | asked | P10 | P50 | P90 | P90 / wait |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in wish.set or SETS:
        for trace, nodes in SETS[name]:
            if not (wish.folder / trace).is_file():
                print("skipped: there is no %s" % (wish.folder / trace))
                continue
            for policy in wish.policies:
                sums = {"asked": 0, "p10": 0, "p50": 0, "p90": 0, "wide": [],
                        "unlike": 0}
                with tempfile.TemporaryDirectory() as folder:
                    lines, starts, times = simulate(
                        wish.program, wish.folder / trace, nodes, policy,
                        pathlib.Path(folder))
                first, last = len(lines) // 5, len(lines) * 17 // 20
                for i in range(wish.cuts):
                    cut = first + (last - first) * i // wish.cuts
                    told = ask(wish.program, lines[:cut], options)
                    if told is not None:
                        compare(told, starts, times[-1], sums)
                n = max(sums["asked"], 1)
                wide = sorted(sums["wide"]) or [0]
                print(f"| {trace} | {policy} | {sums['asked']} | "
                      + " | ".join(f"{100 * sums[p] / n:.0f} %"
                                   for p in ("p10", "p50", "p90"))
                      + f" | {wide[len(wide) // 2]:.1f} |"
                      + (f" {100 * sums['unlike'] // n} % told unlike"
                         if sums["unlike"] else ""), flush=True)


main()
