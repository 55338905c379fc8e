"""A job's tasks on a terminal, below what they print; argv: live.py."""

import json
import os
import re
import signal

import played
import terminal
from live import STYLE, LiveTest


class Run(LiveTest):
    def test_a_table_below_what_is_printed(self):
        gate, job = self.waits("echo up")
        shown = self.open("run", job)
        shown.until(lambda screen: "2 running" in "\n".join(screen.shown)
                    and sum("| up" in line for line in screen.all) == 2)
        lines = shown.screen.shown
        table = next(i for i, line in enumerate(lines)
                     if line.startswith("test RUNNING for "))
        self.assertNotIn("ends", lines[table])  # who knows? there was none yet
        self.assertEqual(sorted(line for line in lines[:table] if "|" in line),
                         ["worker[0] | up", "worker[1] | up"])
        self.assertRegex(lines[table + 1],
                         r"^\[\.{30}\] 0 of 2 done: 2 running$")
        self.assertRegex(lines[table + 2], r"^TASK +STATE +TIME +CPU +MEMORY$")
        self.assertEqual(len(lines), table + 5)
        self.assertIn("\033[32mRUNNING\033[0m", shown.text)
        self.assertFalse(shown.shows_keys())
        self.let_go(gate)
        self.assertRegex(self.given_back(shown)[-1],
                         r"^test succeeded after \d+\.\d s$")

    def test_without_colour(self):
        self.env["NO_COLOR"] = "1"
        gate, job = self.waits()
        shown = self.open("run", job)
        shown.until_shown(r"worker/1 +RUNNING")
        self.let_go(gate)
        self.given_back(shown)
        self.assertNotRegex(shown.text, STYLE)

    def test_nothing_that_is_printed_is_lost(self):
        """Quick and slow, long lines, and characters of two cells."""
        self.env["NO_COLOR"] = "1"
        gate, job = self.waits(
            "for i in $(seq 300); do echo line $i; done; echo 你好世界; "
            "for i in 1 2 3 4 5 6; do sleep 0.2; echo slow $i; done; "
            "printf '%0150d\\n' 7", instances=1)
        shown = self.open("run", job)
        shown.until_shown(r"0{70}")
        shown.until_shown(r"worker/0 +RUNNING")
        self.let_go(gate, 1)
        found = self.given_back(shown)
        text = "\n".join(found)
        printed = [line for line in found
                   if line.startswith(("line", "slow", "你"))]
        self.assertEqual(printed,
                         [f"line {i}" for i in range(1, 301)] + ["你好世界"] +
                         [f"slow {i}" for i in range(1, 7)])
        self.assertIn("0" * 149 + "7", text.replace("\n", ""))

    def test_many_tasks(self):
        """A third of the terminal; those first that failed or run."""
        gate = self.fifo()
        job = self.tasks(
            "case $PAI_TASK_INDEX in 5) exit 7;; 1|2|3) exit 0;; "
            f"esac; read x < {gate}", instances=30)
        shown = self.open("run", job, rows=24, columns=80)
        shown.until_shown(r"4 of 30 done: 1 failed, 26 running, 3 succeeded")
        lines = shown.screen.shown[-8:]
        self.assertTrue(lines[0].startswith("test RUNNING"), lines)
        self.assertRegex(lines[1], r"^\[=+>\.+\] 4 of 30 done: ")
        self.assertRegex(lines[2], r"^TASK +STATE +TIME +CODE ")
        self.assertRegex(lines[3], r"^worker/5 +FAILED +\d+s +7 ")
        self.assertRegex(lines[4], r"^worker/0 +RUNNING")
        self.assertRegex(lines[6], r"^worker/6 +RUNNING")
        self.assertEqual(lines[7],
                         "... and 26 more: 23 running, 3 succeeded")
        self.assertIn("  worker[5] failed with code 7", shown.screen.all)
        os.kill(shown.pid, signal.SIGQUIT)
        self.given_back(shown, 131)

    def test_a_narrow_terminal(self):
        gate, job = self.waits()
        shown = self.open("run", job, rows=18, columns=44)
        shown.until_shown(r"worker/1 +RUNNING")
        self.assertRegex("\n".join(shown.screen.shown),
                         r"(?m)^TASK +STATE +TIME +CPU$")
        self.assertFalse(shown.screen.gone)  # no line was folded
        self.assertRegex(shown.screen.shown[-1],
                         r"^worker/1  RUNNING +\d+s +(-|\d+%)$")
        self.let_go(gate)
        self.given_back(shown)
        gate.unlink()
        gate, job = self.waits()
        shown = self.open("run", job, rows=5, columns=20)
        shown.until_shown(r"(?m)^test_2 RUNNING")  # one line is all there is
        self.assertNotIn("worker/", shown.text)
        self.let_go(gate)
        self.given_back(shown)

    def test_another_attempt(self):
        gate = self.fifo()
        mark = self.folder / "mark"
        shown = self.open("run", self.tasks(
            f"if mkdir {mark}; then exit 9; fi; read x < {gate}", instances=1,
            more="jobRetryCount: 1", fail=1))
        shown.until_shown(r"test RUNNING for \w+.*, attempt 2")
        self.assertIn("  worker[0] failed with code 9", shown.screen.all)
        self.let_go(gate, 1)
        self.given_back(shown)

    def test_a_place_in_line(self):
        gate = self.fifo()
        self.ok("submit", "--name", "first",
                self.job(f"read x < {gate}", cpu=os.cpu_count()))
        shown = self.open("run", self.job("echo done", cpu=os.cpu_count()))
        shown.until_shown(r"test WAITING for \d+s, 1st of 1 in line of default")
        self.assertRegex(shown.screen.shown[-1], r"^a/0 +WAITING")
        self.let_go(gate, 1)
        self.assertIn("done", self.given_back(shown))

    def test_gpus(self):
        self.large_machine()
        gate, job = self.waits(gpus=3)
        shown = self.open("run", job, columns=100)
        shown.until_shown(r"worker/1 +RUNNING +\d+s +[\d,-]+ +\d+-\d+%")
        lines = "\n".join(shown.screen.shown)
        self.assertRegex(lines, r"TASK +STATE +TIME +GPUS +BUSY +GPU MEMORY ")
        self.has_gpus(lines, 3, "120.0 GiB")
        self.let_go(gate)
        self.given_back(shown)

    # --- what a user does meanwhile -------------------------------------------

    def test_ctrl_c(self):
        _, job = self.waits()
        shown = self.open("run", job)
        shown.until_shown(r"worker/1 +RUNNING")
        shown.type(b"\x03")
        found = self.given_back(shown, 130)
        self.assertIn("stopping; repeat to kill", found)
        self.assertTrue(found[-2].startswith("test stopped after"), found)

    def test_keys(self):
        gate, job = self.waits("echo up")
        shown = self.open("run", job)
        shown.until(lambda screen: "2 running" in "\n".join(screen.shown)
                    and sum("| up" in line for line in screen.all) == 2)
        before = shown.screen.gone + shown.screen.shown
        shown.type(b"text\n\n\n")
        shown.until_shown(r"test RUNNING for ([3-9]|[1-9]\d|\dm.*)s")
        self.assertEqual(len(shown.screen.gone + shown.screen.shown),
                         len(before))
        self.let_go(gate)
        self.assertNotIn("text", "\n".join(self.given_back(shown)))

    def test_another_size(self):
        gate, job = self.waits("echo up")
        shown = self.open("run", job, rows=30, columns=80)
        shown.until_shown(r"worker/1 +RUNNING +\d+s +")
        for rows, columns in ((12, 30), (6, 60), (40, 100)):
            shown.resize(rows, columns)
            shown.until(lambda screen, rows=rows: len(
                [line for line in screen.shown
                 if re.search(r"test RUNN|worker/|TASK|done:", line)]) ==
                        (min(rows // 3, 5) if rows != 12 else 4))
        self.assertEqual(sum(line.startswith("test RUNNING for")
                             for line in shown.screen.all), 1)
        self.let_go(gate)
        found = self.given_back(shown)
        self.assertEqual(found.count("worker[0] | up"), 1)

    def leader(self, go):
        """Leads the session, as a shell does; says STOPPED, and lets it go on
        when it is told."""
        def lead(words, env):
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.tcsetpgrp(0, os.getpgrp())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                os.execve(words[0], words, env)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            status = os.waitpid(pid, os.WUNTRACED)[1]
            while os.WIFSTOPPED(status):
                os.tcsetpgrp(0, os.getpgrp())
                os.write(1, b"STOPPED\n")
                with open(go, encoding="ascii") as told:
                    told.read()
                os.write(1, b"GOES ON\n")
                os.tcsetpgrp(0, pid)
                os.kill(pid, signal.SIGCONT)
                status = os.waitpid(pid, os.WUNTRACED)[1]
            os._exit(os.waitstatus_to_exitcode(status))
        return lead

    def test_ctrl_z(self):
        gate, job = self.waits()
        go = self.folder / "go"
        os.mkfifo(go)
        shown = self.open("run", job, leader=self.leader(go))
        for _ in range(2):
            shown.until_shown(r"worker/1 +RUNNING")
            shown.type(b"\x1a")
            shown.until(lambda screen: screen.shown[-1] == "STOPPED")
            self.assertNotIn("worker/", "\n".join(shown.screen.shown))
            self.assertTrue(shown.screen.modes[25])
            self.assertTrue(shown.shows_keys())
            with open(go, "w", encoding="ascii"):
                pass
            shown.until(lambda screen: "GOES ON" in screen.shown[-6:])
        shown.until_shown(r"GOES ON\ntest RUNNING for .*(\n.*)+worker/1")
        self.let_go(gate)
        found = self.given_back(shown)
        self.assertEqual(found.count("STOPPED"), 2)

    # --- where nobody looks -------------------------------------------------------

    def test_as_plain_lines(self):
        """What a pipe gets, and a terminal that cannot do it."""
        self.env["NO_COLOR"] = "1"
        job = self.tasks("echo hi; sleep 1", instances=1)
        told = ["test running", "  worker[0] running",
                "hi", "  worker[0] succeeded"]
        for term in "dumb", None:
            self.env.pop("TERM")
            if term is not None:
                self.env["TERM"] = term
            shown = self.open("run", job)
            self.assertEqual(shown.end(), 0)
            self.assertNotIn("\033", shown.text)
            found = [line for line in shown.screen.all
                     if not line.startswith("test ") or "running" in line]
            self.assertEqual(found, told)
            self.ok("rm", "test")
            self.env["TERM"] = "xterm"
        done = self.run_cli("run", "-v", job)
        self.assertEqual(done.stdout, "hi\n")
        self.assertEqual([line for line in done.stderr.splitlines()[:-1]
                          if line != "test waiting"],
                         [line for line in told if line != "hi"])
        self.ok("rm", "test")
        shown = self.open("run", "--json", job)
        self.assertEqual(shown.end(), 0)
        self.assertTrue(all(line.startswith("{")
                            for line in shown.text.splitlines()), shown.text)

    def test_in_the_background(self):
        def lead(words, env):
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                os.execve(words[0], words, env)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        shown = self.open("run", self.tasks("sleep 1; echo hi"), leader=lead)
        self.assertEqual(shown.end(), 0)
        self.assertNotIn("\033[?25l", shown.text)
        self.assertEqual(STYLE.sub("", shown.text).count("] | hi"), 2)


class Wait(LiveTest):
    def test_a_table(self):
        gate, job = self.waits()
        self.ok("submit", job)
        shown = self.open("wait", "test")
        shown.until_shown(r"worker/1 +RUNNING")
        self.let_go(gate)
        self.assertEqual(self.given_back(shown), ["test SUCCEEDED"])

    def test_ctrl_c(self):
        _, job = self.waits()
        self.ok("submit", job)
        for number in signal.SIGINT, signal.SIGTERM:
            shown = self.open("wait", "test")
            shown.until_shown(r"worker/1 +RUNNING")
            os.kill(shown.pid, number)
            self.assertEqual(self.given_back(shown, -number), [])


class Answers(played.Handler):
    """Of a server whose roles are called what no job file may call them."""
    roles = ["工人", "a\033[2Jb", 'quo"te\\']

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == "/metrics":
            body = "".join(self.figures(role) for role in self.roles)
        else:
            body = json.dumps({
                "/api/v2/info": {"server": "libopenpai"},
                "/api/v2/jobs": [{"name": "test", "totalGpuNumber": 3}],
                "/api/v2/jobs/me~test": self.job(),
                # What no server of ours says.
                "/api/v2/jobs/me~list": {"name": "list", "taskRoles": [
                    {"taskStatuses": [{"taskIndex": 0,
                                       "taskState": "RUNNING"}]}]},
            }.get(path, {}))
        self.answer(body)

    def job(self):
        return {"name": "test", "jobStatus": {
                    "state": "R\033]0;x\007NS"},
                "taskRoles": {role: {"taskStatuses": [
                    {"taskIndex": 0, "taskState": "RUNNING"}]}
                              for role in self.roles}}

    def figures(self, role):
        name = role.replace("\\", "\\\\").replace('"', '\\"')
        labels = f'job_name="me~test",role_name="{name}",task_index="0"'
        return (f"task_cpu_percent{{{labels}}} 12.6\n"
                f'task_gpu_percent{{{labels},minor_number="5"}} 7\n'
                f"task_gpu_percent{{{labels},minor_number=\"7\"}} nan\n"
                'task_cpu_percent{job_name="me~other",role_name="x"} 1\n')


class Far(LiveTest):
    def test_names_of_others(self):
        """Two cells are two cells, and nothing acts on the terminal."""
        url = played.serve(self, Answers).url
        shown = self.open("top", "--cluster", url, "me~test", columns=100)
        shown.until_shown("quo")
        self.assertNotIn("\033]", shown.text)
        self.assertIn("test R\ufffd]0;x\ufffdNS", shown.screen.shown[0])
        for words in ("top", "--once"), ("top", "--json"), ("show",):
            told = self.ok(*words, "--cluster", url, "me~list")
            self.assertIn("RUNNING", told)
            self.assertNotIn("(null)", told)
            told = self.ok(*words, "--cluster", url, "me~test")
            self.assertNotIn("\033]", told)
        shown.type(b"q")
        lines = shown.screen.shown
        self.assertEqual(shown.end(), 0)
        ends = [len(line) + sum(c > "\u1100" and c != "\ufffd" for c in line)
                for line in lines[-4:]]
        self.assertEqual(len(set(ends)), 1, lines)
        for line, name in zip(lines[-3:], ("工人/0", "a\ufffd[2Jb/0",
                                           'quo"te\\/0'), strict=True):
            self.assertTrue(line.startswith(name + " "), line)
            self.assertRegex(line, r"RUNNING +- +5 +7% +- +13% +-$")
