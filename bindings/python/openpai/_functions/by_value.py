"""Functions and classes that pickle can only name, taken apart so that a job
can make them again: lambdas, closures, local classes, classes of notebooks."""
import abc
import contextlib
import dataclasses
import dis
import functools
import importlib
import inspect
import io
import marshal
import pickle
import sys
import types
import typing
from typing import (
    TYPE_CHECKING, AbstractSet, Any, Callable, Dict, Iterator, List, Optional,
    Set, Tuple, TypeVar)

from .class_by_value import take_class

if TYPE_CHECKING:
    from .ship import Shipment

#: Type of the result of lru_cache() and cache(), and its own attributes.
Cached = type(functools.lru_cache(maxsize=None)(len))
OF_CACHED = frozenset(("__wrapped__", "cache_parameters",
                       "__type_params__", *functools.WRAPPER_ASSIGNMENTS))

#: Values that are compared by identity, by id.
_SENTINELS = {
    id(getattr(dataclasses, name)): "__import__('dataclasses').%s" % name
    for name in ("MISSING", "KW_ONLY", "_HAS_DEFAULT_FACTORY", "_FIELD",
                 "_FIELD_CLASSVAR", "_FIELD_INITVAR")
    if hasattr(dataclasses, name)}
# Classes that cannot be found by their own name.
_SENTINELS.update({id(getattr(types, name)): "__import__('types').%s" % name
                   for name in ("CellType", "MappingProxyType")})

#: Code of the result of singledispatch(), and its own attributes.
_DISPATCH = getattr(functools.singledispatch(len), "__code__")
_OF_DISPATCH = frozenset(("register", "dispatch", "registry", "_clear_cache",
                          "__wrapped__"))


def code_reads(code: types.CodeType) -> Set[str]:
    """The globals that compiled code reads, with those of functions in it."""
    reads = {step.argval for step in dis.get_instructions(code)
             if step.opname in ("LOAD_GLOBAL", "LOAD_NAME",
                                "LOAD_FROM_DICT_OR_GLOBALS")}
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            reads |= code_reads(value)
    return reads


def shown_file(file: str) -> str:
    """What tracebacks call a file: a notebook's cell as "Cell In[3]"."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cells = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return "Cell In[%s]" % cells[file] if file in cells else file


def _shown_code(code: types.CodeType) -> types.CodeType:
    consts = tuple(
        _shown_code(value) if isinstance(value, types.CodeType) else value
        for value in code.co_consts)
    return code.replace(co_filename=shown_file(code.co_filename),
                        co_consts=consts)


def is_definition(value: Any) -> bool:
    """A function or class, or what a decorator of Python's has made of one."""
    return isinstance(value, (types.FunctionType, Cached)) or issubclass(
        type(value), type) or (
        type(value).__name__ == "NewType" and
        type(value).__module__ == "typing")


def found(value: Any, name: str, space: Any) -> bool:
    """Whether a dotted name leads to this value."""
    for part in name.split("."):
        space = (space.get(part) if isinstance(space, dict) else
                 getattr(space, "__dict__", {}).get(part))
        if isinstance(space, (staticmethod, classmethod)):
            space = space.__func__
    return space is value


class Pickler(pickle.Pickler):
    """Takes along what the pickled bytes only name."""

    def __init__(self, file: io.BytesIO, shipment: "Shipment") -> None:
        super().__init__(file)
        self.shipment = shipment

    def reducer_override(self, value: Any) -> Any:
        if id(value) in _SENTINELS:
            return eval, (_SENTINELS[id(value)],)
        if is_definition(value) or isinstance(value, TypeVar):
            name = self.shipment.by_value.name_of(value)
            if name is not None:
                # This is evaluated where the runner's __main__ has the name.
                return eval, ("__import__('__main__').%s" % name,)
        elif isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        elif isinstance(value, types.MappingProxyType):
            return types.MappingProxyType, (dict(value),)
        elif isinstance(value, property):
            return type(value), (value.fget, value.fset, value.fdel,
                                 value.__doc__)
        elif isinstance(value, (staticmethod, classmethod)):
            return type(value), (value.__func__,)
        elif isinstance(value, functools.singledispatchmethod):
            return type(value), (value.func,), dict(value.__dict__)
        elif isinstance(value, functools.cached_property):
            return type(value), (value.func,), {"attrname": value.attrname}
        elif isinstance(value, types.MethodType) and getattr(
                value.__self__, value.__func__.__name__, None) != value:
            return types.MethodType, (value.__func__, value.__self__)
        return NotImplemented


