"""What the Python module promises of closures and classes that travel to jobs.

Usage: test_python_by_value.py ROOT [unittest's arguments]
"""
import dataclasses
import enum
import functools
import importlib.util
import json
import pathlib
import subprocess
import sys
import textwrap
import typing
import unittest

import openpai
from python_jobs import ROOT, new_root, without_cloudpickle

# As a notebook has it: there is no file with their source.
CELLS = ["""
import abc, dataclasses, enum, functools, typing

T = typing.TypeVar("T")
UserId = typing.NewType("UserId", int)


class Base(abc.ABC):
    count = 0

    def __init__(self, x):
        self.x = x

    @property
    def twice(self):
        return self.x * 2

    @abc.abstractmethod
    def area(self): ...

    @classmethod
    def of(cls, x):
        cls.count += 1
        return cls(x)

    @staticmethod
    def plus(a, b=1):
        return a + b

    @functools.cached_property
    def slow(self):
        return self.x + 100

    @functools.lru_cache(maxsize=None)
    def cached(self, y):
        return self.x + y

    class Inner:
        def name(self):
            return type(self).__qualname__
""", """
class Square(Base):
    __slots__ = ("side",)

    def area(self):
        return super().area() or Base.plus(self.x ** 2)

    def me(self):
        return __class__ is Square and isinstance(self, __class__)


@dataclasses.dataclass(order=True)
class Config:
    rate: float
    sizes: typing.List[int] = dataclasses.field(default_factory=list)
    next: "typing.Optional[Config]" = None

    def total(self) -> float:
        return self.rate * sum(self.sizes)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    AZURE = 2

    def title(self):
        return self.name.title()


class Planet(str, enum.Enum):
    EARTH = "earth"
    MARS = "mars"


class Heavy(enum.Enum):
    A = (3, 4)

    def __init__(self, mass, radius):
        self.density = mass / radius


class Mode(enum.Flag):
    R = enum.auto()
    W = enum.auto()


class Pair(typing.NamedTuple):
    a: int
    b: "typing.Optional[int]" = 5

    def swapped(self):
        return Pair(self.b, self.a)


class Box(typing.Generic[T]):
    def __init__(self, item: T) -> None:
        self.item = item

    def get(self) -> T:
        return self.item


class Movie(typing.TypedDict):
    name: str


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.marked = True
        return made


class Marked(metaclass=Meta):
    pass


class Mine(Exception):
    def __init__(self, text, number):
        super().__init__(text, number)
        self.number = number


class Node:
    def __init__(self, children=()):
        self.children = list(children)
        self.kind = Node

    def depth(self):
        return 1 + max([child.depth() for child in self.children], default=0)

Node.ROOT = Node([Node()])


def user(number) -> UserId:
    return UserId(number)

"""]
for cell in CELLS:
    exec(compile(cell, "<cell>", "exec"), globals())


def later(self):  # as people add methods in another cell
    return self.x - 1


Square.later = later  # noqa: F821
Config.limit = 3  # noqa: F821


def local_class(bonus):
    class Local:
        twin = None

        def get(self):
            return bonus

        def other(self):
            return Local()
    Local.twin = Local()
    return Local


def retried(times):
    def decorate(function):
        @functools.wraps(function)
        def around(*args):
            for left in range(times)[::-1]:
                try:
                    return function(*args)
                except ValueError:
                    if not left:
                        raise
        return around
    return decorate


TRIES = []


@retried(3)
def flaky(x):
    TRIES.append(x)
    if len(TRIES) < 3:
        raise ValueError(x)
    return len(TRIES), x


def plain(x):
    return x + 1


def factorial_maker():
    @functools.lru_cache(maxsize=10)
    def factorial(n):
        return n * factorial(n - 1) if n else 1
    return factorial


MODULE = """
import functools

FACTOR = 3

def closure(by):
    @functools.lru_cache(None)
    def inner(x):
        return x * by * FACTOR
    return inner

def local(by):
    class Local:
        def get(self):
            return by * FACTOR
    return Local

times = [lambda x: x * FACTOR]
"""


