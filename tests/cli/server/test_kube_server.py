"""`serve --extender` and Kubernetes' API server: where it is, as whom it is
asked, its lists; and metrics."""

import base64
import json
import pathlib
import select
import socket
import socketserver
import tempfile
import threading

import program
from extender import (CONFIG, TOKEN, Extender, ExtenderTest,
                      make_certificates, spec)
from kubernetes import node, pod

V1 = "client.authentication.k8s.io/v1"


class Relay(socketserver.StreamRequestHandler):
    """A proxy, that only CONNECT is said to."""

    def handle(self):
        line = self.rfile.readline().decode()
        while self.rfile.readline().strip():
            pass
        self.server.asked.append(line.split()[:2])
        host, port = line.split()[1].rsplit(":", 1)
        with socket.create_connection((host, int(port))) as other:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            ends = {self.connection: other, other: self.connection}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    data = end.recv(65536)
                    if not data:
                        return
                    ends[end].sendall(data)


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class Secured(ExtenderTest):
    """Beside an API server with TLS that wants to know who asks."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.made = pathlib.Path(folder.name)
        make_certificates(cls.made)

    def secured(self, **kwargs):
        """An API server with TLS, that wants a token."""
        self.kube = self.play(**{"token": TOKEN, **kwargs}, certificate=(
            self.made / "server.pem", self.made / "server.key"))
        for name in ("n0", "n1"):
            self.kube.put(node(name))
        return self.kube

    def serve(self, *args, config=None):
        return Extender(self, config or self.config, "--listen",
                        "127.0.0.1:0", *args)

    def works(self, e):
        """It knows all, and binds; and nobody was told the token."""
        if not any("are known" in line for line in e.said):
            e.hear("all nodes and pods are known")
        a = pod("a", spec("g"))
        self.kube.put(a)
        where = e.filter(a, ["n0", "n1"])["NodeNames"]
        self.assertEqual(e.bind(a, where[0]), {"Error": ""})
        code, said = e.end()
        self.assertEqual(code, 0)
        self.assertNotIn(TOKEN, said)

    def kubeconfig(self, cluster=(), user=(), name="kube.yaml"):
        return self.write(name, json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "contexts": [{"name": "there", "context": {}},
                         {"name": "here",
                          "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": dict(
                {"server": self.kube.url}, **dict(cluster))}],
            "users": [{"name": "u", "user": dict(user)}]}))

    def data(self, name):
        return base64.b64encode((self.made / name).read_bytes()).decode()


class Credentials(Secured):
    """Where the API server is, and as whom to ask it."""

    def test_tls_and_a_token_that_changes(self):
        self.secured()
        token = self.write("token", TOKEN + "\n")
        e = self.serve("--kube-url", self.kube.url, "--kube-ca-file",
                       self.made / "ca.pem", "--kube-token-file", token)
        e.hear("all nodes and pods are known")
        self.kube.token = TOKEN + "2"
        self.write("token", TOKEN + "2")
        self.works(e)

    def test_an_unknown_ca(self):
        self.secured()
        e = self.serve("--kube-url", self.kube.url, "--kube-ca-file",
                       self.made / "stranger.pem")
        e.hear("certificate")
        self.assertEqual(e.ask("GET", "/")[0], 503)

    def test_a_wrong_token(self):
        self.secured()
        e = self.serve("--kube-url", self.kube.url, "--kube-ca-file",
                       self.made / "ca.pem", "--kube-token-file",
                       self.write("token", "wrong"))
        e.hear("401: Unauthorized")
        e.end()

    def test_kubeconfig(self):
        self.secured()
        path = self.kubeconfig(
            {"certificate-authority-data": self.data("ca.pem")},
            {"token": TOKEN})
        self.works(self.serve("--kube-config", path))

    def test_kubeconfig_of_the_configuration_with_relative_files(self):
        self.secured()
        (self.folder / "ca.pem").write_text(
            (self.made / "ca.pem").read_text())
        self.write("token", TOKEN)
        path = self.kubeconfig({"certificate-authority": "ca.pem",
                                "server": "https://nobody.invalid"},
                               {"tokenFile": "token"})
        config = self.write("c.yaml", CONFIG +
                            "kubeConfigFilePath: %s\n"
                            "kubeApiServerAddress: %s\n" %
                            (path, self.kube.url))
        self.works(self.serve(config=config))

    def test_kubeconfig_of_the_environment_and_certificates(self):
        self.secured(token=None, clients=self.made / "ca.pem")
        self.env["KUBECONFIG"] = self.kubeconfig(
            {"certificate-authority-data": self.data("ca.pem")},
            {"client-certificate-data": self.data("client.pem"),
             "client-key-data": self.data("client.key")})
        self.works(self.serve())

    def test_in_a_pod(self):
        self.secured()
        self.env["KUBERNETES_SERVICE_HOST"] = "localhost"
        self.env["KUBERNETES_SERVICE_PORT"] = str(self.kube.port)
        self.works(self.serve(
            "--kube-ca-file", self.made / "ca.pem",
            "--kube-token-file", self.write("token", TOKEN)))

    def test_a_token_without_tls_is_warned_of(self):
        e = self.serve("--kube-url", self.kube.url, "--kube-token-file",
                       self.write("token", TOKEN))
        self.works(e)
        self.assertIn("without TLS", "".join(e.said))

    def test_an_address_of_the_environment(self):
        self.env["KUBE_APISERVER_ADDRESS"] = "localhost:%d" % self.kube.port
        self.works(self.serve())

    def test_what_is_wrong(self):
        self.refused(says=["the address of the Kubernetes API server is not configured",
                           "help: set it with --kube-url"])
        self.refused("--kube-url", "ftp://a", says=["API server is invalid"])
        self.refused("--kube-url", "http://u:%s@a" % TOKEN,
                     says=["API server is invalid"])
        self.refused("--kube-url", "http://a", "--kube-ca-file", "/no",
                     says=["/no"])
        self.refused("--kube-config", "/no/such", says=["/no/such"])
        self.refused("--kube-config", self.write("k", "a: [" + TOKEN),
                     says=["k is not YAML"])
        self.refused("--kube-config", self.write("k", "{}"),
                     says=["no context that is current", "use-context"])
        for part, words in (
                ({"user": {"exec": {"command": "x"}}}, "exec"),
                ({"user": {"auth-provider": {"name": "x"}}}, "auth-provider"),
                ({"user": {"client-key-data": "!" + TOKEN}}, "base64"),
                ({"user": {"token": TOKEN + "\nX: y"}}, "must be one line"),
                ({"cluster": {"insecure-skip-tls-verify": True}},
                 "insecure-skip-tls-verify"),
                ({"cluster": {"proxy-url": "x"}}, "proxy-url"),
                ({"cluster": {"server": ""}}, "names no API server")):
            self.refused("--kube-config", self.kubeconfig(**part),
                         says=[words])


class Logins(Secured):
    """Programs and proxies."""

    def ca(self):
        return {"certificate-authority-data": self.data("ca.pem")}

    def program(self, script):
        path = self.write("login", "#!/bin/sh\n" + script)
        (self.folder / "login").chmod(0o700)
        return path

    def answer(self, **status):
        return "printf '%s' '" + json.dumps(
            {"kind": "ExecCredential", "apiVersion": V1,
             "status": status}) + "'\n"

    def exec_user(self, **more):
        return {"exec": {"apiVersion": V1, "command": "./login", **more}}

    def test_a_program(self):
        self.secured()
        self.program('test "$1 $A" = "get b" || exit 7\n' +
                     self.answer(token=TOKEN))
        path = self.kubeconfig(self.ca(), self.exec_user(
            args=["get"], env=[{"name": "A", "value": "b"}],
            interactiveMode="IfAvailable", provideClusterInfo=True))
        self.works(self.serve("--kube-config", path))

    def test_a_new_token(self):
        """When the API server refuses the one that was good."""
        self.secured()
        answer = self.folder / "answer"
        self.program(f"cat {answer}\n")

        def say(token):
            answer.write_text(json.dumps({
                "kind": "ExecCredential", "apiVersion": V1,
                "status": {"token": token}}))
        say(TOKEN)
        e = self.serve("--kube-config",
                       self.kubeconfig(self.ca(), self.exec_user()))
        e.hear("all nodes and pods are known")
        self.kube.until(lambda k: min(k.watching.values()) >= 1)
        say(TOKEN + "2")
        self.kube.token = TOKEN + "2"
        for kind in ("nodes", "pods"):
            self.kube.end_watches(kind, "cut")
        self.kube.until(lambda k: min(k.watching.values()) >= 2)
        code, said = e.end()
        self.assertEqual(code, 0)
        self.assertNotIn(TOKEN, said)

    def test_programs_that_fail(self):
        self.secured()
        self.program("echo 'who are you?' >&2; exit 4\n")
        e = self.serve("--kube-config",
                       self.kubeconfig(self.ca(), self.exec_user()))
        e.hear("login exited with code 4: who are you?")
        self.program(self.answer(clientCertificateData=TOKEN))
        e.hear("only tokens are supported")
        self.program(self.answer(token=TOKEN))
        e.hear("all nodes and pods are known")
        code, said = e.end()
        self.assertEqual(code, 0)
        self.assertNotIn(TOKEN, said)

    def test_a_program_that_hangs(self):
        """It ends with the extender."""
        self.secured()
        fifo = self.fifo()
        self.program(f"echo $$ > {fifo}\nexec sleep 1000\n")
        e = self.serve("--kube-config",
                       self.kubeconfig(self.ca(), self.exec_user()))
        pid = int(fifo.read_text())
        code, _ = e.end()
        self.assertEqual(code, 0)
        with self.assertRaises(OSError):
            open(f"/proc/{pid}/stat", encoding="ascii").close()

    def test_wrong_programs(self):
        self.secured()
        for user, words in (
                ({"exec": True}, "apiVersion is"),
                ({"exec": {"apiVersion": V1}}, "names no command"),
                ({"exec": {"command": "x"}}, "apiVersion is"),
                (self.exec_user(apiVersion=V1 + "alpha1"), "apiVersion is"),
                (self.exec_user(args="x"), "are lists"),
                (self.exec_user(args=[["x"]]), "args are texts"),
                (self.exec_user(env=["A=b"]), "names and values"),
                (self.exec_user(env=[{"name": "A=", "value": "b"}]),
                 "names and values"),
                (self.exec_user(interactiveMode="Always"), "a terminal"),
                ({"auth-provider": {"name": "gcp"}}, "none since 1.26")):
            with self.subTest(user):
                self.refused("--kube-config", self.kubeconfig(user=user),
                             says=[words])

    def test_a_proxy(self):
        self.secured()
        for name in ("NO_PROXY", "no_proxy"):
            self.env.pop(name, None)
        with Proxy(("127.0.0.1", 0), Relay) as proxy:
            proxy.asked = []
            thread = threading.Thread(target=proxy.serve_forever)
            thread.start()
            path = self.kubeconfig(
                {**self.ca(),
                 "proxy-url": "http://127.0.0.1:%d" % proxy.server_address[1]},
                {"token": TOKEN})
            try:
                self.works(self.serve("--kube-config", path))
            finally:
                proxy.shutdown()
                thread.join()
        self.assertEqual(proxy.asked[0],
                         ["CONNECT", "localhost:%d" % self.kube.port])

    def test_wrong_proxies(self):
        for url in ("localhost:3128", "ftp://x", "http://", "http://a\nb"):
            self.refused("--kube-config", self.kubeconfig(
                {"proxy-url": url}), says=["no address of a proxy"])


class Metrics(ExtenderTest):
    def metrics(self, e):
        e.line.request("GET", "/metrics?a=b")
        answer = e.line.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.getheader("Content-Type"),
                         "text/plain; version=0.0.4; charset=utf-8")
        return answer.read().decode()

    def test_metrics(self):
        self.kube.broken = True
        e = self.begin(ready=False)
        self.assertIn("\nopenpai_extender_ready 0\n", self.metrics(e))
        self.kube.broken = False
        e.hear("all nodes and pods are known")
        e.ask("POST", "/v1/extender/preempt", "{")
        for path in ("/v1/inspect/clusterstatus", "/v1/extender/filters",
                     "/v1/extender/filter/x", "/", "/a\"b"):
            e.ask("GET", path)
        text = self.metrics(e)
        self.assertIn("\nopenpai_extender_ready 1\n", text)
        for route, method, status, n in (
                ("/v1/extender/preempt", "POST", 400, 1),
                ("/v1/inspect/", "GET", 200, 1), ("/", "GET", 200, 1),
                ("/", "GET", 404, 3), ("/metrics", "GET", 200, 1)):
            self.assertIn(f'openpai_requests_total{{route="{route}",'
                          f'method="{method}",status="{status}"}} {n}\n',
                          text)
        self.assertNotIn('a"b', text)
        # What is not read is HiveD's: it has no such path.
        self.assertEqual(e.ask("POST", "/metrics", "{}")[0], 404)
        self.assertEqual(e.end()[0], 0)


class Pages(ExtenderTest):
    def lists(self, kind):
        return [path for path in self.kube.asked
                if path.startswith("/api/v1/" + kind) and "watch" not in path]

    def place(self, e):
        """A pod that was found in the middle has its cells."""
        self.assertEqual(
            {one["metadata"]["name"] for one in
             self.kube.objects["pods"].values()
             if one["spec"].get("nodeName")}, {"a"})
        b = pod("b", spec("h"))
        self.kube.put(b)
        other = ({"n0", "n1"} - {self.kube.pod("a")["spec"]["nodeName"]}).pop()
        self.assertEqual(e.filter(b, ["n0", "n1"])["NodeNames"], [other])
        self.assertEqual(e.end()[0], 0)

    def begin_with(self, **how):
        """One that finds a bound pod among others."""
        e = self.begin()
        a = pod("a", spec("g"))
        self.kube.put(a)
        where = e.filter(a, ["n0", "n1"])["NodeNames"]
        self.assertEqual(e.bind(a, where[0]), {"Error": ""})
        self.assertEqual(e.end()[0], 0)
        for i in range(5):
            self.kube.put(node(f"m{i}"))
            for name in (f"0{i}", f"z{i}"):
                one = pod(name, "")
                del one["metadata"]["annotations"]
                one["spec"]["schedulerName"] = "other"
                one["metadata"]["managedFields"] = [{"f": {"a": ["}"]}}]
                self.kube.put(one)
        self.kube.asked.clear()
        vars(self.kube).update(how)
        return self.begin()

    def test_pages(self):
        self.place(self.begin_with(page=2))
        self.assertEqual(len(self.lists("nodes")), 4)
        self.assertEqual(len(self.lists("pods")), 6)
        self.assertIn("?limit=500&continue=%262%2F", self.lists("nodes")[1])

    def test_a_place_that_is_forgotten(self):
        """Then there is one list of all."""
        e = self.begin_with(page=3, forgetful=True)
        self.assertNotIn("limit", self.lists("nodes")[-1])
        self.place(e)
