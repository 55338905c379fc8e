"""A provider of OpenID Connect for tests, npm's oidc-provider, and a browser
that is played.  argv[2] is a folder of the build for its packages."""

import fcntl
import html
import http.cookiejar
import json
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

import program

PACKAGES = pathlib.Path(sys.argv[2])
SOURCE = pathlib.Path(__file__).with_name("oidc_provider.mjs")
VERSION = "8.4.6"
SECRET = "a secret of the test, long enough"
# Nobody listens there: the browser that is played knows better.
HOME = "http://127.0.0.1:9"
BACK = HOME + "/api/v1/authn/oidc/return"
PAGE = "http://localhost:1/callback"
USERS = {
    "a1": {"email": "ann@example.org", "email_verified": True,
           "groups": ["people"]},
    "a2": {"email": "ann@elsewhere.org", "email_verified": True,
           "groups": ["people", "masters"]},
    "b": {"email": "boss@example.org", "email_verified": True,
          "groups": ["people", "masters"]},
    "c": {"email": "out@example.org", "email_verified": True,
          "groups": ["others"]},
    "d": {"email": "a b@example.org", "groups": ["people"]},
}


def packages():
    """Why there are none, or None."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return "there is no npm here: nothing of OpenID Connect is tried"
    PACKAGES.mkdir(parents=True, exist_ok=True)
    with open(PACKAGES / "lock", "w") as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (PACKAGES / "node_modules" / "oidc-provider").exists():
            done = subprocess.run(
                ["npm", "install", "--no-audit", "--no-fund",
                 "--fetch-retries", "0", "--prefix", str(PACKAGES),
                 f"oidc-provider@{VERSION}"],
                capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                return ("npm cannot install oidc-provider: " +
                        done.stderr[-300:])
        if not (PACKAGES / SOURCE.name).exists() or (
                PACKAGES / SOURCE.name).read_text() != SOURCE.read_text():
            shutil.copy(SOURCE, PACKAGES / SOURCE.name)
    return None


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


class Browser:
    """Goes where it is led, but to a page that wants a token."""

    def __init__(self, server, ca=None):
        self.server = server
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(
            NoRedirect, urllib.request.HTTPCookieProcessor(self.jar),
            urllib.request.HTTPSHandler(
                context=ssl.create_default_context(cafile=ca)))

    def get(self, url, form=None):
        if url.startswith(HOME):
            url = self.server + url[len(HOME):]
        data = urllib.parse.urlencode(form).encode() if form else None
        try:
            answer = self.opener.open(url, data, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        return answer.status, answer.headers, answer.read().decode()

    def begin(self, page=PAGE, more=""):
        """As far as the provider: first it is led to the server's name."""
        answer = self.get(f"{self.server}/api/v1/authn/oidc/login?" +
                          urllib.parse.urlencode({"redirect_uri": page}) + more)
        led = answer[1].get("Location", "")
        return self.get(led) if led.startswith(HOME) else answer

    def follow(self, url, user):
        """From the provider's first page to where it leads back to."""
        for _ in range(12):
            status, headers, text = self.get(url)
            if status in (302, 303):
                url = urllib.parse.urljoin(url, headers["Location"])
                if url.startswith(BACK):
                    return self.server + url[len("http://127.0.0.1:9"):]
                continue
            action = html.unescape(re.search(r'action="([^"]+)"', text)[1])
            prompt = re.search(r'name="prompt" value="(\w+)"', text)[1]
            form = {"prompt": prompt, "login": user, "password": "x"}
            status, headers, _ = self.get(
                urllib.parse.urljoin(url, action), form)
            url = urllib.parse.urljoin(url, headers["Location"])
        raise AssertionError("the provider leads nowhere")

    def login(self, user, **kwargs):
        """The answer of the return."""
        status, headers, text = self.begin(**kwargs)
        assert status == 302, (status, text)
        return self.get(self.follow(headers["Location"], user))


class ProviderTest(program.RootTest):
    @classmethod
    def setUpClass(cls):
        why = packages()
        if why is not None:
            raise unittest.SkipTest(why)

    def begin_provider(self, *files):
        """Its issuer; the files are a key and a certificate, of TLS."""
        self.provider = subprocess.Popen(
            ["node", SOURCE.name, json.dumps(USERS), *files], cwd=PACKAGES,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.provider.stdout.close)
        self.addCleanup(self.provider.wait)
        self.addCleanup(self.provider.kill)
        return self.provider.stdout.readline().strip()

    def secret(self, text=SECRET):
        path = pathlib.Path(self.write("secret", text))
        path.chmod(0o600)
        return str(path)

    def serve(self, *args, issuer=None, who=("--oidc-domains", "*")):
        """`who` may log in: everybody, if nothing else is said."""
        self.issuer = issuer or self.begin_provider()
        self.serve_as(
            "--oidc-issuer", self.issuer, "--oidc-client-id", "openpai",
            "--oidc-client-secret-file", self.secret(),
            "--oidc-redirect", BACK, "--oidc-scope", "openid email groups",
            *who, *args)

    def serve_as(self, *args):
        with open(self.folder / "said", "w") as said:
            self.process = self.start("serve", "--listen", "127.0.0.1:0",
                                      "--rate-limit", "0", *args, stderr=said)
        self.addCleanup(self.end_server, self.process)
        self.printed = ""
        for line in self.process.stdout:
            self.printed += line
            if "serves at http://" in line:
                self.server = line.split()[-1]
                return
        self.fail("it does not serve: " + self.said())

    def end_server(self, process):
        """It ends well, however it was treated."""
        process.terminate()
        self.assertEqual(process.wait(60), 0, self.said())

    def said(self):
        """What the server has written to standard error."""
        return (self.folder / "said").read_text()

    def ask(self, path, token=None, method="GET"):
        request = urllib.request.Request(self.server + "/api/v2" + path,
                                         method=method)
        if token is not None:
            request.add_header("Authorization", "Bearer " + token)
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            text = answer.read().decode()
        self.described(method, "/api/v2" + path, answer.status,
                       answer.headers["Content-Type"], text)
        return answer.status, json.loads(text)

    def entered(self, user, browser=None, **kwargs):
        """What the page is told of who has logged in."""
        browser = browser or Browser(self.server)
        status, headers, text = browser.login(user, **kwargs)
        self.assertEqual(status, 302, text)
        url = headers["Location"]
        self.assertTrue(url.startswith(PAGE + "?"), url)
        return dict(urllib.parse.parse_qsl(url.split("?", 1)[1]))
