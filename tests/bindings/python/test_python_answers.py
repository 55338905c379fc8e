"""What the Python module promises of servers that answer anything at all, or
nothing, and of clients that are misused.

Usage: test_python_answers.py ROOT [unittest's arguments]
"""
import asyncio
import gc
import json
import pathlib
import pickle
import socket
import unittest
import unittest.mock
import warnings

import openpai
from python_jobs import ROOT, job, new_root
from python_serve import Played

STATUS = {
    "name": "j", "jobStatus": {"username": "ann", "state": "SUCCEEDED",
                               "completedTime": 5},
    "taskRoles": {"main": {"taskStatuses": [
        {"taskIndex": 0, "taskState": "SUCCEEDED"}]}}}
FILES = {"entries": [], "next": None}
DEEP = 100000
#: Bodies that mean nothing to anybody.
BODIES = (b"<html>Sign in</html>", b"null", b"[1]", b"{}", b'"x"', b"\xff\xfe",
          b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP)


def raw(body):
    """An answer of these bytes."""
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    return answer


def changed(value, *path):
    """The same with something else at a place."""
    value = json.loads(json.dumps(value))
    at = value
    for key in path[:-2]:
        at = at[key]
    at[path[-2]] = path[-1]
    return value


def calls(client):
    """What asks, with the routes that may answer anything."""
    one = "/api/v2/jobs/ann~j"
    folder = pathlib.Path(new_root())
    return (
        (lambda: client.call(len, ""), ("GET /api/v2/status",
                                        "PUT /api/v2/jobs/len_0/code",
                                        "POST /api/v2/jobs")),
        (lambda: openpai.ClientCall(client, "ann~j", {}).result(0.1),
         ("GET " + one, "GET %s/files" % one)),
        (lambda: client.why("ann~j"), ("GET %s/why" % one,)),
        (lambda: client.job("ann~j"), ("GET " + one,)),
        (lambda: client.forget("ann~j"), ("DELETE " + one,)),
        (lambda: client.submit(job("true")), ("POST /api/v2/jobs",)),
        (lambda: client.files("ann~j"), ("GET %s/files" % one,)),
        (lambda: client.download("ann~j", "x", folder),
         ("GET %s/files" % one,)),
        (lambda: client.jobs().all(), ("GET /api/v2/jobs",)),
        (lambda: list(client.logs("ann~j")), ("GET " + one,)),
        (lambda: client.exec("ann~j", "true"), ("GET " + one,)),
        (lambda: client.wait("ann~j", 0.1), ("GET " + one,)),
        (client.info, ("GET /api/v2/info",)),
        (client.users, ("GET /api/v2/users",)),
        (lambda: client.config("ann~j"), ("GET %s/config" % one,)),
        (lambda: client.login("ann", "word"),
         ("POST /api/v2/authn/basic/login",)))


class Answers(unittest.TestCase):
    def setUp(self):
        self.server = Played()
        self.server.__enter__()
        self.addCleanup(self.server.__exit__)
        self.client = openpai.BlockingClient(self.server.url, token="x.y.z",
                                             most_tries=1, total_time=20)
        self.addCleanup(self.client.close)
        patch = unittest.mock.patch("secrets.token_hex", return_value="0")
        patch.start()
        self.addCleanup(patch.stop)

    def answers(self):
        """Those of a server that is in order."""
        one = "/api/v2/jobs/ann~j"
        self.server.answers.clear()
        self.server.answers.update({
            "GET " + one: (200, STATUS), "GET %s/files" % one: (200, FILES),
            "POST /api/v2/jobs": (202, {"name": "ann~j"}),
            "GET /api/v2/status": (200, {"root": "/r", "user": "ann"}),
            "GET /api/v2/jobs": (200, []), "GET /api/v2/info": (200, {}),
            "PUT /api/v2/jobs/len_0/code": (200, {"codeDir": "/c"}),
            "DELETE " + one: (200, {"kept": None}),
            "GET /api/v2/users": (200, []), "GET %s/config" % one: (200, {}),
            "POST /api/v2/authn/basic/login": (200, {
                "token": "a.b.c", "user": "ann", "admin": False}),
            "GET %s/why" % one: (200, {"state": "SUCCEEDED", "reasons": []})})
        return self.server.answers

    def is_told(self, ask):
        """The kind of the failure; None: there is none."""
        try:
            ask()
        except openpai.Error as error:
            self.assertTrue(str(error))
            return error
        return None

    def test_in_order(self):
        """The scenes are what they seem to be."""
        kinds = [type(self.is_told(ask)) for ask, _ in calls(self.client)
                 if self.answers()]
        self.assertEqual(kinds.count(type(None)), 13, kinds)

    def test_bodies(self):
        for ask, routes in calls(self.client):
            for route in routes:
                for body in BODIES:
                    with self.subTest("%s %r" % (route, body[:20])):
                        self.answers()[route] = raw(body)
                        self.is_told(ask)  # nothing but errors of ours

    def test_words(self):
        self.answers()["GET /api/v2/info"] = raw(BODIES[0])
        error = self.is_told(self.client.info)
        self.assertIs(type(error), openpai.IoError)
        for part in "invalid answer of the server", "<html>Sign in", "help: ":
            self.assertIn(part, str(error))
        for body in BODIES[1:]:
            self.answers()["GET /api/v2/jobs/ann~j"] = raw(body)
            self.assertIsInstance(self.is_told(
                lambda: self.client.job("ann~j")), openpai.IoError, body[:20])

    def test_fields(self):
        """What is there, but of another kind."""
        for wrong in 5, "x", [1], {}, None, 1e300, True:
            for route, value in (
                    ("GET /api/v2/jobs/ann~j", changed(STATUS, *place, wrong))
                    for place in (("jobStatus",), ("taskRoles",),
                                  ("taskRoles", "main"),
                                  ("jobStatus", "state"),
                                  ("jobStatus", "completedTime"),
                                  ("taskRoles", "main", "taskStatuses"),
                                  ("taskRoles", "main", "taskStatuses", 0))):
                self.answers()[route] = (200, value)
                for ask, routes in calls(self.client):
                    if route in routes:
                        with self.subTest(value):
                            self.is_told(ask)
            entry = {"path": "x", "type": "file", "size": 1, "modified": 1,
                     "executable": False, "target": None}
            for key in entry:
                self.answers()["GET /api/v2/jobs/ann~j/files"] = (200, {
                    "entries": [{**entry, key: wrong}], "next": None})
                for ask in (lambda: self.client.files("ann~j"),
                            lambda: self.client.download("ann~j", "x",
                                                         new_root())):
                    with self.subTest((key, wrong)):
                        self.is_told(ask)
            self.answers()["GET /api/v2/status"] = (200, {
                "machine": wrong, "root": wrong})
            with self.subTest(wrong):
                self.is_told(lambda: self.client.call(len, ""))

    def test_awaited(self):
        async def scene():
            async with openpai.Client(self.server.url, most_tries=1) as client:
                for ask in (client.job("ann~j"), client.result("ann~j"),
                            client.why("ann~j"), client.call(len, ""),
                            client.jobs().all(), client.submit(job("true"))):
                    with self.assertRaises(openpai.Error):
                        await ask
        self.answers()
        for route in self.server.answers:
            self.server.answers[route] = raw(BODIES[0])
        asyncio.run(scene())


