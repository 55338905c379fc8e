"""The exceptions.  glue.c calls make() when a call of the library fails."""
import errno
import os
from typing import (
    Dict, Optional, Tuple, Type, TypeVar)

from ._report import Report, make_report


class Error(Exception):
    """A call of libopenpai failed.

    str() is the whole story: where, what, and how to mend it.
    """
    #: The library's PAI_E* number, and its name, as "PAI_EINVAL".
    code: int = 0
    name: str = "PAI_E?"
    #: One line that says what was wrong.
    message: str
    #: One line that tells how to fix it.
    help: Optional[str] = None
    #: Where in the input, both from 1.
    line: Optional[int] = None
    column: Optional[int] = None
    #: JSON pointer into the input, as "/taskRoles/worker".
    pointer: Optional[str] = None
    #: The file that could not be read, or is wrong; "<stdin>" for "-".
    filename: Optional[str] = None
    #: Whether the same call may succeed later.
    retriable: bool = False
    #: Seconds until a retry makes sense, if known.
    retry_after: Optional[float] = None
    #: Answer of a server: the status, and the API's name of the error, as
    #: "NoJobError". Errors of accounts have them, too.
    http_status: Optional[int] = None
    api_code: Optional[str] = None
    #: All findings in an invalid job or cluster file.
    report: Optional[Report] = None

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.message = text

    def __str__(self) -> str:  # instead of OSError's, which needs errno
        return str(self.args[0]) if self.args else ""


class InvalidError(Error, ValueError):
    """An argument, or a file, breaks its contract."""
    code, name = -1, "PAI_EINVAL"


class NoMemoryError(Error, MemoryError):
    """Memory ran out."""
    code, name = -2, "PAI_ENOMEM"


class NotFoundError(Error, LookupError):
    """There is no such thing."""
    code, name = -3, "PAI_ENOTFOUND"


class NoSuchFileError(NotFoundError, FileNotFoundError):
    """load(): there is no such file."""


class NoSuchPlaceError(NotFoundError, KeyError):
    """draft[path], nodes[name]: there is no such place."""


class ExistsError(Error):
    """There is one already."""
    code, name = -4, "PAI_EEXISTS"


class UnsupportedError(Error, NotImplementedError):
    """Known elsewhere, not to this version or machine."""
    code, name = -5, "PAI_ENOTSUP"


class CanceledError(Error):
    """Stopped before it was done, on request."""
    code, name = -6, "PAI_ECANCELED"


class IoError(Error, OSError):
    """The operating system refused."""
    code, name = -8, "PAI_EIO"


class PermissionDenied(Error, PermissionError):
    """Not allowed to this user."""
    code, name = -9, "PAI_EPERM"


class LimitError(Error, ValueError):
    """An input is larger than a limit."""
    code, name = -10, "PAI_ELIMIT"


class BusyError(Error, RuntimeError):
    """In use by another thread, or called from its own callback."""
    code, name = -11, "PAI_EBUSY"


class NoRoomError(Error):
    """A job asks for more than there is, however long it may wait."""
    code, name = -13, "PAI_ENOROOM"


class TimedOutError(Error, TimeoutError):
    """wait(), result() and so on: not over after so many seconds."""


class ServerNotFoundError(NotFoundError, ConnectionError):
    """A client cannot connect: there is no such server, or nothing listens."""


class ServerLostError(IoError, ConnectionError):
    """A client got no answer: the connection broke."""


class ServerTimeoutError(IoError, TimedOutError):
    """A client got no answer in time: connect_time, idle_time, total_time."""


class ServerUntrustedError(PermissionDenied, ConnectionError):
    """A server's certificate is signed by an authority that is not trusted."""


class InternalError(Error, RuntimeError):
    """A bug in libopenpai: please report it."""
    code, name = -12, "PAI_EINTERNAL"


#: Indexed by PAI_NO_ANSWER_* of <openpai/base.h>.
_NO_ANSWER: Tuple[Optional[Type[Error]], ...] = (
    None, ServerNotFoundError, ServerLostError, ServerTimeoutError,
    ServerUntrustedError)

_BY_CODE: Dict[int, Type[Error]] = {
    cls.code: cls for cls in Error.__subclasses__() if cls.code}


def _class(code: int, no_answer: int) -> Type[Error]:
    for cls in _NO_ANSWER[no_answer:no_answer + 1]:
        if cls is not None and cls.code == code:
            return cls
    return _BY_CODE.get(code, Error)


def make(code: int, name: str, text: str, message: str, help: Optional[str],
         line: Optional[int], column: Optional[int], pointer: Optional[str],
         retriable: bool, cause: Optional[Error],
         report: Optional[str],
         filename: Optional[str], number: Optional[int],
         http_status: Optional[int], api_code: Optional[str], wait: int,
         no_answer: int) -> Error:
    """The exception for a failure; a newer library's code is an Error."""
    error = _class(code, no_answer)(text)
    error.__cause__ = cause
    error.__dict__.update(
        code=code, name=name, message=message, help=help, line=line,
        column=column, pointer=pointer, retriable=retriable,
        filename=filename, http_status=http_status, api_code=api_code,
        retry_after=wait / 1e6 if wait else None,
        report=make_report(report) if report is not None else None)
    _number(error, number)
    return error


def _number(error: Error, number: Optional[int]) -> None:
    """What OSError has besides."""
    if isinstance(error, OSError) and number is not None:
        error.errno, error.strerror = number, os.strerror(number)


_E = TypeVar("_E", bound=Error)


def alike(cls: Type[_E], error: Error) -> _E:
    """The same error as another class."""
    made = cls(str(error))
    made.__dict__.update(error.__dict__)
    _number(made, errno.ENOENT)
    made.__cause__ = error.__cause__
    return made
