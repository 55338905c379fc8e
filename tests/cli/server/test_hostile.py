"""Requests that are made to hold a server up, or to be read in two ways."""

import json
import re
import socket
import ssl
import threading

import program
import served


class LongFilesTest(served.ServedTest):
    """A long job file is read beside the loop."""

    def send(self, body, token):
        address = self.url.removeprefix("http://").rsplit(":", 1)
        line = socket.create_connection((address[0], int(address[1])))
        head = ("POST /api/v2/jobs HTTP/1.1\r\nHost: x\r\n"
                f"Authorization: Bearer {token}\r\nContent-Type: text/yaml\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n")
        line.sendall(head.encode() + body)
        return line

    def answer(self, line):
        with line, line.makefile("rb") as file:
            return file.read()

    def test_others_are_answered_meanwhile(self):
        self.serve()
        token = self.login()
        body = b"{" + b"a," * ((4 << 20) // 2 - 8) + b"}"
        line = self.send(body, token)
        told = []
        reader = threading.Thread(
            target=lambda: told.append(self.answer(line)))
        reader.start()
        asked = 0
        while reader.is_alive() and asked < 20:
            status, _, _ = self.ask("GET", "/api/v2/info")
            self.assertEqual(status, 200)
            asked += 1
        reader.join()
        head, _, text = told[0].partition(b"\r\n\r\n")
        self.assertIn(b" 400 ", head.split(b"\r\n")[0])
        found = json.loads(json.loads(text)["message"])
        self.assertEqual(len(found), 1001)
        self.assertIn("more", found[-1]["text"])
        # while the loop is held, one is answered, or two
        self.assertGreater(asked, 10)

    def test_what_is_valid_is_taken(self):
        self.serve()
        token = self.login()
        role = ("  a%d:\n    dockerImage: d\n    resourcePerInstance: "
                "{cpu: 1, memoryMB: 1, gpu: 0}\n    commands: ['true']\n")
        file = ("protocolVersion: 2\nname: %s\ntype: job\nprerequisites: "
                "[{type: dockerimage, uri: x, name: d}]\ntaskRoles:\n" % "long"
                + role % 0 + "# " + "x" * 60000 + "\n")
        head, _, text = self.answer(
            self.send(file.encode(), token)).partition(b"\r\n\r\n")
        self.assertIn(b" 202 ", head.split(b"\r\n")[0])
        self.assertEqual(json.loads(text)["name"], "long")
        twice = file.replace("name: long", "name: twice").replace(
            "taskRoles:\n", "taskRoles:\n" + (role % 0).replace("a0", "A_0"))
        text = self.answer(self.send(twice.encode(), token))
        self.assertIn(b"Task roles A_0 and a0 have the same name", text)


class StreamsTest(served.ServedTest):
    """A user has so many streams, and others have theirs."""

    def stream(self, token):
        address = self.url.removeprefix("http://").rsplit(":", 1)
        line = socket.create_connection((address[0], int(address[1])))
        line.sendall((f"GET /api/v2/events HTTP/1.1\r\nHost: x\r\n"
                      f"Authorization: Bearer {token}\r\n\r\n").encode())
        with line.makefile("rb") as file:
            return line, file.readline()

    def test_a_user_has_so_many(self):
        self.serve()
        admin = self.login()
        status, _, text = self.ask("POST", "/api/v2/users", {
            "username": "ann", "password": "secret-1x",
            "virtualCluster": ["default"]}, admin)
        self.assertEqual(status, 201, text)
        ann = self.login("ann", "secret-1x")
        lines = [self.stream(ann) for _ in range(64)]
        self.assertEqual({said for _, said in lines},
                         {b"HTTP/1.1 200 OK\r\n"})
        self.assertIn(b" 429 ", self.stream(ann)[1])
        self.assertIn(b" 200 ", self.stream(admin)[1])
        lines.pop()[0].close()
        while b" 200 " not in (again := self.stream(ann))[1]:
            self.assertIn(b" 429 ", again[1])  # it is not noticed yet
            again[0].close()
        for line, _ in lines + [again]:
            line.close()

    def test_a_quota_counts(self):
        self.serve()
        admin = self.login()
        for name in ("ann", "bob"):
            status, _, text = self.ask("POST", "/api/v2/users", {
                "username": name, "password": "secret-1x",
                "virtualCluster": ["default"]}, admin)
            self.assertEqual(status, 201, text)
        status, _, text = self.ask("PUT", "/api/v2/users/ann/quota",
                                   {"streams": 2}, admin)
        self.assertEqual(status, 201, text)
        ann, bob = self.login("ann", "secret-1x"), self.login("bob", "secret-1x")
        lines = [self.stream(ann), self.stream(ann)]
        self.assertEqual({said for _, said in lines}, {b"HTTP/1.1 200 OK\r\n"})
        self.assertIn(b" 429 ", self.stream(ann)[1])
        self.assertIn(b" 200 ", self.stream(bob)[1])


class LogsTest(served.ServedTest):
    """What a task has made of its own log holds nobody up."""

    def test_an_index_without_end(self):
        self.serve()
        token = self.login()
        job = program.JOB.format(instances=1, cpu=1, command=json.dumps(
            "echo up; cd $(dirname $RUNTIME_LOG_PIPE); truncate -s 1T streams; "
            "echo more"))
        status, _, text = self.ask("POST", "/api/v2/jobs", job, token,
                                   content_type="text/yaml")
        self.assertEqual(status, 202, text)
        self.ok("wait", "admin~test")
        logs = ("/api/v2/jobs/admin~test/attempts/0/taskRoles/a/taskIndex/0/"
                "attempts/0/logs/")
        for path in "stdout?offset=-5", "stdout", "stderr", "all":
            status, _, text = self.ask("GET", logs + path, token=token)
            self.assertEqual(status, 200, text)
        self.assertEqual(text, "up\nmore\n")


GET = b"GET /api/v2/info HTTP/1.1\r\n"
HOST = b"Host: x\r\n"
POST = (b"POST /api/v2/authn/basic/login HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\n")
CHUNKS = b"Transfer-Encoding: chunked\r\n"
BODY = b"\r\n2\r\n{}\r\n0\r\n\r\n"
LAST = b"Connection: close\r\n"
NEXT = GET + HOST + LAST + b"\r\n"

LONG = b"x" * (17 << 10)

# Two who read these may read them differently: refused in JSON, and nothing
# behind them is read.
REFUSED = {
    "no Host": GET + b"\r\n",
    "two Hosts": GET + HOST + b"Host: y\r\n\r\n",
    "a Host with a space": GET + b"Host: x y\r\n\r\n",
    "a Host with a path": GET + b"Host: x/y\r\n\r\n",
    "folded Transfer-Encoding": POST + b"Transfer-Encoding:\r\n chunked\r\n"
                                + BODY,
    "a folded header": GET + HOST + b"X-A: b\r\n c\r\n\r\n",
    "a folded header before others": GET + b"X-A: b\r\n\tc\r\n" + HOST
                                     + b"\r\n",
    "a first header that is folded": GET + b" X: y\r\n" + HOST + b"\r\n",
    "a line that ends with LF": GET + b"X: y\n" + HOST + b"\r\n",
    "a first line that ends with LF": GET.replace(b"\r", b"") + HOST
                                      + b"\r\n",
    "NUL in a value": GET + HOST + b"X-A: a\0b\r\nX: y\r\n\r\n",
    "NUL in the last value": GET + HOST + b"X-A: a\0b\r\n\r\n",
    "NUL in Host": GET + b"Host: x\0y\r\n\r\n",
    "NUL in a path": GET.replace(b"info", b"in\0fo") + HOST + b"\r\n",
    "a space in a path": GET.replace(b"info", b"in fo") + HOST + b"\r\n",
    "a tab in a path": GET.replace(b"info", b"in\tfo") + HOST + b"\r\n",
    "DEL in a path": GET.replace(b"info", b"in\x7ffo") + HOST + b"\r\n",
    "a control character in a value": GET + HOST + b"X: a\x01b\r\n\r\n",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n"
                   b"\r\n{}",
    "a length and chunks": POST + b"Content-Length: 2\r\n" + CHUNKS + BODY,
    "an unknown encoding": POST + b"Transfer-Encoding: xchunked\r\n" + BODY,
    "two encodings": POST + CHUNKS + CHUNKS + BODY,
    "an encoding behind a space": POST + b"Transfer-Encoding : chunked\r\n"
                                  + BODY,
    "chunks of HTTP/1.0": POST.replace(b"1.1", b"1.0") + CHUNKS + BODY,
    "CR in a value": GET + HOST + b"X: a\rb\r\n\r\n",
    "a head that ends with LF": GET + HOST + b"\n",
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "a negative length": POST + b"Content-Length: -2\r\n\r\n{}",
    "a hexadecimal length": POST + b"Content-Length: 0x2\r\n\r\n{}",
    "a length of two words": POST + b"Content-Length: 2 2\r\n\r\n{}",
    "a list of lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "an empty length": POST + b"Content-Length:\r\n\r\n{}",
    "a huge length": POST + b"Content-Length: 99999999999999999999\r\n\r\n",
    "NUL in a name": GET + HOST + b"X\0A: a\r\n\r\n",
    "a header without a colon": GET + HOST + b"foo\r\n\r\n",
    "no version": b"GET /api/v2/info\r\n\r\n",
    "another version": GET.replace(b"1.1", b"2.0") + HOST + b"\r\n",
    "a long head": GET + HOST + b"X: " + LONG + b"\r\n\r\n",
    "many headers": GET + HOST + b"X: y\r\n" * 101 + b"\r\n",
    "a long target": GET.replace(b"info", LONG) + HOST + b"\r\n",
}
# The status where it is not 400.
STATUS = {
    "an unknown encoding": 501,
    "a huge length": 413,
    "another version": 505,
    "a long head": 431,
    "many headers": 431,
    "a long target": 414,
}
CHUNKED = {
    "a size that ends with LF": b"2\n{}\r\n0\r\n\r\n",
    "data that ends with LF": b"2\r\n{}\n0\r\n\r\n",
    "an end with LF": b"2\r\n{}\r\n0\n\n",
    "an extension with LF": b"2;a\nb\r\n{}\r\n0\r\n\r\n",
    "a size in C": b"0x2\r\n{}\r\n0\r\n\r\n",
    "a negative size": b"-2\r\n{}\r\n0\r\n\r\n",
    "a space behind a size": b"2 \r\n{}\r\n0\r\n\r\n",
    "an empty size": b"\r\n{}\r\n0\r\n\r\n",
    "a huge size": b"1" * 17 + b"\r\n{}\r\n0\r\n\r\n",
    "too much data": b"2\r\n{}}\r\n0\r\n\r\n",
    "a folded trailer": b"2\r\n{}\r\n0\r\n x\r\n\r\n",
}
SOUND_CHUNKS = {
    "one": b"2\r\n{}\r\n0\r\n\r\n",
    "two": b"1\r\n{\r\n01\r\n}\r\n000\r\n\r\n",
    "an extension": b"2;a=b\r\n{}\r\n0\r\n\r\n",
    "trailers": b"2\r\n{}\r\n0\r\nX: y\r\nZ:\r\n\r\n",
}
SOUND = {
    "a request": GET + HOST + LAST + b"\r\n",
    "spaces around values": GET + b"Host:x\r\nX-A: \t y\r\nX-B:\r\n" + LAST
                            + b"\r\n",
    "a query": GET.replace(b"info", b"info?a=b&c") + HOST + LAST + b"\r\n",
    "HTTP/1.0": GET.replace(b"1.1", b"1.0") + b"\r\n",
    "an empty Host": GET + b"Host:\r\n" + LAST + b"\r\n",
}


class HeadsTest(served.ServedTest):
    """What two who read it may read differently is refused."""
    tls = False

    def setUp(self):
        super().setUp()
        options = ["--rate-limit", "0"]
        if self.tls:
            cert, key = self.certificate()
            options += ["--tls-cert", cert, "--tls-key", key]
        self.serve(*options)

    def said(self, raw, bytewise=False):
        """All that is answered until the server hangs up."""
        port = int(self.url.rsplit(":", 1)[1])
        line = socket.create_connection(("127.0.0.1", port), timeout=60)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.tls:
            line = self.context.wrap_socket(line, server_hostname="localhost")
        answer = b""
        with line:
            try:
                pieces = ([raw[i:i + 1] for i in range(len(raw))]
                          if bytewise else [raw])
                for piece in pieces:
                    line.sendall(piece)
            except OSError:
                pass  # it has hung up: it was refused by its beginning
            try:
                while (piece := line.recv(65536)):
                    answer += piece
            except (ConnectionError, ssl.SSLError):
                pass
        return answer

    def statuses(self, answer):
        return [int(status)
                for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]

    def refused(self, answer, statuses):
        """The last answer is JSON that says why."""
        self.assertEqual(self.statuses(answer), statuses, answer)
        head, _, text = answer.rpartition(b"\r\n\r\n")
        self.assertIn(b"\r\nContent-Type: application/json", head)
        said = json.loads(text)
        self.assertEqual(sorted(said), ["code", "message"])
        self.assertIn("Invalid HTTP request", said["message"])

    def test_refused(self):
        for name, raw in REFUSED.items():
            for before in b"", GET + HOST + b"\r\n":
                for bytewise in False, len(raw) < 1000:
                    with self.subTest(name, before=before, bytewise=bytewise):
                        status = STATUS.get(name, 400)
                        self.refused(self.said(before + raw + NEXT, bytewise),
                                     [200, status] if before else [status])

    def test_refused_chunks(self):
        for name, chunks in CHUNKED.items():
            for bytewise in False, True:
                with self.subTest(name, bytewise=bytewise):
                    self.refused(self.said(POST + CHUNKS + b"\r\n" + chunks
                                           + NEXT, bytewise), [400])

    def test_behind_chunks(self):
        for name, chunks in SOUND_CHUNKS.items():
            for bytewise in False, True:
                with self.subTest(name, bytewise=bytewise):
                    answer = self.said(POST + CHUNKS + b"\r\n" + chunks + NEXT,
                                       bytewise)
                    self.assertEqual(self.statuses(answer), [400, 200], answer)
                    self.assertNotIn(b"Invalid HTTP request", answer)

    def test_sound(self):
        for name, raw in SOUND.items():
            for bytewise in False, True:
                with self.subTest(name, bytewise=bytewise):
                    self.assertEqual(
                        self.statuses(self.said(raw, bytewise)), [200])


    def test_a_query_of_many_names(self):
        """There was no room for them once: no answer, and no end."""
        query = b"&".join(b"%%6beyword%d=%%2b" % i for i in range(430))
        raw = GET.replace(b"info", b"jobs?" + query) + HOST + LAST + b"\r\n"
        for bytewise in False, True:
            self.assertEqual(self.statuses(self.said(raw, bytewise)), [401])


class HeadsOverTlsTest(HeadsTest):
    tls = True
