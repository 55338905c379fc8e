"""What the Python module promises of GPUs, samples and allocations.

Usage: test_python_sample.py ROOT [unittest's arguments]
OPENPAI_FAKE_NVML in the environment is a library that plays NVML.
"""
import copy
import itertools
import os
import pickle
import unittest

import openpai
from python_jobs import ROOT

FAKE = os.environ.get("OPENPAI_FAKE_NVML")
GIB = 1 << 30

PROC = {
    "stat": "cpu  100 0 50 800 50 0 0 0 0 0\n"
            "cpu0 100 0 50 800 50 0 0 0 0 0\nbtime 1\n",
    "meminfo": "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 700 kB\n"
               "Buffers: 10 kB\nCached: 500 kB\nSwapTotal: 64 kB\n"
               "SwapFree: 32 kB\n",
    "loadavg": "1.50 0.05 10.10 3/200 4711\n",
    "diskstats": "   8       0 sda 10 0 100 0 20 0 200 0 0 30 0 0 0 0 0\n",
    "net/dev": "Inter-|   Receive  |  Transmit\n face |bytes |bytes\n"
               "  eth0: 5000 50 0 0 0 0 0 0 7000 70 2 0 0 0 0 0\n",
}


def made_machine():
    """A folder with kernel files of a small machine."""
    for name, text in PROC.items():
        path = ROOT / "made/proc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ROOT / "made"


class Gpus(unittest.TestCase):
    def test_none(self):
        found = openpai.gpus(root=made_machine(), nvml="")
        self.assertEqual((len(found), list(found), found.links, found.driver),
                         (0, [], (), ""))
        self.assertEqual(repr(found), "<openpai.Gpus: none>")
        missing = openpai.gpus(root=made_machine(), nvml=ROOT / "no.so")
        self.assertEqual(len(missing), 0)

    @unittest.skipUnless(FAKE, "no library that plays NVML")
    def test_played(self):
        os.environ["FAKE_NVML"] = "mesh"
        found = openpai.gpus(nvml=FAKE, pids=[900], root=made_machine())
        self.assertEqual(len(found), 8)
        first = found[0]
        self.assertEqual((first.vendor, first.model, first.health, first.mig),
                         ("NVIDIA", "NVIDIA A100-SXM4-40GB", "healthy", False))
        self.assertEqual((first.memory_total, first.memory_used,
                          first.temperature, first.ecc, first.parent),
                         (40 * GIB, 3 * GIB, 40, True, None))
        self.assertEqual(
            first.processes,
            ((900, False, None), (1000, True, GIB)))
        self.assertEqual((found.links[0].a, found.links[0].b,
                          found.links[0].version), (0, 1, 30))
        self.assertEqual(found.driver, "535.104.05")
        self.assertEqual(found[1:], tuple(found)[1:])
        self.assertEqual(found.index(found[3]), 3)
        self.assertEqual(pickle.loads(pickle.dumps(list(found))), list(found))
        os.environ["FAKE_NVML"] = "mig"
        found = openpai.gpus(nvml=FAKE)
        self.assertEqual([gpu.parent for gpu in found], [None, 0, 0, None])
        os.environ["FAKE_NVML"] = "switch"
        self.assertIsNone(openpai.gpus(nvml=FAKE).links[0].b)

    def test_wrong(self):
        for error, more in ((openpai.InvalidError, {"pids": [-1]}),
                            (TypeError, {"pids": ["1"]}),
                            (TypeError, {"groups": 3}),
                            (TypeError, {"root": 3})):
            with self.assertRaises(error):
                openpai.gpus(**more)


