"""Runs what ship.py has packed; a copy of this is the job's program.

It knows nothing of openpai, and runs in any Python that has what the shipped
code imports.
"""
import abc
import ast
import asyncio
import contextlib
import enum
import functools
import importlib
import inspect
import io
import itertools
import linecache
import marshal
import os
import pickle
import sys
import traceback
import types
from typing import Any, Callable, Dict, Iterator, List

#: Files in the job's folder: this program, its input, and its outcome.
RUN = "_openpai_run.py"
SHIPPED = "_openpai_call.pickle"
OUTCOME = "_openpai_outcome.pickle"

#: Modules whose __init_subclass__() only takes part in making a class.
KINDS = ("typing", "typing_extensions", "enum", "abc")


def tell(folder: str, outcome: bytes) -> None:
    """The outcome beside this file, whole or not at all."""
    path = os.path.join(folder, OUTCOME)
    with open(path + ".new", "wb") as out:
        out.write(outcome)
    os.replace(path + ".new", path)


def remember(file: str, lines: List[str]) -> None:
    """For tracebacks: these lines of a file, beside others of it."""
    known: Any = linecache.cache.get(file, (0, None, [], file))
    merged = [new if new.strip() else old for new, old in
              itertools.zip_longest(lines, known[2], fillvalue="\n")]
    linecache.cache[file] = (sum(map(len, merged)), None, merged, file)


def make_function(space: Dict[str, Any], name: str, version: Any, code: bytes,
                  cells: List[str], called: str, qualified: str, module: str,
                  kind: str, where: str, file: str, line: int,
                  lines: List[str]) -> None:
    """A function of its code, whose cells are filled later."""
    if tuple(version) != sys.version_info[:2]:
        raise RuntimeError(
            "%s() was sent by Python %d.%d as its code, which Python %d.%d of "
            "the job does not run\n"
            "help: use the same version of Python on both sides, or define "
            "%s() in a module that is installed there" % (
                qualified, *version, *sys.version_info[:2], called))
    remember(file, ["\n"] * (line - 1) + lines)
    for cell in cells:
        space.setdefault(cell, types.CellType())
    its_space = space
    if kind == "module":
        its_space = importlib.import_module(where).__dict__
    elif kind == "own":  # a namespace, as given to exec()
        its_space = space.setdefault(where, {"__name__": module})
    made = types.FunctionType(
        marshal.loads(code), its_space, called, None,
        tuple(space[cell] for cell in cells))
    made.__qualname__, made.__module__ = qualified, module
    space[name] = made


def complete(space: Dict[str, Any], name: str, rest: str) -> None:
    """What a function has besides its code."""
    function = space[name]
    (function.__defaults__, function.__kwdefaults__, more,
     function.__annotations__) = space.pop(rest)
    function.__dict__.update(more)


@contextlib.contextmanager
def without_hooks(bases: Any) -> Iterator[None]:
    """Nobody's __init_subclass__() runs: it did where the class was made."""
    def skipped(owner: type) -> Any:
        def skip(cls: type, **_: Any) -> None:
            getattr(super(owner, cls), "__init_subclass__")()
        return classmethod(skip)

    kept = {}
    for owner in {owner: None for base in bases for owner in base.__mro__}:
        hook = owner.__dict__.get("__init_subclass__")
        if isinstance(getattr(hook, "__func__", None), types.FunctionType) and (
                owner.__module__ not in KINDS):
            kept[owner] = hook
            type.__setattr__(owner, "__init_subclass__", skipped(owner))
    try:
        yield
    finally:
        for owner, hook in kept.items():
            type.__setattr__(owner, "__init_subclass__", hook)


def make_class(space: Dict[str, Any], name: str, pickled: bytes) -> None:
    """A class in which there is nothing yet but what its making needs."""
    kind, called, bases, given = pickle.loads(pickled)

    def fill(own: Any) -> None:
        for key, value in given.items():
            own[key] = value
    with without_hooks(bases):
        if issubclass(kind, type(enum.Enum)):
            space[name] = types.new_class(called, bases, {"metaclass": kind},
                                          fill)
            return
        # __new__() and __init__() of the metaclass ran when the class was made
        # first, so only those of C run here.
        new = next(base.__new__ for base in kind.__mro__ if isinstance(
            base.__dict__.get("__new__"), types.BuiltinFunctionType))
        made = space[name] = new(kind, called, bases, given)
        if issubclass(kind, abc.ABCMeta):
            getattr(abc, "_abc_init")(made)


def adorn(space: Dict[str, Any], name: str, module: str, qualified: str
          ) -> None:
    type.__setattr__(space[name], "__module__", module)
    type.__setattr__(space[name], "__qualname__", qualified)


def register(space: Dict[str, Any], name: str, of: str) -> None:
    """With a function of singledispatch()."""
    for cls, function in space.pop(of):
        space[name].register(cls, function)


def registered(space: Dict[str, Any], name: str, of: str) -> None:
    """With an abstract base class."""
    for cls in space.pop(of):
        abc.ABCMeta.register(space[name], cls)


def make(space: Dict[str, Any], name: str, pickled: bytes) -> None:
    maker, args, options = pickle.loads(pickled)
    space[name] = maker(*args, **options)


def make_cached(space: Dict[str, Any], name: str, wrapped: str,
                maxsize: Any, typed: bool) -> None:
    space[name] = functools.lru_cache(maxsize, typed)(space[wrapped])


def set_states(space: Dict[str, Any], name: str, states: str) -> None:
    """What the members of an enumeration have of their own."""
    for key, state in space.pop(states).items():
        space[name].__members__[key].__dict__.update(state)


