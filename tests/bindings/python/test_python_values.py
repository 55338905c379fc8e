"""What the Python module promises of copies, pickles and equal values.

Usage: test_python_values.py ROOT [unittest's arguments]
"""
import concurrent.futures
import copy
import multiprocessing
import pickle
import sys
import unittest
import unittest.mock

import openpai
from python_jobs import ROOT, job, text

DESCRIPTION = "racks:2 nodes:4 gpu:8:h100"
MACHINE = "pack:2 [numa(memory=64GB)] core:4 pu:2"
RECORDS = [{"time": 0, "gpus": 8, "duration": 3600_000000},
           {"time": 1, "user": "ann", "wants": [openpai.Want(2, 4)],
            "attempts": [openpai.Attempt(60_000000, code=1)]}]


def cluster():
    made = openpai.Cluster.synthetic(DESCRIPTION)
    made.set_sick("node0002", "fan", gpu=3)
    return made


def trace(jobs=30):
    return openpai.Trace.generate(jobs, seed=1, gpus=32)


def report(seed=7):
    return openpai.simulate(cluster(), trace(), "backfill", seed=seed)


def again(value):
    return pickle.loads(pickle.dumps(value))


class Values(unittest.TestCase):
    def holds(self, value, other):
        """A value, and another one that is not equal to it."""
        for same in again(value), copy.copy(value), copy.deepcopy([value])[0]:
            self.assertIs(type(same), type(value))
            self.assertEqual(same, value)
            self.assertFalse(same != value)
            self.assertEqual(repr(same), repr(value))
        self.assertNotEqual(value, other)
        self.assertNotEqual(value, None)
        self.assertEqual(value.__eq__(3), NotImplemented)
        if type(value).__hash__ is not None:
            self.assertEqual(hash(again(value)), hash(value))
            self.assertEqual(len({value, again(value), other}), 2)

    def test_cluster(self):
        mine = cluster()
        self.holds(mine, openpai.Cluster.synthetic(DESCRIPTION))
        with self.assertRaises(TypeError):
            hash(mine)
        for its in mine.copy(), copy.copy(mine), copy.deepcopy(mine):
            its.set_sick("node0001", "gone")
            self.assertEqual(mine.nodes["node0001"].sick, None)
            self.assertNotEqual(its, mine)
            its.set_sick("node0001", None)
            self.assertEqual(its, mine)
        self.holds(openpai.Cluster.from_machines([
            ("a", "r", openpai.Topology.synthetic(MACHINE))]), mine)

    def test_topology(self):
        mine = openpai.Topology.synthetic(MACHINE)
        other = openpai.Topology.synthetic("pack:1 core:4 pu:1")
        self.holds(mine, other)
        self.assertEqual(mine, openpai.Topology.synthetic(MACHINE))
        with self.assertRaisesRegex(TypeError, "lstopo"):
            pickle.dumps(openpai.Topology.discover())

    def test_trace(self):
        self.holds(trace(), trace(31))
        mine = openpai.Trace.of(RECORDS)
        self.holds(mine, openpai.Trace.of(RECORDS[:1]))
        with self.assertRaises(TypeError):
            hash(mine)
        path = ROOT / "trace.jsonl"
        mine.write(path)
        self.holds(openpai.Trace.load(path), trace())
        # However they were made.
        self.assertEqual(openpai.Trace.load(path), mine)
        self.assertEqual(openpai.Trace.parse(path.read_text()), mine)
        self.holds(openpai.Trace.parse(path.read_bytes(), "jsonl"), trace())

    def test_trace_that_is_being_read(self):
        mine = trace()
        reading = iter(mine)
        first = next(reading)
        self.assertEqual(mine, trace())
        self.assertEqual((mine.jobs, next(iter(again(mine)))), (1, first))
        self.assertEqual(len(list(reading)), 29)

    def test_trace_that_is_read_once(self):
        once = openpai.Trace.of(iter(RECORDS))
        self.assertEqual(once, once)
        self.assertNotEqual(once, openpai.Trace.of(RECORDS))
        for no in pickle.dumps, copy.copy, copy.deepcopy:
            with self.assertRaisesRegex(TypeError, "only once"):
                no(once)
        self.assertEqual(len(list(once)), 2)

    def test_reports(self):
        mine, other = report(), report(8)
        self.holds(mine, other)
        self.assertEqual(mine, report())
        self.assertEqual(again(mine).to_html(), mine.to_html())
        self.holds(openpai.compare([mine, other]), openpai.compare([mine]))

    def test_job(self):
        mine = job("true")
        self.holds(mine, job("false"))
        self.assertEqual(mine, job("true"))
        draft = openpai.Draft(text("true"))
        draft["secrets"] = {"token": "hush"}
        secret = draft.job()
        with self.assertRaisesRegex(TypeError, "to_yaml") as caught:
            pickle.dumps(secret)
        self.assertNotIn("hush", str(caught.exception))
        self.assertNotEqual(secret, secret.masked())
        self.assertEqual(secret, draft.job())
        self.assertEqual(len({secret, draft.job()}), 1)

    def test_what_grows(self):
        """Copies of what may change go their own ways."""
        draft = openpai.Draft(text("true"))
        history = openpai.History()
        history.add(1000, user="ann")
        for its in again(draft), copy.copy(draft), copy.deepcopy(draft):
            self.assertEqual(its.text, draft.text)
            its["name"] = "other"
            self.assertEqual(draft["name"], "t")
        for its in again(history), copy.copy(history), copy.deepcopy(history):
            self.assertEqual(its.save(), history.save())
            its.add(9000, user="ann")
            self.assertNotEqual(its.save(), history.save())
        life = openpai.Life(job("true"))
        self.assertEqual(again(life).save(), life.save())
        self.assertEqual(copy.copy(life).save(), life.save())

    def test_other_processes(self):
        """multiprocessing's "spawn" pickles there and back."""
        ours = sys.modules["__main__"]  # it wants arguments
        with unittest.mock.patch.object(ours, "__file__", None), \
                concurrent.futures.ProcessPoolExecutor(
                    1, multiprocessing.get_context("spawn")) as pool:
            self.assertEqual(pool.submit(openpai.simulate, cluster(), trace(),
                                         "backfill", seed=7).result(),
                             report())
