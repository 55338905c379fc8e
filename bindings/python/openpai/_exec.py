"""Commands in tasks that run: what they are told, and what they came to."""
import asyncio
import json
import time
from types import TracebackType
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Generator, Iterable, List, NamedTuple,
    Optional, Type, TypeVar, Union)

from . import facade as _facade
from ._errors import (
    BusyError, CanceledError, InvalidError, TimedOutError)
from ._loop import Steps
from ._session import AsyncSession, Session, begun
from ._values import fields as as_words, words

if TYPE_CHECKING:
    from ._platform import Platform

_T = TypeVar("_T")
#: Words, or a line for sh(1); None: the user's shell, which reads the input.
Command = Union[None, str, Iterable[str]]

#: A task that has just started may not be ready yet: number of tries.
TRIES = 100
PAUSE = 0.04


class Executed(NamedTuple):
    """What a command in a task came to."""
    #: Exit code as in a shell: 128 + n if signal n ended the command, 126 or
    #: 127 if it was not started, 137 if the task ended.
    code: int
    output: bytes  #: output to stdout, or to the terminal
    errors: bytes  #: output to stderr
    how: str  #: "exit", "signal", "failed" (not started), "lost" (task)
    text: str  #: the reason, or ""

    @property
    def stdout(self) -> str:
        """The output as text."""
        return self.output.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        """What it wrote to standard error, as text."""
        return self.errors.decode("utf-8", "replace")


def command_words(command: Command) -> bytes:
    if command is None:
        return b""
    listed: List[str] = (["sh", "-c", command] if isinstance(command, str)
                         else list(command))
    if not listed:
        raise ValueError("a command has a word at least")
    return words(listed)


def exec_fields(role: Optional[str], index: int, tty: bool, **more: Any
                ) -> bytes:
    given: Dict[str, Any] = {"role": role, "index": index, **more}
    if tty:
        given.update(tty=1, terminal="xterm", columns=80, rows=24)
    return as_words(given)


def executed(call: "_facade.Exec") -> Executed:
    """Of one that is over; raises what went wrong."""
    told = json.loads(call.answer())
    said: Dict[int, List[bytes]] = {1: [], 2: []}
    while True:
        stream = call.state()
        if stream < 0:
            return Executed(told["code"], b"".join(said[1]),
                            b"".join(said[2]), told["how"],
                            told.get("text") or "")
        said[stream].append(call.take())


def again(error: BusyError, tries: int) -> None:
    """Raises what another try is no help for."""
    if not error.retriable or tries >= TRIES:
        raise error


def tried(work: Callable[[], Steps[_T]]) -> Steps[_T]:
    """Until the task is ready for it."""
    tries = 0
    while True:
        try:
            return (yield from work())
        except BusyError as error:
            tries += 1
            again(error, tries)
        yield PAUSE


class Execution:
    """A command in a task of a platform's job: wait() for it, or await it;
    or speak with it while it runs, in the block of a `with` or `async with`
    that begins it.  close() ends it early, and so does what cancels who awaits
    it."""
    __slots__ = ("_platform", "_job", "_asked", "_call", "_tries", "_came",
                 "_closed", "_session", "_loop")

    def __init__(self, platform: "Platform", job: int, fields: bytes,
                 command: bytes, input: bytes) -> None:
        self._platform, self._job = platform, job
        self._asked = (fields, command, input)
        self._call: Optional["_facade.Exec"] = None
        self._tries = 0
        self._came: Optional[Executed] = None
        self._closed = False
        self._session: Union[None, Session, AsyncSession] = None
        self._begun()

    def _begun(self) -> bool:
        if self._call is None:
            if self._closed:
                raise CanceledError("it was ended before the command began")
            self._tries += 1
            try:
                self._call = self._platform._platform.enter(
                    self._job, *self._asked)
            except BusyError as error:
                again(error, self._tries)
                return False
            if self._closed:  # another thread closed it just now
                self._call.cancel()
            self._platform._pump.poke()
        return True

    def _is_over(self) -> bool:
        return self._call is not None and self._call.state() != 0

    def _result(self) -> Executed:
        if self._came is None:
            assert self._call is not None
            self._came = executed(self._call)
        return self._came

    def close(self) -> None:
        """Hangs up: it gets SIGHUP, and is killed soon after."""
        self._closed = True
        if self._call is not None:
            self._call.cancel()

    def wait(self, timeout: Optional[float] = None) -> Executed:
        """Until it has ended.  TimeoutError after so many seconds: it goes on
        then."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self._is_over():
            left = 1.0 if until is None else until - time.monotonic()
            if left <= 0:
                raise TimedOutError("the command is not over after %g s"
                                   % (timeout or 0))
            if not self._begun():
                time.sleep(min(PAUSE, left))
            elif not self._is_over():
                self._platform._step(min(int(left * 1000) + 1, 250))
        return self._result()

    async def _ended(self) -> Executed:
        try:
            while not self._begun():
                await asyncio.sleep(PAUSE)
            while not self._is_over():
                await self._platform._pump.tick()
                if self._platform.closed:
                    raise InvalidError("the platform was closed")
        except asyncio.CancelledError:
            self.close()
            raise
        return self._result()

    def __await__(self) -> Generator[Any, None, Executed]:
        return self._ended().__await__()

    # --- live

    def _live(self) -> Steps["_facade.Exec"]:
        while not self._begun():
            yield PAUSE
        assert self._call is not None
        self._call.live()
        return (yield from begun(self._call))

    def __enter__(self) -> Session:
        self._session = session = Session(
            self._platform, self._platform._block(self._live()))
        return session

    def __exit__(self, exc_type: Optional[Type[BaseException]],
                 exc: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self._session is not None:
            self._session.close()

    async def __aenter__(self) -> AsyncSession:
        pump = self._platform._pump
        self._loop = pump.hold()
        try:
            self._session = session = AsyncSession(
                self._platform, await self._platform._await(self._live()))
        except BaseException:
            pump.release(self._loop)
            raise
        return session

    async def __aexit__(self, exc_type: Optional[Type[BaseException]],
                        exc: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self._session is not None:
            self._session.close()
        self._platform._pump.release(self._loop)
