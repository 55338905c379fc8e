"""Which jobs a verb is for, and what list shows of them."""

import json
import os
import pwd
import re
import subprocess
import urllib.parse

import played
import program
from box import BoxTest
from entered import Terminal


class OddAnswers(program.RootTest):
    """A server says what it likes."""

    def play(self, answers):
        """Answers by the end of a path, else {}."""
        class Handler(played.Handler):
            def do_GET(self):
                path = self.path.split("?")[0]
                self.answer(next((text for end, text in answers.items()
                                  if path.endswith(end)), "{}"))

        self.env["OPENPAI_CLUSTER"] = played.serve(self, Handler).url

    def test_commands(self):
        for commands in ('[["a"]]', '[{"a": "b"}]', "[7, null, true]", "7",
                         '{"x": "y"}'):
            with self.subTest(commands):
                self.play({"/jobs": '[{"name": "j", "username": "u", '
                                    '"state": "RUNNING", "appExitCode": 255}]',
                           "/config": '{"taskRoles": {"w": {"commands": '
                                      f'{commands}}}}}}}',
                           "~j": '{"taskRoles": {"w": {"taskStatuses": '
                                 '[7, [1], {"containerNodeName": 5}]}}}'})
                shown = self.ok("list", "-o", "name,command,node,code")
                self.assertRegex(shown, r"^NAME .*\nj +")
                self.ok("list", "-w")
                self.ok("show", "u~j")


