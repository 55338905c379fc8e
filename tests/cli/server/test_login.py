"""Servers elsewhere: login, aliases, --cluster, the old programs' words."""

import base64
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import urllib.parse

import played
import program

TOOL = """\
#!/bin/sh
# A keyring: a folder of files.  What it was called with is written down.
echo "$*" >> "$KEYRING/calls"
verb=$1; shift
case $1 in --label=*) shift ;; esac
file="$KEYRING/$(echo "$*" | tr '/ ' '__')"
case $verb in
  store) cat > "$file" ;;
  lookup) cat "$file" ;;
  clear) rm -f "$file" ;;
esac
"""


def token_of(user):
    def part(what):
        return base64.urlsafe_b64encode(json.dumps(what).encode()).decode(
            ).rstrip("=")
    return f"{part({})}.{part({'username': user})}.sign"


class Original(played.Handler):
    """OpenPAI v1.8, as much of it as is asked for."""
    protocol_version = "HTTP/1.1"

    def missing(self):
        self.answer({"code": "NoApiError", "message": "no such API"}, 404)

    def do_GET(self):
        path = self.path.split("?")[0]
        self.server.asked.append("GET " + self.path)
        if not path.startswith("/rest-server/api/v2/"):
            self.answer({}, 404)
        elif path.endswith("/info"):
            self.answer({"name": "PAI RESTful API", "version": "v1.8.0",
                         "authnMethod": self.server.method})
        elif path.endswith("/tokens/check"):
            self.answer({"valid": True})
        elif path.endswith("/jobs"):
            self.answer([{"name": "far", "username": "bob",
                          "state": "RUNNING"}])
        elif path.endswith("/jobs/bob~test"):
            # Over when it has been asked about twice.
            self.server.looks += 1
            state = "SUCCEEDED" if self.server.looks > 2 else "RUNNING"
            self.answer({"name": "test", "jobStatus": {
                "username": "bob", "state": state, "appExitCode": 0},
                "taskRoles": {}})
        elif "/jobs/bob~evil" in path:
            ip, port = urllib.parse.unquote(path).split("evil")[1].split("--")
            self.answer({"name": "evil", "taskRoles": {"a": {
                "taskStatuses": [{"taskIndex": 0, "containerIp": ip,
                                  "containerPorts": {"ssh": port}}]}}})
        else:
            self.missing()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append("POST " + self.path)
        self.server.bodies.append(body)
        if self.path == "/rest-server/api/v2/jobs":
            self.answer({}, 202)
        else:
            self.missing()