class Unreached(unittest.TestCase):
    """One base for all, with the kinds that Python has for it."""
    def raises(self, ours, *kinds, **options):
        with openpai.BlockingClient(most_tries=1, **options) as client:
            with self.assertRaises(ours) as caught:
                client.info()
        for kind in (openpai.Error, *kinds):
            self.assertIsInstance(caught.exception, kind)
        self.assertIs(type(caught.exception), ours)
        self.assertTrue(str(caught.exception))
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(again), str(again), again.code),
                         (ours, str(caught.exception), caught.exception.code))
        return caught.exception

    def test_nobody_listens(self):
        kinds = (openpai.ServerNotFoundError, openpai.NotFoundError,
                 ConnectionError, OSError)
        error = self.raises(*kinds, socket=ROOT / "no-such-socket")
        self.assertEqual(error.name, "PAI_ENOTFOUND")
        self.raises(*kinds, url="http://127.0.0.1:1")
        self.raises(*kinds, url="http://no-such-host.invalid")

    def test_no_answer(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = "http://127.0.0.1:%d" % server.getsockname()[1]
            error = self.raises(openpai.ServerTimeoutError, openpai.IoError,
                                openpai.TimedOutError, TimeoutError, url=url,
                                total_time=0.1)
            self.assertTrue(error.retriable)
        with Played() as server:
            server.answers["GET /api/v2/info"] = lambda handler: handler.cut()
            self.raises(openpai.ServerLostError, openpai.IoError,
                        ConnectionError, url=server.url)

    def test_what_a_server_says_is_no_such_thing(self):
        with Played() as server:
            with openpai.BlockingClient(server.url) as client:
                with self.assertRaises(openpai.NotFoundError) as caught:
                    client.job("ann~none")
            self.assertNotIsInstance(caught.exception, OSError)


class Misuse(unittest.TestCase):
    def test_nobody_listens(self):
        with openpai.BlockingClient(root=ROOT / "none") as client:
            with self.assertRaises(openpai.NotFoundError):
                client.info()

    def test_options(self):
        for options in ({"url": "ftp://x"}, {"url": "nonsense"},
                        {"url": "http://x", "socket": "/y"},
                        {"url": "http://x", "root": "/y"},
                        {"url": "http://x\0"}, {"most_tries": -1}):
            with self.assertRaises(ValueError, msg=str(options)):
                openpai.Client(**options)

    def test_with(self):
        client = openpai.Client(root=ROOT)
        with self.assertRaises(TypeError):
            with client:
                pass
        client.close()
        client.close()

    def test_unclosed(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            openpai.Client(root=ROOT)
            gc.collect()
        self.assertEqual([w.category for w in caught], [ResourceWarning])

    def test_page(self):
        with openpai.BlockingClient(root=ROOT) as client:
            with self.assertRaises(ValueError):
                client.jobs(page=0)
            with self.assertRaises(ValueError):
                next(client.logs("a~b", "main/x"))
