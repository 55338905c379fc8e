"""What the Python module promises of schedulers and their logs.

Usage: test_python_sched.py ROOT [unittest's arguments]
"""
import copy
import gzip
import io
import tempfile
import unittest

import openpai
from python_jobs import ROOT
from python_scenes import Greedy, cluster, kinds


class Schedulers(unittest.TestCase):
    def test_gang(self):
        s = openpai.Scheduler(cluster(), "fifo")
        s.submit(1, tasks=2, gpus=8, ports=1, memory=1 << 30, cpus=2,
                 name="train", user="ann", priority=5, time=10)
        s.submit(2, tasks=1, gpus=1)
        start, = s.decide(20)
        self.assertEqual((start.kind, start.id, start.instance, start.count,
                          start.time, start.cause, start.by),
                         ("start", 1, 0, 2, 20, None, None))
        one, other = start.tasks
        self.assertEqual((one.node, other.node), ("node0001", "node0002"))
        self.assertEqual((one.gpus, one.cpus, one.memory, one.want),
                         (tuple(range(8)), "0-1", 1 << 30, 0))
        self.assertEqual(len(one.ports), 1)
        self.assertEqual((one.index, other.index), (0, 1))
        self.assertEqual(s.places(1), start.tasks)
        self.assertEqual(s.decisions, [start])
        self.assertEqual(s.now, 20)
        self.assertEqual(str(s.allocation(1)).split(";")[0].split(":")[0],
                         "node 0")
        with self.assertRaises(openpai.NotFoundError):
            s.allocation(2)
        with self.assertRaises(openpai.NotFoundError):
            s.places(2)

    def test_fractions_of_cpus(self):
        s = openpai.Scheduler(cluster("nodes:1 gpu:1 cpus:1"))
        s.submit(1, cpus=0.5)
        s.submit(2, cpus=0.1 + 0.2)
        s.submit(3, wants=[openpai.Want(cpus="0.25")])
        self.assertEqual(kinds(s.decide(0)), [("start", 1, 0),
                                              ("start", 2, 0)])
        self.assertEqual(s.request(1).wants[0].cpus, 0.5)
        self.assertEqual(s.request(2).wants[0].cpus, 0.3)
        self.assertEqual(s.places(1)[0].cpus, "")
        self.assertEqual(s.nodes[0].free_cpus, 0.2)
        self.assertEqual((s.reason(3).wanted, s.reason(3).found), (0.25, 0.2))
        self.assertIn("no node has 0.25 CPUs free", s.explain(3))
        s.change(3, cpus=0.2)
        self.assertEqual(kinds(s.decide()), [("start", 3, 0)])
        self.assertEqual(s.nodes[0].free_cpus, 0)
        self.assertIsInstance(s.nodes[0].free_cpus, int)
        for wrong in 0.0001, 1e-10, "1.2345":
            with self.assertRaisesRegex(openpai.InvalidError,
                                        "three digits after the point"):
                s.submit(4, cpus=wrong)
        for wrong in "half", True, float("nan"), -1, "1e9999999":
            with self.assertRaises(TypeError):
                s.submit(4, cpus=wrong)
        with self.assertRaises(openpai.InvalidError):
            s.send({"event": "submit",
                    "request": {"id": 4, "wants": [{"cpus": 0.0001}]}})

    def test_events(self):
        s = openpai.Scheduler(cluster())
        s.submit(1, gpus=8, instances=2, limit=100, duration=50)
        self.assertEqual(kinds(s.decide(0)), [("start", 1, 0),
                                              ("start", 1, 1)])
        s.submit(2, wants=[openpai.Want(gpus=1, name="ps"),
                           {"gpus": 2, "tasks": 2}], held=True, after=[1])
        s.started(1, time=1)
        s.started(1, 1)
        self.assertEqual(s.next_time, 101)
        s.finished(1, ok=False)
        s.returned(1, 1)
        self.assertEqual(kinds(s.decide(200)), [("start", 1, 1)])
        self.assertIsNone(s.next_time)
        s.change(2, held=False, priority=7)
        self.assertEqual(s.request(2).priority, 7)
        self.assertEqual(s.request(2).wants[1],
                         openpai.Want(gpus=2, tasks=2))
        s.finished(1, 1)
        self.assertEqual(s.decide(), [])
        self.assertEqual(s.reason(2).lack, "after")
        s.change(2, after=1)
        self.assertEqual(kinds(s.decide()), [("start", 2, 0)])
        s.cancel(2)
        stop, = s.decide()
        self.assertEqual((stop.kind, stop.cause, stop.tasks),
                         ("stop", "cancelled", ()))
        s.finished(2, ok=False)
        self.assertEqual(len(s.requests), 0)

    def test_nodes(self):
        s = openpai.Scheduler(cluster())
        s.node("node0001", "drain", "new disks")
        s.node("node0002", "sick", "Xid 79", gpu=3)
        one, other = s.nodes
        self.assertEqual((one.state, one.why, one.number),
                         ("drain", "new disks", 0))
        self.assertEqual((other.state, other.sick_gpus), ("up", (3,)))
        self.assertEqual(other.free_gpus, (0, 1, 2, 4, 5, 6, 7))
        s.submit(1, gpus=8)
        self.assertEqual(s.decide(), [])
        s.cluster(cluster("nodes:3 gpu:8:h100 cpus:16 mem:64G"))
        self.assertEqual(s.decide()[0].tasks[0].node, "node0003")
        s.reserve("night", start=5, end=9, nodes=["node0003"])
        s.unreserve("night")
        with self.assertRaises(openpai.NotFoundError):
            s.unreserve("night")
        with self.assertRaises(openpai.NotFoundError):
            s.node("node0009", "up")

    def test_why(self):
        s = openpai.Scheduler(cluster())
        s.submit(1, tasks=2, gpus=8)
        s.submit(2, gpus=4, user="bob")
        s.decide()
        self.assertIn("Request 2 waits", s.explain(2))
        reason = s.reason(2)
        self.assertEqual((reason.lack, reason.wanted, reason.found,
                          reason.node), ("gpu", 4, 0, "node0001"))
        self.assertEqual(reason.nodes_failed, {"gpu": 2})
        trial = s.fork()
        for event in reason.own_change or reason.other_change:
            trial.send(event)
        self.assertEqual(kinds(trial.decide()), [("start", 2, 0)])
        self.assertEqual(s.decide(), [])
        self.assertEqual(s.queue[0].lack, "gpu")
        with self.assertRaises(openpai.NotFoundError):
            s.explain(3)

    def test_forks_are_apart(self):
        s = openpai.Scheduler(cluster())
        s.submit(1, gpus=1)
        for fork in (s.fork(), copy.copy(s), copy.deepcopy(s)):
            self.assertEqual(kinds(fork.decide()), [("start", 1, 0)])
        self.assertEqual(s.sums.running, 0)

    def test_looks(self):
        s = openpai.Scheduler(cluster(), "backfill", place="pack")
        s.submit(1, gpus=1, name="<b>", instances=3, at_once=1)
        s.decide()
        sums = s.sums
        self.assertEqual((sums.policy, sums.gpus, sums.free_gpus,
                          sums.waiting, sums.running, sums.shadow),
                         ("backfill", 16, 15, 1, 1, None))
        self.assertEqual(s.running, ((1, 0, 0),))
        self.assertEqual(s.virtual_clusters[0].name, "default")
        self.assertEqual(len(s.queue), 1)
        self.assertIn("1 × 1 GPU", str(s))
        self.assertIn("backfill", repr(s))
        self.assertIn("&lt;b&gt;", s.queue._repr_html_())
        self.assertEqual(s._repr_html_(), s.requests._repr_html_())
        self.assertEqual(s.queue[:1], (s.request(1),))
        names = [policy.name for policy in openpai.policies()]
        self.assertIn("fifo", names)
        self.assertIn("backfill", names)

    def test_shadow(self):
        s = openpai.Scheduler(cluster())
        s.set_shadow("backfill")
        s.submit(1, gpus=1)
        s.decide()
        self.assertEqual((s.sums.shadow, s.sums.shadow_agreed),
                         ("backfill", 1))
        mine = Greedy()
        with s.log(io.StringIO()) as log:
            s.set_shadow(mine)
        del log
        s.submit(2, gpus=8)
        s.submit(3, gpus=8)
        s.submit(4, gpus=1)
        self.assertEqual(kinds(s.decide()), [("start", 2, 0)])
        self.assertEqual((s.sums.shadow, s.sums.shadow_decisions,
                          s.sums.shadow_agreed), ("Greedy", 2, 1))
        self.assertEqual(mine.asked, 0)  # copies were
        again = openpai.Scheduler.load(s.save(), shadow=Greedy())
        self.assertEqual(again.save(), s.save())
        with self.assertRaises(openpai.NotFoundError):
            openpai.Scheduler.load(s.save())
        with self.assertRaises(TypeError):
            openpai.Scheduler.load(s.save(), shadow="backfill")
        s.set_policy("Greedy")  # it is known by its name
        self.assertEqual(kinds(s.decide()), [("start", 4, 0)])
        self.assertEqual(mine.asked, 1)
        s.set_shadow(None)
        s.set_policy("backfill", place="spread")
        self.assertEqual((s.sums.shadow, s.sums.policy), (None, "backfill"))

    def test_big_ids(self):
        s = openpai.Scheduler(cluster())
        big = 2 ** 64 - 1
        s.submit(big, gpus=1)
        self.assertEqual(kinds(s.decide()), [("start", big, 0)])
        self.assertEqual((s.request(big).id, s.running[0].id), (big, big))
        s.finished(big)
        self.assertEqual(len(s.requests), 0)

    def test_wrong(self):
        s = openpai.Scheduler(cluster())
        s.submit(1, gpus=1, time=7)
        wrong = (
            (openpai.ExistsError, lambda: s.submit(1, gpus=1)),
            (openpai.NoRoomError, lambda: s.submit(2, gpus=9)),
            (openpai.InvalidError, lambda: s.submit(2, gpus=1, time=6)),
            (openpai.InvalidError, lambda: s.submit(0, gpus=1)),
            (openpai.InvalidError, lambda: s.submit(2, gpus=1, priority=-2)),
            (openpai.InvalidError, lambda: s.submit(2, wants=[])),
            (openpai.InvalidError, lambda: s.submit("2", wants=[{"x": 1}])),
            (TypeError, lambda: s.submit(2, gpus=1, wants=[{}])),
            (openpai.NotFoundError, lambda: s.submit(2, vc="no")),
            (openpai.InvalidError, lambda: s.send({"event": "x"})),
            (openpai.InvalidError, lambda: s.send("{")),
            (openpai.InvalidError, lambda: s.change(1, colour=1)),
            (openpai.NotFoundError, lambda: s.finished(1)),
            (openpai.NotFoundError, lambda: s.cancel(3)),
            (openpai.InvalidError, lambda: s.decide(3)),
            (openpai.NotFoundError, lambda: s.set_policy("no")),
            (openpai.InvalidError, lambda: s.set_policy(None)),
            (TypeError, lambda: s.set_policy(3)),
            (TypeError, lambda: s.set_shadow(Greedy(), depth=2)),
            (openpai.NotFoundError, lambda: s.request(3)),
            (TypeError, lambda: s.cluster("nodes:2")),
            (TypeError, lambda: openpai.Scheduler("nodes:2")),
            (TypeError, lambda: openpai.Scheduler(cluster(), 3)),
            (TypeError, lambda: openpai.Scheduler(cluster(), object)),
            (openpai.NotFoundError,
             lambda: openpai.Scheduler(cluster(), "no")),
            (openpai.InvalidError,
             lambda: openpai.Scheduler(cluster(), plce="pack")),
            (TypeError, lambda: openpai.Scheduler(cluster(), Greedy(), a=1)),
            (openpai.InvalidError, lambda: openpai.Scheduler.load("{}")),
            (OSError, lambda: s.log(ROOT / "no" / "log")),
        )
        before = s.save()
        for i, (error, call) in enumerate(wrong):
            with self.subTest(i), self.assertRaises(error):
                call()
        self.assertEqual(s.save(), before)
        with self.assertRaises(openpai.InvalidError) as caught:
            s.send('{"time":7,"event":"submit","request":{"id":2,"x":1}}')
        self.assertEqual((caught.exception.line, caught.exception.pointer),
                         (1, "/request/x"))
        self.assertTrue(caught.exception.help)


