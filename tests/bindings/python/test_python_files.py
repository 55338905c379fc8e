"""What the Python module promises of files of jobs.

Usage: test_python_files.py ROOT [unittest's arguments]
"""
import asyncio
import datetime
import os
import pathlib
import queue
import random
import threading
import unittest

import openpai
from python_files import PlayedFiles
from python_jobs import ROOT, job, new_root
from python_serve import Played, platform, served

NAME = "Übung/größe ☃.txt"


def code(folder=None):
    """A folder as the code of a job."""
    folder = folder or new_root()
    (folder / "Übung").mkdir(parents=True)
    (folder / NAME).write_text("schnee\n", encoding="utf-8")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


#: What the job adds to that.
WRITES = ("mkdir -p out/deep; echo model > out/model; echo deep > out/deep/x",
          "ln -s model out/latest; ln -s /etc/passwd out/away",
          "ln -s ../run.sh out/up; ln -s nothing broken")


class Checks(unittest.TestCase):
    """What is the same for both: `self.files(...)` and so on are of the job."""
    def check_list(self):
        files = self.files()
        self.assertEqual([file.path for file in files],
                         ["broken", "out", "run.sh", "Übung"])
        by = {file.path: file for file in self.files(recursive=True)}
        self.assertEqual(sorted(by), [
            "broken", "out", "out/away", "out/deep", "out/deep/x",
            "out/latest", "out/model", "out/up", "run.sh", "Übung", NAME])
        model = by["out/model"]
        self.assertIsInstance(model, openpai.File)
        self.assertEqual((model.type, model.size, model.executable,
                          model.target), ("file", 6, False, None))
        now = datetime.datetime.now(datetime.timezone.utc)
        self.assertLess(abs((now - model.modified).total_seconds()), 3600)
        self.assertTrue(by["run.sh"].executable)
        self.assertEqual((by["out"].type, by["out/latest"].type,
                          by["out/latest"].target),
                         ("folder", "link", "model"))
        self.assertEqual([file.path for file in self.files("out/deep")],
                         ["out/deep/x"])
        self.assertEqual([file.path for file in self.files(NAME)], [NAME])

    def check_download(self):
        to = new_root()
        self.assertEqual(self.download(NAME, to / "one"), to / "one")
        self.assertEqual((to / "one").read_text(encoding="utf-8"), "schnee\n")
        self.assertEqual(self.download(NAME, str(to)), to / "größe ☃.txt")
        self.download("run.sh", to / "new" / "run")
        self.assertTrue(os.access(to / "new" / "run", os.X_OK))
        self.assertEqual(self.download("out", to / "got"), to / "got")
        self.assertEqual((to / "got/deep/x").read_text(), "deep\n")
        self.assertEqual(os.readlink(to / "got/latest"), "model")
        self.assertEqual(sorted(os.listdir(to / "got")),
                         ["deep", "latest", "model"])  # no link that leads out
        self.download(None, to / "all")
        self.assertEqual(os.readlink(to / "all/out/up"), "../run.sh")
        self.assertEqual((to / "all" / NAME).read_text(encoding="utf-8"),
                         "schnee\n")
        self.assertEqual((to / "got/model").stat().st_mtime_ns // 10**6,
                         (to / "all/out/model").stat().st_mtime_ns // 10**6)
        # What is there is not copied again, and what was changed is.
        before = (to / "got/model").stat().st_ino
        (to / "got/deep/x").write_text("other\n")
        self.download("out", to / "got")
        self.assertEqual((to / "got/model").stat().st_ino, before)
        self.assertEqual((to / "got/deep/x").read_text(), "deep\n")

    def check_upload(self):
        here = code()
        big = random.Random(1).randbytes(9 << 20)
        (here / "big").write_bytes(big)
        (here / "link").symlink_to("run.sh")
        (here / "round").symlink_to(".")
        (here / "none" / "at all").mkdir(parents=True)
        self.upload(here / "big", "new/deep/big")
        self.upload(here / "run.sh", "new/")
        self.upload(here, "all")
        self.upload(here / NAME)
        self.assertEqual(
            [(file.path, file.executable) for file in self.files("new", True)],
            [("new/deep", False), ("new/deep/big", False),
             ("new/run.sh", True)])
        self.assertEqual(
            [file.path for file in self.files("all", True)],
            ["all/big", "all/link", "all/none", "all/none/at all", "all/run.sh", "all/Übung",
             "all/" + NAME])
        to = new_root()
        self.download("new/deep/big", to / "big")
        self.assertEqual((to / "big").read_bytes(), big)
        (here / "big").write_bytes(b"")
        self.upload(here / "big", "new/deep/big")  # in its place
        self.download("new/deep/big", to / "big")
        self.assertEqual((to / "big").read_bytes(), b"")
        odd = os.fsdecode(b"odd/a%41\xff")  # no UTF-8
        self.upload(here / "run.sh", odd)
        self.assertEqual([file.path for file in self.files("odd")], [odd])
        self.download("odd", to / "odd")
        self.download(odd, to / "one")
        for path in to / odd, to / "one":
            self.assertEqual(path.read_text(), "#!/bin/sh\n")
        self.download("größe ☃.txt", to / "x")
        self.assertEqual((to / "x").read_text(), "schnee\n")

    def check_errors(self):
        to = new_root()
        for ask in (lambda: self.files("nothing"),
                    lambda: self.download("nothing", to / "x"),
                    lambda: self.download("broken", to / "x"),
                    lambda: self.download("out/nothing", to / "x")):
            with self.assertRaises(openpai.NotFoundError):
                ask()
        for path in "..", "out/../../x", "/etc/passwd", "out/away":
            with self.assertRaises(openpai.InvalidError):
                self.upload(__file__, path)
        with self.assertRaises(openpai.InvalidError):
            self.files("../..")
        with self.assertRaises(openpai.InvalidError):
            self.upload(__file__, "out")  # it is a folder
        with self.assertRaises(FileNotFoundError):
            self.upload(to / "nothing", "x")
        self.assertEqual(os.listdir(to), [])
        (to / "no").write_text("")
        with self.assertRaises(OSError) as caught:
            self.download("run.sh", to / "no" / "run.sh")
        self.assertEqual(caught.exception.filename, str(to / "no" / "run.sh"))


class Handles(Checks):
    def setUp(self):
        self.root = new_root()
        self.platform = openpai.Platform(root=self.root)
        self.addCleanup(self.platform.close)
        self.handle = self.platform.submit(job(*WRITES, name="files"),
                                           code=code(self.root / "given"))
        self.assertTrue(self.handle.wait().succeeded)
        for name in "files", "download", "upload":
            setattr(self, name, getattr(self.handle, name))

    def test_list(self):
        self.check_list()

    def test_download(self):
        self.check_download()

    def test_upload(self):
        self.check_upload()

    def test_errors(self):
        self.check_errors()

    def test_open(self):
        with self.handle.open_file(NAME) as file:
            self.assertEqual(file.read().decode(), "schnee\n")
            self.assertEqual(file.seek(2), 2)
            self.assertEqual(file.read(3), b"hne")
        with self.handle.open_file("out/latest") as file:
            self.assertEqual(file.readlines(), [b"model\n"])
        for wrong, error in (("nothing", openpai.NotFoundError),
                             ("out", openpai.InvalidError),
                             ("out/away", openpai.InvalidError)):
            with self.assertRaises(error):
                self.handle.open_file(wrong)

    def test_asyncio(self):
        async def scene():
            to = new_root()
            both = await asyncio.gather(
                self.handle.files_async("out"),
                self.handle.download_async("out/model", to / "model"),
                self.handle.upload_async(__file__, "test.py"))
            return [file.path for file in both[0]], both[1]

        paths, model = asyncio.run(scene())
        self.assertEqual(paths, ["out/away", "out/deep", "out/latest",
                                 "out/model", "out/up"])
        self.assertEqual(model.read_text(), "model\n")
        with self.handle.open_file("test.py") as file:
            self.assertEqual(file.read(), pathlib.Path(__file__).read_bytes())

    def test_cancelled(self):
        """Copies that nobody awaits end, and let others go on."""
        endless = self.platform.submit(
            job("truncate -s 4G endless", name="endless"),
            code=code(self.root / "more"))
        self.assertTrue(endless.wait().succeeded)
        to = new_root()

        async def scene():
            copies = [asyncio.ensure_future(
                endless.download_async("endless", to / str(number)))
                      for number in range(3)]
            await asyncio.sleep(0)  # they begin
            for copy in copies:
                copy.cancel()
            for copy in copies:
                with self.assertRaises(asyncio.CancelledError):
                    await copy

        asyncio.run(scene())
        self.handle.download("out/model", to / "model")
        self.platform.close()  # the last of them may just be ending
        self.assertEqual([path.name for path in to.iterdir()], ["model"])

    def test_forget(self):
        folder = self.handle.forget(keep_files=True)
        self.assertEqual(pathlib.Path(folder, "out/model").read_text(),
                         "model\n")
        self.assertTrue(folder.startswith(str(self.root)))
        with self.assertRaises(openpai.NotFoundError):
            self.handle.files()
        with self.assertRaises(openpai.NotFoundError):
            self.handle.forget(keep_files=True)
        plain = self.platform.submit(job("true", name="plain"),
                                     work_dir=new_root())
        with self.assertRaises(openpai.BusyError):
            plain.forget(keep_files=True)
        plain.wait()
        self.assertEqual(plain.files(), [])
        self.assertIsNone(plain.forget(keep_files=True))

    def test_closed(self):
        self.handle.upload(__file__, "x")
        self.platform.close()
        for ask in self.handle.files, lambda: self.handle.open_file("x"):
            with self.assertRaises(openpai.InvalidError):
                ask()

    def test_dropped_elsewhere(self):
        """Another thread forgets a copy while this one runs the platform."""
        copies = queue.Queue(1)

        def drop():
            while copies.get() is not None:
                pass
        thread = threading.Thread(target=drop)
        thread.start()
        try:
            for number in range(200):
                copies.put(self.platform._platform.upload(
                    self.handle.id, b"path\0n%d\0from\0%s\0" % (
                        number, os.fsencode(__file__))))
                self.platform.dispatch()
        finally:
            copies.put(None)
            thread.join()
        self.assertLessEqual({"broken", "out", "run.sh", "Übung"},
                             {file.path for file in self.files()})

    def test_not_durable(self):
        with openpai.Platform(durable=False, root=new_root()) as other:
            handle = other.submit(job("true"))
            handle.wait()
            for ask in (handle.files, lambda: handle.open_file("x"),
                        lambda: handle.upload(__file__, "x")):
                with self.assertRaises(openpai.UnsupportedError):
                    ask()
            self.assertIsNone(handle.forget())


class Clients(Checks):
    """Of the platform of `openpai up`."""
    @classmethod
    def setUpClass(cls):
        cls.served = platform(ROOT / "up")
        cls.root = cls.served.__enter__()
        cls.addClassCleanup(cls.served.__exit__, None, None, None)

    def setUp(self):
        self.client = openpai.BlockingClient(root=self.root)
        self.addCleanup(self.client.close)
        name = self.id().rpartition(".")[2]
        path = ROOT / (name + ".yaml")
        path.write_text(job(*WRITES, name=name).to_yaml())
        self.name = self.client.submit(path, code=code())
        self.assertTrue(self.client.wait(self.name).succeeded)

    def files(self, *given, **more):
        return self.client.files(self.name, *given, **more)

    def download(self, *given):
        return self.client.download(self.name, *given)

    def upload(self, *given):
        return self.client.upload(self.name, *given)

    def test_list(self):
        self.check_list()

    def test_download(self):
        self.check_download()

    def test_upload(self):
        self.check_upload()

    def test_errors(self):
        self.check_errors()
        with self.assertRaises(openpai.NotFoundError) as caught:
            self.files("nothing")
        self.assertEqual((caught.exception.http_status,
                          caught.exception.api_code), (404, "NoFileError"))
        with self.assertRaises(openpai.NotFoundError) as caught:
            self.client.files("nobody~none")
        self.assertEqual(caught.exception.api_code, "NoJobError")

    def test_asyncio(self):
        async def scene():
            to = new_root()
            async with openpai.Client(root=self.root) as client:
                files, model, _ = await asyncio.gather(
                    client.files(self.name, "out"),
                    client.download(self.name, "out/model", to / "model"),
                    client.upload(self.name, __file__, "test.py"))
                self.assertIn("out/deep", [file.path for file in files])
                self.assertEqual(model.read_text(), "model\n")
                await client.download(self.name, "test.py", to)
                self.assertEqual((to / "test.py").read_bytes(),
                                 pathlib.Path(__file__).read_bytes())
                kept = await client.forget(self.name, keep_files=True)
                self.assertEqual(pathlib.Path(kept, "out/model").read_text(),
                                 "model\n")
        asyncio.run(scene())

    def test_forget(self):
        self.assertIsNone(self.client.forget(self.name))
        with self.assertRaises(openpai.NotFoundError):
            self.client.forget(self.name)


class Served(unittest.TestCase):
    """With a token, over TCP."""
    def test_own_jobs_alone(self):
        with served(ROOT / "served", "secret word") as url:
            with openpai.BlockingClient(url, user="admin",
                                        password="secret word") as admin:
                path = ROOT / "own.yaml"
                path.write_text(job("echo x > made", name="own").to_yaml())
                name = admin.submit(path, code=code())
                admin.wait(name)
                to = new_root()
                admin.download(name, "made", to / "made")
                self.assertEqual((to / "made").read_text(), "x\n")
                with openpai.BlockingClient(url) as nobody:
                    with self.assertRaises(openpai.PermissionDenied):
                        nobody.files(name)
                plain = admin.submit(job("true", name="plain"))
                admin.wait(plain)
                with self.assertRaises(openpai.NotFoundError):
                    admin.files(plain)  # it has no folder of its own


class With(unittest.TestCase):
    """With a server that plays."""
    def setUp(self):
        self.server = Played().__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.played = PlayedFiles(self.server)
        self.url, self.to = self.server.url, new_root()

    def client(self):
        made = openpai.BlockingClient(self.url, first_wait=0.001,
                                      most_wait=0.01)
        self.addCleanup(made.close)
        return made

    def test_cut_within(self):
        data = random.Random(2).randbytes(3 << 20)
        self.played.files["big"] = (data, 5000, {})
        self.played.cuts = [1000000, 1000000]
        self.client().download("ann~j", "big", self.to)
        self.assertEqual((self.to / "big").read_bytes(), data)
        self.assertEqual(self.played.ranges,
                         [None, "bytes=1000000-", "bytes=2000000-"])
        self.assertEqual((self.to / "big").stat().st_mtime, 5)
        self.assertEqual(os.listdir(self.to), ["big"])

    def cut(self, data):
        """One that is given up."""
        self.played.files["big"] = (data, 5000, {})
        self.played.cuts = [1500000] + [0] * 500
        with self.assertRaises(openpai.IoError):
            self.client().download("ann~j", "big", self.to / "here")
        self.played.cuts = []
        del self.played.ranges[:]

    def test_cut_for_good(self):
        """Another client goes on where the first one was."""
        data = random.Random(3).randbytes(3 << 20)
        self.cut(data)
        part, = os.listdir(self.to)
        self.assertTrue(part.startswith(".openpai-"), part)
        self.client().download("ann~j", "big", self.to / "here")
        self.assertEqual(self.played.ranges, ["bytes=1500000-"])
        self.assertEqual((self.to / "here").read_bytes(), data)
        self.assertEqual(os.listdir(self.to), ["here"])

    def test_changed_since(self):
        """What has come of another version is of no use."""
        self.cut(random.Random(4).randbytes(3 << 20))
        data = random.Random(5).randbytes(3 << 20)
        self.played.files["big"] = (data, 6000, {})
        self.client().download("ann~j", "big", self.to / "here")
        self.assertEqual(self.played.ranges, [None])
        self.assertEqual((self.to / "here").read_bytes(), data)
        self.assertEqual(os.listdir(self.to), ["here"])

    def test_changes_meanwhile(self):
        first = random.Random(6).randbytes(3 << 20)
        data = random.Random(7).randbytes(2 << 20)
        self.played.files["big"] = (first, 5000, {})
        self.played.cuts = [1500000]
        get = self.played.get

        def change(handler):
            get(handler)
            self.played.files["big"] = (data, 6000, {})
        self.server.answers["GET /api/v2/jobs/ann~j/file"] = change
        self.client().download("ann~j", "big", self.to)
        self.assertEqual((self.to / "big").read_bytes(), data)
        self.assertEqual(self.played.ranges, [None, "bytes=1500000-", None])

    def test_cancelled(self):
        """What asyncio cancels goes on another time."""
        data = random.Random(8).randbytes(3 << 20)
        self.played.files["big"] = (data, 5000, {})
        self.played.cuts = [2000000] + [0] * 500

        async def scene():
            async with openpai.Client(self.url, first_wait=60.0,
                                      most_wait=60.0) as client:
                gets = asyncio.ensure_future(
                    client.download("ann~j", "big", self.to))
                while not any(path.stat().st_size == 2000000
                              for path in self.to.iterdir()):
                    await asyncio.sleep(0.01)
                gets.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await gets
                del self.played.cuts[:]
                await client.download("ann~j", "big", self.to)
        asyncio.run(scene())
        self.assertEqual(self.played.ranges[-1], "bytes=2000000-")
        self.assertEqual((self.to / "big").read_bytes(), data)

    def test_twice_at_once(self):
        data = random.Random(10).randbytes(3 << 20)
        self.played.files["big"] = (data, 5000, {})
        self.played.cuts = [2000000] + [0] * 500

        async def scene():
            async with openpai.Client(self.url, first_wait=60.0,
                                      most_wait=60.0) as client:
                first = asyncio.ensure_future(
                    client.download("ann~j", "big", self.to))
                while not any(path.stat().st_size == 2000000
                              for path in self.to.iterdir()):
                    await asyncio.sleep(0.01)
                # The first one was cut, and waits before it goes on.
                with self.assertRaises(openpai.BusyError):
                    await client.download("ann~j", "big", self.to)
                first.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await first
        asyncio.run(scene())

    def test_small(self):
        """A small one begins anew, and leaves nothing."""
        self.played.files["x"] = (b"small", 5000, {})
        self.played.cuts = [3] + [0] * 500
        with self.assertRaises(openpai.IoError):
            self.client().download("ann~j", "x", self.to)
        self.assertEqual(os.listdir(self.to), [])

    def test_pages(self):
        self.played.page = 7
        for number in range(100):
            self.played.files["d/%02d" % number] = (b"x" * number, 1000, {})
        client = self.client()
        self.assertEqual(len(client.files("ann~j", "d")), 100)
        client.download("ann~j", "d", self.to / "d")
        self.assertEqual(sorted(os.listdir(self.to / "d")),
                         ["%02d" % number for number in range(100)])

    def test_hostile(self):
        """Nothing is written outside the folder."""
        for path in ("../evil", "/evil", "d/../../evil", "d//evil", "d/.",
                     "d/.."):
            self.played.files = {"d/ok": (b"", 1000, {}),
                                 path: (b"evil", 1000, {})}
            with self.assertRaises(openpai.IoError, msg=path):
                self.client().download("ann~j", None, self.to / "in")
            self.assertNotIn("evil", os.listdir(self.to))

    def test_hostile_links(self):
        link = {"type": "link"}
        self.played.files = {
            "p/q/f": (b"", 1, {}), "p/q/d": (b"", 1, {**link, "target": "../.."}),
            "p/q/r/z": (b"", 1, {**link, "target": "../d/../../x"}),
            "abs": (b"", 1, {**link, "target": "/etc"}),
            "up": (b"", 1, {**link, "target": ".."}),
            "good": (b"", 1, {**link, "target": "p/q"})}
        self.client().download("ann~j", None, self.to / "in")
        self.assertEqual(sorted(os.listdir(self.to / "in")), ["good", "p"])
        self.assertEqual(sorted(os.listdir(self.to / "in/p/q")), ["d", "f"])
        # And nothing through one, the next time.
        self.played.files = {"good/evil": (b"evil", 1, {})}
        with self.assertRaises(openpai.IoError):
            self.client().download("ann~j", None, self.to / "in")
        self.assertEqual(sorted(os.listdir(self.to / "in/p/q")), ["d", "f"])

    def test_upload_goes_on(self):
        path = self.to / "big"
        path.write_bytes(random.Random(9).randbytes(20 << 20))
        path.chmod(0o755)
        self.played.cuts = [8 << 20, 1000]
        for error in openpai.PermissionDenied, openpai.PermissionDenied:
            with self.assertRaises(error):
                self.client().upload("ann~j", path, "out/big")
        del self.played.pieces[:]
        self.client().upload("ann~j", path, "out/big")
        self.assertEqual(self.played.pieces[:2],
                         [((8 << 20) + 1000, 0),
                          ((8 << 20) + 1000, 8 << 20)])
        data, _, more = self.played.files["out/big"]
        self.assertEqual(data, path.read_bytes())
        self.assertTrue(more["executable"])

    def test_forget(self):
        client = self.client()
        self.assertEqual(client.forget("ann~j", keep_files=True), "kept/ann~j")
        self.assertIsNone(client.forget("ann~j"))
