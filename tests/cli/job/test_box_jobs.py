"""Jobs on the platform of a user: submit, run, show, logs, stop, ..."""

import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import threading

import program
from box import BoxTest


TRANSIENT = """
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
extras: {{gangAllocation: {gang}}}
taskRoles:
  main:
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 64, gpu: 0}}
    commands: ["echo CUDA_ERROR_ECC_UNCORRECTABLE; exit 1"]
"""


class Jobs(BoxTest):
    # --- ends ----------------------------------------------------------------

    def test_signals_of_others(self):
        """What the platform did not kill fails, and is not tried again."""
        for sig, code in (("KILL", 137), ("TERM", 143)):
            name = f"ends-{sig}"
            done = self.run_cli("run", "--name", name, "--", "sh", "-c",
                                f"kill -{sig} $$")
            self.assertEqual(done.returncode, code, done)
            self.assertIn("which the platform did not send", done.stderr)
            status = json.loads(self.ok("show", "--json", name))["jobStatus"]
            self.assertEqual(
                (status["state"], status["appExitCode"], status["retries"]),
                ("FAILED", code, 0))
            self.assertEqual((status["appExitSpec"]["behavior"],
                              status["appExitSpec"]["reaction"]),
                             ("UNKNOWN", "RETRY_TO_MAX"))

    def test_retries_are_told(self):
        """A transient failure is tried again ever later, which is told also
        when nobody watches."""
        self.ok("up")
        for gang in ("true", "false"):
            name = f"transient-{gang}"
            run = self.start("run", self.write(
                "transient.yaml", TRANSIENT.format(name=name, gang=gang)))
            told = ""
            while "retry 3 of at most 100" not in told:
                told = run.stderr.readline()
                self.assertIn(f"{name} waits again: task main[0] exited with "
                              "code 223; retry ", told)
            # A busy machine may ask after the fourth.
            while not re.search(r"retry ([4-9]|\d\d) of at most 100, in ",
                                self.ok("why", name)):
                pass
            self.ok("stop", name)
            run.communicate(timeout=60)

    def test_retries_without_limit_have_one(self):
        """Those of version 1 are counted, and come ever later."""
        run = self.start("run", self.write("v1.json", json.dumps({
            "jobName": "v1", "image": "x", "retryCount": -2, "taskRoles": [{
                "name": "m", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 64,
                "gpuNumber": 0, "command": "exit 7"}]})))
        told = ""
        while "retry 3 of at most 100" not in told:
            told = run.stderr.readline()
            self.assertNotEqual(told, "")
        # A busy machine may ask while it runs again.
        while not re.search(r"retry \d+ of at most 100, in ",
                            self.ok("why", "v1")):
            pass
        self.ok("stop", "v1")
        run.communicate(timeout=60)

    def lose_an_answer(self):
        """The platform answers; the first answer to a submission is lost."""
        real = self.root / "real"
        (self.root / "socket").rename(real)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.root / "socket"))
        listener.listen()
        self.addCleanup(listener.close)
        self.lost = 0

        def receive(source):
            try:
                return source.recv(1 << 16)
            except OSError:
                return b""

        def forward(source, to, asked, is_answer):
            while data := receive(source):
                if not is_answer and data.startswith(b"POST /api/v2/jobs"):
                    asked.append(1)
                if is_answer and asked and not self.lost:
                    self.lost += 1
                    break
                try:
                    to.sendall(data)
                except OSError:
                    break
            for end in (source, to):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

        def serve():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                server, asked = socket.socket(socket.AF_UNIX), []
                server.connect(str(real))
                for ends in ((client, server, asked, False),
                             (server, client, asked, True)):
                    threading.Thread(target=forward, args=ends,
                                     daemon=True).start()
        threading.Thread(target=serve, daemon=True).start()

    def test_an_answer_that_is_lost(self):
        """A job whose answer is lost is submitted once."""
        self.ok("up")
        self.lose_an_answer()
        self.assertEqual(self.ok("submit", self.job("true")), "test\n")
        self.assertEqual(self.lost, 1)
        self.assertEqual([j["name"] for j in
                          json.loads(self.ok("list", "--json"))], ["test"])

    # --- more than there is --------------------------------------------------

    def test_a_job_that_cannot_fit_waits(self):
        """As with OpenPAI, also after a restart, and in nobody's way; unless
        it is to be refused."""
        for name, gang in (("big", "true"), ("parts", "false")):
            file = self.write(f"{name}.yaml", TRANSIENT.format(
                name=name, gang=gang).replace("gpu: 0", "gpu: 64"))
            self.ok("submit", file)
            self.refused(1, "cannot run here", "submit", "--name", "no",
                         "--refuse-impossible", file)
            self.refused(125, "cannot run here", "run", "--name", "no", file)
        self.ok("run", "--", "true")  # it overtakes them
        self.ok("down")
        self.ok("up")
        for name in ("big", "parts"):
            why = json.loads(self.ok("why", "--json", name))
            self.assertEqual(why["state"], "WAITING")
            self.assertEqual(why["reasons"][0]["text"], "no node has 64 GPUs")
            self.assertIn("no node has 64 GPUs", self.ok("events", name))
            self.ok("stop", name)
        self.ok("down")
        self.ok("up", "--refuse-impossible")
        self.refused(1, "cannot run here", "submit", "--name", "no", file)

    # --- jobs ------------------------------------------------------------------

    def test_names_that_are_taken(self):
        job = self.job("true")
        self.assertEqual(self.ok("submit", "--json", job),
                         '{"name":"test"}\n')
        done = self.run_cli("submit", job)
        self.assertEqual((done.stdout, done.stderr),
                         ("test_2\n",
                          "note: job test exists already: this job is named "
                          "test_2\n"))
        self.assertEqual(self.ok("submit", "--name", "mine", job), "mine\n")
        self.refused(1, "has a job mine already", "submit", "--name", "mine",
                     job)
        for name in ("a/b", "", "a~b", "a~b~c"):
            self.assertEqual(self.run_cli("submit", "--name", name,
                                          job).returncode, 2, name)

    def test_what_is_shown(self):
        self.ok("run", self.job("echo hi", instances=2))
        show = json.loads(self.ok("show", "test", "--json"))
        self.assertEqual((show["name"], show["jobStatus"]["state"]),
                         ("test", "SUCCEEDED"))
        self.assertEqual(len(show["taskRoles"]["a"]["taskStatuses"]), 2)
        user = show["jobStatus"]["username"]
        self.assertEqual(json.loads(self.ok("show", f"{user}~test", "--json")),
                         show)
        items = json.loads(self.ok("list", "--json"))
        self.assertEqual([(i["name"], i["state"], i["totalTaskNumber"])
                          for i in items], [("test", "SUCCEEDED", 2)])
        text = self.ok("show", "test")
        self.assertRegex(text, r"state +SUCCEEDED, code 0\n")
        self.assertRegex(text, r"a/1 +SUCCEEDED ")
        self.assertRegex(self.ok("list"), r"(?m)^test +\S+ +SUCCEEDED ")
        self.assertRegex(self.ok("top"), r"0 running, 0 waiting")
        self.assertRegex(self.ok("top", "--all", "--once"), r"(?m)^test ")
        self.assertEqual(self.ok("list", "--state", "RUNNING"), "")
        self.assertEqual(json.loads(self.ok("list", "--live", "--json")), [])
        self.assertEqual(len(json.loads(self.ok(
            "list", "--json", "--keyword", "tes", "--user", user, "-n", "5",
            "--sort", "name"))), 1)
        self.assertIn("SUCCEEDED", self.ok("why", "test"))
        self.assertIn("state", json.loads(self.ok("why", "test", "--json")))
        self.assertIn("Started", self.ok("events", "test"))
        self.assertGreater(json.loads(self.ok(
            "events", "test", "--json"))["totalCount"], 0)

    def test_jobs_that_are_not_there(self):
        self.ok("up")
        for verb in (["show"], ["logs"], ["logs", "--task", "a/0"], ["why"],
                     ["stop"], ["rm"], ["retry"], ["clone"], ["events"],
                     ["events", "-f"]):
            self.refused(1, "~none is not found", *verb, "none")
        self.refused(125, "~none is not found", "wait", "none")
        self.refused(1, "help: 'openpai list' lists the jobs", "show", "none")
        self.refused(1, "help: 'openpai user list' lists the users",
                     "user", "show", "none")
        for verb in ("show", "logs", "why", "stop", "rm", "retry", "clone",
                     "events"):
            self.refused(2, "which job?", verb)
            self.refused(2, "invalid name of a job", verb, "a~b~c")
        self.refused(125, "which job?", "wait")
        self.refused(2, "too many jobs are given: b", "show", "a", "b")
        for verb in ("up", "down", "status"):
            self.refused(2, "takes no argument", verb, "x")

    def test_logs(self):
        job = self.job(r"printf 'a\0b\n'; echo err >&2; printf end")
        self.ok("run", job, "-q")
        raw = self.run_cli("logs", "test", "--log", "stdout",
                           text=False)
        self.assertEqual(raw.stdout, b"a\0b\nend")
        self.assertEqual(self.ok("logs", "test", "--log", "stderr",
                                 "--task", "a"), "err\n")
        self.assertEqual(self.ok("logs", "test", "--log", "stdout",
                                 "--tail", "1", "--task", "a/0"), "end")
        self.assertEqual(self.ok("logs", "-f", "test", "--log", "stdout",
                                 "--attempt", "0")[-3:], "end")
        self.refused(1, "job test has no task a/1", "logs", "test", "--task",
                     "a/1")
        self.refused(1, "  help: its tasks are a/0; its latest attempt is 0",
                     "logs", "test", "--task", "b/0")
        for words in (["--log", "x"], ["--tail", "-3"], ["--task", "a/x"],
                      ["--attempt", "x"]):
            self.assertEqual(self.run_cli("logs", "test", *words).returncode,
                             2, words)

    def test_logs_of_each_start(self):
        path = pathlib.Path(self.job("date +%N; exit 3"))
        path.write_text(path.read_text().replace(
            "type: job", "type: job\njobRetryCount: 1"))
        self.assertEqual(self.run_cli("run", "-q", str(path)).returncode, 3)
        logs = [self.ok("logs", "test", "--attempt", attempt, "--retry", retry)
                for attempt, retry in ("00", "10")]
        self.assertEqual(len(set(logs)), 2)
        self.assertEqual(self.ok("logs", "test"), logs[1])
        self.refused(1, "its tasks are a/0; its latest attempt is 1", "logs",
                     "test", "--retry", "1")
        self.refused(2, "--retry is a whole number", "logs", "test", "--retry", "x")

    def test_which_jobs(self):
        self.assertEqual(self.ok("run", "-q", self.job("true")), "")
        self.assertIn("test", self.ok("list", "--state", "succeeded,FAILED"))
        self.assertIn("no such jobs", self.run_cli("list", "--live").stderr)
        self.assertIn("test", self.ok("list", "--sort", "Name,asc"))
        self.refused(2, "--state: there is no state 'RUNING'", "list", "--state",
                     "RUNING")
        self.refused(2, "--sort: not a column", "list", "--sort", "x")
        self.refused(1, "'a b' cannot be the name of a job\n  help: names have 1 to",
                     "submit", "--name", "a b", "--", "true")
        self.refused(2, "--limit is a whole number from 1: x", "list", "-n", "x")

    def test_events_of_one_that_is_over(self):
        self.ok("run", "-q", self.job("true"))
        shown = self.ok("events", "-f", "test")
        self.assertRegex(shown, r"(?m)^\S+~test a\[0\] succeeded\n"
                         r"\S+~test succeeded$")
        events = [json.loads(line) for line in
                  self.ok("events", "-f", "--json", "test").splitlines()]
        self.assertEqual([e["event"] for e in events], ["task", "job"])
        self.assertTrue(events[0]["name"].endswith("~test"))
        self.refused(1, "~nobody is not found", "events", "-f", "nobody")

    def test_stopping(self):
        self.ok("submit", self.job("trap '' TERM; echo up; sleep 1000 & wait; "
                                   "sleep 1000"))
        self.until_up()
        self.refused(1, "has not ended: stop it first", "rm", "test")
        self.refused(1, "is not over", "retry", "test")
        self.ok("stop", "--now", "test")
        done = self.run_cli("wait", "--json", "test")
        self.assertEqual(done.returncode, 125)
        self.assertEqual(json.loads(done.stdout)["state"], "STOPPED")
        self.ok("stop", "test")  # as it is
        self.ok("rm", "test")
        self.refused(1, "~test is not found", "show", "test")
        self.assertEqual(list((self.root / "jobs").glob("*")), [])

    def test_a_broken_database_is_repaired(self):
        self.ok("run", "-q", self.job("true"))
        self.ok("down")
        file = self.root / "openpai.db"
        broken = bytearray(file.read_bytes())
        broken[4096 * 2:4096 * 2 + 64] = bytes(64)
        file.write_bytes(broken)
        for left in self.root.glob("openpai.db-*"):
            left.unlink()
        self.refused(1, "--repair", "list")
        self.run_cli("down")  # one that saw it only when it was asked
        shown = self.ok("doctor", "--repair")
        self.assertIn("has a new database: ", shown)
        kept = (self.root / "openpai.db.damaged").read_bytes()
        self.assertEqual(kept[4096 * 2:4096 * 2 + 64], bytes(64))
        self.ok("up")
        self.refused(1, "another platform has", "doctor", "--repair")

    def test_events_as_they_come(self):
        self.ok("up")
        process = self.start("events", "-f", "--json")
        fifo = self.fifo()
        # Until it listens, jobs come that it may miss.
        names = iter(range(1000))
        self.ok("submit", "--name", "gate", self.job(f"read x <{fifo}; exit 3"))
        heard = False
        while not heard:
            self.ok("run", "-q", "--name", f"n{next(names)}", self.job("true"))
            heard, _, _ = select.select([process.stdout], [], [], 0.1)
        self.release(fifo)
        for line in process.stdout:
            event = json.loads(line)
            if (event["name"].endswith("~gate") and event["event"] == "job"
                    and event["state"] == "failed"):
                break
        self.ok("down")
        process.stdout.read()
        self.assertEqual(process.wait(timeout=60), 0)

    # --- in the foreground --------------------------------------------------------

    def test_a_command(self):
        words = ["it's", "$HOME", "a b", "", "*", "<% $parameters.x %>", "ä\n"]
        shown = self.ok("run", "--", "printf", "%s|", *words)
        self.assertEqual(shown, "".join(w + "|" for w in words))
        self.env["VIRTUAL_ENV"] = "/my env"
        self.env["PATH"] = "/strange:" + self.env["PATH"]
        shown = self.ok("run", "--", "sh", "-c",
                        'echo "$VIRTUAL_ENV $PATH"; pwd')
        self.assertTrue(shown.startswith("/my env /strange:"), shown)
        self.assertEqual(shown.splitlines()[1],
                         f"{os.path.realpath(self.folder)}")
        self.assertEqual(self.run_cli("run", "--", "sh", "-c", "exit 9")
                         .returncode, 9)
        self.assertEqual(self.run_cli("run", "--time", "1s", "--", "sleep",
                                      "1000").returncode, 124)
        self.refused(125, "asks for", "run", "--cpus", "100000", "--", "true")
        if "of 0 GPUs" in self.ok("status"):
            self.refused(125, "it asks for GPUs, and none are here\n  help: ask "
                         "for none", "run", "--gpus", "1", "--", "true")
        done = self.run_cli("run", "--time", "1s", "--", "sleep", "1000")
        self.assertIn("reached its time limit", done.stderr)
        for words, what in ((["--gpus", "x"], "--gpus is a whole number: x"),
                            (["--cpus", "0"], "--cpus is a number above 0"),
                            (["--memory", "3X"], "--memory is a number of MiB"),
                            (["--time", "1x"], "--time is a number of seconds"),
                            (["--time", "-1"], "--time is a number of seconds"),
                            (["--priority", "high"], "prod, test or oppo: high")):
            self.refused(125, what, "run", *words, "--", "true")
        self.refused(125, "exclude each other", "run", "x.yaml", "--", "true")
        self.refused(125, "requires a command after --", "run", "--clean-env",
                     "x.yaml")

    def test_a_platform_that_ends_meanwhile(self):
        process = self.start("run", self.waits())
        self.assertEqual(process.stdout.readline(), "up\n")
        log = self.start("logs", "-f", "test")
        self.assertEqual(log.stdout.readline(), "up\n")
        self.ok("down")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 125)
        self.assertIn("job test continues without it", err)
        # A log that ends well is a whole one.
        _, err = log.communicate(timeout=60)
        self.assertEqual(log.returncode, 1)
        self.assertIn("help: the job continues without its platform", err)
        self.release(self.gate)
        self.assertEqual(self.run_cli("wait", "test").returncode, 3)

    def test_a_job_survives_whoever_follows_it(self):
        process = self.start("run", self.waits())
        self.assertEqual(process.stdout.readline(), "up\n")
        process.kill()
        process.wait()
        self.release(self.gate)
        self.assertEqual(self.run_cli("wait", "test").returncode, 3)

    def test_top_on_a_terminal(self):
        self.ok("submit", self.waits())
        self.until_up()
        self.env["TERM"] = "xterm"
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(program.OPENPAI, [program.OPENPAI, "top"], self.env)
        self.addCleanup(os.close, fd)
        shown = program.read_terminal_until(fd, b"RUNNING")
        self.assertIn(b"\x1b[?1049h", shown)  # a screen of its own
        os.kill(pid, signal.SIGINT)
        program.read_terminal_until(fd, b"\x1b[?1049l")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.release(self.gate)

    def test_colour_on_a_terminal(self):
        self.ok("run", "-q", self.job("true"))
        self.env.pop("NO_COLOR", None)
        self.env["TERM"] = "xterm"
        self.ok("submit", self.job("exit 1"))
        self.run_cli("wait", "test_2")
        self.assertIn("\033[31mFAILED", self.on_terminal("list"))
        self.env["NO_COLOR"] = "1"
        self.assertNotIn("\033", self.on_terminal("list"))
        self.assertNotIn("\033", self.ok("list"))
        self.assertIsNotNone(re.search("FAILED", self.ok("list")))