class ByValue(unittest.TestCase):
    def setUp(self):
        without_cloudpickle(self)
        self.platform = openpai.Platform(root=new_root())
        self.addCleanup(self.platform.close)

    def call(self, *args):
        return self.platform.call(*args, memory="128M")

    def holds(self, *wanted):
        handles = [self.call(*given) for _, *given in wanted]
        for handle, (result, *given) in zip(handles, wanted):
            self.assertEqual(handle.result(), result, given)

    def test_wrapped(self):
        """Decorators around closures, lambdas, and what has their name."""
        base = 10
        cached = functools.lru_cache(maxsize=5)(lambda x: x + base)
        shadowed = retried(2)(plain)

        @functools.lru_cache(maxsize=None)
        def inner(x):
            return x - base

        @retried(2)
        @functools.lru_cache(maxsize=None)
        def both(x):
            return inner(x), cached(x)

        def info():
            inner(1), inner(1)
            return inner.cache_info().hits, cached.cache_parameters()
        self.holds(
            (12, cached, 2), (2, shadowed, 1), (-8, inner, 2),
            ((-9, 11), both, 1), (3628800, factorial_maker(), 10),
            ((1, {"maxsize": 5, "typed": False}), info),
            ((3, 7), flaky, 7), (15, functools.partial(inner, 25)),
            (3, functools.partial(lambda x, y: x + y, y=1), 2),
            (("both", 1), lambda: (both.__wrapped__.__name__, both(1)[1] - 10)))

    def test_classes(self):
        square = Square(3)  # noqa: F821
        square.side = 4

        def scene():
            made = Square.of(5)  # noqa: F821
            return (made.twice, made.area(), made.slow, made.cached(1),
                    made.me(), Square.count, Base.count,  # noqa: F821
                    made.later(), Base.Inner().name())  # noqa: F821

        def abstract():
            try:
                Base(1)  # noqa: F821
            except TypeError as error:
                return "abstract" in str(error)
        self.holds(
            (10, square.area), (7, lambda: square.side + square.x),
            ((10, 26, 105, 6, True, 1, 0, 4, "Base.Inner"), scene),
            (True, abstract), (8, Base.plus, 7),  # noqa: F821
            (2, lambda: Node.ROOT.depth()),  # noqa: F821
            (True, lambda: Node().kind is Node),  # noqa: F821
            (True, lambda: Marked().marked),  # noqa: F821
            (2, functools.partial(Square.later, square)))  # noqa: F821

    def test_made_classes(self):
        """Dataclasses, enumerations, named tuples, generics."""
        config = Config(0.5, [1, 2], Config(2))  # noqa: F821

        def scene():
            made = Config(2.0)  # noqa: F821
            made.sizes.append(1)
            return (made.total(), made < Config(3), repr(made),  # noqa: F821
                    Config(1).sizes, Config.limit,  # noqa: F821
                    [f.name for f in dataclasses.fields(made)])
        self.holds(
            (config, lambda: config), (1.5, config.total),
            ((2.0, True, "Config(rate=2.0, sizes=[1], next=None)", [], 3,
              ["rate", "sizes", "next"]), scene),
            (["Red", "Blue"], lambda: [c.title() for c in Colour]),  # noqa: F821
            (True, lambda: Colour.AZURE is Colour.BLUE),  # noqa: F821
            (Planet.MARS, lambda p: Planet(p + "s"), "mar"),  # noqa: F821
            (0.75, lambda: Heavy.A.density),  # noqa: F821
            (Mode.R | Mode.W, lambda m: m | Mode.W, Mode.R),  # noqa: F821
            (Pair(1, 2), Pair(2, 1).swapped), (Pair(1), Pair, 1),  # noqa: F821
            (7, lambda: Box[int](7).get()),  # noqa: F821
            ({"name": "x"}, lambda: Movie(name="x")),  # noqa: F821
            (3, user, 3))  # noqa: F821

    def test_results_are_of_the_classes_here(self):
        local = local_class(8)
        other = self.call(lambda: local().other()).result()
        self.assertIs(type(other), local)
        self.assertEqual(other.get(), 8)
        self.assertIs(self.call(lambda: local).result(), local)
        self.assertIs(type(self.call(Square, 3).result()),  # noqa: F821
                      Square)  # noqa: F821
        self.assertIs(self.call(lambda: Colour.RED).result(),  # noqa: F821
                      Colour.RED)  # noqa: F821
        self.holds((True, lambda: type(local.twin) is local))

        def fails():
            raise Mine("mine", 4)  # noqa: F821
        with self.assertRaises(Mine) as caught:  # noqa: F821
            self.call(fails).result()
        self.assertEqual(caught.exception.number, 4)

    def test_of_modules(self):
        """What a function of a module has made; its globals are there."""
        folder = pathlib.Path(new_root())
        (folder / "by_value_module.py").write_text(MODULE)
        spec = importlib.util.spec_from_file_location(
            "by_value_module", folder / "by_value_module.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules["by_value_module"] = module
        self.addCleanup(sys.modules.pop, "by_value_module")
        sys.path.append(str(folder))
        self.addCleanup(sys.path.remove, str(folder))
        local = module.local(2)
        self.holds((12, module.closure(2), 2), (6, lambda: local().get()),
                   (15, module.times[0], 5))

    def test_own_globals(self):
        """Of exec(): those that the function reads."""
        space = {"k": 4, "unread": (x for x in "ab")}
        exec("def f(x):\n    return g(x) * k\ndef g(x):\n    return x + k",
             space)
        self.holds((24, space["f"], 2))

    def test_what_cannot_go(self):
        class Holds:
            letters = (x for x in "ab")
        with self.assertRaises(openpai.InvalidError) as caught:
            self.call(lambda: Holds)
        for part in "the attribute letters of the class Holds", "help: ":
            self.assertIn(part, str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            self.call(lambda: (x for x in "ab")).result()
        for part in "the result, a generator, cannot be pickled", "help: ":
            self.assertIn(part, str(caught.exception))
        # What could not go is not half there for the next.
        self.holds((1, lambda: 1))

    def test_other_version(self):
        """Code of another Python says so."""
        script = textwrap.dedent("""
            import json, sys
            sys.path.insert(0, sys.argv[1])
            import runner
            try:
                runner.make_function({}, "f", (2, 7), b"", [], "f",
                                      "made.f", "__main__", "main", "", "", 1,
                                      [])
            except RuntimeError as error:
                print(json.dumps(str(error)))
            """)
        package = pathlib.Path(openpai.__file__).parent / "_functions"
        told = json.loads(subprocess.run(
            [sys.executable, "-c", script, str(package)], check=True,
            capture_output=True, text=True).stdout)
        self.assertIn("Python 2.7", told)
        self.assertIn("help: ", told)


@unittest.skipUnless(importlib.util.find_spec("cloudpickle"),
                     "no cloudpickle")
class WithCloudpickle(ByValue):
    """It changes nothing of these, but takes more."""
    def setUp(self):
        self.platform = openpai.Platform(root=new_root())
        self.addCleanup(self.platform.close)

    def test_what_cannot_go(self):
        super().test_what_cannot_go()
        self.assertEqual(self.call(lambda: (lambda: 1)).result()(), 1)
