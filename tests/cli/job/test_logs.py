"""openpai logs: of one task, of several, of several jobs; what is followed."""

import calendar
import contextlib
import json
import os
import select
import signal
import socket
import threading
import time

import played
import program
import served
import terminal
from box import BoxTest

JOB = """\
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
taskRoles:
  a:
    instances: 2
    dockerImage: x
    completion: {{minSucceededInstances: -1}}
    resourcePerInstance: {{cpu: 0, memoryMB: 100, gpu: 0}}
    commands:
      - {command}
  longer:
    dockerImage: x
    completion: {{minSucceededInstances: -1}}
    resourcePerInstance: {{cpu: 0, memoryMB: 100, gpu: 0}}
    commands:
      - {command}
"""

# How tqdm draws.
BAR = (r"for i in 10 50 100; do printf '\r%3d%%|####|' $i >&2; {}; done; "
       r"printf '\n' >&2")


class LogsTest(BoxTest):
    def tasks(self, command, name="test"):
        return self.write(f"{name}.yaml", JOB.format(
            command=json.dumps(command), name=name))

    def names(self, *before):
        return [f"{word}{name} |" for word in before or [""]
                for name in ("a[0]     ", "a[1]     ", "longer[0]")]


class Which(LogsTest):
    def test_all_tasks(self):
        """One after the other, a name before each line; of one its bytes."""
        self.ok("run", "-q", self.tasks(r"printf 'one\ntwo'"))
        lines = [f"{name} {line}" for name in self.names()
                 for line in ("one", "two")]
        self.assertEqual(self.ok("logs", "test").splitlines(), lines)
        self.assertEqual(sorted(self.ok("logs", "-f", "test").splitlines()),
                         sorted(lines))
        self.assertEqual(self.ok("logs", "test", "--task", "a/1"), "one\ntwo")
        self.assertEqual(self.ok("logs", "test", "--task", "longer"),
                         "one\ntwo")
        self.assertEqual(self.ok("logs", "test", "--task", "a"),
                         "a[0] | one\na[0] | two\na[1] | one\na[1] | two\n")
        self.assertEqual(self.ok("logs", "test", "--no-prefix"),
                         "one\ntwo\n" * 3)
        self.assertEqual(self.ok("logs", "test", "-f", "--no-prefix",
                                 "--task", "a").count("two\n"), 2)
        self.refused(1, "job test has no task b", "logs", "test", "--task",
                     "b")
        self.refused(1, "  help: its tasks are a/0 to 1, longer/0; its latest "
                     "attempt is 0", "logs", "test", "--task", "a/2")

    def test_several_jobs(self):
        for name in ("train_b", "train_a", "other"):
            self.ok("run", "-q", self.tasks(f"echo {name}", name))
        lines = [f"{name}/{task} {name}" for name in ("train_b", "train_a")
                 for task in self.names()]
        self.assertEqual(self.ok("logs", "train_*").splitlines(), lines)
        self.assertEqual(self.ok("logs", "train_?", "train_a").splitlines(),
                         lines)
        self.assertEqual(self.ok("logs", "train_b", "train_[a]").splitlines(),
                         lines)
        self.assertEqual(
            sorted(self.ok("logs", "-f", "train*").splitlines()),
            sorted(lines))
        self.assertEqual(self.ok("logs", "oth*", "--task", "a/0"), "other\n")
        user = json.loads(self.ok("list", "--json"))[0]["username"]
        self.assertEqual(self.ok("logs", f"{user}~oth*", "--task", "a/0"),
                         "other\n")
        self.refused(1, f"no such job of {user} matches 'x*'\n  help: 'openpai "
                     "list' lists the jobs", "logs", "x*")
        self.refused(1, "nobody has no such job", "logs", "nobody~*")
        self.refused(1, "~none is not found", "logs", "train_a", "none")

    def test_some_have_not_begun(self):
        """Those that have are printed."""
        gate = self.fifo()
        job = self.tasks(f"echo up; read x < {gate}")
        self.ok("submit", job)
        process = self.start("logs", "-f", "test")
        lines = sorted(process.stdout.readline() for _ in range(3))
        self.assertEqual(lines, [f"{name} up\n" for name in self.names()])
        fd = os.open(gate, os.O_RDWR)
        self.addCleanup(os.close, fd)
        os.write(fd, b"go\n" * 3)
        self.assertEqual(process.communicate(), ("", ""))
        self.assertEqual(process.returncode, 0)


