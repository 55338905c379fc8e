"""What `openpai what-if --drain` tells, and what then happens, on made up traces.

Usage: what_if.py OPENPAI [SEEDS [POLICY...]]

Each trace runs under each policy, once as it is and once with some nodes drained
at half of it.  The log of the first is cut there, and what-if is asked the same.
Of those that wait there, the mean of how much later they start is compared.  One
line for each: policy, seed, how many waited, seconds told, seconds that came
true; and at the end of each policy the sums, their ratio, the median of the
ratios, and how often the sign was right.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

CLUSTER = "nodes:16 gpu:8 cpus:64 mem:1T"
DRAINED = ("node0001", "node0002")
POLICIES = ("fifo", "backfill", "fair")
JOBS, LOAD = 4000, "0.8"
FEW = 10  # who wait: fewer say nothing


def make(program, seed, folder):
    """The trace, and one with the nodes drained; and when that is."""
    lines = subprocess.run(
        [program, "sim", "generate", "--jobs", str(JOBS), "--seed", str(seed),
         "--like", "helios", "--load", LOAD, "--gpus", "128"],
        check=True, stdout=subprocess.PIPE).stdout.splitlines(True)
    half = len(lines) // 2
    time = json.loads(lines[half])["time"]
    drains = [json.dumps({"time": time, "node": node, "state": "drain"})
              .encode() + b"\n" for node in DRAINED]
    (folder / "plain").write_bytes(b"".join(lines))
    (folder / "drained").write_bytes(
        b"".join(lines[:half] + drains + lines[half:]))
    return round(time * 1000000)


def run(program, trace, policy, folder):
    """When each request came and first started; and the log."""
    log = folder / "log"
    subprocess.run([program, "sim", "run", "-c", CLUSTER, "-t", folder / trace,
                    "-p", policy, "--log", log, "--json"], check=True,
                   stdout=subprocess.DEVNULL)
    came, starts = {}, {}
    lines = log.read_bytes().splitlines(True)
    for line in lines:
        if b'"submit"' not in line and b'"started"' not in line:
            continue
        event = json.loads(line)
        if event.get("event") == "submit":
            came[event["request"]["id"]] = event["time"]
        elif event.get("event") == "started":
            starts.setdefault(event["id"], event["time"])
    return came, starts, lines


def cut(lines, time):
    """All events before a time."""
    kept = []
    for i, line in enumerate(lines):
        if i != 0 and not line.startswith(b'{"snapshot"') and \
                json.loads(line)["time"] >= time:
            break
        kept.append(line)
    return b"".join(kept)


def compare(program, policy, seed, folder):
    time = make(program, seed, folder)
    came, before, lines = run(program, "plain", policy, folder)
    _, after, _ = run(program, "drained", policy, folder)
    waiting = [job for job in came if came[job] < time <= before[job]]
    if len(waiting) < FEW:
        return None
    real = sum(after[job] - before[job] for job in waiting) / len(waiting)
    (folder / "cut").write_bytes(cut(lines, time))
    words = [word for node in DRAINED for word in ("--drain", node)]
    done = subprocess.run([program, "what-if", *words, "--json",
                           folder / "cut"], check=True,
                          stdout=subprocess.PIPE, timeout=600)
    answer = json.loads(done.stdout)
    told = answer["wait_after"] - answer["wait_before"]
    print(f"{policy} {seed}: {len(waiting)} waited; told {told / 1e6:.0f} s, "
          f"came true {real / 1e6:.0f} s", flush=True)
    return told / 1e6, real / 1e6


def main(program, seeds="20", *policies):
    for policy in policies or POLICIES:
        with tempfile.TemporaryDirectory() as name:
            found = [compare(program, policy, seed, pathlib.Path(name))
                     for seed in range(1, int(seeds) + 1)]
        found = [pair for pair in found if pair is not None]
        if not found:
            print(f"{policy}: nobody waited")
            continue
        told, real = (sum(x) for x in zip(*found))
        ratios = [a / b for a, b in found if b > 0]
        right = sum((a > 0) == (b > 0) for a, b in found)
        print(f"{policy}: {len(found)} traces; told {told / len(found):.0f} s, "
              f"came true {real / len(found):.0f} s, ratio {told / real:.2f}; "
              f"median {statistics.median(ratios):.2f}, from "
              f"{min(ratios):.2f} to {max(ratios):.2f}; "
              f"the sign was right in {right}")


if __name__ == "__main__":
    main(*sys.argv[1:])
