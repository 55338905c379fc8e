"""What the Python module promises of forecasts and replays.

Usage: test_python_forecast.py ROOT [unittest's arguments]
"""
import io
import json
import pathlib
import signal
import unittest

import openpai
from python_jobs import ROOT
from python_scenes import Greedy, cluster

SECOND = 10**6
DAY = 86400 * SECOND


def queue(policy="fifo", told=True):
    """One runs, two wait."""
    s = openpai.Scheduler(cluster("nodes:1 gpu:8:v100"), policy)
    s.submit(1, gpus=8, duration=100 * SECOND if told else None, user="ann",
             name="run-77", time=0)
    s.decide(0)
    s.started(1)
    s.submit(2, gpus=8, duration=50 * SECOND, user="bob")
    s.submit(3, gpus=4, duration=50 * SECOND, user="bob")
    s.decide()
    return s


class Forecasts(unittest.TestCase):
    def test_when(self):
        s = queue()
        forecast = s.forecast(runs=10)
        self.assertEqual([w.id for w in forecast], [2, 3])
        two = forecast[0]
        self.assertEqual((two.p10, two.p50, two.p90, two.runs, two.started),
                         (100 * SECOND,) * 3 + (10, 10))
        self.assertEqual(forecast.when(3).p50, 150 * SECOND)
        self.assertEqual(s.when(2, runs=10), forecast.when(2))
        self.assertIn("request 2", str(forecast))
        self.assertEqual(json.loads(forecast.to_json())["runs"], 10)
        self.assertIn("request 2", forecast._repr_html_())
        never = s.when(3, horizon=120 * SECOND)
        self.assertEqual((never.p50, never.started), (None, 0))
        for wrong in (lambda: forecast.when(1), lambda: s.when(9)):
            with self.assertRaises(openpai.NotFoundError):
                wrong()
        with self.assertRaises(openpai.InvalidError):
            s.forecast(runs=-1)
        with self.assertRaises(TypeError):
            s.forecast({})
        with self.assertRaises(TypeError):
            openpai.Forecast()

    def test_a_signal_ends_them(self):
        """Ctrl-C, and whatever else a handler raises: long before they end."""
        class Enough(Exception):
            pass

        def handler(number, frame):
            raise Enough

        s = queue()
        self.addCleanup(signal.signal, signal.SIGALRM,
                        signal.signal(signal.SIGALRM, handler))
        cancel = [{"event": "cancel", "id": 1}]
        for ask in (lambda: s.forecast(runs=10**5),
                    lambda: s.what_if(cancel, runs=10**5),
                    lambda: s.shapes(2, runs=10**5)):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaises(Enough):
                ask()
        self.assertEqual(s.when(2, runs=10).runs, 10)  # as if nothing was

    def test_a_signal_ends_a_replay(self):
        class Enough(Exception):
            pass

        def handler(number, frame):
            raise Enough

        lines = io.BytesIO()
        s = openpai.Scheduler(cluster("nodes:1 gpu:8:v100"), "fifo")
        s.log(lines)
        self.addCleanup(signal.signal, signal.SIGALRM,
                        signal.signal(signal.SIGALRM, handler))
        last = 10**6
        replay = openpai.Replay.parse(lines.getvalue() + b"".join(
            b'{"time":%d,"event":"decide"}\n' % i for i in range(last + 1)))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with self.assertRaises(Enough):
            replay.at(last)
        self.assertLess(replay.line, last)
        replay.at(last)  # as if nothing was
        self.assertEqual(replay.line, last + 2)

    def test_a_signal_ends_the_reading_of_a_trace(self):
        class Enough(Exception):
            pass

        def handler(number, frame):
            raise Enough

        last = 10**6
        line = ("%d %d 0 10 1 -1 -1 1 10 -1 1 1 1 -1 1 -1 -1 -1\n")
        text = "".join(line % (i, last - i) for i in range(last))
        path = pathlib.Path(ROOT, "large.swf")
        path.write_text(text)
        self.addCleanup(path.unlink)
        self.addCleanup(signal.signal, signal.SIGALRM,
                        signal.signal(signal.SIGALRM, handler))
        for load in (lambda: openpai.Trace.load(path, sort=True),
                     lambda: openpai.Trace.parse(text, form="swf",
                                                 sort=True)):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaises(Enough):
                next(iter(load()))
        few = "".join(line % (i, i) for i in range(9))
        self.assertEqual(len(list(openpai.Trace.parse(few, form="swf"))), 9)

    def test_history(self):
        history = openpai.History()
        for i in range(20):
            history.add((i % 2 + 1) * 10 * SECOND, user="ann",
                        name="run-%d" % i, gpus=8)
        guess = history.guess(user="ann", name="run-99", gpus=8)
        self.assertEqual((guess.alike, guess.samples), ("name", 20))
        self.assertLessEqual(guess.p10, guess.p90)
        self.assertGreater(history.guess(user="ann", name="run-1", gpus=8,
                                         ran=15 * SECOND).p10, 15 * SECOND)
        read = openpai.History.load(history.save())
        self.assertEqual(read.save(), history.save())
        with self.assertRaises(openpai.InvalidError):
            openpai.History.load("{}")
        s = queue(told=False)
        self.assertLess(s.when(2, history).p90, 60 * SECOND)
        self.assertGreater(s.when(2).p50, 60 * SECOND)
        forecast = s.forecast(history)
        before = history.save()
        forecast.met(2, 100 * SECOND, history)
        self.assertNotEqual(history.save(), before)
        with self.assertRaises(openpai.NotFoundError):
            forecast.met(1, 100 * SECOND, history)
        with self.assertRaises(openpai.InvalidError):
            forecast.met(2, -1, history)

    def test_a_present_unlike_the_past(self):
        history = openpai.History()
        for i in range(10):
            history.add(10 * SECOND, user="ann", name="run-%d" % i, gpus=8)
        s = openpai.Scheduler(cluster("nodes:6 gpu:8:v100"))
        for i in range(1, 8):
            s.submit(i, gpus=8, user="ann", name="run-%d" % i, time=0)
        s.decide(0)
        for i in range(1, 7):
            s.started(i)
        self.assertIs(s.when(7, history).unlike, False)
        s.decide(30 * SECOND)
        self.assertIs(s.when(7, history).unlike, True)
        self.assertIs(s.forecast(history)[0].unlike, True)
        self.assertIs(s.what_if([], history).unlike, True)
        self.assertIs(s.when(7, history).unknown, False)
        self.assertIs(openpai.History().guess().unknown, True)
        self.assertIs(s.when(7).unlike, False)

    def test_learning_from_a_log(self):
        log = io.StringIO()
        openpai.simulate(cluster("nodes:4 gpu:8:v100"),
                         openpai.Trace.generate(200, seed=1, gpus=32),
                         log=log)
        history, scheduler = openpai.History(), None
        for line in log.getvalue().splitlines():
            if scheduler is None:
                scheduler = openpai.Scheduler.load(line)
                continue
            history.learn(scheduler, line)
            scheduler.send(line)
        guess = history.guess(gpus=1, estimate=3600 * SECOND)
        self.assertEqual(guess.alike, "vc_size")
        self.assertGreater(guess.samples, 8)
        told = json.loads(history.save())
        self.assertGreater(len(told["came"]), 100)

    def test_what_if(self):
        s = queue()
        w = s.what_if([{"event": "cancel", "id": 1}])
        self.assertEqual((w.stop_now, w.sooner, w.unsafe), (1, 2, False))
        self.assertEqual(w.before.when(3).p50, 150 * SECOND)
        self.assertLess(w.after.when(2).p50, 100 * SECOND)
        after = w.after
        del w
        self.assertEqual(len(after), 2)  # it is kept as long
        w = s.what_if('{"time":0,"event":"policy","policy":"backfill"}')
        self.assertEqual((w.sooner, w.later, w.same), (0, 0, 2))
        self.assertIn("Waiting jobs: ", str(w))
        self.assertEqual(json.loads(w.to_json())["same"], 2)
        larger = s.changed_cluster("1x gpu:8:v100")
        self.assertEqual(s.what_if(cluster=larger).start_now, 1)
        twice = s.changed_cluster("1x gpu:8:v100", of=larger)
        self.assertEqual((len(larger.nodes), len(twice.nodes)), (2, 3))
        # Only the cluster after both changes has to be valid.
        text = json.loads(larger.to_json())
        sku = next(iter(text["skus"]))
        shared = openpai.Scheduler(openpai.Cluster.parse(json.dumps(
            {**text, "nodes": text["nodes"][:1],
             "virtualClusters": {"a": {"cells": {sku: 1}},
                                 "b": {"cells": {}}}})))
        for names in (("a", "b"), ("b", "a")):
            moved = shared.changed_cluster(shares={
                name: f"{sku}:{int(name == 'b')}" for name in names})
            self.assertEqual(
                json.loads(moved.to_json())["virtualClusters"]["b"],
                {"cells": {sku: 1}})
        with self.assertRaises(openpai.InvalidError):
            shared.changed_cluster(shares={"b": f"{sku}:1"})
        with self.assertRaises(ValueError):
            shared.changed_cluster(vc="b")
        with self.assertRaises(openpai.NotFoundError) as caught:
            s.what_if([{"event": "time"}, {"event": "cancel", "id": 9}])
        self.assertIn("change 2", str(caught.exception))
        with self.assertRaises(openpai.InvalidError):
            s.what_if(["{"])
        self.assertEqual(s.sums.waiting, 2)  # nothing has changed

    def test_shapes(self):
        s = openpai.Scheduler(cluster("nodes:2 gpu:8:v100"))
        s.submit(1, gpus=6, tasks=2, duration=100 * SECOND, time=0)
        s.submit(2, gpus=4, duration=50 * SECOND)
        s.decide(0)
        shapes = s.shapes(2)
        self.assertEqual((shapes[0].what, shapes[0].share), ("as it is", 1))
        self.assertIn((2, 2), [(x.tasks, x.gpus) for x in shapes])
        self.assertIn("request 2", str(shapes))
        self.assertIn("shapes", json.loads(shapes.to_json()))
        with self.assertRaises(openpai.NotFoundError):
            s.shapes(1)

    def test_policies_of_ours(self):
        s = queue(Greedy)
        self.assertEqual(s.when(2).p50, 100 * SECOND)

        class Failing(Greedy):
            def clone(self):
                raise ZeroDivisionError
        s = queue(Failing)
        with self.assertRaises(ZeroDivisionError):
            s.forecast()


