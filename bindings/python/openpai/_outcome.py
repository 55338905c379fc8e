"""What a job of call() or %%pai came to: its pickle, and what result() does."""
import io
import os
import pathlib
import pickle
import stat
from dataclasses import dataclass
from typing import Any, BinaryIO, Mapping, Optional, Tuple

from ._errors import (
    Error, InvalidError, LimitError, NotFoundError, PermissionDenied)
from ._runner import OUTCOME

#: The largest result that is read, in bytes.
LARGEST = 1 << 30


class JobFailed(Error):
    """A job of call() or %%pai has no result, because it failed, was stopped
    or exited early; or its code raised what cannot be raised here: something
    that cannot be unpickled, or no Exception, as KeyboardInterrupt.  str() says
    it all, with the traceback or the last lines that it printed."""
    name = "PAI_JOB_FAILED"
    #: "failed" or "stopped"; or "succeeded", if it exited with code 0 before
    #: its code had a result.
    state: str
    #: The exit code of the task that decided it, or a negative one of the
    #: platform's; None if the code raised.
    code: Optional[int]  # type: ignore[assignment]
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


@dataclass(frozen=True)
class Outcome:
    """What a job came to.  A value, and not raised where it is found: what the
    function raised may be any exception, also NotFoundError."""
    value: Any = None
    #: What result() raises.
    error: Optional[Exception] = None
    #: The same in a line, if the code raised it.
    raised: Optional[str] = None

    def get(self) -> Any:
        """The value; raises the error."""
        __tracebackhide__ = True  # of IPython's: what was raised is not here
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


# --- its bytes ---------------------------------------------------------------

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
            data = file.read(LARGEST + 1)
        check_size(len(data))
        return data
    finally:
        os.close(fd)


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


# --- what is in them ---------------------------------------------------------

class _Unpickler(pickle.Unpickler):
    """Of outcomes: what was sent by value comes back as what it is here."""

    def __init__(self, file: BinaryIO, sent: Mapping[str, Any]) -> None:
        super().__init__(file)
        self._sent = sent

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__" and name.startswith("_pai_"):
            if name in self._sent:
                return self._sent[name]
            # Another program has sent it: by the name that it has here.
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
    except Exception:  # of its __str__()
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
