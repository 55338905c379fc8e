"""openpai at and sched story, show, explain and replay of a platform's own log:
here, in two files, and of a server elsewhere."""

import errno
import json
import os
import pathlib
import resource
import signal

import played
import program
import served

LOG = "/api/v2/scheduler/log"
VERBS = (("at", "end", "queue"), ("at", "begin", "nodes"),
         ("at", "+0", "vcs"), ("at", "-0", "why", "second"),
         ("at", "end", "decisions", "--since", "99d", "--json"),
         ("sched", "story", "first"), ("sched", "story", "--json", "2"),
         ("sched", "show"), ("sched", "show", "--json", "--until", "4"),
         ("sched", "explain", "second"), ("sched", "replay"))


def begin_of(path):
    """When a log begins, as openpai at reads a time."""
    with open(path, encoding="utf-8") as log:
        return json.loads(log.readline())["time"]


def ids(decisions):
    """Of which jobs they are: one may be begun anew."""
    return {json.loads(line)["id"] for line in decisions.splitlines()}


def at(time):
    return f"@{time // 10**6}.{time % 10**6:06}"


class TwoFilesTest(served.ServedTest):
    """A platform whose log was put aside between two jobs."""

    def setUp(self):
        super().setUp()
        self.last = self.root / "scheduler.log"
        self.before = self.root / "scheduler.log.1"
        self.serve_here()
        self.ok("submit", "--name", "first", self.job(":"))
        self.ok("wait", "first")
        self.end(self.server)
        self.last.rename(self.before)
        self.serve_here()
        self.ok("submit", "--name", "second", self.job("echo up; sleep 600"))
        self.until_up("second")
        self.far = {"OPENPAI_CLUSTER": self.url,
                    "OPENPAI_TOKEN": self.login()}

    def serve_here(self):
        self.server = self.serve()

    def asked(self, *words, far=True, code=0, **env):
        """What is printed, or, of what fails, told."""
        kept = self.env
        self.env = {**kept, **(self.far if far else {}), **env}
        done = self.run_cli(*words)
        self.env = kept
        self.assertEqual(done.returncode, code, (words, done.stderr))
        if code:
            self.assertEqual(done.stdout, "")
        return done.stderr if code else done.stdout

    def test_the_same_from_everywhere(self):
        for words in VERBS:
            with self.subTest(words):
                near, again = self.asked(*words, far=False), None
                while near != again:  # something was decided meanwhile
                    again, far = near, self.asked(*words)
                    near = self.asked(*words, far=False)
                self.assertNotEqual(near, "")
                self.assertEqual(near, far)
        self.assertEqual(ids(self.asked("sched", "replay")), {1, 2})

    def test_what_was_put_aside_is_found(self):
        begin, turn = begin_of(self.before), begin_of(self.last)
        self.assertLess(begin, turn)
        for far in (False, True):
            for time, jobs in (("end", {1, 2}), (at(turn - 1), {1}),
                               (at(turn), {1}), (at(begin), set())):
                told = self.asked("at", "--json", "--since", "99d", time,
                                  "decisions", far=far)
                self.assertEqual(ids(told), jobs, (time, told))
            told = self.asked("at", "--json", at(turn - 1), "queue", far=far)
            self.assertLessEqual(json.loads(told)["time"], turn - 1)
            told = self.asked("at", at(begin - 1), "queue", far=far, code=1)
            self.assertIn("before the beginning of this log", told)
            # All of it is told of, not only the last file.
            whole = self.asked("at", "begin", "queue", far=far)
            self.assertIn("the log covers " + whole[len("at "):len(
                "at 2026-01-01 00:00:00")], told)

    def test_snapshots_of_a_restarted_platform_are_checked(self):
        """A restart changes the scheduler while no log is open."""
        self.asked("sched", "replay", "--check", far=False)
        self.end(self.server)
        self.serve_here()
        self.asked("sched", "replay", "--check", far=False)
        with open(self.last, encoding="utf-8") as log:
            text = log.read()
        self.assertEqual(text.count('"gap":true}\n'), 2)
        # One that does not say so is compared.
        log = self.write("wrong.log", text.replace(',"gap":true}', "}"))
        done = self.run_cli("sched", "replay", "--check", log)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this snapshot differs from the state after the lines before it",
                      done.stderr)

    def test_whose(self):
        """Jobs of two users may have one name."""
        self.assertEqual(
            self.ask("POST", "/api/v2/users", {"username": "bob",
                                               "password": "correct pony"},
                     self.far["OPENPAI_TOKEN"])[0], 201)
        self.far["OPENPAI_TOKEN"] = self.login("bob", "correct pony")
        self.asked("submit", "--name", "first", self.job("sleep 600"))
        self.addCleanup(self.asked, "stop", "bob~first")
        # Who is known may see what all see, and no more.
        told = self.asked("sched", "story", "first", code=1)
        self.assertIn("requests 1 and 3 both had the name 'first'", told)
        self.assertIn("USER~NAME", told)
        told = self.asked("sched", "story", "bob~first")
        self.assertIn("first (request 3) of bob ", told)
        self.assertIn("first (request 3) of bob ",
                      self.asked("sched", "story", "bob~first", far=False))
        self.assertIn("first (request 3)", self.asked(
            "at", "end", "why", "bob~first"))
        self.assertIn("the log has no request 'bob~second'", self.asked(
            "sched", "story", "bob~second", code=1))
        self.assertIn("there is no request 'bo~first' at that time", self.asked(
            "at", "end", "why", "bo~first", code=1))

    def test_what_is_wrong(self):
        for words, code, part in (
                (("sched", "story", "nobody"), 1, "no request 'nobody'"),
                (("sched", "story", "99"), 1, "there is no request 99"),
                (("sched", "explain", "99"), 1, "99"),
                (("at", "yesterday", "queue"), 2, "is not a time"),
                (("at", "2000-01-01", "queue"), 1, "before the beginning"),
                (("at", "end", "decisions", "--since", "x"), 2, "--since"),
                (("sched", "show", "a.log", "b"), 2, "too many arguments: b"),
                (("sched", "story"), 2, "this verb requires: JOB")):
            for far in (False, True):
                self.assertIn(part, self.asked(*words, far=far, code=code))
        for words in (("sched", "story", "a.log", "1"),
                      ("sched", "show", "a.log"),
                      ("at", "end", "queue", "--log", "a.log")):
            told = self.asked(*words, "--cluster", self.url, code=2)
            self.assertIn("--root and a log exclude each other: a.log", told)
        for words in VERBS:
            told = self.asked(*words, code=2, OPENPAI_TOKEN="wrong")
            self.assertIn("Your token is invalid.\n  help: log in again",
                          told)
            told = self.asked(*words, code=2, TMPDIR="/nowhere/at/all")
            self.assertIn("set $TMPDIR to a folder", told)
        # A line that is none is told where it is.
        count = len(self.before.read_text().splitlines())
        with self.before.open("a") as log:
            log.write("no\n")
        for far, where in ((False, f"{self.before}:{count + 1}:1: error"),
                           (True, f"{LOG}:{count + 1}:1: error")):
            self.assertIn(where, self.replayed(far))
        with self.last.open("a") as log:
            log.write("no\n")
        text = self.before.read_text().splitlines(keepends=True)
        self.before.write_text("".join(text[:-1]))
        lines = len(self.last.read_text().splitlines())
        self.assertIn(f"{self.last}:{lines}:1: error", self.replayed(False))
        self.assertIn(f"{LOG}:{count + lines}:1: error", self.replayed(True))

    def replayed(self, far):
        """What a replay that fails tells."""
        kept = self.env
        self.env = {**kept, **(self.far if far else {})}
        done = self.run_cli("sched", "replay")
        self.env = kept
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_what_is_not_there(self):
        self.assertIn("has no scheduler log", self.none(self.far))
        self.assertIn(f"no log is given, and there is none in {self.root}",
                      self.none({}))
        self.last.mkdir()
        self.assertIn(f"cannot read {self.last}: Is a directory",
                      self.asked("sched", "show", far=False, code=2))
        self.assertIn("Cannot read the scheduler's log: Is a directory",
                      self.asked("sched", "show", code=2))
        self.last.rmdir()
        self.end(self.server)
        self.assertIn("no server answers at",
                      self.asked("sched", "story", "first", code=2))

    def test_a_disk_that_fails(self):
        """A file that ends before its length is like that."""
        short = pathlib.Path("/sys/kernel/uevent_seqnum")
        if not short.exists() or short.stat().st_size < 100:
            self.skipTest("there is no file that says it is longer")
        self.last.unlink()
        self.last.symlink_to(short)
        self.assertIn("the log cannot be read at byte", self.asked(
            "at", "-0", "queue", far=False, code=2))
        self.assertIn("the log cannot be read at byte", self.asked(
            "sched", "show", far=False, code=1))
        self.assertIn(f"cannot read {self.last}: ", self.asked(
            "sched", "story", "first", far=False, code=2))
        self.last.unlink()  # or it would be written to

    def none(self, env):
        for path in (self.last, self.before):
            path.unlink(missing_ok=True)
        return self.asked("at", "end", "queue", far=False, code=2, **env)