class Parts(LogsTest):
    """The last lines, times, and the order of both streams."""

    def test_a_line_without_an_end(self):
        """It stands before what the other stream wrote after it."""
        gate, done = self.fifo(), self.fifo("done")
        self.ok("submit", self.job(f"echo up; read -r x < {gate}; "
                                   "printf 'Password: ' >&2; echo asked; "
                                   f"echo x > {done}"))
        process = self.start("logs", "-f", "test")
        self.assertEqual(process.stdout.readline(), "up\n")
        status, = self.root.glob("own/jobs/*~test/0/*/status")
        supervisor = int(status.read_text().split()[1])
        os.kill(supervisor, signal.SIGSTOP)
        try:
            self.release(gate)
            done.read_text()
        finally:
            os.kill(supervisor, signal.SIGCONT)
        process.communicate()
        log, = self.root.glob("jobs/*~test/0/*/all")
        self.assertEqual(log.read_text(), "up\nPassword: asked\n")

    def test_the_last_lines(self):
        self.ok("run", "-q", self.tasks(
            "for i in 1 2 3; do echo out $i; echo err $i >&2; done; "
            "printf end"))
        one = ("logs", "test", "--task", "a/0")
        whole = self.ok(*one)  # in which the streams may come as they like
        self.assertEqual(self.ok(*one, "--tail", "2"),
                         "".join(whole.splitlines(True)[-2:]))
        self.assertEqual(self.ok(*one, "-n2", "--log", "stdout"), "out 3\nend")
        self.assertEqual(self.ok(*one, "-n2", "--log", "stderr"),
                         "err 2\nerr 3\n")
        self.assertEqual(self.ok(*one, "-n", "99").count("\n"), 6)
        self.assertEqual(self.ok(*one, "-n", "0"), "")
        self.assertEqual(self.ok("logs", "test", "-n1", "--log", "stdout")
                         .splitlines(),
                         [f"{name} end" for name in self.names()])
        for words in ["--tail", "x"], ["--tail", "-1"], ["--since", "5"], \
                ["--since", "yesterday"], ["--since", "2026-13-01"]:
            done = self.run_cli("logs", "test", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)

    def test_the_last_lines_and_what_comes(self):
        gate = self.fifo()
        self.ok("submit", self.job(
            "echo one; echo two; echo up; while read x && test $x != end; "
            f"do echo $x; done <{gate}"))
        self.until_up_to("up")
        for tail, begin in ("0", r"\d+\n"), ("2", r"(two|up|\d+)\n"):
            process = self.start("logs", "-f", "--tail", tail, "test")
            fd = os.open(gate, os.O_RDWR)
            self.addCleanup(os.close, fd)
            numbers = 0
            while not select.select([process.stdout], [], [], 0.1)[0]:
                numbers += 1
                os.write(fd, b"%d\n" % numbers)
            os.write(fd, b"99\n")
            lines = [process.stdout.readline()]
            while lines[-1] != "99\n":
                lines.append(process.stdout.readline())
            self.assertRegex(lines[0], begin)
            process.kill()
        os.write(fd, b"end\n")
        self.ok("wait", "test")

    def until_up_to(self, line):
        process = self.start("logs", "-f", "test")
        while process.stdout.readline() != line + "\n":
            pass
        process.kill()

    def test_times(self):
        """Right to a second, whatever the log and its place."""
        before = int(time.time())
        self.ok("run", "-q", self.tasks(
            r"echo early; sleep 3; printf 'half '; sleep 1.2; "
            r"printf 'line\na\rb\n'; sleep 0.3; echo err >&2"))
        after = int(time.time()) + 1
        one = ("logs", "test", "--task", "a/0", "--timestamps")
        lines = self.ok(*one).splitlines()
        times = [calendar.timegm(time.strptime(line[:20],
                                               "%Y-%m-%dT%H:%M:%SZ"))
                 for line in lines]
        stamps = [line[:21] for line in lines]
        self.assertEqual(
            lines, [stamps[0] + "early", stamps[1] + "half line",
                    stamps[2] + "a", stamps[3] + "b", stamps[4] + "err"])
        self.assertEqual(times, sorted(times))
        self.assertTrue(before <= times[0] and times[-1] <= after, times)
        self.assertGreaterEqual(times[1] - times[0], 3)
        self.assertEqual(self.ok(*one, "--log", "stderr"), stamps[4] + "err\n")
        for line in self.ok("logs", "test", "-t", "-n1").splitlines():
            self.assertRegex(line, r"\] +\| \d{4}-\d\d-\d\dT[\d:]{8}Z err$")

    def test_since(self):
        self.ok("run", "-q", self.job("echo early; sleep 4; echo late"))
        self.assertEqual(self.ok("logs", "test", "--since", "1h30m"),
                         "early\nlate\n")
        line = self.ok("logs", "test", "-t", "-n1").split()
        self.assertEqual(self.ok("logs", "test", "--since", line[0]),
                         "late\n")
        clock = time.strptime(line[0], "%Y-%m-%dT%H:%M:%SZ")
        local = time.localtime(calendar.timegm(clock))
        self.assertEqual(self.ok("logs", "test", "--since", time.strftime(
            "%Y-%m-%d %H:%M:%S", local)), "late\n")
        self.assertEqual(self.ok("logs", "test", "--since", time.strftime(
            "%Y-%m-%dT%H:%M:%S+00:00", clock)), "late\n")
        self.assertEqual(self.ok("logs", "test", "--since", "2000-02-29"),
                         "early\nlate\n")
        self.assertEqual(self.ok("logs", "test", "--since", "2999-01-01"), "")
        time.sleep(3)
        self.assertEqual(self.ok("logs", "-f", "test", "--since", "2s"), "")


