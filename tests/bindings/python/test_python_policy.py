"""What the Python module promises of policies that are written in it.

Usage: test_python_policy.py ROOT [unittest's arguments]
"""
import gc
import io
import json
import threading
import unittest
import weakref

import openpai
import python_jobs  # runs the tests
from python_scenes import Asked, Greedy, cluster, kinds


class Policies(unittest.TestCase):
    def ask(self, what, *requests, nodes=2):
        """Decides once with a function; the decisions."""
        s = openpai.Scheduler(cluster("nodes:%d gpu:8:h100" % nodes),
                              Asked(what))
        for i, request in enumerate(requests):
            s.submit(i + 1, **request)
        return s, s.decide()

    def test_greedy(self):
        policy = Greedy()
        s = openpai.Scheduler(cluster(), policy)
        s.submit(1, gpus=8, instances=4)
        s.submit(2, gpus=1)
        self.assertEqual(kinds(s.decide()), [("start", 1, 0),
                                             ("start", 1, 1)])
        self.assertEqual(policy.asked, 1)
        self.assertEqual(s.sums.policy, "Greedy")
        self.assertEqual(s.reason(2).lack, "gpu")

    def test_views(self):
        seen = []

        def what(host):
            seen.extend([
                list(host.waiting()), host.placed(), host.request(2).name,
                host.node(1).name, len(host.nodes), host.sums.gpus,
                host.now, [r.id for r in host.queue], repr(host)])
            with self.assertRaises(openpai.NotFoundError):
                host.node(2)
            with self.assertRaises(openpai.NotFoundError):
                host.start(7)

        self.ask(what, {"gpus": 1, "held": True}, {"name": "x", "gpus": 1})
        self.assertEqual(seen, [[2], (), "x", "node0002", 2, 16, 0, [1, 2],
                                "<openpai.PolicyHost>"])

    def test_start_at(self):
        def what(host):
            host.start_at(1, [("node0002", [6, 7]), (0, [1, 0])])
            with self.assertRaises(openpai.BusyError):
                host.start_at(2, [(1, [7])])
            with self.assertRaises(openpai.InvalidError):
                host.start_at(2, [(1, [1, 2])])
            for place in ((9, [1]), ("no", [1]), (0, [64])):
                with self.assertRaises(openpai.Error):
                    host.start_at(2, [place])

        _, made = self.ask(what, {"tasks": 2, "gpus": 2}, {"gpus": 1})
        self.assertEqual([(p.node, p.gpus) for p in made[0].tasks],
                         [("node0002", (6, 7)), ("node0001", (0, 1))])

    def test_preemption(self):
        def what(host):
            for id in host.waiting():
                host.start_over(id)

        s, made = self.ask(what, {"gpus": 8}, nodes=1)
        s.submit(2, gpus=8, priority=9)
        stop, = s.decide()
        self.assertEqual((stop.kind, stop.id, stop.cause, stop.by),
                         ("stop", 1, "preempted", 2))
        s.returned(1)
        self.assertEqual(kinds(s.decide()), [("start", 2, 0)])

    def test_claims_and_sizes(self):
        answers = []

        def what(host):
            if host.placed() == ():
                host.start_at(1, [(0, [0]), (0, [1])])
            elif 2 in host.waiting():
                answers.append(host.claim_at(2, [(0, [0])]))
                answers.append(host.placed())
            elif host.placed() == ((3, 0),):
                host.preempt(3, by=2)

        s, _ = self.ask(what, {"tasks": 2, "gpus": 1})
        s.submit(2, gpus=1, priority=3)
        self.assertEqual(kinds(s.decide()), [("stop", 1, 0)])
        self.assertEqual(answers[0], False)
        s.finished(1)
        self.assertEqual(kinds(s.decide()), [("start", 2, 0)])

        def grow(host):
            if host.placed() == ():
                host.start(1)
            else:
                answers.append(host.resize(1, 0, 0, 1))
                with self.assertRaises(openpai.InvalidError):
                    host.resize(1, 0, 0, 9)
        s, _ = self.ask(grow, {"tasks": 4, "min_tasks": 1, "gpus": 1})
        shrink, = s.decide()
        self.assertEqual((shrink.kind, shrink.want, shrink.count),
                         ("shrink", 0, 1))
        s.resized(1)
        self.assertEqual(len(s.places(1)), 1)

    def test_refuse(self):
        def what(host):
            host.refuse(1, "not on a Sunday", until=86400)
            host.refuse(2, lack="quota", behind=1)
            with self.assertRaises(openpai.InvalidError):
                host.refuse(2, lack="nothing")
            with self.assertRaises(openpai.InvalidError):
                host.start(2, "nowhere")

        s, _ = self.ask(what, {"gpus": 1}, {"gpus": 1})
        self.assertEqual((s.reason(1).lack, s.reason(1).text,
                          s.reason(1).until),
                         ("policy", "not on a Sunday", 86400))
        self.assertIn("not on a Sunday", s.explain(1))
        self.assertEqual((s.reason(2).lack, s.reason(2).behind), ("quota", 1))

    def test_raises(self):
        class Odd(Exception):
            pass

        error = Odd("x")

        def what(host):
            host.start(1)
            raise error

        s = openpai.Scheduler(cluster(), Asked(what))
        s.submit(1, gpus=1)
        with self.assertRaises(Odd) as caught:
            s.decide()
        self.assertIs(caught.exception, error)
        self.assertEqual(kinds(s.decisions), [("start", 1, 0)])
        s.returned(1)  # it can be used further
        for raised in (KeyboardInterrupt, SystemExit):
            error = raised()
            with self.assertRaises(raised):
                s.decide()
            s.returned(1)

    def test_library_error_comes_out(self):
        s = openpai.Scheduler(cluster(), Asked(lambda host: host.start(7)))
        with self.assertRaises(openpai.NotFoundError) as caught:
            s.decide()
        self.assertIn("no such request", str(caught.exception))

    def test_trial_of_a_policy_that_raises(self):
        """explain() asks copies; what they raise is not its failure."""
        tried = []

        def what(host):
            tried.append(host.start(1))
            if tried[-1]:
                raise KeyError

        s = openpai.Scheduler(cluster("nodes:1 gpu:8:h100"), Asked(what))
        s.node("node0001", "drain")
        s.submit(1, gpus=8)
        self.assertEqual(s.decide(), [])
        tried.clear()
        self.assertEqual(s.reason(1).lack, "health")
        self.assertIn(True, tried)
        self.assertEqual(s.decide(), [])

    def test_host_ends(self):
        kept = []
        s = openpai.Scheduler(cluster(), Asked(kept.append))
        s.submit(1, gpus=1)
        s.decide()
        for call in (lambda: kept[0].start(1), lambda: kept[0].now,
                     lambda: list(kept[0].waiting())):
            with self.assertRaises(openpai.InvalidError):
                call()

    def test_re_entry(self):
        errors = []

        def what(host):
            for call in (s.decide, lambda: s.submit(2, gpus=1), s.fork,
                         s.save, lambda: s.log(None),
                         lambda: s.explain(1)):
                try:
                    call()
                except openpai.BusyError as error:
                    errors.append(error)
            self.assertEqual(s.sums.waiting, 1)  # one may look

        s = openpai.Scheduler(cluster(), Asked(what))
        s.submit(1, gpus=1)
        s.decide()
        self.assertEqual(len(errors), 6)

    def test_other_thread_is_refused(self):
        errors = []

        def other(host):
            for call in (lambda: s.now, lambda: host.now, s.decide):
                try:
                    call()
                except openpai.BusyError as error:
                    errors.append(str(error))

        def what(host):
            thread = threading.Thread(target=other, args=(host,))
            thread.start()
            thread.join()

        s = openpai.Scheduler(cluster(), Asked(what))
        s.decide()
        self.assertEqual(len(errors), 3)
        self.assertIn("thread", errors[0])

    def test_threads_with_forks(self):
        s = openpai.Scheduler(cluster(), Greedy())
        s.submit(1, gpus=1, instances=8)
        forks = [s.fork() for _ in range(4)]
        made = []
        threads = [threading.Thread(
            target=lambda f=f: made.append(f.decide())) for f in forks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(made), 4)
        self.assertTrue(all(m == made[0] and len(m) == 8 for m in made))

    def test_events_and_options(self):
        class Heard:
            name = "heard"

            def open(self, host, options):
                self.options = options
                self.nodes = len(host.nodes)
                self.events = []

            def decide(self, host):
                pass

            def event(self, host, event):
                self.events.append(event)
                if event["event"] == "cancel":
                    raise LookupError(event["id"])
                with open_error:
                    host.start(1)

            def clone(self):
                copied = Heard()
                copied.__dict__.update(self.__dict__, events=["copied"])
                forks.append(copied)
                return copied

            def save(self):
                return {"n": len(self.events)}

            def load(self, saved):
                self.saved = saved

        forks = []
        open_error = self.assertRaises(openpai.BusyError)
        policy = Heard()
        s = openpai.Scheduler(cluster(), policy, depth=3)
        self.assertEqual((policy.options, policy.nodes), ({"depth": 3}, 2))
        s.submit(1, gpus=1, time=4)
        self.assertEqual(policy.events, [
            {"event": "submit", "time": 4, "id": 1, "number": 0}])
        with self.assertRaises(LookupError):
            s.cancel(1)
        self.assertEqual(s.sums.policy, "heard")
        s.fork().decide()
        self.assertEqual(len(forks), 1)
        again = Heard()
        openpai.Scheduler.load(s.save(), again)
        self.assertEqual((again.saved, again.options),
                         ({"n": 2}, {"depth": 3}))

    def test_saved_attributes(self):
        s = openpai.Scheduler(cluster(), Greedy())
        s.decide()
        again = Greedy()
        openpai.Scheduler.load(s.save(), again)
        self.assertEqual(again.asked, 1)
        self.assertEqual(json.loads(s.save())["policy"]["state"],
                         {"asked": 1})
        for odd in ({1: 2}, (1, 2), object()):
            policy = Greedy()
            policy.odd = odd
            s = openpai.Scheduler(cluster(), policy)
            with self.assertRaises(TypeError):
                s.save()
        with self.assertRaises(TypeError):
            s.log(io.StringIO())

        class Stubborn(Greedy):
            def __deepcopy__(self, memo):
                raise RuntimeError("no")
        with self.assertRaises(RuntimeError):
            openpai.Scheduler(cluster(), Stubborn()).fork()

    def test_dropped(self):
        policy = Greedy()
        gone = weakref.ref(policy)
        s = openpai.Scheduler(cluster(), policy)
        fork = s.fork()
        del policy, s
        gc.collect()
        self.assertIsNotNone(gone())  # its fork's policies are made of it
        del fork
        gc.collect()
        self.assertIsNone(gone())

    def test_shadow_that_raises(self):
        """It is counted, and nobody's failure."""
        class Bad:
            def decide(self, host):
                raise RuntimeError("decide")

            def event(self, host, event):
                raise RuntimeError("event")
        s = openpai.Scheduler(cluster())
        s.set_shadow(Bad())
        s.submit(1, gpus=1)
        self.assertEqual(kinds(s.decide()), [("start", 1, 0)])
        self.assertEqual(s.sums.shadow_failed, 3)


