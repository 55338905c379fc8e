"""openpai serve --extender, by its routes, bindings, watches and settings."""
import http.client
import json
import ssl
import time

from extender import (CONFIG, Extender, ExtenderTest, make_certificates,
                      spec)
from kubernetes import node, pod


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
        for words, what in (
                (["--extender", self.config, "--root", "/x"],
                 "exclude each other: --extender --root"),
                (["--extender", self.config, "--prefix", "/x"],
                 "exclude each other: --extender --prefix"),
                (["--kube-url", self.kube.url],
                 "--kube-url requires --extender")):
            done = self.run_cli("serve", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(what, done.stderr)

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
        self.change(e, CONFIG + "# more\n", "configuration .*is applied|is the same")
        self.change(e, CONFIG + "a: [", "new configuration is invalid: the old one stays")
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
