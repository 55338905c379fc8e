"""What the Python module promises of platforms and signals.

Usage: test_python_platform.py ROOT [unittest's arguments]
"""
import asyncio
import contextlib
import gc
import os
import select
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import unittest

import openpai
from python_jobs import (NUMBER, ROOT, SLEEP, STAY, is_alive, job, new_root,
                         text, until_alive)


class Sender:
    """A thread that sends this process a signal once it is told to.

    Whatever happens meanwhile, it is over at the end of its `with` block: the
    interpreter would wait for it for ever otherwise.
    """

    def __init__(self, number):
        self.number = number
        self.due = threading.Event()
        self.over = False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        self.due.wait()
        if not self.over:
            os.kill(os.getpid(), self.number)

    def on_event(self, event):
        self.due.set()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.over = True
        self.due.set()
        self.thread.join()


class Signals(unittest.TestCase):
    def setUp(self):
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(
            signal.SIGINT, signal.default_int_handler))

    def interrupt(self, body, *commands, again_at=None):
        """Runs `body` in a child, interrupts it once it says a number, and
        again once it says `again_at`."""
        script = (
            "import faulthandler, signal, sys, openpai\n"
            # Before whoever waits for it is ended, who could not tell why.
            "faulthandler.dump_traceback_later(200, exit=True)\n"
            # A shell may have started the tests with this signal ignored.
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "def show(event):\n"  # other events have a text, too: a reason
            "    if event.type == 'output':\n"
            "        print(event.text, end='', flush=True)\n"
            "job = openpai.Job.parse(%r)\n%s" % (
                text(*commands or SLEEP), textwrap.dedent(body)))
        child = subprocess.Popen(
            [sys.executable, "-c", script, str(ROOT)], text=True,
            stdout=subprocess.PIPE)
        with child:
            try:
                task = int(child.stdout.readline())
                until_alive(task)
                child.send_signal(signal.SIGINT)
                if again_at:
                    self.assertEqual(child.stdout.readline(), again_at)
                    child.send_signal(signal.SIGINT)
                rest = child.stdout.read()
            except BaseException:
                child.kill()  # nobody interrupts it: it would be waited for
                raise
        self.assertFalse(is_alive(task))
        return rest, child.returncode

    def test_run(self):
        rest, code = self.interrupt("""
            try:
                openpai.run(job, root=sys.argv[1], on_event=show)
            except KeyboardInterrupt:
                print("interrupted")
            """)
        self.assertEqual((rest, code), ("interrupted\n", 0))

    def test_wait(self):
        rest, code = self.interrupt("""
            def on_event(event):
                show(event)
                if event.type == "job" and event.code is not None:
                    print(event.state)

            with openpai.Platform(durable=False, root=sys.argv[1],
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
                with openpai.Platform(durable=False, root=sys.argv[1],
                                      on_event=show) as platform:
                    platform.wait(platform.submit(job))
            except KeyboardInterrupt:
                print("killed")
            """, "trap 'echo no, thanks' TERM", NUMBER,
            STAY, again_at="no, thanks\n")
        self.assertEqual((rest, code), ("killed\n", 0))

    def test_same_process(self):
        with Sender(signal.SIGINT) as sender, \
                self.assertRaises(KeyboardInterrupt):
            openpai.run(job(*SLEEP), root=ROOT, on_event=sender.on_event)

    def test_handler_that_does_not_raise(self):
        fifo = ROOT / "signal-fifo"
        os.mkfifo(fifo)
        # Its own end for reading, too: so it waits for nobody who reads.
        gate = os.open(fifo, os.O_RDWR)
        # The handler lets the job end, so it must run while run() waits.
        before = signal.signal(signal.SIGUSR1, lambda number, frame: (
            os.write(gate, b"go\n")))
        try:
            with Sender(signal.SIGUSR1) as sender:
                result = openpai.run(job("read word < %s" % fifo), root=ROOT,
                                     on_event=sender.on_event)
        finally:
            signal.signal(signal.SIGUSR1, before)
            os.close(gate)
        self.assertTrue(result.succeeded)


