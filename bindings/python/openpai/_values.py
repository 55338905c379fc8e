"""What JSON of the facade becomes, and what becomes words for it."""
import operator
import os
from decimal import Decimal
from typing import (
    Any, Callable, Dict, Iterable, Optional, SupportsIndex, Tuple, TypeVar,
    Union)

from ._errors import (
    InvalidError, NoSuchFileError, NotFoundError, alike)

_T = TypeVar("_T")


def made(cls: Callable[..., _T], listed: Iterable[Dict[str, Any]]
         ) -> Tuple[_T, ...]:
    """An object for each table; its lists become tuples."""
    return tuple(cls(**{key: tuple(value) if isinstance(value, list)
                        else value for key, value in fields.items()})
                 for fields in listed)


def words(texts: Iterable[Any]) -> bytes:
    """Texts and paths in a row, each with its zero."""
    given = [os.fsencode(text) for text in texts]
    if any(b"\0" in text for text in given):
        raise ValueError("embedded null character")
    return b"".join(text + b"\0" for text in given)


def fields(given: Dict[str, Any]) -> bytes:
    """Names and values, of those that are not None, as words."""
    return words(part if isinstance(part, (str, bytes, os.PathLike))
                 else str(part) for key, value in given.items()
                 if value is not None for part in (key, value))


def listed(given: Union[None, str, Iterable[str]],
           made: Callable[[str], str] = str) -> Optional[str]:
    """Names with commas between them."""
    if given is None:
        return None
    return ",".join(map(made, [given] if isinstance(given, str) else given))


def cpus(name: str, given: Any) -> Union[int, float]:
    """An amount of CPUs, as 2, 0.5, Decimal("0.25") or "1.5": a whole number,
    or one that JSON writes with at most three digits after the point."""
    try:
        if isinstance(given, bool) or not 0 <= float(given) < 2**32:
            raise ValueError
        if isinstance(given, str):
            given = Decimal(given)
        milli = given * 1000
        whole = int(round(milli))
        fits = abs(milli - whole) < 1e-6 and (whole != 0 or milli == 0)
    except (TypeError, ValueError, ArithmeticError):
        raise TypeError("%s is a number of CPUs, as 2 or 0.5, not %r" % (
            name, given)) from None
    if not fits:
        raise InvalidError("%s is %s: at most three digits after the point, "
                           "as 1.234" % (name, given))
    return whole // 1000 if whole % 1000 == 0 else whole / 1000


def numbers(given: Iterable[SupportsIndex]) -> bytes:
    """Whole numbers as words."""
    return words(str(operator.index(number)) for number in given)


def text_or_bytes(text: object) -> bytes:
    """The bytes of a text that is to be read."""
    if isinstance(text, str):
        return text.encode()
    return text  # type: ignore[return-value] # the facade checks it


def loaded(load: Callable[..., _T], *args: object) -> _T:
    """What `load` returns; a file that is not there is a NoSuchFileError."""
    try:
        return load(*args)
    except NotFoundError as error:
        missing = alike(NoSuchFileError, error)
    raise missing
