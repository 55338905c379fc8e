"""openpai at and openpai sched story: a scheduler's log, at any time."""

import json

import program

MAY = 1777593600 * 10**6  # 2026-05-01
MINUTE = 60 * 10**6
HOUR = 60 * MINUTE

SNAPSHOT = {
    "snapshot": 1, "time": MAY, "events": 0, "turns": 0, "orders": 0,
    "first_port": 20000, "last_port": 20009, "next_port": 20000,
    "cluster": {"skus": {"box": {"gpu": "V100", "gpus": 8, "cpus": 32,
                                 "memory": "64G"}},
                "nodes": [{"name": "n[1-2]", "sku": "box"}]},
    "policy": {"name": "fifo", "options": {}, "state": None}}


def submit(time, number, tasks, gpus, name, hours):
    return [{"time": MAY + time, "event": "submit",
             "request": {"id": number, "name": name,
                         "duration": hours * HOUR,
                         "wants": [{"tasks": tasks, "gpus": gpus}]}},
            {"time": MAY + time, "event": "decide"}]


def started(time, number):
    return [{"time": MAY + time, "event": "started", "id": number}]


def finished(time, number):
    return [{"time": MAY + time, "event": "finished", "id": number},
            {"time": MAY + time, "event": "decide"}]


EVENTS = (submit(0, 17, 1, 8, "big", 5) + started(0, 17) +
          submit(HOUR // 2, 23, 1, 4, "half", 4) + started(HOUR // 2, 23) +
          submit(HOUR, 30, 1, 8, "eight", 2) +
          submit(HOUR + 5 * MINUTE, 31, 2, 4, "mine", 1) +
          submit(HOUR + 6 * MINUTE, 32, 1, 2, "same", 1) +
          submit(HOUR + 6 * MINUTE, 33, 1, 2, "same", 1) +
          finished(4 * HOUR, 23) + started(4 * HOUR, 30) +
          finished(5 * HOUR, 17) + started(5 * HOUR, 31) +
          finished(6 * HOUR, 31))


class AtTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.text = "".join(json.dumps(line, separators=(",", ":")) + "\n"
                            for line in [SNAPSHOT] + EVENTS)
        self.log = self.write("day.log", self.text)

    def at(self, *words, code=0):
        done = self.run_cli("at", "--log", self.log, *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr if code else done.stdout

    def test_queue(self):
        out = self.at("2026-05-01 04:30", "queue")
        self.assertIn("at 2026-05-01 04:30:00: policy fifo;", out)
        self.assertIn("until 2026-05-01 04:00:00\n", out)
        rows = [line.split() for line in out.splitlines()]
        self.assertIn(["30", "default", "0", "0", "1", "-", "eight"], rows)
        self.assertIn(["31", "default", "0", "1", "0", "gpu", "-", "mine"],
                      rows)
        self.assertNotIn("half", out)
        self.assertIn("half", self.at("2026-05-01T03:59:59Z", "queue"))
        answer = json.loads(self.at("--json", "2026-05-01 04:30", "queue"))
        self.assertEqual(answer["time"], MAY + 4 * HOUR)
        self.assertEqual([r["id"] for r in answer["requests"]],
                         [17, 30, 31, 32, 33])
        self.assertEqual(answer["requests"][2]["lacks"], "gpu")
        self.assertEqual(answer["requests"][2]["gpus"], 8)
        self.assertEqual(answer["requests"][3]["behind"], 31)

    def test_nodes_and_vcs(self):
        rows = [line.split()
                for line in self.at("+2h", "nodes").splitlines()]
        self.assertIn(["n1", "up", "0", "of", "8", "32", "of", "32", "64.0G",
                       "of", "64.0G", "-"], rows)
        self.assertIn(["n2", "up", "4", "of", "8", "32", "of", "32", "64.0G",
                       "of", "64.0G", "-"], rows)
        answer = json.loads(self.at("--json", "+2h", "nodes"))
        self.assertEqual(answer["nodes"][1]["free_gpus"], 4)
        rows = [line.split() for line in self.at("-0", "vcs").splitlines()]
        self.assertIn(["default", "all", "12", "0", "0", "3"], rows)
        answer = json.loads(self.at("end", "vcs", "--json"))
        self.assertEqual(answer["virtual_clusters"][0]["used"], 12)

    def test_why(self):
        self.assertIn("mine (request 31) waits: it is not its turn: eight "
                      "(request 30) goes first.",
                      self.at("2026-05-01 02:00", "why", "31"))
        self.assertEqual(self.at("2026-05-01 02:00", "why", "mine"),
                         self.at("2026-05-01 02:00", "why", "31"))
        answer = json.loads(self.at("--json", "+4h30m", "why", "31"))
        self.assertEqual(answer["lack"], "gpu")
        self.assertIn("there is no request 23",
                      self.at("end", "why", "23", code=1))
        self.assertIn("there is no request 'half' at that time",
                      self.at("end", "why", "half", code=1))
        self.assertIn("requests 32 and 33 both have the name 'same'",
                      self.at("+2h", "why", "same", code=1))

    def test_one_set_of_options(self):
        """Verbs about a scheduler name its log in the same way."""
        log = self.write("cut.log", "".join(
            json.dumps(line) + "\n" for line in [SNAPSHOT] + EVENTS
            if line["time"] < MAY + 4 * HOUR))
        told = self.run_cli("sched", "explain", log, "32").stdout
        self.assertIn("same (request 32) waits: ", told)
        for words in (["why", "32"], ["sched", "explain", "32"]):
            done = self.run_cli(*words, "--log", log)
            self.assertEqual((done.returncode, done.stdout), (0, told), words)
        for words in (["when", "32"], ["when"], ["what-if", "--kill=30"],
                      ["fit", "32"], ["sched", "show"], ["at", "end", "queue"]):
            done = self.run_cli(*words, "--json", "--log", log)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertIsInstance(json.loads(done.stdout), dict)
        done = self.run_cli("why", "32", "--log", log, "--root", "/")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--root and a log exclude each other", done.stderr)

    def test_decisions(self):
        out = self.at("2026-05-01 05:30", "decisions")
        self.assertEqual(len(out.splitlines()), 2)
        self.assertIn("2026-05-01 05:00:00  start        31     0      2  "
                      "n1[0-7]", out)
        out = self.at("2026-05-01 05:30", "decisions", "--json", "--since",
                      "2h")
        self.assertEqual([json.loads(line)["id"]
                          for line in out.splitlines()], [30, 31])
        out = self.at("end", "decisions", "--json", "--since", "99d")
        self.assertEqual(len(out.splitlines()), 6)
        self.at("end", "decisions", "--since", "soon", code=2)
        self.at("end", "queue", "--since", "1h", code=2)

    def test_times(self):
        self.assertIn("the log covers 2026-05-01 00:00:00 to "
                      "2026-05-01 06:00:00",
                      self.at("2026-05-02", "queue", code=1))
        self.assertIn("before the beginning",
                      self.at("2026-04-30 23:59", "queue", code=1))
        self.assertIn("'yesterday' is not a time",
                      self.at("yesterday", "queue", code=2))
        self.assertEqual(self.at("2026-05-01 02:00+01:00", "queue"),
                         self.at("-5h", "queue"))

    def test_which_log(self):
        self.env["OPENPAI_LOG"] = self.log
        named = self.run_cli("at", "end", "queue")
        self.assertEqual(named.stdout, self.at("end", "queue"))
        piped = self.run_cli("at", "--log", "-", "end", "queue",
                             input=self.text)
        self.assertEqual(piped.stdout, named.stdout)
        del self.env["OPENPAI_LOG"]
        none = self.run_cli("at", "end", "queue")
        self.assertEqual(none.returncode, 2)
        self.assertIn("OPENPAI_LOG", none.stderr)
        none = self.run_cli("at", "end", "queue", "--log", "none.log")
        self.assertEqual(none.returncode, 2)
        self.assertIn("cannot read none.log: No such file", none.stderr)

    def test_misuse(self):
        for words in ([], ["end"], ["end", "why"], ["end", "queue", "31"],
                      ["end", "why", "31", "32"], ["end", "nods"],
                      ["--what", "end", "queue"]):
            self.at(*words, code=2)
        self.assertIn("did you mean nodes?", self.at("end", "nods", code=2))
        self.assertIn("name a log with --log LOG",
                      self.at("end", "queue", "x.log", code=2))

    def test_wrong_logs(self):
        lines = self.text.splitlines(keepends=True)
        self.log = self.write("bad.log", "".join(lines[:9]) +
                              '{"time":%d,"event":"tim"}\n' % (MAY + HOUR))
        self.assertIn("half", self.at("+30m", "queue"))
        self.assertIn("bad.log:10:34: error: \"event\" cannot be \"tim\"",
                      self.at("end", "queue", code=1))
        self.log = self.write("cut.log", self.text + '{"time":1777')
        self.assertIn("until 2026-05-01 06:00:00", self.at("end", "queue"))
        self.log = self.write("none.log", "")
        self.assertIn("is empty", self.at("end", "queue", code=2))
        self.log = self.write("text.log", "hello\n")
        self.assertIn("text.log:1:1: error:", self.at("end", "queue", code=1))

    def test_snapshots_are_checked(self):
        lines = self.text.splitlines(keepends=True)
        middle = self.run_cli("sched", "show", "--json", "--until", "10",
                              self.log).stdout
        log = self.write("middle.log",
                         "".join(lines[:10] + [middle] + lines[10:]))
        plain = self.run_cli("sched", "replay", self.log)
        for words in ([], ["--check"]):
            done = self.run_cli("sched", "replay", *words, log)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, plain.stdout)
        # Behind it a log that began anew, as a platform's after a restart.
        twice = self.write("twice.log", "".join(lines * 2))
        self.assertEqual(self.run_cli("sched", "replay", "--check",
                                      twice).returncode, 0)
        wrong = self.write("wrong.log", "".join(
            lines[:10] + [middle.replace('"orders":2', '"orders":3')] +
            lines[10:]))
        done = self.run_cli("sched", "replay", "--check", wrong)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"wrong.log:11:\d+: error: this "
                                      r"snapshot differs from the state after the lines")
        self.assertEqual(self.run_cli("sched", "replay", wrong).returncode, 0)
        self.assertEqual(self.run_cli("sched", "replay", "--check",
                                      "--policy", "fifo", log).returncode, 2)

    def test_story(self):
        done = self.run_cli("sched", "story", "--policy", "backfill",
                            self.log, "31")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2026-05-01 01:05:00  2 h 55 min: it was not its turn, "
                      "behind request 30 (eight);", done.stdout)
        self.assertIn("2026-05-01 04:00:00  1 h: no node had 4 GPUs free; "
                      "requests 17 (big, 8 GPUs) and 30 (eight, 8 GPUs) held "
                      "16 of the 16 V100 GPUs\n", done.stdout)
        self.assertIn("Under backfill it would have started at ", done.stdout)
        done = self.run_cli("sched", "story", "--json", "--policy", "fifo",
                            self.log, "31")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["waited"], 3 * HOUR + 55 * MINUTE)
        self.assertEqual(answer["other"]["earlier"], 0)
        self.assertEqual(self.run_cli("sched", "story", self.log,
                                      "mine").stdout,
                         self.run_cli("sched", "story", self.log,
                                      "31").stdout)
        done = self.run_cli("sched", "story", "--policy",
                            'backfill:{"mode":"conservative"}', self.log, "31")
        self.assertIn("Under backfill it would have started at ", done.stdout)
        for words, code, what in (
                (["99"], 1, "there is no request 99 in this log"),
                (["31", "--policy", "fifo:{"], 1, "expected a key"),
                (["31", "--policy", "best"], 1, "there is no policy 'best'"),
                (["theirs"], 1, "the log has no request 'theirs'"),
                ([], 2, "this verb requires: JOB")):
            done = self.run_cli("sched", "story", self.log, *words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(what, done.stderr)

    def test_a_long_wait_is_a_page(self):
        """Somebody else stands before it each hour, for ten days."""
        lines = [{"snapshot": 1, "time": 0, "events": 0, "turns": 0,
                  "orders": 0, "first_port": 20000, "last_port": 20009,
                  "next_port": 20000, "cluster": {
                      "skus": {"box": {"gpu": "t4", "gpus": 2, "cpus": 8,
                                       "memory": "16G"}},
                      "nodes": [{"name": "a", "sku": "box"}]},
                  "policy": {"name": "fifo", "options": {}, "state": None}}]
        for i in range(1, 242):
            lines.append({"time": 0, "event": "submit", "request": {
                "id": i, "wants": [{"gpus": 2}]}})
        lines.append({"time": 0, "event": "decide"})
        for i in range(1, 241):
            lines.append({"time": i * HOUR, "event": "finished", "id": i})
            lines.append({"time": i * HOUR, "event": "decide"})
        log = self.write("long.log", "".join(
            json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
        text = self.run_cli("sched", "story", log, "241").stdout
        rows = [row for row in text.splitlines() if ": it was not its " in row
                or ": no node had " in row]
        self.assertTrue(8 <= len(rows) <= 24, text)
        self.assertIn("and others", rows[0])
        self.assertIn("It waited 10 d in total.", text)
        told = json.loads(self.run_cli("sched", "story", "--json", log,
                                       "241").stdout)
        self.assertTrue(len(told["waits"]) > 200)
