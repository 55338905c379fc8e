"""What the Python module promises of commands that one speaks with.

Usage: test_python_session.py ROOT [unittest's arguments]
"""
import asyncio
import contextlib
import random
import signal
import threading
import unittest

import openpai
from python_jobs import ROOT, is_alive, job, until_alive
from python_serve import certificate, platform, served

MUCH = 8 << 20


class Scenes:
    """With self.live(command, ...) for `with`, and self.begin(...), a function
    for `async with`, in self.on()."""
    def test_a_shell(self):
        with self.live(["sh"], tty=True) as session:
            self.assertIn("Session", repr(session))
            session.resize(60, 20)
            session.write(b"stty size; stty -echo; PS1=\n")
            said = b""
            while b"20 60\r\n" not in said:
                chunk = session.read()
                self.assertEqual(chunk.stream, "stdout")
                said += chunk
            self.assertIsNone(session.code)
            session.write(bytearray(b"exit 3\n"))
            for chunk in session:
                self.assertIsInstance(chunk, openpai.Chunk)
            self.assertEqual(session.wait(), 3)
        self.assertEqual((session.code, session.how, session.text),
                         (3, "exit", ""))
        self.assertEqual(session.read(), b"")
        with self.assertRaisesRegex(OSError, "is over"):
            session.write(b"late")
        session.resize(1, 1)  # nobody minds
        session.close_input()

    def test_streams_in_their_order(self):
        with self.live("read a; echo $a; read b; echo $b >&2; cat",
                       input=b"one\n") as session:
            chunk = session.read()
            self.assertEqual((chunk.text, chunk.stream), ("one\n", "stdout"))
            session.write(memoryview(b"two\n"))
            self.assertFalse(session._call.pending())  # it has left
            chunk = session.read()
            self.assertEqual((chunk, chunk.stream), (b"two\n", "stderr"))
            session.close_input()
            session.close_input()
            with self.assertRaisesRegex(ValueError, "was closed"):
                session.write(b"x")
            self.assertEqual(list(session), [])
            self.assertEqual(session.wait(), 0)

    def test_ends(self):
        with self.live(["no-such"]) as session:
            self.assertEqual(session.wait(), 127)
            self.assertIn("cannot start no-such", session.text)
        with self.live("kill -9 $$") as session:
            self.assertEqual((session.wait(), session.how), (137, "signal"))
        with self.live("echo up; exec sleep 1000") as session:
            self.assertEqual(session.read(), b"up\n")
            with self.assertRaises(TimeoutError):
                session.wait(0.05)
            for wrong in (0, 65):
                with self.assertRaises(ValueError):
                    session.signal(wrong)
            with self.assertRaises(ValueError):
                session.resize(70000, 1)
            session.signal(signal.SIGTERM)
            self.assertEqual(session.wait(), 143)
        with self.assertRaises(openpai.NotFoundError):
            with self.live("true", "main/7"):
                self.fail("it has begun")

    def test_left_early(self):
        number = random.randrange(10**6, 10**8)
        interrupts = threading.Thread(  # just before it waits, or while
            target=signal.pthread_kill,
            args=(threading.main_thread().ident, signal.SIGINT))
        with self.assertRaises(KeyboardInterrupt):
            with self.live("echo up; exec sleep %d" % number) as session:
                session.read()
                until_alive(number)
                interrupts.start()
                session.read()
        self.assertEqual((session.read(), session.code), (b"", None))
        with self.assertRaises(openpai.CanceledError):
            session.wait()
        interrupts.join()
        while is_alive(number):
            self.go_on()

    def test_who_reads_slowly_makes_it_wait(self):
        """Nothing is kept but for some, and a loop of waits is refused."""
        with self.live("head -c %d /dev/zero; echo done >&2" % MUCH
                       ) as session:
            with self.assertRaisesRegex(openpai.BusyError, "read some"):
                session.wait()
            for _ in range(40):
                self.go_on()
            self.assertIsNone(session.code)
            chunks = []
            while session._call.state() > 0:  # of what is held here
                chunks.append(session._call.take())
            self.assertLess(sum(map(len, chunks)), 1 << 19)
            chunks.extend(session)
            self.assertLess(max(map(len, chunks)), 1 << 18)
            self.assertEqual(chunks.pop(), b"done\n")
            self.assertEqual(sum(map(len, chunks)), MUCH)
            self.assertEqual(session.wait(), 0)
        with self.live(["cat"]) as session:
            wrote = 0
            with self.assertRaisesRegex(openpai.BusyError, "read some"):
                while wrote < 8 * MUCH:  # sockets hold some of it
                    session.write(b"x" * 100000)
                    wrote += 100000
            session.signal(signal.SIGTERM)
            seen = sum(len(chunk) for chunk in session)
            self.assertLessEqual(seen, wrote)
            self.assertGreater(seen, 1 << 18)

    def test_it_reads_slowly(self):
        with self.live("head -c %d | tr a b | tail -c 2; cat" % MUCH
                       ) as session:
            for _ in range(MUCH // 65536):
                session.write(b"a" * 65536)
            session.write(b"end")
            session.close_input()
            self.assertEqual(b"".join(session), b"bbend")

    # --- asyncio

    def test_awaited(self):
        async def scene(begin):
            async def feed(session):
                for _ in range(MUCH // 65536):
                    await session.write(b"a" * 65536)
                session.close_input()

            async with begin("tr a b") as session:
                feeds = asyncio.ensure_future(feed(session))
                seen = 0
                async for chunk in session:
                    self.assertEqual(chunk, b"b" * len(chunk))
                    seen += len(chunk)
                await feeds
                self.assertEqual(await session.wait(60), 0)
                self.assertEqual(await session.read(), b"")
            self.assertEqual(seen, MUCH)
            self.assertEqual((await begin("cat; exit 2", input=b"x"))[:2],
                             (2, b"x"))  # the same, all at once
            async with begin(["sh"], tty=True) as session:
                session.resize(60, 20)
                await session.write(b"stty size; exit 4\n")
                said = b"".join([chunk async for chunk in session])
                self.assertIn(b"20 60\r\n", said)
                self.assertEqual(await session.wait(), 4)
            async with begin("echo up; exec sleep 1000") as session:
                await session.read()
                with self.assertRaises(TimeoutError):
                    await session.wait(0.05)
            with self.assertRaises(openpai.NotFoundError):
                async with begin("true", "main/7"):
                    self.fail("it has begun")
        self.on(scene)

    def test_cancelled(self):
        async def scene(begin):
            async def work():
                async with begin("echo up; exec sleep %d" % number) as session:
                    await session.read()
                    up.set()
                    await session.read()

            up = asyncio.Event()
            works = asyncio.ensure_future(work())
            await up.wait()
            until_alive(number)
            works.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await works
            while is_alive(number):
                await asyncio.sleep(0.01)
            for turns in range(12):  # while it begins
                works = asyncio.ensure_future(work())
                for _ in range(turns):
                    await asyncio.sleep(0)
                works.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await works
            while is_alive(number):
                await asyncio.sleep(0.01)

        number = random.randrange(10**6, 10**8)
        self.on(scene)


class Near(Scenes, unittest.TestCase):
    """In tasks of a platform of this process."""
    @classmethod
    def setUpClass(cls):
        cls.platform = openpai.Platform(root=ROOT / "near")
        cls.addClassCleanup(cls.platform.close)
        cls.job = cls.platform.submit(job("echo up; exec sleep 1000"))
        next(cls.job.logs(follow=True))
        cls.live = cls.job.exec

    def on(self, scene):
        asyncio.run(scene(self.job.exec))
        self.assertIsNone(self.platform._pump._loop)  # it has let go of it

    def go_on(self):
        self.platform._step(10)

    def test_entered_late(self):
        running = self.job.exec("cat", input=b"in")
        self.assertEqual(running.wait().output, b"in")
        with self.assertRaisesRegex(openpai.BusyError, "runs already"):
            with running:
                self.fail("it is over")

    def test_platform_ends(self):
        platform = openpai.Platform(root=ROOT / "ends")
        running = platform.submit(job("echo up; exec sleep 1000"))
        next(running.logs(follow=True))
        with running.exec(["cat"]) as session:
            session.write(b"x")
            self.assertEqual(session.read(), b"x")
            platform.leave()
            for late in session.read, session.wait, lambda: session.code:
                with self.assertRaises(openpai.CanceledError):
                    late()
        platform = openpai.Platform(root=ROOT / "ends")
        running = platform.submit(job("echo up; exec sleep 1000"))
        next(running.logs(follow=True))
        with running.exec(["cat"]) as session:
            platform.close()  # its jobs end, and what is in them
            self.assertIn(session.wait(), (129, 137, 143))

    def test_task_ends(self):
        running = self.platform.submit(job("echo up; exec sleep 1000"))
        next(running.logs(follow=True))
        with running.exec("echo up; cat") as session:
            session.read()
            running.stop()
            self.assertIn(session.wait(), (129, 137, 143))
        running.wait()


class Far(Scenes, unittest.TestCase):
    """In tasks of `openpai up`, over its socket."""
    @classmethod
    def setUpClass(cls):
        cls.where = cls.serve(cls.addClassCleanup)
        cls.client = openpai.BlockingClient(**cls.where)
        cls.addClassCleanup(cls.client.close)
        cls.job = cls.client.submit(job("echo up; sleep 1000"))
        next(cls.client.logs(cls.job, follow=True))
        cls.addClassCleanup(lambda: cls.client.stop(cls.job))

    @classmethod
    def serve(cls, clean):
        stack = contextlib.ExitStack()
        clean(stack.close)
        return {"root": stack.enter_context(platform(ROOT / "up"))}

    def live(self, *asked, **more):
        return self.client.session(self.job, *asked, **more)

    def on(self, scene):
        async def work():
            async with openpai.Client(**self.where) as client:
                await scene(lambda *asked, **more:
                            client.exec(self.job, *asked, **more))
        asyncio.run(work())

    def go_on(self):
        self.client._step(10)

    def test_tasks_of_asyncio(self):
        """create_task() takes it, as it does a coroutine."""
        async def scene(begin):
            task = asyncio.get_running_loop().create_task(
                begin("cat", input=b"in"))
            self.assertEqual((await task).output, b"in")
            begin("true").close()  # never begun
        self.on(scene)


class Tcp(Far):
    """The same of `openpai serve`, whose users log in."""
    tls = False

    @classmethod
    def serve(cls, clean):
        root = ROOT / cls.__name__
        root.mkdir()
        options, more = (), {}
        if cls.tls:
            cert, key = certificate(root)
            options = ("--tls-cert", cert, "--tls-key", key)
            more = {"ca_file": cert}
        stack = contextlib.ExitStack()
        clean(stack.close)
        return {"url": stack.enter_context(
            served(root, "secret word", *options)), "user": "admin",
            "password": "secret word", **more}


class Tls(Tcp):
    tls = True