class Samples(unittest.TestCase):
    def test_made(self):
        with openpai.Sampler(root=made_machine(), nvml="",
                             paths=[ROOT]) as sampler:
            first = sampler.take(1000)
            stat = ROOT / "made/proc/stat"
            stat.write_text(stat.read_text().replace("100 0 50 800",
                                                     "150 0 50 850"))
            second = sampler.take(1001000)
        self.assertEqual((first.time, first.elapsed, first.online,
                          first.load), (1000, 0, 1, (1.5, 0.05, 10.1)))
        self.assertEqual((first.cpu.user, first.cpu.busy_rate,
                          first.cpu.number), (1000000, None, None))
        self.assertEqual((first.memory.total, first.memory.available,
                          first.memory.limit),
                         (1000 << 10, 700 << 10, None))
        self.assertEqual((first.disks[0].name, first.disk.name,
                          first.disk.read_bytes), ("sda", "", 51200))
        self.assertEqual((first.networks[0].name, first.network.rx_bytes,
                          first.network.rx_bytes_rate), ("eth0", 5000, None))
        self.assertEqual(first.file_systems[0].path, str(ROOT))
        self.assertGreater(first.file_systems[0].total, 0)
        self.assertEqual((first.gpus, first.groups), ((), ()))
        self.assertEqual((first.threads, first.running), (200, 3))
        self.assertEqual((second.elapsed, second.cpu.user_rate,
                          second.cpus[0].number, second.disk.reads_rate),
                         (1000000, 500, 0, 0))

    def test_here(self):
        # That of who began it may have no number in a container.
        if os.getpid() != os.getsid(0):
            os.setpgid(0, 0)
        with openpai.Sampler(all_groups=True, nvml="") as sampler:
            sampler.watch("group", os.getpgrp())
            first, second = itertools.islice(sampler.every(0.01), 2)
            self.assertGreaterEqual(second.elapsed, 10000)
            self.assertTrue(second.groups[0].watched)
            self.assertEqual((second.groups[0].kind, second.groups[0].id),
                             ("group", os.getpgrp()))
            self.assertGreater(second.groups[0].memory, 0)
            self.assertGreater(len(second.groups), 0)
            with self.assertRaises(openpai.ExistsError):
                sampler.watch("group", os.getpgrp())
            sampler.unwatch("group", os.getpgrp())
            with self.assertRaisesRegex(openpai.NotFoundError, "not watched"):
                sampler.unwatch("group", os.getpgrp())
            with self.assertRaises(openpai.NotFoundError):
                sampler.unwatch_cgroup("/no/such")
            with self.assertRaises(openpai.NotFoundError):
                sampler.watch_cgroup("/no/such")
            self.assertEqual(list(sampler.gpus), [])

    @unittest.skipUnless(FAKE, "no library that plays NVML")
    def test_gpus(self):
        os.environ["FAKE_NVML"] = "mesh"
        with openpai.Sampler(nvml=FAKE) as sampler:
            self.assertEqual(len(sampler.gpus), 8)
            sample = sampler.take()
        self.assertEqual(len(sample.gpus), 8)
        self.assertEqual((sample.gpus[0].lost, sample.gpus[0].busy_percent,
                          sample.gpus[0].memory_used), (False, 90, 3 * GIB))

    def test_wrong(self):
        sampler = openpai.Sampler(root=made_machine(), nvml="")
        sampler.take(5)
        for error, now in ((openpai.InvalidError, 5), (ValueError, -1),
                           (TypeError, "6"), (OverflowError, 1 << 63)):
            with self.assertRaises(error):
                sampler.take(now)
        self.assertEqual(sampler.take(6).elapsed, 1)
        for error, kind, number in (
                (openpai.InvalidError, "job", 1),
                (openpai.InvalidError, "group", 0), (TypeError, 1, 1)):
            with self.assertRaises(error):
                sampler.watch(kind, number)
        sampler.close()
        sampler.close()
        for call in (sampler.take, lambda: sampler.gpus,
                     lambda: sampler.watch("group", 1),
                     lambda: sampler.unwatch_cgroup("/a")):
            with self.assertRaisesRegex(openpai.InvalidError, "is closed"):
                call()
        with self.assertRaises(openpai.UnsupportedError):
            openpai.Sampler(root=ROOT / "empty", nvml="")
        for paths in ("/", b"/", [3], 3):
            with self.assertRaises(TypeError):
                openpai.Sampler(paths=paths)
        with self.assertRaises(ValueError):
            openpai.Sampler(paths=["a\0b"])


