"""Simulations of every policy: their logs and reports, as kept on file.

A small trace is kept whole; of larger ones there are the hashes.
"""

import hashlib
import json
import pathlib
import re
import sys

import golden

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import program  # noqa: E402

POLICIES = ["fifo", 'fifo:{"greedy":true}', "backfill",
            'backfill:{"mode":"easy"}', "priority", "capacity", "fair", "k8s",
            "hived"]
PARTS = """
virtualClusters:
  vc1: {part: 50%}
  vc2: {part: 25%, max: 50%}
  default: {part: rest}
"""
WORLDS = {  # cluster, words of the trace, words of the simulation
    "small": ("nodes:2 gpu:4:h100 cpus:32 mem:256G",
              ["--jobs", "40", "--gpus", "8", "--load", "2", "--seed", "3",
               "--vcs", "2"],
              ["--estimates"]),
    "large": ("nodes:16 gpu:8:v100 cpus:64 mem:512G",
              ["--jobs", "2000", "--gpus", "128", "--load", "1.5",
               "--vcs", "2"],
              ["--estimates"]),
    "faults": ("nodes:8 gpu:8:v100 cpus:64 mem:512G",
               ["--jobs", "600", "--gpus", "64", "--like", "helios",
                "--vcs", "2"],
               ["--mtbf", "30h", "--mttr", "2h", "--fail", "0.1",
                "--restart-cost", "60", "--checkpoint", "1h", "--spread",
                "0.2", "--patience", "3d"]),
}


def figures(report):
    """A report without its curves, of which there is a hash."""
    curves = {key: value for key, value in report.items()
              if isinstance(value, (list, dict))}
    return {**{key: value for key, value in report.items()
               if key not in curves},
            "curves": hashlib.sha256(json.dumps(curves).encode()).hexdigest()}


def with_priorities(trace):
    """Each job has one of three, and two tasks where that is even."""
    for number, line in enumerate(trace.splitlines()):
        job = json.loads(line)
        job["priority"] = number % 3 * 100
        if job.get("gpus", 0) % 2 == 0 and job.get("tasks", 1) == 1:
            job |= {"tasks": 2, "gpus": job["gpus"] // 2}
        yield json.dumps(job) + "\n"


class Policies(program.ProgramTest):
    def world(self, name):
        cluster, words, more = WORLDS[name]
        done = self.run_cli("sim", "generate", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = self.run_cli("cluster", "show", "--yaml", "--from", cluster)
        made = self.write(name + ".yaml", shown.stdout + PARTS)
        return ["sim", "run", "--cluster", made, "--trace",
                self.write(name + ".jsonl", "".join(
                    with_priorities(done.stdout))), "--json", "--seed",
                "7", *more]

    def run_one(self, words, policy):
        log, jobs = self.folder / "log", self.folder / "jobs.csv"
        done = self.run_cli(*words, "--policy", policy, "--log", str(log),
                            "--jobs-csv", str(jobs))
        self.assertEqual(done.returncode, 0, (policy, done.stderr))
        return json.loads(done.stdout), log.read_text(), jobs.read_text()

    def test_small(self):
        words = self.world("small")
        for policy in POLICIES:
            name = "-".join(re.findall(r"\w+", policy))
            kept = golden.Golden(f"life/sim-{name}.txt")
            report, log, jobs = self.run_one(words, policy)
            kept.add("report", golden.layout(figures(report)))
            kept.add("log", log)
            kept.add("jobs", jobs)
            kept.check(self)

    def test_hashes(self):
        kept = golden.Golden("life/sim.txt")
        for name in "large", "faults":
            words = self.world(name)
            for policy in POLICIES:
                report, log, jobs = self.run_one(words, policy)
                kept.add(f"{name} {policy}", "\n".join(
                    [hashlib.sha256(text.encode()).hexdigest()
                     for text in (log, jobs)] + [golden.layout(
                        figures(report))]))
        kept.check(self)


if __name__ == "__main__":
    program.main()
