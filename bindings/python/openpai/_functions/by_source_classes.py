"""Whether the source of a class makes it again as it is now."""
import abc
import ast
import collections
import dataclasses
import enum
import functools
import inspect
import reprlib
import types
import typing
from typing import Any, Dict, List, Set, Tuple

from .by_source import (
    CHANGED, SAME, UNKNOWN, Look, Unknown, Verdict, codes_in, of_function)
from .class_by_value import hooks_of, of_enums, registered_with

#: Attributes of every class.
_OF_ALL = frozenset((
    "__dict__", "__weakref__", "__module__", "__qualname__", "__doc__",
    "__annotations__", "__annotate__", "__annotate_func__",
    "__annotations_cache__", "__orig_bases__", "__parameters__", "_abc_impl",
    "__abstractmethods__", "__firstlineno__", "__static_attributes__",
    "__type_params__", "__slots__", "__hash__",
    "__slotnames__"))

#: Attributes that dataclass() adds, and the files of the methods it adds.
_OF_DATACLASSES = frozenset((
    "__dataclass_fields__", "__dataclass_params__", "__match_args__"))
_FILES = ("<string>", dataclasses.__file__, reprlib.__file__)

#: Decorators that turn a function into another kind of member: the type of the
#: member, and its attribute that has the function.
_KINDS: Dict[Any, Tuple[Any, str]] = {
    staticmethod: (staticmethod, "__func__"),
    classmethod: (classmethod, "__func__"),
    property: (property, "fget"),
    functools.cached_property: (functools.cached_property, "func")}


