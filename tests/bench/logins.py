#!/usr/bin/env python3
"""How long a login takes while 20 others guess passwords: milliseconds.

Usage: logins.py OPENPAI [SECONDS].  Each of the others asks again as soon as it
is answered.  "one address each" is held up by its wrong passwords; "new
addresses" comes from another address of 127.0.0.0/8 each time, as a botnet
does.  A user who has logged in from an address before is told apart from one
who has not, and a user whose password others guess from one whose password they
do not.  "refused" counts answers 429: the server holds all logins of a user from
addresses that are new for a minute after 100 wrong passwords.  Exit status: 0 if
95 of 100 logins take less than LIMIT, but for those of a user who is guessed at,
from new addresses; else 1.
"""
import http.client
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

LIMIT, OTHERS, PASSWORD = 200, 20, "correct horse 7"


def ask(port, address, body, path="/api/v2/authn/basic/login", token=None):
    """The status, how long it took, and what it said."""
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = "Bearer " + token
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60,
                                      source_address=(address, 0))
    begun = time.monotonic()
    line.request("POST", path, json.dumps(body), headers)
    answer = line.getresponse()
    took = time.monotonic() - begun
    said = json.loads(answer.read())
    line.close()
    return answer.status, took * 1000, said


def somewhere():
    return "127.%d.%d.%d" % tuple(random.randint(1, 250) for _ in range(3))


class Attack:
    """Others guess, until it is left."""

    def __init__(self, port, anywhere):
        self.over, self.asked = False, 0
        self.threads = [
            threading.Thread(target=self.guess, args=(port, i, anywhere))
            for i in range(OTHERS)]

    def guess(self, port, i, anywhere):
        n = 0
        while not self.over:
            n += 1
            try:
                ask(port, somewhere() if anywhere else "127.0.9.%d" % (i + 1),
                    {"username": "admin", "password": "guess %d %d" % (i, n)})
            except OSError:
                time.sleep(0.01)
            self.asked += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        for thread in self.threads:
            thread.join()


def log_in(port, user, address):
    return ask(port, address, {"username": user, "password": PASSWORD})


def logins(port, seconds, user, known):
    """From one address, or from one that was not there before each time."""
    took, refused, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        status, ms, _ = log_in(port, user,
                               "127.0.8.8" if known else somewhere())
        if status == 200:
            took.append(ms)
        refused += status == 429
        time.sleep(0.02)
    return sorted(took), refused


def measure(port, seconds, attack, user, known):
    """One row; whether it is as it should be."""
    log_in(port, user, "127.0.8.8")
    if attack is None:
        took, refused = logins(port, seconds, user, known)
    else:
        with Attack(port, attack == "new addresses"):
            took, refused = logins(port, seconds, user, known)
    p95 = took[len(took) * 95 // 100] if took else float("inf")
    print("%-17s %-6s %-9s %4d logins  median %6.1f  P95 %6.1f  longest "
          "%6.1f ms  %4d refused" % (
              attack or "nobody guesses", user,
              "known" if known else "not known", len(took),
              took[len(took) // 2] if took else -1, p95,
              took[-1] if took else -1, refused), flush=True)
    return p95 < LIMIT or (user == "admin" and not known)


def main():
    openpai, seconds = sys.argv[1], float((sys.argv + ["5"])[2])
    good = True
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, OPENPAI_ROOT=folder + "/root",
                   OPENPAI_ADMIN_PASSWORD=PASSWORD)
        server = subprocess.Popen(
            [openpai, "serve", "--listen", "127.0.0.1:0", "--rate-limit",
             "0"], env=env, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, cwd=folder)
        said = ""
        while not re.search(r"serves at /", said):
            said += server.stdout.readline()
        port = int(re.search(r"serves at http://\S+:(\d+)", said)[1])
        token = log_in(port, "admin", "127.0.8.8")[2]["token"]
        status, _, said = ask(
            port, "127.0.8.8",
            {"username": "alice", "password": PASSWORD, "email": "a@b.cd",
             "admin": False, "virtualCluster": ["default"]},
            "/api/v2/users", token)
        if status != 201:
            sys.exit("no user: %s" % said)
        for attack in None, "one address each", "new addresses":
            for user in "alice", "admin":
                for known in True, False:
                    good &= measure(port, seconds, attack, user, known)
        server.terminate()
        server.wait()
    print("load", *pathlib.Path("/proc/loadavg").read_text().split()[:3])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
