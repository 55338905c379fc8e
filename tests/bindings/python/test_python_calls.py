"""What the Python module promises of functions and notebooks' cells as jobs.

Usage: test_python_calls.py ROOT [unittest's arguments]
"""
import json
import asyncio
import collections
import functools
import os
import pathlib
import subprocess
import sys
import textwrap
import time
import typing
import unittest
import unittest.mock

import openpai
from python_jobs import ROOT, job, new_root, text, without_cloudpickle

HELPER = 7
T = typing.TypeVar("T")


def twice(value):
    return value * HELPER


class Point:
    def __init__(self, x):
        self.x = x


def shifted(point, by):
    return Point(twice(point.x) + by)


def fails(key):
    raise KeyError(key)


def progresses(steps):
    """Draws one line again and again, and fails."""
    print("\r".join("step %06d" % step for step in range(steps)), flush=True)
    os._exit(3)


def exits(code):
    print("first\nlast", flush=True)
    os._exit(code)


def made(value=1):
    def inner():
        return value
    return inner


def held(folder):
    path = pathlib.Path(folder)
    (path / "up").touch()
    while not (path / "go").exists():
        time.sleep(0.01)
    return "went on"


def scaled(factor):
    def scale(x):
        return x * factor
    return scale


scale, scale_factor = scaled(3), 2


def once(function):  # without functools.wraps
    def inner(*args):
        return 1 + function(*args)
    return inner


@once
def tripled_once(x):
    return 3 * x


def deco(function):
    @functools.wraps(function)
    def around(*args):
        return "around", function(*args)
    return around


@deco
def decorated(x):
    return x + HELPER


@functools.lru_cache(maxsize=None)
def cached(x):
    return 2 * x


SIZES = [1, 2]


def defaults(sizes=SIZES, *, by=HELPER):
    return sizes, by


class Shape:
    def area(self):
        return HELPER


class Square(Shape):
    factory = collections.OrderedDict

    def area(self):
        return super().area() + twice(1)

    @staticmethod
    def name():
        return "square"


SQUARE = Square()
Pair = collections.namedtuple("Pair", "a b", defaults=[5])


def swapped(pair):
    return Pair(pair.b, SQUARE.area())


def apply(function, *args):
    return function(*args)


# What the runner calls its own functions; and a builtin's name.
def run(x, space=None):
    return "mine", x


tell, id = run, 3


def named_as_others():
    return run(1), tell(id)


loaded = open(os.devnull)  # cannot be pickled, and nobody asks for it
unittest.addModuleCleanup(loaded.close)


def local(loaded):
    return loaded + sum(loaded for loaded in SIZES)


