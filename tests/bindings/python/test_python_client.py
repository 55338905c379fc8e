"""What the Python module promises of clients.

Usage: test_python_client.py ROOT [unittest's arguments]
"""
import asyncio
import datetime
import random
import signal
import threading
import time
import unittest

import openpai
from openpai._logs import log_part
from python_jobs import NUMBER, ROOT, is_alive, job, text, until_alive
from python_serve import Played, platform, served


def item(number):
    return {"name": "j%d" % number, "username": "ann", "state": "SUCCEEDED"}


class Real(unittest.TestCase):
    """With the platform of `openpai up`."""
    @classmethod
    def setUpClass(cls):
        cls.served = platform(ROOT / "up")
        cls.root = cls.served.__enter__()
        cls.addClassCleanup(cls.served.__exit__, None, None, None)

    def test_awaited(self):
        async def scene():
            async with openpai.Client(root=self.root) as client:
                self.assertEqual((await client.info())["server"], "libopenpai")
                name = await client.submit(job("echo one; echo two"),
                                           name="awaited")
                self.assertTrue(name.endswith("~awaited"), name)
                states = [change async for change in client.watch(name)]
                lines = [line async for line in client.logs(name, follow=True)]
                result = await client.wait(name)
                return name, states, lines, result, await client.job(name)

        name, states, lines, result, status = asyncio.run(scene())
        self.assertEqual(lines, ["one", "two"])
        self.assertEqual(result, ("succeeded", 0))
        self.assertEqual(states[-1], (states[-1].job, "succeeded", 0))
        self.assertTrue(states[-1].is_over)
        self.assertEqual((status.name, status.state), ("awaited", "succeeded"))
        self.assertIn("awaited", status._repr_html_())

    def test_blocking(self):
        path = ROOT / "blocking.yaml"
        path.write_text(text("cat there", "exit 4", name="blocking"))
        code = ROOT / "code"
        code.mkdir()
        (code / "there").write_text("it is\n")
        with openpai.BlockingClient(socket=self.root / "socket") as client:
            name = client.submit(path, code=code)
            self.assertEqual(client.wait(name, timeout=60).state, "failed")
            self.assertEqual(list(client.logs(name, "main/0")), ["it is"])
            self.assertEqual(list(client.logs(name, offset=3)), ["is"])
            hour = datetime.timedelta(hours=1)
            self.assertEqual(list(client.logs(name, tail=1)), ["it is"])
            self.assertEqual(list(client.logs(name, tail=0, follow=True)), [])
            self.assertEqual(list(client.logs(name, since=hour)), ["it is"])
            self.assertEqual(list(client.logs(
                name, since=datetime.datetime.now() + hour)), [])
            # right to about a second, and it may have been in this one
            self.assertEqual(log_part(None, 0 * hour), {"ago": 1})
            self.assertIn(list(client.logs(name, since=0 * hour)),
                          ([], ["it is"]))
            with self.assertRaisesRegex(openpai.InvalidError, "since"):
                client.logs(name, since=-hour)
            self.assertEqual(client.config(name)["name"], "blocking")
            client.tag(name, "kept")
            self.assertEqual([one.name for one in client.jobs(tag="kept")],
                             ["blocking"])
            client.untag(name, "kept")
            table = client.jobs(tag="kept").all()
            self.assertEqual((len(table), str(table)), (0, "no jobs"))
            with self.assertRaises(openpai.ExistsError) as caught:
                client.submit(path)
            self.assertEqual(caught.exception.http_status, 409)

    def test_stop(self):
        with openpai.BlockingClient(root=self.root) as client:
            name = client.submit(job(NUMBER, "exec sleep $n", name="stop"))
            number = int(next(client.logs(name, follow=True)))
            until_alive(number)
            with self.assertRaises(TimeoutError) as caught:
                client.wait(name, timeout=0)
            self.assertIsInstance(caught.exception, openpai.Error)
            client.stop(name)
            self.assertEqual(client.wait(name).state, "stopped")
            self.assertFalse(is_alive(number))

    def test_exec(self):
        async def scene(name):
            async with openpai.Client(root=self.root) as client:
                both = await asyncio.gather(
                    client.exec(name, "cat; echo err >&2; exit 5",
                                input=b"in\xff\0"),
                    client.exec(name, ["printenv", "PAI_JOB_NAME"], "main"))
                hangs = asyncio.ensure_future(client.exec(
                    name, ["sleep", str(number)]))
                while not is_alive(number):
                    await asyncio.sleep(0.01)
                hangs.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await hangs
                return both

        number = random.randrange(10**6, 10**8)
        with openpai.BlockingClient(root=self.root) as client:
            name = client.submit(job("echo up; sleep 1000"), name="exec")
            next(client.logs(name, follow=True))
            both = asyncio.run(scene(name))
            self.assertEqual(both[0], (5, b"in\xff\0", b"err\n", "exit", ""))
            self.assertEqual(both[1].stdout, name + "\n")
            while is_alive(number):
                time.sleep(0.01)
            done = client.exec(name, "kill -9 $$")
            self.assertEqual((done.code, done.how), (137, "signal"))
            done = client.exec(name, ["no-such"])
            self.assertEqual((done.code, done.how), (127, "failed"))
            self.assertIn("cannot start no-such", done.text)
            done = client.exec(name, "tty; stty size", tty=True)
            self.assertRegex(done.stdout, "^/dev/pts/.*\r\n24 80\r\n$")
            self.assertEqual(client.exec(
                name, input=b"exit 6").code, 6)  # a shell
            self.assertEqual(len(client.exec(
                name, "head -c 5000000 /dev/zero").output), 5000000)
            for wrong in (name, "true", "main/1"), (name + "x", "true"):
                with self.assertRaises(openpai.NotFoundError):
                    client.exec(*wrong)
            with self.assertRaises(ValueError):
                client.exec(name, [])
            client.stop(name)
            client.wait(name)
            with self.assertRaises(openpai.NotFoundError) as caught:
                client.exec(name, "true")
            self.assertEqual(caught.exception.api_code, "NoTaskError")
            self.assertEqual(caught.exception.http_status, 404)

    def test_errors(self):
        with openpai.BlockingClient(root=self.root) as client:
            with self.assertRaises(LookupError) as caught:
                client.job("nobody~none")
            self.assertEqual((caught.exception.http_status,
                              caught.exception.api_code), (404, "NoJobError"))
            with self.assertRaises(openpai.NotFoundError):
                list(client.logs("nobody~none"))
            with self.assertRaises(openpai.NotFoundError):
                list(client.watch("nobody~none"))
            bad = ROOT / "bad.yaml"
            bad.write_text("protocolVersion: 2\nnme: t\n")
            with self.assertRaises(openpai.InvalidError) as caught:
                client.submit(bad)
            self.assertEqual(caught.exception.http_status, 400)
            answer = client.request("GET", "/api/v2/virtual-clusters")
            self.assertEqual((answer.http_status, answer.type.split(";")[0]),
                             (200, "application/json"))
            self.assertIn("default", answer.json())
        with self.assertRaises(openpai.InvalidError):
            client.info()
        self.assertIn("closed", repr(client))

    def test_calls(self):
        """Methods that are made from the table of calls."""
        self.assertIn("users.show", [call["name"] for call in openpai.calls()])
        with openpai.BlockingClient(root=self.root) as client:
            self.assertIn("default", client.vcs_list())
            self.assertEqual(client.vcs_show("default")["state"], "running")
            self.assertIsInstance(client.server_health(), str)
            self.assertIsInstance(client.server_export(limit=1), str)
            with self.assertRaises(openpai.NotFoundError) as caught:
                client.vcs_show("none")
            self.assertEqual(caught.exception.api_code,
                             "NoVirtualClusterError")
            with self.assertRaises(openpai.NotFoundError):
                client.jobs_environment("ann~none")
            with self.assertRaises(openpai.InvalidError) as caught:
                client.vcs_show("")
            self.assertIn("'vc'", str(caught.exception))

        async def scene():
            async with openpai.Client(root=self.root) as client:
                return await client.nodes_list()
        self.assertEqual(len(asyncio.run(scene())), 1)

    def test_watch_all(self):
        async def scene():
            async with openpai.Client(root=self.root) as client:
                changes = client.watch()
                first = asyncio.ensure_future(changes.__anext__())
                name = await client.submit(job("exit 3", name="all"))
                told = [await first]
                async for change in changes:
                    told.append(change)
                    if change.job == name and change.is_over:
                        break
                changes.close()
                return name, told

        name, told = asyncio.run(scene())
        mine = [(one.state, one.code) for one in told if one.job == name]
        self.assertEqual(mine[-1][0], "failed", told)
        self.assertEqual(len(mine), len(set(mine)), told)
        with openpai.BlockingClient(root=self.root) as client:
            self.assertEqual(client.wait(name), mine[-1])

    def test_many_at_once(self):
        async def scene():
            async with openpai.Client(root=self.root) as client:
                return await asyncio.gather(*(client.info()
                                              for _ in range(50)))
        self.assertEqual(len(asyncio.run(scene())), 50)