class Logs(unittest.TestCase):
    def day(self, s):
        """Some events; all decisions."""
        made = []
        for i in range(1, 9):
            s.submit(i, tasks=1 + i % 3, gpus=1 + i % 5, time=10 * i)
            made += s.decide(10 * i + 1)
            if i > 3 and any(r.id == i - 3 for r in s.running):
                s.finished(i - 3, time=10 * i + 2)
        return made

    def test_replay(self):
        path = ROOT / "log"
        s = openpai.Scheduler(cluster(), "backfill")
        with s.log(path):
            made = self.day(s)
        s.submit(99, gpus=1)  # the log has ended
        self.assertGreater(len(made), 4)
        self.assertEqual(list(openpai.Scheduler.replay(path)), made)
        lines = path.read_text().splitlines()
        self.assertEqual(list(openpai.Scheduler.replay(lines)), made)
        with self.assertRaises(openpai.InvalidError):
            list(openpai.Scheduler.replay(lines[1:]))
        with self.assertRaises(FileNotFoundError):
            list(openpai.Scheduler.replay(ROOT / "none"))
        self.assertEqual(list(openpai.Scheduler.replay([])), [])

    def test_files(self):
        made = None
        for mode in "w", "wb":
            with open(ROOT / "open", mode) as file:
                s = openpai.Scheduler(cluster(), "backfill")
                with s.log(file) as log:
                    made = self.day(s)
                self.assertEqual(repr(log), "<openpai.Log>")
            for how in "r", "rb":
                with open(ROOT / "open", how) as file:
                    self.assertEqual(list(openpai.Scheduler.replay(file)),
                                     made)
        packed = io.BytesIO()
        with gzip.open(packed, "wb") as file:
            s.log(file)
            s.log(None)
        packed.seek(0)
        with gzip.open(packed) as file:
            self.assertEqual(openpai.Scheduler.load(file.read()).save(),
                             s.save())
        with tempfile.NamedTemporaryFile() as file:
            s.log(file)
        with s.log(bytes(ROOT / "path")) as log:
            self.assertIn("path", repr(log))
        with self.assertRaises(TypeError):
            s.log(5)

    def test_another_policy(self):
        s = openpai.Scheduler(cluster("nodes:1 gpu:4"))
        s.submit(1, gpus=4)
        s.submit(2, gpus=1, priority=5)
        again = openpai.Scheduler.load(s.save(), "priority")
        self.assertEqual(kinds(again.decide()), [("start", 2, 0)])
        self.assertEqual(again.sums.policy, "priority")

    def test_replay_of_a_policy(self):
        out = io.StringIO()
        s = openpai.Scheduler(cluster(), Greedy)
        s.log(out)
        made = self.day(s)
        lines = out.getvalue().splitlines()
        self.assertEqual(list(openpai.Scheduler.replay(lines, Greedy)), made)
        with self.assertRaises(openpai.NotFoundError):
            list(openpai.Scheduler.replay(lines))
        s.log(None)
        s.submit(99)
        self.assertEqual(out.getvalue().splitlines(), lines)

    def test_replay_of_what_failed(self):
        """A snapshot stands behind a decision that failed."""
        out = io.StringIO()

        class Failing(Greedy):
            def decide(self, host):
                super().decide(host)
                if self.asked == 1:
                    raise KeyError("first")

        s = openpai.Scheduler(cluster(), Failing)
        s.log(out)
        s.submit(1, gpus=1)
        with self.assertRaises(KeyError):
            s.decide()
        made = s.decisions
        s.submit(2, gpus=1)
        made += s.decide()
        self.assertEqual(kinds(made), [("start", 1, 0), ("start", 2, 0)])
        lines = out.getvalue().splitlines()
        self.assertEqual(
            sum(line.startswith('{"snapshot"') for line in lines), 2)
        self.assertEqual(
            list(openpai.Scheduler.replay(lines, Failing)), made)

    def test_saved(self):
        s = openpai.Scheduler(cluster())
        self.day(s)
        text = s.save()
        other = openpai.Scheduler.load(text)
        self.assertEqual(other.save(), text)
        for each in (s, other):
            each.submit(50, gpus=2, time=1000)
        self.assertEqual(s.decide(), other.decide())
        self.assertEqual(s.save(), openpai.Scheduler.load(
            s.save().encode()).save())

    def test_writer_raises(self):
        class Full:
            lines = 0

            def write(self, text):
                self.lines += 1
                if self.lines > 2:
                    raise OSError(28, "full")

        s = openpai.Scheduler(cluster())
        s.log(Full())
        s.submit(1, gpus=1)
        with self.assertRaises(OSError) as caught:
            s.submit(2, gpus=1)
        self.assertEqual(caught.exception.errno, 28)
        self.assertNotIsInstance(caught.exception, openpai.Error)
        self.assertEqual(len(s.requests), 2)  # it was taken
        s.submit(3, gpus=1)  # the log has ended

        class Closed:
            def write(self, text):
                raise ValueError("closed")
        with self.assertRaises(ValueError):
            s.log(Closed())
