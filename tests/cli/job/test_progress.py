"""What a terminal shows meanwhile: uploads, and jobs that are waited for."""

import fcntl
import json
import os
import pty
import struct
import termios

import program
import served


class Shown:
    """An openpai on a terminal of so many columns."""

    def __init__(self, env, *args, columns=100):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # Not before its terminal has a size.
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("HHHH", 24, columns, 0, 0))
            os.execve(program.OPENPAI, [program.OPENPAI, *args], env)
        self.text = ""

    def read(self):
        """False: it has ended."""
        some = program.read_terminal(self.fd)
        self.text += some.decode()
        return bool(some)

    def until(self, text):
        while text not in self.text:
            if not self.read():
                raise AssertionError(self.text)

    def end(self):
        """Its exit code."""
        while self.read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def screen(text):
    """The lines that stand on the terminal in the end."""
    lines, at = [""], 0
    for c in text:
        if c == "\n":
            lines.append("")
            at = 0
        elif c == "\r":
            at = 0
        elif c == "\b":
            at = max(at - 1, 0)
        else:
            lines[-1] = lines[-1][:at] + c + lines[-1][at + 1:]
            at += 1
    return [line.rstrip() for line in lines]


class Waits(program.RootTest):
    def setUp(self):
        super().setUp()
        self.env.pop("TERM", None)  # one of which nobody knows what it can

    def begin(self, instances=1):
        fifo = self.fifo()
        self.ok("submit", self.job(f"read x < {fifo}", instances=instances,
                                   cpu=0))
        return fifo

    def test_a_line_while_it_runs(self):
        fifo = self.begin(instances=2)
        self.env.pop("NO_COLOR", None)
        shown = Shown(self.env, "wait", "test")
        shown.until("test RUNNING for ")
        shown.until(", 2 of 2 tasks run")
        self.release(fifo)
        self.release(fifo)
        self.assertEqual(shown.end(), 0)
        self.assertEqual(screen(shown.text), ["test SUCCEEDED", ""])
        self.assertNotIn("\033", shown.text)

    def wait_in_line(self):
        """Two jobs behind one that takes all CPUs, and is let go."""
        fifo = self.fifo()
        self.ok("submit", "--name", "first",
                self.job(f"read x < {fifo}", cpu=os.cpu_count()))
        for name in "second", "third":
            self.ok("submit", "--name", name,
                    self.job("true", cpu=os.cpu_count()))
        return fifo

    def test_a_place_in_line(self):
        fifo = self.wait_in_line()
        line = {"virtualCluster": "default", "order": "arrival", "place": 2,
                "waiting": 2}
        self.assertEqual(json.loads(self.ok("why", "--json", "third"))["line"],
                         line)
        self.assertIn("it is 2nd of 2 in line of default\n",
                      self.ok("why", "third"))
        shown = Shown(self.env, "wait", "third")
        shown.until("third WAITING for ")
        shown.until(", 2nd of 2 in line of default")
        self.release(fifo)
        self.assertEqual(shown.end(), 0)
        self.assertEqual(screen(shown.text), ["third SUCCEEDED", ""])

    def test_who_runs_waits_in_line(self):
        fifo = self.wait_in_line()
        job = self.job("echo done", cpu=os.cpu_count())
        shown = Shown(self.env, "run", "--name", "fourth", job)
        shown.until("fourth WAITING for ")
        shown.until(", 3rd of 3 in line of default")
        for args in ["--quiet"], ["--json"]:
            other = Shown(self.env, "run", *args, job)
            while self.run_cli("show", "test").returncode != 0:
                continue  # it is not there yet
            self.ok("stop", "test")
            self.assertNotEqual(other.end(), 0)
            self.assertNotIn("WAITING", other.text)
            self.ok("rm", "test")
        self.release(fifo)
        self.assertEqual(shown.end(), 0)
        left = screen(shown.text)
        self.assertNotIn("WAITING", "".join(left))
        self.assertIn("done", "".join(left))

    def test_who_runs_may_go(self):
        """Ctrl-C is heard, and the line is gone."""
        self.wait_in_line()
        shown = Shown(self.env, "run", "--name", "fourth",
                      self.job("true", cpu=os.cpu_count()))
        shown.until("fourth WAITING for ")
        os.write(shown.fd, b"\x03")
        self.assertEqual(shown.end(), 130)
        left = screen(shown.text)
        self.assertTrue(any(line.startswith(("^Cstopping", "stopping"))
                            for line in left), left)
        self.assertNotIn("WAITING", "".join(left))

    def test_it_fits(self):
        fifo = self.begin(instances=2)
        shown = Shown(self.env, "wait", "test", columns=20)
        shown.until("test RUNNING for ")
        self.release(fifo)
        self.release(fifo)
        self.assertEqual(shown.end(), 0)
        self.assertLess(max(map(len, shown.text.replace("\b", "").replace(
            "\r", "\n").split("\n"))), 20)
        self.assertEqual(screen(shown.text), ["test SUCCEEDED", ""])

    def test_nobody_looks(self):
        fifo = self.begin()
        quiet = [Shown(dict(self.env, TERM="dumb"), "wait", "test"),
                 Shown(self.env, "wait", "--quiet", "test"),
                 Shown(self.env, "wait", "--json", "test")]
        piped = self.start("wait", "test")
        self.ok("logs", "test")
        self.release(fifo)
        self.assertEqual(piped.communicate(timeout=60),
                         ("test SUCCEEDED\n", ""))
        for shown in quiet:
            self.assertEqual(shown.end(), 0)
            self.assertNotIn("RUNNING", shown.text)
            self.assertNotIn("WAITING", shown.text)


