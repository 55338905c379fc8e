"""What the Python module promises of policies beside a platform's own.

Usage: test_python_shadow.py ROOT [unittest's arguments]
"""
import gc
import os
import traceback
import unittest
import weakref

import openpai
from python_jobs import SLEEP, job, new_root

NODES = "nodes:1 gpu:4"


class Greedy:
    """Passes by who has no room, as fifo does not."""

    def decide(self, host):
        for id in host.waiting():
            host.start(id)


def queue(platform):
    """One job runs, one waits for all CPUs, and one that would have room."""
    first = platform.submit(job(*SLEEP, name="first"))
    wide = platform.submit(job("true", name="wide", cpus=os.cpu_count()))
    small = platform.submit(job("true", name="small"))
    return first, wide, small


class Beside(unittest.TestCase):
    def test_platform(self):
        if os.cpu_count() < 2:
            self.skipTest("one CPU has no room left")
        for durable in True, False:
            with self.subTest(durable=durable), openpai.Platform(
                    root=new_root(), durable=durable) as platform:
                shadow = platform.shadow(Greedy)
                first, wide, small = queue(platform)
                while first.state != "running":
                    platform.dispatch()
                mine, others = shadow.starts, shadow.differences
                self.assertEqual([start.id for start in mine],
                                 [first.id, small.id])
                self.assertEqual(mine[0].live, mine[0].shadow)
                self.assertIsNone(mine[1].live)
                self.assertGreaterEqual(mine[1].shadow, mine[0].shadow)
                self.assertEqual(len(others), 1)  # told once
                self.assertEqual((others[0].time, others[0].live),
                                 (mine[1].shadow, ()))
                only, = others[0].shadow
                self.assertEqual((only.kind, only.id, only.agreed, only.count),
                                 ("start", small.id, False, 1))
                self.assertEqual(len(only.tasks), 1)
                self.assertEqual(shadow.sums.policy, "fifo")
                self.assertEqual(shadow.sums.shadow, "Greedy")
                self.assertGreaterEqual(shadow.sums.shadow_agreed, 1)
                self.assertIn(wide.id, [
                    request.id for request in shadow.scheduler().queue])
                self.assertIsNone(platform.scheduler().sums.shadow)
                first.stop()
                self.assertTrue(wide.wait().succeeded)
                self.assertTrue(small.wait().succeeded)
                late = {start.id: start for start in shadow.starts}[small.id]
                self.assertGreater(late.live, late.shadow)
                self.assertEqual(len(shadow.differences), 1)
                self.assertIn("'Greedy' beside 'fifo'", repr(shadow))
            # The platform is closed, and what it decided is known.
            self.assertEqual(len(shadow.starts), 3)
            self.assertEqual(shadow.gaps, 0)

    def test_the_same_policy(self):
        with openpai.Platform(root=new_root()) as platform:
            with platform.shadow("fifo") as shadow:
                self.assertTrue(platform.submit(job("true")).wait().succeeded)
            self.assertEqual(shadow.differences, ())
            self.assertGreaterEqual(shadow.sums.shadow_agreed, 1)
            platform.submit(job("true")).wait()
            self.assertEqual(len(shadow.starts), 1)  # ended with that

    def test_it_raises(self):
        """To whoever looks, as it is; the platform knows nothing of it."""
        class Bad:
            where = "decide"

            def decide(self, host):
                if self.where == "decide":
                    raise ZeroDivisionError("mine")

            def event(self, host, event):
                if self.where == "event":
                    raise KeyError(event["event"])

            def __deepcopy__(self, memo):
                if self.where == "clone":
                    raise BufferError("no copies")
                return self

        bad = Bad()
        with openpai.Platform(root=new_root()) as platform:
            shadow = platform.shadow(bad)
            for where, error in (("decide", ZeroDivisionError),
                                 ("event", KeyError), ("clone", BufferError)):
                bad.where = where
                failed = shadow.sums.shadow_failed
                self.assertTrue(platform.submit(job("true")).wait().succeeded)
                try:
                    self.fail(shadow.starts)
                except error as raised:
                    last = traceback.extract_tb(raised.__traceback__)[-1]
                self.assertEqual(last.filename, __file__)
                bad.where = None
                self.assertGreater(shadow.sums.shadow_failed, failed)
            self.assertTrue(platform.submit(job("true")).wait().succeeded)
            self.assertEqual(len(shadow.starts), 4)

    def test_interrupted(self):
        """Ctrl-C in a policy comes out at once, and the look goes on later."""
        class Slow(Greedy):
            def decide(self, host):
                if pending:
                    raise pending.pop()
                super().decide(host)

            def __deepcopy__(self, memo):
                return self

        pending = [KeyboardInterrupt()]
        with openpai.Platform(root=new_root()) as platform:
            shadow = platform.shadow(Slow())
            for _ in range(2):
                platform.submit(job("true")).wait()
            with self.assertRaises(KeyboardInterrupt):
                shadow.sums
            self.assertIn(2, [start.id for start in shadow.starts])
            self.assertEqual(shadow.sums.shadow_failed, 1)

    def test_wrong(self):
        class Choosy(Greedy):
            def open(self, host, options):
                raise LookupError(options["depth"])

        with openpai.Platform(root=new_root()) as platform:
            for error, call in (
                    (TypeError, lambda: platform.shadow(None)),
                    (TypeError, lambda: platform.shadow(3)),
                    (TypeError, lambda: platform.shadow(Greedy, depth=3)),
                    (LookupError, lambda: platform.shadow(Choosy, depth=3)),
                    (openpai.NotFoundError, lambda: platform.shadow("no")),
                    (openpai.InvalidError,
                     lambda: platform.shadow("fifo", depth=3))):
                with self.assertRaises(error):
                    call()
            self.assertTrue(platform.submit(job("true")).wait().succeeded)
        with self.assertRaises(openpai.InvalidError):
            platform.shadow(Greedy)

    def test_it_goes_with_who_asked(self):
        policy = Greedy()
        gone = weakref.ref(policy)
        with openpai.Platform(root=new_root()) as platform:
            shadow = platform.shadow(policy)
            other = platform.shadow(Greedy)
            del policy
            platform.submit(job("true")).wait()
            self.assertEqual(len(shadow.starts), 1)
            del shadow
            gc.collect()
            self.assertIsNone(gone())
            platform.submit(job("true")).wait()
            self.assertEqual(len(other.starts), 2)
        platform = openpai.Platform(root=new_root())
        kept = platform.shadow(Greedy)
        with self.assertWarns(ResourceWarning):
            del platform
            gc.collect()
        self.assertEqual(kept.sums.live_decisions, 0)


