"""Ctrl-C reaches attach and run -i while a server lets them wait."""

import json
import re
import signal
import subprocess
import threading

import played
import program

TASK = {"name": "j", "jobStatus": {"username": "ann", "state": "RUNNING"},
        "taskRoles": {"a": {"taskStatuses": [
            {"taskIndex": 0, "taskState": "RUNNING"}]}}}
RUNNING = {"event": "task", "time_us": 1, "attempt": 0, "role": "a",
           "index": 0, "state": "running", "text": ""}
STOPPED = {"event": "job", "time_us": 2, "attempt": 0, "state": "stopped",
           "code": -210, "text": ""}


class Slow(played.Handler):
    """A server that has one task, which runs until it is stopped."""
    protocol_version = "HTTP/1.1"

    def what(self):
        """Whoever it is, whose job is asked for."""
        return re.sub(r"^.*/api/v2|(?<=/jobs/)[^~]+~", "", self.path)

    def do_GET(self):
        path = self.what()
        if path in self.server.interrupts:
            self.server.interrupts.remove(path)
            self.server.interrupt()
        if path == "/info" and not self.server.is_late:
            self.answer({"server": "libopenpai"})
        elif path == "/status":
            self.answer({"machine": {"cpus": 4, "memory": 1 << 34}})
        elif path == "/jobs/j":
            self.answer(TASK)
        elif path == "/jobs/j/follow?output=false":
            self.answer(json.dumps(
                STOPPED if self.server.stops else RUNNING) + "\n")
        else:  # as what a task says, which is nothing
            self.server.over.wait()
            self.close_connection = True

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer({}, 202)

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.stops.append(self.what())
        self.answer({})


class Signals(program.RootTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_CONFIG_HOME"] = str(self.folder / "config")
        server = played.serve(
            self, Slow, stops=[], interrupts=[], is_late=False,
            over=threading.Event(), interrupt=self.interrupt)
        self.addCleanup(server.over.set)
        self.server = server
        self.env["OPENPAI_CLUSTER"] = server.url

    def begin(self, *args):
        self.started = threading.Event()
        self.process = self.start(*args, stdin=subprocess.DEVNULL)
        self.started.set()
        return self.process

    def interrupt(self):
        """When it asks for something, before that is answered."""
        self.started.wait()
        self.process.send_signal(signal.SIGINT)

    def test_attach_that_has_no_answer_yet(self):
        self.server.is_late = True
        self.server.interrupts = ["/info"]
        process = self.begin("attach", "ann~j")
        self.assertEqual(process.wait(60), 130)
        self.assertEqual(self.server.stops, [])

    def test_run_that_does_not_know_its_task_yet(self):
        """Nobody follows the job then, nor attaches yet."""
        self.server.interrupts = ["/jobs/j"]
        process = self.begin("run", "-i", "--name", "j", "--", "cat")
        said = process.communicate(timeout=60)[1]
        self.assertEqual(self.server.stops, ["/jobs/j/executionType"])
        self.assertEqual(process.returncode, 130, said)