class LoginTest(program.RootTest):
    def setUp(self):
        super().setUp()
        self.env.update(HOME=str(self.folder), PATH=self.path(),
                        XDG_CONFIG_HOME=str(self.folder / "config"),
                        OPENPAI_ADMIN_PASSWORD="correct horse")
        self.kept = self.folder / "config" / "openpai"

    def path(self):
        """With no secret-tool but one of ours, which is not there yet."""
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        for name in ("sh", "bash", "env", "cat", "rm", "tr", "tar", "echo", "ls", "sleep"):
            os.symlink(shutil.which(name), bin_folder / name)
        return str(bin_folder)

    def serve(self, *args):
        process = self.start("serve", "--listen", "127.0.0.1:0", *args)
        said = ""
        while not re.search(r"serves at /", said):
            line = process.stdout.readline()
            self.assertNotEqual(line, "", (said, process.poll()))
            said += line
        return process, re.search(r"serves at (https?://\S+)", said)[1]

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        self.assertEqual(process.wait(60), 0, said)

    def login(self, url, *args, alias="lab"):
        return self.ok("login", url, "--alias", alias, "--user", "admin",
                       "--password-stdin", *args, input="correct horse\n")

    def fails(self, *args, code=1, **kwargs):
        done = self.run_cli(*args, **kwargs)
        self.assertEqual(done.returncode, code,
                         (args, done.stdout, done.stderr))
        return done.stderr

    def original(self):
        server = played.serve(self, Original, asked=[], bodies=[], looks=0,
                              method="basic")
        return server, server.url

    # --- a server of ours ---

    def test_verbs_elsewhere(self):
        process, url = self.serve()
        said = self.login(url)
        self.assertIn("as admin", said)
        token = (self.kept / "credentials").read_text().split()[2]
        self.assertEqual(
            stat.S_IMODE((self.kept / "credentials").stat().st_mode), 0o600)
        self.assertNotIn(token, (self.kept / "clusters.yaml").read_text())
        self.assertIn("far away", self.ok(
            "run", self.job("echo far away"), "--cluster", "lab"))
        self.assertIn("admin", self.ok("--cluster", "lab", "list"))
        self.assertIn("far away", self.ok("logs", "--cluster=lab", "test"))
        self.assertIn("SUCCEEDED", self.ok("wait", "test", "--cluster",
                                           "lab"))
        # Code is sent, and the next of the same name gets a number.
        code = self.folder / "code"
        code.mkdir()
        (code / "inner").write_text("x")
        self.assertEqual("test_2\n", self.ok(
            "submit", self.job("ls"), "--code", str(code), "--cluster",
            "lab"))
        self.ok("wait", "test_2", "--cluster", "lab", "--quiet")
        self.assertIn("inner", self.ok("logs", "test_2", "--cluster", "lab"))
        # On this machine these are the administrator's jobs, not ours.
        self.fails("show", "test")
        self.env.pop("OPENPAI_ROOT")
        self.ok("remote", "use", "lab")
        self.assertIn("test_2", self.ok("list"))
        self.ok("rm", "test_2")
        self.assertNotIn("test_2", self.ok("list"))
        self.ok("remote", "use", "local")
        self.env["OPENPAI_CLUSTER"] = "lab"
        self.assertIn("test", self.ok("list"))
        self.end(process)

    def test_of_a_command(self):
        """What stands behind -- is the command's."""
        self.ok("remote", "add", "lab", "http://127.0.0.1:1")
        self.assertIn("--cluster lab --cluster", self.ok(
            "run", "--", "echo", "--cluster", "lab", "--cluster"))

    def test_several_users(self):
        process, url = self.serve()
        self.login(url)
        self.ok("user", "add", "alice", "--password-file", "-", "--cluster",
                "lab", input="password of alice\n")
        self.ok("login", url, "--alias", "hers", "--user", "alice",
                "--password-stdin", input="password of alice\n")
        self.ok("submit", self.job("true"), "--cluster", "hers")
        self.ok("wait", "test", "--cluster", "hers", "--quiet")
        self.assertIn("alice", self.ok("show", "test", "--cluster", "hers"))
        self.fails("stop", "test", "--cluster", "lab")
        self.ok("show", "alice~test", "--cluster", "lab")
        self.end(process)

    def test_tokens(self):
        process, url = self.serve()
        said = self.fails("login", url, "--user", "admin", "--password-stdin",
                          input="wrong one\n")
        self.assertIn("check user name and password", said)
        self.assertNotIn("wrong one", said)
        self.assertFalse(self.kept.exists())
        self.login(url)
        token = self.ok("token", "create", "--cluster", "lab").strip()
        # Of an environment alone.
        self.env.update(OPENPAI_CLUSTER=url, OPENPAI_TOKEN=token)
        self.assertEqual(self.ok("list", "--json"), "[]\n")
        self.env["OPENPAI_TOKEN"] = token + "x"
        said = self.fails("list")
        self.assertIn("openpai login", said)
        self.assertNotIn(token, said)
        self.env.pop("OPENPAI_TOKEN")
        self.env.pop("OPENPAI_CLUSTER")
        # One that is revoked is no more.
        self.ok("login", url, "--alias", "app", "--token-stdin", input=token)
        self.ok("list", "--cluster", "app")
        self.ok("token", "revoke", token, "--cluster", "lab")
        self.assertIn("openpai login app",
                      self.fails("list", "--cluster", "app"))
        self.assertIn("revoked", self.fails("login", "app", "--token-stdin",
                                            input=token))
        old = (self.kept / "credentials").read_text()
        self.ok("logout", "lab")
        self.assertEqual((self.kept / "credentials").read_text().count("\n"),
                         old.count("\n") - 1)
        self.fails("list", "--cluster", "lab")
        (self.kept / "credentials").chmod(0o644)
        self.assertIn("other users can read", self.fails("list", "--cluster",
                                                    "app"))
        self.end(process)

    def test_keyring(self):
        ring = self.folder / "ring"
        ring.mkdir()
        tool = self.folder / "bin" / "secret-tool"
        tool.write_text(TOOL)
        tool.chmod(0o755)
        self.env["KEYRING"] = str(ring)
        process, url = self.serve()
        self.login(url)
        self.assertFalse((self.kept / "credentials").exists())
        kept = [f for f in ring.iterdir() if f.name != "calls"]
        self.assertEqual(len(kept), 1)
        token = kept[0].read_text()
        self.assertNotIn(token, (ring / "calls").read_text())
        self.assertEqual(self.ok("list", "--json", "--cluster", "lab"),
                         "[]\n")
        self.ok("remote", "remove", "lab")
        self.assertFalse(kept[0].exists())
        self.fails("list", "--cluster", "lab")
        self.end(process)

    def test_tls(self):
        cert, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-keyout", str(key), "-out", str(cert), "-days", "2", "-subj",
             "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True, capture_output=True)
        key.chmod(0o600)
        process, url = self.serve("--tls-cert", str(cert), "--tls-key",
                                  str(key))
        self.assertTrue(url.startswith("https"))
        said = self.fails("login", url, "--user", "admin",
                          "--password-stdin", input="correct horse\n")
        self.assertIn("certificate", said)
        self.assertIn(f"openpai login {url} --ca-file FILE", said)
        self.assertNotIn("ca_file", said)
        self.login(url, "--ca-file", cert.name)
        self.assertIn(f"ca_file: {self.folder}", "".join(
            path.read_text() for path in
            self.folder.rglob("openpai/clusters.yaml")))
        self.assertIn("safe", self.ok("run", "--cluster", "lab",
                                             self.job("echo safe")))
        self.end(process)

    # --- what goes wrong ---

    def test_wrong(self):
        self.ok("remote", "add", "lab", "http://127.0.0.1:1", "--user", "x")
        said = self.fails("list", "--cluster", "lab")
        self.assertIn("check that it runs", said)
        self.assertIn("did you mean 'lab'", self.fails("list", "--cluster",
                                                       "lav"))
        self.assertIn("openpai login", self.fails("list", "--cluster", "q"))
        for verb in ("up", "down", "doctor"):
            self.assertIn("help:", self.fails(verb, "--cluster", "lab",
                                              code=2))
        self.assertIn("--root", self.fails("list", "--cluster", "lab",
                                           "--root", "/x"))
        for args in (("login",), ("login", "nobody"), ("remote", "use", "q"),
                     ("remote", "add", "local", "http://x"),
                     ("remote", "add", "a/b", "http://x"),
                     ("login", "http://127.0.0.1:1", "--token-stdin")):
            self.fails(*args, input="t\n")
        for args in (("remote", "add", "a", "b"), ("remote", "add", "a"),
                     ("login", "a", "b"), ("list", "--cluster"),
                     ("login", "a", "--token-stdin", "--password-stdin")):
            self.fails(*args, code=2)
        # This machine's own verbs go on, whatever server is used.
        self.ok("remote", "use", "lab")
        self.env.pop("OPENPAI_ROOT")
        self.assertIn("check that it runs", self.fails("list"))
        self.ok("remote", "remove", "lab")
        self.assertNotIn("lab", (self.kept / "clusters.yaml").read_text())
        (self.kept / "clusters.yaml").write_text("a: [")
        self.assertIn("clusters.yaml", self.fails("list", "--cluster", "lab"))

    # --- an original ---

    def test_original(self):
        server, url = self.original()
        self.ok("login", url, "--alias", "old", "--token-stdin",
                input=token_of("bob"))
        self.assertIn(url + "/rest-server", self.ok("remote", "list"))
        self.assertIn("far", self.ok("list", "--cluster", "old"))
        done = self.run_cli("run", self.job("true"), "--cluster", "old")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("POST /rest-server/api/v2/jobs", server.asked)
        self.assertEqual("other\n", self.ok(
            "submit", self.job("true"), "--name", "other", "--cluster",
            "old"))
        self.assertIn("name: other", server.bodies[-1])
        server.looks = 0
        self.assertIn("SUCCEEDED", self.ok("wait", "test", "--cluster",
                                           "old"))
        self.assertGreater(server.looks, 2)
        self.assertIn("original", self.fails(
            "submit", self.job("true"), "--code", ".", "--cluster", "old"))
        self.assertIn("original", self.fails("why", "test", "--cluster",
                                             "old"))

    def test_browser_only(self):
        server, url = self.original()
        server.method = "OIDC"
        self.assertIn("--token-stdin", self.fails(
            "login", url, "--user", "bob", "--password-stdin", input="x\n"))

    # --- the old programs ---

    def test_import(self):
        (self.folder / ".openpai").mkdir()
        (self.folder / ".openpai" / "clusters.yaml").write_text(
            "- {cluster_alias: a, pai_uri: 'http://a', user: u, token: t}\n"
            "- {cluster_alias: b, pai_uri: 'http://b', password: hidden}\n")
        self.assertNotIn("hidden", self.ok("remote", "import"))
        self.assertEqual(
            [(s["alias"], s["url"]) for s in json.loads(
                self.ok("remote", "list", "--json"))],
            [("a", "http://a"), ("b", "http://b")])
        self.assertIn("a http%3A%2F%2Fa t\n", (self.kept / "credentials").read_text())
        for f in self.kept.iterdir():
            self.assertNotIn("hidden", f.read_text())
        self.fails("remote", "import", self.write("x.yaml", "a: 1\n"))