class Accounts(unittest.TestCase):
    """With `openpai serve`, whose users log in."""
    def test_login(self):
        async def scene(url):
            async with openpai.Client(url) as nobody:
                with self.assertRaises(openpai.PermissionDenied) as caught:
                    await nobody.submit(job("true", name="mine"))
                self.assertEqual(caught.exception.http_status, 401)
                with self.assertRaises(openpai.Error) as caught:
                    await nobody.login("admin", "another word")
                self.assertEqual(caught.exception.api_code,
                                 "IncorrectPasswordError")
                self.assertNotIn("another word", str(caught.exception))
            async with openpai.Client(url, user="admin",
                                      password="secret word") as admin:
                self.assertEqual([user["username"] for user in
                                  await admin.users()], ["admin"])
                name = await admin.submit(job("echo served", name="mine"))
                self.assertEqual(name, "admin~mine")
                lines = [line async for line in admin.logs(name, follow=True)]
                self.assertEqual(lines, ["served"])
                name = await admin.submit(job("echo up; exec sleep 1000",
                                              name="entered"))
                async for line in admin.logs(name, follow=True):
                    break
                done = await admin.exec(name, "cat; exit 7", input=b"far")
                self.assertEqual((done.code, done.output), (7, b"far"))
                async with openpai.Client(url) as nobody:
                    with self.assertRaises(openpai.PermissionDenied) as caught:
                        await nobody.exec(name, "true", "main/0")
                    self.assertEqual(caught.exception.http_status, 401)
                await admin.stop(name)
                name = "admin~mine"
                token = admin.token
                async with openpai.Client(url, token=token) as again:
                    self.assertEqual(await again.wait(name, 60),
                                     ("succeeded", 0))
                await admin.logout()
                async with openpai.Client(url, token=token) as late:
                    with self.assertRaises(openpai.PermissionDenied):
                        await late.users()
        with served(ROOT / "served", "secret word") as url:
            asyncio.run(scene(url))


