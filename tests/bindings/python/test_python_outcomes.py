"""What the Python module promises of the results of jobs: whose they are, what
may be in them, and what is no result.

Usage: test_python_outcomes.py ROOT [unittest's arguments]
"""
import asyncio
import os
import pathlib
import pickle
import sys
import tarfile
import time
import io
import unittest
import unittest.mock

import openpai
from openpai._functions import archive as _archive, outcome as _outcome
from python_jobs import ROOT, job, new_root, without_cloudpickle
from python_serve import platform, served

OUTCOME = "_openpai_outcome.pickle"
MARK = ROOT / "was-run"


class Evil:
    """Its pickle runs code where it is read."""
    def __reduce__(self):
        return pathlib.Path(MARK).touch, ()


class Exits(Exception):
    """Likewise: it would end the program."""
    def __reduce__(self):
        return sys.exit, (3,)


def raises(error):
    raise error


def fills(code):
    """Half of the memory that its job has, over and over."""
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20) * 16))


def wrote(value):
    """What writes an outcome of its own and is gone."""
    path = next(pathlib.Path(folder, "_openpai_outcome.pickle")
                for folder in sys.path[::-1]
                if os.path.exists(os.path.join(folder, "_openpai_run.py")))
    if value is None:
        path.mkdir()
    else:
        path.write_bytes(value)
    os._exit(0)


#: What is in an outcome, and what result() raises, with a part of its text.
OUTCOMES = (
    (b"no pickle", openpai.InvalidError, "cannot be read here"),
    (pickle.dumps(5), openpai.InvalidError, "cannot be read here"),
    (pickle.dumps(("other", 5, "t")), openpai.InvalidError, "neither"),
    (pickle.dumps(("error", 5, "the text")), openpai.JobFailed, "the text"),
    (pickle.dumps(("error", SystemExit(3), "exits")), openpai.JobFailed,
     "exits"),
    (pickle.dumps(("value", Exits(), "")), openpai.InvalidError,
     "cannot be read here"))


def of_kinds(test, run, *errors):
    """What run(function, *args) raises, with both kinds of platforms."""
    for told, kind, part in OUTCOMES:
        with test.subTest(told), test.assertRaisesRegex(kind, part):
            run(wrote, told)
    with test.assertRaisesRegex(openpai.JobFailed, "without a result") as none:
        run(wrote, None)
    test.assertEqual((none.exception.state, none.exception.code),
                     ("succeeded", 0))
    for code in 0, None:
        with test.assertRaisesRegex(openpai.JobFailed,
                                    "exited with code 0 without a result"):
            run(sys.exit, code)
    with test.assertRaises(openpai.JobFailed) as failed:
        run(sys.exit, 3)
    test.assertEqual(failed.exception.code, 3)
    for error in KeyboardInterrupt("x"), GeneratorExit("x"):
        with test.assertRaisesRegex(openpai.JobFailed, type(error).__name__):
            run(raises, error)
    for error in LookupError("mine"), *errors:
        with test.assertRaisesRegex(type(error), "^'?mine'?$"):
            run(raises, error)
    with test.assertRaisesRegex(StopIteration, "mine"):
        run(raises, StopIteration("mine"))
    with unittest.mock.patch.object(_outcome, "LARGEST", 100):
        with test.assertRaisesRegex(openpai.LimitError, "help: "):
            run(bytes, 1000)


class OfPlatform(unittest.TestCase):
    def setUp(self):
        without_cloudpickle(self)
        self.platform = openpai.Platform(root=new_root())
        self.addCleanup(self.platform.close)

    def test_of_another_account(self):
        """All have the same user of the machine: it is not read."""
        folder = pathlib.Path(new_root())
        (folder / OUTCOME).write_bytes(pickle.dumps(("value", Evil(), "")))
        bobs = self.platform.submit(job("true"), name="evil", user="bob",
                                    code=folder)
        self.assertTrue(bobs.wait().succeeded)
        for handle in bobs, self.platform.job("bob~evil"):
            with self.assertRaisesRegex(openpai.PermissionDenied,
                                        "bob(.|\n)*help: "):
                handle.result()
            self.assertIsInstance(handle.exception(), openpai.PermissionDenied)
        self.assertFalse(MARK.exists())

    def test_kinds(self):
        of_kinds(self, lambda function, *args: self.platform.call(
            function, *args, memory="128M").result(),
            openpai.NotFoundError("mine"), openpai.InvalidError("mine"),
            openpai.JobFailed("mine"))
        plain = self.platform.submit(job("true"))
        plain.wait()
        with self.assertRaisesRegex(openpai.NotFoundError, "help: "):
            plain.result()

    def test_by_name(self):
        """A handle of another program knows that it was a call."""
        call = self.platform.call(sys.exit, 0, memory="128M")
        call.wait()
        with self.assertRaisesRegex(openpai.JobFailed, "without a result"):
            self.platform.job(call.name).result()

    def test_exception(self):
        call = self.platform.call(raises, KeyboardInterrupt(), memory="128M")
        self.assertIsInstance(call.exception(), openpai.JobFailed)
        self.assertIn("KeyboardInterrupt", str(call.exception()))
        call = self.platform.call(raises, openpai.NotFoundError("mine"),
                                  memory="128M")
        self.assertIsInstance(call.exception(), openpai.NotFoundError)
        self.assertEqual(call.why().raised, "NotFoundError: mine")
        self.assertIn("NotFoundError: mine", call._repr_html_())

    def test_stop_iteration(self):
        """No generator and no coroutine can raise it."""
        with self.assertRaisesRegex(openpai.JobFailed, "StopIteration: mine"):
            list(self.platform.options(memory="128M").map(
                raises, [StopIteration("mine")]))

        async def scene():
            await self.platform.call(raises, StopIteration("mine"),
                                     memory="128M").result_async()
        with self.assertRaisesRegex(openpai.JobFailed, "StopIteration: mine"):
            asyncio.run(scene())


