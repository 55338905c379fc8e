"""`openpai top`, and `openpai top JOB`; argv: live.py."""

import json
import re

from live import LiveTest


class Top(LiveTest):
    def test_a_job(self):
        _, job = self.waits()
        self.ok("submit", job)
        shown = self.open("top", "test", rows=10)
        shown.until_shown(r"worker/1 +RUNNING")
        self.assertTrue(shown.screen.modes[1049])
        self.assertEqual(len(shown.screen.shown), 5)
        shown.resize(3, 50)
        shown.until(lambda screen: len(screen.shown) == 3)
        shown.type(b"q")
        self.assertEqual(shown.end(), 0)
        self.assertFalse(shown.screen.modes[1049])
        self.assertTrue(shown.screen.modes[25])

    def test_the_tasks_of_a_job_scroll(self):
        _, job = self.waits(instances=9)
        self.ok("submit", job)
        shown = self.open("top", "test", rows=8)
        shown.until_shown(r"... and 5 more: 5 running")

        def first():
            return next(line.split()[0] for line in shown.screen.shown
                        if line.startswith("worker/"))
        self.assertEqual(first(), "worker/0")
        for keys, task in ((b"\033[B", 1), (b"\033[B", 2), (b"\033[A", 1),
                           (b"\033[F", 5), (b"\033[B", 5), (b"\033[5~", 3),
                           (b"\033[H", 0), (b"\033[6~", 2)):
            shown.type(keys)
            shown.until(lambda screen: first() == f"worker/{task}")
        shown.type(b"q")
        self.assertEqual(shown.end(), 0)

    def test_all_jobs(self):
        _, job = self.waits()
        self.ok("submit", job)
        shown = self.open("top", rows=6)
        shown.until_shown(r"test +\w+ +RUNNING")
        shown.type(b"\x03")
        self.assertEqual(shown.end(), 0)
        both = json.loads(self.ok("top", "--json"))
        self.assertEqual(both["status"]["jobs"]["running"], 1)
        self.assertEqual([job["name"] for job in both["jobs"]], ["test"])

    def many(self):
        """A job that runs, below six newer ones that wait for its GPUs."""
        self.large_machine()
        gate = self.fifo()
        self.ok("submit", "--name", "first", "--gpus", "8", "--", "sh", "-c",
                f"read x < {gate}")
        # Before it runs it stands below, and another job is the first chosen.
        self.until(lambda: "RUNNING" in self.ok("list", "first"))
        for i in range(6):
            self.ok("submit", "--name", f"later_{i}", "--gpus", "8", "--",
                    "true")
        return gate

    @staticmethod
    def rows(screen):
        return [line.split()[0] for line in screen.shown[3:]
                if re.match(r"\w+ .* (RUNNING|WAITING|STOPPED) ", line)]

    def test_running_ones_come_first(self):
        self.many()
        shown = self.open("top", rows=9)
        shown.until(lambda screen: self.rows(screen) == [
            "first", "later_5", "later_4", "later_3"] and
            screen.shown[-2] == "... and 3 more")
        shown.type(b"\033[B" * 5)
        shown.until(lambda screen: self.rows(screen) == [
            "later_4", "later_3", "later_2", "later_1"] and
            screen.shown[-2] == "... 2 above, 1 more below")
        shown.type(b"\033[F")  # End
        shown.until(lambda screen: self.rows(screen)[-1] == "later_0")
        shown.until(lambda screen: "\033[7mlater_0" in shown.text)
        shown.type(b"\033[5~\033[5~")  # Page Up
        shown.until(lambda screen: self.rows(screen)[0] == "first")
        shown.type(b"q")
        self.assertEqual(shown.end(), 0)
        lines = self.ok("top", "--once").splitlines()
        self.assertEqual([line.split()[0] for line in lines[3:]], [
            "first", *(f"later_{i}" for i in reversed(range(6)))])

    def test_a_filter(self):
        self.many()
        shown = self.open("top")
        shown.until(lambda screen: len(self.rows(screen)) == 7)
        shown.type(b"/later_4q")
        shown.until(lambda screen: self.rows(screen) == [])
        shown.type(b"\x7f")
        shown.until(lambda screen: self.rows(screen) == ["later_4"])
        shown.until(lambda screen: screen.shown[-1] == "/later_4_")
        shown.type(b"\r")
        shown.until_shown(r"filter: later_4 .*\n(.*\n)*Up/Down")
        shown.type(b"\033")
        shown.until(lambda screen: len(self.rows(screen)) == 7)
        shown.type(b"q")
        self.assertEqual(shown.end(), 0)

    def test_a_job_is_stopped_after_a_question(self):
        self.many()
        shown = self.open("top")
        shown.until(lambda screen: len(self.rows(screen)) == 7)
        shown.type(b"\033[B\033[Bk")
        shown.until_shown(r"stop \S+~later_4\? y: yes")
        shown.type(b"n")
        shown.until_shown(r"Up/Down choose")
        self.assertIn("WAITING", self.ok("list", "later_4"))
        shown.type(b"k")
        shown.until_shown(r"stop \S+~later_4\? y: yes")
        shown.type(b"y")
        shown.until(lambda screen: "later_4" not in self.rows(screen))
        shown.until_shown(r"stopping \S+~later_4")
        shown.type(b"a")
        shown.until_shown(r"later_4 .* STOPPED ")
        shown.type(b"\033[Hk")  # Home
        shown.until_shown(r"stop \S+~first\?")
        shown.type(b"k")  # held down, it kills nothing
        shown.until_shown(r"Up/Down choose")
        self.assertRegex(self.ok("list", "first"), "RUNNING")
        shown.type(b"kK")
        shown.until_shown(r"first .* STOPPED ")
        shown.type(b"q")
        self.assertEqual(shown.end(), 0)

    def test_the_tasks_of_the_chosen_job(self):
        _, job = self.waits()
        self.ok("submit", job)
        shown = self.open("top")
        shown.until_shown(r"test +\w+ +RUNNING")
        shown.type(b"\r")
        shown.until_shown(r"worker/1 +RUNNING")
        shown.type(b"\033")
        shown.until_shown(r"Up/Down choose")
        shown.type(b"q")
        self.assertEqual(shown.end(), 0)

    def test_once(self):
        _, job = self.waits()
        self.ok("submit", job)
        self.until_running()
        lines = self.ok("top", "--once", "test").splitlines()
        self.assertEqual(len(lines), 5, lines)
        found = json.loads(self.ok("top", "--json", "test"))
        self.assertEqual((found["name"], found["state"]), ("test", "RUNNING"))
        self.assertEqual([(task["role"], task["index"], task["state"],
                           task["retries"], task["code"], task["gpus"])
                          for task in found["tasks"]],
                         [("worker", i, "RUNNING", 0, None, [])
                          for i in range(2)])
        self.ok("stop", "test")
        self.run_cli("wait", "test")
        lines = self.ok("top", "test").splitlines()
        self.assertRegex(lines[0], r"^test STOPPED")
        self.assertRegex(lines[-1], r"^worker/1 +(STOPPED|FAILED) .* - +-$")

    def test_gpus(self):
        self.large_machine()
        _, job = self.waits(gpus=2)
        self.ok("submit", job)
        self.until_running()
        numbers = self.has_gpus(self.ok("top", "test"), 2, "80.0 GiB")
        found = json.loads(self.ok("top", "--json", "test"))
        self.assertEqual([task["gpus"] for task in found["tasks"]], [
            [{"number": i, "busyPercent": 90 + i, "memoryUsed": 0,
              "memoryTotal": 40 << 30} for i in its] for its in numbers])

    def test_gpus_that_nobody_knows(self):
        """Not zeros."""
        self.large_machine()
        gate = self.fifo()
        self.ok("submit", self.tasks(f"read x < {gate}", gpus=4))
        self.ok("submit", "--name", "second", self.tasks("true", gpus=4))
        self.assertRegex(self.ok("top", "second"),
                         r"worker/1 +WAITING +\d+s +- +- +- +- +-\n")
        found = json.loads(self.ok("top", "--json", "second"))
        self.assertEqual([task["gpus"] for task in found["tasks"]],
                         [None, None])

    def test_wrong_calls(self):
        for args, what in ((("a", "b"), "too many jobs are given: b"),
                           (("a~b~c",), "invalid name of a job"),
                           (("--all", "a"), "all tasks of a job are always shown")):
            done = self.run_cli("top", *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(what, done.stderr)
        self.ok("up")
        done = self.run_cli("top", "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none is not found", done.stderr)
