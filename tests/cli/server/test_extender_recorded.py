"""openpai serve --extender, and what HiveD decided on a recorded workload."""
import copy
import json
import os
import pathlib

from extender import ExtenderTest, spec
from kubernetes import node, pod

SHARED = pathlib.Path(os.environ.get(
    "OPENPAI_SHARED", pathlib.Path(__file__).resolve().parents[4] / "shared"),
    "data/hived")


class Recovery(ExtenderTest):
    """HiveD's own decisions, of its recorded workload, and restarts."""

    def setUp(self):
        super().setUp()
        if not SHARED.is_dir():
            self.skipTest("recorded workloads are not here")
        self.kube.close()
        self.kube = self.play()
        self.config = str(SHARED / "bench/cluster-16.yaml")
        self.names = ["n%04d" % i for i in range(16)]
        for name in self.names:
            self.kube.put(node(name))
        self.gangs = {}
        self.steps = self.lines("workload")
        self.want = {w["g"]: w for w in self.lines("decisions")}

    def lines(self, what):
        text = (SHARED / "bench" / (what + "-mixed-16.jsonl")).read_text()
        return [json.loads(line) for line in text.splitlines()]

    def take(self, gang):
        for one in self.gangs.pop(gang, ()):
            self.kube.delete(one)

    def preempt(self, e, one):
        """Until nobody has to go any more."""
        while True:
            victims = e.preempt(one, self.names)["NodeNameToMetaVictims"]
            if not victims:
                return
            uids = {v["UID"] for pods in victims.values()
                    for v in pods["Pods"]}
            for gang in sorted(g for g, pods in self.gangs.items() if any(
                    p["metadata"]["uid"] in uids for p in pods)):
                self.take(gang)
            # What is told before is known when this one is.
            marker = pod("marker", spec("marker", vc="vc0", gpus=1))
            self.kube.put(marker)
            e.bind(marker, "n0")
            self.kube.delete(marker)

    def place(self, e, one):
        """"node:device,device", or None: it waits; and whether others went."""
        preempted = False
        for _ in range(5):
            answer = e.filter(one, self.names)
            self.assertEqual(answer["Error"], "")
            if answer["NodeNames"]:
                self.assertEqual(e.bind(one, answer["NodeNames"][0]),
                                 {"Error": ""})
                bound = self.kube.pod(one["metadata"]["name"])
                return "%s:%s" % (bound["spec"]["nodeName"],
                                  bound["metadata"]["annotations"][
                    "hivedscheduler.microsoft.com/pod-leaf-cell-isolation"]
                ), preempted
            if "hivedscheduler" in answer["FailedNodes"]:
                return None, preempted
            preempted = True
            self.preempt(e, one)
        return None, preempted

    def submit(self, e, step):
        wish = spec(step["g"], step["pods"], step["gpus"], step["vc"],
                    priority=step.get("prio", 0), leafCellType="GPU",
                    lazyPreemptionEnable=step.get("lazy", False))
        places, preempted = [], False
        self.gangs[step["g"]] = []
        for i in range(step["pods"]):
            one = pod("%s-%d" % (step["g"], i), wish)
            self.kube.put(one)
            place, others = self.place(e, one)
            preempted = preempted or others
            if place is None:
                self.kube.delete(one)
                return {"g": step["g"], "p": places, "r": "wait"}
            self.gangs[step["g"]].append(one)
            places.append(place)
        return {"g": step["g"], "p": places,
                "r": "preempt+bind" if preempted else "bind"}

    def play_steps(self, e, first, last):
        came = []
        for step in self.steps[first:last]:
            if step["op"] == "submit":
                came.append(self.submit(e, step))
            elif step["op"] == "delete":
                self.take(step["g"])
        self.kube.devices()
        return came

    def groups(self, e):
        return sorted(e.get("/v1/inspect/affinitygroups/")["items"],
                      key=lambda g: g["metadata"]["name"])

    def test_recorded_decisions(self):
        e = self.begin(config=self.config)
        came = self.play_steps(e, 0, 400)
        self.assertEqual(came, [self.want[c["g"]] for c in came])
        self.assertGreater(sum(c["r"] == "preempt+bind" for c in came), 5)

    def test_killed_and_begun_again(self):
        e = self.begin(config=self.config)
        self.play_steps(e, 0, 150)
        before = self.groups(e)
        objects, gangs = copy.deepcopy((self.kube.objects, self.gangs))
        e.kill()
        e = self.begin(config=self.config)
        self.assertEqual([g["status"]["physicalPlacement"]
                          for g in self.groups(e)],
                         [g["status"]["physicalPlacement"] for g in before])
        came = self.play_steps(e, 150, 300)
        self.assertGreater(len(came), 50)
        # Whoever begins with the same pods decides the same.
        e.end()
        self.kube = self.play()
        self.kube.objects, self.gangs = objects, gangs
        e = self.begin(config=self.config)
        self.assertEqual(self.play_steps(e, 150, 300), came)
