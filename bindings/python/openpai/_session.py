"""Commands in tasks that one speaks with while they run."""
import asyncio
import json
import time
from types import TracebackType
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Awaitable, Dict, Iterator, Optional,
    Type, TypeVar, Union)

from . import facade as _facade
from ._errors import BusyError, CanceledError, TimedOutError
from ._loop import Steps, Waits
from ._objects import Closes

if TYPE_CHECKING:
    Buffer = Union[bytes, bytearray, memoryview]

_S = TypeVar("_S", bound="_Live")


class Chunk(bytes):
    """Some of what a command wrote, as it came; b"" is its end."""
    #: "stdout" or "stderr"; always "stdout" on a terminal.
    stream: str = "stdout"

    @property
    def text(self) -> str:
        """The same as text; what is not UTF-8, or cut in two, is replaced."""
        return self.decode("utf-8", "replace")


class _Begun:
    """What is waited for until a command runs, or is over."""
    __slots__ = ("_call",)

    def __init__(self, call: "_facade.Exec") -> None:
        self._call = call

    def state(self) -> int:
        return int(self._call.begun())

    def cancel(self) -> None:
        self._call.cancel()


def begun(call: "_facade.Exec") -> Steps["_facade.Exec"]:
    """Waits until a live one has begun; raises why it has not."""
    yield _Begun(call)
    if call.over():
        call.answer()
    return call


class _Live:
    """What both kinds of sessions have: what waits for nothing."""
    __slots__ = ("_host", "_call", "_closed")

    def __init__(self, host: Waits, call: "_facade.Exec") -> None:
        self._host, self._call = host, call
        self._closed = False

    def _told(self) -> None:
        """The loop has something to send."""
        if not self._host.closed:
            self._host._pump.poke()

    def close(self) -> None:
        """Hangs up if the command is not over: it gets SIGHUP, and is killed
        soon after.  What it said and nobody has read is dropped."""
        self._closed = True
        if not self._call.over():
            self._host._drop(self._call)

    def close_input(self) -> None:
        """Nothing more will be written: the command reads its end, from a
        terminal as of Ctrl-D."""
        self._call.end_input()
        self._told()

    def resize(self, columns: int, rows: int) -> None:
        """The terminal has another size."""
        self._call.resize(columns, rows)
        self._told()

    def signal(self, number: int) -> None:
        """Sends a signal to its processes, as signal.SIGINT."""
        self._call.signal(number)
        self._told()

    def _end(self) -> Dict[str, Any]:
        if not self._call.over():
            return {}
        try:
            result: Dict[str, Any] = json.loads(self._call.answer())
        except CanceledError:
            if not self._closed:
                raise
            return {}
        return result

    @property
    def code(self) -> Optional[int]:
        """As in Executed; None: it is not over, or close() has ended it."""
        return self._end().get("code")

    @property
    def how(self) -> Optional[str]:
        """Likewise: "exit", "signal", "failed" or "lost"."""
        return self._end().get("how")

    @property
    def text(self) -> str:
        """Why it was not started, or how it was lost; or ""."""
        return self._end().get("text") or ""

    def _code(self) -> int:
        result: int = json.loads(self._call.answer())["code"]
        return result

    def _chunk(self) -> Optional[Chunk]:
        """What is there; None: nothing yet."""
        state = 0 if self._closed else self._call.state()
        if state == 0:
            return Chunk() if self._closed else None
        if state < 0:
            self._call.answer()  # raises the failure
            return Chunk()
        chunk = Chunk(self._call.take())
        if state == 2:
            chunk.stream = "stderr"
        if not self._host.closed:
            self._host._pump.poke()  # more may come now
        return chunk

    def __repr__(self) -> str:
        return "<openpai.%s%s>" % (type(self).__name__,
                                   ": over" if self._call.over() else "")


def _unread() -> BusyError:
    return BusyError("the command waits for its output to be read: read some "
                     "of it first")


class Session(_Live, Closes):
    """A command that runs in a task, for programs without asyncio.

        with handle.exec(["bash"], tty=True) as session:
            session.write(b"ls\\n")
            session.write(b"exit\\n")
            for chunk in session:
                sys.stdout.buffer.write(chunk)
            print(session.wait())

    It goes on while something of it, or of its platform or client, waits.  What
    it writes and nobody reads waits in the task, but for some 256 KiB, and so
    does it: so read before you write much.  Leaving the `with` block hangs up
    on what still runs.
    """
    __slots__ = ()

    def _told(self) -> None:
        if not self._host.closed:
            self._host._step(0)  # sends it at once

    def write(self, data: "Buffer") -> None:
        """Writes to its standard input, and waits until that has left.
        BusyError: nothing was written, for it waits for its output to be read
        itself."""
        while not self._call.write(data):
            if self._call.full():
                raise _unread()
            self._host._step(-1)
        while self._call.pending() and not self._call.full():
            self._host._step(-1)

    def read(self) -> Chunk:
        """What it has written, once there is something; b"" at the end."""
        while True:
            chunk = self._chunk()
            if chunk is not None:
                return chunk
            self._host._step(-1)

    def __iter__(self) -> Iterator[Chunk]:
        return self

    def __next__(self) -> Chunk:
        chunk = self.read()
        if not chunk:
            raise StopIteration
        return chunk

    def wait(self, timeout: Optional[float] = None) -> int:
        """Its exit code, as of a shell, once it is over.  TimeoutError after so
        many seconds; BusyError: it waits for its output to be read."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self._call.over():
            if self._call.full():
                raise _unread()
            most = -1
            if until is not None:
                most = min(int((until - time.monotonic()) * 1000) + 1, 250)
                if most <= 0:
                    raise TimedOutError("the command is not over after %g s"
                                       % (timeout or 0))
            self._host._step(most)
        return self._code()


class AsyncSession(_Live):
    """The same on the asyncio loop that runs.

        async with client.exec(job, ["bash"], tty=True) as session:
            await session.write(b"exit 3\\n")
            async for chunk in session:
                print(chunk.text, end="")
            print(await session.wait())

    One task may write while another one reads.  Who is cancelled within the
    block hangs up.
    """
    __slots__ = ()

    async def __aenter__(self) -> "AsyncSession":
        return self

    async def __aexit__(self, exc_type: Optional[Type[BaseException]],
                        exc: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.close()

    async def write(self, data: "Buffer") -> None:
        """Writes to its standard input, once there is room for it."""
        while not self._call.write(data):
            await self._host._pump.tick()
        self._told()

    async def read(self) -> Chunk:
        """What it has written, once there is something; b"" at the end."""
        while True:
            chunk = self._chunk()
            if chunk is not None:
                return chunk
            await self._host._pump.tick()

    def __aiter__(self) -> AsyncIterator[Chunk]:
        return self

    async def __anext__(self) -> Chunk:
        chunk = await self.read()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def wait(self, timeout: Optional[float] = None) -> int:
        """Its exit code, as of a shell, once it is over and what it said is
        read, but for some.  TimeoutError after so many seconds."""
        waits: Awaitable[None] = self._over()
        try:
            await asyncio.wait_for(waits, timeout)
        except asyncio.TimeoutError:
            raise TimedOutError("the command is not over after %g s"
                               % (timeout or 0)) from None
        return self._code()

    async def _over(self) -> None:
        while not self._call.over():
            await self._host._pump.tick()
