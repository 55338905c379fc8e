"""What the Python module promises of schedulers and policies.

Usage: test_python_sched.py ROOT [unittest's arguments]
"""
import copy
import gc
import io
import json
import threading
import unittest
import weakref

import openpai
from python_jobs import ROOT, main


def cluster(description="nodes:2 gpu:8:h100 cpus:16 mem:64G"):
    return openpai.Cluster.synthetic(description)


def kinds(decisions):
    return [(d.kind, d.id, d.instance) for d in decisions]


class Greedy:
    """Whoever fits, in the order in which they came."""

    def __init__(self):
        self.asked = 0

    def decide(self, host):
        self.asked += 1
        for id in host.waiting():
            while host.start(id, "pack"):
                pass


class Asked:
    """Does what a function of the test says."""

    def __init__(self, what):
        self.what = what

    def decide(self, host):
        self.what(host)


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


if __name__ == "__main__":
    main()