class Logs(unittest.TestCase):
    """Beside a platform elsewhere, by its log."""

    def setUp(self):
        self.path = new_root() / "scheduler.log"

    def test_platform(self):
        root = new_root()
        with openpai.Platform(root=root) as platform:
            near = platform.shadow(Greedy)
            queue(platform)
            platform.wait(platform.submit(job("true", name="fourth")).stop()
                          or platform.job("fourth"))
            far = openpai.Shadow(root / "scheduler.log", Greedy)
            self.addCleanup(far.close)
            self.assertEqual(far.starts, near.starts)
        self.assertEqual(far.starts, near.starts)
        self.assertEqual(far.differences, near.differences)
        self.assertEqual(far.gaps, 0)

    def scheduler(self):
        scheduler = openpai.Scheduler(openpai.Cluster.synthetic(NODES))
        scheduler.submit(1, gpus=3, time=1)
        return scheduler

    def test_snapshots(self):
        """One that tells nothing new is passed by, also where the log is
        turned over; what is missing is told."""
        scheduler = self.scheduler()
        with scheduler.log(self.path):
            shadow = openpai.Shadow(self.path, Greedy)
            self.addCleanup(shadow.close)
            scheduler.decide(2)
            scheduler.submit(2, gpus=2)
            scheduler.submit(3, gpus=1)
            scheduler.decide(3)
            self.assertEqual([start.id for start in shadow.starts], [1, 3])
        os.rename(self.path, "%s.1" % self.path)
        with scheduler.log(self.path):
            scheduler.finished(1, time=4)
            scheduler.decide(4)
        self.assertEqual(shadow.starts, (
            (1, 0, 2, 2), (3, 0, 4, 3), (2, 0, 4, 4)))
        self.assertEqual(shadow.gaps, 0)
        scheduler.finished(2, time=5)  # nobody writes this
        with open(self.path, "a", 1) as end, scheduler.log(end):
            scheduler.submit(4, gpus=1, time=6)
            scheduler.decide(6)
            self.assertEqual(shadow.sums.live_decisions, 4)
            self.assertEqual(shadow.sums.shadow_agreed, 4)
            self.assertEqual(shadow.gaps, 1)
            self.assertEqual(shadow.scheduler().running,
                             scheduler.running)

    def test_no_log_for_a_moment(self):
        """A look while it is turned over loses nothing, nor those after it."""
        scheduler = self.scheduler()
        with scheduler.log(self.path):
            shadow = openpai.Shadow(self.path, Greedy)
            self.addCleanup(shadow.close)
            scheduler.decide(2)
        for id in 2, 3:
            os.rename(self.path, "%s.1" % self.path)
            self.assertEqual(len(shadow.starts), id - 1)
            self.assertEqual(len(shadow.starts), id - 1)
            with scheduler.log(self.path):
                scheduler.finished(id - 1, time=2 * id)
                scheduler.submit(id, gpus=3)
                scheduler.decide(2 * id)
            self.assertEqual(len(shadow.starts), id)
        self.assertEqual(shadow.starts, (
            (1, 0, 2, 2), (2, 0, 4, 4), (3, 0, 6, 6)))
        os.rename(self.path, "%s.1" % self.path)
        shadow.close()
        self.assertEqual(shadow.gaps, 0)

    def test_no_snapshot(self):
        """One that cannot be read is told, and counts for nothing."""
        scheduler = self.scheduler()
        with scheduler.log(self.path):
            shadow = openpai.Shadow(self.path, Greedy)
            self.addCleanup(shadow.close)
            scheduler.decide(2)
        self.assertEqual(shadow.sums.live_decisions, 1)
        with open(self.path, "a", 1) as end:
            end.write('{"snapshot":1,"time":3,"events":99,"turns":0}\n')
            with self.assertRaises(openpai.Error):
                shadow.starts
            end.write('{"time":3,"event":"decide"}\n')  # of what is not known
            self.assertEqual(len(shadow.starts), 1)
            scheduler.finished(1, time=4)
            with scheduler.log(end):
                scheduler.submit(2, gpus=3, time=5)
                scheduler.decide(5)
            self.assertEqual([start.id for start in shadow.starts], [1, 2])
            self.assertEqual(shadow.sums.live_decisions, 2)
            self.assertEqual(shadow.gaps, 1)

    def test_half_a_line(self):
        scheduler = self.scheduler()
        with scheduler.log(self.path):
            scheduler.decide(2)
        whole = self.path.read_bytes()
        cut = whole.rindex(b'"decide"')
        self.path.write_bytes(whole[:cut])
        shadow = openpai.Shadow(self.path, Greedy)
        self.addCleanup(shadow.close)
        self.assertEqual(shadow.starts, ())
        with open(self.path, "ab") as rest:
            rest.write(whole[cut:])
        self.assertEqual(shadow.starts, ((1, 0, 2, 2),))

    def test_no_log(self):
        with self.assertRaises(FileNotFoundError):
            openpai.Shadow(self.path, Greedy)
        self.path.touch()
        with self.assertRaises(ValueError):
            openpai.Shadow(self.path, Greedy)


class Schedulers(unittest.TestCase):
    def test_decisions(self):
        s = openpai.Scheduler(openpai.Cluster.synthetic(NODES))
        self.assertIsNone(s.shadow_decisions)
        s.submit(1, gpus=3)
        self.assertEqual([d.agreed for d in s.decide()], [None])
        s.set_shadow(Greedy())
        self.assertIsNone(s.shadow_decisions)
        s.submit(2, gpus=2)
        s.submit(3, gpus=1)
        s.cancel(1)
        self.assertEqual([(d.kind, d.id, d.agreed) for d in s.decide()],
                         [("stop", 1, True)])
        told = s.shadow_decisions
        self.assertEqual([(d.kind, d.id, d.agreed) for d in told],
                         [("start", 3, False)])
        self.assertEqual(len(told[0].tasks[0].gpus), 1)
        self.assertEqual(s.shadow_decisions, told)
        s.submit(4, gpus=1)
        self.assertIsNone(s.shadow_decisions)