class Platforms(unittest.TestCase):
    def test_life(self):
        seen = []
        with openpai.Platform(durable=False, root=ROOT,
                              on_event=seen.append) as platform:
            one = platform.submit(job("exit 3"))
            two = platform.submit(job(*SLEEP))
            self.assertNotEqual(one, two)
            self.assertIsNone(platform.code(two))
            self.assertEqual(platform.wait(one), ("failed", 3))
            self.assertEqual((platform.state(one), platform.code(one)),
                             ("failed", 3))
            self.assertTrue(os.path.isdir(platform.dir(one)))
            platform.stop(two)
            with self.assertRaises(openpai.BusyError):
                platform.forget(two)
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

    def test_forgotten(self):
        with openpai.Platform(durable=False, root=ROOT) as platform:
            job_id = platform.submit(job("true"))
            platform.wait(job_id)
            folder = platform.dir(job_id)
            platform.forget(job_id)
            for call in (platform.wait, platform.state, platform.dir,
                         platform.forget):
                with self.assertRaises(openpai.NotFoundError):
                    call(job_id)
            self.assertTrue(os.path.isdir(folder))
            self.assertTrue(platform.wait(platform.submit(job("true"))))

    def test_finished_jobs_are_kept_so_far(self):
        root = new_root()
        with openpai.Platform(root=root) as platform:
            for number in range(4):
                platform.submit(job("true"), name="t%d" % number).wait()
            for wrong in {"keep_jobs": -1}, {"keep_bytes": "x"}:
                with self.assertRaises(openpai.InvalidError):
                    openpai.Platform(root=root, **wrong)
        with openpai.Platform(root=root, keep_jobs=2) as platform:
            platform.dispatch()
            self.assertEqual(len(list(platform.jobs())), 4)  # they just ended
        with contextlib.closing(
                sqlite3.connect(os.path.join(root, "openpai.db"))) as store:
            store.execute("UPDATE job SET completed=completed-120000000")
            store.commit()
        with openpai.Platform(root=root, keep_jobs=2) as platform:
            while len(list(platform.jobs())) > 2:
                left = platform.timeout_ms()
                select.select([platform], [], [],
                              left / 1000 if left >= 0 else None)
                platform.dispatch()
            self.assertEqual([done.name for done in platform.jobs()],
                             ["t3", "t2"])

    def test_stopped_at_once(self):
        """A job that is stopped before its first turn leaves its CPUs."""
        cpus = len(os.sched_getaffinity(0))
        for durable in (False, True):
            with openpai.Platform(durable=durable,
                                  root=new_root()) as platform:
                first = platform.submit(job("true", name="a", cpus=cpus))
                platform.stop(first)
                self.assertEqual(platform.wait(first).state, "stopped")
                second = platform.submit(job("true", name="b", cpus=cpus))
                self.assertEqual(platform.wait(second), ("succeeded", 0))

    def test_forgotten_by_its_last_event(self):
        def on_event(event):
            if event.type == "job" and event.code is not None:
                platform.forget(event.job)

        with openpai.Platform(durable=False, root=ROOT,
                              on_event=on_event) as platform:
            self.assertEqual(platform.wait(platform.submit(job("exit 4"))),
                             ("failed", 4))

    def test_leaving_stops(self):
        seen = []
        with self.assertRaises(ZeroDivisionError):
            with openpai.Platform(durable=False, root=ROOT,
                                  on_event=seen.append) as p:
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

        with openpai.Platform(durable=False, root=ROOT,
                              on_event=on_event) as platform:
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

        platform = openpai.Platform(durable=False, root=ROOT, on_event=on_event)
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

        with openpai.Platform(durable=False, root=ROOT,
                              on_event=on_event) as platform:
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

        with openpai.Platform(durable=False, root=ROOT,
                              on_event=on_event) as platform:
            platform.submit(job("trap 'echo bye; exit 0' TERM; echo ready",
                                STAY))
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

        with openpai.Platform(durable=False, root=ROOT,
                              on_event=on_event) as platform:
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

        with openpai.Platform(durable=False, root=ROOT,
                              on_event=on_event) as platform:
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

            with openpai.Platform(durable=False, root=ROOT,
                              on_event=on_event) as platform:
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
        with openpai.Platform(durable=False, root=root) as platform:
            job_id = platform.submit(job("true"))
            folder = platform.dir(job_id)
            self.assertTrue(os.fsencode(folder).startswith(root))
            self.assertTrue(os.path.isdir(folder))
            self.assertTrue(platform.wait(job_id).succeeded)

    def test_unclosed(self):
        seen = []
        platform = openpai.Platform(durable=False, root=ROOT, on_event=seen.append)
        platform.submit(job(*SLEEP))
        while not any(e.type == "output" for e in seen):
            platform.dispatch()
        with self.assertWarns(ResourceWarning):
            del platform
            gc.collect()
        task = int(next(e.text for e in seen if e.type == "output"))
        self.assertFalse(is_alive(task))
