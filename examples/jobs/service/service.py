"""A service that is not well: after three answers it crashes.  How many it gave
in all is in a file, so that the next attempt goes on from there; it has done
its work when it gave eight.
"""
import http.server
import os
import pathlib
import sys

COUNT = pathlib.Path("answers")  # in the job's own folder, which stays
given = int(COUNT.read_text()) if COUNT.exists() else 0
last = given + 3


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global given
        given += 1
        COUNT.write_text(f"{given}\n")
        body = f"answer {given}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


address = os.environ["PAI_CURRENT_CONTAINER_IP"], int(
    os.environ["PAI_CONTAINER_HOST_http_PORT_LIST"])
print("attempt", os.environ["FC_FRAMEWORK_ATTEMPT_ID"], "begins with", given,
      "answers", flush=True)
with http.server.HTTPServer(address, Handler) as server:
    while given < min(last, 8):
        server.handle_request()
if given < 8:
    print("crashed after", given, "answers", flush=True)
    sys.exit(1)
print("all", given, "answers were given")
