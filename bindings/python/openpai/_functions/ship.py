"""Packs Python code, and what it refers to, so that a job can run it.

Modules are imported there; functions and classes of a notebook or script go as
their source, with what they refer to, where that makes them as they are now
(_by_source.py), or by value (_by_value.py); all else is pickled, and where pickle cannot, by
cloudpickle if that is installed.
"""
import __future__
import ast
import builtins
import contextlib
import io
import os
import pathlib
import pickle
import shutil
import symtable
import sys
import tempfile
import types
from typing import (
    AbstractSet, Any, Callable, Dict, Iterable, Iterator, List, Optional, Set,
    Tuple, TypeVar)

from . import by_source as _by_source
from .by_source import Verdict
from .by_value import ByValue, Pickler, is_definition, is_plain
from .call_arguments import check_arguments
from .._errors import InvalidError
from .runner import RUN, SHIPPED

#: Names of histories in a notebook, and IPython's own names for them.
_HISTORIES = {"In": "_ih", "Out": "_oh"}
#: Functions that IPython puts into a notebook.
_SHELLS = frozenset(("get_ipython", "exit", "quit", "open"))


def _is_ipythons(name: str, value: Any, space: Dict[str, Any]) -> bool:
    """Whether IPython, and not the user, has put a value there."""
    if name in _HISTORIES:
        return value is space.get(_HISTORIES[name])
    module = getattr(value, "__module__", None) or type(value).__module__
    return name in _SHELLS and module.split(".")[0] in ("IPython", "ipykernel")


#: How messages name the arguments of call().
_SPOKEN = {"_function": "the function", "_args": "an argument (_args)",
           "_kwargs": "an argument (_kwargs)"}


def _names(source: str) -> Tuple[Set[str], Set[str]]:
    """The globals that a piece of code reads, and those that it sets."""
    reads: Set[str] = set()
    sets: Set[str] = set()
    top = symtable.symtable(source, "<job>", "exec")
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if table is not top and not symbol.is_global() and (
                    table.get_type() != "class"):  # may read both
                continue
            if symbol.is_referenced():
                reads.add(symbol.get_name())
            if table is top and (symbol.is_assigned() or symbol.is_imported()):
                sets.add(symbol.get_name())
    return reads, sets


class _NoBodies(ast.NodeTransformer):
    """What runs when a definition does: decorators, defaults, bases."""

    def _without(self, node: Any) -> ast.AST:
        node.body = [ast.Pass()]
        return self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = _without


def _read_at_once(source: str) -> Set[str]:
    tree = _NoBodies().visit(ast.parse(source))
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


