"""Packs Python code, and what it refers to, so that a job can run it.

Modules are imported there; functions and classes of a notebook or script go as
their source, with what they refer to; lambdas, closures and functions whose
source is not known as their code, which the same version of Python runs; all
else is pickled, and where pickle cannot, by cloudpickle if that is installed.
"""
import __future__
import ast
import builtins
import dis
import inspect
import io
import marshal
import os
import pathlib
import pickle
import re
import secrets
import shlex
import shutil
import symtable
import sys
import tempfile
import textwrap
import types
from typing import (
    AbstractSet, Any, Callable, Dict, Iterable, List, Mapping, Optional,
    Sequence, Set, Tuple)

from ._errors import InvalidError, NotFoundError, PermissionDenied

#: What IPython has put into a notebook's namespace.
_SHELLS = frozenset(("In", "Out", "get_ipython", "exit", "quit", "open"))


#: How call() names what it was given.
_SPOKEN = {"_function": "the function", "_args": "an argument (_args)",
           "_kwargs": "an argument (_kwargs)"}


class JobFailed(Exception):
    """A job of call() or %%pai has no result, because it failed or was
    stopped; or its code raised what cannot be unpickled here.  str() says it
    all, with the traceback or the last lines that it printed."""
    #: "failed" or "stopped".
    state: str
    #: The exit code of the task that decided it, or a negative one of the
    #: platform's; None if the code raised.
    code: Optional[int]
    #: Why it ended, in a line.
    reason: Optional[str]
    #: The last lines that it printed.
    lines: Tuple[str, ...]

    def __init__(self, text: str, state: str = "failed",
                 code: Optional[int] = None, reason: Optional[str] = None,
                 lines: Tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.state = state
        self.code = code
        self.reason = reason
        self.lines = lines


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
                    table.get_type() != "class"):  # whose body may read both
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


def _code_reads(code: types.CodeType) -> Set[str]:
    """The globals that compiled code reads, with those of functions in it."""
    reads = {step.argval for step in dis.get_instructions(code)
             if step.opname in ("LOAD_GLOBAL", "LOAD_NAME",
                                "LOAD_FROM_DICT_OR_GLOBALS")}
    for value in code.co_consts:
        if isinstance(value, types.CodeType):
            reads |= _code_reads(value)
    return reads


def _goes_as_code(value: Any) -> bool:
    """A function that source cannot make again: one line may hold several
    lambdas, and variables around a function are not in its own lines."""
    return isinstance(value, types.FunctionType) and (
        value.__name__ == "<lambda>" or "<locals>" in value.__qualname__)


def _plain_annotations(function: types.FunctionType) -> Dict[str, Any]:
    """Those that go anywhere."""
    try:
        annotations = dict(function.__annotations__)
        pickled = pickle.dumps(annotations)
    except Exception:
        return {}
    return {} if b"__main__" in pickled else annotations


def _is_defined_here(value: Any) -> bool:
    """A function or class of the notebook or script, which pickle would only
    name; also in a wrapper such as functools.lru_cache's."""
    return (not isinstance(value, types.MethodType) and
            getattr(value, "__module__", None) == "__main__" and
            isinstance(getattr(value, "__qualname__", None), str))


class _Pickler(pickle.Pickler):
    """Takes along what the pickled bytes only name."""

    def __init__(self, file: io.BytesIO, shipment: "Shipment") -> None:
        super().__init__(file)
        self._shipment = shipment

    def reducer_override(self, value: Any) -> Any:
        if _is_defined_here(value) and _goes_as_code(value):
            # The runner's __main__ has it when this is read there.
            return eval, ("__import__('__main__').%s" %
                          self._shipment._name_code(value),)
        if _is_defined_here(value):
            self._shipment._follow_names(
                [value.__qualname__.split(".")[0]])
        return NotImplemented


