"""What the Python module promises of functions and classes that were changed
since they were written: a job has them as they are now.

Usage: test_python_by_source.py ROOT [unittest's arguments]
"""
# flake8: noqa: E301,E302,E305,E306,E701,E704
import abc
import dataclasses
import enum
import functools
import json
import os
import pathlib
import subprocess
import sys
import threading
import typing
import unittest

import openpai
from openpai._functions import by_source as _by_source
from python_jobs import new_root, without_cloudpickle

T = typing.TypeVar("T")
N = 3
class Out:
    n = 3


class Point:
    def __init__(self, x):
        self.x = x
class Shape(abc.ABC):
    n = N
    k = 1 << 20
    __private = 3
    sizes: typing.List[int] = [1, 2]
    @property
    def area(self): return self.n
    @area.setter
    def area(self, v): self.n = v
    @staticmethod
    def s(a, b=N): return a
    @classmethod
    def c(cls): return cls
    @abc.abstractmethod
    def a(self): ...
    @property
    @abc.abstractmethod
    def pa(self): ...
    @functools.cached_property
    def slow(self): return 1
    def __hidden(self): return super().__init__()
    class Inner:
        z = 3
        def f(self): return 1
@dataclasses.dataclass
class Config:
    rate: float
    sizes: typing.List[int] = dataclasses.field(default_factory=list)
    k: int = 3
    m: int = dataclasses.field(default=4)
    def total(self) -> float:
        return self.rate
@dataclasses.dataclass(order=True, frozen=True)
class Frozen:
    rate: float = 1.0
class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    AZURE = 2
    def title(self): return self.name
class Planet(str, enum.Enum):
    EARTH = "earth"
class Heavy(enum.Enum):
    A = (3, 4)
    def __init__(self, mass, radius): self.density = mass / radius
class Mode(enum.Flag):
    R = enum.auto()
    W = enum.auto()
class Pair(typing.NamedTuple):
    a: int
    b: "typing.Optional[int]" = 5
    def swapped(self): return Pair(self.b, self.a)
class Box(typing.Generic[T]):
    def __init__(self, item: T) -> None: self.item = item
    def get(self) -> T: return self.item
class Mine(Exception):
    """Doc."""
    def __init__(self, text, number):
        super().__init__(text, number)
class Slots:
    __slots__ = ("a", "b")
    def f(self): return self.a
@dataclasses.dataclass
class Sub(Config):
    z: int = N
def f(x, y=N, *, z=[1], w=-1.0): return x
@functools.lru_cache(maxsize=None)
def c1(x): return x
@functools.lru_cache
def c2(x): return x
@functools.lru_cache(5)
def c3(x): return x
async def co(): return 1
def gen():
    yield lambda x: x
SAME = "Point Shape Config Frozen Colour Planet Mode Pair Box Mine Slots Sub f c1 c2 c3 co gen".split()

lim = 3
def d1(x=lim, *, y=lim): return x, y
lim = 5
class K1: n = 3
K1.n = 4
class K2: n = 3
K2.other = 1
class K3:
    def f(self): return 1
K3.f = lambda self: 2
class K4:
    items = []
K4.items.append(1)
class K5: a = 1; b = 2
del K5.a
def w(): return w.n
w.n = 10
@functools.lru_cache(None)
def c4(x): return x
c4.tag = 1
class A1(abc.ABC): pass
A1.register(int)
class K6:
    def f(self, a=[]): return a
K6.f.note = 1
@dataclasses.dataclass
class D1:
    k: int = 3
D1.k = 4
@dataclasses.dataclass
class D2:
    k: int = 3
D2.__repr__ = lambda self: "x"
class E1(enum.Enum):
    A = 1
E1.extra = 5
CHANGED = "d1 K1 K2 K3 K4 K5 w c4 A1 K6 D1 D2 E1".split()

@functools.singledispatch
def sd(x): return 1
def deco(f):
    @functools.wraps(f)
    def g(*a): return f(*a)
    return g
@deco
def dd(): return 1
class Meta(type): pass
class M(metaclass=Meta): pass
class Hook:
    def __init_subclass__(cls, *, tag="", **k): pass
class H(Hook, tag="x"): pass
class L:
    lock = threading.Lock()
class If:
    if N: x = 1
class SM:
    @functools.singledispatchmethod
    def f(self, x): return 1
@functools.total_ordering
class TO:
    def __lt__(self, o): return True
UNKNOWN = "sd dd M H Heavy L If SM TO".split()


# --- what jobs see -----------------------------------------------------------

REGISTRY, MADE = [], []


class Plugin:
    def __init_subclass__(cls, *, tag, **more):
        super().__init_subclass__(**more)
        cls.tag = tag
        REGISTRY.append(cls)


class First(Plugin, tag="x"):
    pass


class Second(First, Box[int], tag="y"):
    pass


class Keeps:
    kept = {}

    def __init_subclass__(cls):
        Keeps.kept[cls.__name__] = cls


class Kept(Keeps):
    pass


class Counting(type):
    def __new__(meta, name, bases, space, *, word="none"):
        made = super().__new__(meta, name, bases, space)
        made.word = word
        return made

    def __init__(cls, name, bases, space, **words):
        MADE.append(cls)


class Counted(metaclass=Counting, word="w"):
    pass


class Visitor:
    @functools.singledispatchmethod
    def visit(self, x):
        return "any", self.visit("text")

    @visit.register
    def _(self, x: str):
        return "text"

    @functools.singledispatchmethod
    @classmethod
    def make(cls, x):
        return cls.__name__


