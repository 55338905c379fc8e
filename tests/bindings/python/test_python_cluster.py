"""What the Python module promises of machines and clusters.

Usage: test_python_cluster.py ROOT [unittest's arguments]
"""
import copy
import dataclasses
import json
import pathlib
import unittest

import openpai
from python_jobs import ROOT

XML = pathlib.Path(__file__).parents[1] / "machine.xml"

FILE = """\
name: lab
skus:
  dgx: {gpu: h100, gpus: 8, numa: 2, near: {nvlink: 8, switch: 2}, cpus: 128,
        memory: 2T, used: {cpus: 4, memory: 32G}}
  cpu: {cpus: 64}
nodes:
  - {name: "dgx[1-2]", sku: dgx, rack: r1, labels: {zone: a, "k\\"ey": "<b>"}}
  - {name: c1, sku: cpu, sick: fan broken, address: 10.0.0.7}
virtualClusters:
  a: {cells: {dgx: 1}}
  b: {cells: [{dgx: 1}]}
"""


def dgx2():
    return openpai.Cluster.synthetic("nodes:2 racks:2 gpu:4:h100")


class Topologies(unittest.TestCase):
    def setUp(self):
        self.machine = openpai.Topology.load(XML)

    def test_made(self):
        self.assertEqual(openpai.Topology.parse_xml(XML.read_text()).to_json(),
                         self.machine.to_json())
        self.assertEqual(openpai.Topology.parse_xml(XML.read_bytes()).gpus,
                         self.machine.gpus)
        made = openpai.Topology.synthetic("pack:2 [numa] core:4 pu:2")
        self.assertEqual(made.summary[1:], (29, 2, 2, 8, 16, 0,
                                            made.summary.bytes))
        here = openpai.Topology.discover(drivers=False)
        self.assertGreater(here.summary.pus, 0)
        with self.assertRaisesRegex(TypeError, "Topology.discover"):
            openpai.Topology()

    def test_what_there_is(self):
        self.assertEqual(self.machine.summary.name, "box")
        self.assertEqual(self.machine.summary.gpus, 2)
        first, second = self.machine.gpus
        self.assertEqual((first.number, first.index, first.numa_node),
                         (0, 0, 0))
        self.assertEqual((second.vendor, second.model, second.uuid),
                         ("NVIDIA", "V100 <32>", "GPU-1"))
        self.assertEqual((second.pci, second.link_mbps, second.bytes,
                          second.serial), ("0001:34:00.0", 15750, None, ""))
        objects = self.machine.objects
        self.assertEqual(len(objects), self.machine.summary.objects)
        self.assertEqual([o.number for o in objects],
                         list(range(len(objects))))
        self.assertEqual((objects[0].kind, objects[0].parent,
                          objects[0].end), ("machine", None, len(objects)))
        gpu = objects[second.object]
        self.assertEqual((gpu.kind, gpu.gpu, gpu.pci),
                         ("gpu", 1, second.pci))
        self.assertEqual({o.kind for o in objects},
                         {"machine", "package", "numa", "core", "pu",
                          "bridge", "gpu"})
        self.assertEqual([o.bytes for o in objects if o.kind == "numa"],
                         [1 << 30] * 2)
        with self.assertRaises(dataclasses.FrozenInstanceError):
            first.number = 3

    def test_between(self):
        self.assertEqual(
            self.machine.between(0, 1),
            openpai.Link("machine", 1, "NVLink", True, 1, 25000))
        self.assertEqual(self.machine.between(1, 1).near, "same")
        with self.assertRaisesRegex(openpai.NotFoundError, "fewer GPUs"):
            self.machine.between(0, 2)
        with self.assertRaises(TypeError):
            self.machine.between(0, "1")

    def test_affinity(self):
        near = self.machine.affinity([1, 0])
        self.assertEqual((near.cores, near.pus, near.cpus, near.numa_nodes),
                         (4, 4, "0-3", "0-1"))
        self.assertEqual(near.env, {"CUDA_VISIBLE_DEVICES": "1,0"})
        self.assertEqual(near.env_by_uuid,
                         {"CUDA_VISIBLE_DEVICES": "GPU-1,GPU-0"})
        near = self.machine.affinity((1,), cores=1)
        self.assertEqual((near.cpus, near.mask, near.bitmap, near.numa_nodes),
                         ("2", "4", "0x00000004", "1"))
        self.assertEqual(self.machine.affinity([]).env, {})
        for error, gpus, cores in (
                (openpai.InvalidError, [0, 0], 0),
                (openpai.InvalidError, [-1], 0),
                (openpai.NotFoundError, [2], 0),
                (openpai.NoRoomError, [0], 5), (TypeError, ["0"], 0),
                (TypeError, [0.5], 0), (TypeError, 0, 0),
                (TypeError, [0], None), (OverflowError, [0], -1)):
            with self.assertRaises(error):
                self.machine.affinity(gpus, cores)

    def test_pictures(self):
        self.assertEqual(str(self.machine), self.machine.text().rstrip("\n"))
        self.assertIn("GPU 1: V100 <32>, 0001:34:00.0\n", str(self.machine))
        marked = self.machine.text(["bob", ("sick", "hot")])
        self.assertIn("34:00.0  [used by bob]", marked)
        self.assertIn("34:00.0  [sick: hot]", marked)
        self.assertIn("[free]", self.machine.text({1: None}))
        svg = self.machine.svg({1: ("sick", "<hot>")})
        self.assertTrue(svg.startswith("<svg"))
        self.assertIn("&lt;hot&gt;", svg)
        self.assertEqual(self.machine._repr_svg_(), self.machine.svg())
        self.assertEqual(json.loads(self.machine.to_json())["name"], "box")
        self.assertEqual(repr(self.machine), "<openpai.Topology 'box': "
                         "2 GPUs, 4 cores, 2 NUMA nodes>")
        self.assertIs(copy.copy(self.machine), self.machine)
        self.assertIs(copy.deepcopy(self.machine), self.machine)

    def test_wrong_marks(self):
        for error, marks in (
                (openpai.NotFoundError, {2: "x"}),
                (openpai.NotFoundError, {("box", 0): "x"}),
                (openpai.InvalidError, {-1: "x"}),
                (openpai.InvalidError, {0: ("odd", "x")}),
                (ValueError, ["a\0b"]), (TypeError, [1]), (TypeError, "bob"),
                (TypeError, {"0": "x"}), (TypeError, {0: ("sick",)}),
                (TypeError, 3)):
            with self.assertRaises(error):
                self.machine.svg(marks)

    def test_wrong(self):
        with self.assertRaisesRegex(openpai.InvalidError, "hwloc") as raised:
            openpai.Topology.parse_xml("<x")
        self.assertEqual((raised.exception.line, raised.exception.filename),
                         (1, None))
        with self.assertRaises(FileNotFoundError) as raised:
            openpai.Topology.load("missing.xml")
        self.assertIsInstance(raised.exception, openpai.NotFoundError)
        self.assertEqual(raised.exception.filename, "missing.xml")
        bad = ROOT / "bad.xml"
        bad.write_text("<topology>\n<x")
        with self.assertRaises(openpai.InvalidError) as raised:
            openpai.Topology.load(bad)
        self.assertEqual(raised.exception.filename, str(bad))
        with self.assertRaises(openpai.InvalidError):
            openpai.Topology.synthetic("pack:two")
        with self.assertRaises(ValueError):
            openpai.Topology.synthetic("core:2 pu:1\0")
        for wrong in (None, 3, ["pack:2"]):
            with self.assertRaises(TypeError):
                openpai.Topology.synthetic(wrong)
            with self.assertRaises(TypeError):
                openpai.Topology.parse_xml(wrong)