def run_source(space: Dict[str, Any], file: str, line: int, source: str
               ) -> None:
    source = "\n" * (line - 1) + source
    remember(file, source.splitlines(True))
    exec(compile(source, file, "exec", space["_pai_flags"]), space)


def load(space: Dict[str, Any], name: str, pickled: bytes) -> None:
    space[name] = pickle.loads(pickled)


def load_module(space: Dict[str, Any], name: str, module: str) -> None:
    space[name] = importlib.import_module(module)


#: Functions that run a step, given `space` (of __main__) and the step's words.
STEPS: Dict[str, Callable[..., Any]] = {
    "module": load_module,
    "value": load,
    "source": run_source,
    "alias": lambda space, name, of: space.update({name: space[of]}),
    "function": make_function,
    "fill": lambda space, cell, of: setattr(
        space[cell], "cell_contents", space.pop(of)),
    "global": lambda space, where, name, of: space[where].update(
        {name: space.pop(of)}),
    "complete": complete,
    "cached": make_cached,
    "dispatch": lambda space, name, wrapped: space.update(
        {name: functools.singledispatch(space[wrapped])}),
    "register": register,
    "attributes": lambda space, name, of: space[name].__dict__.update(
        space.pop(of)),
    "make": make,
    "class": make_class,
    "adorn": adorn,
    "member": lambda space, cls, name, of: type.__setattr__(
        space[cls], name, space.pop(of)),
    "registered": registered,
    "states": set_states,
}


def prepare(shipped: Dict[str, Any], space: Dict[str, Any]) -> None:
    """What the code needs, in `space`, the module __main__."""
    space["_pai_flags"] = shipped["flags"]
    try:
        for kind, *parts in shipped["steps"]:
            STEPS[kind](space, *parts)
    except ModuleNotFoundError as error:
        if not shipped["cwd"]:  # this is another machine
            error.msg = (
                "%s here\nhelp: install it there, or give its folder: "
                "options(code=FOLDER).call(...)" % error.msg)
            error.args = (error.msg,)
        raise
    del space["_pai_flags"]


class Pickler(pickle.Pickler):
    """Of results: what was sent here by value goes back by its name here."""

    def __init__(self, file: Any, space: Dict[str, Any]) -> None:
        super().__init__(file)
        self._sent = {id(value): name for name, value in space.items()
                      if name.startswith("_pai_")}

    def reducer_override(self, value: Any) -> Any:
        name = self._sent.get(id(value))
        if name is None or not isinstance(value, (type, types.FunctionType)):
            return NotImplemented
        return name if value.__module__ == "__main__" else NotImplemented


def pickled(kind: str, value: Any, text: str, space: Dict[str, Any]) -> bytes:
    """An outcome, if it can be read again."""
    out = io.BytesIO()
    Pickler(out, space).dump((kind, value, text))
    return out.getvalue()


def pickled_result(value: Any, space: Dict[str, Any]) -> bytes:
    try:
        return pickled("value", value, "", space)
    except Exception as error:
        try:
            import cloudpickle
            own: bytes = cloudpickle.dumps(("value", value, ""))
            return own
        except Exception:  # cloudpickle is not installed, or fails, too
            raise TypeError(
                "the result, a %s, cannot be pickled: %s\n"
                "help: return plain data, or write a file of the job" % (
                    type(value).__name__, error)) from None


def run(source: str, space: Dict[str, Any], name: str, line: int) -> Any:
    """Runs it; the value of its last expression.  It may await."""
    source = "\n" * (line - 1) + source
    remember(name, source.splitlines(True))
    tree = ast.parse(source, name)
    end = tree.body[-1] if tree.body else None
    if isinstance(end, ast.Expr):
        target = ast.copy_location(ast.Name("_value", ast.Store()), end)
        tree.body[-1] = ast.copy_location(
            ast.Assign([target], end.value), end)
    code = compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    awaitable = eval(code, space)
    if inspect.iscoroutine(awaitable):
        asyncio.run(awaitable)
    return space.pop("_value", None) if isinstance(end, ast.Expr) else None


def main() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, SHIPPED), "rb") as file:
        shipped = pickle.load(file)
    # The code gets a __main__ of its own, so that its names do not collide
    # with those of this program.
    ours = sys.modules["__main__"]
    sys.modules["__main__"] = theirs = types.ModuleType("__main__")
    theirs.__package__ = shipped["package"]  # for `from . import`
    space = theirs.__dict__
    sys.path[:] = shipped["path"] + [
        path for path in sys.path if path not in shipped["path"]]
    if os.path.isdir(shipped["cwd"]):
        os.chdir(shipped["cwd"])
    try:
        prepare(shipped, space)
        value = run(shipped["code"], space, *shipped["place"])
        outcome = pickled_result(value, space)
    except SystemExit:
        raise
    except BaseException as error:
        text = traceback.format_exc()
        # Leaves out the frames of this program.
        frame = error.__traceback__
        while frame is not None and frame.tb_frame.f_code.co_filename in (
                __file__, os.path.abspath(__file__), "<call>"):
            frame = frame.tb_next
        if frame is not None:
            text = "".join(traceback.format_exception(
                type(error), error.with_traceback(frame), frame))
        sys.stdout.flush()
        sys.stderr.write(text)
        try:
            outcome = pickled("error", error.with_traceback(None), text, space)
            pickle.loads(outcome)
        except Exception:
            outcome = pickle.dumps(("error", None, text))
        tell(folder, outcome)
        sys.exit(1)
    tell(folder, outcome)
    assert ours  # keeps the module alive until here


if __name__ == "__main__":
    main()