class Cutting(threading.Thread):
    """A way to a server that breaks once, behind the first answer with `mark`."""

    def __init__(self, test, url, mark):
        super().__init__(daemon=True)
        self.to = ("127.0.0.1", int(url.rsplit(":", 1)[1]))
        self.mark, self.cut = mark, False
        self.door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.door.getsockname()[1]}"
        test.addCleanup(self.door.close)
        self.start()

    def run(self):
        while True:
            try:
                here = self.door.accept()[0]
            except OSError:
                return
            there = socket.create_connection(self.to)
            threading.Thread(target=self.lead, args=(here, there),
                             daemon=True).start()
            threading.Thread(target=self.lead, args=(there, here),
                             daemon=True).start()

    def lead(self, source, to):
        try:
            while data := source.recv(65536):
                to.sendall(data)
                if self.mark in data and not self.cut:
                    self.cut = True
                    break
        except OSError:
            pass
        for line in source, to:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        source.close()


class Elsewhere(served.ServedTest):
    tasks = LogsTest.tasks
    names = LogsTest.names

    def test_the_last_lines_go_on_after_a_cut(self):
        """Each line once."""
        self.serve()
        way = Cutting(self, self.url, b"third")
        self.enlist("far", way.url)
        gate = self.folder / "gate"
        os.mkfifo(gate)
        job = self.write("test.yaml", program.JOB.format(
            instances=1, cpu=0, command=json.dumps(
                f"echo first; echo second; echo third; read x <{gate}; "
                "echo $x")))
        self.ok("submit", "--cluster", "far", "--name", "test", job)
        self.enlist("near", self.url)
        first = self.start("logs", "-f", "test", "--cluster", "near")
        while first.stdout.readline() != "third\n":
            pass
        first.kill()
        process = self.start("logs", "-f", "-n2", "test", "--cluster", "far")
        self.assertEqual([process.stdout.readline() for _ in range(2)],
                         ["second\n", "third\n"])
        while not way.cut:
            pass
        gate.write_text("fourth\n")
        self.assertEqual(process.communicate(timeout=60)[0], "fourth\n")
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.ok("logs", "-f", "--since", "1h", "test",
                                 "--cluster", "far").split(),
                         ["first", "second", "third", "fourth"])

    def test_more_tasks_than_streams(self):
        """They are followed when others end, and that is told."""
        self.serve()
        self.enlist("far", self.url)
        status, _, text = self.ask("PUT", "/api/v2/users/admin/quota",
                                   {"streams": 2}, self.login())
        self.assertEqual(status, 201, text)
        gate = self.folder / "gate"
        os.mkfifo(gate)
        self.ok("submit", "--cluster", "far",
                self.tasks(f"echo up; read x < {gate}"))
        process = self.start("logs", "-f", "test", "--cluster", "far")
        said = process.stderr.readline()
        self.assertIn("note: this server allows you no more streams", said)
        up = [process.stdout.readline() for _ in range(2)]
        fd = os.open(gate, os.O_RDWR)
        self.addCleanup(os.close, fd)
        os.write(fd, b"go\n" * 3)
        out, rest = process.communicate(timeout=60)
        self.assertEqual(sorted(up + out.splitlines(True)),
                         [f"{name} up\n" for name in self.names()])
        self.assertEqual((rest, process.returncode), ("", 0))

    def test_a_server_by_its_url(self):
        self.serve()
        self.enlist("far", self.url)
        job = self.tasks("echo up")
        self.ok("submit", "--cluster", "far", job)
        for words in (["-f", "test"], ["test"], ["tes*"]):
            self.assertEqual(
                sorted(self.ok("logs", *words, "--cluster", "far")
                       .splitlines()),
                [f"{name} up" for name in self.names()], words)


