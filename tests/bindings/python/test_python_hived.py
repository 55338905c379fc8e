"""What the Python module promises of HiveD's extender.

Usage: test_python_hived.py ROOT [unittest's arguments]
"""
import gc
import json
import threading
import unittest

import openpai
from python_jobs import ROOT, main

CONFIG = """\
physicalCluster:
  cellTypes:
    NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}
  physicalCells: [{cellType: NODE, cellAddress: n0}, {cellType: NODE,
                   cellAddress: n1}]
virtualClusters:
  a: {virtualCells: [{cellType: NODE, cellNumber: 2}]}
waitingPodSchedulingBlockMilliSec: 20
"""
PREFIX = "hivedscheduler.microsoft.com/"


def nodes(*names):
    return {"kind": "NodeList", "items": [
        {"kind": "Node", "metadata": {"name": name},
         "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        for name in names]}


def pod(name, gpus, **spec):
    spec = {"virtualCluster": "a", "leafCellNumber": gpus, **spec}
    return {"kind": "Pod", "metadata": {
        "name": name, "namespace": "test", "uid": name + "-uid",
        "annotations": {PREFIX + "pod-scheduling-spec": json.dumps(spec)}},
        "spec": {"containers": [{"resources": {"limits": {
            PREFIX + "pod-scheduling-enable": 1}}}]}}


def begun():
    hived = openpai.HiveD.parse(CONFIG)
    hived.tell(nodes("n0", "n1"))
    return hived


def ask(hived, one, names=("n0", "n1")):
    hived.tell(one)
    return hived.filter({"Pod": one, "NodeNames": list(names)})


class Extenders(unittest.TestCase):
    def test_pod(self):
        hived = begun()
        answer = ask(hived, pod("p", 2))
        self.assertEqual((answer.status, answer.content_type),
                         (200, "application/json"))
        self.assertEqual(answer.json()["NodeNames"], ["n0"])
        self.assertIsNone(answer.binding)
        answer = hived.bind({"PodName": "p", "PodNamespace": "test",
                             "PodUID": "p-uid", "Node": "n0"})
        self.assertEqual(answer.json(), {"Error": ""})
        self.assertTrue(answer.binding.first)
        self.assertEqual((answer.binding.uid, answer.binding.path),
                         ("p-uid", "/api/v1/namespaces/test/pods/p/binding"))
        notes = json.loads(answer.binding.body)["metadata"]["annotations"]
        self.assertEqual(notes[PREFIX + "pod-leaf-cell-isolation"], "0,1")
        answer = hived.unbound("p-uid", "no API server")
        self.assertIn("no API server", answer.json()["Error"])

    def test_wait_and_preempt(self):
        hived = begun()
        for name in ("low", "low2"):
            ask(hived, pod(name, 2, priority=-1))
        high = pod("high", 2, priority=1)
        answer = ask(hived, high)
        self.assertIn("low", str(answer.json()["FailedNodes"]))
        answer = hived.preempt({"Pod": high,
                                "NodeNameToMetaVictims": {"n0": {}, "n1": {}}})
        self.assertEqual(len(answer.json()["NodeNameToMetaVictims"]), 1)
        answer = ask(hived, pod("more", 2, priority=-1))
        self.assertEqual(answer.hold_ms, 20)

    def test_inspect(self):
        hived = begun()
        ask(hived, pod("p", 1))
        cells = hived.inspect()["physicalCluster"]
        self.assertEqual([cell["cellAddress"] for cell in cells],
                         ["n0", "n1"])
        self.assertEqual(hived.inspect("affinitygroups/test/p")["metadata"],
                         {"name": "test/p"})
        with self.assertRaises(openpai.NotFoundError) as raised:
            hived.inspect("affinitygroups/none")
        self.assertIn("none", str(raised.exception))
        with self.assertRaises(openpai.NotFoundError):
            hived.inspect("nothing")

    def test_requests(self):
        """Whatever is asked, there is an answer."""
        hived = begun()
        self.assertEqual(hived.request("GET", "/nothing").status, 404)
        answer = hived.request("GET", "/v1/inspect/affinitygroups")
        self.assertEqual(answer.location, "/v1/inspect/affinitygroups/")
        self.assertIn("EOF", hived.filter("").json()["Error"])
        self.assertIn("EOF", hived.filter(b"{").json()["Error"])
        with self.assertRaises(ValueError):
            hived.request("GET\0", "/")
        with self.assertRaises(TypeError):
            hived.filter(7)
        with self.assertRaises(TypeError):
            openpai.HiveD()

    def test_wrong(self):
        hived = begun()
        with self.assertRaises(openpai.InvalidError):
            hived.tell({"kind": "Service"})
        with self.assertRaises(openpai.InvalidError) as raised:
            hived.tell("{")
        self.assertEqual(raised.exception.line, 1)
        with self.assertRaises(openpai.InvalidError) as raised:
            openpai.HiveD.parse("physicalCluster: 1")
        self.assertFalse(raised.exception.report)
        with self.assertRaises(openpai.InvalidError):
            openpai.HiveD.parse(CONFIG.replace("Number: 2}]}", "Number: 3}]}"))
        with self.assertRaises(openpai.NoSuchFileError):
            openpai.HiveD.load(ROOT / "none.yaml")
        path = ROOT / "hived.yaml"
        path.write_text(CONFIG)
        self.assertEqual(len(openpai.HiveD.load(path).inspect()
                             ["virtualClusters"]["a"]), 2)

    def test_other_clusters(self):
        cluster = openpai.Cluster.synthetic("nodes:2 gpu:4:h100")
        hived = openpai.HiveD.parse(cluster.to_hived())
        self.assertEqual(len(hived.inspect()["physicalCluster"]), 2)

    def test_threads(self):
        hived, seen = begun(), []
        one = pod("p", 1)

        def work():
            for _ in range(200):
                try:
                    seen.append(ask(hived, one).status)
                except openpai.BusyError:
                    seen.append(0)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(set(seen) - {0}, {200})
        del hived
        gc.collect()


main()
