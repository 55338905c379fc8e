"""openpai serve --extender: HiveD's web server, beside a Kubernetes API server
that is played, and asked as Kubernetes' scheduler asks."""
import copy
import http.client
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import time

import program
from kubernetes import Kube, node, pod

SHARED = pathlib.Path(os.environ.get(
    "OPENPAI_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared"),
    "data/hived")

CONFIG = """\
webServerAddress: "127.0.0.1:0"
physicalCluster:
  cellTypes:
    NODE: {childCellType: GPU, childCellNumber: 4, isNodeLevel: true}
  physicalCells:
  - {cellType: NODE, cellAddress: n0}
  - {cellType: NODE, cellAddress: n1}
virtualClusters:
  vc: {virtualCells: [{cellType: NODE, cellNumber: 2}]}
"""
UNKNOWN = "has not been informed"


def spec(group, pods=1, gpus=4, vc="vc", **more):
    return {"virtualCluster": vc, "leafCellNumber": gpus, **more,
            "affinityGroup": {"name": group, "members":
                              [{"podNumber": pods, "leafCellNumber": gpus}]}}


class Extender:
    """A running one, and how Kubernetes' scheduler asks it."""

    def __init__(self, test, *args, **kwargs):
        self.process = test.start("serve", "--extender", *args,
                                  stderr=subprocess.STDOUT, **kwargs)
        self.said = []
        self.hear(r"serves at (https?)://[^:]*:(\d+)")
        self.port = int(self.found[2])
        self.line = http.client.HTTPConnection("127.0.0.1", self.port,
                                               timeout=30)
        test.addCleanup(self.line.close)

    def hear(self, pattern):
        """Until it says that."""
        while True:
            line = self.process.stdout.readline()
            self.said.append(line)
            self.found = re.search(pattern, line)
            if self.found:
                return self
            if not line:
                raise AssertionError("%s: not in %s" % (pattern, self.said))

    def ask(self, method, path, value=None):
        body = value if value is None or isinstance(value, str) \
            else json.dumps(value)
        self.line.request(method, path, body)
        answer = self.line.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None, answer

    def get(self, path):
        status, value, _ = self.ask("GET", path)
        if status != 200:
            raise AssertionError((path, status, value))
        return value

    def post(self, verb, value):
        """As the scheduler does until the pod is known to it."""
        end = time.monotonic() + 30
        while True:
            status, answer, _ = self.ask("POST", "/v1/extender/" + verb, value)
            if UNKNOWN not in json.dumps(answer):
                return status, answer
            if time.monotonic() > end:
                raise AssertionError(answer)

    def filter(self, one, names):
        return self.post("filter", {"Pod": one, "NodeNames": names})[1]

    def preempt(self, one, names):
        return self.post("preempt", {
            "Pod": one, "NodeNameToMetaVictims":
            {name: {"Pods": [], "NumPDBViolations": 0} for name in names}})[1]

    def bind(self, one, where):
        meta = one["metadata"]
        return self.post("bind", {"PodName": meta["name"], "PodNamespace":
                                  meta["namespace"], "PodUID": meta["uid"],
                                  "Node": where})[1]

    def until(self, path, what):
        end = time.monotonic() + 30
        while not what(self.get(path)):
            if time.monotonic() > end:
                raise AssertionError(self.get(path))

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Asked to, it ends well; what it said last."""
        self.process.send_signal(signal.SIGTERM)
        rest = self.process.stdout.read()
        return self.process.wait(), "".join(self.said) + rest


TOKEN = "a-token-that-nobody-shall-see"


def make_certificates(folder):
    """A CA, and of it a server's and a client's; and a stranger."""
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt",
           "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    for name in ("ca", "stranger"):
        openssl(*new, "-subj", "/CN=" + name, "-keyout", name + ".key",
                "-out", name + ".pem")
    for name in ("server", "client"):
        openssl(*new, "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-addext",
                "basicConstraints=critical,CA:FALSE", "-CA", "ca.pem",
                "-CAkey", "ca.key", "-keyout", name + ".key", "-out",
                name + ".pem")


class ExtenderTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        for name in ("KUBECONFIG", "KUBE_APISERVER_ADDRESS", "HTTP_PROXY",
                     "KUBERNETES_SERVICE_HOST", "http_proxy", "CONFIG"):
            self.env.pop(name, None)
        self.env["HOME"] = str(self.folder)
        self.kube = self.play()
        self.config = self.write("hivedscheduler.yaml", CONFIG)
        for name in ("n0", "n1"):
            self.kube.put(node(name))

    def play(self, **kwargs):
        kube = Kube(**kwargs)
        self.addCleanup(kube.close)
        return kube

    def begin(self, *args, config=None, ready=True):
        e = Extender(self, config or self.config, "--listen", "127.0.0.1:0",
                     "--kube-url", self.kube.url, *args)
        return e.hear("all nodes and pods are known") if ready else e

    def refused(self, *args, config=None, says=()):
        done = self.run_cli("serve", "--extender", config or self.config,
                            "--listen", "127.0.0.1:0", *args)
        self.assertEqual(done.returncode, 1, done.stderr)
        for words in says:
            self.assertIn(words, done.stderr)
        self.assertNotIn(TOKEN, done.stderr)


class Life(ExtenderTest):
    def test_a_pod_from_its_beginning_to_its_end(self):
        e = self.begin()
        a = pod("a", spec("g"))
        self.kube.put(a)
        answer = e.filter(a, ["n0", "n1"])
        self.assertEqual(answer["NodeNames"], ["n0"])
        self.assertEqual(e.bind(a, "n1")["Error"].count("mismatch"), 1)
        self.assertEqual(self.kube.writes, [])
        self.assertEqual(e.bind(a, "n0"), {"Error": ""})
        path, body = self.kube.writes[0]
        self.assertEqual(path, "/api/v1/namespaces/default/pods/a/binding")
        self.assertEqual(body["target"]["name"], "n0")
        self.assertEqual(self.kube.devices(),
                         {("n0", str(i)): "a" for i in range(4)})
        groups = e.get("/v1/inspect/affinitygroups/")["items"]
        self.assertEqual([g["status"]["allocatedPods"] for g in groups],
                         [["uid-a"]])
        self.kube.delete(a)
        e.until("/v1/inspect/affinitygroups/", lambda v: not v["items"])
        code, said = e.end()
        self.assertEqual(code, 0, said)
        self.assertIn("has ended", said)

    def test_options_of_the_other_kind(self):
        for words in (["--extender", self.config, "--root", "/x"],
                      ["--extender", self.config, "--prefix", "/x"],
                      ["--kube-url", self.kube.url]):
            done = self.run_cli("serve", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--extender: " + words[-2], done.stderr)

    def test_tls(self):
        make_certificates(self.folder)
        e = Extender(self, self.config, "--kube-url", self.kube.url,
                     "--tls-cert", self.folder / "server.pem",
                     "--tls-key", self.folder / "server.key")
        self.assertEqual(e.found[1], "https")
        e.line = http.client.HTTPSConnection(
            "localhost", e.port, timeout=30, context=ssl.create_default_context(
                cafile=self.folder / "ca.pem"))
        self.addCleanup(e.line.close)
        e.hear("all nodes and pods are known")
        self.assertIn("paths", e.get("/"))

    def test_where_the_configuration_says(self):
        e = Extender(self, self.config, "--kube-url", self.kube.url)
        e.hear("all nodes and pods are known")
        self.assertIn("paths", e.get("/"))

    def test_only_its_routes(self):
        e = self.begin()
        status, value, answer = e.ask("GET", "/")
        self.assertEqual((status, answer.getheader("Content-Type")),
                         (200, "application/json"))
        self.assertIn("/v1/extender/filter", value["paths"])
        status, value, _ = e.ask("GET", "/api/v2/jobs")
        self.assertEqual((status, value),
                         (404, "hivedscheduler: User Error: Path not found: "
                               "/api/v2/jobs"))
        status, _, answer = e.ask("POST", "/v1/inspect/affinitygroups", "{}")
        self.assertEqual((status, answer.getheader("Location")),
                         (301, "/v1/inspect/affinitygroups/"))
        status, value, _ = e.ask("PUT", "/v1/inspect/clusterstatus", "x")
        self.assertEqual((status, value), (
            400, "hivedscheduler: User Error: NotImplemented: PUT: "
                 "/v1/inspect/clusterstatus"))
        status, value, _ = e.ask("POST", "/v1/extender/preempt", "{")
        self.assertEqual(status, 400)
        self.assertIn("hivedscheduler: User Error", value)
        status, value, _ = e.ask("GET", "/%zz")
        self.assertEqual(status, 400)
        self.assertIsInstance(value, str)

    def test_healthz(self):
        e = self.begin()
        e.line.request("GET", "/healthz")
        answer = e.line.getresponse()
        self.assertEqual((answer.status, answer.read()), (200, b"ok\n"))

    def test_before_all_is_known(self):
        self.kube.broken = True
        e = self.begin(ready=False)
        status, value, _ = e.ask("GET", "/v1/inspect/clusterstatus")
        self.assertEqual(status, 503)
        self.assertIn("hivedscheduler: Platform Error", value)
        e.line.request("GET", "/healthz")
        answer = e.line.getresponse()
        self.assertEqual((answer.status, answer.read()[:3]), (503, b"not"))
        e.hear("etcd is away")
        self.kube.broken = False
        e.hear("all nodes and pods are known")
        e.get("/v1/inspect/clusterstatus")

    def test_a_large_request(self):
        e = self.begin()
        a = pod("a", spec("g"))
        self.kube.put(a)
        names = ["node-with-a-long-name-%06d" % i for i in range(40000)]
        answer = e.filter(a, names + ["n0", "n1"])
        self.assertEqual(answer["NodeNames"], ["n0"])
        e.line.putrequest("POST", "/v1/extender/filter")
        e.line.putheader("Content-Length", str(1 << 40))
        e.line.endheaders()
        answer = e.line.getresponse()
        self.assertEqual(answer.status, 413)

    def test_waiting_holds_the_next_one_up(self):
        self.config = self.write(
            "slow.yaml", CONFIG + "waitingPodSchedulingBlockMilliSec: 300\n")
        e = self.begin()
        for i in range(3):
            one = pod("p%d" % i, spec("g%d" % i))
            self.kube.put(one)
            begun = time.monotonic()
            answer = e.filter(one, ["n0", "n1"])
        self.assertIn("Pod is waiting",
                      answer["FailedNodes"]["hivedscheduler"])
        self.assertGreaterEqual(time.monotonic() - begun, 0.25)


class Bindings(ExtenderTest):
    def test_killed_before_it_was_bound(self):
        e = self.begin()
        a, b = pod("a", spec("g")), pod("b", spec("h"))
        self.kube.put(a)
        self.kube.put(b)
        self.assertEqual(e.filter(a, ["n0", "n1"])["NodeNames"], ["n0"])
        self.assertEqual(e.filter(b, ["n0", "n1"])["NodeNames"], ["n1"])
        self.assertEqual(e.bind(b, "n1"), {"Error": ""})
        e.kill()
        e = self.begin()
        self.assertIn("cannot be bound without a scheduling placement",
                      e.bind(a, "n0")["Error"])
        self.assertEqual(e.filter(a, ["n0", "n1"])["NodeNames"], ["n0"])
        self.assertEqual(e.bind(a, "n0"), {"Error": ""})
        self.assertEqual(len(self.kube.devices()), 8)

    def test_a_refused_one_is_told(self):
        e = self.begin()
        a = pod("a", spec("g"))
        self.kube.put(a)
        e.filter(a, ["n0", "n1"])
        self.kube.refusal = (403, "may not bind pods")
        self.assertIn("may not bind pods", e.bind(a, "n0")["Error"])
        self.kube.refusal = None
        self.assertEqual(e.bind(a, "n0")["Error"], "")

    def test_by_force(self):
        """Asked again and again, it binds the pod itself."""
        e = self.begin()
        a = pod("a", spec("g"))
        self.kube.put(a)
        for _ in range(4):
            self.assertEqual(e.filter(a, ["n0", "n1"])["NodeNames"], ["n0"])
        self.kube.until(lambda k: k.objects["pods"]["default", "a"]["spec"]
                        .get("nodeName") == "n0")

    def test_a_server_that_is_away(self):
        e = self.begin()
        a = pod("a", spec("g"))
        self.kube.put(a)
        e.filter(a, ["n0", "n1"])
        self.kube.token = "another"
        self.assertIn("Unauthorized", e.bind(a, "n0")["Error"])


class Watches(ExtenderTest):
    def known(self, e, name):
        """That the watch goes on: a new pod is heard of."""
        one = pod(name, spec("g-" + name, gpus=1))
        self.kube.put(one)
        self.assertIn(e.filter(one, ["n0", "n1"])["NodeNames"],
                      (["n0"], ["n1"]))
        self.kube.delete(one)

    def lists(self, kind):
        return sum(path.startswith("/api/v1/" + kind) and "watch" not in path
                   for path in self.kube.asked)

    def test_cut(self):
        e = self.begin()
        for how in ("end", "cut"):
            for kind in ("pods", "nodes"):
                self.kube.until(lambda k, of=kind: k.watching[of] > 0)
                before = self.kube.watching[kind]
                self.kube.end_watches(kind, how)
                self.kube.until(
                    lambda k, of=kind, n=before: k.watching[of] > n)
            self.known(e, how)
        self.assertEqual((self.lists("pods"), self.lists("nodes")), (1, 1))

    def test_expired(self):
        e = self.begin()
        for by_status in (True, False):
            self.kube.until(lambda k: k.watching["pods"] > 0)
            before = self.lists("pods")
            a = pod("a%d" % by_status, spec("g%d" % by_status))
            self.kube.put(a)
            self.kube.expire_by_status = by_status
            self.assertEqual(len(e.filter(a, ["n0", "n1"])["NodeNames"]), 1)
            with self.kube.changed:  # gone while nobody watches
                del self.kube.objects["pods"]["default",
                                              a["metadata"]["name"]]
            self.kube.expire()
            self.kube.end_watches("pods")
            self.kube.until(lambda k: self.lists("pods") > before)
            e.until("/v1/inspect/affinitygroups/", lambda v: not v["items"])

    def test_garbage(self):
        e = self.begin()
        for i, line in enumerate((b"garbage\n", b"{}\n", b"[1]\n",
                                  b'{"type":"ADDED"}\n',
                                  b'{"type":"MODIFIED","object":{"kind":'
                                  b'"Pod","metadata":{"resourceVersion":'
                                  b'"7"}}}\n')):
            self.kube.until(lambda k: k.watching["pods"] > 0)
            before = self.lists("pods")
            self.kube.say("pods", line)
            self.kube.until(lambda k: self.lists("pods") > before)
            with self.kube.changed:
                self.kube.events.clear()
            self.known(e, "after%d" % i)

    def test_bookmarks_and_blank_lines(self):
        e = self.begin()
        self.kube.until(lambda k: k.watching["pods"] > 0)
        self.kube.say("pods", b"\n")
        self.kube.say("pods", json.dumps(
            {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {
                "resourceVersion": "5000"}}}).encode() + b"\n")
        self.kube.version = 5000
        before = self.kube.watching["pods"]
        self.kube.end_watches("pods")
        self.kube.until(lambda k: k.watching["pods"] > before)
        self.assertIn("resourceVersion=5000", self.kube.asked[-1])
        self.known(e, "a")

    def test_a_large_line(self):
        e = self.begin()
        large = pod("large", spec("g"))
        large["metadata"]["annotations"]["x"] = "y" * (3 << 20)
        self.kube.put(large)
        self.assertEqual(e.filter(pod("large", spec("g")),
                                  ["n0", "n1"])["NodeNames"], ["n0"])

    def test_a_node_that_is_sick(self):
        e = self.begin()
        path = "/v1/inspect/clusterstatus/physicalcluster"

        def health(value):
            return [cell["cellHealthiness"] for cell in value]
        self.kube.put(node("n0", False))
        e.until(path, lambda v: health(v) == ["Bad", "Healthy"])
        self.kube.delete(node("n1"))
        e.until(path, lambda v: health(v) == ["Bad", "Bad"])
        self.kube.put(node("n0"))
        e.until(path, lambda v: health(v) == ["Healthy", "Bad"])


class Configurations(ExtenderTest):
    def test_configurations(self):
        for text, words in (("a: [", "error: "),
                            (CONFIG.replace("cellNumber: 2}", "cellNumber: "
                                            "9}"), "error: ")):
            self.refused(config=self.write("wrong.yaml", text), says=[words])
        self.refused(config="/no/such", says=["/no/such"])

    def change(self, e, text, says):
        """The file is looked at when something is heard of."""
        self.write("hivedscheduler.yaml", text)
        self.kube.put(node("n0"))
        return e.hear(says)

    def test_a_changed_configuration(self):
        """What is wrong, or takes from a group that runs, is refused; all else
        counts at once, and requests are answered by it."""
        e = self.begin()
        self.change(e, CONFIG + "a: [", "old configuration stays: .*is wrong")
        one = pod("one", spec("default/one"))
        self.kube.put(one)
        where = e.filter(one, ["n0", "n1"])["NodeNames"][0]
        self.assertEqual(e.bind(one, where), {"Error": ""})
        other = {"n0": "n1", "n1": "n0"}[where]
        groups = "/v1/inspect/affinitygroups/"
        before = e.get(groups)["items"][0]["status"]["physicalPlacement"]
        self.change(
            e, CONFIG.replace("cellAddress: %s" % where, "cellAddress: n7"),
            "old configuration stays: .*default/one loses its cells")
        self.change(
            e, CONFIG.replace("cellNumber: 2", "cellNumber: 0"),
            "old configuration stays: .*default/one loses its guarantee")
        two = pod("two", spec("default/two"))
        self.kube.put(two)
        self.assertEqual(e.filter(two, ["n0", "n1"])["NodeNames"], [other])
        self.change(
            e, CONFIG.replace("cellAddress: %s" % other, "cellAddress: n2"),
            "the new configuration .* is applied")
        self.assertEqual(
            e.get(groups)["items"][0]["status"]["physicalPlacement"], before)
        self.kube.put(node("n2"))
        e.until("/v1/inspect/clusterstatus/physicalcluster", lambda cells: all(
            cell["cellHealthiness"] == "Healthy" for cell in cells))
        three = pod("three", spec("default/three"))
        self.kube.put(three)
        self.assertEqual(e.filter(three, ["n0", "n1", "n2"])["NodeNames"],
                         ["n2"])
        self.assertEqual(e.end()[0], 0)


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


if __name__ == "__main__":
    program.main()
