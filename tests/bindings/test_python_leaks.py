"""What the Python module frees again: all.

Usage: test_python_leaks.py ROOT [unittest's arguments]
"""
import ctypes
import gc
import io
import os
import pathlib
import tracemalloc
import unittest
import weakref

import openpai
from python_jobs import ROOT, job, main, text


class MallocInfo(ctypes.Structure):
    """The C library's struct mallinfo2."""
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
        "fsmblks", "uordblks", "fordblks", "keepcost")]


def allocated():
    """Bytes that C code holds, or None where they cannot be counted."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return None
    libc.mallinfo2.restype = MallocInfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


class Leaks(unittest.TestCase):
    def check(self, work, times=10000):
        """One object, or one block, of 16 bytes a time would be too much."""
        for _ in range(times // 10):
            work()
        for count in (allocated, self.traced):
            gc.collect()
            tracemalloc.start() if count == self.traced else None
            before = count()
            for _ in range(times):
                work()
            gc.collect()
            after = count()
            tracemalloc.stop()
            if before is not None:
                self.assertLess(after - before, 16 * times)

    def traced(self):
        return tracemalloc.get_traced_memory()[0]

    def test_parse(self):
        good = text("true")
        self.check(lambda: openpai.Job.parse(good).roles)

    def test_errors(self):
        def work():
            try:
                openpai.Job.parse("protocolVersion: 2\nnme: t\n")
            except openpai.Error:
                pass
        self.check(work, 2000)

    def test_reports(self):
        bad = "protocolVersion: 2\nnme: t\n"
        self.check(lambda: str(openpai.check(bad)), 2000)
        self.check(lambda: openpai.Job.parse(text("true")).v1_report(), 2000)

    def test_writing(self):
        j = openpai.Job.parse(text("true"))
        other = openpai.Job.parse(text("false", instances=2))
        self.check(lambda: (j.to_yaml(), j.to_json(version=1), j.masked(),
                            j.diff(other), j.explain(),
                            j._repr_html_()), 2000)

    def test_drafts(self):
        def work():
            draft = openpai.Draft("a: 1\n")
            draft["a"] = ["x"]
            draft["b"] = draft["a"]
            del draft["a"]
            try:
                draft["c"]
            except KeyError:
                pass
            try:
                draft.job()
            except openpai.InvalidError:
                pass
        self.check(work, 2000)

    def test_files(self):
        path = ROOT / "job.yaml"
        path.write_text(text("true"))
        before = len(os.listdir("/proc/self/fd"))
        self.check(lambda: (openpai.Job.load(path), openpai.check(path)), 500)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_missing_file(self):
        def work():
            try:
                openpai.Job.load("missing")
            except OSError:
                pass
        self.check(work)

    def test_topologies(self):
        path = pathlib.Path(__file__).with_name("machine.xml")

        def work():
            machine = openpai.Topology.load(path)
            machine.gpus, machine.between(0, 1), machine.affinity([1, 0])
            machine.svg({1: "x"}), str(machine), machine.to_json()
            for wrong in (lambda: machine.svg({7: "x"}),
                          lambda: machine.affinity([0, 0]),
                          lambda: openpai.Topology.parse_xml("<x")):
                try:
                    wrong()
                except openpai.Error:
                    pass
        self.check(work, 2000)  # errors keep 20 KB, once

    def test_clusters(self):
        bad = "nodes: 3\n"
        box = openpai.Topology.synthetic("core:2 pu:1")

        def work():
            cluster = openpai.Cluster.synthetic("nodes:2 gpu:2:h100")
            cluster.set_sick("node0001", "x", 1)
            cluster.nodes[0], cluster.skus, cluster.virtual_clusters
            cluster.svg({("node0002", 1): "x"}), str(cluster)
            openpai.Cluster.parse(cluster.to_hived())
            openpai.Cluster.check(bad)
            openpai.Cluster.from_machines([("a", None, box)])
            for wrong in (lambda: openpai.Cluster.parse(bad),
                          lambda: cluster.nodes["x"],
                          lambda: cluster.svg({("x", 1): "x"}),
                          lambda: openpai.Cluster.load("missing"),
                          lambda: openpai.Cluster.from_machines(
                              [("a", None, box)] * 2)):
                try:
                    wrong()
                except openpai.Error:
                    pass
        self.check(work, 2000)

    def test_samples(self):
        before = len(os.listdir("/proc/self/fd"))

        def work():
            openpai.gpus(nvml="", pids=[1])
            with openpai.Sampler(nvml="", paths=[ROOT]) as sampler:
                sampler.watch("group", os.getpgrp())
                sampler.take()
            openpai.Sampler(nvml="")  # merely dropped
        self.check(work, 200)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_allocations(self):
        def work():
            some = openpai.Allocation("node 0: gpu 0-3 port 7 mem 1G")
            other = some.copy()
            other.add(1, "cpu", 3)
            some | other, some & other, some - other, list(some), str(some)
            other.take(some)
            try:
                other.take(some)
            except openpai.NotFoundError:
                pass
        self.check(work, 2000)

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
        self.check(work, 2000)  # errors keep 20 KB, once

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
        self.check(work, 2000)  # errors keep 20 KB, once

        del Policy.event  # which keeps what it has seen
        s = openpai.Scheduler(cluster, Policy)

        def turn():
            s.submit(1, gpus=1)
            s.decide()
            s.finished(1)
        self.check(turn, 20000)

    def test_platforms(self):
        def work():
            with openpai.Platform(root=ROOT, on_event=print):
                pass
        work()
        before = len(os.listdir("/proc/self/fd"))
        self.check(work, 1000)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_callback_is_dropped(self):
        class Listener:
            def on_event(self, event):
                if event.type == "output":
                    raise KeyError(self)

        listener = Listener()
        gone = weakref.ref(listener)
        try:
            openpai.run(job("echo x"), root=ROOT, on_event=listener.on_event)
        except KeyError:
            pass
        del listener
        gc.collect()
        self.assertIsNone(gone())

    def test_cycle_is_broken(self):
        class Owner:
            def __init__(self):
                self.platform = openpai.Platform(root=ROOT,
                                                 on_event=self.on_event)

            def on_event(self, event):
                pass

        owner = Owner()
        owner.platform.close()
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    main()
