"""What the Python module promises beyond smoke.py: jobs, errors, run().

Usage: test_python.py ROOT [unittest's arguments]
"""
import ast
import copy
import dataclasses
import errno
import os
import pathlib
import pickle
import sys
import threading
import traceback
import unittest

import openpai
from openpai import _errors
from python_jobs import ROOT, SLEEP, is_alive, job, text


class Jobs(unittest.TestCase):
    def test_load(self):
        path = ROOT / "job.yaml"
        path.write_text(text("true", name="from-file"))
        for form in (path, str(path), os.fsencode(path)):
            self.assertEqual(openpai.Job.load(form).name, "from-file")

    def test_properties(self):
        j = job("echo one", "echo two", instances=3)
        self.assertEqual(j.roles, (openpai.Role(
            name="main", instances=3, cpus=1, memory_mb=64, gpus=0,
            script="echo one\necho two", min_failed=1, min_succeeded=3,
            task_retry_count=0, shm_mb=512, infiniband=False, image="none",
            ports={"ssh": 1, "http": 1}, prerequisites=()),))
        self.assertEqual(len({j.roles[0], j.roles[0]}), 1)
        self.assertIsInstance(j.notes, tuple)
        self.assertEqual(repr(j), "<openpai.Job 't': main x 3>")

    def test_text(self):
        said = "gr\u00fc\u00dfe \u4f60\u597d \U0001f600"
        for form in (text("echo " + said), text("echo " + said).encode(),
                     bytearray(text("echo " + said).encode())):
            script = openpai.Job.parse(form).roles[0].script
            self.assertEqual(script, "echo " + said)
        with self.assertRaises(openpai.InvalidError):
            openpai.Job.parse(b"name: \0")
        with self.assertRaises(openpai.InvalidError):
            openpai.Job.parse(b"name: \xff")
        with self.assertRaises(UnicodeEncodeError):
            openpai.Job.parse("name: \udc80")
        with self.assertRaises(ValueError):
            openpai.Job.load("a\0b")

    def test_wrong_types(self):
        for wrong in (None, 1, ["a"]):
            with self.assertRaises(TypeError):
                openpai.Job.parse(wrong)
            with self.assertRaises(TypeError):
                openpai.Job.load(wrong)
            with self.assertRaises(TypeError):
                openpai.run(wrong)
        with self.assertRaises(TypeError):
            openpai.Job()
        with self.assertRaises(TypeError):
            openpai.run(job("true"), on_event="print")
        with self.assertRaises(TypeError):
            openpai.run(job("true"), root=3)

    def test_copies(self):
        j = job("true")
        self.assertIs(copy.copy(j), j)
        self.assertIs(copy.deepcopy([j])[0], j)

    def test_immutable(self):
        j = job("true")
        for thing, name in ((j, "name"), (j, "_spec"), (j.roles[0], "cpus")):
            with self.assertRaises(AttributeError):
                setattr(thing, name, None)
        self.assertTrue(issubclass(dataclasses.FrozenInstanceError,
                                   AttributeError))


