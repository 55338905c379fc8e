"""Servers that tests play: each runs in a thread until its test ends."""

import contextlib
import http.server
import json
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, what, status=200, **headers):
        """A text, bytes, or what is written as JSON."""
        if not isinstance(what, (str, bytes)):
            what = json.dumps(what)
        body = what.encode() if isinstance(what, str) else what
        headers = {"Content-Type": "application/json",
                   "Content-Length": str(len(body)), **headers}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with contextlib.suppress(OSError):  # nobody reads it any more
            self.wfile.write(body)


def serve(test, handler, **facts):
    """A server with these attributes; `url` is where it is."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    vars(server).update(facts)
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    test.addCleanup(server.server_close)
    test.addCleanup(server.shutdown)
    return server
