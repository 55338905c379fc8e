"""Ctrl-C reaches attach and run -i while a server lets them wait."""

import http.server
import json
import re
import signal
import subprocess
import threading

import program

TASK = {"name": "j", "jobStatus": {"username": "ann", "state": "RUNNING"},
        "taskRoles": {"a": {"taskStatuses": [
            {"taskIndex": 0, "taskState": "RUNNING"}]}}}
RUNNING = {"event": "task", "time_us": 1, "attempt": 0, "role": "a",
           "index": 0, "state": "running", "text": ""}
STOPPED = {"event": "job", "time_us": 2, "attempt": 0, "state": "stopped",
           "code": -210, "text": ""}


class Slow(http.server.BaseHTTPRequestHandler):
    """A server that has one task, which runs until it is stopped."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def what(self):
        """Whoever it is, whose job is asked for."""
        return re.sub(r"^.*/api/v2|(?<=/jobs/)[^~]+~", "", self.path)

    def answer(self, what, status=200, more=""):
        body = json.dumps(what).encode() + more.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

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
            self.answer(STOPPED if self.server.stops else RUNNING, more="\n")
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
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
        server.daemon_threads = True
        server.stops, server.interrupts = [], []
        server.is_late = False
        server.over = threading.Event()
        server.interrupt = self.interrupt
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.over.set)
        self.server = server
        self.env["OPENPAI_CLUSTER"] = f"http://127.0.0.1:{server.server_port}"

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


if __name__ == "__main__":
    program.main()
