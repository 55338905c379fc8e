"""A stream into a task as a WebSocket, by hand: who may open one, and what a
client that breaks the rules meets."""

import base64
import hashlib
import json
import os
import pathlib
import re
import socket
import ssl
import struct
import time
import urllib.parse

import program
import served

PROTOCOL = "openpai-stream"
STREAM = "/api/v2/jobs/admin~test/taskRoles/a/taskIndex/0/stream"
BEGIN = b"\1\0\0\x07\1\1\0\x50\0\x18\0"  # a terminal of 80 by 24, and a shell
KEY = base64.b64encode(bytes(range(16))).decode()
BINARY, CLOSE, PING, PONG = 2, 8, 9, 10


def frame(opcode, data=b"", first=0x80, mask=b"\x37\x00\xff\x21"):
    size = len(data)
    length = (bytes([0x80 | size]) if size < 126 else
              b"\xfe" + struct.pack(">H", size) if size < 65536 else
              b"\xff" + struct.pack(">Q", size))
    return bytes([first | opcode]) + length + mask + bytes(
        byte ^ mask[i % 4] for i, byte in enumerate(data))


def said(text):
    """Input of the command, in a frame of the stream."""
    return b"\2\0" + struct.pack(">H", len(text)) + text


class Client:
    def __init__(self, test, path=STREAM, **fields):
        where = urllib.parse.urlsplit(test.url)
        self.socket = socket.create_connection(
            (where.hostname, where.port), timeout=30)
        test.addCleanup(self.socket.close)
        if where.scheme == "https":
            self.socket = test.context.wrap_socket(
                self.socket, server_hostname=where.hostname)
            test.addCleanup(self.socket.close)
        fields = {"Host": where.netloc, "Connection": "keep-alive, Upgrade",
                  "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                  "Sec-WebSocket-Key": KEY,
                  "Sec-WebSocket-Protocol": PROTOCOL, **fields}
        self.socket.sendall((f"GET {path} HTTP/1.1\r\n" + "".join(
            f"{k}: {v}\r\n" for k, v in fields.items() if v is not None) +
            "\r\n").encode())
        self.rest = b""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            assert byte != b"", head
            head += byte
        self.head = head.decode()
        self.status = int(self.head.split()[1])

    def take(self, size):
        while len(self.rest) < size:
            piece = self.socket.recv(65536)
            if piece == b"":
                raise EOFError(self.rest)
            self.rest += piece
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def hear(self):
        """The next frame: opcode and data.  A server's are not masked."""
        first, size = self.take(2)
        assert first & 0x70 == 0 and size < 127, (first, size)
        if size == 126:
            size, = struct.unpack(">H", self.take(2))
        return first & 15, self.take(size)

    def hear_until(self, text):
        """All data up to a text."""
        heard = b""
        while text not in heard:
            opcode, data = self.hear()
            assert opcode == BINARY, (opcode, data, heard)
            heard += data
        return heard

    def hear_close(self):
        """The code of the close frame, and all data before it."""
        heard = b""
        while True:
            opcode, data = self.hear()
            if opcode == CLOSE:
                return struct.unpack(">H", data[:2])[0], heard
            if opcode == BINARY:
                heard += data

    def is_over(self):
        try:
            return self.rest + self.socket.recv(1) == b""
        except (ConnectionError, ssl.SSLError):
            return True

    def say(self, *frames):
        self.socket.sendall(b"".join(frames))


