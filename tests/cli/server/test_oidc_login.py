"""openpai login with a browser: what it shows, what the browser meets, and who
else may listen or ask."""

import base64
import hashlib
import json
import os
import pty
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import edited
import played
import program
from provided import Browser, ProviderTest

VERIFIER = "v" * 43


def challenge_of(verifier):
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


class Guest(Browser):
    """One who also answers the server's own page."""

    def consent(self, url, user, page=None):
        """The page that asks, from where a login begins."""
        status, headers, text = self.get(url)
        assert status == 302, (status, text)
        status, headers, text = self.get(
            self.follow(headers["Location"], user))
        assert status == 200, (status, headers.get("Location"), text)
        self.headers = headers
        return text

    def say(self, text, answer="yes", **changes):
        form = {"state": re.search(r'name="state" value="([^"]+)"', text)[1],
                "answer": answer, **changes}
        return self.get(self.server + "/api/v1/authn/oidc/confirm", form)

    def words(self, text):
        return re.search(r"<code>([^<]+)</code>", text)[1]


class Original(played.Handler):
    """OpenPAI v1.8 with OpenID Connect: it knows no codes, and tells the
    browser a token."""

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path.endswith("/oidc/login"):
            self.answer(b"", 302, Location=query["redirect_uri"] + "?" +
                        urllib.parse.urlencode({
                            "user": "bob", "token": self.server.token,
                            "admin": "false"}))
        else:
            self.answer({"name": "PAI RESTful API", "version": "v1.8.0",
                         "authnMethod": "OIDC"})


def token_of(user):
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode()
             .rstrip("=") for part in ({}, {"username": user})]
    return ".".join(parts) + ".sign"


