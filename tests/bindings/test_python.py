"""What the Python module promises beyond smoke.py.

Usage: test_python.py ROOT [unittest's arguments]
"""
import ast
import asyncio
import ctypes
import dataclasses
import faulthandler
import gc
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import traceback
import tracemalloc
import unittest
import weakref

import openpai
from openpai import _errors

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()  # and a new folder in it, below


def text(*commands, name="t", instances=1, cpus=1):
    return json.dumps({
        "protocolVersion": 2, "name": name, "type": "job",
        "taskRoles": {"main": {
            "instances": instances, "dockerImage": "none",
            "resourcePerInstance": {"cpu": cpus, "memoryMB": 1, "gpu": 0},
            "commands": list(commands)}}}, ensure_ascii=False)


def job(*commands, **more):
    return openpai.Job.parse(text(*commands, **more))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# Says its process id, then sleeps longer than any test.
SLEEP = ("echo $$", "exec sleep 1000")


class Jobs(unittest.TestCase):
    def test_load(self):
        path = ROOT / "job.yaml"
        path.write_text(text("true", name="from-file"))
        for form in (path, str(path), os.fsencode(path)):
            self.assertEqual(openpai.Job.load(form).name, "from-file")

    def test_properties(self):
        j = job("echo one", "echo two", instances=3)
        self.assertEqual(j.roles, (openpai.Role(
            name="main", instances=3, cpus=1, memory_mb=1, gpus=0,
            script="echo one\necho two"),))
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
                              "taskRole: {}\n")
        error = caught.exception
        self.assertEqual((error.code, error.name), (-1, "PAI_EINVAL"))
        self.assertEqual((error.line, error.column), (4, 1))
        self.assertIsInstance(error.pointer, str)
        self.assertFalse(error.retriable)
        self.assertTrue(error.help)
        self.assertEqual(str(error), "line 4, column 1: %s\nhelp: %s" % (
            error.message, error.help))
        self.assertIsNone(error.__cause__)

    def test_file(self):
        with self.assertRaises(FileNotFoundError) as caught:
            openpai.Job.load(ROOT / "missing.yaml")
        self.assertIsInstance(caught.exception, openpai.NotFoundError)
        self.assertEqual(caught.exception.name, "PAI_ENOTFOUND")
        self.assertIn("missing.yaml", str(caught.exception))
        self.assertIsNone(caught.exception.line)
        with self.assertRaises(OSError):
            openpai.Job.load(ROOT)

    def test_second_bases(self):
        bases = {
            -1: ValueError, -2: MemoryError, -3: LookupError, -4: Exception,
            -5: NotImplementedError, -6: Exception, -7: Exception,
            -8: OSError, -9: PermissionError, -10: ValueError,
            -11: RuntimeError, -12: RuntimeError, -999: Exception}
        cause = _errors.make(-8, "PAI_EIO", "below", "below", None, None,
                             None, None, False, None)
        for code, base in bases.items():
            error = _errors.make(code, "PAI_E", "line 1: m\nhelp: h", "m",
                                 "h", 1, 2, "/p", True, cause)
            with self.subTest(code), self.assertRaises(base) as caught:
                raise error
            for same in caught.exception, pickle.loads(pickle.dumps(error)):
                self.assertIs(type(same), type(error))
                self.assertIsInstance(same, openpai.Error)
                self.assertEqual(str(same), "line 1: m\nhelp: h")
                self.assertEqual(
                    (same.code, same.name, same.message, same.help,
                     same.line, same.column, same.pointer, same.retriable),
                    (code, "PAI_E", "m", "h", 1, 2, "/p", True))
            self.assertIs(error.__cause__, cause)

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
        with self.assertRaises(openpai.InvalidError):
            self.run_job("true", cpus=1000000, on_event=calls.append)
        self.assertEqual(calls, [])
        with self.assertRaises(openpai.Error):
            openpai.run(job("true"), root="/dev/null/root")

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


