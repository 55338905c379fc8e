"""Logs of a platform's jobs, line by line."""
import codecs
import datetime
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, List, Optional, Tuple,
    Union)

from ._errors import InvalidError, NotFoundError

if TYPE_CHECKING:
    from . import facade as _facade
    from ._handle import Handle


Since = Union[datetime.datetime, datetime.timedelta]


def log_part(tail: Optional[int], since: Optional[Since]) -> Dict[str, int]:
    """What of a log is wanted, as the facade is told."""
    part = {} if tail is None else {"tail": tail}
    if isinstance(since, datetime.timedelta):
        ago = round(since.total_seconds() * 1e6)
        if ago < 0:
            raise InvalidError("since is a time or how long ago, not in the "
                               "future: %s" % since)
        part["ago"] = max(ago, 1)  # 0 would mean the whole log
    elif since is not None:
        part["since"] = round(since.timestamp() * 1e6)
    return part


class Logs:
    """The lines of a log, as text without their ends: an iterator, and an
    asynchronous one.  read() is all of them at once."""
    __slots__ = ("_handle", "_role", "_index", "_follow", "_name", "_part",
                 "_at", "_reader", "_text", "_lines", "_rest", "_done", "_cut")

    def __init__(self, handle: "Handle", role: Optional[str], index: int,
                 follow: bool, name: str, part: Dict[str, int],
                 attempt: Optional[int]) -> None:
        self._handle, self._role, self._index = handle, role, index
        self._follow, self._name, self._part = follow, name, part
        self._at = (-1 if attempt is None else attempt, -1)
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._lines: List[str] = []  # in reverse order
        self._rest = ""
        self._done = False
        self._cut = False  # the last line is incomplete
        self._reader: Optional["_facade.LogReader"] = None
        self._open(follow and attempt is None)

    # --- starts of the task, one after the other

    def _open(self, newest: bool) -> None:
        fields: List[Any] = ["name", self._name, "index", self._index,
                             "follow", int(self._follow)]
        if newest:
            self._at = self._position()
        if self._role is not None:
            fields += ["role", self._role]
        if self._at[0] >= 0:
            fields += ["attempt", self._at[0]]
        if self._at[1] >= 0:
            fields += ["retry", self._at[1]]
        for name, value in self._part.items():
            fields += [name, value]
        self._part = {}
        self._reader = self._handle._core().log(self._handle.id, b"".join(
            str(word).encode() + b"\0" for word in fields))

    def _position(self) -> Tuple[int, int]:
        """The attempt of the job, and the start of the task in it."""
        status = self._handle.show()
        for task in status.detail["taskRoles"].get(
                self._role or status.tasks[0].role, {}).get("taskStatuses", ()):
            if task["taskIndex"] == self._index:
                return status.attempt, task.get("attemptId") or 0
        raise NotFoundError("there is no task %s/%d" % (
            self._role or status.tasks[0].role, self._index))

    def _next_start(self) -> bool:
        """Whether the task is tried again, or may yet be: then _reader is the
        next one, or None for as long as nobody knows."""
        if not self._follow:
            return False
        over = self._handle.is_over
        at = self._position()
        if at > self._at:
            self._open(True)
            return True
        self._reader = None
        return not over and not self._succeeded()

    def _succeeded(self) -> bool:
        status = self._handle.show()
        role = self._role or status.tasks[0].role
        return any(task.role == role and task.index == self._index and
                   task.state == "succeeded" for task in status.tasks)

    # --- lines

    def _more(self) -> bool:
        """Takes what is there.  False: one has to wait for more."""
        while not self._lines and not self._done:
            state = self._reader.state() if self._reader is not None else -1
            if state == 0:
                return False
            if state > 0:
                assert self._reader is not None
                self._split(self._text.decode(self._reader.take()))
            elif not self._next_start():
                self._finish()
            elif self._reader is None:
                return False
        return True

    def _split(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        self._lines = lines[::-1]

    def _finish(self) -> None:
        last = self._rest + self._text.decode(b"", True)
        self._lines, self._rest, self._done = [last] if last else [], "", True
        self._cut = bool(last)
        self._reader = None

    def close(self) -> None:
        """Ends it early."""
        self._reader, self._done, self._lines = None, True, []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while not self._more():
            self._handle._platform._step(-1)
        if not self._lines:
            raise StopIteration
        return self._lines.pop()

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        while not self._more():
            await self._handle._platform._pump.tick()
        if not self._lines:
            raise StopAsyncIteration
        return self._lines.pop()

    def pieces(self) -> Iterator[str]:
        """The same as it comes, not cut into lines: for progress bars."""
        for line in self._lines[::-1]:
            yield line + "\n"
        self._lines = []
        while not self._done:
            state = self._reader.state() if self._reader is not None else -1
            if state > 0:
                assert self._reader is not None
                text = self._text.decode(self._reader.take())
                yield self._rest + text
                self._rest = ""
            elif state < 0 and not self._next_start():
                self._finish()
                yield from self._lines
                self._lines = []
            elif self._reader is None or state == 0:
                self._handle._platform._step(-1)

    def read(self) -> str:
        """All of it, from here on; waits for its end if it is followed."""
        text = "".join(line + "\n" for line in self)
        return text[:-1] if self._cut else text