class Errors(unittest.TestCase):
    def test_attributes(self):
        with self.assertRaises(openpai.InvalidError) as caught:
            openpai.Job.parse("protocolVersion: 2\nname: t\ntype: job\n"
                              "taskRoles: {}\n")
        error = caught.exception
        self.assertEqual((error.code, error.name), (-1, "PAI_EINVAL"))
        self.assertEqual((error.line, error.column), (4, 12))
        self.assertIsInstance(error.pointer, str)
        self.assertFalse(error.retriable)
        self.assertTrue(error.help)
        self.assertEqual(str(error), "line 4, column 12: %s\nhelp: %s" % (
            error.message, error.help))
        self.assertIsNone(error.__cause__)

    def test_file(self):
        with self.assertRaises(FileNotFoundError) as caught:
            openpai.Job.load(ROOT / "missing.yaml")
        self.assertIsInstance(caught.exception, openpai.NotFoundError)
        self.assertEqual(caught.exception.name, "PAI_ENOTFOUND")
        self.assertIn("missing.yaml", str(caught.exception))
        self.assertIsNone(caught.exception.line)
        self.assertEqual(
            (caught.exception.errno, caught.exception.filename,
             caught.exception.strerror),
            (errno.ENOENT, str(ROOT / "missing.yaml"),
             os.strerror(errno.ENOENT)))
        with self.assertRaises(OSError) as caught:
            openpai.Job.load(ROOT)
        self.assertEqual((caught.exception.errno, caught.exception.filename),
                         (errno.EISDIR, str(ROOT)))
        path = ROOT / "b\u00e4d.yaml"
        path.write_text("protocolVersion: 2\nname: t\ntype: job\n"
                        "taskRoles: {}\n")
        with self.assertRaises(openpai.InvalidError) as caught:
            openpai.Job.load(path)
        self.assertEqual(caught.exception.filename, str(path))
        self.assertTrue(str(caught.exception).startswith(
            "%s, line 4, column 12: " % path))
        with self.assertRaises(openpai.InvalidError) as caught:
            openpai.Job.parse("{}")
        self.assertIsNone(caught.exception.filename)

    def test_second_bases(self):
        bases = {
            -1: ValueError, -2: MemoryError, -3: LookupError, -4: Exception,
            -5: NotImplementedError, -6: Exception, -7: Exception,
            -8: OSError, -9: PermissionError, -10: ValueError,
            -11: RuntimeError, -12: RuntimeError, -13: Exception,
            -999: Exception}
        cause = _errors.make(-8, "PAI_EIO", "below", "below", None, None,
                             None, None, False, None, None, None, None,
                             404, "NoJobError", 0, 0)
        self.assertEqual((cause.http_status, cause.api_code),
                         (404, "NoJobError"))
        for code, base in bases.items():
            error = _errors.make(code, "PAI_E", "line 1: m\nhelp: h", "m",
                                 "h", 1, 2, "/p", True, cause,
                                 '{"valid":false,"version":2,"diagnostics":[]}',
                                 "job.yaml", 2, None, None, 0, 0)
            with self.subTest(code), self.assertRaises(base) as caught:
                raise error
            for same in caught.exception, pickle.loads(pickle.dumps(error)):
                self.assertIs(type(same), type(error))
                self.assertIsInstance(same, openpai.Error)
                self.assertEqual(str(same), "line 1: m\nhelp: h")
                self.assertEqual(same.report, openpai.Report(False, 2, ()))
                self.assertEqual(
                    (same.code, same.name, same.message, same.help,
                     same.line, same.column, same.pointer, same.retriable,
                     same.filename),
                    (code, "PAI_E", "m", "h", 1, 2, "/p", True, "job.yaml"))
            if isinstance(error, OSError):
                self.assertEqual(error.errno, 2)
            self.assertIs(error.__cause__, cause)

    def test_without_an_answer(self):
        def make(code, how):
            return type(_errors.make(code, "PAI_E", "m", "m", None, None, None,
                                     None, True, None, None, None, None, None,
                                     None, 0, how))
        self.assertIs(make(-3, 1), openpai.ServerNotFoundError)
        self.assertIs(make(-8, 2), openpai.ServerLostError)
        self.assertIs(make(-8, 3), openpai.ServerTimeoutError)
        self.assertIs(make(-9, 4), openpai.ServerUntrustedError)
        self.assertTrue(issubclass(make(-9, 4), ConnectionError))
        self.assertIs(make(-9, 1), openpai.PermissionDenied)
        self.assertIs(make(-8, 9), openpai.IoError)  # of a newer library

    def test_made_by_hand(self):
        error = openpai.LimitError("too long")
        self.assertEqual((error.code, error.name), (-10, "PAI_ELIMIT"))
        self.assertEqual((str(error), error.message, error.line),
                         ("too long", "too long", None))


