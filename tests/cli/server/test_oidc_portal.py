"""The portal of a server with a login provider: what its page does, and who
else may try the same."""

import base64
import hashlib
import json
import urllib.error
import urllib.parse
import urllib.request

from provided import Browser, HOME, PAGE, ProviderTest

VERIFIER = "p" * 43


def challenge_of(verifier):
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class Portal(ProviderTest):
    def begin(self, browser, verifier=VERIFIER, **query):
        """What the page asks for; `home`: it is at the server's own name."""
        query = {"redirect_uri": "/", "home": "1",
                 "code_challenge": challenge_of(verifier),
                 "code_challenge_method": "S256", **query}
        return browser.get(f"{self.server}/api/v2/authn/oidc/login?" +
                           urllib.parse.urlencode(
                               {k: v for k, v in query.items() if v}))

    def come_back(self, user="a1", browser=None, **query):
        """Where the browser ends up."""
        browser = browser or Browser(self.server)
        status, headers, text = self.begin(browser, **query)
        self.assertEqual(status, 302, text)
        status, headers, text = browser.get(
            browser.follow(headers["Location"], user))
        self.assertEqual(status, 303, text)
        return headers["Location"]

    def code(self, **query):
        back = self.come_back(**query)
        self.assertRegex(back, "^/#code=[-_A-Za-z0-9]{43}$")
        return back.split("=")[1]

    def redeem(self, code, verifier=VERIFIER, cookie=True, **headers):
        body = {"code": code, "code_verifier": verifier}
        headers = {"Content-Type": "application/json", "Origin": self.server,
                   **headers}
        request = urllib.request.Request(
            self.server + "/api/v2/authn/oidc/token", method="POST",
            data=json.dumps({**body, "cookie": cookie}).encode(),
            headers={k: v for k, v in headers.items() if v})
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.headers, json.loads(answer.read())

    def status(self, method, path, session, **headers):
        request = urllib.request.Request(
            self.server + path, method=method,
            headers={"Origin": self.server, **session, **headers})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def session(self, user="a1"):
        status, headers, answer = self.redeem(self.code(user=user))
        self.assertEqual((status, answer["token"]), (200, ""), answer)
        return {"Cookie": headers["Set-Cookie"].split(";")[0],
                "OpenPAI-Session-Key": answer["sessionKey"]}

    def test_a_login_ends_in_a_session(self):
        """The pages of other programs need not be listed for it."""
        self.serve()
        session = self.session()
        self.assertEqual(self.status("GET", "/api/v2/jobs", session), 200)
        for half in session:
            self.assertEqual(self.status("GET", "/api/v2/jobs",
                                         {half: session[half]}), 401)
        self.assertEqual(self.status(
            "DELETE", "/api/v2/authn/basic/logout", session), 200)
        self.assertEqual(self.status("GET", "/api/v2/jobs", session), 401)

    def test_only_the_page_that_began_it_can_end_it(self):
        self.serve()
        code = self.code()
        self.assertEqual(self.redeem(code, "q" * 43)[0], 400)
        self.assertEqual(self.redeem(code)[0], 400)  # it is used up
        code = self.code()
        for headers in ({"Origin": None}, {"Origin": "http://127.0.0.1:1"},
                        {"Sec-Fetch-Site": "same-site"}):
            self.assertEqual(self.redeem(code, **headers)[0], 403)
        self.assertEqual(self.redeem(code)[0], 200)
        self.assertEqual(self.redeem(code)[0], 400)

    def test_the_portal_never_gets_a_token(self):
        """A link could sign the browser in as somebody else with one."""
        self.serve("--oidc-pages", "http://localhost/")
        status, _, text = self.begin(Browser(self.server), code_challenge="",
                                     code_challenge_method="")
        self.assertEqual(status, 400, text)
        for page in "//evil.example/", "/x", "/\\evil.example", "/#x":
            status, _, text = self.begin(Browser(self.server),
                                         redirect_uri=page)
            self.assertEqual(status, 400, page)
        # Another page is led to with a token, as ever.
        self.assertEqual(self.entered("a1")["user"], "ann")

    def test_another_browser_cannot_end_it(self):
        """The state is in a cookie of the browser that began."""
        self.serve()
        browser = Browser(self.server)
        _, headers, _ = self.begin(browser)
        back = browser.follow(headers["Location"], "a1")
        status, headers, _ = Browser(self.server).get(back)
        self.assertEqual((status, headers["Location"]), (400, None))

    def test_a_portal_at_another_name_begins_at_the_servers_own(self):
        self.serve()
        status, headers, _ = self.begin(Browser(self.server), home="")
        self.assertEqual((status, headers["Location"]),
                         (302, HOME + "/#sign-in"))

    def test_a_refusal_is_shown_by_the_portal(self):
        self.serve(who=("--oidc-domains", "example.org"))
        back = self.come_back("a2")
        self.assertRegex(back, "^/#error=")
        self.assertIn("ann", urllib.parse.unquote(back))

    def test_nothing_secret_is_in_the_log(self):
        self.serve()
        session = self.session()
        code = self.code()
        self.redeem(code)
        self.assertEqual(self.status(
            "DELETE", "/api/v2/authn/basic/logout", session), 200)
        status, audit = self.ask("/audit", self.entered_token())
        said = self.printed + self.said() + json.dumps(audit)
        for secret in (code, VERIFIER, session["OpenPAI-Session-Key"],
                       session["Cookie"].split("=", 1)[1]):
            self.assertNotIn(secret, said)

    def entered_token(self):
        return self.redeem(self.code(user="b"), cookie=False)[2]["token"]