class Calls(unittest.TestCase):
    def setUp(self):
        without_cloudpickle(self)
        self.platform = openpai.Platform(root=new_root())
        self.addCleanup(self.platform.close)

    def call(self, *args, **more):
        return self.platform.call(*args, memory="128M", **more)

    def test_options(self):
        """Its own names are not the function's, and it may have an order."""
        def told(name, gpu=None, function=None):
            return name, gpu, function

        first = self.platform.options(name="first").call(
            told, "a", gpu="b", function="c")
        self.assertEqual(first.result(), ("a", "b", "c"))
        slow = self.platform.options(time="1s", after=first).call(time.sleep,
                                                                  1000)
        with self.assertRaises(openpai.JobFailed) as failed:
            slow.result()
        self.assertEqual(failed.exception.code, -240)
        extras = json.loads(openpai.Job.parse(slow.config()).to_json())["extras"]
        extras["openpai"].pop("folders", None)  # of a build below /tmp
        self.assertEqual(extras["openpai"],
                         {"timeLimit": "1s", "after": [first.name]})
        machine = self.platform.status["machine"]
        job = openpai.Job.parse(first.config())
        self.assertEqual(job.roles[0].memory_mb,
                         (machine["memory"] // machine["cpus"]) >> 20)

    def test_value(self):
        handle = self.call(shifted, Point(3), by=1)
        value = handle.result()
        self.assertIsInstance(value, Point)
        self.assertEqual(value.x, 22)
        self.assertEqual(self.call(os.path.join, "a", "b").result(), "a/b")

    def test_all_kinds(self):
        """What is only named by what goes along goes along, too."""
        wanted = [
            (("around", 8), decorated, 1), (4, cached, 2),
            (([1, 2], 7), defaults), (14, Square().area), (14, SQUARE.area),
            ("square", Square.name), (Pair(5, 14), swapped, Pair(1)),
            (14, apply, twice, 2), (14, functools.partial(twice, 2)),
            ((("mine", 1), ("mine", 3)), named_as_others), (4, local, 1)]
        handles = [self.call(*given) for _, *given in wanted]
        for handle, (result, *given) in zip(handles, wanted):
            self.assertEqual(handle.result(), result, given)

    def test_lambdas_and_closures(self):
        """As their code, with the variables around them."""
        base = 10
        offset = lambda x: x + base  # noqa: E731

        def factorial(n):
            return n * factorial(n - 1) if n > 1 else base

        def keeps(*, by=offset):
            return by(HELPER)

        keeps.note = "kept"
        typed = {}
        exec("def typed(x):\n    return x * 2", globals(), typed)
        wanted = [
            (1, lambda: 1), (5, made(5)), (12, offset, 2), (60, factorial, 3),
            (17, keeps), (14, lambda: twice(2)), (30, apply, offset, 20),
            ([8, 9], lambda: [f(1) for f in
                              (lambda x: x + HELPER, lambda x: x + 8)]),
            (6, typed["typed"], 3), ("kept", lambda: keeps.note)]
        handles = [self.call(*given) for _, *given in wanted]
        for handle, (result, *given) in zip(handles, wanted):
            self.assertEqual(handle.result(), result, given)
        try:
            self.call(made(0), 1).result()
        except TypeError as error:
            self.assertIn("inner()", str(error))
        with self.assertRaises(ZeroDivisionError) as caught:
            self.call(lambda x: 1 // x, 0).result()
        self.assertIn("1 // x", str(caught.exception.__cause__))

    def test_what_functions_share(self):
        """Cells, each other, and names that are like ours."""
        log = []
        count = 0

        def add(x):
            nonlocal count
            count += 1
            log.append(x)

        def get():
            return count, log

        def even(n):
            return n == 0 or odd(n - 1)

        def odd(n):
            return n != 0 and even(n - 1)

        def typed(x: int = 1) -> str:
            return later  # noqa: F821

        def odd_types(x: typing.List[T], y: typing.Optional[Point] = None):
            return len(x)
        if not log:
            later = "set late"
        handlers = {}

        def handler():
            return sorted(handlers)
        handlers["own"] = handler
        wanted = [
            ((1, ["a"]), lambda a, g: (a("a"), g())[1], add, get),
            (True, even, 10), ("set late", typed), (["own"], handler),
            (12, lambda: scale(2) * scale_factor), (4, tripled_once, 1),
            ({"x": int, "return": str}, lambda: typed.__annotations__),
            (2, odd_types, [1, 2])]
        handles = [self.call(*given) for _, *given in wanted]
        for handle, (result, *given) in zip(handles, wanted):
            self.assertEqual(handle.result(), result, given)

    def test_by_cloudpickle(self):
        """What nothing else can take, where that is installed."""
        class Own:
            def __reduce__(self):
                raise TypeError("not by pickle")

        folder = pathlib.Path(new_root())
        (folder / "cloudpickle.py").write_text(
            "import pickle\n"
            "def dumps(value):\n"
            "    return pickle.dumps(('by value',))\n")
        del sys.modules["cloudpickle"]
        with unittest.mock.patch.object(sys, "path",
                                        [str(folder), *sys.path]):
            self.assertEqual(self.call(str.upper, Own()).result(), "BY VALUE")

    def test_errors(self):
        with self.assertRaises(KeyError) as caught:
            self.call(fails, "key").result()
        self.assertEqual(caught.exception.args, ("key",))
        self.assertIn("raise KeyError", str(caught.exception.__cause__))
        with self.assertRaises(openpai.InvalidError) as caught:
            with open(os.devnull) as file:
                self.call(twice, file)
        self.assertIn("_args", str(caught.exception))
        with self.assertRaises(TypeError):
            self.call(3)
        with self.assertRaises(ValueError):
            self.platform.call(twice, 1, memory="much")
        with self.assertRaises(openpai.NoRoomError):
            self.call(twice, 1, gpu=1000)
        self.assertEqual(list((ROOT / self.platform.status["root"] /
                               "code").glob("new-*")), [])

    def test_map(self):
        """In order, so many at a time; the rest stops with who asks."""
        results = self.platform.options(memory="128M").map(
            shifted, [Point(1), Point(2), Point(3)], [0, 1, 2], limit=2)
        self.assertEqual(sum(not job.is_over for job in self.of_jobs()), 2)
        self.assertEqual([point.x for point in results], [7, 15, 23])
        with self.assertRaises(ZeroDivisionError):
            list(self.platform.map(lambda x: 1 // x, [1, 0], limit=1))
        endless = self.platform.options(memory="128M").map(
            time.sleep, [0, 1000, 1000], limit=2)
        self.assertIsNone(next(endless))
        endless.close()
        unasked = self.platform.options(memory="128M").map(time.sleep, [1000])
        unasked.close()
        for job in self.of_jobs():
            self.platform.job(job.name).wait(60)
        self.assertEqual(list(self.platform.map(twice, [])), [])
        with self.assertRaises(ValueError):
            self.platform.map(twice, [1], limit=0)

    def of_jobs(self):
        return [self.platform.job(job.name) for job in self.platform.jobs()]

    def test_as_completed(self):
        folder = pathlib.Path(new_root())
        slow = self.call(held, str(folder))
        quick = self.call(twice, 2)
        order = self.platform.as_completed([slow, quick])
        self.assertEqual(next(order), quick)
        with self.assertRaises(TimeoutError):
            next(self.platform.as_completed([slow], timeout=0))
        (folder / "go").touch()
        self.assertEqual(list(order), [slow])

    def test_exception(self):
        """What result() would raise; a card has it, too."""
        good, bad, dead = (self.call(twice, 2), self.call(fails, "key"),
                           self.call(exits, 3))
        self.assertIsNone(good.exception())
        self.assertIsInstance(bad.exception(), KeyError)
        self.assertEqual(dead.exception().code, 3)
        self.assertIsInstance(dead.exception(), openpai.Error)
        self.assertIn("KeyError: &#x27;key&#x27;", bad._repr_html_())
        self.assertEqual(bad.why().raised, "KeyError: 'key'")
        self.assertIn("\nKeyError: 'key'", str(bad.why()))
        self.assertIsNone(dead.why().raised)
        self.assertNotIn("KeyError", good._repr_html_())
        self.assertRegex(repr(bad), "^<openpai.CallHandle [0-9]+, .*~fails_"
                                    "[0-9a-f]+: failed>$")

    def test_awaited(self):
        async def scene():
            good, bad = self.call(twice, 2), self.call(fails, "key")
            self.assertEqual(await good.result_async(), 14)
            with self.assertRaises(KeyError):
                await bad.result_async()
        asyncio.run(scene())

    def test_arguments(self):
        """What would fail there is told at once."""
        def train(rate, gpu=0):
            return rate, gpu

        before = len(self.platform.jobs())
        for parts, args, more in (
                (("rate",), (), {}), (("gpus", "did you mean gpu="), (1,),
                                      {"gpus": 1}),
                (("time", "options(time="), (1,), {"time": "1m"}),
                (("gpu", "options()"), (1,), {"gpu": 1})):
            with self.assertRaises(TypeError) as caught:
                self.call(train, *args, **more)
            for part in parts:
                self.assertIn(part, str(caught.exception))
        self.assertEqual(len(self.platform.jobs()), before)
        self.assertEqual(self.platform.options().call(train, 1, gpu=2).result(),
                         (1, 2))
        self.assertEqual(self.call(max, 1, 2).result(), 2)

    def test_submit(self):
        """The options of submit() are in the job, over what its file says."""
        first = self.platform.submit(job("true"))
        path = pathlib.Path(new_root()) / "job.yaml"
        path.write_text(text("true", name="second"))
        second = self.platform.submit(path, time="90s", after=[first],
                                      priority="test", tags=["a", "b"])
        self.assertTrue(second.wait().succeeded)
        extras = openpai.Job.parse(second.config())["extras"]
        self.assertEqual(extras["openpai"],
                         {"timeLimit": "90s", "after": [first.name]})
        self.assertEqual(extras["hivedScheduler"], {"jobPriorityClass": "test"})
        self.assertEqual(sorted(second.status.tags), ["a", "b"])
        for wrong in ({"priority": "high"}, {"tags": "a,b"}, {"time": "soon"}):
            with self.assertRaises(ValueError):
                self.platform.submit(path, **wrong)
        with self.assertRaises(openpai.PermissionDenied):
            self.platform.submit(path, virtual_cluster="none")

        async def scene():
            third = await self.platform.submit_async(path, name="third",
                                                     tags="c")
            return await third, third.status.tags
        self.assertEqual(asyncio.run(scene()), (("succeeded", 0), ("c",)))

    def test_no_result(self):
        handle = self.platform.submit(job("true"))
        with self.assertRaises(LookupError) as caught:
            handle.result()
        self.assertIn("call()", str(caught.exception))

    def test_failed_job(self):
        """Code that ends its process, and a job that is stopped."""
        handle = self.call(exits, 3)
        with self.assertRaises(openpai.JobFailed) as caught:
            handle.result()
        failed = caught.exception
        self.assertEqual((failed.state, failed.code, failed.lines),
                         ("failed", 3, ("first", "last")))
        self.assertTrue(failed.reason)
        for part in ("failed with code 3", failed.reason, "\nlast"):
            self.assertIn(part, str(failed))
        handle = self.call(progresses, 100_000)
        with self.assertRaises(openpai.JobFailed) as caught:
            handle.result()
        self.assertEqual(caught.exception.lines, tuple(
            "step %06d" % step for step in range(99_990, 100_000)))
        handle = self.call(time.sleep, 1000)
        handle.stop(now=True)
        with self.assertRaises(openpai.JobFailed) as caught:
            handle.result()
        self.assertEqual(caught.exception.state, "stopped")
        self.assertLess(caught.exception.code, 0)

    def test_result_of_another(self):
        """It may be anything, and is not read."""
        handle = self.call(twice, 1)
        self.assertEqual(handle.result(), 7)
        status = handle.show()
        path = (pathlib.Path(self.platform.status["root"]) / "code" /
                ("%s~%s" % (status.user, status.name)) / "_openpai_outcome.pickle")
        own = path.with_name("own")
        path.rename(own)
        path.symlink_to(own)
        with self.assertRaises(openpai.PermissionDenied):
            handle.result()
        own.replace(path)
        self.assertEqual(handle.result(), 7)
        with unittest.mock.patch("os.geteuid", return_value=os.geteuid() + 1):
            with self.assertRaises(openpai.PermissionDenied) as caught:
                handle.result()
        self.assertIn("help: ", str(caught.exception))


class Notebooks(unittest.TestCase):
    def test_cells(self):
        """The magics, in a shell of IPython's own."""
        try:
            import IPython  # noqa: F401
        except ImportError:
            self.skipTest("no IPython")
        script = textwrap.dedent("""
            import sys
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell()
            def run(cell):
                return shell.run_cell(cell, store_history=True)
            run("%load_ext openpai")
            run("%pai root " + sys.argv[1])
            run("def f(x):\\n    return x * k\\nk = 6")
            run("%%pai memory=128M\\nprint('in the job')\\nf(7)")
            run("print(pai_job.result())")
            run("%reload_ext openpai")
            run("%pai list")
            run("%pai show")
            run("%pai logs")
            run("%%pai memory=128M\\nimport asyncio\\n"
                "await asyncio.sleep(0, 'awai' + 'ted')")
            run("print(pai_job.result())")
            run("%%pai memory=128M\\nraise KeyError('mine')")
            run("try:\\n    %pai result\\nexcept KeyError as e: print('got', e)")
            run("%%pai memory=128M\\nclass Own: pass\\nOwn()")
            run("%pai result")
            run("%pai nonsense")
            answer = run("%%pai gpus=1\\n1")
            print(type(answer.error_in_exec).__name__, answer.error_in_exec)
            """)
        done = subprocess.run(
            [sys.executable, "-c", script, str(new_root())], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        for part in ("in the job\n", "\n42\n", "NAME  ", "got 'mine'",
                     "<openpai.CallHandle", "awaited\n",
                     "cannot be read here", "help: define or import",
                     "%%pai [gpu=N]", "ValueError"):
            self.assertIn(part, done.stdout)
        self.assertNotIn("HTML object", done.stdout)
        self.assertNotIn("text/html", done.stdout)
