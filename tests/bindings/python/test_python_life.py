"""What the Python module promises of the life of a job.

Usage: test_python_life.py ROOT [unittest's arguments]
"""
import threading
import unittest

import openpai
from python_jobs import job


def actions(life, most=100):
    found = []
    while True:
        action = life.next(most)
        if action is None:
            return found
        found.append((action.kind, action.task, action.count))


class LifeTest(unittest.TestCase):
    def setUp(self):
        self.life = openpai.Life(job("x", instances=2), seed=3)

    def up(self):
        self.assertEqual(actions(self.life), [("queue", 0, 2)])
        self.life.send("placed", time=5)
        self.assertEqual(actions(self.life), [("start", 0, 2)])
        self.life.send("started", 0, 2)

    def test_from_its_beginning_to_its_end(self):
        self.assertEqual(self.life.status.state, "waiting")
        self.up()
        status = self.life.status
        self.assertEqual((status.state, status.substate, status.alive),
                         ("running", "AttemptRunning", 2))
        self.assertEqual(status.roles, (openpai.LifeRole(2, 0, 0),))
        self.assertEqual(repr(self.life),
                         "<openpai.Life: running, 2 of 2 tasks alive>")
        self.life.send("ended", 1, code=220, time=9)
        self.assertEqual(actions(self.life), [("stop", 0, 1)])
        self.life.send("ended", 0, code=143)
        self.assertEqual(actions(self.life), [
            ("release", 0, 2), ("finish", 0, 2)])
        status = self.life.status
        self.assertEqual((status.state, status.code, status.trigger),
                         ("failed", 220, 1))
        self.assertEqual(status.tasks[0], openpai.LifeTask(
            "stopped", "Completed", -220, 0, 0, 0, 0, False))

    def test_it_comes_back(self):
        self.up()
        saved = self.life.save()
        self.assertIsInstance(saved, bytes)
        back = openpai.Life.load(saved)
        self.assertEqual(back.save(), saved)
        back.rescale(0, 3, time=7)
        self.assertEqual(actions(back), [("queue", 2, 1)])
        self.assertEqual(len(self.life.status.tasks), 2)
        for broken in (b"", b"PAI job\0", saved[:-1], saved + b"x"):
            with self.assertRaises(openpai.InvalidError):
                openpai.Life.load(broken)

    def test_what_cannot_be(self):
        with self.assertRaisesRegex(openpai.InvalidError, "impossible"):
            self.life.send("ended", 0)
        with self.assertRaisesRegex(openpai.InvalidError, "no such event"):
            self.life.send("frob")
        with self.assertRaises(openpai.InvalidError):
            self.life.rescale(7, 1)
        with self.assertRaises((TypeError, OverflowError)):
            self.life.send("ended", -1)
        with self.assertRaises((TypeError, AttributeError)):
            openpai.Life(None)

    def test_raw_codes(self):
        for raw, wanted in ((False, "waiting"), (True, "failed")):
            life = openpai.Life(job("x"), raw=raw)
            actions(life)
            life.send("placed")
            actions(life)
            life.send("ended", code=137)
            self.assertEqual(life.status.state, wanted)

    def test_threads(self):
        def work():
            for _ in range(2000):
                try:
                    self.life.send("impatient")
                except openpai.BusyError:
                    pass
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.life.status.state, "waiting")


class ExitSpec(unittest.TestCase):
    def test_entries(self):
        entry = openpai.exit_spec(220)
        self.assertEqual(entry["phrase"], "UserCommandExitWithError")
        self.assertEqual(entry["pattern"], {"runtimeContainerPatterns": [
            {"exitCode": 127, "userLogRegex": "(?i)command not found"}]})
        self.assertEqual(openpai.exit_spec(77)["code"], 77)
        codes = openpai.exit_codes()
        self.assertEqual((len(codes), codes[0], codes[-1]), (62, 0, 256))
        for code in codes:
            self.assertEqual(openpai.exit_spec(code)["code"], code)