class Shipment:
    """What goes along with a piece of code."""

    def __init__(self, code: str, space: Dict[str, Any]) -> None:
        self._space = space
        self._seen: Set[str] = set()
        self._codes: Dict[int, str] = {}  # names by the ids of functions,
        self._cells: Dict[int, str] = {}  # and of cells
        self._filled: Set[str] = set()
        self._kept: List[Any] = []
        #: To be done one after the other: "module", a name, and that of a
        #: module; "source", a file, a line, and what stands there; "value", a
        #: name, and its pickle; "function", a name, and its code; "fill", a
        #: cell's name, and that of its value; "complete", a function's, and
        #: that of the rest of it; "alias", a name, and another one.
        self.steps: List[Tuple[Any, ...]] = []
        self.code = code
        future = getattr(__future__, "annotations")
        self._flags = (future.compiler_flag if
                       space.get("annotations") is future else 0)
        try:
            reads, sets = _names(code)
        except SyntaxError as error:
            raise error.with_traceback(None)
        self._follow_names(reads, sets)

    def _follow_names(self, reads: Iterable[str],
                      sets: AbstractSet[str] = frozenset()) -> None:
        for name in sorted(reads):
            if (name in self._space and name not in self._seen and
                    name not in _SHELLS and self._space[name] is not
                    getattr(builtins, name, self)):
                self._seen.add(name)
                self._take(name, self._space[name], name in sets)

    def _take(self, name: str, value: Any, is_set: bool) -> None:
        if isinstance(value, types.ModuleType):
            self.steps.append(("module", name, value.__name__))
        elif _is_defined_here(value) and (
                "<locals>" in value.__qualname__ or
                "." not in value.__qualname__):  # else pickle knows Class.name
            self._take_source(name, value)
        else:
            self._take_value(name, value, is_set)

    def _name_code(self, function: types.FunctionType) -> str:
        """A name in the job for a function that goes as its code.

        It is made with empty cells, so that functions may refer to each other;
        then the cells are filled, each once, whoever shares it."""
        name = self._codes.get(id(function))
        if name is not None:
            return name
        name = self._codes[id(function)] = self._new_name(function)
        cells = [self._name_cell(cell) for cell in function.__closure__ or ()]
        lines: List[str] = []
        first = 1
        try:
            lines, first = inspect.getsourcelines(function)
        except Exception:  # they are for tracebacks alone
            pass
        self.steps.append((
            "function", name, sys.version_info[:2],
            marshal.dumps(function.__code__), cells, function.__name__,
            function.__qualname__, function.__code__.co_filename,
            max(first, 1), lines))
        for its, cell in zip(cells, function.__closure__ or ()):
            self._fill(its, cell)
        self._follow_names(_code_reads(function.__code__))
        rest = self._new_name()
        self._take_value(rest, (
            function.__defaults__, function.__kwdefaults__,
            dict(function.__dict__), _plain_annotations(function)), False)
        self.steps.append(("complete", name, rest))
        return name

    def _new_name(self, owner: object = None) -> str:
        """One that nobody else has; the owner lives as long as its name."""
        self._kept.append(owner)
        return "_pai_%d_" % len(self._kept)

    def _name_cell(self, cell: types.CellType) -> str:
        name = self._cells.get(id(cell))
        if name is None:
            name = self._cells[id(cell)] = self._new_name(cell)
        return name

    def _fill(self, name: str, cell: types.CellType) -> None:
        if name in self._filled:
            return
        self._filled.add(name)
        try:
            value = cell.cell_contents
        except ValueError:  # it is not set
            return
        its = self._new_name()
        self._take(its, value, False)
        self.steps.append(("fill", name, its))

    def _take_source(self, name: str, value: Any) -> None:
        plain = inspect.unwrap(value)
        called = value.__name__ if name in _SPOKEN else name
        if isinstance(value, types.FunctionType) and value is plain and (
                _goes_as_code(value) or
                self._space.get(value.__name__, value) is not value):
            # The last: its source would make what has its name now, as what a
            # decorator has made of it.
            self._alias_code(name, value)
            return
        if isinstance(plain, types.FunctionType) and (
                plain.__closure__ is not None or
                plain.__name__ == "<lambda>"):
            raise InvalidError(
                "%s cannot be sent to a job: it wraps a lambda, or a function "
                "with variables of the one that it was made in\n"
                "help: define what it wraps with def, and give it these as "
                "arguments" % called)
        try:
            lines, first = inspect.getsourcelines(plain)
            file = inspect.getsourcefile(plain) or "<notebook>"
        except (OSError, TypeError):
            if isinstance(value, type) and self._take_tuple(name, value):
                return
            if isinstance(value, types.FunctionType) and value is plain:
                self._alias_code(name, value)
                return
            if self._take_by_value(name, value):
                return
            raise InvalidError(
                "%s cannot be sent to a job: its source is not known\n"
                "help: define it in the cell, or in a module" % called
            ) from None
        source = textwrap.dedent("".join(lines))
        self._seen.add(value.__name__)
        reads, _ = _names(source)
        self._follow_names(reads & _read_at_once(source))
        self.steps.append(("source", file, max(first, 1), source))
        self._alias(name, value)
        self._follow_names(reads)

    def _take_tuple(self, name: str, value: type) -> bool:
        """A class of collections.namedtuple(), which has no source."""
        fields = getattr(value, "_fields", None)
        if value.__bases__ != (tuple,) or fields is None:
            return False
        defaults = value._field_defaults.values()  # type: ignore[attr-defined]
        self._take_value("_defaults", tuple(defaults), False)
        self.steps.append(("source", "<namedtuple>", 1, (
            "import collections as _collections\n"
            "%s = _collections.namedtuple(%r, %r, defaults=_defaults)" % (
                value.__name__, value.__name__, fields))))
        self._alias(name, value)
        return True

    def _alias_code(self, name: str, function: types.FunctionType) -> None:
        self.steps.append(("alias", name, self._name_code(function)))

    def _alias(self, name: str, value: Any) -> None:
        if value.__name__ != name:
            self.steps.append(("source", "<alias>", 1, "%s = %s" % (
                name, value.__name__)))

    def _take_value(self, name: str, value: Any, is_set: bool) -> None:
        out = io.BytesIO()
        try:
            _Pickler(out, self).dump(value)
        except InvalidError:
            raise
        except Exception as error:
            # What the code sets, it may well make itself.
            if is_set or self._take_by_value(name, value):
                return
            raise InvalidError(
                "%s cannot be sent to a job: %s\n"
                "help: make it in the job's own code" % (
                    _SPOKEN.get(name, "a variable of a function"
                                if name.startswith("_pai_")
                                else "the variable " + name), error)
            ) from error
        self.steps.append(("value", name, out.getvalue()))

    def _take_by_value(self, name: str, value: Any) -> bool:
        """By cloudpickle, if that is installed and can."""
        try:
            import cloudpickle
            pickled = cloudpickle.dumps(value)
        except Exception:
            return False
        self.steps.append(("value", name, pickled))
        return True

    def pack(self, root: pathlib.Path) -> pathlib.Path:
        """A new folder with all of it, in a platform's root, whose job's code
        it becomes."""
        (root / "code").mkdir(mode=0o700, exist_ok=True)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="new-",
                                               dir=root / "code"))
        try:
            shutil.copy(pathlib.Path(__file__).with_name("_runner.py"),
                        folder / "run.py")
            (folder / "shipped.pickle").write_bytes(pickle.dumps({
                "cwd": os.getcwd(), "path": [p or os.getcwd()
                                             for p in sys.path],
                "steps": self.steps, "code": self.code,
                "flags": self._flags}))
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
    space = dict(getattr(sys.modules["__main__"], "__dict__", {}))
    space.update(_function=function, _args=args, _kwargs=kwargs)
    return Shipment("_function(*_args, **_kwargs)", space)


