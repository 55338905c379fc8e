"""Logging in at a provider of OpenID Connect: npm's oidc-provider, with a
browser that is played."""

import re
import signal
import socket
import threading

import program
from provided import Browser, HOME, ProviderTest

# Programs on the browser's machine may have a token, at any port.
PORTS = ("--oidc-pages", "http://localhost/")


class Oidc(ProviderTest):
    def test_login(self):
        self.serve(*PORTS)
        self.assertEqual(self.ask("/info")[1]["authnMethod"], "OIDC")
        self.assertEqual(self.ask("/authn/info")[1], {
            "authn_type": "OIDC", "loginURI": "/api/v1/authn/oidc/login",
            "loginURIMethod": "get"})
        told = self.entered("a1", more="&from=%2Fx%3Fy%261")
        self.assertEqual((told["user"], told["admin"], told["hasGitHubPAT"],
                          told["from"]), ("ann", "false", "false", "/x?y&1"))
        status, user = self.ask("/users/ann", told["token"])
        self.assertEqual((status, user["email"], user["grouplist"]),
                         (200, "ann@example.org", ["default"]))
        # A second one is who the first one is, and another has another name.
        self.assertEqual(self.entered("a1")["user"], "ann")
        status, _, text = Browser(self.server).login("a2")
        self.assertEqual(status, 302)
        # The token is as any other, and can be exchanged for a program's.
        self.assertEqual(self.ask("/tokens/application", told["token"],
                                  "POST")[1]["application"], True)
        # No passwords, here.
        for method, path in (("POST", "/authn/basic/login"),
                             ("POST", "/tokens"), ("POST", "/users"),
                             ("PUT", "/users/ann/password")):
            status, answer = self.ask(path, told["token"], method)
            self.assertEqual((status, answer["code"]), (404, "NoApiError"))

    def test_groups(self):
        self.serve("--oidc-groups-claim", "groups", *PORTS)
        self.ok("group", "set", "default", "--external-name", "people")
        self.ok("group", "set", "admingroup", "--external-name", "masters")
        self.assertEqual(self.entered("b")["admin"], "true")
        self.assertEqual(self.entered("a1")["admin"], "false")
        _, headers, _ = Browser(self.server).login("c")
        self.assertIn("errorMessage=out%20is%20not%20in%20a%20group",
                      headers["Location"])

    def test_somebody_else(self):
        """Who is called alike elsewhere gets nobody's account."""
        self.serve(*PORTS)
        self.entered("a1")
        for user, said in (("a2", "belongs%20to%20another%20user"),
                           ("d", "no%20valid%20user%20name")):
            _, headers, _ = Browser(self.server).login(user)
            self.assertIn("errorMessage=", headers["Location"])
            self.assertIn(said, headers["Location"])
            self.assertNotIn("token=", headers["Location"])

    def test_another_name_of_the_server(self):
        """The browser is led to the one that it comes back to, once."""
        self.serve(*PORTS)
        browser = Browser(self.server)
        status, headers, _ = browser.get(
            self.server + "/api/v1/authn/oidc/login?from=%2Fa&code=%0D%0Ax")
        self.assertEqual(
            (status, headers["Location"]),
            (302, HOME + "/api/v1/authn/oidc/login?from=%2Fa&code=%0D%0Ax"
             "&home=1"))
        self.assertEqual(len(browser.jar), 0)
        _, headers, _ = browser.get(headers["Location"])
        self.assertTrue(headers["Location"].startswith(self.issuer))

    def test_wrong_ways(self):
        self.serve("--oidc-pages",
                   "http://localhost/, https://pai.example.org/home/")
        browser = Browser(self.server)
        for page in ("https://evil.example.org/", "http://localhost:80@evil/",
                     "https://pai.example.org/home/../x", "javascript:x",
                     "https://pai.example.org.evil/home/", "//evil"):
            self.assertEqual(browser.begin(page)[0], 400, page)
        self.assertEqual(
            browser.begin("https://pai.example.org/home/a")[0], 302)
        # A return that another browser has begun, or nobody has.
        _, headers, _ = browser.begin()
        back = browser.follow(headers["Location"], "a1")
        self.assertEqual(Browser(self.server).get(back)[0], 400)
        changed = re.sub("code=[^&]*", "code=x", back)
        self.assertIn("errorMessage", browser.get(changed)[1]["Location"])
        # What was begun is over once it is answered.
        self.assertEqual(browser.get(back)[0], 400)

    def refused(self, user):
        status, headers, text = Browser(self.server).login(user)
        self.assertEqual(status, 302, text)
        self.assertIn("may+not+use".replace("+", "%20"),
                      headers["Location"])
        self.assertNotIn("token=", headers["Location"])

    def test_strangers_get_no_account(self):
        self.serve(*PORTS, who=())
        self.refused("a1")
        self.assertIn("is not allowed by the settings", self.said())

    def test_domains_and_groups(self):
        self.serve(*PORTS, who=("--oidc-domains",
                                "other.example,EXAMPLE.org"))
        self.entered("a1")
        self.end_server(self.process)
        self.serve(*PORTS, who=("--oidc-domains", "example.org.evil"))
        self.refused("a1")  # also who has an account

    def test_another_key(self):
        """It is asked for once; who makes it change again has to wait."""
        self.serve(*PORTS)
        self.entered("a1")
        for status in (302, 502):
            self.provider.send_signal(signal.SIGHUP)
            while self.provider.stdout.readline() != "another key\n":
                self.assertIsNone(self.provider.poll())
            browser = Browser(self.server)
            got, headers, text = browser.login("a1")
            self.assertEqual(got, 302, text)
            self.assertEqual("token=" in headers["Location"], status == 302,
                             headers["Location"])

    def test_silent_provider(self):
        """Who waits for it does not keep the platform from anything."""
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        self.serve(*PORTS, issuer=f"http://127.0.0.1:{silent.getsockname()[1]}")
        answers = []
        one = threading.Thread(
            target=lambda: answers.append(Browser(self.server).begin()[0]))
        one.start()
        asked, _ = silent.accept()
        self.addCleanup(asked.close)
        self.assertEqual(self.ask("/info")[0], 200)
        self.process.terminate()
        self.assertEqual(self.process.wait(30), 0)
        one.join()
        self.assertIn(answers[0], (502, 503))

    def test_provider_is_gone(self):
        self.serve(*PORTS)
        self.provider.kill()
        self.assertEqual(Browser(self.server).begin()[0], 502)
        self.assertEqual(self.ask("/info")[0], 200)