class Select(BoxTest):
    def setUp(self):
        super().setUp()
        self.gate = self.fifo()

    def three(self):
        """Two that run to an end, and one that waits for self.gate."""
        self.ok("submit", "--name", "train_1", "--tag", "blue", "--", "true")
        self.ok("submit", "--name", "train_2", "--", "sh", "-c", "exit 3")
        self.ok("submit", "--name", "other", "--tag", "blue", "--", "sh",
                "-c", f"read x < {self.gate}")
        self.run_cli("wait", "train_*")

    def names(self, *args):
        table = self.ok("list", "-o", "name", *args).splitlines()
        self.assertEqual(table[0].strip(), "NAME")
        return [line.strip() for line in table[1:]]

    # --- list -------------------------------------------------------------------

    def test_columns(self):
        self.three()
        table = self.ok("list", "-o", "name,code,tags,vc,state", "--sort",
                        "name,desc").splitlines()
        self.assertEqual([line.split() for line in table], [
            ["NAME", "CODE", "TAGS", "VC", "STATE"],
            ["train_2", "3", "-", "default", "FAILED"],
            ["train_1", "0", "blue", "default", "SUCCEEDED"],
            ["other", "-", "blue", "default", "RUNNING"]])
        self.assertEqual(self.ok("list", "--wide").split()[:6],
                         ["NAME", "USER", "STATE", "CODE", "VC", "PRIORITY"])
        self.assertEqual([line.split()[:2] for line in self.ok(
            "list", "-o", "name,code,node", "--sort", "name").splitlines()], [
                ["NAME", "CODE"], ["other", "-"], ["train_1", "0"],
                ["train_2", "3"]])
        table = self.ok("list", "-o", "name,node,command", "--sort",
                        "name").splitlines()
        self.assertEqual(table[0].split(), ["NAME", "NODE", "COMMAND"])
        self.assertRegex(table[1], r"^other +\S+ +sh -c 'read x < /")
        self.assertRegex(table[2], r"^train_1 +[\w.-]+ +true$")
        self.assertRegex(table[3], r"^train_2 +[\w.-]+ +sh -c 'exit 3'$")
        self.assertRegex(self.ok("list", "-w").splitlines()[0],
                         r" NODE +COMMAND$")
        self.assertRegex(self.ok("list", "-o", "submitted"),
                         r"SUBMITTED\n\d{4}-\d\d-\d\d \d\d:\d\d\n")
        for column, names in (("code", ["train_2", "train_1", "other"]),
                              ("code,asc", ["train_1", "train_2", "other"]),
                              ("command", ["train_2", "other", "train_1"]),
                              ("tags,desc", ["other", "train_1", "train_2"])):
            self.assertEqual(names, self.names("--sort", column))
            self.assertEqual(names[:1], self.names("--sort", column, "-n1"))
        self.refused(2, "there is no column: nme", "list", "-o", "name,nme")
        self.refused(2, "--sort: not a column", "list", "--sort", "nme")
        self.release(self.gate)
        self.ok("wait", "other")

    def test_numbers_are_sorted_before_words(self):
        for name, tag in ("nine", "9"), ("word", "1a"), ("ten", "10"):
            self.ok("run", "--name", name, "--tag", tag, "--", "true")
        self.assertEqual(self.names("--sort", "tags,asc"),
                         ["nine", "ten", "word"])
        self.assertEqual(self.names("--sort", "tags,desc"),
                         ["word", "ten", "nine"])

    def test_why_jobs_wait(self):
        """The reason is the one of now, also where nothing else has changed
        since the job was submitted, and after a restart."""
        cpus = str(os.cpu_count())
        command = ("--cpus", cpus, "--", "sh", "-c", f"read x < {self.gate}")
        self.ok("submit", "--name", "first", *command)
        self.until(lambda: "RUNNING" in self.ok("list", "first"))
        self.ok("submit", "--name", "second", *command)
        self.ok("submit", "--name", "third", "--cpus", "1", "--", "true")

        def reasons():
            return {job["name"]: job["queuedReason"]
                    for job in json.loads(self.ok("list", "--json"))}

        before = {"first": None, "second": "cpu", "third": "turn"}
        self.assertEqual(reasons(), before)
        table = self.ok("list", "-o", "name,reason", "--sort", "name")
        self.assertEqual([line.split() for line in table.splitlines()], [
            ["NAME", "REASON"], ["first", "-"], ["second", "cpu"],
            ["third", "turn"]])
        self.ok("down")
        self.assertEqual(reasons(), before)
        self.ok("stop", "second")
        self.until(lambda: reasons()["third"] == "cpu")
        self.release(self.gate)
        self.ok("wait", "third")
        self.assertEqual(set(reasons().values()), {None})

    def test_what_is_listed(self):
        self.three()
        self.assertEqual(self.names("train_*"), ["train_2", "train_1"])
        self.assertEqual(self.names("other", "train_[12]", "--sort", "name"),
                         ["other", "train_1", "train_2"])
        self.assertEqual(self.names("--state", "Failed,succeeded"),
                         ["train_2", "train_1"])
        self.assertEqual(self.names("--since", "1h", "--tag", "blue"),
                         ["other", "train_1"])
        self.assertEqual([job["name"] for job in
                          json.loads(self.ok("list", "--json", "t*"))],
                         ["train_2", "train_1"])
        done = self.run_cli("list", "x*")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", "no such jobs\n"))
        self.refused(2, "--since: this is no time: x", "list", "--since", "x")
        self.assertEqual(self.names("-n", "1", "t*_1"), ["train_1"])
        self.assertEqual(self.run_cli("list", "--since", "0s").stderr,
                         "no such jobs\n")
        self.release(self.gate)
        self.ok("wait", "other")

    # --- verbs --------------------------------------------------------------------

    def test_globs(self):
        self.three()
        self.refused(1, "matches 'x*'", "stop", "x*")
        self.refused(1, "matches 'train_*'", "rm", "--state", "running",
                     "train_*")
        self.refused(2, "require --yes: a glob", "rm", "train_*")
        self.assertEqual(self.ok("retry", "-y", "train_*"), "train_2_2\n")
        self.run_cli("wait", "train_2_2")
        self.assertEqual(self.run_cli("wait", "train_*").stdout,
                         "train_1 SUCCEEDED\ntrain_2 FAILED\n"
                         "train_2_2 FAILED\n")
        self.assertEqual(re.findall(r"removed (\S+),",
                                    self.ok("rm", "-y", "*")),
                         ["train_1", "train_2", "train_2_2"])
        self.assertEqual(self.names(), ["other"])
        self.release(self.gate)
        self.ok("wait", "other")

    def test_states_and_tags(self):
        self.three()
        self.refused(2, "require --yes: --state", "retry", "--state", "failed")
        self.assertEqual(self.ok("retry", "--state", "failed", "-y"),
                         "train_2_2\n")
        for empty in ("", ","):  # as of a variable that is not set
            self.refused(2, "names no tag", "rm", "-y", "--tag", empty)
            self.refused(2, "names no state", "rm", "-y", "--state", empty)
        self.ok("stop", "--tag", "blue", "--state", "running", "--yes")
        self.run_cli("wait", "other")
        self.assertEqual(self.names("--state", "stopped"), ["other"])
        self.run_cli("wait", "train_2_2")
        self.refused(1, "has no such job", "stop", "--all", "--yes")
        self.assertEqual(self.ok("wait", "--all"), "")
        done = self.run_cli("wait", "--tag", "blue")
        self.assertEqual(done.stdout, "train_1 SUCCEEDED\nother STOPPED\n")
        self.assertEqual(done.returncode, 125)
        self.ok("rm", "--all", "--yes")
        self.assertEqual(self.run_cli("list").stderr, "no jobs\n")
        self.refused(2, "which job?", "stop")
        self.refused(2, "exclude each other: x", "stop", "--all", "x")

    def test_tags(self):
        self.three()
        self.ok("tag", "add", "-y", "red", "train_*")
        self.assertEqual(self.names("--tag", "red"), ["train_2", "train_1"])
        self.ok("tag", "remove", "red", "train_1")
        self.assertEqual(self.names("--tag", "red"), ["train_2"])
        self.assertEqual(self.run_cli("tag", "remove", "red", "train_1")
                         .returncode, 1)
        self.refused(2, "which tag", "tag", "add")
        self.release(self.gate)
        self.ok("wait", "other")

    def test_the_question(self):
        self.three()
        t = Terminal(self, "rm", "--all")
        t.until(r"remove 2 jobs: train_1, train_2\? \[y")
        t.type("n\n")
        self.assertEqual(t.code(), 1)
        self.assertEqual(len(self.names()), 3)
        t = Terminal(self, "rm", "--all")
        t.until(r"\[y/N\]")
        t.type("y\n")
        t.until("removed train_2")
        self.assertEqual(t.code(), 0)
        self.assertEqual(self.names(), ["other"])
        self.release(self.gate)
        self.ok("wait", "other")


