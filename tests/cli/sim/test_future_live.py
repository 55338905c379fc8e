"""openpai when, what-if and fit of a platform that runs; and what else of it is
told from afar."""

import json
import os
import sqlite3

import played
import program
import served


class LiveTest(served.ServedTest):
    def setUp(self):
        super().setUp()
        server = self.serve()
        self.addCleanup(self.end, server)
        self.env["OPENPAI_TOKEN"] = self.login()
        self.env["OPENPAI_CLUSTER"] = self.url
        cpus = len(os.sched_getaffinity(0))
        for name, command in (("first", "echo up; sleep 600"),
                              ("second", ":"), ("third", ":")):
            self.ok("submit", "--name", name, self.job(command, cpu=cpus))
        self.until_up("first")
        self.addCleanup(self.run_cli, "stop", "first", "second", "third")

    def bad(self, *words, code=1):
        done = self.run_cli(*words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def test_when(self):
        told = json.loads(self.ok("when", "--json"))
        self.assertEqual([(r["name"], r["user"]) for r in told["requests"]],
                         [("second", "admin"), ("third", "admin")])
        self.assertEqual(told["requests"][0]["alike"], "none")
        second = self.ok("when", "second")
        self.assertRegex(second, r"^second \(request \d+\) of admin: ")
        self.assertEqual(len(second.splitlines()), 2)
        self.assertEqual(self.ok("when", "admin~second").splitlines()[0][:15],
                         second[:15])
        self.assertIn("ann~second", self.bad("when", "ann~second"))
        self.assertIn("fourth", self.bad("when", "fourth"))
        self.ok("submit", "--name", "huge", self.job("true", cpu=100000))
        self.addCleanup(self.run_cli, "stop", "huge")
        said = self.bad("when", "huge")
        self.assertIn("job 'huge' waits, and its start cannot be predicted: ",
                      said)
        self.assertIn("CPUs", said)
        self.ok("submit", "--name", "over", self.job("true"))
        self.ok("stop", "over")
        self.run_cli("wait", "over")
        self.assertIn("job 'over' is neither waiting nor running: it is STOPPED",
                      self.bad("when", "over"))
        self.assertIn("--root and a log exclude each other",
                      self.bad("when", "--cluster", self.url, "a", "b", code=2))
        # A word that is a file is a log, unless a platform is named.
        self.write("second", "")
        self.assertIn("empty", self.bad("when", "second"))
        self.assertIn("second (request ",
                      self.ok("when", "--cluster", self.url, "second"))

    def test_what_jobs_took(self):
        """Two hours each, of those that ended, as a played server has it."""
        self.ok("stop", "first")
        self.ok("wait", "second", "third")
        for name, command in (("fourth_1", "sleep 600"), ("fourth_2", ":")):
            self.ok("submit", "--name", name, self.job(
                command, cpu=len(os.sched_getaffinity(0))))
            self.addCleanup(self.run_cli, "stop", name)
        token = self.env["OPENPAI_TOKEN"]
        ended = json.loads(self.ask("GET", "/api/v2/jobs?state=SUCCEEDED",
                                    token=token)[2])
        for job in ended:
            job["launchedTime"] -= 7200000
            job["submissionTime"] -= 7200000
        answers = {
            "/api/v2/jobs": json.dumps(ended * 8),
            "/api/v2/scheduler": self.ask("GET", "/api/v2/scheduler",
                                          token=token)[2]}
        self.env["OPENPAI_CLUSTER"] = self.play(answers)
        told = json.loads(self.ok("when", "--json", "fourth_2"))
        self.assertEqual(told["requests"][0]["alike"], "user_size")
        wait = told["requests"][0]["p50"] - told["now"]
        longest = max(job["completedTime"] - job["launchedTime"]
                      for job in ended)  # two hours, and what it really took
        self.assertTrue(3600e6 < wait <= (longest + 1) * 1000, wait)

    def play(self, answers):
        """A server that knows these only; its URL."""
        class Handler(played.Handler):
            def do_GET(self):
                self.answer(answers.get(self.path.partition("?")[0], "{}"))

        return played.serve(self, Handler).url

    def test_what_if(self):
        told = self.ok("what-if", "--kill", "first")
        self.assertIn("  stops at once: first (request ", told)
        self.assertIn("  starts at once: second (request ", told)
        node = json.loads(self.ok("node", "list", "--json"))[0]["name"]
        self.assertIn("2 never",
                      self.ok("what-if", "--drain", node))
        self.assertIn("missing argument: a change",
                      self.bad("what-if", code=2))
        # Nothing of it has happened.
        self.assertEqual(
            {job["name"]: job["state"]
             for job in json.loads(self.ok("list", "--json"))},
            {"first": "RUNNING", "second": "WAITING", "third": "WAITING"})

    def test_fit(self):
        self.assertIn("second (request ", self.ok("fit", "second"))
        self.assertIn("this verb requires: JOB", self.bad("fit", code=2))

    def test_status_and_copies(self):
        self.assertIn("1 running, 2 waiting", self.ok("status"))
        self.ok("backup", str(self.folder / "copy.db"))
        with sqlite3.connect(self.folder / "copy.db") as db:
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchone(),
                             ("ok",))
        self.assertEqual(
            [json.loads(line)["name"]
             for line in self.ok("export").splitlines()],
            ["first", "second", "third"])
        self.assertIn("up works on this machine only",
                      self.bad("up", "--cluster", self.url, code=2))