class Named(unittest.TestCase):
    def test_function(self):
        @openpai.policy
        def newest(host):
            """Who came last is first."""
            for id in sorted(host.waiting(), reverse=True):
                host.start(id)

        self.assertEqual(newest.__doc__, "Who came last is first.")
        scheduler = openpai.Scheduler(
            openpai.Cluster.synthetic("nodes:1 gpu:8"), "newest")
        for id in (1, 2):
            scheduler.submit(id, gpus=8)
        self.assertEqual([d.id for d in scheduler.decide()], [2])
        again = openpai.Scheduler.load(scheduler.save(), "newest")
        self.assertEqual(again.sums.policy, "newest")

    def test_class(self):
        @openpai.policy(name="mine", lends=True)
        class Mine:
            def decide(self, host):
                pass

        self.assertEqual((Mine.name, Mine.lends), ("mine", True))
        openpai.policy(Mine)  # once more
        report = openpai.simulate(
            openpai.Cluster.synthetic("nodes:1 gpu:8"),
            openpai.Trace.generate(3, seed=1, gpus=8), "mine")
        self.assertEqual((report.policy, report.started), ("mine", 0))
        for wrong in (3, type("Lacks", (), {})):
            with self.assertRaises(TypeError):
                openpai.policy(wrong)
        with self.assertRaises(ValueError):
            openpai.policy(name="fifo")(Mine)
