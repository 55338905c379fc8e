"""What the Python module promises of programs that fork.

Usage: test_python_fork.py ROOT [unittest's arguments]
"""
import multiprocessing
import os
import subprocess
import sys
import textwrap
import traceback
import unittest

import openpai
import python_serve
from python_jobs import job, new_root, text

PASSWORD = "correct horse battery"


def in_child(function):
    """Runs it in a child of fork(), which ends as programs do; its code."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            # As exit() ends it, but for the tests' own clearing up.
            sys.stdout.flush()
            sys.stderr.flush()
            import ctypes
            ctypes.CDLL(None).exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run_one(root):
    """For a process of multiprocessing's: a platform of its own."""
    with openpai.Platform(root=root) as platform:
        return platform.submit(job("true")).wait().state


class Fork(unittest.TestCase):
    def setUp(self):
        self.root = new_root()
        self.platform = openpai.Platform(root=self.root)
        self.addCleanup(self.platform.close)
        gate = self.root / "gate"
        os.mkfifo(gate)
        self.gate = gate
        self.handle = self.platform.submit(job("read word < %s; echo done"
                                               % gate))
        while self.handle.state != "running":
            self.platform._step(250)

    def goes_on(self):
        """The parent has noticed nothing."""
        other = self.platform.submit(job("echo other"))
        self.assertTrue(other.wait().succeeded)
        self.assertEqual(list(other.logs()), ["other"])
        self.gate.write_text("go\n")
        self.assertTrue(self.handle.wait().succeeded)
        self.assertEqual(list(self.handle.logs()), ["done"])

    def test_calls(self):
        def child():
            p, h = self.platform, self.handle
            for call in (lambda: p.submit(job("true")), h.stop, h.show, h.why,
                         h.wait, p.jobs, p.accounts.users,
                         lambda: list(h.logs())):
                try:
                    call()
                except openpai.BusyError as error:
                    assert "fork()" in str(error), error
                else:
                    raise AssertionError("%s did not fail" % call)
            p.close()
            assert p.closed
            assert run_one(self.root / "of-child") == "succeeded"
            try:
                openpai.Platform(root=self.root)
            except openpai.BusyError as error:
                assert str(os.getppid()) in str(error), error
            else:
                raise AssertionError("the child has its parent's root")
        self.assertEqual(in_child(child), 0)
        self.goes_on()

    def test_forgotten(self):
        """A child that ends without closing, or leaves the block."""
        self.assertEqual(in_child(lambda: None), 0)

        def leaves():
            with self.platform:
                pass
        self.assertEqual(in_child(leaves), 0)
        self.goes_on()

    def test_multiprocessing(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(
                pool.map(run_one, [self.root / ("fork%d" % i)
                                   for i in range(3)], 1), ["succeeded"] * 3)
        self.assertEqual(subprocess.run(["true"]).returncode, 0)
        self.goes_on()

    def test_spawn(self):
        """In a program of its own: this one cannot be imported again."""
        (self.root / "worker.py").write_text(textwrap.dedent("""
            import json, multiprocessing, openpai
            def run(root):
                job = openpai.Job.parse(%r)
                with openpai.Platform(root=root) as platform:
                    return platform.submit(job).wait().state
            def main():
                with openpai.Platform(root="outer"):
                    with multiprocessing.get_context("spawn").Pool(2) as pool:
                        print(pool.map(run, ["a", "b"], 1))
            """ % text("true")))
        done = subprocess.run(
            [sys.executable, "-c", "import worker; worker.main()"],
            cwd=self.root, text=True, capture_output=True, timeout=120,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(
                [str(self.root), *sys.path[1:]])})
        self.assertEqual((done.returncode, done.stdout),
                         (0, "['succeeded', 'succeeded']\n"), done.stderr)
        self.goes_on()


class Clients(unittest.TestCase):
    def test_workers(self):
        """A server that forks its workers: each has a client of its own."""
        with python_serve.served(new_root(), PASSWORD) as url:
            first = openpai.BlockingClient(url)
            self.addCleanup(first.close)
            first.login("admin", PASSWORD)
            name = first.submit(job("true"))

            def worker():
                try:
                    first.job(name)
                except openpai.BusyError:
                    pass
                else:
                    raise AssertionError("the parent's client answered")
                own = openpai.BlockingClient(url, token=first.token)
                assert own.wait(name).succeeded
                own.close()
                first.close()
            for _ in range(2):
                self.assertEqual(in_child(worker), 0)
            self.assertEqual(first.wait(name).state, "succeeded")
