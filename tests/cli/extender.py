"""HiveD's web server, beside a Kubernetes API server that is played, and asked as
Kubernetes' scheduler asks."""
import http.client
import json
import re
import signal
import subprocess
import time

import program
from kubernetes import Kube, node

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
