"""Servers for the tests of clients: a real platform, and one that plays."""
import contextlib
import http.server
import json
import os
import re
import subprocess
import sys
import threading

PROGRAM = os.environ.get("OPENPAI_PROGRAM")


@contextlib.contextmanager
def platform(root):
    """`openpai up` of a root, which is gone after it."""
    root.mkdir(exist_ok=True)
    run(root, "up")
    try:
        yield root
    finally:
        run(root, "down", "--kill")


def certificate(folder):
    """One for this machine, and its key."""
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True, timeout=60)
    return cert, key


@contextlib.contextmanager
def served(root, password, *options):
    """`openpai serve` of a root at some port: its URL.  The administrator is
    admin."""
    with subprocess.Popen(
            [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--root", str(root),
             *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "OPENPAI_ADMIN_PASSWORD": password}) as process:
        try:
            yield next(found[0] for found in
                       (re.search(r"https?://\S+", line)
                        for line in process.stdout) if found)
        finally:
            process.terminate()
            process.stdout.read()


def run(root, verb, *words):
    subprocess.run([PROGRAM, verb, *words, "--root", str(root)], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Played(http.server.ThreadingHTTPServer):
    """Answers what the test has said, by "GET /path" or in order.

    An answer is (status, value) or a function of the handler.  All requests
    are in `asked` as (method, path, Authorization, body).
    """
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers, self.asked = {}, []
        self.thread = threading.Thread(target=self.serve_forever,
                                       kwargs={"poll_interval": 0.01})

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.server_address[1]

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.shutdown()
        self.thread.join()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # else the second half of an answer waits for the network
    disable_nagle_algorithm = True

    def log_message(self, format, *args):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append((self.command, self.path,
                                  self.headers.get("Authorization"), body))
        path = self.path.partition("?")[0]
        wanted = self.server.answers.get("%s %s" % (self.command, path),
                                         (404, {"code": "NoApiError",
                                                "message": "no " + path}))
        if isinstance(wanted, list):  # one after the other, the last for ever
            wanted = wanted.pop(0) if len(wanted) > 1 else wanted[0]
        if callable(wanted):
            wanted(self)
        else:
            self.reply(*wanted)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def cut(self):
        """Half of an answer."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"[")
        self.wfile.flush()
        self.close_connection = True


def main():
    """One for the tests of what is freed, until standard input ends."""
    with Played() as server:
        server.answers["GET /x"] = (200, {"a": "b" * 100})
        server.answers["GET /api/v2/jobs"] = (200, [])
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