class Signals(unittest.TestCase):
    def interrupt(self, body, *commands, again_at=None):
        """Runs `body` in a child, interrupts it once it says a number, and
        again once it says `again_at`."""
        script = "import sys, openpai\njob = openpai.Job.parse(%r)\n%s" % (
            text(*commands or SLEEP), textwrap.dedent(body))
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(ROOT)], text=True,
            stdout=subprocess.PIPE)
        with child:
            task = int(child.stdout.readline())
            self.assertTrue(is_alive(task))
            child.send_signal(signal.SIGINT)
            if again_at:
                self.assertEqual(child.stdout.readline(), again_at)
                child.send_signal(signal.SIGINT)
            rest = child.stdout.read()
        self.assertFalse(is_alive(task))
        return rest, child.returncode

    def test_run(self):
        rest, code = self.interrupt("""
            try:
                openpai.run(job, root=sys.argv[1], on_event=lambda event:
                            print(event.text, end="", flush=True))
            except KeyboardInterrupt:
                print("interrupted")
            """)
        self.assertEqual((rest, code), ("interrupted\n", 0))

    def test_wait(self):
        rest, code = self.interrupt("""
            def on_event(event):
                print(event.text, end="", flush=True)
                if event.type == "job" and event.code is not None:
                    print(event.state)

            with openpai.Platform(root=sys.argv[1],
                                  on_event=on_event) as platform:
                job_id = platform.submit(job)
                try:
                    platform.wait(job_id)
                except KeyboardInterrupt:
                    print("interrupted", platform.state(job_id))
            print("closed")
            """)
        self.assertEqual((rest, code),
                         ("interrupted running\nstopped\nclosed\n", 0))

    def test_twice(self):
        rest, code = self.interrupt("""
            try:
                with openpai.Platform(
                        root=sys.argv[1], on_event=lambda event:
                        print(event.text, end="", flush=True)) as platform:
                    platform.wait(platform.submit(job))
            except KeyboardInterrupt:
                print("killed")
            """, "trap 'echo no, thanks' TERM", "echo $$",
            "while :; do sleep 1000 & wait; done", again_at="no, thanks\n")
        self.assertEqual((rest, code), ("killed\n", 0))

    def test_same_process(self):
        running = threading.Event()
        thread = threading.Thread(target=lambda: (
            running.wait(), os.kill(os.getpid(), signal.SIGINT)))
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            openpai.run(job(*SLEEP), root=ROOT,
                        on_event=lambda event: running.set())
        thread.join()

    def test_handler_that_does_not_raise(self):
        fifo = ROOT / "signal-fifo"
        os.mkfifo(fifo)
        # The handler lets the job end, so it must run while run() waits.
        before = signal.signal(signal.SIGUSR1, lambda number, frame: (
            fifo.write_text("go\n")))
        try:
            running = threading.Event()
            thread = threading.Thread(target=lambda: (
                running.wait(), os.kill(os.getpid(), signal.SIGUSR1)))
            thread.start()
            result = openpai.run(job("read word < %s" % fifo), root=ROOT,
                                 on_event=lambda event: running.set())
            thread.join()
        finally:
            signal.signal(signal.SIGUSR1, before)
        self.assertTrue(result.succeeded)


