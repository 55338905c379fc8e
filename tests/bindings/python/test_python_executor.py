"""What the Python module promises of Executor.

Usage: test_python_executor.py ROOT [unittest's arguments]
"""
import concurrent.futures
import os
import pathlib
import time
import unittest

import openpai
from python_jobs import new_root, without_cloudpickle

HELPER, SIZES = 7, [1, 2]


def twice(value):
    return value * HELPER


def fails(key):
    raise KeyError(key)


def exits(code):
    os._exit(code)


def held(folder):
    path = pathlib.Path(folder)
    (path / "up").touch()
    while not (path / "go").exists():
        time.sleep(0.01)
    return "went on"


loaded = open(os.devnull)  # cannot be pickled
unittest.addModuleCleanup(loaded.close)


class Executors(unittest.TestCase):
    def setUp(self):
        without_cloudpickle(self)

    def executor(self, **more):
        made = openpai.Executor(root=new_root(), memory="128M", **more)
        self.addCleanup(made.shutdown, cancel_futures=True)
        return made

    def test_it_is_one(self):
        with self.executor(limit=2) as executor:
            self.assertIsInstance(executor, concurrent.futures.Executor)
            self.assertEqual(list(executor.map(twice, [1, 2, 3])),
                             [7, 14, 21])
            good, bad, dead = (executor.submit(lambda x: x, SIZES),
                               executor.submit(fails, "key"),
                               executor.submit(exits, 3))
            done, _ = concurrent.futures.wait([good, bad, dead])
            self.assertEqual(len(done), 3)
            self.assertEqual(good.result(), SIZES)
            self.assertIsInstance(bad.exception(), KeyError)
            self.assertEqual(dead.exception().code, 3)
            with self.assertRaises(openpai.InvalidError):
                executor.submit(twice, loaded)
        with self.assertRaises(RuntimeError):
            executor.submit(twice, 1)

    def test_what_waits_is_cancelled(self):
        executor = self.executor(limit=1)
        folder = pathlib.Path(new_root())
        runs = executor.submit(held, str(folder))
        waits = executor.submit(twice, 1)
        while not (folder / "up").exists():
            time.sleep(0.01)
        self.assertFalse(runs.cancel())
        self.assertTrue(waits.cancel())
        (folder / "go").touch()
        self.assertEqual(runs.result(), "went on")
        with self.assertRaises(concurrent.futures.CancelledError):
            waits.result()

    def test_what_waits_is_not_run_at_the_end(self):
        folder = pathlib.Path(new_root())
        with self.executor(limit=1) as executor:
            runs = executor.submit(held, str(folder))
            waits = [executor.submit(twice, i) for i in range(3)]
            while not (folder / "up").exists():
                time.sleep(0.01)
            executor.shutdown(wait=False, cancel_futures=True)
            (folder / "go").touch()
        self.assertEqual(runs.result(), "went on")
        self.assertTrue(all(future.cancelled() for future in waits))

    def test_what_cannot_be(self):
        root = new_root()
        with openpai.Platform(root=root):
            with self.assertRaises(openpai.BusyError):
                openpai.Executor(root=root)
        with self.assertRaises(ValueError):
            openpai.Executor(root=root, limit=0)
        counts = []
        for _ in range(5):
            with self.assertRaises(TypeError):
                openpai.Executor(root=root, gpus=1)
            counts.append(len(os.listdir("/proc/self/fd")))
        self.assertEqual(counts[-1], counts[0])
