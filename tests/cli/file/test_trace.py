"""openpai trace show, trace convert, sim generate."""

import json
import os

import program

TRACE = """\
{"time":0,"id":"a","gpus":8,"duration":3600}
{"time":1.5,"id":"b","tasks":2,"gpus":8,"duration":60,"code":1}
{"time":2,"node":"n1","state":"sick"}
{"time":3,"kill":"a"}
{"time":4,"id":"c","gpuz":8,"duration":3600}
{"time":5,"id":"d","duration":-1}
"""
MURI = """\
job_id,num_gpu,submit_time,duration
0,1,2000,3000
1,2,1000,4000
2,x,1000,4000
"""
CLUSTER = """\
skus: {box: {gpu: t4, gpus: 4, cpus: 8, memory: 16G}}
nodes: [{name: a, sku: box}, {name: b, sku: box}]
virtualClusters: {red: {cells: {box: 1}}, blue: {cells: {box: 1}}}
"""


class TraceTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.trace = self.write("own.jsonl", TRACE)
        self.muri = self.write("muri.csv", MURI)

    def test_show(self):
        done = self.run_cli("trace", "show", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertIn("form      jsonl\n", done.stdout)
        self.assertIn("jobs      3 in 6 lines, 1 of them failed\n",
                      done.stdout)
        self.assertIn("others    1 of nodes, 1 kills\n", done.stdout)
        self.assertIn("skipped   1\n         1  line 5: a record has no "
                      "\"gpuz\"; did you mean \"gpus\"?\n", done.stdout)
        self.assertIn("altered   1\n         1  line 6: a negative time", done.stdout)

    def test_show_json(self):
        done = self.run_cli("trace", "show", "--json", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(done.stdout)
        self.assertEqual((shown["form"], shown["jobs"], shown["skipped"],
                          shown["altered"], shown["last_s"]),
                         ("jsonl", 3, 1, 1, 5))
        self.assertEqual(shown["sizes"]["8"], 1)
        self.assertEqual(shown["sizes"]["9-16"], 1)
        self.assertEqual([(r["used"], r["line"]) for r in shown["reasons"]],
                         [(False, 5), (True, 6)])

    def test_convert(self):
        """What comes out is in order, and the same again when converted."""
        done = self.run_cli("trace", "convert", self.muri)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, """\
{"time":1,"id":"1","gpus":2,"duration":4}
{"time":2,"id":"0","gpus":1,"duration":3}
""")
        self.assertIn("muri.csv:4: warning: line skipped: \"num_gpu\" must "
                      "be a number, not \"x\"", done.stderr)
        again = self.run_cli("trace", "convert", self.write("o", done.stdout))
        self.assertEqual((again.stdout, again.stderr), (done.stdout, ""))
        model = self.run_cli("trace", "convert", "--model", "t4", self.muri)
        self.assertIn('"type":"t4"', model.stdout)

    def test_many_skipped(self):
        """Twenty lines are told one by one, the rest is counted."""
        path = self.write("bad", '{"time":1,"duration":1}\n' + "{}\n" * 25)
        done = self.run_cli("trace", "convert", path)
        self.assertEqual(done.stderr.count("line skipped"), 20)
        self.assertIn("and 5 more lines were skipped", done.stderr)

    def test_strict(self):
        done = self.run_cli("trace", "convert", "--strict", self.trace)
        self.assertEqual(done.returncode, 1)
        self.assertIn("own.jsonl:5:20: error: a record has no \"gpuz\"\n"
                      "  help: did you mean \"gpus\"?\n", done.stderr)

    def test_order(self):
        lines = ["{\"time\":%d,\"duration\":1}\n" % t for t in range(20000)]
        path = self.write("late", "".join(lines[1:] + lines[:1]))
        done = self.run_cli("trace", "show", path)
        self.assertIn("skipped   1\n", done.stdout)
        self.assertIn("sort the trace first, with --sort", done.stdout)
        done = self.run_cli("trace", "show", "--sort", path)
        self.assertIn("skipped   0\n", done.stdout)

    def test_wrong(self):
        for words, code, part in (
                (["show"], 2, "this verb requires: FILE"),
                (["show", "a", "b"], 2, "too many arguments: b"),
                (["show", str(self.folder / "none")], 2, "none"),
                (["show", "--as", "excel", self.trace], 2,
                 "unknown format of a trace: excel"),
                (["show", "--as", "helios", self.trace], 1, "no column"),
                (["show", str(self.folder)], 2, ""),
                (["convert", self.write("x", "hello\n")], 1,
                 "the form of the trace is not known")):
            done = self.run_cli("trace", *words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(part, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_generate(self):
        words = ("sim", "generate", "--jobs", "500", "--seed", "7")
        done = self.run_cli(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("\n"), 500)
        self.assertEqual(done.stdout, self.run_cli(*words).stdout)
        self.assertNotEqual(done.stdout,
                            self.run_cli(*words[:-1], "8").stdout)
        shown = json.loads(self.run_cli(
            "trace", "show", "--json",
            self.write("made", done.stdout)).stdout)
        self.assertEqual((shown["jobs"], shown["skipped"], shown["failed"]),
                         (500, 0, 0))

    def test_generate_for_a_cluster(self):
        done = self.run_cli("sim", "generate", "--jobs", "300", "--cluster",
                            self.write("c.yaml", CLUSTER), "--most-gpus", "8",
                            "--load", "1.5", "--like", "helios", "--faults",
                            "--model", "t4")
        self.assertEqual(done.returncode, 0, done.stderr)
        jobs = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({job["vc"] for job in jobs}, {"red", "blue"})
        self.assertEqual(max(job["gpus"] for job in jobs), 4)
        self.assertTrue(any(job.get("code") == -210 for job in jobs))
        self.assertEqual({job["type"] for job in jobs}, {"t4"})

    def test_generate_wrong(self):
        for words, part in (
                (["x"], "this verb takes no argument: x"),
                (["--jobs", "-1"], "--jobs is a whole number"),
                (["--jobs", "1.5"], "--jobs is a whole number"),
                (["--load", "0"], "--load is a number from 0.001"),
                (["--load", "0.8x"], "--load is a number from 0.001"),
                (["--load", "."], "--load is a number from 0.001"),
                (["--like", "borg"], "--like is philly or helios: borg"),
                (["--gpus", "3", "--cluster", "c"], "exclude each other")):
            done = self.run_cli("sim", "generate", *words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(part, done.stderr)

    def test_a_closed_pipe_ends_it(self):
        read, write = os.pipe()
        os.close(read)
        done = self.run_cli("sim", "generate", "--jobs", "1000000",
                            stdout=write)
        os.close(write)
        self.assertNotEqual(done.returncode, 0)