class Platforms(unittest.TestCase):
    def test_life(self):
        seen = []
        with openpai.Platform(root=ROOT, on_event=seen.append) as platform:
            one = platform.submit(job("exit 3"))
            two = platform.submit(job(*SLEEP))
            self.assertNotEqual(one, two)
            self.assertIsNone(platform.code(two))
            self.assertEqual(platform.wait(one), ("failed", 3))
            self.assertEqual((platform.state(one), platform.code(one)),
                             ("failed", 3))
            self.assertTrue(os.path.isdir(platform.dir(one)))
            platform.stop(two)
            self.assertEqual(platform.wait(two).state, "stopped")
            with self.assertRaises(openpai.NotFoundError):
                platform.stop(two)
            for call in (platform.wait, platform.state, platform.code,
                         platform.dir, platform.stop):
                with self.assertRaises(LookupError):
                    call(99)
        self.assertEqual([e.state for e in seen if e.job == two and
                          e.type == "job"], ["running", "stopping",
                                             "stopped"])
        platform.close()
        for call in (platform.state, platform.wait, platform.dispatch,
                     platform.fileno, platform.submit):
            with self.assertRaises((openpai.InvalidError, TypeError)):
                call(*[job("true")] if call == platform.submit else
                     [one] if call in (platform.state, platform.wait) else [])

    def test_leaving_stops(self):
        seen = []
        with self.assertRaises(ZeroDivisionError):
            with openpai.Platform(root=ROOT, on_event=seen.append) as p:
                p.submit(job(*SLEEP))
                while not any(e.type == "output" for e in seen):
                    p.dispatch()
                1 / 0
        self.assertEqual(seen[-1].state, "stopped")

    def test_callback_raises(self):
        seen = []

        def on_event(event):
            seen.append(event)
            if event.type == "output" and event.job == first:
                raise KeyError(event.job)

        with openpai.Platform(root=ROOT, on_event=on_event) as platform:
            first = platform.submit(job(*SLEEP))
            second = platform.submit(job(*SLEEP))
            with self.assertRaises(KeyError) as caught:
                platform.wait(second)
            self.assertEqual(caught.exception.args, (first,))
            self.assertEqual(platform.state(first), "stopped")
            self.assertEqual(platform.state(second), "running")
            third = platform.submit(job("exit 6"))
            self.assertEqual(platform.wait(third), ("failed", 6))

    def test_callback_raises_in_close(self):
        def on_event(event):
            if event.state == "stopped":
                raise KeyError("stopped")

        platform = openpai.Platform(root=ROOT, on_event=on_event)
        platform.submit(job(*SLEEP))
        platform.dispatch()
        with self.assertRaises(KeyError):
            platform.close()
        platform.close()

    def test_callback_submits(self):
        ids = []

        def on_event(event):
            if event.type == "job" and event.code == 0 and len(ids) < 20:
                ids.append(platform.submit(job("true")))

        with openpai.Platform(root=ROOT, on_event=on_event) as platform:
            ids.append(platform.submit(job("true")))
            for job_id in ids:
                self.assertTrue(platform.wait(job_id).succeeded)
        self.assertEqual(len(ids), 20)

    def test_close_is_gentle(self):
        seen = []

        def on_event(event):
            seen.append(event.text if event.type == "output" else event.state)
            if event.state == "stopping":
                with self.assertRaises(openpai.BusyError):
                    platform.submit(job("true"))

        with openpai.Platform(root=ROOT, on_event=on_event) as platform:
            platform.submit(job("trap 'echo bye; exit 0' TERM; echo ready",
                                "while :; do sleep 1000 & wait; done"))
            while "ready\n" not in seen:
                platform.dispatch()
        self.assertIn("bye\n", seen)
        self.assertEqual(seen[-1], "stopped")

    def test_re_entry(self):
        errors = []

        def on_event(event):
            for call in (lambda: platform.wait(event.job), platform.dispatch,
                         platform.close):
                try:
                    call()
                except openpai.BusyError as error:
                    errors.append(str(error))

        with openpai.Platform(root=ROOT, on_event=on_event) as platform:
            platform.wait(platform.submit(job("true")))
        self.assertGreaterEqual(len(errors), 3)
        self.assertIn("callback", errors[0])

    def test_other_thread_is_refused(self):
        errors = []

        def on_event(event):
            if event.type == "output":
                thread = threading.Thread(target=other)
                thread.start()
                thread.join()

        def other():
            for call in (lambda: platform.stop(job_id), platform.dispatch,
                         platform.fileno, platform.close):
                try:
                    call()
                except openpai.BusyError as error:
                    errors.append(str(error))

        with openpai.Platform(root=ROOT, on_event=on_event) as platform:
            job_id = platform.submit(job("echo x"))
            self.assertTrue(platform.wait(job_id).succeeded)
        self.assertEqual(len(errors), 4)
        self.assertIn("thread", errors[0])

    def test_asyncio(self):
        ended = []

        async def main():
            loop = asyncio.get_running_loop()
            over = loop.create_future()

            def on_event(event):
                if event.type == "job" and event.code is not None:
                    ended.append(event.code)
                    if len(ended) == 2:
                        over.set_result(None)

            def turn():
                nonlocal timer
                timer.cancel()
                platform.dispatch()
                wait = platform.timeout_ms()
                timer = (loop.call_later(wait / 1000, turn) if wait >= 0
                         else loop.call_soon(lambda: None))

            with openpai.Platform(root=ROOT, on_event=on_event) as platform:
                platform.submit(job("sleep 0.1; exit 8"))
                platform.submit(job("exit 9"))
                timer = loop.call_soon(lambda: None)
                loop.add_reader(platform.fileno(), turn)
                turn()
                await over
                loop.remove_reader(platform.fileno())
                timer.cancel()

        asyncio.run(main())
        self.assertEqual(sorted(ended), [8, 9])

    def test_root_of_any_bytes(self):
        root = os.fsencode(ROOT) + b"/odd-\xff-\xc3\xa4"
        with openpai.Platform(root=root) as platform:
            job_id = platform.submit(job("true"))
            folder = platform.dir(job_id)
            self.assertTrue(os.fsencode(folder).startswith(root))
            self.assertTrue(os.path.isdir(folder))
            self.assertTrue(platform.wait(job_id).succeeded)

    def test_unclosed(self):
        seen = []
        platform = openpai.Platform(root=ROOT, on_event=seen.append)
        platform.submit(job(*SLEEP))
        while not any(e.type == "output" for e in seen):
            platform.dispatch()
        with self.assertWarns(ResourceWarning):
            del platform
            gc.collect()
        task = int(next(e.text for e in seen if e.type == "output"))
        self.assertFalse(is_alive(task))


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
                     if name[0] != "_" and name != "thisown"},
                    {method.name for method in node.body})