class Replays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = ROOT / "sched.log"
        cls.report = openpai.simulate(
            cluster("nodes:4 gpu:8:v100"),
            openpai.Trace.generate(200, seed=1, gpus=64, load=0.9),
            log=cls.path)

    def test_going(self):
        replay = openpai.Replay(self.path)
        begin, end = replay.range
        self.assertEqual(begin, 0)
        with self.assertRaises(openpai.InvalidError):
            replay.scheduler.now  # before the first line
        view = replay.at("+1d")
        self.assertLessEqual(view.now, DAY)
        text = view.save()
        self.assertGreater(replay.line, 1)
        kept = view.fork()
        self.assertGreater(replay.at("end").now, DAY)
        self.assertEqual(replay.at(DAY).save(), text)
        self.assertEqual(kept.save(), text)
        self.assertEqual(replay.scheduler.save(), text)
        self.assertEqual((replay.time("end"), replay.time("+90")),
                         (end, 90 * SECOND))
        self.assertEqual(replay.show_time(12500000), "@12.500000")
        for code, wrong in ((openpai.NotFoundError, "+99w"),
                            (openpai.InvalidError, "tomorrow")):
            with self.assertRaises(code):
                replay.at(wrong)
        with self.assertRaises(openpai.NoSuchFileError):
            openpai.Replay(ROOT / "no")

    def test_steps(self):
        replay = openpai.Replay.parse(self.path.read_bytes())
        steps = list(replay.steps(DAY))
        self.assertEqual([s.line for s in steps],
                         list(range(1, len(steps) + 1)))
        steps += replay
        begun = [d for s in steps for d in s.decisions]
        with open(self.path, encoding="utf-8") as log:
            self.assertEqual(begun, list(openpai.Scheduler.replay(log)))
        self.assertFalse(replay.step())

    def test_stories(self):
        replay = openpai.Replay(self.path)
        self.assertIn("it was submitted", replay.story(1))
        self.assertIn("backfill", replay.story(1, "backfill"))
        self.assertEqual(replay.story_data(1)["id"], 1)
        for wrong in (lambda: replay.story(9999),
                      lambda: replay.story(1, "no")):
            with self.assertRaises(openpai.NotFoundError):
                wrong()

    def test_other_policies(self):
        replay = openpai.Replay(self.path, "backfill",
                                options={"place": "pack"})
        self.assertEqual(replay.at("end").sums.policy, "backfill")
        self.assertGreaterEqual(replay.skipped, 0)
        log = io.StringIO()
        openpai.simulate(cluster("nodes:4 gpu:8:v100"),
                         openpai.Trace.generate(20, gpus=32), Greedy, log=log)
        ours = openpai.Replay.parse(log.getvalue(), Greedy())
        self.assertEqual(ours.at("end").sums.policy, "Greedy")
        with self.assertRaises(openpai.NotFoundError):
            openpai.Replay.parse(log.getvalue()).at("end")

    def test_snapshots_in_the_middle(self):
        s = openpai.Scheduler(cluster("nodes:4 gpu:8:v100"))
        log = io.StringIO()
        s.log(log, snapshots=True, every=1)
        for id in range(1, 50):
            s.submit(id, gpus=1, time=id)
            s.decide()
            s.finished(id)
        self.assertGreater(log.getvalue().count('\n{"snapshot":'), 0)
        replay = openpai.Replay.parse(log.getvalue(), check=True)
        self.assertEqual(len(replay.at(25).requests), 0)
        self.assertEqual(replay.at("end").save(), s.save())
