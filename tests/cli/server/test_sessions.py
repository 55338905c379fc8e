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

    def session(self, **headers):
        """The headers with which a page of the server is signed in."""
        status, head, text = self.ask(
            "POST", LOGIN, {"username": "admin", "password": served.PASSWORD,
                            "cookie": True}, **{"origin": self.url, **headers})
        self.assertEqual(status, 200, text)
        answer = json.loads(text)
        self.assertEqual(answer["token"], "")  # no script ever has it
        return {"cookie": head["Set-Cookie"].split(";")[0],
                "openpai_session_key": answer["sessionKey"]}

    def jobs(self, **headers):
        return self.ask("GET", "/api/v2/jobs", **headers)[0]

    def test_no_other_site_signs_a_browser_in(self):
        """A form of another site would sign it in as that site's user."""
        process = self.serve()
        for headers in ({}, {"origin": "null"}, {"origin": "http://127.0.0.1:1"},
                        {"origin": self.url, "sec_fetch_site": "cross-site"},
                        {"sec_fetch_site": "same-site"}):
            status, head = self.sign_in(**headers)
            self.assertEqual((status, head["Set-Cookie"]), (403, None), headers)
        self.assertIn(COOKIE + "=", self.session()["cookie"])
        self.login()  # without a cookie, as programs do
        self.end(process)

    def test_what_comes_from_elsewhere_is_not_signed_in(self):
        """Other ports of a host are the same site to browsers: a page of a
        job gets this cookie sent."""
        process = self.serve()
        session, own = self.session(), self.url
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
            headers.update(session)
            self.assertEqual(
                (self.ask("GET", "/api/v2/jobs", **headers)[0],
                 self.ask("POST", CHANGE, **headers)[0]),
                (read, change), headers)
        self.end(process)

    def test_a_cookie_or_a_key_alone_is_nothing(self):
        """A program that serves a page at another port of the host gets the
        cookie, and may forge each header that a browser would send."""
        process = self.serve()
        session, other = self.session(), self.session()
        forged = {"origin": self.url, "sec_fetch_site": "same-origin"}
        cookie, key = session["cookie"], session["openpai_session_key"]
        sealed = cookie.split("=", 1)[1]
        self.assertEqual(self.jobs(**forged, **session), 200)
        for stolen in (
                {"cookie": cookie}, {"openpai_session_key": key},
                {"authorization": "Bearer " + sealed},
                {"authorization": "Bearer " + key},
                {"cookie": f"{COOKIE}={key}", "openpai_session_key": key},
                *({"cookie": cookie, "openpai_session_key": wrong}
                  for wrong in (sealed, "", "A" * 43, key[:-1], key + "A",
                                key + "=", key.swapcase(), "\xff" * 43,
                                other["openpai_session_key"]))):
            self.assertEqual(self.jobs(**forged, **stolen), 401, stolen)
            self.assertEqual(self.ask("POST", CHANGE, **forged, **stolen)[0],
                             401, stolen)
        self.assertNotIn(self.login(), cookie)
        self.end(process)

    def test_a_cookie_of_another_port_signs_nobody_in(self):
        """A page there can set the cookie of the host: its own session, a
        plain token as older servers had it, or the user's with a change."""
        process = self.serve()
        session = self.session()
        cookie = session.pop("cookie")
        for planted in (self.session()["cookie"],
                        f"{COOKIE}={self.login()}", cookie + "A",
                        cookie[:-4] + "AAAA", COOKIE + "=", COOKIE + "=AAAA",
                        COOKIE + "=" + "A" * 9000):
            self.assertEqual(self.jobs(cookie=planted, **session), 401)
        self.assertEqual(self.jobs(cookie=cookie, **session), 200)
        self.end(process)

    def test_a_session_outlives_the_server(self):
        process = self.serve()
        session = self.session()
        self.end(process)
        process = self.serve()
        self.assertEqual(self.jobs(**session), 200)
        self.end(process)

    def test_answers_to_sessions_are_for_no_other_origin(self):
        """A page of another port could read them in the browser's cache."""
        process = self.serve()
        allow = "Access-Control-Allow-Origin"
        _, head, _ = self.ask("GET", "/api/v2/jobs", **self.session())
        self.assertIsNone(head[allow])
        self.assertEqual(head["Cross-Origin-Resource-Policy"], "same-origin")
        _, head, _ = self.ask("GET", "/api/v2/jobs", token=self.login())
        self.assertEqual(head[allow], "*")
        self.assertIsNone(head["Cross-Origin-Resource-Policy"])
        self.end(process)

    def test_with_tls_the_cookie_is_of_this_host_and_this_scheme(self):
        process = self.serve("--tls-cert", *self.certificate()[:1],
                             "--tls-key", str(self.folder / "key.pem"))
        self.assertIn("; Secure",
                      self.sign_in(origin=self.url)[1]["Set-Cookie"])
        session = self.session()
        name, sealed = session.pop("cookie").split("=", 1)
        self.assertEqual(name, "__Host-" + COOKIE)
        for cookie, code in ((f"{name}={sealed}", 200),
                             (f"{COOKIE}={sealed}", 401)):
            self.assertEqual(self.jobs(cookie=cookie, **session), code)
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
        session = self.session()
        job = program.JOB.format(command="echo up", instances=1, cpu=1)
        status, _, text = self.ask("POST", "/api/v2/jobs", job, origin=self.url,
                                   content_type="text/yaml", **session)
        self.assertEqual(status, 202, text)
        self.ok("wait", "admin~test")
        _, _, text = self.ask(
            "GET", "/api/v2/jobs/admin~test/attempts/0/taskRoles/a/taskIndex/0"
            "/attempts/0/logs", **session)
        address = json.loads(text)["locations"][0]["uri"]
        for cookie in session["cookie"], COOKIE + "=ended":
            self.assertEqual(self.ask("GET", address, cookie=cookie)[0], 200)
        self.end(process)

    def test_a_session_ends_with_its_logout_and_its_password(self):
        process = self.serve()
        one, other = self.session(), self.session()
        status, head, _ = self.ask("DELETE", "/api/v2/authn/basic/logout",
                                   origin=self.url, **one)
        self.assertEqual(status, 200)
        self.assertIn("Max-Age=0", head["Set-Cookie"])
        for session, code in (one, 401), (other, 200):
            self.assertEqual(self.jobs(**session), code)
        status, _, text = self.ask(
            "PUT", "/api/v2/users/admin/password",
            {"oldPassword": served.PASSWORD, "newPassword": "another horse"},
            origin=self.url, **other)
        self.assertEqual(status, 201, text)
        self.assertEqual(self.jobs(**other), 401)
        self.end(process)