class WebSocket(served.ServedTest):
    def begin(self, *args):
        process = self.serve(*args)
        self.token = self.login()
        job = program.JOB.format(command="sleep 600", instances=1, cpu=1)
        status, _, text = self.ask("POST", "/api/v2/jobs", job,
                                   token=self.token, content_type="text/yaml")
        self.assertEqual(status, 202, text)
        while True:
            _, _, text = self.ask("GET", "/api/v2/jobs/admin~test",
                                  token=self.token)
            if json.loads(text)["jobStatus"]["state"] == "RUNNING":
                break
            time.sleep(0.05)
        return process

    def enter(self, **fields):
        """With the shell begun."""
        client = Client(self, Authorization=f"Bearer {self.token}", **fields)
        self.assertEqual(client.status, 101, client.head)
        client.say(frame(BINARY, BEGIN))
        opcode, heard = client.hear()  # and maybe the first prompt
        self.assertEqual((opcode, heard[:5]), (BINARY, b"\x10\0\0\1\1"))
        return client

    def run_in(self, client, command, output):
        client.say(frame(BINARY, said(command + b"\n")))
        client.hear_until(output)

    def leave(self, process):
        self.ok("stop", "admin~test")
        self.end(process)

    def test_a_shell(self):
        process = self.begin()
        client = self.enter()
        hash = hashlib.sha1(
            (KEY + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        self.assertIn("Sec-WebSocket-Accept: " +
                      base64.b64encode(hash).decode() + "\r\n", client.head)
        self.assertIn(f"Sec-WebSocket-Protocol: {PROTOCOL}\r\n", client.head)
        self.run_in(client, b"echo $((6*7))", b"42")
        text = said(b"echo $((7*8))\n")  # in fragments, a ping between
        client.say(frame(BINARY, text[:3], 0), frame(PING, b"there?"),
                   frame(0, text[3:9], 0), frame(0, text[9:]))
        heard = b""
        while True:
            opcode, data = client.hear()
            if opcode == PONG:
                self.assertEqual(data, b"there?")
                break
            heard += data
        if b"56" not in heard:
            client.hear_until(b"56")
        client.say(frame(BINARY, said(b"exit 9\n")))
        code, heard = client.hear_close()
        self.assertEqual((code, heard[-6:]), (1000, b"\x13\0\0\2\1\x09"))
        client.say(frame(CLOSE, struct.pack(">H", 1000)))
        self.assertTrue(client.is_over())
        self.leave(process)

    def test_over_tls(self):
        process = self.begin("--tls-cert", *self.certificate()[:1],
                             "--tls-key", str(self.folder / "key.pem"))
        client = self.enter()
        self.run_in(client, b"echo $((6*7))", b"42")
        client.say(frame(BINARY, said(b"exit 9\n")))
        self.assertEqual(client.hear_close()[0], 1000)
        self.leave(process)

    def test_who_may_open_one(self):
        process = self.begin()
        login = {"username": "admin", "password": served.PASSWORD,
                 "cookie": True}
        _, head, text = self.ask("POST", "/api/v2/authn/basic/login", login,
                                 origin=self.url)
        cookie = head["Set-Cookie"].split(";")[0]
        key = "openpai-session-key." + json.loads(text)["sessionKey"]
        both, bearer = f"{PROTOCOL}, {key}", f"Bearer {self.token}"
        ask = "Sec-WebSocket-Protocol"
        evil = "http://127.0.0.1:1"
        for fields, want in (
                ({"Cookie": cookie, ask: both, "Origin": self.url}, 101),
                ({"Cookie": cookie, ask: f"{key},{PROTOCOL}",
                  "Sec-Fetch-Site": "same-origin"}, 101),
                ({"Authorization": bearer}, 101),
                ({"Cookie": cookie, ask: both}, 401),  # no browser does that
                ({"Cookie": cookie, ask: both, "Origin": evil}, 401),
                ({"Cookie": cookie, ask: both, "Origin": "null"}, 401),
                ({"Cookie": cookie, ask: both, "Origin": self.url,
                  "Sec-Fetch-Site": "same-site"}, 401),
                ({"Cookie": cookie, "Origin": self.url}, 401),
                ({ask: both, "Origin": self.url}, 401),
                ({"Cookie": cookie, ask: both[:-1], "Origin": self.url}, 401),
                ({"Authorization": bearer, "Origin": evil}, 403),
                ({"Authorization": bearer, ask: None}, 400),
                ({"Authorization": bearer, ask: "chat"}, 400),
                ({"Authorization": bearer, "Sec-WebSocket-Key": None}, 400),
                ({"Authorization": bearer, "Sec-WebSocket-Key": "x"}, 400),
                ({"Authorization": bearer, "Sec-WebSocket-Version": "8"}, 426),
                ({"Authorization": bearer, "Connection": "close"}, 426),
                ({"Authorization": bearer, "Upgrade": "h2c"}, 426)):
            client = Client(self, **fields)
            self.assertEqual(client.status, want, (fields, client.head))
            self.assertNotIn(key, client.head)
        self.leave(process)

    def test_at_the_socket_other_origins_are_refused_too(self):
        """ssh leads a browser to it: the kernel names the user there."""
        process = self.begin()
        path = self.root / "socket"
        url = self.url
        for origin, want in (("http://evil.example", b"403"), (url, b"403"),
                             ("http://x", b"101"), (None, b"101")):
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(30)
                line.connect(str(path))
                line.sendall((
                    f"GET {STREAM} HTTP/1.1\r\nHost: x\r\n"
                    "Connection: Upgrade\r\nUpgrade: websocket\r\n" +
                    (f"Origin: {origin}\r\n" if origin else "") +
                    f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13"
                    f"\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n").encode())
                self.assertEqual(line.recv(12)[9:12], want, origin)
        self.leave(process)

    def test_clients_that_break_the_rules(self):
        process = self.begin()
        for bytes_, want in (
                (b"\x82\1x", 1002), (frame(1, b"text"), 1003),
                (frame(0, b"x"), 1002), (frame(3), 1002),
                (frame(PING, b"x" * 126), 1002),
                (b"\x82\xff" + struct.pack(">Q", 1 << 40), 1009),
                (frame(CLOSE, b"\3\xe8\xff"), 1007),
                (frame(CLOSE, b"\3"), 1002), (frame(CLOSE), 1000),
                (frame(CLOSE, struct.pack(">H", 4321)), 4321)):
            client = self.enter()
            self.run_in(client, b"echo $((6*7)) $$", b"42")
            # Some of these frames are not complete: their head is enough.
            client.say(bytes_ + (bytes(4) if want == 1009 else b""))
            self.assertEqual(client.hear_close()[0], want, bytes_)
            client.socket.close()
        client = self.enter()  # bytes that are no WebSocket at all
        client.say(os.urandom(1 << 16))
        try:
            self.assertIn(client.hear_close()[0], (1002, 1003, 1007, 1009))
        except ConnectionError:
            pass
        self.run_in(self.enter(), b"echo $((6*7))", b"42")
        self.leave(process)

    def test_a_command_ends_with_its_client(self):
        process = self.begin()
        for bye in frame(CLOSE), None:
            client = self.enter()
            client.say(frame(BINARY, said(b"echo pid-$$-\n")))
            heard = b""
            while (pid := re.search(rb"pid-(\d+)-", heard)) is None:
                heard += client.hear()[1]
            shell = pathlib.Path("/proc", pid[1].decode())
            self.assertTrue(shell.exists())
            if bye:
                client.say(bye)
                self.assertEqual(client.hear_close()[0], 1000)
            else:
                client.socket.close()
            for _ in range(600):
                if not shell.exists():
                    break
                time.sleep(0.05)
            self.assertFalse(shell.exists(), bye)
        self.leave(process)

    def test_a_client_that_does_not_read_waits_alone(self):
        """Its command stops at the full line; nothing is lost, and the server
        holds no more than its buffers."""
        process = self.begin()
        slow = self.enter()
        lines = 400000
        slow.say(frame(BINARY, said(
            b"stty -echo -onlcr; seq 1 %d; echo en''d\n" % lines)))
        slow.say(*[frame(PING, b"x" * 100)] * 1000)
        time.sleep(1)
        grown = self.memory(process)
        self.run_in(self.enter(), b"echo $((6*7))", b"42")
        heard = b""
        while b"end" not in heard[-100:]:
            opcode, data = slow.hear()
            if opcode == BINARY:
                heard += data
        text = b""
        while heard:
            size, = struct.unpack(">H", heard[2:4])
            text += heard[4:4 + size]
            heard = heard[4 + size:]
        numbers = text[text.index(b"1\n2\n"):].split(b"\n")[:lines]
        self.assertEqual(numbers[-1], b"%d" % lines)
        self.assertEqual(numbers, [b"%d" % n for n in range(1, lines + 1)])
        self.assertLess(self.memory(process) - grown, 4 << 10)
        self.leave(process)

    @staticmethod
    def memory(process):
        """Of the server, in kB."""
        with open(f"/proc/{process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status
                        if line.startswith("VmRSS"))

    def test_a_server_that_ends_says_so(self):
        process = self.begin()
        client = self.enter()
        self.run_in(client, b"echo $((6*7))", b"42")
        self.end(process)
        code, heard = client.hear_close()
        self.assertEqual(code, 1001)
        self.assertIn(b"shutting down", heard)
