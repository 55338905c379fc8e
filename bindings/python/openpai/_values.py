"""What JSON of the facade becomes, and what becomes words for it."""
import operator
import os
from typing import (
    Any, Callable, Dict, Iterable, Optional, SupportsIndex, Tuple, TypeVar,
    Union)

from ._errors import NoSuchFileError, NotFoundError, alike

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


def numbers(given: Iterable[SupportsIndex]) -> bytes:
    """Whole numbers as words."""
    return words(str(operator.index(number)) for number in given)


def text_or_bytes(text: object) -> bytes:
    """The bytes of a text that is to be read."""
    if isinstance(text, str):
        return text.encode()
    return text  # type: ignore[return-value] # the facade tells what it is


def loaded(load: Callable[..., _T], *args: object) -> _T:
    """What `load` returns; a file that is not there is a NoSuchFileError."""
    try:
        return load(*args)
    except NotFoundError as error:
        missing = alike(NoSuchFileError, error)
    raise missing
