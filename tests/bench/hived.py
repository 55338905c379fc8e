"""HiveD's workloads with its own decisions: openpai-bench meets all of them.

Usage: hived.py OPENPAI-BENCH.  They lie in $OPENPAI_SHARED, by default
../shared beside the source tree; exits with 77 where they are missing.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = pathlib.Path(os.environ.get("OPENPAI_SHARED",
                                        ROOT.parent / "shared"),
                         "data/hived/bench")
GANGS = 10605


def bench(*args, **kwargs):
    return subprocess.run([sys.argv[1], *map(str, args)], check=False,
                          stdout=subprocess.PIPE, text=True, timeout=300,
                          **kwargs)


def check(kind, nodes):
    name = "%s-%d.jsonl" % (kind, nodes)
    done = bench("hived-workload", WORKLOADS / ("cluster-%d.yaml" % nodes),
                 WORKLOADS / ("workload-" + name),
                 WORKLOADS / ("decisions-" + name))
    if done.returncode != 0 or json.loads(done.stdout)["mismatches"] != 0:
        sys.exit("%s: %s" % (name, done.stdout))


def check_generated(folder):
    """What it makes itself, it can play."""
    for what in ("cluster", "mixed"):
        (folder / what).write_text(bench("hived-generate", 64, what).stdout)
    done = bench("hived-workload", folder / "cluster", folder / "mixed")
    if done.returncode != 0 or json.loads(done.stdout)["pods"] < 500:
        sys.exit("generated: %s" % done.stdout)


def check_refusals(folder):
    """Nothing is played in part, and what is not told of is a mismatch."""
    (folder / "none").write_text("")
    (folder / "vc").write_text(
        '{"op":"submit","g":"g0","vc":"nobody","pods":1,"gpus":1}\n')
    (folder / "one").write_text('{"g":"g0","r":"wait"}\n')
    for words, said in ((("cluster", "none"), "it is empty"),
                        (("cluster", "vc"), "vc:1: that is no step"),
                        (("cluster", "cluster"), "cluster:1: "),
                        (("cluster", "mixed", "cluster"), "cluster:1: ")):
        done = bench("hived-workload", *(folder / word for word in words),
                     stderr=subprocess.PIPE)
        if done.returncode != 1 or done.stdout or said not in done.stderr:
            sys.exit("%s: %s%s" % (words, done.stdout, done.stderr))
    done = bench("hived-workload", *(folder / word for word in
                                     ("cluster", "mixed", "one")))
    if done.returncode != 1 or json.loads(done.stdout)["mismatches"] < 500:
        sys.exit("too few decisions: %s" % done.stdout)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_generated(pathlib.Path(folder))
        check_refusals(pathlib.Path(folder))
    if not WORKLOADS.is_dir():
        print("skipped: there is no", WORKLOADS)
        sys.exit(77)
    gangs = 0
    for kind in ("guaranteed", "mixed"):
        for nodes in (16, 128, 1024):
            check(kind, nodes)
            with open(WORKLOADS / ("decisions-%s-%d.jsonl" % (kind, nodes)),
                      encoding="utf-8") as lines:
                gangs += sum(1 for line in lines if line.strip())
    if gangs != GANGS:
        sys.exit("there are %d decisions" % gangs)


if __name__ == "__main__":
    main()