class PlayedTest(program.RootTest):
    """A server that answers as a test says."""

    def play(self, status, text, missing=0):
        """Its URL; `asked` is what it was asked for."""
        self.asked = asked = []

        class Handler(played.Handler):
            def do_GET(self):
                known = self.path.startswith(LOG)
                if known:
                    asked.append(self.path[len(LOG):])
                size = len(text.encode()) + missing
                self.answer(text if known else {}, status if known else 200,
                            **{"Content-Length": size} if known else {})
                self.close_connection = True

        self.env["OPENPAI_CLUSTER"] = played.serve(self, Handler).url

    def own_log(self, *jobs):
        """That of a platform here."""
        for name in jobs:
            self.ok("submit", "--name", name, self.job(":"))
        self.ok("wait", *jobs)
        self.ok("down", "--kill")
        return (self.root / "scheduler.log").read_text()

    def test_only_what_is_needed_is_fetched(self):
        text = self.own_log("one")
        self.play(200, text)
        for words, wanted in (
                (("at", "end", "queue"), "s"),
                (("at", "-0", "nodes"), "s"),
                (("at", at(json.loads(text.splitlines()[-1])["time"]),
                  "queue"), "s"),
                (("at", "begin", "queue"), "a"),
                (("at", "+0", "queue"), "a"),
                (("at", "end", "decisions"), "sa"),
                (("sched", "show"), "s"), (("sched", "show", "--until", "1"),
                                           "a"),
                (("sched", "story", "one"), "a"),
                (("sched", "replay"), "a")):
            self.asked.clear()
            self.ok(*words)
            self.assertEqual(["s" if query.startswith("?since=") else "a"
                              for query in self.asked], list(wanted), words)

    def test_one_that_is_cut(self):
        """Half of a log is none."""
        self.play(200, self.own_log("one"), missing=1)
        for words in (("at", "end", "queue"), ("sched", "replay"),
                      ("sched", "story", "one")):
            done = self.run_cli(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("openpai: error: ", done.stderr)

    def test_others(self):
        self.play(404, json.dumps({
            "code": "NoApiError", "message": "Could not find the API."}))
        done = self.run_cli("at", "end", "queue")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("this server is an original OpenPAI, or an older one, "
                      "and cannot do that", done.stderr)
        self.play(200, "<html>\n")
        done = self.run_cli("at", "end", "queue")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(LOG + ":1:1: error: ", done.stderr)

    def test_no_room(self):
        self.play(200, self.own_log("one"))

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

        done = self.run_cli("at", "end", "queue", preexec_fn=limit)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(
            done.stderr, "openpai: error: cannot keep the log: "
            f"{os.strerror(errno.EFBIG)}\n"
            "  help: set $TMPDIR to a folder with enough free space\n")