class Run(unittest.TestCase):
    def run_job(self, *commands, on_event=None, **more):
        return openpai.run(job(*commands, **more), root=ROOT,
                           on_event=on_event)

    def test_path(self):
        path = ROOT / "run.yaml"
        path.write_text(text("exit 7"))
        result = openpai.run(path, root=str(ROOT))
        self.assertEqual(result, ("failed", 7))
        self.assertEqual((result.state, result.code, result.succeeded),
                         ("failed", 7, False))

    def test_events(self):
        events = []
        self.run_job("printf 'a\\0b'; printf '\\377' >&2; exit 2",
                     on_event=events.append)
        states = [(e.type, e.state, e.code) for e in events if e.state]
        self.assertEqual(states, [
            ("job", "running", None), ("task", "running", None),
            ("task", "failed", 2), ("job", "failed", 2)])
        out, = (e for e in events if e.stream == "stdout")
        self.assertEqual((out.type, out.state, out.code, out.role, out.index,
                          out.attempt, out.data, out.text),
                         ("output", None, None, "main", 0, 0, b"a\0b",
                          "a\0b"))
        bad, = (e for e in events if e.stream == "stderr")
        self.assertEqual((bad.data, bad.text), (b"\xff", "\ufffd"))
        self.assertEqual((events[0].role, events[0].index), (None, None))
        self.assertIn("main", events[-1].text)
        self.assertEqual(events[0].time, events[0].time_us / 1e6)
        with self.assertRaises(AttributeError):
            out.text = ""

    def test_text(self):
        said = []
        self.run_job("echo gr\u00fc\u00dfe", on_event=lambda e: said.append(
            e.text if e.type == "output" else ""))
        self.assertEqual("".join(said), "gr\u00fc\u00dfe\n")

    def test_refused(self):
        calls = []
        with self.assertRaises(openpai.NoRoomError):
            self.run_job("true", cpus=1000000, on_event=calls.append)
        self.assertEqual(calls, [])
        with self.assertRaises(openpai.ExistsError):
            openpai.run(job("true"), root=__file__)
        with self.assertRaises(openpai.InvalidError):
            openpai.run(job("true"), root="")

    def test_callback_raises(self):
        class Mine(Exception):
            pass
        mine = Mine()
        seen = []

        def on_event(event):
            seen.append(event)
            if event.type == "output":
                raise mine

        names = []
        try:  # assertRaises() would drop the traceback
            self.run_job(*SLEEP, on_event=on_event)
        except Mine as error:
            self.assertIs(error, mine)
            names = [frame.name for frame in
                     traceback.extract_tb(error.__traceback__)]
        self.assertEqual((names[0], names[-1]),
                         ("test_callback_raises", "on_event"))
        self.assertEqual(seen[-1].type, "output")
        self.assertFalse(is_alive(int(seen[-1].text)))

    def test_callback_exits(self):
        def on_event(event):
            sys.exit(5)
        with self.assertRaises(SystemExit) as caught:
            self.run_job(*SLEEP, on_event=on_event)
        self.assertEqual(caught.exception.code, 5)

    def test_nested(self):
        results = []

        def on_event(event):
            if event.type == "output":
                results.append(self.run_job("exit 4"))
        self.assertTrue(self.run_job("echo x", on_event=on_event).succeeded)
        self.assertEqual(results, [("failed", 4)])

    def test_gil_is_released(self):
        fifo = ROOT / "fifo"
        os.mkfifo(fifo)
        running = threading.Event()

        def let_go():  # the job, and so run(), ends only if this runs
            running.wait()
            fifo.write_text("go\n")

        thread = threading.Thread(target=let_go)
        thread.start()
        result = self.run_job("read word < %s; test $word = go" % fifo,
                              on_event=lambda event: running.set())
        thread.join()
        self.assertTrue(result.succeeded)

    def test_other_thread(self):
        results = []
        threads = [threading.Thread(target=lambda code=code: results.append(
            self.run_job("exit %d" % code))) for code in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(r.code for r in results), [1, 2, 3])


class Types(unittest.TestCase):
    def test_stub(self):
        """facade.pyi names what SWIG has made."""
        facade = openpai.facade
        stub = pathlib.Path(facade.__file__).with_suffix(".pyi")
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                self.assertTrue(callable(getattr(facade, node.name)))
            elif isinstance(node, ast.ClassDef):
                cls = getattr(facade, node.name)
                self.assertEqual(
                    {name for name, value in vars(cls).items()
                     if name[0] != "_" and name not in ("this", "thisown")},
                    {method.name for method in node.body})