class Allocations(unittest.TestCase):
    def setUp(self):
        self.all = openpai.Allocation("node 0: gpu 0-3 cpu 0-7 mem 8G\n"
                                      "node 3: gpu 1 port 15000-15001")
        self.some = openpai.Allocation("node 0: gpu 1-2,5 mem 10G")

    def test_texts(self):
        text = ("node 0: gpu 0-3 cpu 0-7 mem 8G; "
                "node 3: gpu 1 port 15000-15001")
        self.assertEqual(str(self.all), text)
        self.assertEqual(repr(self.all), "Allocation(%r)" % text)
        self.assertEqual(openpai.Allocation.parse(text.encode()), self.all)
        self.assertEqual(str(openpai.Allocation()), "")
        self.assertIn('"gpu":"0-3"', self.all.to_json())
        for copied in (self.all.copy(), copy.copy(self.all),
                       copy.deepcopy(self.all),
                       pickle.loads(pickle.dumps(self.all))):
            self.assertEqual(copied, self.all)
            copied.clear()
            self.assertNotEqual(copied, self.all)
        with self.assertRaises(openpai.InvalidError) as raised:
            openpai.Allocation("node 0: gpu 3-1")
        self.assertEqual(raised.exception.column, 13)
        with self.assertRaises(TypeError):
            openpai.Allocation(3)

    def test_sets(self):
        self.assertEqual(
            str(self.all & self.some), "node 0: gpu 1-2 mem 8G")
        self.assertEqual(str(self.some - self.all), "node 0: gpu 5 mem 2G")
        self.assertEqual(str(self.all | self.some),
                         "node 0: gpu 0-3,5 cpu 0-7 mem 10G; "
                         "node 3: gpu 1 port 15000-15001")
        both = same = self.all.copy()
        both |= self.some
        self.assertIs(both, same)
        self.assertEqual(both, self.all | self.some)
        both &= self.all
        both -= self.all
        self.assertFalse(both)
        for wrong in (None, {1}, "node 0: gpu 1"):
            for act in (lambda: self.all | wrong, lambda: self.all & wrong,
                        lambda: self.all - wrong, lambda: self.all < wrong,
                        lambda: self.all.take(wrong),
                        lambda: self.all.isdisjoint(wrong)):
                with self.assertRaises(TypeError):
                    act()
            self.assertNotEqual(self.all, wrong)
        with self.assertRaises(TypeError):
            hash(self.all)

    def test_order(self):
        part = self.all & self.some
        self.assertTrue(part <= self.all and part < self.all)
        self.assertTrue(self.all >= part and self.all <= self.all)
        self.assertFalse(self.all < self.all or self.some <= self.all)
        self.assertFalse(part.isdisjoint(self.all))
        self.assertTrue(part.isdisjoint(self.all - part))

    def test_give_and_take(self):
        part = self.all & self.some
        free = self.all.copy()
        free.take(part)
        with self.assertRaisesRegex(openpai.NotFoundError, "gpu 1 of node 0"):
            free.take(part)
        free.give(part)
        self.assertEqual(free, self.all)
        with self.assertRaises(openpai.ExistsError):
            free.give(part)
        self.assertEqual(free, self.all)

    def test_asked(self):
        self.assertEqual(len(self.all), 15)
        self.assertEqual((self.all.count("gpu"), self.all.count("gpu", 3),
                          self.all.count("port", 0)), (5, 1, 0))
        self.assertEqual((self.all.memory(), self.all.memory(3)), (8 * GIB, 0))
        self.assertIn((0, "gpu", 3), self.all)
        self.assertNotIn((0, "gpu", 4), self.all)
        self.assertNotIn((-1, "gpu", 4), self.all)
        items = list(self.some)
        self.assertEqual(items, [(0, "gpu", 1), (0, "gpu", 2), (0, "gpu", 5)])
        self.assertEqual((items[0].kind, items[0].number), ("gpu", 1))
        self.assertEqual(len(list(self.all)), len(self.all))
        self.assertTrue(all(item in self.all for item in self.all))
        node = self.all.nodes[1]
        self.assertEqual((node.node, node.gpu, node.cpu, node.port,
                          node.memory),
                         (3, ((1, 1),), (), ((15000, 15001),), 0))
        self.assertTrue(openpai.Allocation("node 0: mem 1"))
        self.assertFalse(openpai.Allocation())
        for error, act in (
                (openpai.InvalidError, lambda: (0, "tpu", 1) in self.all),
                (openpai.InvalidError, lambda: self.all.count("tpu")),
                (TypeError, lambda: 3 in self.all),
                (TypeError, lambda: self.all.count(3))):
            with self.assertRaises(error):
                act()

    def test_changed(self):
        made = openpai.Allocation()
        made.add(7, "gpu", 3)
        made.add(7, "cpu", 0, 3)
        made.remove(7, "cpu", 1, 2)
        made.set_memory(7, 5)
        self.assertEqual(str(made), "node 7: gpu 3 cpu 0,3 mem 5")
        made.remove(7, "gpu", 3)
        made.set_memory(7, 0)
        self.assertEqual(str(made), "node 7: cpu 0,3")
        for error, act in (
                (openpai.InvalidError, lambda: made.add(7, "tpu", 1)),
                (openpai.InvalidError, lambda: made.add(7, "gpu", 2, 1)),
                (openpai.LimitError, lambda: made.add(7, "gpu", 1 << 20)),
                (openpai.LimitError, lambda: made.set_memory(7, 1 << 60)),
                (OverflowError, lambda: made.add(-1, "gpu", 1)),
                (OverflowError, lambda: made.set_memory(7, -1)),
                (TypeError, lambda: made.add(7, None, 1))):
            with self.assertRaises(error):
                act()
        self.assertEqual(str(made), "node 7: cpu 0,3")
