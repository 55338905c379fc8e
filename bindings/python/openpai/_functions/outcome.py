"""What a job of call() or %%pai came to: its pickle, and what result() does."""
import io
import os
import pathlib
import pickle
import stat
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, Iterator, Mapping, Optional, Tuple

from .._errors import (
    Error, InvalidError, LimitError, NotFoundError, PermissionDenied)
from .runner import OUTCOME

#: Most bytes of a result that is read.
LARGEST = 1 << 30


class JobFailed(Error):
    """A job of call() or %%pai has no result, because it failed, was stopped
    or exited early; or its code raised what cannot be raised here: something
    that cannot be unpickled, or no Exception, as KeyboardInterrupt.  str() says
    it all, with the traceback or the last lines that it printed."""
    name = "PAI_JOB_FAILED"
    #: "failed" or "stopped"; or "succeeded" if the command exited with code 0
    #: but gave no result.
    state: str
    #: Exit code of the task that decided the end, or a negative completion
    #: code; None if the function raised an error.
    code: Optional[int]  # type: ignore[assignment]
    #: Reason of the end in a line.
    reason: Optional[str]
    #: The last lines of its output.
    lines: Tuple[str, ...]

    def __init__(self, text: str, state: str = "failed",
                 code: Optional[int] = None, reason: Optional[str] = None,
                 lines: Tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.state = state
        self.code = code
        self.reason = reason
        self.lines = lines


@dataclass(frozen=True)
class Outcome:
    """What a job came to.  A value, and not raised where it is found: what the
    function raised may be any exception, also NotFoundError."""
    value: Any = None
    #: Error that result() raises.
    error: Optional[Exception] = None
    #: The error in a line, if the function raised it.
    raised: Optional[str] = None

    def get(self) -> Any:
        """The value; raises the error."""
        __tracebackhide__ = True  # for IPython: the error is not from here
        if self.error is not None:
            raise self.error
        return self.value

    def get_in_generator(self) -> Any:
        """The same in a generator or coroutine, which cannot raise
        StopIteration: that becomes JobFailed."""
        __tracebackhide__ = True
        if isinstance(self.error, (StopIteration, StopAsyncIteration)):
            raise JobFailed(str(self.error.__cause__)) from self.error
        return self.get()


# --- bytes of a result -------------------------------------------------------

def check_size(size: int) -> None:
    """LimitError for a result that is too large to be read."""
    if size > LARGEST:
        raise LimitError(
            "the job's result has %d bytes, of which at most %d are read\n"
            "help: have the job write a file, and download() that" % (
                size, LARGEST))


def read_file(path: pathlib.Path, user: Optional[int] = None
              ) -> Optional[bytes]:
    """What is in an outcome's file; None: there is no such file.  `user`: only
    if it is this user's."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW |
                     os.O_NONBLOCK)
    except OSError:
        if os.path.islink(path):
            raise _not_own() from None
        return None
    try:
        told = os.fstat(fd)
        if user is not None and told.st_uid != user:
            raise _not_own()
        if not stat.S_ISREG(told.st_mode):
            return None
        check_size(told.st_size)
        with open(fd, "rb", closefd=False) as file:
            return b"".join(_pieces(file))
    finally:
        os.close(fd)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """What is there, so much of it as may be: also of a file that grows."""
    size = 0
    while piece := file.read(1 << 20):
        size += len(piece)
        check_size(size)
        yield piece


def _not_own() -> PermissionDenied:
    return PermissionDenied(
        "the job's result is not a file of this user: it is not read, as that "
        "may run another's code\nhelp: ask for it as the job's user, or have "
        "the job write a file")


def check_user(user: str, mine: Optional[str]) -> None:
    """PermissionDenied for a job of another user: to unpickle its result may
    run any code."""
    if mine is None or user != mine:
        raise PermissionDenied(
            "the result of a job of %s is not read, as that may run code of "
            "another user's\nhelp: log in as the job's user, or have the job "
            "write a file" % user)


# --- reading a result --------------------------------------------------------

class _Unpickler(pickle.Unpickler):
    """Of outcomes: what was sent by value comes back as what it is here."""

    def __init__(self, file: BinaryIO, sent: Mapping[str, Any]) -> None:
        super().__init__(file)
        self._sent = sent

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__" and name.startswith("_pai_"):
            if name in self._sent:
                return self._sent[name]
            # Sent by another program: use the name that it has here.
            name = name.split("_", 3)[3] or name
        return super().find_class(module, name)


def read(told: bytes, sent: Mapping[str, Any]) -> Outcome:
    """Of an outcome's bytes.  Only of jobs of this user: it may run code."""
    try:
        kind, value, text = _Unpickler(io.BytesIO(told), sent).load()
        text = str(text)
        if kind == "error" and isinstance(value, Exception):
            value.__cause__ = JobFailed(text)
        elif kind not in ("value", "error"):
            raise ValueError("it is neither a value nor an error")
    except (Exception, SystemExit) as error:
        raise InvalidError(
            "the job's result cannot be read here: %s\nhelp: define or import "
            "here, too, what the result is made of" % error) from error
    if kind == "value":
        return Outcome(value)
    if isinstance(value, Exception):
        return Outcome(error=value, raised=_line(value))
    return Outcome(error=JobFailed(text),
                   raised=text.rstrip().rpartition("\n")[2])


def _line(error: Exception) -> str:
    try:
        return "%s: %s" % (type(error).__name__, error)
    except Exception:  # its __str__() failed
        return type(error).__name__


def of_folder(folder: pathlib.Path, sent: Mapping[str, Any]
              ) -> Optional[Outcome]:
    """What the code in a job's folder came to; None: it has told nothing."""
    told = read_file(folder / OUTCOME, os.geteuid())
    return None if told is None else read(told, sent)


def no_result() -> NotFoundError:
    """Of a job of another kind."""
    return NotFoundError(
        "the job has told no result\nhelp: only a job of call() or %%pai "
        "that ran to its end has one; see why() and logs()")


def exited_early(name: str, lines: Tuple[str, ...]) -> JobFailed:
    """Of a job of call() that succeeded without a result: sys.exit(0)."""
    return JobFailed("\n".join(
        ["the job %s exited with code 0 without a result\nhelp: return a value "
         "instead of sys.exit() or os._exit()" % name, *lines]),
        "succeeded", 0, None, lines)