def job_name(name: str) -> str:
    """One that a job may have, and no other job has."""
    plain = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("-._") or "call"
    return "%s_%s" % (plain[:200], secrets.token_hex(4))


def megabytes(memory: Optional[str], machine: Mapping[str, Any],
              cpus: int) -> int:
    """Of "512M" or "8G"; None: so much of the machine's as the CPUs are."""
    if memory is None:
        cpus = max(cpus, 1)
        share: int = machine["memory"] * cpus // max(machine["cpus"], cpus)
        return max(share >> 20, 256)
    match = re.fullmatch(r"(\d+)\s*([kmgt])i?b?", memory.strip().lower())
    if match is None:
        raise ValueError('memory is as "512M" or "8G", not %r' % memory)
    shift = {"k": 10, "m": 20, "g": 30, "t": 40}[match[2]]
    return max((int(match[1]) << shift) >> 20, 1)


def folders(root: str) -> List[str]:
    """Below /tmp, what the job needs of this process: tasks in the sandbox have
    a /tmp of their own, and see nothing of the platform's root."""
    found: List[str] = []
    for path in sorted({os.path.normpath(path) for path in (
            os.getcwd(), sys.prefix, sys.base_prefix, *filter(None, sys.path))}):
        if path.startswith("/tmp/") and os.path.exists(path) and not any(
                path == above or path.startswith(above + "/")
                for above in (*found, root)):
            found.append(path)
    return found[:64]


def job_file(name: str, *, gpus: int, cpus: int, memory_mb: int,
             command: Optional[str] = None, time: Optional[str] = None,
             after: Sequence[str] = (), folders: Sequence[str] = ()
             ) -> Dict[str, Any]:
    """A job of one task, as a job file has it."""
    own: Dict[str, Any] = {"timeLimit": time} if time is not None else {}
    if after:
        own["after"] = list(after)
    if folders:
        own["folders"] = list(folders)
    return {
        **({"extras": {"openpai": own}} if own else {}),
        "protocolVersion": 2, "name": name, "type": "job",
        "prerequisites": [{"name": "host", "type": "dockerimage",
                           "uri": "none"}],
        "taskRoles": {"main": {
            "instances": 1, "dockerImage": "host",
            "resourcePerInstance": {"cpu": cpus, "memoryMB": memory_mb,
                                    "gpu": gpus},
            "commands": [command or "exec %s -u run.py" %
                         shlex.quote(sys.executable)]}}}


def _own_bytes(path: pathlib.Path) -> bytes:
    """Of a file of this user: to unpickle another's runs what he likes."""
    if not path.is_symlink():
        with open(path, "rb", opener=lambda name, flags: os.open(
                name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            if os.fstat(file.fileno()).st_uid == os.geteuid():
                return file.read()
    raise PermissionDenied(
        "the job's result is not a file of this user: it is not read, as that "
        "may run another's code\nhelp: ask for it as the job's user, or have "
        "the job write a file")


def outcome(folder: pathlib.Path) -> Any:
    """What the code in a job's folder came to."""
    try:
        told = _own_bytes(folder / "outcome.pickle")
    except PermissionDenied:
        raise
    except OSError:
        raise NotFoundError(
            "the job has told no result\nhelp: only a job of call() or %%pai "
            "that ran to its end has one; see why() and logs()") from None
    try:
        kind, value, text = pickle.loads(told)
    except Exception as error:
        raise InvalidError(
            "the job's result cannot be read here: %s\nhelp: define or import "
            "here, too, what the result is made of" % error) from error
    if kind == "value":
        return value
    if value is None:
        raise JobFailed(text)
    value.__cause__ = JobFailed(text)
    raise value
