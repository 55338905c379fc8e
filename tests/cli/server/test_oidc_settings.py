"""What openpai serve is told of a provider of OpenID Connect: its file, its
secret, who is an administrator, whose certificates are trusted."""

import pathlib
import re
import subprocess
import threading
import urllib.parse

from provided import BACK, Browser, PAGE, ProviderTest, SECRET

FILE = """\
domains: "*"  # of users who log in
issuer: {issuer}
client_id: openpai   # as it is registered
{secret}
redirect_uri: {back}
scope: openid email groups
pages:
  - http://localhost/
  - https://pai.example.org/
"""


class SettingsTest(ProviderTest):
    def file(self, more="", secret="client_secret_file: secret",
             name="oidc.yaml", mode=0o600, issuer=None):
        self.secret()
        path = pathlib.Path(self.write(name, FILE.format(
            issuer=issuer or self.issuer, back=BACK, secret=secret) + more))
        path.chmod(mode)
        return str(path)

    def entered(self, user, browser=None):
        """What a page is told."""
        _, headers, _ = (browser or Browser(self.server)).login(user)
        url = headers["Location"]
        return dict(urllib.parse.parse_qsl(url.split("?", 1)[1]))

    def refused(self, *args):
        """Why it does not serve."""
        done = self.run_cli("serve", "--listen", "127.0.0.1:0", *args)
        self.assertEqual(done.returncode, 1, done)
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        return done.stderr

    def test_file(self):
        self.issuer = self.begin_provider()
        self.serve_as("--oidc", self.file("admins: [sub=b]\n"))
        self.assertEqual(self.entered("a1")["admin"], "false")
        self.assertEqual(self.entered("b")["admin"], "true")
        # Nobody has a password here, and nobody is told one.
        self.assertNotIn("password", self.printed)
        self.assertEqual(self.ask("/authn/basic/login", method="POST")[0],
                         404)

    def test_of_the_root(self):
        """What the command line says goes before it."""
        self.issuer = self.begin_provider()
        self.root.mkdir()
        self.file(name="root/oidc.yaml", secret="client_secret: wrong")
        self.env["OPENPAI_OIDC_CLIENT_SECRET"] = SECRET
        self.serve_as()
        self.assertEqual(self.entered("a1")["user"], "ann")
        # Tasks do not see the secret.
        self.ok("run", "--name", "look", "--", "sh", "-c",
                '[ -z "$OPENPAI_OIDC_CLIENT_SECRET" ]')

    def test_beside_that_of_the_root(self):
        """What the file lacks may be said, and up reads it, too."""
        self.issuer = self.begin_provider()
        self.root.mkdir()
        path = self.file(name="root/oidc.yaml", secret="# none")
        error = self.refused("--oidc-admins", "groups=CN=a,OU=b")
        self.assertIn("--oidc-admins has a value with =", error)
        self.assertIn("oidc.yaml", error)
        error = self.refused("--oidc-admins", "groups=a,b")
        self.assertIn("is no CLAIM=VALUE: b", error)
        self.assertIn('admins: ["groups=a,b"]', error)
        self.serve_as("--oidc-admins", "sub=b",
                      "--oidc-client-secret-file", self.secret())
        self.assertEqual(self.entered("b")["admin"], "true")
        self.process.terminate()
        self.assertEqual(self.process.wait(60), 0)
        self.env["OPENPAI_OIDC_CLIENT_SECRET"] = SECRET
        done = self.run_cli("up", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn("password", done.stdout + done.stderr)
        self.server = re.search(r"serves at (http://\S+)", done.stderr)[1]
        self.assertEqual(self.entered("a1")["user"], "ann")
        look = ("run", "--", "sh", "-c",
                '[ -z "$OPENPAI_OIDC_CLIENT_SECRET" ]')
        self.ok(*look)
        self.ok("down")
        # At its socket alone nobody logs in, and it is no tasks' business.
        self.ok("up")
        self.ok(*look)
        self.ok("down")
        pathlib.Path(path).unlink()
        done = self.run_cli("serve", "--oidc-admins", "sub=b")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("oidc.yaml", done.stderr)

    def test_mistakes(self):
        self.issuer = "http://127.0.0.1:1"
        for more, said in (
                ("isuer: x\n", "10:1: isuer is not a setting"),
                ("groups_claim: [a]\n", "10:15: groups_claim is not text"),
                ("groups_claim: 7\n", "10:15: groups_claim is not text"),
                ("groups_claim: ''\n", "10:15: groups_claim is empty"),
                ("admins: [groups]\n",
                 "10:10: a rule of admins must be CLAIM=VALUE"),
                ("admins: [{a: b}]\n", "10:10: admins is not text"),
                ("pages: http://x.example.org/\n", "10:1: "),
                ("ca_file: {\n", "11:1: "),
                ("client_secret: x\n", "10:1: client_secret and client_secret_file")):
            error = self.refused("--oidc", self.file(more))
            self.assertIn("oidc.yaml:" + said, error, more)
        self.write("oidc.yaml", "")
        self.assertIn("the issuer is not a URL",
                      self.refused("--oidc", str(self.folder / "oidc.yaml")))
        self.write("oidc.yaml", "- a\n")
        self.assertIn("oidc.yaml:1:1: \"issuer: https",
                      self.refused("--oidc", str(self.folder / "oidc.yaml")))
        self.assertIn("oidc.yaml:2:9: issuer is not a URL",
                      self.refused("--oidc", self.file(
                          issuer="http://x.example.org")))
        self.assertIn("cannot read", self.refused("--oidc", "/nowhere"))
        self.assertIn("is not a file", self.refused("--oidc", "/"))
        self.assertIn("CLAIM=VALUE", self.refused(
            "--oidc", self.file(), "--oidc-admins", "boss"))

    def test_secrets_that_others_can_read(self):
        self.issuer = "http://127.0.0.1:1"
        error = self.refused("--oidc", self.file(
            secret=f"client_secret: {SECRET}", mode=0o644))
        self.assertIn("other users can read", error)
        self.assertIn("chmod 600", error)
        for mode in (0o620, 0o602):
            error = self.refused("--oidc", self.file(mode=mode))
            self.assertIn("other users can write", error)
            self.assertIn("chmod go-w", error)
        path = self.file(mode=0o644)  # it has none
        pathlib.Path(self.folder / "secret").chmod(0o640)
        self.assertIn("other users can read", self.refused("--oidc", path))
        for text in ("", "\n", "one\ntwo\n"):
            self.secret(text)
            self.assertIn("must be one line", self.refused(
                "--oidc-issuer", self.issuer, "--oidc-client-id", "x",
                "--oidc-redirect", BACK, "--oidc-client-secret-file",
                str(self.folder / "secret")))

    # --- who may do all ---

    def test_administrators(self):
        self.issuer = self.begin_provider()
        path = self.file("groups_claim: groups\n")
        self.serve_as("--oidc", path, "--oidc-admins",
                      "email=out@example.org,groups=masters")
        self.ok("group", "set", "default", "--external-name", "people")
        self.assertNotIn("is an administrator:", self.said())
        self.assertEqual(self.entered("a1")["admin"], "false")
        told = self.entered("b")
        self.assertEqual(told["admin"], "true")
        self.assertEqual(self.ask("/users", told["token"])[0], 200)
        # By a rule alone, without a group of the platform's.
        self.assertEqual(self.entered("c")["admin"], "true")
        # Nobody is made one by an address that is not verified.
        self.assertNotIn("token", self.entered("d"))

    def test_no_administrator(self):
        self.issuer = self.begin_provider()
        self.serve_as("--oidc", self.file())
        self.assertIn(f"no user of {self.issuer} is an administrator", self.said())
        self.assertEqual(self.entered("b")["admin"], "false")
        # Once there is one, nothing is said, and he stays one.
        for args in (("--oidc-admins", "sub=b"), ()):
            self.process.terminate()
            self.assertEqual(self.process.wait(60), 0)
            self.serve_as("--oidc", self.file(), *args)
            self.assertNotIn("no user of ", self.said())
            self.assertEqual(self.entered("b")["admin"], "true")

    # --- TLS ---

    def certificate(self, name):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-days", "2", "-subj", "/CN=" + name, "-addext",
             "subjectAltName=IP:127.0.0.1", "-keyout",
             str(self.folder / f"{name}.key"), "-out",
             str(self.folder / f"{name}.pem")],
            check=True, capture_output=True)
        return [str(self.folder / f"{name}.{end}") for end in ("key", "pem")]

    def test_provider_with_tls(self):
        key, cert = self.certificate("good")
        self.issuer = self.begin_provider(key, cert)
        self.assertTrue(self.issuer.startswith("https://"))
        self.serve_as("--oidc", self.file("ca_file: good.pem\n"))
        self.assertEqual(
            self.entered("a1", Browser(self.server, cert))["user"], "ann")

    def test_provider_of_a_stranger(self):
        """No question reaches it, and the log says why."""
        self.issuer = self.begin_provider(*self.certificate("good"))
        _, other = self.certificate("other")
        for args in (("--oidc-ca-file", other), ()):
            self.serve_as("--oidc", self.file(), *args)
            status, _, text = Browser(self.server).begin()
            self.assertEqual(status, 502)
            self.assertIn("platform's log", text)
            self.process.terminate()
            self.assertEqual(self.process.wait(60), 0)
            self.assertIn("cannot be trusted", self.said())
            self.assertIn("ca_file", self.said())
            self.assertIn("--oidc-ca-file", self.said())


del ProviderTest
