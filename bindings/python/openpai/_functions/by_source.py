"""Whether the source of a function or class makes it again as it is now.

Source travels to any version of Python, but says nothing of what was done
later: defaults of another value, attributes, registrations.  Nothing is run to
find out: expressions are looked at as far as they are literals, names, and
attributes of modules and classes.
"""
import ast
import builtins
import enum
import inspect
import textwrap
import types
from typing import (
    Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple)

from .by_value import OF_CACHED, Cached, shown_file


class Verdict(enum.IntEnum):
    """What the source makes.  The worst of several counts."""
    SAME = 0
    UNKNOWN = 1  #: depends on other code, as of decorators
    CHANGED = 2  #: differs from the current value


SAME, UNKNOWN, CHANGED = Verdict.SAME, Verdict.UNKNOWN, Verdict.CHANGED


class Source(NamedTuple):
    """Where a function or class was written."""
    called: str
    file: str
    line: int
    text: str
    verdict: Verdict


def find(value: Any, space: Dict[str, Any], flags: int) -> Optional[Source]:
    """The source of what was written at the top of the notebook or script."""
    called, plain = _written(value), inspect.unwrap(value)
    if called is None or space.get(called) is not value:
        return None
    try:
        lines, first = inspect.getsourcelines(plain)
        file = inspect.getsourcefile(plain) or "<notebook>"
        text = textwrap.dedent("".join(lines))
        body = ast.parse(text).body
        code = compile(text, file, "exec", flags, dont_inherit=True)
    except (OSError, TypeError, ValueError, SyntaxError):
        return None
    # inspect may find a class of the script's file although exec() made it.
    if len(body) != 1 or getattr(body[0], "name", None) != plain.__name__:
        return None
    return Source(called, shown_file(file), max(first, 1), text,
                  _verdict(value, plain, body[0], code, Look(space)))


def _written(value: Any) -> Optional[str]:
    """What it is called where it was written with def or class, with all that
    it needs in its own lines."""
    plain = inspect.unwrap(value)
    for one in value, plain:
        name = getattr(one, "__qualname__", None)
        if getattr(one, "__module__", None) != "__main__" or not isinstance(
                name, str) or not name.isidentifier():
            return None
    if isinstance(plain, types.FunctionType) and plain.__closure__ is not None:
        return None
    return str(value.__name__)


def _verdict(value: Any, plain: Any, node: Any, module: types.CodeType,
             look: "Look") -> Verdict:
    codes = list(codes_in(module, plain.__name__))
    if not codes:
        return UNKNOWN
    if isinstance(plain, type):
        from .by_source_classes import of_class
        return (of_class(plain, node, codes[0], look) if value is plain
                else UNKNOWN)
    if not isinstance(plain, types.FunctionType):
        return UNKNOWN
    return _of_decorated(value, plain, node, codes, look)


# --- code --------------------------------------------------------------------