class MallocInfo(ctypes.Structure):
    """The C library's struct mallinfo2."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
        "fsmblks", "uordblks", "fordblks", "keepcost")]


def allocated():
    """Bytes that C code holds, or None where they cannot be counted."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return None
    libc.mallinfo2.restype = MallocInfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


class Leaks(unittest.TestCase):
    def check(self, work, times=10000):
        """One object, or one block, of 16 bytes a time would be too much."""
        for _ in range(times // 10):
            work()
        for count in (allocated, self.traced):
            gc.collect()
            tracemalloc.start() if count == self.traced else None
            before = count()
            for _ in range(times):
                work()
            gc.collect()
            after = count()
            tracemalloc.stop()
            if before is not None:
                self.assertLess(after - before, 16 * times)

    def traced(self):
        return tracemalloc.get_traced_memory()[0]

    def test_parse(self):
        good = text("true")
        self.check(lambda: openpai.Job.parse(good).roles)

    def test_errors(self):
        def work():
            try:
                openpai.Job.parse("protocolVersion: 2\nnme: t\n")
            except openpai.Error:
                pass
        self.check(work)

    def test_platforms(self):
        def work():
            with openpai.Platform(root=ROOT, on_event=print):
                pass
        work()
        before = len(os.listdir("/proc/self/fd"))
        self.check(work, 1000)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_callback_is_dropped(self):
        class Listener:
            def on_event(self, event):
                if event.type == "output":
                    raise KeyError(self)

        listener = Listener()
        gone = weakref.ref(listener)
        try:
            openpai.run(job("echo x"), root=ROOT, on_event=listener.on_event)
        except KeyError:
            pass
        del listener
        gc.collect()
        self.assertIsNone(gone())

    def test_cycle_is_broken(self):
        class Owner:
            def __init__(self):
                self.platform = openpai.Platform(root=ROOT,
                                                 on_event=self.on_event)

            def on_event(self, event):
                pass

        owner = Owner()
        owner.platform.close()
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    ROOT.mkdir(parents=True, exist_ok=True)
    faulthandler.dump_traceback_later(240, exit=True)
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        ROOT = pathlib.Path(folder)
        unittest.main()
