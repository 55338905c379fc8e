"""openpai sim: a trace through a cluster."""

import csv
import io
import json
import os
import pathlib
import subprocess
import sys

import program

CLUSTER = "nodes:2 gpu:4:h100 cpus:64 mem:512G"

TRACE = "\n".join(json.dumps(line) for line in [
    {"time": 0, "id": "a", "user": "ann", "gpus": 4, "duration": 100},
    {"time": 1, "id": "b", "user": "bob", "gpus": 4, "duration": 50},
    {"time": 2, "id": "c", "user": "bob", "gpus": 4, "tasks": 2,
     "duration": 10},
    {"time": 3, "id": "d", "user": "ann", "gpus": 1, "duration": 20},
    {"time": 4, "id": "e", "user": "ann", "gpus": 9, "duration": 20},
]) + "\n"


class SimTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.trace = self.write("trace.jsonl", TRACE)

    def sim(self, *words, **kwargs):
        return self.run_cli("sim", "--cluster", CLUSTER, "--trace",
                            self.trace, *words, **kwargs)

    def report(self, *words):
        done = self.sim("--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_json(self):
        found = self.report()
        for key, value in {
                "policy": "fifo", "jobs": 5, "started": 4, "finished": 4,
                "rejected": 1, "lines_skipped": 0, "makespan_s": 130,
                "preemptions": 0, "wait_p50_s": 0, "wait_p90_s": 107,
                "wait_p99_s": 107}.items():
            self.assertEqual(found[key], value, key)
        self.assertEqual(found["wait_mean_s"], (98 + 107) / 4)
        self.assertEqual(found["utilization"], 0.673076)

    def test_python_finds_the_same(self):
        """The simulator that benches compare with is another one, and agrees
        on all numbers that it knows; a load so high that jobs wait."""
        baseline = (pathlib.Path(__file__).resolve().parents[2] / "bench" /
                    "sim_fifo.py")
        for seed in "1", "2":
            made = self.run_cli("sim", "generate", "--jobs", "1000", "--seed",
                                seed, "--gpus", "128", "--load", "3")
            trace = self.write("made.jsonl", made.stdout + "{]\n")
            done = self.run_cli("sim", "--cluster", "nodes:16 gpu:8:v100",
                                "--trace", trace, "--json")
            ours = json.loads(done.stdout)
            text = subprocess.run([sys.executable, str(baseline), trace, "16"],
                                  check=True, capture_output=True).stdout
            self.assertGreater(ours["wait_p90_s"], 0)
            for key, value in json.loads(text).items():
                self.assertEqual(ours[key], value, key)

    def test_the_same_bytes(self):
        words = ["--json", "--seed", "5", "--mtbf", "5m", "--fail", "0.2",
                 "--policy", "priority", "--policy", "backfill"]
        self.assertEqual(self.sim(*words).stdout, self.sim(*words).stdout)

    def test_side_by_side(self):
        found = self.report("--policy", "fifo", "--policy",
                            'fifo:{"greedy":true}', "--policy", "backfill",
                            "--estimates")
        self.assertEqual([run["policy"] for run in found["runs"]],
                         ["fifo", "fifo", "backfill"])
        self.assertEqual([run["makespan_s"] for run in found["runs"]],
                         [130, 110, 110])
        self.assertEqual([run.get("options") for run in found["runs"]],
                         [None, '{"greedy":true}', None])
        alone = self.report("--policy", "backfill", "--estimates")
        self.assertEqual(found["runs"][2], alone)

    def test_one_of_them_fails(self):
        done = self.sim("--json", "--policy", "fifo", "--policy", "lottery")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no policy 'lottery'", done.stderr)
        self.assertIn("help: one of: fifo", done.stderr)
        self.assertEqual(json.loads(done.stdout)["policy"], "fifo")

    def test_pages(self):
        html = str(self.folder / "page.html")
        done = self.sim("--csv", "-", "--html", html)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([row["jobs"] for row in rows], ["5"])
        with open(html, encoding="utf-8") as page:
            self.assertEqual(self.drawn(page.read()), self.report())
        done = self.sim()
        self.assertIn("2 nodes, 8 GPUs", done.stdout)

    def drawn(self, page):
        """The report in a page, which asks for nothing from elsewhere."""
        data = page.partition('application/json">')[2].partition("</script>")[0]
        self.assertNotRegex(data, "[<\u2028\u2029]")
        self.assertNotIn("://", page.replace("http://www.w3.org/2000/svg", ""))
        return json.loads(data)

    def test_hostile_names(self):
        """No name in a trace ends the script that it stands in."""
        name = "</script><script>alert(1)</script>\u2028<!--"
        self.trace = self.write("trace.jsonl", json.dumps(
            {"time": 0, "user": name, "gpus": 1, "duration": 5}) + "\n")
        page = str(self.folder / "page.html")
        for policies in ["fifo"], ["fifo", "backfill"]:
            words = [word for one in policies for word in ("--policy", one)]
            done = self.sim("--html", page, *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            text = pathlib.Path(page).read_text(encoding="utf-8")
            self.assertNotIn("alert(1)</script>", text)
            self.assertEqual(text.count("<script"), 2)
            found = self.drawn(text)
            for run in found.get("runs", [found]):
                self.assertEqual(run["users"][0]["name"], name)

    def test_files(self):
        names = {name: str(self.folder / name)
                 for name in ("log", "events", "jobs-csv")}
        self.report(*[word for name, path in names.items()
                      for word in ("--" + name, path)])
        with open(names["jobs-csv"], encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(r["job"], r["started_s"], r["state"])
                          for r in rows],
                         [("5", "", "rejected"), ("2", "1.000000", "succeeded"),
                          ("1", "0.000000", "succeeded"),
                          ("3", "100.000000", "succeeded"),
                          ("4", "110.000000", "succeeded")])
        with open(names["events"], encoding="utf-8") as file:
            kinds = [json.loads(line)["event"] for line in file]
        self.assertEqual(kinds.count("started"), 4)
        self.assertEqual(kinds.count("rejected"), 1)
        done = self.run_cli("sched", "replay", names["log"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 4)

    def test_errors_say_where(self):
        done = self.sim("--policy", "fifo", "--policy", 'fair:{"x":1}')
        self.assertIn('fair: error: the policy has no option "x"',
                      done.stderr)
        self.trace = self.write("before.jsonl", '{"time":-5,"duration":1}\n')
        done = self.sim("--strict")
        self.assertIn("before.jsonl:1: error: the time of the record "
                      "is negative", done.stderr)

    def test_logs_have_snapshots(self):
        """So that any second of a long one is found soon."""
        made = self.run_cli("sim", "generate", "--jobs", "1000", "--gpus", "8")
        log = str(self.folder / "log")
        done = self.run_cli("sim", "-c", "nodes:2 gpu:4", "-t", "-", "-p",
                            "hived", "--json", "--log", log, input=made.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(log, encoding="utf-8") as file:
            self.assertTrue(file.read().count('\n{"snapshot":') >= 2)
        done = self.run_cli("sched", "replay", "--check", log)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_standard_input(self):
        for policies, code in ((1, 0), (2, 2)):
            done = self.run_cli(
                "sim", "-c", CLUSTER, "-t", "-", "--json",
                *["-p", "fifo"] * policies, input=TRACE)
            self.assertEqual(done.returncode, code)
        self.assertIn("help: write the trace to a file first", done.stderr)

    def test_what_cannot_be_used(self):
        self.trace = self.write("bad.jsonl", TRACE + "{]\n")
        done = self.sim("--json")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout)["lines_skipped"], 1)
        self.assertIn("bad.jsonl:6: warning: ", done.stderr)
        done = self.sim("--json", "--verbose")
        self.assertIn("bad.jsonl:5: warning: it does not fit the cluster",
                      done.stderr)
        done = self.sim("--strict")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("error: ", done.stderr)

    def test_lines_that_name_nobody(self):
        self.trace = self.write("kills.jsonl", TRACE + "".join(
            json.dumps(line) + "\n" for line in [
                {"time": 5, "kill": "a"},
                {"time": 6, "kill": "nobody"},
                {"time": 7, "node": "nowhere", "state": "drain"},
                {"time": 900, "kill": "a"}]))
        done = self.sim("--json", "--verbose")
        self.assertEqual(json.loads(done.stdout)["lines_skipped"], 2)
        self.assertIn("kills.jsonl:7: warning: there is no job 'nobody' to kill",
                      done.stderr)
        self.assertIn("kills.jsonl:8: warning: there is no node 'nowhere'",
                      done.stderr)
        self.assertEqual(done.stderr.count("kills.jsonl:"), 3)
        self.assertIn("kills.jsonl:5: warning: it does not fit the cluster",
                      done.stderr)
        self.trace = self.write("strict.jsonl", '{"time":6,"kill":"x"}\n')
        done = self.sim("--strict")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.strip(),
                         self.trace + ":1: error: there is no job 'x' to kill")

    def test_strict_tells_of_a_line_once(self):
        self.trace = self.write("bad.jsonl", TRACE + "{]\n")
        told = self.sim("--strict").stderr
        self.assertEqual(told.count("bad.jsonl:6"), 1, told)
        self.assertNotIn("line 6", told)

    def test_what_is_no_trace(self):
        log = str(self.folder / "log")
        self.assertEqual(self.sim("--json", "--log", log).returncode, 0)
        job = ("protocolVersion: 2\nname: a\ntype: job\n"
               "taskRoles: {t: {commands: [a]}}\n")
        for name, text, what, verb in (
                ("log", None, "a scheduler log", "openpai sched replay"),
                ("job.yaml", "# a job\n" + job, "a job", "openpai spec check"),
                ("job.json", '{"jobName": "a", "taskRoles": []}', "a job",
                 "openpai spec check")):
            self.trace = log if text is None else self.write(name, text)
            for words in ([], ["--as", "jsonl"]):
                if words and name == "job.yaml":
                    continue
                done = self.sim(*words)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertIn(name + ": error: this is " + what, done.stderr)
                self.assertIn(verb, done.stderr)
            shown = self.run_cli("trace", "show", self.trace)
            self.assertEqual(shown.returncode, 1)
            self.assertIn("this is " + what, shown.stderr)
        self.trace = self.write("named.jsonl", json.dumps(
            {"time": 0, "id": '"taskRoles"', "name": "protocolVersion",
             "gpus": 1, "duration": 5}) + "\n")
        self.assertEqual(self.report()["finished"], 1)

    def test_files_that_cannot_be_written(self):
        """That is noticed before it runs, and not when it has."""
        for option in "--html", "--csv", "--log", "--events", "--jobs-csv":
            self.trace = self.write("trace.jsonl", TRACE + "{]\n")
            done = self.sim(option, str(self.folder / "no" / "file"))
            self.assertEqual(done.returncode, 2, option)
            self.assertIn("cannot write", done.stderr)
            self.assertNotIn("warning", done.stderr)
        page = self.write("page.html", "as it was")
        self.trace = self.write("job.yaml", "taskRoles: {}\n" * 2)
        self.assertEqual(self.sim("--html", page).returncode, 1)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), "as it was")

    def test_wrong(self):
        for words, what in (
                (["--until", "5x"], "--until needs a time"),
                (["--fail", "2"], "--fail needs a part from 0 to 1"),
                (["--checkpoint", "0"], "--checkpoint needs a time above 0"),
                (["--stretch", "0"], "--stretch needs a factor from 0.001"),
                (["--seed", "-1"], "--seed is a whole number"),
                (["--as", "papyrus"], "unknown format of a trace"),
                (["--policy", ":x"], "this is no policy"),
                (["--json", "--csv", "-"], "both would write to standard output"),
                (["-p", "fifo", "-p", "fair", "--log", "x"],
                 "--log requires one policy"),
                (["more"], "this verb takes no argument"),
                (["--polcy", "x"], "did you mean --policy?")):
            done = self.sim(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(what, done.stderr)
        self.assertEqual(self.run_cli("sim").returncode, 2)
        done = self.run_cli("sim", "--trace", self.trace)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--cluster", done.stderr)
        self.trace = str(self.folder / "none")
        done = self.sim()
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot read", done.stderr)
        self.trace = str(self.folder)
        self.assertIn("it is a folder", self.sim().stderr)

    def test_progress_is_for_terminals(self):
        self.write("trace.jsonl", "".join(
            json.dumps({"time": i, "gpus": 1, "duration": 5}) + "\n"
            for i in range(20000)))
        shown = self.on_terminal("sim", "run", "-c", CLUSTER, "-t",
                                 self.trace, "--json")
        self.assertIn(b"%", shown if isinstance(shown, bytes)
                      else shown.encode())
        self.assertEqual(self.sim("--json").stderr, "")