class Original(played.Handler):
    """OpenPAI's server, as far as logs are concerned."""

    def do_GET(self):
        path = self.path.split("?")[0]
        task = {"taskState": "SUCCEEDED", "attemptId": 0}
        answers = {
            "/api/v2/info": {"version": "v1.8.0"},
            "/api/v2/jobs/ann~old": {
                "jobStatus": {"state": "SUCCEEDED", "attemptId": 0},
                "taskRoles": {"w": {"taskStatuses": [
                    {"taskIndex": i, **task} for i in range(2)]}}}}
        for i in range(2):
            logs = ("/api/v2/jobs/ann~old/attempts/0/taskRoles/w/taskIndex/"
                    f"{i}/attempts/0/logs")
            answers[logs] = {"locations": [
                {"name": "all", "uri": f"/log-manager/{i}"}]}
        self.answer(f"one\r{path[-1]}\ntwo\nthree"
                    if path.startswith("/log-manager") else answers[path])


class OfOriginal(LogsTest):
    def test_what_it_can(self):
        server = played.serve(self, Original)
        far = ("logs", "--cluster", server.url,
               "ann~old")
        lines = [f"w[{i}] | {line}" for i in range(2)
                 for line in (str(i), "two", "three")]
        self.assertEqual(self.ok(*far).splitlines(), lines)
        self.assertEqual(sorted(self.ok(*far, "-f").splitlines()),
                         sorted(lines))
        raw = self.run_cli(*far, "--task", "w/1", text=False)
        self.assertEqual(raw.stdout, b"one\r1\ntwo\nthree")
        self.assertEqual(self.ok(*far, "--task", "w/1", "-n2"), "two\nthree")
        self.assertEqual(self.ok(*far, "-n2").splitlines(),
                         lines[1:3] + lines[4:])
        self.assertEqual(self.ok(*far, "-n0"), "")
        self.assertEqual(self.ok(*far, "--attempt", "0").splitlines(), lines)
        for words in ["--since", "1h"], ["-t"], ["-f", "-n1"]:
            self.refused(1, "this server, an original OpenPAI", *far, *words)


class Redrawn(LogsTest):
    """Carriage returns."""

    def setUp(self):
        super().setUp()
        self.env["TERM"] = "xterm"

    def test_in_a_pipe(self):
        """A bar is one line with a name before it, and else as it is."""
        done = self.run_cli("run", self.tasks(BAR.format("true")))
        lines = [f"{name} 100%|####|" for name in self.names()]
        self.assertEqual(sorted(done.stdout.splitlines()), lines)
        self.assertEqual(self.ok("logs", "test").splitlines(), lines)
        raw = self.run_cli("logs", "test", "--task", "a/0", text=False)
        self.assertEqual(raw.stdout,
                         b"\r 10%|####|\r 50%|####|\r100%|####|\n")

    def test_dos_lines_and_what_moves_the_cursor(self):
        self.ok("run", "-q", self.tasks(
            r"printf 'one\r\ntwo\r\n\r\n\033[A\033[31mred\033[m\n'"))
        self.assertEqual(
            self.ok("logs", "test", "--task", "a"),
            "".join(f"a[{i}] | {text}\n" for i in range(2) for text in
                    ("one", "two", "", "\033[31mred\033[m")))

    def bars(self, *args, last):
        """On a terminal each is one line below, which moves, and at the end a
        line of the output."""
        gates = []
        for task in ("a-0", "a-1", "longer-0"):
            os.mkfifo(self.folder / task)
            gates.append(os.open(self.folder / task, os.O_RDWR))
            self.addCleanup(os.close, gates[-1])
        job = self.tasks("echo up; " + BAR.format(
            f"read x < {self.folder}/$PAI_CURRENT_TASK_ROLE_NAME-"
            "$PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX"))
        words = ["run", job] if args[0] == "run" else args
        if args[0] != "run":
            self.ok("submit", job)
        shown = terminal.Terminal(self.env, *words, rows=30)
        for percent in (" 10", " 50", "100"):
            shown.until(lambda screen, wanted=percent: all(
                f"{name} {wanted}%|####|" in screen.shown
                for name in self.names()))
            lines = shown.screen.all
            for name in self.names():
                self.assertEqual([line for line in lines if name in line],
                                 [f"{name} up", f"{name} {percent}%|####|"])
            for gate in gates:
                os.write(gate, b"go\n")
        self.assertEqual(shown.end(), 0, shown.text)
        self.assertEqual(sorted(line for line in shown.screen.all
                                if "|" in line),
                         sorted(f"{name} {text}" for name in self.names()
                                for text in ("up", "100%|####|")))
        self.assertTrue(shown.screen.modes[25] and shown.screen.modes[7])
        self.assertRegex(shown.screen.all[-1], last)

    def test_logs_on_a_terminal(self):
        self.bars("logs", "-f", "test", last=r"100%")

    def test_run_on_a_terminal(self):
        """Above the table of the tasks."""
        self.bars("run", last=r"^test succeeded")


if __name__ == "__main__":
    program.main(program.sys.argv[2:])