@functools.singledispatch
def shown(x):
    return "any"


@shown.register(int)
def shown_int(x):
    return "int " + shown("x")


@shown.register(Point)
def shown_point(x):
    return "point"


shown.note = "kept"
REGISTERED = []


def registering(function):
    REGISTERED.append(function)
    return function


@registering
def once():
    return len(REGISTERED)


class BySource(unittest.TestCase):
    def setUp(self):
        without_cloudpickle(self)
        self.platform = openpai.Platform(root=new_root())
        self.addCleanup(self.platform.close)

    def result(self, function, *args):
        return self.platform.call(function, *args, memory="128M").result()

    def test_verdicts(self):
        for names, verdict in (SAME, "SAME"), (CHANGED, "CHANGED"), (
                UNKNOWN, "UNKNOWN"):
            for name in names:
                found = _by_source.find(globals()[name], globals(), 0)
                self.assertEqual((name, found.verdict.name), (name, verdict))

    def test_changed_functions(self):
        def scene():
            c4(1)
            return (d1(), lim, w(), c4.tag, c4.cache_info().misses,
                    K6().f.note, dd(), dd.n)
        dd.n = 50
        self.assertEqual(self.result(scene),
                         ((3, 3), 5, 10, 1, 1, 1, 1, 50))
        self.assertEqual(self.result(d1), (3, 3))
        self.assertEqual(self.result(dd), 1)

    def test_changed_classes(self):
        def scene():
            return (K1.n, K2.other, K3().f(), K4.items, hasattr(K5, "a"),
                    issubclass(int, A1), D1.k, repr(D2()), E1.extra, E1.A.value)
        self.assertEqual(self.result(scene), (
            4, 1, 2, [1], False, True, 4, "x", 5, 1))

    def test_names_of_ipython(self):
        """Only what IPython has put there under its names stays."""
        def scene():
            return Out.n
        self.assertEqual(self.result(scene), 3)

    def test_same_classes(self):
        """They work there, whichever way they go."""
        def scene():
            shape = type("Whole", (Shape,), {"a": 1, "pa": 2})()
            shape.area = 7
            return (shape.area, shape.s(1), shape.slow, Config(2.0).sizes,
                    Frozen() < Frozen(2.0), Colour.AZURE.title(),
                    Planet("earth"), Heavy.A.density, Mode.R | Mode.W,
                    Pair(1).swapped(), Box[int](3).item, Sub(1.0),
                    Slots().__slots__, Shape.Inner().f(), c3(4), TO() <= TO())
        told = self.result(scene)
        self.assertEqual(told[:6], (7, 1, 1, [], True, "BLUE"))
        self.assertEqual(told[6:], (
            Planet.EARTH, 0.75, Mode.R | Mode.W, Pair(5, 1), 3, Sub(1.0),
            ("a", "b"), 1, 4, True))

    def test_dispatch(self):
        def scene():
            return (shown(1), shown(Point(1)), shown(""), shown.note,
                    Visitor().visit(1), Visitor.make(1), sd(1))
        self.assertEqual(self.result(scene), (
            "int any", "point", "any", "kept", ("any", "text"), "Visitor", 1))
        self.assertEqual(self.result(shown, 3), "int any")

    def test_hooks_do_not_run_again(self):
        """What they did is there, once."""
        def scene():
            return ([cls.__name__ for cls in REGISTRY], First.tag, Second.tag,
                    [cls.__name__ for cls in MADE], Counted.word,
                    issubclass(Second, Plugin), REGISTRY[0] is First,
                    Second(5).get(), Keeps.kept["Kept"] is Kept,
                    Kept.kept == {"Kept": Kept})
        self.assertEqual(self.result(scene), (
            ["First", "Second"], "x", "y", ["Counted"], "w", True, True, 5, True,
            True))

        def later():
            class Third(Plugin, tag="z"):
                pass
            return len(REGISTRY), Third.tag
        self.assertEqual(self.result(later), (3, "z"))
        self.assertEqual((self.result(once), len(REGISTERED)), (1, 1))

    def test_what_cannot_go_by_value(self):
        """It is made there once more, as it was written."""
        self.assertTrue(self.result(lambda: L.lock.acquire()))

        class Local:
            lock = threading.Lock()
        with self.assertRaisesRegex(openpai.InvalidError,
                                    "attribute lock of the class Local"):
            self.result(lambda: Local)

    def test_by_name(self):
        """Another program finds classes by the names that they have here."""
        call = self.platform.call(K1, memory="128M")
        self.assertIs(type(call.result()), K1)
        self.assertIs(type(self.platform.job(call.name).result()), K1)

    def test_relative_imports(self):
        """Of `python -m package.main`."""
        package = pathlib.Path(new_root()) / "calls_package"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "near.py").write_text("VALUE = 'near'")
        (package / "main.py").write_text("""
import json, sys, openpai

def near():
    from .near import VALUE
    from . import near
    return VALUE, near.VALUE

with openpai.Platform(root=sys.argv[1]) as platform:
    print(json.dumps([platform.call(f, memory="128M").result()
                      for f in (near, lambda: near())]))
""")
        done = subprocess.run(
            [sys.executable, "-m", "calls_package.main", str(new_root())],
            cwd=package.parent, env={**os.environ, "PYTHONPATH": str(
                pathlib.Path(openpai.__file__).parents[1])},
            stdout=subprocess.PIPE, check=True)
        self.assertEqual(json.loads(done.stdout), [["near", "near"]] * 2)