class ByValue:
    """What goes with a shipment by value, each thing once, under a name that
    nothing else has in the job."""

    def __init__(self, shipment: "Shipment") -> None:
        self.shipment = shipment
        self._names: Dict[int, str] = {}  # by id() of the values
        self._filled: Set[str] = set()
        self._kept: List[Any] = []  # keeps values alive: ids stay unique
        #: Steps to run when the value that is being taken is complete.
        self._later: Optional[List[Callable[[], None]]] = None

    # --- names of values ---

    def name_of(self, value: Any) -> Optional[str]:
        """The name in the job of what goes by value; None: pickle finds it
        there by its own."""
        known = self._names.get(id(value))
        if known is not None:
            return known
        module = getattr(value, "__module__", None)
        name = str(getattr(value, "__qualname__", None) or value.__name__)
        if module != "__main__":
            there = sys.modules.get(module or "")
            if isinstance(value, TypeVar) or found(value, name, there) or (
                    there is None and not isinstance(value,
                                                     types.FunctionType)):
                return None  # pickle finds it, or reports why not
            if isinstance(value, type) and value.__flags__ & (1 << 9) == 0:
                return None  # a class of C
        elif found(value, name, self.shipment.space):
            top = name.split(".")[0]
            self.shipment.follow_names([top])
            # The class may be incomplete when this is evaluated.
            if top == name or id(self.shipment.space[top]) not in self._names:
                return self._names.get(id(value))
        return self.name(value)

    def name(self, value: Any) -> str:
        """Takes a value so, whatever it may be found by."""
        known = self._names.get(id(value))
        if known is not None:
            return known
        name = self._names[id(value)] = self._new_name(value)
        if getattr(value, "__code__", None) is _DISPATCH:
            self._take_dispatch(name, value)
        elif isinstance(value, types.FunctionType):
            self._take_function(name, value)
        elif isinstance(value, Cached):
            self._take_cached(name, value)
        elif isinstance(value, TypeVar):
            self.make(name, TypeVar, (value.__name__, *value.__constraints__),
                       {"bound": value.__bound__,
                        "covariant": value.__covariant__,
                        "contravariant": value.__contravariant__})
        elif isinstance(value, type):
            take_class(self, name, value)
        else:
            self.make(name, typing.NewType,
                       (value.__name__, value.__supertype__), {})
        return name

    def named(self) -> Dict[str, Any]:
        """What has gone so, by the names there."""
        return {self._names[id(value)]: value for value in self._kept
                if id(value) in self._names and is_definition(value)}

    def new_name(self) -> str:
        """One that nobody else has."""
        return self._new_name(None)

    def _new_name(self, owner: object) -> str:
        """Likewise; the owner lives as long as its name.  That ends with what
        is called so here, for programs that know nothing else of the owner."""
        self._kept.append(owner)
        called = str(getattr(owner, "__qualname__", "")) if getattr(
            owner, "__module__", "") == "__main__" else ""
        return "_pai_%d_%s" % (len(self._kept),
                               called if called.isidentifier() else "")

    def state(self) -> Tuple[Any, ...]:
        """To be given to restore() if what is tried next fails."""
        return (dict(self._names), set(self._filled), self._later,
                list(self._later or ()))

    def restore(self, state: Tuple[Any, ...]) -> None:
        """Forgets what was named since."""
        self._names, self._filled, self._later, later = state
        if self._later is not None:
            self._later[:] = later

    @contextlib.contextmanager
    def deferring(self) -> Iterator[None]:
        """What is taken meanwhile is completed after it, for it may refer to
        what is made meanwhile."""
        if self._later is not None:
            yield
            return
        self._later = []
        try:
            yield
        finally:
            later, self._later = self._later, None
        for complete in later:
            complete()

    def complete(self, what: Callable[[], None]) -> None:
        """Now, or after what is being made."""
        if self._later is None:
            what()
        else:
            self._later.append(what)

    def step(self, *step: Any) -> None:
        """One for the runner."""
        self.shipment.steps.append(step)

    def make(self, name: str, maker: Callable[..., Any],
             args: Tuple[Any, ...], options: Dict[str, Any]) -> None:
        """A step that calls something there."""
        self.step("make", name, self.shipment.pickled((maker, args,
                                                         options)))

    # --- functions ---

    def _take_function(self, name: str, function: types.FunctionType) -> None:
        """It is made with empty cells, so that functions may refer to each
        other; then the cells are filled, each once, whoever shares it."""
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        lines: List[str] = []
        first = 1
        try:
            lines, first = inspect.getsourcelines(function)
        except Exception:  # only tracebacks need the lines
            pass
        kind, where = self._globals(function)
        code = _shown_code(function.__code__)
        self.step("function", name, sys.version_info[:2],
                   marshal.dumps(code), cells, function.__name__,
                   function.__qualname__, function.__module__, kind, where,
                   code.co_filename, max(first, 1), lines)
        self.complete(lambda: self._complete(name, function, cells, kind,
                                             where))

    def _complete(self, name: str, function: types.FunctionType,
                  cells: List[str], kind: str, where: str) -> None:
        for its, cell in zip(cells, function.__closure__ or ()):
            self._fill(its, cell)
        reads = code_reads(function.__code__)
        if kind == "main":
            self.shipment.follow_names(reads)
        elif kind == "own":
            self._fill_globals(where, function.__globals__, reads)
        rest = self.new_name()
        self.shipment.take_value(rest, (
            function.__defaults__, function.__kwdefaults__,
            dict(function.__dict__), self.annotations(function)),
            "a variable of %s()" % function.__name__)
        self.step("complete", name, rest)

    def _globals(self, function: types.FunctionType) -> Tuple[str, str]:
        """Those of __main__, of a module, or of what exec() was given."""
        given = function.__globals__
        if self.shipment.is_ours(given):
            return "main", ""
        module = str(given.get("__name__") or "")
        if getattr(sys.modules.get(module), "__dict__", None) is given:
            return "module", module
        known = self._names.get(id(given))
        if known is None:
            known = self._names[id(given)] = self._new_name(given)
        return "own", known

    def _fill_globals(self, where: str, given: Dict[str, Any],
                      reads: Set[str]) -> None:
        for read in sorted(reads):
            key = "%s.%s" % (where, read)
            if read in given and key not in self._filled:
                self._filled.add(key)
                its = self.new_name()
                self.shipment.take(its, given[read])
                self.step("global", where, read, its)

    def _cell(self, cell: types.CellType) -> str:
        name = self._names.get(id(cell))
        if name is None:
            name = self._names[id(cell)] = self._new_name(cell)
        return name

    def _fill(self, name: str, cell: types.CellType) -> None:
        if name in self._filled:
            return
        self._filled.add(name)
        try:
            value = cell.cell_contents
        except ValueError:  # the cell is empty
            return
        its = self.new_name()
        self.shipment.take(its, value)
        self.step("fill", name, its)

    def annotations(self, value: Any) -> Dict[str, Any]:
        """Those that go; they are for people, mostly."""
        try:
            given = dict(getattr(value, "__annotations__", None) or {})
        except Exception:  # may refer to undefined names
            return {}
        if isinstance(value, type) and "__annotations__" not in (
                value.__dict__) and sys.version_info < (3, 10):
            return {}  # inherited from a base
        with self.shipment.trying() as tried:
            self.shipment.pickled(given)
            tried.append(True)
        return given if tried else {}

    def _take_cached(self, name: str, value: Any) -> None:
        options = value.cache_parameters()
        self._take_around(name, value, "lru_cache()", lambda wrapped:
                          self.step("cached", name, wrapped,
                                    options["maxsize"], options["typed"]))
        self._take_attributes(name, value, OF_CACHED)

    def _take_dispatch(self, name: str, value: Any) -> None:
        """Of singledispatch(), with what was registered since."""
        self._take_around(name, value, "singledispatch()", lambda wrapped:
                          self.step("dispatch", name, wrapped))
        self.complete(lambda: self._take_registered(name, value))
        self._take_attributes(name, value, _OF_DISPATCH)

    def _take_registered(self, name: str, value: Any) -> None:
        its = self.new_name()
        self.shipment.take_value(its, tuple(value.registry.items()),
                                 "what is registered with %s()" %
                                 value.__name__)
        self.step("register", name, its)

    def _take_around(self, name: str, value: Any, maker: str,
                     step: Callable[[str], None]) -> None:
        """Before what its function refers to, which may be itself."""
        with self.deferring():
            wrapped = (self.name_of(value.__wrapped__)
                       if is_definition(value.__wrapped__) else None)
            if wrapped is None:
                wrapped = self.new_name()
                self.shipment.take_value(wrapped, value.__wrapped__,
                                         "what %s wraps" % maker)
            step(wrapped)

    def _take_attributes(self, name: str, value: Any,
                         own: AbstractSet[str]) -> None:
        """What somebody has set on a function that is not one of def."""
        set_later = {key: its for key, its in value.__dict__.items()
                     if key not in own}

        def take() -> None:
            its = self.new_name()
            self.shipment.take_value(its, set_later, "an attribute of %s()" %
                                     getattr(value, "__name__", name))
            self.step("attributes", name, its)
        if set_later:
            self.complete(take)


def is_plain(cls: type) -> bool:
    """Whether classes of its kind are made as most are, or of a kind that goes
    along itself."""
    return (type(cls) in (type, abc.ABCMeta) or
            type(cls).__module__ in ("typing", "enum", "__main__"))