class HistoryTest(program.RootTest):
    def test_history(self):
        cpus, fifo = len(os.sched_getaffinity(0)), self.fifo()
        for name, command in (("first", f"read x < {fifo}"),
                              ("second", ":")):
            self.ok("submit", "--name", name, self.job(command, cpu=cpus))
        self.release(fifo)
        self.ok("wait", "first", "second")
        told = self.ok("sched", "story", "second")
        self.assertRegex(told, r"^second \(request \d+\) of ")
        self.assertIn("held ", told)
        self.assertIn("  it succeeded\n", told)
        self.assertRegex(self.ok("at", "end", "queue"), "; 0 requests,")
        # It begins when its platform did.
        done = self.run_cli("at", "2020-01-01", "queue")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the log covers ", done.stderr)
        decided = self.ok("at", "end", "decisions", "--json")
        # More often, if another program has just taken a port.
        self.assertEqual({(d["decision"], d["id"]) for d in map(
            json.loads, decided.splitlines())}, {("start", 1), ("start", 2)})
        # A folder of that name is no log; nor is the usual server's log here.
        (self.folder / "second").mkdir()
        self.assertEqual(self.ok("sched", "story", "second"), told)
        self.env["OPENPAI_CLUSTER"] = "http://127.0.0.1:1"
        for words in (("sched", "story", "second"), ("at", "end", "queue")):
            done = self.run_cli(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("cannot connect to http://127.0.0.1:1", done.stderr)
        del self.env["OPENPAI_CLUSTER"]
        # Another job of that name is another request.
        self.ok("rm", "second")
        self.ok("submit", "--name", "second", self.job(":"))
        done = self.run_cli("sched", "story", "second")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"requests \d+ and \d+ both had the name")
        done = self.run_cli("sched", "story", "nobody")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the log has no request 'nobody'", done.stderr)
        done = self.run_cli("at", "end", "queue", "--root", "elsewhere")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "no log is given, and there is none in .*/else")

    def test_ends(self):
        fifo = self.fifo()
        self.ok("submit", "--name", "fails", self.job("exit 9"))
        self.ok("submit", "--name", "stopped", self.job(f"read x < {fifo}"))
        self.run_cli("wait", "fails")
        self.ok("stop", "stopped")
        self.run_cli("wait", "stopped")
        self.assertIn("  it finished with code 255\n",
                      self.ok("sched", "story", "fails"))
        self.assertRegex(self.ok("sched", "story", "stopped"),
                         "  (it finished with code -210: StopFrameworkRequest"
                         "ed|it was cancelled)\n")


class NoPlatformTest(program.RootTest):
    def test_none(self):
        done = self.run_cli("when")
        self.assertEqual(done.returncode, 1)
        self.assertIn("help: no platform runs there", done.stderr)