class LoginTest(ProviderTest):
    def setUp(self):
        super().setUp()
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            self.env.pop(name, None)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.env.update(HOME=str(self.folder),
                        XDG_CONFIG_HOME=str(self.folder / "config"),
                        PATH=f"{self.bin}:{os.environ['PATH']}")
        # No keyring, and no browser of this machine's.
        self.tool("secret-tool", "exit 1")
        self.opened = self.folder / "opened"
        self.tool("xdg-open", f'echo "$1" > "{self.opened}"')

    def tool(self, name, line):
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def login(self, *args, desktop=True, **kwargs):
        """A login under way, as far as its URL and the words it shows."""
        if desktop:
            self.env["DISPLAY"] = ":none"
        process = self.start("login", "--oidc", self.server, "--alias", "lab",
                             *args, **kwargs)
        self.addCleanup(process.stderr.close)
        said = ""
        while "check that it shows the code" not in said:
            line = process.stderr.readline()
            self.assertNotEqual(line, "", said)
            said += line
        return (process, re.search(r"  (http\S+)", said)[1],
                re.search(r"shows the code (\S+)", said)[1].rstrip(","))

    def kept(self):
        path = self.folder / "config" / "openpai" / "credentials"
        return path.read_text() if path.exists() else ""

    def redeem(self, code, verifier=VERIFIER):
        request = urllib.request.Request(
            self.server + "/api/v2/authn/oidc/token",
            data=json.dumps({"code": code,
                             "code_verifier": verifier}).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def asked(self, page=None, challenge=challenge_of(VERIFIER), user="a1",
              **more):
        """A browser at the page that asks."""
        query = {"code_challenge": challenge, "code_challenge_method": "S256",
                 **({"redirect_uri": page} if page else {}), **more}
        guest = Guest(self.server)
        text = guest.consent(f"{self.server}/api/v1/authn/oidc/login?" +
                             urllib.parse.urlencode(query), user)
        return guest, text

    def code(self, **kwargs):
        """A code for a program that listens at a port."""
        page = "http://127.0.0.1:1/x"
        guest, text = self.asked(page, **kwargs)
        status, headers, _ = guest.say(text)
        self.assertEqual(status, 303)
        self.assertRegex(headers["Location"], "^http://127.0.0.1:1/x.code=")
        return headers["Location"].split("=")[1]

    # --- the program ---

    def test_browser_here(self):
        self.serve()
        process, first, words = self.login()
        guest = Guest(self.server)
        status, headers, _ = guest.get(first)
        self.assertEqual(status, 302)
        text = guest.consent(headers["Location"], "a1")
        self.assertEqual(guest.words(text), words)
        self.assertIn("<b>ann</b>", text)
        self.assertEqual(guest.headers["X-Frame-Options"], "DENY")
        self.assertIn("frame-ancestors 'none'",
                      guest.headers["Content-Security-Policy"])
        status, headers, _ = guest.say(text)
        self.assertEqual(status, 303)
        self.assertNotIn("token=", headers["Location"])
        # Others who listen, or ask, or say nothing, are in nobody's way.
        port = urllib.parse.urlsplit(first).port
        silent = [socket.create_connection(("127.0.0.1", port))
                  for _ in range(20)]
        self.assertEqual(guest.get(f"http://127.0.0.1:{port}/?code=x")[0],
                         404)
        self.assertEqual(guest.get(first)[0], 410)
        self.assertEqual(guest.get(headers["Location"])[0], 200)
        for one in silent:
            one.close()
        self.assertIn("as ann", process.communicate(timeout=60)[0])
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.opened.read_text().strip(), first)
        self.assertIn("lab", self.kept())
        self.assertEqual(self.ok("--cluster", "lab", "list"), self.ok("list"))
        # The code is used up, for whoever has seen it.
        code = headers["Location"].split("code=")[1]
        self.assertEqual(self.redeem(code)[0], 400)

    def test_browser_elsewhere(self):
        self.serve()
        process, url, words = self.login("--no-browser",
                                         stdin=subprocess.PIPE)
        self.assertFalse(self.opened.exists())
        guest = Guest(self.server)
        text = guest.consent(url, "a1")
        self.assertEqual(guest.words(text), words)
        status, headers, text = guest.say(text)
        code = guest.words(text)
        self.assertRegex(code, "^[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}$")
        said = process.communicate(" " + code.lower() + "\n", timeout=60)
        self.assertEqual((process.returncode, "as ann" in said[0]), (0, True),
                         said)

    def test_an_editor_keeps_the_token(self):
        """openpai helper gives the page, and the token for its code."""
        self.serve()
        process = subprocess.Popen([program.OPENPAI, "helper"], env=self.env,
                                   stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        editor = edited.Editor.of(process)
        editor.begin()
        self.assertTrue(editor.ask("openpai/findServer", url=self.server)
                        ["browser"])
        page = editor.ask("openpai/loginPage", url=self.server)
        guest = Guest(self.server)
        text = guest.consent(page["page"], "a1")
        self.assertEqual(guest.words(text), page["words"])
        code = guest.words(guest.say(text)[2])
        login = {"url": page["url"], "code": " " + code.lower()}
        self.assertEqual(editor.refused(
            "openpai/login", **login, verifier=VERIFIER)["code"], -32000)
        # The code is of no use any more.
        self.assertEqual(editor.refused(
            "openpai/login", **login, verifier=page["verifier"])["code"],
            -32000)
        page = editor.ask("openpai/loginPage", url=self.server)
        text = guest.consent(page["page"], "a1")
        code = guest.words(guest.say(text)[2])
        told = editor.ask("openpai/login", url=page["url"], code=code,
                          verifier=page["verifier"])
        self.assertEqual(told["user"], "ann")
        self.assertEqual(self.kept(), "")
        self.assertIn("browser", editor.refused(
            "openpai/login", url=self.server, user="ann", password="x")
            ["message"])
        editor.note("exit")
        self.assertEqual(process.wait(60), 1)

    def test_typed_at_a_terminal(self):
        """It hears signals, and the terminal is as it was."""
        self.serve()
        for number in (None, signal.SIGINT):
            pid, fd = pty.fork()
            if pid == 0:
                os.execve(program.OPENPAI,
                          [program.OPENPAI, "login", self.server], self.env)
            shown = program.read_terminal_until(fd, b"that other code: ")
            if number is None:
                os.write(fd, b"WRONG\n")
            else:
                os.kill(pid, number)
            while more := program.read_terminal(fd):
                shown += more
            os.close(fd)
            status = os.waitpid(pid, 0)[1]
            if number is None:
                self.assertIn(b"WRONG", shown)  # what is typed is seen
                self.assertIn(b"code is wrong", shown)
                self.assertEqual(os.waitstatus_to_exitcode(status), 1)
            else:
                self.assertEqual(os.waitstatus_to_exitcode(status), -number)

    def test_no(self):
        self.serve()
        process, first, _ = self.login()
        guest = Guest(self.server)
        text = guest.consent(guest.get(first)[1]["Location"], "a1")
        status, headers, _ = guest.say(text, answer="no")
        guest.get(headers["Location"])
        said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("refused the login", said[1])
        self.assertEqual(self.kept(), "")

    def test_somebody_who_may_not(self):
        self.serve("--oidc-groups-claim", "groups")
        process, first, _ = self.login()
        guest = Guest(self.server)
        status, headers, _ = guest.get(guest.get(first)[1]["Location"])
        _, headers, _ = guest.get(guest.follow(headers["Location"], "c"))
        guest.get(headers["Location"])
        said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("out is not in a group", said[1])

    def test_somebody_else(self):
        self.serve()
        process, first, _ = self.login("--user", "bob")
        guest = Guest(self.server)
        text = guest.consent(guest.get(first)[1]["Location"], "a1")
        guest.get(guest.say(text)[1]["Location"])
        said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("user ann logged in instead of bob", said[1])
        self.assertEqual(self.kept(), "")

    def test_ended_while_it_waits(self):
        self.serve()
        process, _, _ = self.login()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), -signal.SIGINT)

    def test_words(self):
        self.serve()
        for args in (("--no-browser", "--token-stdin"),
                     ("--oidc", "--password-stdin")):
            done = self.run_cli("login", self.server, *args)
            self.assertEqual(done.returncode, 2)
            self.assertIn("exclude each other: %s %s" % args, done.stderr)
        # A script is not kept waiting.
        done = self.run_cli("login", self.server, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--no-browser", done.stderr)
        done = self.run_cli("login", self.server, "--no-browser",
                            stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no code was typed", done.stderr)

    def test_original(self):
        self.server = played.serve(self, Original, token=token_of("bob")).url
        self.env["DISPLAY"] = ":none"
        process = self.start("login", "--oidc", self.server, "--alias", "lab")
        while not (url := process.stderr.readline()).startswith("  http"):
            self.assertIsNone(process.poll())
        guest = Guest(self.server)
        _, headers, _ = guest.get(url.strip())
        _, headers, _ = guest.get(headers["Location"])
        # Another page of this machine that brings a token is not heard.
        back = urllib.parse.urlsplit(headers["Location"])
        self.assertEqual(guest.get(
            f"{back.scheme}://{back.netloc}/?token={token_of('eve')}")[0],
            404)
        self.assertEqual(guest.get(headers["Location"])[0], 200)
        self.assertIn("as bob", process.communicate(timeout=60)[0])
        self.assertIn(token_of("bob"), self.kept())
        done = self.run_cli("login", self.server, "--no-browser")
        self.assertEqual(done.returncode, 1)
        self.assertIn("original OpenPAI", done.stderr)

    # --- the server ---

    def test_codes(self):
        self.serve()
        status, answer = self.redeem(self.code())
        self.assertEqual((status, answer["user"]), (200, "ann"))
        self.assertEqual(
            self.ask("/users/ann", answer["token"])[1]["email"],
            "ann@example.org")
        # Whoever has no secret uses it up.
        code = self.code()
        self.assertEqual(self.redeem(code, "w" * 43)[0], 400)
        self.assertEqual(self.redeem(code)[0], 400)
        for body in ("x", ""):
            self.assertEqual(self.redeem(body)[0], 400)
        self.assertEqual(self.redeem("x", "short")[0], 400)
        # Of one user no more than four.
        codes = [self.code() for _ in range(5)]
        self.assertEqual([self.redeem(code)[0] for code in codes],
                         [400, 200, 200, 200, 200])

    def test_challenges(self):
        self.serve()
        begin = self.server + "/api/v1/authn/oidc/login?"
        good = challenge_of(VERIFIER)
        for challenge, method, page in (
                (good, "plain", "http://localhost:1/"),
                (good, None, "http://localhost:1/"),
                (good[:-1], "S256", "http://localhost:1/"),
                (good + "=", "S256", "http://localhost:1/"),
                ("", "S256", "http://localhost:1/"),
                (good, "S256", "http://evil.example.org/"),
                (good, "S256", "http://localhost:1@evil/"),
                (None, None, "http://localhost:1/"),
                (None, None, "http://127.0.0.1:1/")):
            query = {"code_challenge": challenge, "redirect_uri": page,
                     "code_challenge_method": method}
            status, _, text = Browser(self.server).get(
                begin + urllib.parse.urlencode(
                    {k: v for k, v in query.items() if v is not None}))
            self.assertEqual((status, json.loads(text)["code"]),
                             (400, "InvalidParametersError"), query)

    def test_who_may_say_yes(self):
        """Only the browser that was asked, in the words of its page."""
        self.serve()
        guest, text = self.asked("http://127.0.0.1:1/x")
        self.assertEqual(Guest(self.server).say(text)[0], 400)
        self.assertEqual(guest.say(text, state="x" * 43)[0], 400)
        self.assertEqual(guest.say(text, answer="maybe")[0], 400)
        self.assertEqual(guest.get(
            self.server + "/api/v1/authn/oidc/confirm?answer=yes")[0], 404)
        # A cookie of a login that is under way stands for no consent.
        other = Guest(self.server)
        _, headers, _ = other.begin(
            "http://127.0.0.1:1/x", "&code_challenge_method=S256"
            f"&code_challenge={challenge_of(VERIFIER)}")
        state = re.search("[?&]state=([^&]+)", headers["Location"])[1]
        self.assertEqual([c.name for c in other.jar],
                         ["openpai_oidc_" + state[:8]])
        self.assertEqual(other.say(text, state=state)[0], 400)
        # That cookie goes when the user is asked, who has another one.
        shown = other.get(other.follow(headers["Location"], "a1"))[2]
        self.assertEqual(
            [c.name for c in other.jar if c.name.startswith("openpai")],
            ["openpai_oidc_" + re.search('name="state" value="([^"]+)"',
                                         shown)[1][:8]])
        # Pressed twice: two codes, each of them good.
        codes = [guest.say(text)[1]["Location"].split("=")[1]
                 for _ in range(2)]
        self.assertEqual([self.redeem(code)[0] for code in codes],
                         [200, 200])
        # After a no there is nothing to be said.
        guest, text = self.asked("http://127.0.0.1:1/x")
        guest.say(text, answer="no")
        self.assertEqual(guest.say(text)[0], 400)


del ProviderTest
