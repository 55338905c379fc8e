"""What the Python module promises of functions as jobs of a server.

Usage: test_python_client_calls.py ROOT [unittest's arguments]
"""
import asyncio
import concurrent.futures
import os
import pathlib
import sys
import time
import unittest
import unittest.mock

import openpai
from python_jobs import ROOT, job, new_root, without_cloudpickle
from python_serve import platform, served

HELPER = 7


class Point:
    def __init__(self, x):
        self.x = x


def shifted(point, by=0):
    return Point(point.x * HELPER + by)


def fails(key):
    raise KeyError(key)


def exits(code):
    print("first\nlast", flush=True)
    os._exit(code)


def held(folder, value):
    path = pathlib.Path(folder)
    (path / ("up%s" % value)).touch()
    while not (path / "go").exists():
        time.sleep(0.01)
    return value


def where():
    return os.getcwd(), sys.executable


class Here(unittest.TestCase):
    """With the platform of `openpai up`, by its socket."""
    @classmethod
    def setUpClass(cls):
        cls.served = platform(ROOT / "up")
        cls.root = cls.served.__enter__()
        cls.addClassCleanup(cls.served.__exit__, None, None, None)

    def setUp(self):
        without_cloudpickle(self)

    def client(self):
        client = openpai.BlockingClient(root=self.root)
        self.addCleanup(client.close)
        return client

    def test_value(self):
        client = self.client()
        call = client.call(shifted, Point(3), by=1, memory="128M", name="s")
        self.assertIsInstance(call, openpai.ClientCall)
        self.assertRegex(call.name, "~s_")
        value = call.result(60)
        self.assertEqual((type(value), value.x), (Point, 22))
        self.assertEqual((call.state, call.is_over), ("succeeded", True))
        self.assertEqual(call, openpai.ClientCall(client, call.name, {}))
        self.assertIn("succeeded", call._repr_html_())
        self.assertEqual(client.result(call.name).x, 22)
        local = [0]
        call = client.call(lambda: (os.path.join("a", "b"), local))
        self.assertEqual(call.result(), ("a/b", [0]))
        self.assertEqual(client.call(where).result(),
                         (os.getcwd(), sys.executable))

    def test_options(self):
        """Its own names are not the function's, and the job has the rest."""
        def told(name, gpu=None):
            return name, gpu

        client = self.client()
        call = client.options(name="n", time="90s", tags=["a", "b"]).call(
            told, name="mine", gpu="its")
        self.assertEqual(call.result(), ("mine", "its"))
        after = client.options(after=call, tags="c").call(told, "x")
        self.assertEqual(after.result(), ("x", None))
        self.assertEqual(sorted(call.status.tags), ["a", "b"])
        config = client.config(call.name)
        self.assertEqual(config["extras"]["openpai"]["timeLimit"], "90s")
        self.assertEqual(
            client.config(after.name)["extras"]["openpai"]["after"],
            [call.name])
        machine = client.request("GET", "/api/v2/status").json()["machine"]
        self.assertEqual(
            config["taskRoles"]["main"]["resourcePerInstance"]["memoryMB"],
            machine["memory"] // machine["cpus"] >> 20)
        for wrong in {"name": "n"}, {"gpu": 1}:
            with self.assertRaisesRegex(TypeError, "options"):
                client.call(told, "x", **wrong)
        with self.assertRaisesRegex(TypeError, "did you mean gpu="):
            client.call(shifted, Point(1), gpus=1)
        with self.assertRaises(TypeError):
            client.options(gpus=1)
        with self.assertRaises(openpai.NotFoundError):
            client.submit(job("true"), after="no-such")

    def test_submit(self):
        """The options of submit() are in the job."""
        client = self.client()
        first = client.submit(job("true", name="first"))
        path = ROOT / "second.yaml"
        path.write_text(job("true", name="second").to_yaml())
        second = client.submit(path, time="1m", after=first, tags=("x",))
        self.assertEqual(client.wait(second).state, "succeeded")
        self.assertEqual(client.config(second)["extras"]["openpai"],
                         {"timeLimit": "1m", "after": [first]})
        self.assertEqual(client.job(second).tags, ("x",))
        with self.assertRaises(ValueError):
            client.submit(path, priority="high")

    def test_errors(self):
        client = self.client()
        with self.assertRaises(KeyError) as caught:
            client.call(fails, "key").result()
        self.assertEqual(caught.exception.args, ("key",))
        self.assertIn("raise KeyError", str(caught.exception.__cause__))
        self.assertIsInstance(client.call(fails, "key").exception(), KeyError)
        self.assertIsNone(client.call(shifted, Point(1)).exception())
        with self.assertRaises(openpai.JobFailed) as caught:
            client.call(exits, 3).result()
        failed = caught.exception
        self.assertEqual((failed.state, failed.code, failed.lines),
                         ("failed", 3, ("first", "last")))
        for part in "failed with code 3", "\nlast":
            self.assertIn(part, str(failed))
        call = client.call(time.sleep, 1000)
        with self.assertRaises(TimeoutError):
            call.result(0)
        call.stop()
        with self.assertRaises(openpai.JobFailed) as caught:
            call.result()
        self.assertEqual(caught.exception.state, "stopped")
        self.assertIn("stop", str(call.why()))
        plain = client.submit(job("true"), name="plain")
        with self.assertRaises(openpai.NotFoundError) as caught:
            client.result(plain)
        self.assertIn("help: ", str(caught.exception))
        with self.assertRaises(openpai.InvalidError):
            client.call(list, (x for x in "ab"))

    def test_map(self):
        client = self.client()
        options = client.options(memory="128M")
        results = options.map(shifted, [Point(1), Point(2), Point(3)],
                              [0, 1, 2], limit=2)
        self.assertEqual([point.x for point in results], [7, 15, 23])
        with self.assertRaises(ZeroDivisionError):
            list(client.map(lambda x: 1 // x, [1, 0], limit=1))
        endless = options.map(time.sleep, [0, 1000, 1000], limit=2)
        self.assertIsNone(next(endless))
        endless.close()
        options.map(time.sleep, [1000]).close()
        for one in client.jobs().all():
            client.wait(one.full_name, 60)
        self.assertEqual(list(client.map(shifted, [])), [])
        with self.assertRaises(ValueError):
            client.map(shifted, [1], limit=0)

    def test_as_completed(self):
        client = self.client()
        folder = pathlib.Path(new_root())
        slow = client.call(held, str(folder), 1)
        quick = client.call(shifted, Point(2))
        order = client.as_completed([slow, quick])
        self.assertEqual(next(order), quick)
        with self.assertRaises(TimeoutError):
            next(client.as_completed([slow], timeout=0))
        (folder / "go").touch()
        self.assertEqual(list(order), [slow])

    def test_awaited(self):
        async def scene():
            folder = pathlib.Path(new_root())
            async with openpai.Client(root=self.root) as client:
                slow, quick, bad = await asyncio.gather(
                    client.call(held, str(folder), 5), client.call(
                        shifted, Point(1)), client.call(fails, "key"))
                order = client.as_completed([slow, quick])
                self.assertEqual(await order.__anext__(), quick)
                (folder / "go").touch()
                self.assertEqual([one async for one in order], [slow])
                self.assertEqual(await slow.result(), 5)
                self.assertEqual((await quick.result()).x, 7)
                self.assertEqual((await bad).state, "failed")
                with self.assertRaises(KeyError):
                    await bad.result()
                self.assertIsInstance(await bad.exception(), KeyError)
                self.assertIn("KeyError: 'key'",
                              [line async for line in bad.logs()])
                self.assertEqual((await bad.status()).state, "failed")
                self.assertEqual((await bad.why()).state, "failed")
                self.assertEqual((await client.result(quick.name)).x, 7)
                self.assertEqual(
                    [point.x async for point in client.map(
                        shifted, [Point(1), Point(2), Point(3)], limit=2)],
                    [7, 14, 21])
                endless = client.map(time.sleep, [0, 1000], limit=2)
                async for _ in endless:
                    break
                await endless.aclose()
                for one in await client.jobs().all():
                    await client.wait(one.full_name, 60)
        asyncio.run(scene())

    def test_executor(self):
        client = self.client()
        with client.executor(limit=2, memory="128M") as executor:
            client.close()
            self.assertIsInstance(executor, concurrent.futures.Executor)
            self.assertEqual([point.x for point in executor.map(
                shifted, map(Point, [1, 2, 3]))], [7, 14, 21])
            bad, dead = executor.submit(fails, "k"), executor.submit(exits, 3)
            self.assertIsInstance(bad.exception(), KeyError)
            self.assertEqual(dead.exception().code, 3)
        with self.assertRaises(RuntimeError):
            executor.submit(shifted, Point(1))

    def test_executor_is_cancelled(self):
        folder = pathlib.Path(new_root())
        with self.client().executor(limit=1) as executor:
            runs = executor.submit(held, str(folder), 1)
            waits = [executor.submit(held, str(folder), 2) for _ in range(3)]
            while not (folder / "up1").exists():
                time.sleep(0.01)
            self.assertTrue(waits[0].cancel())
            self.assertFalse(runs.cancel())
            executor.shutdown(wait=False, cancel_futures=True)
            (folder / "go").touch()
        self.assertEqual(runs.result(), 1)
        self.assertTrue(all(future.cancelled() for future in waits))
        self.assertFalse((folder / "up2").exists())


class Elsewhere(unittest.TestCase):
    """With `openpai serve` by TCP: modules and folders are not shared."""
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

    def test_token(self):
        call = self.client.call(shifted, Point(3))
        self.assertEqual(call.result().x, 21)
        self.assertTrue(call.name.startswith("admin~"), call.name)
        cwd, python = self.client.call(where).result()
        self.assertNotEqual(cwd, os.getcwd())
        with self.client.executor() as executor:
            self.assertEqual(executor.submit(shifted, Point(1)).result().x, 7)

        async def scene():
            async with openpai.Client(self.url, token=self.token) as client:
                return await (await client.call(lambda: 4)).result()
        self.assertEqual(asyncio.run(scene()), 4)

    def test_own_modules(self):
        """They go as a folder; without it the job says what it lacks."""
        folder = pathlib.Path(new_root())
        (folder / "calls_module.py").write_text("def f():\n    return 'there'")
        (folder / "data.txt").write_text("data")
        with unittest.mock.patch.object(sys, "path",
                                        [*sys.path, str(folder)]):
            import calls_module
        self.addCleanup(sys.modules.pop, "calls_module")
        with self.assertRaises(ModuleNotFoundError) as caught:
            self.client.call(calls_module.f).result()
        self.assertIn("code=", str(caught.exception))
        options = self.client.options(code=folder)
        self.assertEqual(options.call(calls_module.f).result(), "there")
        self.assertEqual(options.call(lambda: open("data.txt").read()).result(),
                         "data")

    def test_other_python(self):
        """It is found, or says clearly that it is another version."""
        other = pathlib.Path(new_root()) / "python"
        other.write_text(
            "#!/bin/sh\nexec %s -c 'import sys, runpy\n"
            "sys.version_info = (3, 2, 0)\nsys.argv = [\"_openpai_run.py\"]\n"
            "runpy.run_path(\"_openpai_run.py\", run_name=\"__main__\")'\n"
            % sys.executable)
        other.chmod(0o755)
        options = self.client.options(python=str(other))
        self.assertEqual(options.call(shifted, Point(1)).result().x, 7)
        with self.assertRaises(RuntimeError) as caught:
            options.call(lambda: 1).result()
        for part in ("sent by Python %d.%d" % sys.version_info[:2],
                     "Python 3.2", "help: "):
            self.assertIn(part, str(caught.exception))
        with unittest.mock.patch.object(sys, "executable", "/no/such/python"):
            call = self.client.call(where)
        self.assertIn("python", call.result()[1])

    def test_results_of_others(self):
        """A pickle of another user's is not read."""
        self.client.request("POST", "/api/v2/users", json={
            "username": "ann", "password": "her own word", "email": "a@b.c",
            "virtualCluster": ["default"], "admin": True})
        with openpai.BlockingClient(self.url, user="ann",
                                    password="her own word") as ann:
            call = ann.call(shifted, Point(1))
            self.assertEqual(call.result().x, 7)
            self.assertEqual(ann.result(call.name).x, 7)
        with self.assertRaises(openpai.PermissionDenied) as caught:
            self.client.result(call.name)
        self.assertIn("help: ", str(caught.exception))
