"""What schedulers of the Python module free again: all.

Usage: test_python_sched_leaks.py ROOT [unittest's arguments]
"""
import io

import openpai
import python_jobs  # runs the tests
from python_leaks import Checked


class Leaks(Checked):
    def test_schedulers(self):
        cluster = openpai.Cluster.synthetic("nodes:2 gpu:2:h100")

        def work():
            s = openpai.Scheduler(cluster, "backfill")
            s.submit(1, gpus=1)
            s.submit(2, gpus=2, tasks=2)
            s.decide(), s.reason(2), s.explain(2), s.requests, s.nodes
            s.virtual_clusters, s.running, s.places(1), s.allocation(1)
            openpai.Scheduler.load(s.save()), s.fork()
            s.log(io.StringIO())
            for wrong in (lambda: s.submit(1), lambda: s.send("{"),
                          lambda: s.request(9), lambda: s.decide(-1),
                          lambda: openpai.Scheduler(cluster, "no"),
                          lambda: openpai.Scheduler.load("{}")):
                try:
                    wrong()
                except openpai.Error:
                    pass
        self.check(work, 2000)

    def test_events_and_decisions(self):
        """Of one scheduler, 10^5 of each."""
        s = openpai.Scheduler(openpai.Cluster.synthetic("nodes:1 gpu:1"))

        def work():
            s.submit(1, gpus=1)
            s.decide()
            s.finished(1)
        self.check(work, 20000)

    def test_policies(self):
        cluster = openpai.Cluster.synthetic("nodes:2 gpu:2:h100")

        class Policy:
            def __init__(self):
                self.seen = []

            def decide(self, host):
                for id in host.waiting():
                    if host.request(id).name == "raise":
                        raise KeyError(id)
                    host.start(id)

            def event(self, host, event):
                self.seen.append(event["time"])

        class Failing:
            def write(self, text):
                raise OSError

        def work():
            s = openpai.Scheduler(cluster, Policy)
            s.submit(1, gpus=1, time=5)
            s.decide(), s.fork().decide()
            openpai.Scheduler.load(s.save(), Policy())
            s.submit(2, name="raise", gpus=1)
            for wrong in (s.decide, lambda: s.log(Failing()),
                          lambda: openpai.Scheduler(cluster, Policy, x=1),
                          lambda: openpai.Scheduler.load("{}", Policy)):
                try:
                    wrong()
                except (KeyError, OSError, TypeError, openpai.Error):
                    pass
        self.check(work, 2000)

        del Policy.event  # which keeps what it has seen
        s = openpai.Scheduler(cluster, Policy)

        def turn():
            s.submit(1, gpus=1)
            s.decide()
            s.finished(1)
        self.check(turn, 20000)