class Shipment:
    """What goes along with a piece of code."""

    def __init__(self, code: str, space: Dict[str, Any],
                 place: Tuple[str, int] = ("<job>", 1)) -> None:
        self.space = space
        self._place = place  # file name and first line for tracebacks
        self._ours = (space, sys.modules["__main__"].__dict__)
        self._seen: Set[str] = set()
        self._depth = 0
        self.by_value = ByValue(self)
        #: Steps for the runner, in order: see STEPS in runner.py.
        self.steps: List[Tuple[Any, ...]] = []
        self.code = code
        future = getattr(__future__, "annotations")
        self._flags = (future.compiler_flag if
                       space.get("annotations") is future else 0)
        try:
            reads, sets = _names(code)
        except SyntaxError as error:
            raise error.with_traceback(None)
        self.follow_names(reads, sets)

    def is_ours(self, space: Dict[str, Any]) -> bool:
        """Whether these globals are those of the notebook or script."""
        return any(space is ours for ours in self._ours)

    def follow_names(self, reads: Iterable[str],
                     sets: AbstractSet[str] = frozenset()) -> None:
        """Takes what the code calls so; what it sets itself, only if it can be
        taken."""
        for name in sorted(reads):
            if (name in self.space and name not in self._seen and
                    not _is_ipythons(name, self.space[name], self.space) and
                    self.space[name] is not getattr(builtins, name, self)):
                self._seen.add(name)
                try:
                    self.take(name, self.space[name])
                except InvalidError:
                    if name not in sets:
                        raise

    def take(self, name: str, value: Any) -> None:
        """Takes anything under a name."""
        if isinstance(value, types.ModuleType):
            self.steps.append(("module", name, value.__name__))
            return
        goes = is_definition(value)
        source = _by_source.find(value, self.space,
                                 self._flags) if goes else None
        if source is not None and source.verdict is Verdict.SAME:
            self._take_source(name, source)
            return
        if source is not None and source.verdict is Verdict.UNKNOWN:
            with self.trying() as tried:
                self._take_definition(name, value)
                tried.append(True)
            if not tried:  # not picklable: the runner runs the source again
                self._take_source(name, source)
            return
        self._take_definition(name, value)

    def _take_definition(self, name: str, value: Any) -> None:
        """Anything that does not go as its source."""
        is_main = getattr(value, "__module__", None) == "__main__"
        if isinstance(value, type) and is_main and (
                not is_plain(value)) and self._take_by_cloudpickle(name, value):
            return
        self.take_value(name, value, _SPOKEN.get(
            name, "a variable of a function" if name.startswith("_pai_")
            else "the variable " + name),
            (is_definition(value) or isinstance(value, TypeVar)) and is_main)

    def _take_source(self, name: str, source: "_by_source.Source") -> None:
        self._seen.add(source.called)
        reads, _ = _names(source.text)
        self.follow_names(reads & _read_at_once(source.text))
        self.steps.append(("source", source.file, source.line, source.text))
        if source.called != name:
            self.steps.append(("alias", name, source.called))
        self.follow_names(reads)

    def pickled(self, value: Any) -> bytes:
        """Its pickle, after steps for what that refers to."""
        out = io.BytesIO()
        Pickler(out, self).dump(value)
        return out.getvalue()

    @contextlib.contextmanager
    def trying(self) -> Iterator[List[bool]]:
        """Forgets what was taken meanwhile if it fails, and goes on."""
        before = len(self.steps), set(self._seen), self.by_value.state()
        try:
            yield []
        except Exception:
            del self.steps[before[0]:]
            self._seen = before[1]
            self.by_value.restore(before[2])

    def take_value(self, name: str, value: Any, called: str,
                   apart: bool = False) -> None:
        """Takes a value by its pickle; for errors it is called so.  `apart`:
        pickle would only name it."""
        failed: Optional[Exception] = None
        with self.trying():
            self._depth += 1
            try:
                if apart:
                    self.by_value.name(value)
                self.steps.append(("value", name, self.pickled(value)))
            except Exception as error:
                failed = error
                raise
            finally:
                self._depth -= 1
        if failed is None or (not self._depth and
                              self._take_by_cloudpickle(name, value)):
            return
        if isinstance(failed, InvalidError):
            raise failed
        raise InvalidError("%s cannot be sent to a job: %s\n"
                           "help: make it in the job's own code" % (
                               called, failed)) from failed

    def _take_by_cloudpickle(self, name: str, value: Any) -> bool:
        """If that is installed and can."""
        try:
            import cloudpickle
            pickled = cloudpickle.dumps(value)
        except Exception:
            return False
        self.steps.append(("value", name, pickled))
        return True

    def files(self, *, here: bool = True) -> Dict[str, bytes]:
        """What goes into the folder of a job: this, and the program that runs
        it; `here`: on this machine, which has this one's folders."""
        return {
            RUN: pathlib.Path(__file__).with_name("runner.py").read_bytes(),
            SHIPPED: pickle.dumps({
                "cwd": os.getcwd() if here else "",
                "path": [p or os.getcwd() for p in sys.path] if here else [],
                "steps": self.steps, "code": self.code, "place": self._place,
                "package": self.space.get("__package__"),
                "flags": self._flags}, protocol=4)}

    def pack(self, root: pathlib.Path) -> pathlib.Path:
        """A new folder with all of it, in a platform's root, whose job's code
        it becomes."""
        (root / "code").mkdir(mode=0o700, exist_ok=True)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="new-",
                                               dir=root / "code"))
        try:
            for name, data in self.files().items():
                (folder / name).write_bytes(data)
        except BaseException:
            shutil.rmtree(folder)
            raise
        return folder


def call(function: Callable[..., Any], args: Tuple[Any, ...],
         kwargs: Dict[str, Any]) -> Shipment:
    """A shipment whose value is what the function returns."""
    if not callable(function):
        raise TypeError("a function is wanted, not %s" %
                        type(function).__name__)
    check_arguments(function, args, kwargs)
    space = dict(getattr(sys.modules["__main__"], "__dict__", {}))
    space.update(_function=function, _args=args, _kwargs=kwargs)
    return Shipment("_function(*_args, **_kwargs)", space, ("<call>", 1))