class Elsewhere(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.env.pop("TERM", None)

    def test_who_runs_waits_in_line(self):
        process = self.serve()
        self.env["OPENPAI_TOKEN"] = self.login()
        self.env["OPENPAI_CLUSTER"] = self.url
        fifo = self.fifo()
        self.ok("submit", "--name", "first",
                self.job(f"read x < {fifo}", cpu=os.cpu_count()))
        shown = Shown(self.env, "run", self.job("echo done",
                                                cpu=os.cpu_count()))
        shown.until("test WAITING for ")
        shown.until(", 1st of 1 in line of default")
        self.release(fifo)
        self.assertEqual(shown.end(), 0)
        self.assertNotIn("WAITING", "".join(screen(shown.text)))
        self.end(process)


class Uploads(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.code = self.folder / "code"
        self.code.mkdir()
        (self.code / "large").write_bytes(os.urandom(16 << 20))

    def submit(self, *args):
        return ("submit", self.job("true"), "--code", str(self.code),
                "--cluster", self.url, *args)

    def test_how_much_has_left(self):
        process = self.serve()
        self.env["OPENPAI_TOKEN"] = self.login()
        for env in self.env, dict(self.env, NO_COLOR="1"):
            shown = Shown(env, *self.submit())
            self.assertEqual(shown.end(), 0)
            self.assertIn("sending code [", shown.text)
            self.assertRegex(shown.text, r"\] +\d+%, \d+\.\d of 16\.8 MB, ")
            self.assertRegex(screen(shown.text)[-2], r"^test")
            self.assertNotIn("sending", "".join(screen(shown.text)))
        self.assertNotIn("\033", shown.text)
        shown = Shown(self.env, *self.submit("--quiet"))
        self.assertEqual(shown.end(), 0)
        self.assertNotIn("sending", shown.text)
        done = self.run_cli(*self.submit())
        self.assertEqual((done.returncode, done.stderr.count("sending")),
                         (0, 0), done.stderr)
        self.end(process)

    def test_refused(self):
        """What went wrong stands in a line of its own."""
        process = self.serve()
        self.env["OPENPAI_TOKEN"] = "h.e30.s"
        shown = Shown(dict(self.env, NO_COLOR="1"), *self.submit())
        self.assertEqual(shown.end(), 1)
        self.assertTrue(any(line.startswith("openpai: error: ")
                            for line in screen(shown.text)), shown.text)
        self.assertNotIn("sending", "".join(screen(shown.text)))
        self.end(process)
