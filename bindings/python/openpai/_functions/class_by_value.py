"""Classes taken apart, so that a job can make them again as they are now.

Nothing that makes classes runs there once more: no __init_subclass__() and no
__init__() of a metaclass.  What these have done is in the class, and in what
else goes along.
"""
import abc
import collections
import contextlib
import enum
import types
import typing
from typing import (
    TYPE_CHECKING, Any, Dict, Iterator, List, Set, Tuple)

from .._errors import InvalidError
from .runner import KINDS

if TYPE_CHECKING:
    from .by_value import ByValue

#: Attributes that a class gets when it is made.
_MADE_ANEW = frozenset((
    "__dict__", "__weakref__", "__module__", "__qualname__", "__slots__",
    "_abc_impl", "__orig_bases__", "__annotations__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__slotnames__"))


def hooks_of(cls: type) -> List[type]:
    """The class and bases of it that define an __init_subclass__() which may
    do anything."""
    return [base for base in cls.__mro__
            if base.__module__ not in KINDS and isinstance(
                getattr(base.__dict__.get("__init_subclass__"), "__func__",
                        None), types.FunctionType)]


def registered_with(cls: type) -> Tuple[type, ...]:
    """What ABC.register() was called with."""
    dump = getattr(abc, "_get_dump", None)  # only in CPython
    if dump is None or not isinstance(cls, abc.ABCMeta):
        return ()
    found = [ref() for ref in dump(cls)[0]]
    return tuple(sorted((one for one in found if one is not None),
                        key=lambda one: (one.__module__, one.__qualname__)))


def take_class(take: "ByValue", name: str, cls: Any) -> None:
    """It is made without what is in it, so that this may refer to it."""
    if cls.__bases__ == (tuple,) and hasattr(cls, "_fields"):
        take.make(name, collections.namedtuple, (
            cls.__name__, cls._fields), {
                "defaults": tuple(cls._field_defaults.values()),
                "module": cls.__module__})
        skipped = {key for key in (
            *collections.namedtuple("_", ()).__dict__, *cls._fields)
            if getattr(cls.__dict__.get(key), "__module__", None) !=
            cls.__module__}  # else it is defined in the class
    elif type(cls).__module__ == "typing" and type(cls).__name__ == (
            "_TypedDictMeta"):
        take.make(name, typing.TypedDict, (  # type: ignore[arg-type]
            cls.__name__, take.annotations(cls)),
            {"total": cls.__total__})
        skipped = set(cls.__dict__)
    else:
        skipped = _take_empty(take, name, cls)
    take.step("adorn", name, cls.__module__, cls.__qualname__)
    take.complete(lambda: _take_members(take, name, cls, skipped))


def _take_members(take: "ByValue", name: str, cls: Any, skipped: Set[str]
                  ) -> None:
    members = {key: value for key, value in cls.__dict__.items()
               if key not in skipped and key not in _MADE_ANEW}
    annotations = take.annotations(cls)
    if annotations and "__annotations__" not in skipped:
        members["__annotations__"] = annotations
    for key, value in members.items():
        _take_member(take, name, cls, key, value)
    if isinstance(cls, enum.EnumMeta):
        its = take.new_name()
        take.shipment.take_value(its, {
            key: {field: value for field, value in member.__dict__.items()
                  if field not in ("_name_", "_value_", "__objclass__",
                                   "_sort_order_")}
            for key, member in _members(cls)},
            "the enumeration " + cls.__name__)
        take.step("states", name, its)
    registered = registered_with(cls)
    if registered:
        its = take.new_name()
        take.shipment.take_value(its, registered,
                                 "what is registered with " + cls.__name__)
        take.step("registered", name, its)


def _take_member(take: "ByValue", name: str, cls: type, key: str, value: Any
                 ) -> None:
    """One by one, for the error says which."""
    its = take.new_name()
    try:
        take.shipment.take_value(its, value, "the attribute %s of the "
                                 "class %s" % (key, cls.__name__))
    except InvalidError:
        if key not in ("__doc__", "__parameters__"):
            raise
    else:
        take.step("member", name, key, its)


def _take_empty(take: "ByValue", name: str, cls: Any) -> Set[str]:
    """A class with the bases of another; what it has already."""
    has = cls.__dict__
    space: Dict[str, Any] = {"__module__": cls.__module__,
                             "__qualname__": cls.__qualname__}
    skipped = {key for key, value in has.items()
               if isinstance(value, types.MemberDescriptorType)}
    space.update((key, has[key]) for key in ("__slots__", "__orig_bases__")
                 if key in has)
    if isinstance(cls, enum.EnumMeta):
        space.update((key, its.value) for key, its in _members(cls))
        skipped.update(of_enums(cls))
    # A registry of a base or metaclass may refer to the class, so it is
    # completed later. Members of enumerations need what their bases have.
    with (contextlib.nullcontext() if isinstance(cls, enum.EnumMeta)
          else take.deferring()):
        take.step("class", name, take.shipment.pickled((
            type(cls), cls.__name__, cls.__bases__, space)))
    return skipped


def _members(cls: Any) -> List[Tuple[str, Any]]:
    return list(cls.__members__.items())


def of_enums(cls: Any) -> Iterator[str]:
    """What an enumeration makes of its members."""
    for key, value in cls.__dict__.items():
        if key in cls.__members__ or key in (
                "__new__", "__reduce_ex__", "__reduce__") or (
                key[:1] == key[-1:] == "_" and key[:2] != "__") or any(
                getattr(base, key, None) is value
                for base in (*cls.__mro__[1:], enum.Enum, object)):
            yield key