class OfServer(unittest.TestCase):
    """By TCP: files are those of the server."""
    @classmethod
    def setUpClass(cls):
        cls.served = served(ROOT / "served", "secret word")
        cls.url = cls.served.__enter__()
        cls.addClassCleanup(cls.served.__exit__, None, None, None)
        with openpai.BlockingClient(cls.url) as client:
            cls.token = client.login("admin", "secret word")["token"]

    def setUp(self):
        without_cloudpickle(self)
        self.client = openpai.BlockingClient(self.url, token=self.token)
        self.addCleanup(self.client.close)

    def test_kinds(self):
        of_kinds(self, lambda function, *args: self.client.call(
            function, *args, memory="128M").result())

    def test_by_name(self):
        call = self.client.call(sys.exit, 0, memory="128M")
        call.wait()
        with self.assertRaisesRegex(openpai.JobFailed, "without a result"):
            self.client.result(call.name)

    def test_stop_iteration(self):
        error = StopIteration("mine")
        with self.assertRaisesRegex(openpai.JobFailed, "StopIteration: mine"):
            list(self.client.map(raises, [error]))
        with self.client.executor(memory="128M") as executor:
            self.assertIsInstance(executor.submit(raises, error).exception(),
                                  StopIteration)

        async def scene():
            async with openpai.Client(self.url, token=self.token) as client:
                call = await client.call(raises, error)
                self.assertIsInstance(await call.exception(), StopIteration)
                with self.assertRaises(openpai.JobFailed):
                    await call.result()
                with self.assertRaises(openpai.JobFailed):
                    await client.result(call.name)
                async for _ in client.map(raises, [error]):
                    pass
        with self.assertRaisesRegex(openpai.JobFailed, "StopIteration: mine"):
            asyncio.run(scene())

    def test_time(self):
        call = self.client.call(time.sleep, 1000, memory="128M")
        with self.assertRaisesRegex(TimeoutError, "not over after 0.1 s"):
            call.wait(0.1)
        call.stop()
        self.assertEqual(call.wait().state, "stopped")


class Codes(unittest.TestCase):
    def test_of_the_contract(self):
        """A client tells the code that the platform tells."""
        with platform(ROOT / "codes") as root:
            with openpai.BlockingClient(root=root) as client:
                call = client.call(fills, 1, memory="64M")
                over = call.exception()
                if call.status.code == 255:
                    self.skipTest("nothing here holds memory")
                self.assertEqual(over.code, call.status.code)
                self.assertLess(over.code, 0)
                dead = client.call(os._exit, 7, memory="64M").exception()
                self.assertEqual(dead.code, 7)


class Folders(unittest.TestCase):
    """The code that goes along: options(code=FOLDER)."""
    def entries(self, folder, more):
        with tarfile.open(fileobj=io.BytesIO(_archive.packed(folder, more))
                          ) as archive:
            return {os.path.normpath(entry.name): entry
                    for entry in archive.getmembers()}

    def test_what_goes(self):
        folder = pathlib.Path(new_root()) / "code"
        (folder / "sub").mkdir(parents=True)
        (folder / "run.py").write_text("print('mine')")
        (folder / OUTCOME).write_text("of an earlier job")
        os.link(folder / "run.py", folder / "sub" / "again")
        (folder / "dangling").symlink_to("/no/such/file")
        os.mkfifo(folder / "fifo")
        (folder / "sub").chmod(0o555)
        folder.chmod(0o555)
        link = folder.parent / "link"
        link.symlink_to(folder)
        for path in folder, link, str(folder), os.fsencode(folder):
            found = self.entries(path, {"more": b"data"})
            self.assertEqual(sorted(found), [".", "dangling", "more", "run.py",
                                             "sub", "sub/again"])
            self.assertTrue(found["sub/again"].isreg())
            for name in ".", "sub":
                self.assertEqual(found[name].mode & 0o777, 0o755)
            self.assertEqual(found["more"].mode, 0o600)
        self.assertEqual(_archive.packed(None), b"")
        with self.assertRaises(openpai.InvalidError):
            _archive.packed(folder / "run.py")
        with self.assertRaises(openpai.Error):
            _archive.packed(folder / "none")

    def test_call(self):
        """Nothing of it is copied to where others might read it."""
        folder = pathlib.Path(new_root())
        (folder / "run.py").write_text("mine")
        (folder / "outcome.pickle").write_text("mine, too")
        (folder / "link").symlink_to("run.py")
        (folder / "dangling").symlink_to("none")
        with platform(ROOT / "folders") as root:
            with openpai.BlockingClient(root=root) as client:
                with unittest.mock.patch("tempfile.mkdtemp",
                                         side_effect=AssertionError):
                    call = client.options(code=folder).call(lambda: [
                        open(name).read() for name in (
                            "run.py", "outcome.pickle", "link")])
                    for wrong in folder / "none", folder / "run.py":
                        with self.assertRaises(openpai.Error):
                            client.options(code=wrong).call(len, "")
                names = {file.path for file in client.files(call.name)}
        self.assertLess({"run.py", "outcome.pickle", "_openpai_run.py",
                         "dangling"}, names)