def codes_in(code: types.CodeType, name: str) -> Iterator[types.CodeType]:
    """What was compiled of the definitions of a name, in code."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_name == name:
                yield const
            elif const.co_name.startswith("<generic parameters"):
                yield from codes_in(const, name)


_OF_CODE = ("co_name", "co_code", "co_names", "co_varnames", "co_freevars",
            "co_cellvars", "co_argcount", "co_posonlyargcount",
            "co_kwonlyargcount", "co_flags")


def same_code(one: types.CodeType, other: types.CodeType) -> bool:
    """Whether both do the same, wherever they were written."""
    if any(getattr(one, part) != getattr(other, part) for part in _OF_CODE):
        return False
    return len(one.co_consts) == len(other.co_consts) and all(
        same_code(a, b) if isinstance(a, types.CodeType) and isinstance(
            b, types.CodeType) else type(a) is type(b) and repr(a) == repr(b)
        for a, b in zip(one.co_consts, other.co_consts))


# --- values ------------------------------------------------------------------

class Unknown(Exception):
    """An expression that only running it would tell."""


_SCALARS = (type(None), bool, int, float, complex, str, bytes, type(...))


def alike(one: Any, other: Any, depth: int = 20) -> bool:
    """Whether they are the same object, or the same plain data."""
    if one is other:
        return True
    if type(one) is not type(other) or not depth:
        return False
    if isinstance(one, _SCALARS):
        return repr(one) == repr(other)  # correct for -0.0 and nan, too
    if type(one) in (list, tuple, dict):
        items = [list(its.items() if isinstance(its, dict) else its)
                 for its in (one, other)]
        return len(items[0]) == len(items[1]) and all(
            alike(a, b, depth - 1) for a, b in zip(*items))
    return type(one) in (set, frozenset) and bool(one == other)


class Look:
    """What expressions are, where nothing has to be run for that."""

    def __init__(self, space: Mapping[str, Any]) -> None:
        self._space = space

    def inside(self, names: Mapping[str, Any]) -> "Look":
        """In a class, which has names of its own."""
        return Look({**self._space, **names})

    def same(self, expression: ast.expr, value: Any) -> Verdict:
        """Whether the expression would make this value once more."""
        try:
            return SAME if alike(self.value(expression), value) else CHANGED
        except Unknown:
            return UNKNOWN

    def value(self, node: Optional[ast.expr]) -> Any:
        """What it is; raises Unknown."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            if node.id in self._space:
                return self._space[node.id]
            return self._found(vars(builtins), node.id)
        if isinstance(node, ast.Attribute):
            of = self.value(node.value)
            if isinstance(of, (type, types.ModuleType)):
                return self._found({node.attr: getattr(of, node.attr, Unknown)},
                                   node.attr)
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            items = [self.value(item) for item in node.elts]
            return (tuple(items) if isinstance(node, ast.Tuple) else items
                    if isinstance(node, ast.List) else self._set(items))
        elif isinstance(node, ast.Dict):
            keys = [self.value(key) for key in node.keys]
            self._set(keys)
            return dict(zip(keys, map(self.value, node.values)))
        elif isinstance(node, ast.UnaryOp):
            return self._number(node.op, self.value(node.operand))
        elif isinstance(node, ast.BinOp):
            return self._number(node.op, self.value(node.left),
                                self.value(node.right))
        elif isinstance(node, ast.Subscript):
            return self._generic(self.value(node.value), node.slice)
        raise Unknown

    @staticmethod
    def _found(names: Mapping[str, Any], name: str) -> Any:
        found = names.get(name, Unknown)
        if found is Unknown:
            raise Unknown
        return found

    @staticmethod
    def _set(items: List[Any]) -> Any:
        if any(not isinstance(item, _SCALARS) for item in items):
            raise Unknown  # __hash__() and __eq__() may be any code
        return set(items)

    @staticmethod
    def _number(op: Any, *of: Any) -> Any:
        if any(type(one) not in (bool, int, float) or abs(one) > 1 << 64
               for one in of):
            raise Unknown
        if isinstance(op, ast.LShift) and of[1] > 256 or isinstance(op, (
                ast.Pow, ast.MatMult)):
            raise Unknown
        names = ("a", "b")[:len(of)]
        tree = ast.Expression(ast.UnaryOp(op, _name("a")) if len(of) == 1 else
                              ast.BinOp(_name("a"), op, _name("b")))
        try:
            return eval(compile(ast.fix_missing_locations(tree), "", "eval"),
                        {}, dict(zip(names, of)))
        except Exception:
            raise Unknown from None

    def _generic(self, of: Any, index: Any) -> Any:
        """As typing.Generic[T], list[int]."""
        if getattr(of, "__module__", "") not in ("typing", "builtins",
                                                 "collections.abc"):
            raise Unknown
        index = getattr(index, "value", index) if type(
            index).__name__ == "Index" else index  # Python 3.8
        value = self.value(index)
        try:
            return of[value]
        except Exception:
            raise Unknown from None


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


# --- functions ---------------------------------------------------------------

def of_function(function: types.FunctionType, node: Any,
                codes: List[types.CodeType], look: Look) -> Verdict:
    """A function without its decorators."""
    if not any(same_code(function.__code__, code) for code in codes):
        return CHANGED
    keywords = {arg.arg: value for arg, value in zip(
        node.args.kwonlyargs, node.args.kw_defaults) if value is not None}
    had, has = node.args.defaults, function.__defaults__ or ()
    has_keywords = function.__kwdefaults__ or {}
    if len(had) != len(has) or set(keywords) != set(has_keywords):
        return CHANGED
    return max([SAME, *map(look.same, had, has), *(
        look.same(value, has_keywords[name])
        for name, value in keywords.items())])


def _of_decorated(value: Any, plain: Any, node: Any,
                  codes: List[types.CodeType], look: Look) -> Verdict:
    verdict = of_function(plain, node, codes, look)
    decorators = node.decorator_list
    if not decorators:
        return (verdict if value is plain and not plain.__dict__ else CHANGED)
    if len(decorators) == 1 and isinstance(value, Cached) and (
            value.__wrapped__ is plain):
        if set(value.__dict__) - OF_CACHED or plain.__dict__:
            return CHANGED
        options = getattr(value, "cache_parameters")()
        if _cache_parameters(decorators[0], look) == (
                options["maxsize"], options["typed"]):
            return verdict
    return max(verdict, UNKNOWN)


def _cache_parameters(node: Any, look: Look) -> Optional[Tuple[Any, Any]]:
    """maxsize and typed, of @cache, @lru_cache and @lru_cache(...)."""
    import functools
    try:
        if not isinstance(node, ast.Call):
            made = look.value(node)
            return {functools.lru_cache: (128, False), getattr(
                functools, "cache", None): (None, False)}.get(made)
        if look.value(node.func) is not functools.lru_cache:
            return None
        given = dict(zip(("maxsize", "typed"), map(look.value, node.args)))
        given.update((str(word.arg), look.value(word.value))
                     for word in node.keywords)
        return given.get("maxsize", 128), given.get("typed", False)
    except (Unknown, TypeError):
        return None
