"""The cookie with which a browser is signed in: what it counts for, and when."""

import json

import program
import served

COOKIE = "openpai_session"
LOGIN = "/api/v2/authn/basic/login"
CHANGE = "/api/v1/token/application"  # makes a token, and needs no body


class Sessions(served.ServedTest):
    def sign_in(self, **headers):
        """Status and headers of a login that wants a cookie."""
        status, head, _ = self.ask(
            "POST", LOGIN, {"username": "admin", "password": served.PASSWORD,
                            "cookie": True}, **headers)
        return status, head

    def session(self):
        status, head = self.sign_in(origin=self.url)
        self.assertEqual(status, 200)
        return head["Set-Cookie"].split(";")[0]

    def test_no_other_site_signs_a_browser_in(self):
        """A form of another site would sign it in as that site's user."""
        process = self.serve()
        for headers in ({}, {"origin": "null"}, {"origin": "http://127.0.0.1:1"},
                        {"origin": self.url, "sec_fetch_site": "cross-site"},
                        {"sec_fetch_site": "same-site"}):
            status, head = self.sign_in(**headers)
            self.assertEqual((status, head["Set-Cookie"]), (403, None), headers)
        self.assertIn(COOKIE + "=", self.session())
        self.login()  # without a cookie, as programs do
        self.end(process)

    def test_what_comes_from_elsewhere_is_not_signed_in(self):
        """Other ports of a host are the same site to browsers: a page of a
        job gets this cookie sent."""
        process = self.serve()
        cookie, own = self.session(), self.url
        host = own.split("://")[1]
        for headers, read, change in (
                ({}, 200, 401), ({"origin": own}, 200, 200),
                ({"sec_fetch_site": "same-origin"}, 200, 200),
                ({"sec_fetch_site": "none"}, 200, 401),
                ({"sec_fetch_site": "same-site"}, 401, 401),
                ({"sec_fetch_site": "cross-site", "origin": own}, 401, 401),
                ({"origin": "null"}, 401, 401),
                ({"origin": "http://127.0.0.1:1"}, 401, 401),
                ({"origin": own + ".evil.example"}, 401, 401),
                ({"origin": "http://x@" + host}, 401, 401),
                ({"origin": "evil://" + host}, 401, 401)):
            headers["cookie"] = cookie
            self.assertEqual(
                (self.ask("GET", "/api/v2/jobs", **headers)[0],
                 self.ask("POST", CHANGE, **headers)[0]),
                (read, change), headers)
        self.end(process)

    def test_answers_to_sessions_are_for_no_other_origin(self):
        """A page of another port could read them in the browser's cache."""
        process = self.serve()
        allow = "Access-Control-Allow-Origin"
        _, head, _ = self.ask("GET", "/api/v2/jobs", cookie=self.session())
        self.assertIsNone(head[allow])
        self.assertEqual(head["Cross-Origin-Resource-Policy"], "same-origin")
        _, head, _ = self.ask("GET", "/api/v2/jobs", token=self.login())
        self.assertEqual(head[allow], "*")
        self.assertIsNone(head["Cross-Origin-Resource-Policy"])
        self.end(process)

    def test_with_tls_the_cookie_is_of_this_host_and_this_scheme(self):
        process = self.serve("--tls-cert", *self.certificate()[:1],
                             "--tls-key", str(self.folder / "key.pem"))
        status, head = self.sign_in(origin=self.url)
        self.assertEqual(status, 200)
        self.assertRegex(head["Set-Cookie"], r"\A__Host-" + COOKIE + "=")
        self.assertIn("; Secure", head["Set-Cookie"])
        name, token = head["Set-Cookie"].split(";")[0].split("=", 1)
        for cookie, code in ((f"{name}={token}", 200),
                             (f"{COOKIE}={token}", 401)):
            self.assertEqual(
                self.ask("GET", "/api/v2/jobs", cookie=cookie)[0], code)
        plain = self.url.replace("https:", "http:")
        self.assertEqual(self.sign_in(origin=plain)[0], 403)
        self.end(process)

    def test_behind_a_proxy_with_tls_the_cookie_is_secure(self):
        process = self.serve()
        self.assertNotIn("Secure",
                         self.sign_in(origin=self.url)[1]["Set-Cookie"])
        self.assertIn("; Secure", self.sign_in(
            origin=self.url.replace("http:", "https:"))[1]["Set-Cookie"])
        self.end(process)

    def test_a_session_that_ended_does_not_hide_a_signed_address(self):
        process = self.serve()
        cookie = self.session()
        job = program.JOB.format(command="echo up", instances=1, cpu=1)
        status, _, text = self.ask("POST", "/api/v2/jobs", job, origin=self.url,
                                   cookie=cookie, content_type="text/yaml")
        self.assertEqual(status, 202, text)
        self.ok("wait", "admin~test")
        _, _, text = self.ask(
            "GET", "/api/v2/jobs/admin~test/attempts/0/taskRoles/a/taskIndex/0"
            "/attempts/0/logs", cookie=cookie)
        address = json.loads(text)["locations"][0]["uri"]
        for cookie in cookie, COOKIE + "=ended":
            self.assertEqual(self.ask("GET", address, cookie=cookie)[0], 200)
        self.end(process)

    def test_a_session_ends_with_its_logout_and_its_password(self):
        process = self.serve()
        one, other = self.session(), self.session()
        status, head, _ = self.ask("DELETE", "/api/v2/authn/basic/logout",
                                   cookie=one, origin=self.url)
        self.assertEqual(status, 200)
        self.assertIn("Max-Age=0", head["Set-Cookie"])
        for cookie, code in (one, 401), (other, 200):
            self.assertEqual(
                self.ask("GET", "/api/v2/jobs", cookie=cookie)[0], code)
        status, _, text = self.ask(
            "PUT", "/api/v2/users/admin/password",
            {"oldPassword": served.PASSWORD, "newPassword": "another horse"},
            cookie=other, origin=self.url)
        self.assertEqual(status, 201, text)
        self.assertEqual(
            self.ask("GET", "/api/v2/jobs", cookie=other)[0], 401)
        self.end(process)