class With(unittest.TestCase):
    """With one that plays."""
    def setUp(self):
        self.server = Played().__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)

    def client(self, **more):
        more = {"first_wait": 0.001, "most_wait": 0.01, **more}
        made = openpai.BlockingClient(self.server.url, **more)
        self.addCleanup(made.close)
        return made

    def test_tries(self):
        busy = (503, {"code": "BusyError", "message": "not now"})
        self.server.answers["GET /x"] = [busy, busy, (200, [1])]
        answer = self.client().request("GET", "/x")
        self.assertEqual((answer.json(), answer.tries), ([1], 3))
        self.server.answers["GET /x"] = busy
        with self.assertRaises(openpai.BusyError) as caught:
            self.client(most_tries=2).request("GET", "/x")
        self.assertTrue(caught.exception.retriable)
        self.assertEqual((caught.exception.http_status,
                          caught.exception.api_code, str(caught.exception)),
                         (503, "BusyError", "not now"))

    def test_statuses(self):
        for status, kind in ((400, openpai.InvalidError),
                             (403, PermissionError),
                             (404, LookupError), (409, openpai.ExistsError),
                             (500, OSError)):
            self.server.answers["GET /x"] = (status, {
                "code": "SomeError", "message": "it is so"})
            with self.assertRaises(kind) as caught:
                self.client().request("GET", "/x")
            self.assertEqual((caught.exception.http_status,
                              caught.exception.api_code),
                             (status, "SomeError"))

    def test_cut(self):
        self.server.answers["GET /x"] = lambda handler: handler.cut()
        with self.assertRaises(OSError) as caught:
            self.client(most_tries=2).request("GET", "/x")
        self.assertIsNone(caught.exception.api_code)
        self.assertEqual(len(self.server.asked), 2)

    def test_body(self):
        self.server.answers["PUT /x"] = (201, {})
        client = self.client(token="abc")
        client.request("PUT", "/x", json={"a": ["\u00e9"]})
        client.request("PUT", "/x", data=b"\0\1", type="a/b")
        self.assertEqual(
            [(asked[2], asked[3]) for asked in self.server.asked],
            [("Bearer abc", b'{"a": ["\\u00e9"]}'), ("Bearer abc", b"\0\1")])
        with self.assertRaises(ValueError):
            client.request("PUT", "/x", json=1, data=b"")

    def test_login(self):
        self.server.answers["POST /api/v2/authn/basic/login"] = (200, {
            "user": "ann", "token": "t1", "admin": False})
        client = self.client()
        self.assertEqual((client.user, client.token), (None, None))
        self.assertEqual(client.login("ann", "secret word")["user"], "ann")
        self.assertEqual((client.user, client.token), ("ann", "t1"))
        self.server.answers["GET /x"] = (200, 1)
        client.request("GET", "/x")
        self.assertEqual(self.server.asked[-1][2], "Bearer t1")
        self.assertNotIn("secret", repr(client))

    def test_pages(self):
        def page(handler):
            query = handler.path.partition("?")[2]
            given = dict(part.split("=") for part in query.split("&"))
            offset, limit = int(given.get("offset", 0)), int(given["limit"])
            # One was submitted meanwhile: all others have moved.
            first = offset - 1 if offset else 0
            handler.reply(200, [item(n) for n in
                                range(first, min(first + limit, 7))])
        self.server.answers["GET /api/v2/jobs"] = page
        client = self.client()
        self.assertEqual([one.name for one in client.jobs(page=3)],
                         ["j%d" % n for n in range(7)])
        self.assertEqual([one.name for one in client.jobs(page=3, limit=2)],
                         ["j0", "j1"])
        self.assertEqual(list(client.jobs(limit=0)), [])
        self.assertIn("<table>", client.jobs(page=3)._repr_html_())
        one = client.jobs(page=3).all()[0]
        self.assertEqual(one.full_name, "ann~j0")
        with self.assertRaises(openpai.InvalidError):
            one.handle

        async def scene():
            async with openpai.Client(self.server.url) as other:
                return await other.jobs(page=4).all()
        self.assertEqual(len(asyncio.run(scene())), 7)

    def held(self):
        """An answer that never comes; when it began, when it was given up."""
        began, left = threading.Event(), threading.Event()

        def hold(handler):
            began.set()
            handler.connection.settimeout(60)
            try:
                if handler.connection.recv(1) == b"":
                    left.set()
            except ConnectionError:
                left.set()
            handler.close_connection = True
        self.server.answers["GET /held"] = hold
        return began, left

    def test_cancel(self):
        began, left = self.held()

        async def scene():
            loop = asyncio.get_running_loop()
            async with openpai.Client(self.server.url) as client:
                self.server.answers["GET /x"] = (200, 1)
                task = asyncio.ensure_future(client.request("GET", "/held"))
                await loop.run_in_executor(None, began.wait, 60)
                while not began.is_set():
                    await asyncio.sleep(0.01)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                # It is no more asked, while the client lives.
                gone = await loop.run_in_executor(None, left.wait, 60)
                return gone, (await client.request("GET", "/x")).json()
        self.assertEqual(asyncio.run(scene()), (True, 1))

    def test_close_ends_all(self):
        began, left = self.held()

        async def scene():
            client = openpai.Client(self.server.url)
            task = asyncio.ensure_future(client.request("GET", "/held"))
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, began.wait, 60)
            client.close()
            with self.assertRaises(openpai.CanceledError):
                await task
        asyncio.run(scene())
        self.assertTrue(left.wait(60))

    def endless(self, size):
        """A log of so many bytes, sent as fast as it is read.  `stuck`: for a
        moment nobody has read, or all of it is sent."""
        stuck, sent = threading.Event(), [0]

        def send(handler):
            line = b"x" * 99 + b"\n"
            piece = line * 655
            handler.send_response(200)
            handler.send_header("Content-Type", "text/plain")
            handler.send_header("Content-Length", str(size))
            handler.end_headers()
            handler.wfile.flush()
            handler.connection.settimeout(0.3)
            while sent[0] < size:
                rest = piece[sent[0] % 100:][:size - sent[0]]
                try:
                    sent[0] += handler.connection.send(rest)
                except TimeoutError:
                    stuck.set()
            stuck.set()

        self.server.answers["GET /api/v2/info"] = (
            200, {"server": "libopenpai"})
        self.server.answers["GET /api/v2/jobs/u~j"] = (200, {
            "jobStatus": {"state": "RUNNING", "attemptId": 0},
            "taskRoles": {"w": {"taskStatuses": [
                {"taskIndex": 0, "taskState": "RUNNING", "attemptId": 0}]}}})
        self.server.answers[
            "GET /api/v2/jobs/u~j/attempts/0/taskRoles/w/taskIndex/0/"
            "attempts/0/logs/all"] = send
        return stuck, sent

    def test_slow_reader(self):
        size, most = 32000000, 1 << 20
        stuck, sent = self.endless(size)

        async def scene():
            loop = asyncio.get_running_loop()
            async with openpai.Client(self.server.url) as client:
                logs = client.logs("u~j", "w/0")
                lines = [await logs.__anext__()]
                # The client runs, and nobody takes a line.
                await loop.run_in_executor(None, stuck.wait, 60)
                unread, got = sent[0], 100 * (1 + len(logs._lines))
                got += len(logs._rest)
                pieces = []
                while True:
                    piece = await logs._await_piece()
                    pieces.append(len(piece))
                    if not piece:
                        return lines, unread, got, pieces

        lines, unread, got, pieces = asyncio.run(scene())
        self.assertEqual(lines, ["x" * 99])
        self.assertLess(unread, size)
        self.assertLess(max([got, *pieces]), most)
        self.assertEqual(got + sum(pieces), size)

    def test_slow_reader_blocking(self):
        size = 32000000
        stuck, sent = self.endless(size)
        client = self.client()
        logs = client.logs("u~j", "w/0")
        count = 1 if next(logs) else 0
        while not stuck.is_set():
            client._step(10)
        self.assertLess(sent[0], size)
        count += sum(1 for _ in logs)
        self.assertEqual(count, size // 100)

    def test_timeout(self):
        self.held()
        with self.assertRaises(openpai.Error) as caught:
            self.client(total_time=0.05).request("GET", "/held")
        self.assertIsNone(caught.exception.http_status)

        async def scene():
            async with openpai.Client(self.server.url) as client:
                await asyncio.wait_for(client.request("GET", "/held"), 0.05)
        with self.assertRaises(asyncio.TimeoutError):
            asyncio.run(scene())

    def test_interrupt(self):
        began, left = self.held()
        client = self.client()

        def press():
            began.wait(60)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        presser = threading.Thread(target=press)
        presser.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                client.request("GET", "/held")
        finally:
            presser.join()
        self.assertTrue(left.wait(60))
        self.server.answers["GET /x"] = (200, 1)
        self.assertEqual(client.request("GET", "/x").json(), 1)

    def test_other_thread(self):
        began, _ = self.held()
        client = self.client()
        raised = []

        def ask():
            try:
                client.request("GET", "/held")
            except openpai.Error as error:
                raised.append(error)
        asker = threading.Thread(target=ask)
        asker.start()
        began.wait(60)
        seen = False
        end = time.monotonic() + 60
        while not seen and time.monotonic() < end:
            try:
                client.token
            except openpai.BusyError:
                seen = True
        self.assertTrue(seen)
        while not client.closed:
            try:
                client.close()
            except openpai.BusyError:
                pass
        asker.join()
        # Whichever of both came to be second.
        self.assertIsInstance(raised[0], (
            openpai.CanceledError, openpai.BusyError, openpai.InvalidError))