class Prune(BoxTest):
    def names(self):
        return [line.strip() for line in
                self.ok("list", "-o", "name").splitlines()[1:]]

    def three(self):
        for i in range(3):
            self.ok("run", "-q", "--name", f"job_{i}", "--", "true")

    def test_by_age_and_number(self):
        self.three()
        gate = self.fifo()
        self.ok("submit", "--name", "runs", "--", "sh", "-c", f"read x < {gate}")
        done = self.run_cli("prune", "--keep", "1h", "-y")
        self.assertEqual((done.returncode, done.stderr),
                         (0, "nothing to remove\n"))
        self.refused(2, "require --yes", "prune", "--keep-jobs", "2")
        self.assertEqual(self.ok("prune", "--keep-jobs", "2", "-n"),
                         "would remove job_0, its logs\n")
        self.assertEqual(self.ok("prune", "--keep-jobs", "2", "-y"),
                         "removed job_0, its logs\n")
        self.assertEqual(self.names(), ["runs", "job_2", "job_1"])
        found = json.loads(self.ok("prune", "--keep", "1s", "--keep-jobs", "1",
                                   "-y", "--json"))
        self.assertIn("job_1", [job["name"] for job in found])
        self.assertNotIn("job_1", self.names())
        self.assertIn("runs", self.names())
        self.release(gate)
        self.ok("wait", "runs")

    def test_pages_move_while_jobs_end(self):
        """A job of the last page that stands in the next one, too, counts
        once."""
        user = pwd.getpwuid(os.getuid()).pw_name

        class Moving(played.Handler):
            def do_GET(self):
                query = urllib.parse.parse_qs(self.path.partition("?")[2])
                first = int(query.get("offset", ["0"])[0])
                told = [{"name": f"j{i}", "username": user,
                         "state": "SUCCEEDED", "completedTime": 10000 - i // 2}
                        for i in range(first - 2 if first else 0,
                                       min(first + 5000, 5004))]
                self.answer(told if "/jobs?" in self.path else {
                    "server": "libopenpai"})

        done = self.run_cli("prune", "--keep-jobs", "5001", "-n", "--cluster",
                            played.serve(self, Moving).url)
        self.assertEqual(re.findall(r"j\d+", done.stdout),
                         ["j5001", "j5002", "j5003"], done)

    def test_wrong_calls(self):
        self.ok("up")
        for words, what in (([], "a required option is missing: --keep or --keep-jobs"),
                            (["--keep", "2026-01-01"], "--keep is a time"),
                            (["--keep-jobs", "0"], "--keep-jobs is a whole number from 1"),
                            (["--keep", "1h", "a"], "prune takes no jobs")):
            self.refused(2, what, "prune", *words)
        self.refused(2, "--keep-size is an amount", "up", "--keep-size", "5")

    def test_a_platform_prunes_by_itself(self):
        """When it starts, and each minute."""
        self.three()
        self.ok("down")
        self.ok("up", "--keep-jobs", "1", "--keep", "30d", "--keep-size", "1G")
        while self.names() != ["job_2"]:
            self.assertEqual(self.names()[0], "job_2")

    def test_status_tells_of_the_disk(self):
        self.ok("run", "-q", "--", "head", "-c", "3000000", "/dev/zero",
                stdout=subprocess.DEVNULL)
        self.assertRegex(self.ok("status"),
                         r"(?m)^disk +logs \d\.\d MiB,.* free$")
