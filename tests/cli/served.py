"""What tests of a platform that is served over TCP share."""

import contextlib
import json
import os
import pwd
import re
import signal
import ssl
import subprocess
import urllib.error
import urllib.request

import program

PASSWORD = "correct horse"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """What an answer leads to is the test's business."""

    def redirect_request(self, *args):
        return None


class ServedTest(program.RootTest):
    """The user admin has the password above."""
    context = None  # of TLS
    trust = ()  # who vouches for the server, as options of a login

    def setUp(self):
        super().setUp()
        self.env["OPENPAI_ADMIN_PASSWORD"] = PASSWORD

    def serve(self, *args):
        """A server; `url` is where it is."""
        if os.geteuid() == 0 and "--system" not in args:
            args += "--jobs-as-root",  # once there are several accounts
        process = self.start("serve", "--listen", "127.0.0.1:0", *args)
        said = ""
        while not re.search(r"serves at /", said):
            line = process.stdout.readline()
            self.assertNotEqual(line, "", (said, process.poll()))
            said += line
        self.url = re.search(r"serves at (https?://\S+)", said)[1]
        return process

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, said)

    def certificate(self):
        """One for this machine, and its key; it is trusted from now on."""
        cert, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec",
                        "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", cert, "-days", "2",
                        "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       check=True, capture_output=True, timeout=60)
        self.context = ssl.create_default_context(cafile=str(cert))
        return str(cert), str(key)

    def enlist(self, alias, url, user="admin", password=PASSWORD):
        """Logs in there; the cluster has this name from now on."""
        self.ok("login", url, "--alias", alias, "--user", user,
                "--password-stdin", *self.trust, input=password + "\n")

    def ask(self, method, path, body=None, token=None, **headers):
        """Status, headers and text of an answer.  A dict goes as JSON."""
        if isinstance(body, dict):
            body = json.dumps(body)
            headers.setdefault("content_type", "application/json")
        if token is not None:
            headers["authorization"] = "Bearer " + token
        request = urllib.request.Request(
            self.url + path, method=method,
            data=body.encode() if isinstance(body, str) else body,
            headers={k.replace("_", "-"): v for k, v in headers.items()})
        opener = urllib.request.build_opener(
            NoRedirect, urllib.request.HTTPSHandler(context=self.context))
        try:
            answer = opener.open(request, timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with contextlib.closing(answer):
            text = answer.read().decode()
        self.described(method, path, answer.status,
                       answer.headers["Content-Type"], text)
        return answer.status, answer.headers, text

    def form(self, path, text):
        return self.ask("POST", path, text, content_type="application/"
                        "x-www-form-urlencoded")

    def login(self, user="admin", password=PASSWORD):
        status, _, text = self.ask(
            "POST", "/api/v2/authn/basic/login",
            {"username": user, "password": password})
        self.assertEqual(status, 200, text)
        return json.loads(text)["token"]


class ApartTest(ServedTest):
    """Several accounts, whose jobs run in a sandbox."""
    runtime = "auto"

    def setUp(self):
        """The platform is not root's, from whom nothing is hidden."""
        super().setUp()
        self.who = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam("daemon")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.who = {"user": user.pw_uid, "group": user.pw_gid,
                        "extra_groups": []}
            self.env |= {"HOME": str(self.folder), "USER": user.pw_name,
                         "LOGNAME": user.pw_name}

    def run_cli(self, *args, **kwargs):
        return super().run_cli(*args, **{**self.who, **kwargs})

    def start(self, *args, **kwargs):
        return super().start(*args, **{**self.who, **kwargs})

    def made(self, path):
        """A folder of the platform's user."""
        path.mkdir(parents=True, exist_ok=True)
        while self.who and path != self.folder:
            os.chown(path, self.who["user"], self.who["group"])
            path = path.parent
        return path

    def described(self, *args):
        if not self.who:  # the socket hears its own user alone
            super().described(*args)

    def account(self, name, admin=False):
        """A new one's token."""
        status, _, text = self.ask("POST", "/api/v2/users", {
            "username": name, "password": name * 3, "email": "",
            "admin": admin, "virtualCluster": ["default"]}, self.login())
        self.assertEqual(status, 201, text)
        return self.login(name, name * 3)
