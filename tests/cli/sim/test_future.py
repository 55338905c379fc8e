"""openpai when, what-if and fit: what will be, from a scheduler's log."""

import json

import program

SECOND = 1000000


def lines():
    """Ten jobs of ann have taken 100 s to 190 s; two run, three wait."""
    yield {"snapshot": 1, "time": 0, "events": 0, "turns": 0, "orders": 0,
           "first_port": 20000, "last_port": 20009, "next_port": 20000,
           "cluster": {
               "skus": {"box": {"gpu": "t4", "gpus": 4, "cpus": 8,
                                "memory": "16G"}},
               "nodes": [{"name": "a", "sku": "box"},
                         {"name": "b", "sku": "box"}],
               "virtualClusters": {"x": {"cells": {"box": 1}},
                                   "y": {"cells": {"box": 1}}}},
           "policy": {"name": "fifo", "options": {}, "state": None}}
    time = 0

    def submit(number, user, name, vc):
        return {"time": time, "event": "submit", "request": {
            "id": number, "name": name, "user": user, "vc": vc,
            "wants": [{"gpus": 4}]}}

    for i in range(1, 11):
        yield submit(i, "ann", f"train-{i}", "x")
        yield {"time": time, "event": "decide"}
        yield {"time": time, "event": "started", "id": i}
        time += (90 + 10 * i) * SECOND
        yield {"time": time, "event": "finished", "id": i}
    yield submit(11, "ann", "train-11", "x")
    yield submit(12, "ann", "train-12", "y")
    yield submit(13, "ann", "train-13", "x")
    yield submit(14, "bob", "other", "x")
    yield submit(15, "bob", "other", "x")
    yield {"time": time, "event": "decide"}
    for i in (11, 12):
        yield {"time": time, "event": "started", "id": i}


NOW = sum(90 + 10 * i for i in range(1, 11)) * SECOND


class FutureTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.log = self.write("a.log", "".join(
            json.dumps(line, separators=(",", ":")) + "\n"
            for line in lines()))

    def ask(self, *words, code=0):
        done = self.run_cli(*words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def json(self, *words, code=0):
        return json.loads(self.ask(*words, "--json", self.log,
                                   code=code).stdout)

    # --- when ---------------------------------------------------------------

    def test_when(self):
        done = self.ask("when", self.log)
        self.assertEqual(done.stderr, "")
        told = done.stdout.splitlines()
        self.assertEqual(len(told), 4)
        self.assertRegex(told[0], r"^train-13 \(request 13\) of ann: in \d+ s "
                                  r"to \d+ (s|min), most likely in about \d+ s$")
        self.assertIn("no new jobs arrive (100 futures)", told[3])

    def test_when_json(self):
        told = self.json("when")
        self.assertEqual(told["now"], NOW)
        self.assertEqual([r["id"] for r in told["requests"]], [13, 14, 15])
        first = told["requests"][0]
        self.assertEqual(first["alike"], "name")
        self.assertIn(first["guessed"], (1, 2))
        self.assertTrue(NOW + 90 * SECOND < first["p10"] < first["p50"]
                        < first["p90"] < NOW + 300 * SECOND)
        self.assertEqual(told, self.json("when"))
        self.assertNotEqual(told, self.json("when", "--seed", "7"))
        self.assertEqual(self.json("when", "--runs", "5")["runs"], 5)

    def test_a_present_unlike_the_past(self):
        """Ten jobs have taken 100 s to 190 s, and six run for an hour."""
        log = [line for line in lines() if line.get("event") != "submit"
               or line["request"]["id"] < 11]
        log[0]["cluster"]["nodes"] += [{"name": name, "sku": "box"}
                                       for name in "cdefgh"]
        log[0]["cluster"]["virtualClusters"]["x"]["cells"]["box"] = 6
        log = log[:-3]
        for i in range(11, 18):
            log.append({"time": NOW, "event": "submit", "request": {
                "id": i, "name": f"train-{i}", "user": "ann", "vc": "x",
                "wants": [{"gpus": 4}]}})
        log.append({"time": NOW, "event": "decide"})
        log += [{"time": NOW, "event": "started", "id": i}
                for i in range(11, 17)]
        log.append({"time": NOW + 3600 * SECOND, "event": "time"})
        path = self.write("c.log", "".join(
            json.dumps(line, separators=(",", ":")) + "\n" for line in log))
        self.assertIn("Warning: 6 of 6 running jobs have run longer",
                      self.ask("when", path).stdout)
        for words in (["when", path], ["what-if", "--drain=h", path],
                      ["fit", path, "17"]):
            told = json.loads(self.ask(*words, "--json").stdout)
            self.assertIs(told["unlike"], True, words)
        self.assertIs(self.json("when")["unlike"], False)

    def test_when_of_one(self):
        for job in ("13", "train-13"):
            done = self.ask("when", self.log, job)
            self.assertEqual(len(done.stdout.splitlines()), 2)
            self.assertIn("2 jobs before it run as long as recent jobs "
                          "with the same name", done.stdout)
        done = self.ask("when", self.log, "11", code=1)
        self.assertEqual(done.stderr, "openpai: error: request 11 is not "
                                      "waiting\n")
        done = self.ask("when", self.log, "other", code=1)
        self.assertIn("requests 14 and 15 both have the name 'other'",
                      done.stderr)
        done = self.ask("when", self.log, "nobody", code=1)
        self.assertIn("there is no request 'nobody' at the end of",
                      done.stderr)

    def test_arrivals(self):
        told = self.json("when", "--arrivals")
        self.assertTrue(told["arrivals"])
        # Ten jobs are too few, unless somebody says that they are not.
        self.assertFalse(self.json("when")["arrivals"])
        self.assertFalse(self.json("when", "--no-arrivals",
                                   "--arrivals")["arrivals"])

    def test_arrivals_of_two_days(self):
        """A job comes each half of an hour, and takes as long."""
        log = list(lines())[:1]
        for i in range(1, 101):
            time = i * 1800 * SECOND
            log += [{"time": time, "event": "finished", "id": i - 1}][i < 2:]
            log += [{"time": time, "event": "submit", "request": {
                "id": i, "vc": "x", "user": "ann", "wants": [{"gpus": 4}]}},
                    {"time": time, "event": "decide"},
                    {"time": time, "event": "started", "id": i}]
        log += [{"time": time, "event": "submit", "request": {
            "id": 101, "vc": "x", "wants": [{"gpus": 4}]}},
                {"time": time, "event": "decide"}]
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n"
                       for line in log)
        for words, said in (((), "; jobs arrive as the last 101 did, at "
                                 "most 2000 ("),
                            (("--no-arrivals",), "; no new jobs arrive (")):
            done = self.run_cli("when", *words, "-", input=text)
            self.assertIn(said, done.stdout, done.stderr)
            done = self.run_cli("what-if", "--drain=b", *words, "-",
                                input=text)
            self.assertIn(said, done.stdout)

    def test_snapshot(self):
        saved = self.run_cli("sched", "show", "--json", self.log).stdout
        done = self.ask("when", self.write("b.log", saved))
        self.assertIn("train-13 (request 13) of ann: unknown: no job has "
                      "ended yet", done.stdout)

    def test_history(self):
        saved = self.run_cli("sched", "show", "--json", self.log).stdout
        trace = self.write("t.jsonl", "".join(
            '{"time":%d,"id":"%d","user":"ann","name":"train-%d","gpus":4,'
            '"duration":%d}\n' % (i, i, i, 500 + i) for i in range(20)))
        done = self.ask("when", "--history", trace,
                        self.write("b.log", saved), "13")
        self.assertIn("with the same name", done.stdout)
        self.assertIn("in 8 min to 9 min", done.stdout)
        done = self.ask("when", "--history", "none", self.log, code=2)
        self.assertIn("none", done.stderr)

    def test_standard_input(self):
        with open(self.log, encoding="utf-8") as log:
            done = self.run_cli("when", "-", input=log.read())
        self.assertEqual(done.stdout, self.ask("when", self.log).stdout)

    def test_forecasts_are_compared(self):
        """In a long log, forecasts meet what came true."""
        trace = self.write("t.jsonl", "".join(
            '{"time":%d,"id":"%d","user":"u%d","gpus":%d,"duration":%d}\n'
            % (i * 60, i, i % 7, 1 + i % 4, 30 + i * i % 1700)
            for i in range(800)))
        log = str(self.folder / "long.log")
        self.ask("sim", "--cluster", "nodes:2 gpu:4 cpus:64", "--trace",
                 trace, "--until", "40000", "--log", log)
        done = self.ask("when", log)
        self.assertRegex(done.stdout, r"corrected by \d+ past forecasts?")
        self.assertNotIn("corrected", self.ask("when", "--quick", log).stdout)

    # --- what-if ------------------------------------------------------------

    def test_kill(self):
        done = self.ask("what-if", "--kill", "11", self.log)
        self.assertIn("At once 1 start, 1 stop, 0 move.\n"
                      "  stops at once: train-11 (request 11) of ann\n"
                      "  starts at once: train-13 (request 13) of ann\n",
                      done.stdout)
        told = self.json("what-if", "--kill=train-11")
        self.assertEqual((told["start_now"], told["stop_now"], told["unsafe"]),
                         (1, 1, False))
        self.assertEqual(told["after"]["requests"][0]["p50"], NOW)

    def test_drain_and_submit(self):
        told = self.json("what-if", "--drain", "a", "--submit",
                         "gpus=4 user=cid vc=y name=new duration=2h")
        self.assertFalse(told["unsafe"])
        self.assertEqual(told["later"], 3)
        self.assertEqual(told["after"]["requests"][-1]["id"], 16)
        for words in (["--drain", "a", "--drain", "b"], ["--drain", "a,b"]):
            told = self.json("what-if", *words)
            self.assertEqual(told["never"], 3)
        self.assertIsNone(told["after"]["requests"][0]["p50"])

    def test_submitted_file(self):
        request = {"id": 77, "user": "cid", "vc": "y", "priority": 10,
                   "wants": [{"gpus": 4}, {"cpus": 1, "tasks": 2}]}
        told = self.json("what-if", "--submit", self.write(
            "r.json", json.dumps(request, indent=2)))
        self.assertEqual(told["after"]["requests"][-1]["id"], 77)
        for text, what in (("{", "this is no JSON"),
                           ('{"id":77}', "wants"),
                           ('{"id":13,"wants":[{"gpus":1}]}', "13")):
            done = self.ask("what-if", "--submit", self.write("r.json", text),
                            self.log, code=1)
            self.assertIn(what, done.stderr)

    def test_clusters(self):
        told = self.json("what-if", "--add", "1x box", "--vc", "x=2")
        self.assertEqual(told["start_now"], 1)
        told = self.json("what-if", "--add", "2x gpu:4:h100 cpus:8 mem:16G",
                         "--vc", "y=added1-:1")
        self.assertEqual(told["stop_now"], 0)
        done = self.ask("what-if", "--add", "0x box", self.log, code=1)
        self.assertIn('nodes are added as "2x gpu:8:h100"', done.stderr)
        done = self.ask("what-if", "--vc", "z=2", self.log, code=1)
        self.assertIn("no virtual cluster 'z'", done.stderr)
        done = self.ask("what-if", "--vc", "x", self.log, code=2)
        self.assertIn("--vc needs NAME=SHARE", done.stderr)

    def test_shares_move_in_any_order(self):
        """Only the cluster after all changes has to be valid."""
        text = (self.folder / "a.log").read_text().replace(
            '"y":{"cells":{"box":1}}', '"y":{"cells":{"box":1}},"z":{"cells":{}}')
        log = self.write("z.log", text)
        told = [self.ask("what-if", "--json", *words, log).stdout
                for words in (("--vc", "x=box:0", "--vc", "z=box:1"),
                              ("--vc", "z=box:1", "--vc", "x=box:0"),
                              ("--vc", "z=box:1", "--vc=x=0"))]
        self.assertEqual(set(told), {told[0]})
        done = self.ask("what-if", "--vc", "z=box:1", log, code=1)
        self.assertIn("box", done.stderr)

    def test_unsafe(self):
        config = self.write("new.yaml", """\
skus: {box: {gpu: t4, gpus: 4, cpus: 8, memory: 16G}}
nodes: [{name: b, sku: box}, {name: c, sku: box}]
virtualClusters: {x: {cells: {box: 1}}, y: {cells: {box: 1}}}
""")
        done = self.ask("what-if", "--config", config, self.log, code=1)
        self.assertIn("Not safe: running jobs are stopped or moved.\n"
                      "At once 0 start, 0 stop, 1 move.\n"
                      "  moves at once: train-11 (request 11) of ann, as its "
                      "node is lost\n", done.stdout)
        self.assertEqual(done.stderr,
                         "openpai: error: not safe: 0 running requests would "
                         "be stopped, and 1 would restart elsewhere\n"
                         "  help: use --force to ignore this\n")
        done = self.ask("what-if", "--force", "--config", config, self.log)
        self.assertEqual(done.stderr, "")
        # A virtual cluster with requests cannot go.
        config = self.write("new.yaml", "nodes: [{name: a, sku: box}]\n"
                            "skus: {box: {gpu: t4, gpus: 4, cpus: 8, memory: "
                            "16G}}\n")
        done = self.ask("what-if", "--config", config, self.log, code=1)
        self.assertIn("virtual cluster", done.stderr)

    def test_policy(self):
        self.assertEqual(self.json("what-if", "--policy", "backfill")["same"],
                         3)
        self.json("what-if", "--policy", 'fifo:{"greedy":true}')
        done = self.ask("what-if", "--policy", "best", self.log, code=1)
        self.assertIn("'best'", done.stderr)

    def test_wrong_changes(self):
        for words, code, what in (
                ([], 2, "missing argument: a change"),
                (["--kill"], 2, "this option needs a value: --kill"),
                (["--submit", "gpus=x"], 2, "unknown property of a request: gpus=x"),
                (["--submit", "gpus"], 2, "cannot read gpus"),
                (["--submit", "gpus=1 x"], 2, "of a request: x"),
                (["--submit", "gpus=64 vc=x"], 1, "asks for 64 GPUs"),
                (["--drain", "z"], 1, "error: there is no node 'z'\n"
                 "  help: there are: a, b\n"),
                (["--drain", "a,n[08-11,1]"], 1, "there is no node 'n08'"),
                (["--drain", "b,a[2]x[1-2]"], 1, "there is no node 'a2x1'"),
                (["--drain", "a["], 2, "a bracket is not closed: a["),
                (["--drain", "a]"], 2, "a bracket is not opened: a]"),
                (["--drain", "a[x]"], 2, "only numbers are allowed in brackets: a[x]"),
                (["--drain", "a[1,]"], 2, "only numbers are allowed in brackets: a[1,]"),
                (["--drain", "a[3-1]"], 2, "ends before it begins: a[3-1]"),
                (["--drain", "a,"], 2, "there is no name: a,"),
                (["--drain", "a[1-1000001]"], 2, "more than a million names"),
                (["--drain", "a[" + "1" * 10 + "]"], 2, "only numbers are allowed in brackets"),
                (["--drain", "a" * 600], 2, "this name is too long"),
                (["--drain", "a", "--kill", "99"], 1, "change 2: ")):
            done = self.run_cli("what-if", self.log, *words)
            self.assertEqual(done.returncode, code, words)
            self.assertIn(what, done.stderr)

    def test_what_is_spelled_alike_is_told_once(self):
        """Another 15 s of ten hours."""
        head = list(lines())[0]
        del head["cluster"]["virtualClusters"]
        log = [head] + [
            {"time": 0, "event": "submit", "request": {
                "id": i, "duration": seconds * SECOND,
                "wants": [{"gpus": 4}]}}
            for i, seconds in enumerate((36000, 36010, 40, 40), 1)]
        log.append({"time": 0, "event": "decide"})
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n"
                       for line in log)
        done = self.run_cli("what-if", "--drain", "b", "-", input=text)
        self.assertIn("2 unchanged; mean of their median waits: "
                      "10 h.\n", done.stdout)

    def test_nothing_waits(self):
        head = list(lines())[0]
        text = json.dumps(head, separators=(",", ":")) + "\n"
        done = self.run_cli("what-if", "--drain", "b", "-", input=text)
        self.assertEqual(done.stdout, "At once nothing starts, stops or moves."
                         "\nNo request is waiting.\n")

    # --- fit ----------------------------------------------------------------

    def test_fit(self):
        done = self.ask("fit", self.log, "13")
        self.assertIn("train-13 (request 13) of ann: in ", done.stdout)
        self.assertIn("No other shape that was tried starts sooner.",
                      done.stdout)
        told = json.loads(self.ask("fit", "--json", "--vc", "y", self.log,
                                   "13").stdout)
        self.assertEqual(told["shapes"][0]["what"], "as it is")
        done = self.ask("fit", self.log, "12", code=1)
        self.assertIn("request 12 does not wait", done.stderr)
        done = self.ask("fit", self.log, code=2)
        self.assertIn("this verb requires: JOB", done.stderr)

    def test_fit_less(self):
        head = list(lines())[0]
        log = [head] + [
            {"time": 0, "event": "submit", "request": {
                "id": 1, "vc": "x", "duration": 100 * SECOND,
                "wants": [{"gpus": 1}]}},
            {"time": 0, "event": "submit", "request": {
                "id": 2, "vc": "x", "wants": [{"gpus": 4}]}},
            {"time": 0, "event": "decide"}]
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n"
                       for line in log)
        done = self.run_cli("fit", "-", "2", input=text)
        self.assertIn("  now: 3 GPUs for each task rather than 4 (75 % of its "
                      "GPUs)\n", done.stdout)
        told = json.loads(self.run_cli("fit", "--vc", "y", "--json", "-", "2",
                                       input=text).stdout)
        self.assertEqual(told["shapes"][1]["vc"], "y")
        self.assertEqual(told["shapes"][1]["changes"],
                         [{"event": "change", "id": 2, "key": "vc", "want": 0,
                           "value": "y"}])

    # --- wrong logs -----------------------------------------------------------

    def test_wrong_logs(self):
        done = self.ask("when", self.write("d.log", ""), code=1)
        self.assertIn("this log is empty", done.stderr)
        done = self.ask("when", "nowhere.log", code=2)
        self.assertIn("cannot read nowhere.log", done.stderr)
        with open(self.log, encoding="utf-8") as log:
            text = log.read()
        done = self.ask("when", self.write("e.log", text + "{\"x\":1}\n"),
                        code=1)
        self.assertRegex(done.stderr, r"e\.log:50:\d+: error: ")
        # A line that is being written does not count.
        for cut in ('{"time":1,"event":"submit","request":{"id":99', '{"a":"b}',
                    '{"ti'):
            done = self.ask("when", self.write("f.log", text + cut))
            self.assertEqual(done.stdout, self.ask("when", self.log).stdout)
        done = self.ask("when", self.write("g.log", text + '{"x":1}'), code=1)
        self.assertRegex(done.stderr, r"g\.log:50:\d+: error: ")
        done = self.ask("when", self.write("h.log", '{"sn'), code=1)
        for words in (["--runs", "x"], ["--runs", "100001"], ["--seed", "-1"],
                      ["a", "b", "c"]):
            self.assertEqual(
                self.run_cli("when", *words, self.log).returncode, 2)
