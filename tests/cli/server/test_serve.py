"""A platform that is served over TCP: addresses, TLS, limits, its end."""

import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
import warnings

import program


class ServeTest(program.RootTest):
    def setUp(self):
        super().setUp()
        self.env["OPENPAI_ADMIN_PASSWORD"] = "correct horse"

    def serve(self, *args):
        """A server, and what it said until it served: the URL is the last."""
        process = self.start("serve", "--listen", "127.0.0.1:0", *args)
        said = ""
        while not re.search(r"serves at /", said):
            line = process.stdout.readline()
            self.assertNotEqual(line, "", (said, process.poll()))
            said += line
        return process, re.search(r"serves at (https?://\S+)", said)[1]

    def end(self, process):
        """What it has said on stderr."""
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        self.assertEqual(process.wait(60), 0, said)
        return said

    def ask(self, url, *args):
        done = subprocess.run(["curl", "-sSi", "--max-time", "30", *args, url],
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, (args, done.stderr))
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        status, head, body = int(head.split()[1]), head.decode(), body.decode()
        kind = re.search(r"(?i)content-type: (.*)", head)
        if "/api/" in url:
            method = args[args.index("-X") + 1] if "-X" in args else "GET"
            if "-d" in args or "--data-binary" in args:
                method = "POST"
            self.described(method, urllib.parse.urlsplit(url).path, status,
                           kind and kind[1].strip(), body)
        return status, head.lower(), body

    def refused(self, *args):
        """What a server that cannot begin says."""
        done = self.run_cli("serve", *args)
        self.assertEqual(done.returncode, 1, (args, done.stdout, done.stderr))
        self.assertIn("help:", done.stderr)
        return done.stderr

    # --- served ---

    def test_over_tcp(self):
        process, url = self.serve("--prefix", "/team")
        self.assertEqual(self.ask(url + "/healthz")[::2], (200, "ok\n"))
        status, head, body = self.ask(url + "/rest-server/api/v2/info")
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(body)["launcherType"], "k8s")
        self.assertIn("access-control-allow-origin: *", head)
        self.assertIn("x-ratelimit-limit: 600", head)
        self.assertNotIn("x-powered-by", head)
        tag = re.search(r"etag: (\S+)", head)[1]
        status, _, body = self.ask(url + "/team/api/v2/info", "-H",
                                   f"If-None-Match: {tag}")
        self.assertEqual((status, body), (304, ""))
        status, head, _ = self.ask(url + "/api/v2/jobs", "-X", "OPTIONS", "-H",
                                   "Access-Control-Request-Headers: a")
        self.assertEqual(status, 204)
        self.assertIn("access-control-allow-headers: a", head)
        status, _, body = self.ask(url + "/api/v2/jobs")
        self.assertEqual(status, 401)
        self.assertEqual(json.loads(body)["code"], "UnauthorizedUserError")
        status, _, body = self.ask(url + "/nothing?a")
        self.assertEqual(status, 404)
        self.assertEqual(json.loads(body)["code"], "NoApiError")
        # The same platform at its socket, whose user needs no account.
        self.ok("submit", self.job("echo up"))
        self.ok("wait", "test", "--quiet")
        self.end(process)

    def login(self, url, *args):
        """What a client says who the administrator is."""
        status, head, body = self.ask(
            url + "/rest-server/api/v2/authn/basic/login", *args,
            "--data-urlencode", "username=admin",
            "--data-urlencode", "password=correct horse")
        self.assertEqual(status, 200, body)
        self.assertIn("cache-control: no-store", head)
        return "Authorization: Bearer " + json.loads(body)["token"]

    def test_a_job_over_tcp(self):
        process, url = self.serve()
        status, _, body = self.ask(
            url + "/api/v2/authn/basic/login", "-d",
            "username=admin&password=wrong+one")
        self.assertEqual(json.loads(body)["code"], "IncorrectPasswordError")
        who = self.login(url)
        jobs = url + "/rest-server/api/v2/jobs"
        status, _, body = self.ask(jobs, "-H", who, "-H",
                                   "Content-Type: text/yaml", "--data-binary",
                                   "@" + self.job("echo far"))
        self.assertEqual(status, 202, body)
        self.ok("wait", "admin~test", "--quiet")
        status, head, body = self.ask(jobs, "-H", who)
        self.assertEqual([(j["username"], j["name"], j["state"])
                          for j in json.loads(body)],
                         [("admin", "test", "SUCCEEDED")])
        self.assertIn("x-ratelimit-limit: 120", head)
        status, _, body = self.ask(jobs + "/admin~test/config", "-H", who)
        self.assertEqual((status, json.loads(body)["name"]), (200, "test"))
        self.assertEqual(self.ask(jobs, "-H", who + "x")[0], 401)
        status, _, body = self.ask(url + "/api/v2/audit", "-H", who)
        self.assertEqual(status, 200)
        self.assertIn("127.0.0.1", body)
        self.end(process)

    def test_the_root_is_told_administrators(self):
        process, url = self.serve()
        self.ok("user", "add", "ann", "--password-file",
                self.write("word", "battery staple\n"))
        told = []
        for name, word in (("admin", "correct horse"),
                           ("ann", "battery staple")):
            _, _, body = self.ask(
                url + "/api/v2/authn/basic/login", "--data-urlencode",
                f"username={name}", "--data-urlencode", f"password={word}")
            status, _, body = self.ask(
                url + "/api/v2/status", "-H",
                "Authorization: Bearer " + json.loads(body)["token"])
            self.assertEqual(status, 200, body)
            told.append(json.loads(body))
        self.assertEqual([one["root"] for one in told],
                         [str(self.root), None])
        self.assertEqual(*({**one, "root": 0, "machine": 0}
                           for one in told))
        self.end(process)

    def test_too_often(self):
        process, url = self.serve("--rate-limit", "3",
                                  "--trusted-proxies", "127.0.0.1")
        for i in range(5):
            status, head, body = self.ask(url + "/healthz")
            self.assertEqual(status, 200 if i < 3 else 429)
        self.assertIn("retry-after: ", head)
        self.assertIn("content-type: text/html", head)
        # One who comes through a proxy that is named is himself.
        self.assertEqual(self.ask(url + "/healthz", "-H",
                                  "X-Forwarded-For: 9.9.9.9")[0], 200)
        self.ok("status")
        self.end(process)
        process, url = self.serve("--rate-limit", "0")
        self.assertNotIn("x-ratelimit", self.ask(url + "/healthz")[1])
        self.end(process)

    def certificate(self, name=""):
        """A certificate for this machine, and its key."""
        cert, key = (self.folder / f"{name}{its}.pem"
                     for its in ("cert", "key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048",
                        "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                        "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       check=True, capture_output=True, timeout=60)
        return str(cert), str(key)

    def tls_error(self, url, cert, version):
        """What a client hears that speaks that at most."""
        context = ssl.create_default_context(cafile=cert)
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is old indeed
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion[version]
        try:
            urllib.request.urlopen(url + "/healthz", context=context,
                                   timeout=30).read()
        except urllib.error.URLError as error:
            return str(error)
        return ""

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_tls(self):
        cert, key = self.certificate()
        process, url = self.serve("--tls-cert", cert, "--tls-key", key)
        self.assertTrue(url.startswith("https://127.0.0.1:"))
        status, _, body = self.ask(url + "/api/v2/info", "--cacert", cert)
        self.assertEqual((status, json.loads(body)["launcherType"]),
                         (200, "k8s"))
        who = self.login(url, "--cacert", cert)
        self.assertEqual(self.ask(url + "/api/v2/jobs", "--cacert", cert, "-H",
                                  who)[::2], (200, "[]"))
        bare = subprocess.run(["curl", "-sS", url + "/healthz"],
                              capture_output=True, timeout=60)
        self.assertNotEqual(bare.returncode, 0)  # who has not signed it?
        self.assertEqual(self.tls_error(url, cert, "TLSv1_2"), "")
        self.assertNotEqual(self.tls_error(url, cert, "TLSv1_1"), "")
        # What is no TLS there, and what stops in the middle, harm nobody.
        port = int(url.rpartition(":")[2])
        for text in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"):
            with socket.create_connection(("127.0.0.1", port)) as peer:
                peer.sendall(text)
        self.assertEqual(self.ask(url + "/healthz", "--cacert", cert)[0], 200)
        self.end(process)

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_a_task_is_entered(self):
        """The connection is given to it; over TLS: test_exec_far.py."""
        process, url = self.serve()
        who = self.login(url)
        self.ask(url + "/api/v2/jobs", "-H", who, "-H",
                 "Content-Type: text/yaml", "--data-binary",
                 "@" + self.job("echo up; sleep 1000"))
        self.until_up("admin~test")
        self.enter(url, who)
        self.end(process)
        cert, key = self.certificate()
        process, url = self.serve("--tls-cert", cert, "--tls-key", key)
        status, _, body = self.ask(
            url + "/api/v2/jobs/admin~test/taskRoles/a/taskIndex/0/stream",
            "--cacert", cert, "-H", self.login(url, "--cacert", cert))
        self.assertEqual((status, json.loads(body)["code"]),
                         (426, "UpgradeRequiredError"))
        self.end(process)

    def enter(self, url, who):
        """Says much, hears it again; then hangs up on another one."""
        much = os.urandom(300000)
        with self.entering(url, who, "cat") as (peer, file):
            threading.Thread(target=lambda: peer.sendall(b"".join(
                struct.pack(">BBH", 2, 0, len(piece)) + piece
                for piece in (much[i:i + 10000]
                              for i in range(0, len(much), 10000))) +
                struct.pack(">BBH", 3, 0, 0))).start()
            heard, end = b"", None
            while end is None:
                kind, _, size = struct.unpack(">BBH", file.read(4))
                text = file.read(size)
                if kind == 17:
                    heard += text
                elif kind == 19:
                    end = text[:2]
            self.assertEqual(heard, much)
            self.assertEqual(end, b"\x01\x00")
            self.assertEqual(file.read(1), b"")
        pid = self.folder / "pid"
        with self.entering(url, who, "sh", "-c",
                           f"echo $$ > '{pid}'; echo; exec sleep 1000") as (
                               _, file):
            while struct.unpack(">BBH", (head := file.read(4)))[0] != 17:
                file.read(struct.unpack(">BBH", head)[2])
        number = int(pid.read_text())
        for _ in range(600):  # it ends when nobody is there
            if not os.path.exists(f"/proc/{number}"):
                return
            time.sleep(0.05)
        self.fail("it goes on")

    @contextlib.contextmanager
    def entering(self, url, who, *words):
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), 60) as peer:
            peer.sendall((
                "GET /api/v2/jobs/admin~test/taskRoles/a/taskIndex/0/stream "
                "HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                f"Upgrade: openpai-stream\r\n{who}\r\n\r\n").encode())
            file = peer.makefile("rb")
            self.assertIn(b" 101 ", file.readline())
            while file.readline() != b"\r\n":
                pass
            text = b"\1\0\0\0\0\0" + b"\0" + b"".join(
                word.encode() + b"\0" for word in words)
            peer.sendall(struct.pack(">BBH", 1, 0, len(text)) + text)
            yield peer, file
            file.close()
            peer.close()

    def up(self, *args):
        """Starts one in the background; what it told who started it."""
        done = self.run_cli("up", *args)
        self.assertEqual(done.returncode, 0, (args, done.stderr))
        return done.stderr

    def test_up_listens(self):
        """In the background; the first password is told once, in no log."""
        del self.env["OPENPAI_ADMIN_PASSWORD"]
        told = self.up("--listen", "127.0.0.1:0", "--json")
        password = re.search(r"the first account is admin, with the password "
                             r"(\S+)", told)[1]
        url = re.search(r"serves at (http://\S+)", told)[1]
        body = urllib.parse.urlencode({"username": "admin",
                                       "password": password}).encode()
        with urllib.request.urlopen(url + "/api/v2/authn/basic/login",
                                    data=body, timeout=30) as answer:
            self.assertTrue(json.load(answer)["admin"])
        self.assertNotIn(password, (self.root / "log").read_text())
        self.assertIn("was running already", self.up("--listen", "127.0.0.1:0"))
        self.ok("down")
        told = self.up("--listen", "127.0.0.1:0")
        self.assertNotIn("password", told)
        self.assertIn("serves at http://127.0.0.1:", told)
        self.ok("down")
        self.assertEqual(self.up(), "")
        self.assertIn("admin", self.ok("user", "list"))
        self.ok("down")

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_up_speaks_tls(self):
        """Files are found from another folder; what is wrong is told."""
        self.certificate()
        told = self.up("--listen", "127.0.0.1:0", "--tls-cert", "cert.pem",
                       "--tls-key", "key.pem")
        url = re.search(r"serves at (https://\S+)", told)[1]
        self.assertEqual(self.shown(url),
                         (self.folder / "cert.pem").read_text())
        self.ok("down")
        done = self.run_cli("up", "--listen", "127.0.0.1:0", "--tls-cert",
                            "none.pem", "--tls-key", "key.pem")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.pem: No such file", done.stderr)
        done = self.run_cli("up", "--tls-key", "key.pem")
        self.assertEqual(done.returncode, 2)
        self.assertIn("requires --listen", done.stderr)

    def test_the_first_user(self):
        """Made where somebody may come, or a password for it is given."""
        password = self.env.pop("OPENPAI_ADMIN_PASSWORD")
        self.up()
        self.assertEqual(json.loads(self.ok("user", "list", "--json")), [])
        self.ok("down")
        self.env["OPENPAI_ADMIN_PASSWORD"] = password
        self.assertEqual(self.up(), "")
        self.assertEqual(json.loads(self.ok("user", "list", "--json"))[0]
                         ["username"], "admin")
        self.ok("down")
        self.env["OPENPAI_ADMIN_PASSWORD"] = "short"
        other = self.run_cli("up", "--root", str(self.folder / "other"))
        self.assertEqual(other.returncode, 1)
        self.assertIn("at least 8 characters", other.stderr)

    def test_connections_of_an_address(self):
        process, url = self.serve("--most-per-address", "2")
        place = ("127.0.0.1", int(url.rpartition(":")[2]))
        with contextlib.ExitStack() as stack:
            for _ in range(2):
                peer = stack.enter_context(socket.create_connection(place))
                peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertIn(b" 200 ", peer.recv(1000))
            third = stack.enter_context(socket.create_connection(place))
            self.assertEqual(third.recv(1000), b"")  # it is hung up on
            peer.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b" 200 ", peer.recv(1000))
        self.end(process)
        done = self.run_cli("serve", "--most-per-address", "x")
        self.assertEqual(done.returncode, 2)

    def shown(self, url):
        """The certificate that who comes now is shown."""
        return ssl.get_server_certificate(
            ("127.0.0.1", int(url.rpartition(":")[2])), timeout=30)

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_a_certificate_is_renewed(self):
        """Without a new beginning; half of a new one changes nothing."""
        cert, key = map(pathlib.Path, self.certificate())
        process, url = self.serve("--tls-cert", str(cert), "--tls-key",
                                  str(key))
        first = self.shown(url)
        self.assertEqual(first, cert.read_text())
        # Never both at their places: the server looks at any time.
        new = [pathlib.Path(path) for path in self.certificate("new-")]
        cert.write_text(new[0].read_text())
        said = ""
        while "the current certificate stays in use" not in said:
            self.assertEqual(self.shown(url), first)
            while select.select([process.stderr], [], [], 0)[0]:
                said += os.read(process.stderr.fileno(), 4096).decode()
        self.assertIn("cannot be used for TLS", said)
        new[1].rename(key)
        with socket.create_connection(
                ("127.0.0.1", int(url.rpartition(":")[2]))) as early:
            while self.shown(url) == first:
                self.assertIsNone(process.poll())
            context = ssl.create_default_context(cafile=cert)
            with context.wrap_socket(early,
                                     server_hostname="localhost") as late:
                late.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
                self.assertIn(b" 200 ", late.recv(100))
        self.assertEqual(self.shown(url), cert.read_text())
        self.end(process)

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_bad_certificates(self):
        cert, key = self.certificate()
        text = self.write("text", "garbage\n")
        other = self.folder / "other.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out",
                        other], check=True, capture_output=True, timeout=60)
        listen = ("--listen", "127.0.0.1:0")
        said = self.refused(*listen, "--tls-cert", cert)
        self.assertIn("needs a certificate and its key", said)
        said = self.refused(*listen, "--tls-cert", cert, "--tls-key", "none")
        self.assertIn("the key none: No such file", said)
        said = self.refused(*listen, "--tls-cert", text, "--tls-key", key)
        self.assertIn("it is not in PEM", said)
        said = self.refused(*listen, "--tls-cert", cert, "--tls-key",
                            str(other))
        self.assertIn("cannot be used for TLS", said)
        self.assertNotIn("PRIVATE", said)

    def test_addresses(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            said = self.refused("--listen", f"127.0.0.1:{port}")
            self.assertIn(f"another program already listens on 127.0.0.1:{port}", said)
        self.assertIn("is not an address", self.refused("--listen", "here"))
        self.assertIn("is not an address of a proxy",
                      self.refused("--listen", "127.0.0.1:0",
                                   "--trusted-proxies", "x"))
        done = self.run_cli("serve", "--rate-limit", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--rate-limit is a whole number", done.stderr)
        done = self.run_cli("serve", "word")
        self.assertEqual(done.returncode, 2)

    @unittest.skipIf(os.geteuid() == 0, "root may take any port")
    def test_privileged_port(self):
        self.assertIn("below 1024 need root",
                      self.refused("--listen", "127.0.0.1:81"))

    def test_all_addresses(self):
        process = self.start("serve", "--listen", ":0", "--listen",
                             "127.0.0.1:0")
        lines = [process.stdout.readline() for _ in range(3)]
        self.assertRegex(lines[0], r"serves at http://0\.0\.0\.0:[1-9]")
        for line in lines[:2]:
            port = line.rpartition(":")[2].strip()
            self.assertEqual(
                self.ask(f"http://127.0.0.1:{port}/healthz")[0], 200)
        self.assertIn("can read passwords and tokens", self.end(process))

    def test_one_root_is_served_once(self):
        process, _ = self.serve()
        done = self.run_cli("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 1)
        self.end(process)

    # --- the first user ---

    def test_the_first_password_is_told_once(self):
        del self.env["OPENPAI_ADMIN_PASSWORD"]
        process = self.start("serve", "--listen", "127.0.0.1:0")
        said = [process.stdout.readline() for _ in range(4)]
        self.assertRegex("".join(said), r"admin, with the password \S+")
        self.end(process)
        process = self.start("serve", "--listen", "127.0.0.1:0")
        said = [process.stdout.readline() for _ in range(2)]
        self.end(process)
        self.assertNotIn("password", "".join(said) + process.stdout.read())

    def test_the_journal_is_told_no_password(self):
        """A service has no first user, but the one that is said."""
        def served():
            out, to = os.pipe()
            stat = os.fstat(to)
            self.env["JOURNAL_STREAM"] = f"{stat.st_dev}:{stat.st_ino}"
            process = self.start("up", "--foreground", "--listen",
                                 "127.0.0.1:0", stdout=to)
            os.close(to)
            said = ""
            with open(out) as lines:
                for line in lines:
                    said += line
                    if "serves at /" in line:
                        break
                users = self.ok("user", "list", "--json")
                process.terminate()
                self.assertEqual(process.wait(60), 0)
                said += lines.read()
            return said + process.stderr.read(), json.loads(users)

        del self.env["OPENPAI_ADMIN_PASSWORD"]
        for _ in range(2):
            said, users = served()
            self.assertIn("openpai user add --admin NAME", said)
            self.assertNotIn("the password", said)
            self.assertEqual(users, [])
        self.env["OPENPAI_ADMIN_PASSWORD"] = "correct horse"
        said, users = served()
        self.assertNotIn("openpai user add", said)
        self.assertNotIn("correct horse", said)
        self.assertEqual([user["username"] for user in users], ["admin"])

    def test_the_password_is_no_tasks_business(self):
        process, _ = self.serve()
        self.ok("submit", self.job("env"))
        self.ok("wait", "test", "--quiet")
        self.assertNotIn("correct horse", self.ok("logs", "test"))
        self.end(process)

    def test_a_first_password_that_is_none(self):
        self.env["OPENPAI_ADMIN_PASSWORD"] = "short"
        self.assertIn("OPENPAI_ADMIN_PASSWORD",
                      self.refused("--listen", "127.0.0.1:0"))

    # --- its end ---

    def test_tasks_go_on(self):
        fifo = self.fifo()
        process, _ = self.serve()
        self.ok("submit", self.job(f"echo up; read x < {fifo}; echo after"))
        self.until_up()
        self.end(process)
        process, _ = self.serve()
        self.release(fifo)
        self.ok("wait", "test", "--quiet")
        self.assertEqual(self.ok("logs", "test"), "up\nafter\n")
        self.end(process)

    def test_killed_under_load(self):
        """What was answered with 202 is there afterwards."""
        process, _ = self.serve()
        path = str(self.root / "socket")
        accepted, lock = [], threading.Lock()
        enough = threading.Event()

        def submit(number):
            for i in range(1000):
                name = f"j{number}-{i}"
                text = program.JOB.format(command='"true"', instances=1,
                                          cpu=1).replace("test", name)
                request = (f"POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\n"
                           f"Content-Type: text/yaml\r\nContent-Length: "
                           f"{len(text)}\r\n\r\n{text}")
                try:
                    with socket.socket(socket.AF_UNIX) as peer:
                        peer.settimeout(60)
                        peer.connect(path)
                        peer.sendall(request.encode())
                        answer = peer.recv(4096)
                except OSError:
                    return
                if not answer.startswith(b"HTTP/1.1 202 "):
                    return
                with lock:
                    accepted.append(name)
                    if len(accepted) >= 200:
                        enough.set()

        threads = [threading.Thread(target=submit, args=(i,))
                   for i in range(50)]
        for thread in threads:
            thread.start()
        self.assertTrue(enough.wait(120))
        process.kill()
        for thread in threads:
            thread.join()
        process.wait()
        process, _ = self.serve()
        done = subprocess.run(["curl", "-sS", "--unix-socket", path,
                               "http://x/api/v2/jobs?limit=50000"],
                              capture_output=True, text=True, timeout=60)
        there = {job["name"] for job in json.loads(done.stdout)}
        self.assertGreaterEqual(len(accepted), 200)
        self.assertEqual([n for n in accepted if n not in there], [])
        self.end(process)
