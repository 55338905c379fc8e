"""What the Python module frees again: all.

Usage: test_python_leaks.py ROOT [unittest's arguments]
"""
import asyncio
import gc
import os
import pathlib
import weakref

import openpai
from python_leaks import Checked, allocated
from python_jobs import ROOT, job, text


class Leaks(Checked):
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

    def test_writing(self):
        j = openpai.Job.parse(text("true"))
        other = openpai.Job.parse(text("false", instances=2))
        self.check(lambda: (j.to_yaml(), j.to_json(), j.masked(),
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
        path = pathlib.Path(__file__).parents[1] / "machine.xml"

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
        self.check(work, 600)

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
        # That of who began it may have no number in a container.
        if os.getpid() != os.getsid(0):
            os.setpgid(0, 0)
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

    def test_platforms(self):
        def work():
            with openpai.Platform(durable=False, root=ROOT, on_event=print):
                pass
        work()
        before = len(os.listdir("/proc/self/fd"))
        self.check(work, 400)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_handles(self):
        root = ROOT / "durable"
        with openpai.Platform(root=root) as platform:
            handle = platform.submit(job("echo some lines; echo more"))
            handle.wait()

            def work():
                handle.state, handle.code, handle.dir
                platform.job(handle.name)
                handle.show(), handle.why(), handle.events(), handle.config()
                platform.jobs(state="succeeded"), platform.status
                list(handle.logs())
                for call in (lambda: handle.show(3),
                             lambda: platform.job("nobody"),
                             lambda: handle.logs("nobody/0")):
                    try:
                        call()
                    except LookupError:
                        pass
            self.check(work, 1000)

    def test_sessions(self):
        def work():
            with handle.exec("cat; echo x >&2") as session:
                session.write(b"in")
                session.close_input()
                list(session), session.wait(), session.text
            with handle.exec(["cat", "/dev/zero"]) as session:
                session.read()  # left early, with much that nobody read
            handle.exec("cat", input=b"x")  # merely dropped

        with openpai.Platform(root=ROOT / "sessions") as platform:
            handle = platform.submit(job("echo up; exec sleep 1000"))
            next(handle.logs(follow=True))
            work()
            before = len(os.listdir("/proc/self/fd"))
            self.check(work, 200)
            self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_sessions_that_fail(self):
        """Objects and blocks are counted; of names Python keeps some itself."""
        async def speak():
            async with handle.exec("echo up; cat") as session:
                await session.read()
                read.set()
                await session.read()

        async def scene():
            speaks = asyncio.ensure_future(speak())
            await read.wait()
            read.clear()
            speaks.cancel()
            await asyncio.gather(speaks, return_exceptions=True)

        def work():
            loop.run_until_complete(scene())
            try:
                with handle.exec(["true"]) as session:
                    session.wait()
                    session.write(b"late")
            except OSError:
                pass

        def held():
            gc.collect()
            return (len(gc.get_objects()), len(os.listdir("/proc/self/fd")),
                    allocated() or 0)

        loop, read = asyncio.new_event_loop(), asyncio.Event()
        self.addCleanup(loop.close)
        with openpai.Platform(root=ROOT / "failing") as platform:
            handle = platform.submit(job("echo up; exec sleep 1000"))
            next(handle.logs(follow=True))
            for _ in range(20):
                work()
            before = held()
            for _ in range(200):
                work()
            after = held()
            self.assertLess(after[0], before[0] + 20)
            self.assertEqual(after[1], before[1])
            self.assertLess(after[2], before[2] + 16 * 200)

    def test_durable_platforms(self):
        root = ROOT / "again"

        def work():
            with openpai.Platform(root=root):
                pass
        work()
        before = len(os.listdir("/proc/self/fd"))
        self.check(work, 100)
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
                self.platform = openpai.Platform(durable=False, root=ROOT,
                                                 on_event=self.on_event)

            def on_event(self, event):
                pass

        owner = Owner()
        owner.platform.close()
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        self.assertIsNone(gone())