class Clusters(unittest.TestCase):
    def setUp(self):
        self.cluster = openpai.Cluster.parse(FILE)

    def test_sums(self):
        self.assertEqual(self.cluster.sums, (
            "lab", "openpai", 3, 16, 1, 2, 2, 1, 0, 320, 2 << 41))
        self.assertEqual(self.cluster.name, "lab")
        self.assertEqual(dgx2().sums.form, "synthetic")
        with self.assertRaisesRegex(TypeError, "Cluster.load"):
            openpai.Cluster()

    def test_nodes(self):
        nodes = self.cluster.nodes
        self.assertEqual([n.name for n in nodes], ["dgx1", "dgx2", "c1"])
        self.assertEqual(nodes[-1], nodes["c1"])
        self.assertEqual([n.name for n in nodes[1:]], ["dgx2", "c1"])
        second = nodes["dgx2"]
        self.assertEqual((second.number, second.rack, second.sku, second.pin,
                          second.sick), (1, "r1", "dgx", None, None))
        self.assertEqual(second.labels, {"zone": "a", 'k"ey': "<b>"})
        self.assertEqual(second.gpus[7],
                         openpai.NodeGpu("h100", 7, None, None))
        self.assertEqual((nodes[2].sick, nodes[2].address, nodes[2].rack,
                          nodes[2].gpus), ("fan broken", "10.0.0.7", None, ()))
        self.assertIn("c1", nodes)
        self.assertIn(second, nodes)
        self.assertNotIn("c2", nodes)
        self.assertNotIn(3, nodes)
        self.assertIsNone(nodes.get("c2"))
        self.assertEqual(nodes.index(second), 1)
        self.assertEqual(list(reversed(nodes))[0].name, "c1")

    def test_no_node(self):
        nodes = self.cluster.nodes
        for wrong in (3, -4):
            with self.assertRaisesRegex(IndexError, "3 nodes"):
                nodes[wrong]
        with self.assertRaisesRegex(KeyError, "no node 'c2'") as raised:
            nodes["c2"]
        self.assertIsInstance(raised.exception, openpai.NotFoundError)
        for wrong in (None, 1.0, b"c1"):
            with self.assertRaises(TypeError):
                nodes[wrong]

    def test_count(self):
        for count in (*range(1, 10), 1000, 1023, 1024, 1025):
            cluster = openpai.Cluster.synthetic("nodes:%d" % count)
            self.assertEqual(len(cluster.nodes), count)
            self.assertEqual(cluster.nodes[-1].number, count - 1)

    def test_nodes_outlive_the_cluster(self):
        nodes = dgx2().nodes
        self.assertEqual(nodes[1].name, "node0002")

    def test_skus_and_shares(self):
        dgx, cpu = self.cluster.skus
        self.assertEqual((dgx.name, dgx.nodes, dgx.gpus, dgx.gpu, dgx.cpus,
                          dgx.memory, dgx.used_cpus, dgx.used_memory),
                         ("dgx", 2, 8, "h100", 128, 2 << 40, 4, 32 << 30))
        self.assertEqual(dgx.near, (("nvlink", 8), ("switch", 2)))
        self.assertEqual((cpu.gpus, cpu.gpu, cpu.memory), (0, None, None))
        a, b = self.cluster.virtual_clusters
        self.assertEqual((a.name, b.name), ("a", "b"))
        self.assertEqual(b.shares, (openpai.Share(1, "dgx-rack.dgx"),))

    def test_sick(self):
        cluster = dgx2()
        cluster.set_sick("node0001", "fan", gpu=3)
        cluster.set_sick(1, "dark")
        self.assertEqual(cluster.nodes[0].gpus[3].sick, "fan")
        self.assertEqual([g.sick for g in cluster.nodes[1].gpus], ["dark"] * 4)
        self.assertEqual(cluster.sums.sick_gpus, 5)
        cluster.set_sick(cluster.nodes[1], None)
        cluster.set_sick(cluster.nodes[0], None, 3)
        self.assertEqual(cluster.sums.sick_gpus, 0)
        for error, arguments in (
                (openpai.NotFoundError, ("x", "y")),
                (openpai.NotFoundError, (2, "y")),
                (openpai.NotFoundError, (0, "y", 4)),
                (IndexError, (0, "y", -1)), (OverflowError, (-1, "y")),
                (TypeError, (None, "y")), (TypeError, (0, 3)),
                (TypeError, (0, "y", "3"))):
            with self.assertRaises(error):
                cluster.set_sick(*arguments)
        self.assertEqual(cluster.sums.sick_gpus, 0)

    def test_written(self):
        again = openpai.Cluster.parse(self.cluster.to_yaml(), form="openpai")
        self.assertEqual(again.to_json(), self.cluster.to_json())
        self.assertEqual(list(again.nodes), list(self.cluster.nodes))
        self.assertEqual(json.loads(self.cluster.to_json())["name"], "lab")
        hived = openpai.Cluster.parse(dgx2().to_hived())
        self.assertEqual((hived.sums.form, hived.sums.gpus), ("hived", 8))
        self.assertIn("physicalCluster", json.loads(dgx2().to_hived("json")))
        with self.assertRaisesRegex(openpai.InvalidError, "yaml or json"):
            dgx2().to_hived("toml")
        with self.assertRaises(openpai.UnsupportedError):
            openpai.Cluster.synthetic("nodes:1").to_hived()

    def test_files(self):
        path = ROOT / "cluster.yaml"
        path.write_text(FILE)
        self.assertEqual(openpai.Cluster.load(path).to_yaml(),
                         self.cluster.to_yaml())
        self.assertTrue(openpai.Cluster.check(path))
        with self.assertRaises(openpai.NoSuchFileError):
            openpai.Cluster.load("missing.yaml")
        with self.assertRaises(FileNotFoundError):
            openpai.Cluster.check(pathlib.Path("missing.yaml"))
        path.write_text("nodes: 3\n")
        with self.assertRaises(openpai.InvalidError) as raised:
            openpai.Cluster.load(path)
        self.assertEqual(raised.exception.filename, str(path))
        self.assertFalse(openpai.Cluster.check(path))

    def test_all_that_is_wrong(self):
        bad = FILE.replace("sku: cpu", "sku: gpu") + "rubbish: 1\n"
        report = openpai.Cluster.check(bad)
        self.assertFalse(report)
        self.assertEqual(report.version, None)
        self.assertEqual([d.code for d in report],
                         ["unknown-sku", "unknown-key"])
        with self.assertRaises(openpai.InvalidError) as raised:
            openpai.Cluster.parse(bad)
        self.assertEqual(raised.exception.report, report)
        self.assertEqual(raised.exception.line, report[0].line)
        with self.assertRaisesRegex(openpai.InvalidError, "unknown format of clusters 'x'"):
            openpai.Cluster.parse(FILE, form="x")
        with self.assertRaises(openpai.InvalidError):
            openpai.Cluster.parse(FILE, form="slurm")
        for wrong in (None, 3):
            with self.assertRaises(TypeError):
                openpai.Cluster.parse(wrong)
        with self.assertRaises(TypeError):
            openpai.Cluster.parse(FILE, form=3)
        with self.assertRaises(openpai.InvalidError) as raised:
            openpai.Cluster.synthetic("nodes:4 gpus:8")
        self.assertEqual(raised.exception.column, 9)

    def test_of_machines(self):
        box = openpai.Topology.load(XML)
        cluster = openpai.Cluster.from_machines(
            [(None, "r1", box), openpai.Machine("b\u00e4r", None, box)])
        self.assertEqual([(n.name, n.rack, len(n.gpus))
                          for n in cluster.nodes],
                         [("box", "r1", 2), ("b\u00e4r", None, 2)])
        self.assertEqual(cluster.sums.form, "machines")
        for error, machines in (
                (openpai.InvalidError, []),
                (openpai.InvalidError, [("a", None, box), ("a", None, box)]),
                (TypeError, [("a", None, None)]),
                (TypeError, [("a", None, cluster)]),
                (TypeError, [("a", 3, box)]), (TypeError, None)):
            with self.assertRaises(error):
                openpai.Cluster.from_machines(machines)
        with self.assertRaises(ValueError):
            openpai.Cluster.from_machines([("a", None)])

    def test_pictures(self):
        cluster = dgx2()
        self.assertEqual(str(cluster), cluster.text().rstrip("\n"))
        self.assertIn("2 nodes, 8 GPUs", str(cluster))
        marked = cluster.text({("node0002", 1): "alice",
                               ("node0001", 0): ("sick", "ECC"),
                               ("node0001", 2): None})
        self.assertIn("1 free, 1 used, 1 sick", marked)
        self.assertIn("alice 1", marked)
        self.assertIn("GPU 0: ECC", marked)
        # by number, over all nodes: the same places
        self.assertEqual(marked, cluster.text(
            {5: "alice", 0: ("sick", "ECC"), 2: ("free", "")}))
        self.assertEqual(cluster.text(["a"] * 8).count("a 4"), 2)
        self.assertNotIn("\033", marked)
        self.assertIn("\033", cluster.text(["a"], colour=True))
        self.assertTrue(cluster.svg().startswith("<svg"))
        self.assertNotEqual(cluster.svg(["a"]), cluster._repr_svg_())
        self.assertEqual(repr(cluster),
                         "<openpai.Cluster '': 2 nodes, 8 GPUs, 0 sick>")
        for error, marks in (
                (openpai.NotFoundError, {("x", 0): "a"}),
                (openpai.NotFoundError, {("node0001", 4): "a"}),
                (openpai.NotFoundError, ["a"] * 9),
                (openpai.InvalidError, {0: ("x", "")}),
                (TypeError, {(0, 0): "a"}), (TypeError, {("x",): "a"})):
            with self.assertRaises(error):
                cluster.svg(marks)