class _Body:
    """What the lines of a class say."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.functions: Dict[str, List[Any]] = {}
        self.values: Dict[str, Any] = {}
        self.classes: Dict[str, ast.ClassDef] = {}
        self.is_known = True  #: False: there are other statements
        def called(name: str) -> str:  # mangles private names
            is_private = name.startswith("__") and not name.endswith("__")
            return ("_%s%s" % (node.name.lstrip("_"), name) if is_private
                    else name)

        for line in node.body:
            if isinstance(line, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.setdefault(called(line.name), []).append(line)
            elif isinstance(line, ast.ClassDef):
                self.classes[called(line.name)] = line
            elif isinstance(line, ast.Assign) and all(
                    isinstance(target, ast.Name) for target in line.targets):
                self.values.update((called(getattr(target, "id")), line.value)
                                   for target in line.targets)
            elif isinstance(line, ast.AnnAssign) and isinstance(
                    line.target, ast.Name):
                if line.value is not None:
                    self.values[called(line.target.id)] = line.value
            elif not isinstance(line, ast.Pass) and not (
                    isinstance(line, ast.Expr) and
                    isinstance(line.value, ast.Constant)):
                self.is_known = False

    def names(self) -> List[str]:
        return [*self.functions, *self.values, *self.classes]


def of_class(cls: Any, node: ast.ClassDef, code: types.CodeType, look: Look
             ) -> Verdict:
    """A class, of the code of its body."""
    body = _Body(node)
    if registered_with(cls):
        return CHANGED
    verdict = max(_kind(cls, node, look), SAME if body.is_known else UNKNOWN)
    has = cls.__dict__
    inner = look.inside({name: has[name] for name in body.names()
                         if name in has})
    made = _made(cls)
    for name in has:
        if name not in _OF_ALL and name not in body.names() and not (
                _is_made(made, name, has[name])):
            verdict = max(verdict, CHANGED if verdict is SAME else UNKNOWN)
    for name, lines in body.functions.items():
        verdict = max(verdict, _member(has.get(name), lines, list(
            codes_in(code, lines[0].name)), inner))
    for name, value in body.values.items():
        verdict = max(verdict, _value(cls, name, value, inner))
    for name, line in body.classes.items():
        codes = list(codes_in(code, line.name))
        verdict = max(verdict, of_class(has[name], line, codes[0], inner)
                      if isinstance(has.get(name), type) and codes and
                      has[name].__name__ == line.name else CHANGED)
    return verdict


# --- creation of classes -----------------------------------------------------

def _kind(cls: Any, node: ast.ClassDef, look: Look) -> Verdict:
    """Of its bases, its keywords, its decorators, and what these do."""
    verdict = SAME
    words = {word.arg: word.value for word in node.keywords}
    if type(cls) is abc.ABCMeta and "metaclass" in words:
        verdict = max(verdict, look.same(words.pop("metaclass"), abc.ABCMeta))
    if words or type(cls) not in (type, abc.ABCMeta, type(enum.Enum)) or any(
            hooks_of(base) for base in cls.__bases__):
        verdict = UNKNOWN
    for decorator in node.decorator_list:
        called = (decorator.func if isinstance(decorator, ast.Call)
                  else decorator)
        verdict = max(verdict, SAME if look.same(
            called, dataclasses.dataclass) is SAME else UNKNOWN)
    if _is_named_tuple(cls):
        return max([verdict, *(look.same(base, typing.NamedTuple)
                               for base in node.bases)])
    bases = cls.__dict__.get("__orig_bases__", cls.__bases__)
    if len(node.bases) != len(bases):
        return verdict if not node.bases and bases == (object,) else CHANGED
    for base, its in zip(node.bases, bases):
        try:
            known = look.value(base)
            if known is not its and (isinstance(known, type) or known != its):
                return CHANGED
        except Unknown:
            verdict = UNKNOWN
    return verdict


def _is_named_tuple(cls: Any) -> bool:
    return cls.__bases__ == (tuple,) and hasattr(cls, "_fields")


def _made(cls: Any) -> Set[str]:
    """Names of members that a class of its kind has besides."""
    made: Set[str] = set()
    if dataclasses.is_dataclass(cls):
        made |= _OF_DATACLASSES
    if isinstance(cls, type(enum.Enum)):
        made |= set(of_enums(cls))
    if _is_named_tuple(cls):
        made |= {*collections.namedtuple("_", ()).__dict__, *cls._fields}
    return made


def _is_made(made: Set[str], name: str, value: Any) -> bool:
    code = getattr(inspect.unwrap(value) if callable(value) else value,
                   "__code__", None)
    return (name in made or isinstance(value, types.MemberDescriptorType) or
            bool(made >= _OF_DATACLASSES) and code is not None and
            code.co_filename in _FILES)


# --- members -----------------------------------------------------------------

def _member(value: Any, lines: List[Any], codes: List[types.CodeType],
            look: Look) -> Verdict:
    """A method, or what a decorator has made of it; several lines of a
    property."""
    if len(lines) > 1:
        if not isinstance(value, property):
            return UNKNOWN
        found = [SAME]
        for line in lines:
            last = line.decorator_list[-1] if line.decorator_list else None
            part = {"setter": "fset", "deleter": "fdel"}.get(
                getattr(last, "attr", ""), "fget")
            found.append(_plain(getattr(value, part), line, codes, look))
        return max(found)
    line, is_abstract = lines[0], False
    for decorator in line.decorator_list:
        try:
            made = look.value(decorator)
            is_kind = made in _KINDS
        except (Unknown, TypeError):
            return UNKNOWN
        if made is abc.abstractmethod:
            is_abstract = True
        elif is_kind:
            kind, part = _KINDS[made]
            if type(value) is not kind:
                return CHANGED
            value = getattr(value, part)
        else:
            return UNKNOWN
    return _plain(value, line, codes, look, is_abstract)


def _plain(value: Any, line: Any, codes: List[types.CodeType], look: Look,
           is_abstract: bool = False) -> Verdict:
    if not isinstance(value, types.FunctionType) or set(value.__dict__) != (
            {"__isabstractmethod__"} if is_abstract else set()):
        return CHANGED
    return of_function(value, line, codes, look)


def _value(cls: Any, name: str, node: Any, look: Look) -> Verdict:
    """What is assigned to a name in the class."""
    if isinstance(cls, type(enum.Enum)) and name in cls.__members__:
        return _enum_member(cls.__members__[name], node, look)
    if _is_named_tuple(cls) and name in cls._fields:
        return look.same(node, cls._field_defaults.get(name))
    if name == "__slots__":
        return SAME
    if isinstance(node, ast.Call) and name in getattr(
            cls, "__dataclass_fields__", ()):
        return _field(cls, name, node, look)
    if name not in cls.__dict__:
        return CHANGED
    value = cls.__dict__[name]
    if isinstance(value, types.MemberDescriptorType):  # dataclass(slots=True)
        return UNKNOWN
    return look.same(node, value)


def _enum_member(member: Any, node: Any, look: Look) -> Verdict:
    more = {key for key in member.__dict__ if not key.startswith("_")}
    if more:
        return UNKNOWN  # set by __init__() or by other code
    if isinstance(node, ast.Call):
        return (SAME if look.same(node.func, enum.auto) is SAME else UNKNOWN)
    return min(look.same(node, member._value_), UNKNOWN)


def _field(cls: Any, name: str, node: ast.Call, look: Look) -> Verdict:
    """`x: list = field(default_factory=list)`."""
    if node.args or look.same(node.func, dataclasses.field) is not SAME:
        return UNKNOWN
    its, found = cls.__dataclass_fields__[name], [SAME]
    for word in node.keywords:
        found.append(look.same(word.value, getattr(its, str(word.arg), None))
                     if word.arg in ("default", "default_factory", "init",
                                     "repr", "compare", "hash")
                     else UNKNOWN)
    if its.default is dataclasses.MISSING:
        found.append(SAME if name not in cls.__dict__ else CHANGED)
    else:
        found.append(SAME if cls.__dict__.get(name) is its.default
                     else UNKNOWN)
    return max(found)
