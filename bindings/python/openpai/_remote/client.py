"""Clients of a server: of a platform on this machine, or of any at a URL."""
import asyncio
import warnings
from types import TracebackType
from typing import Any, Coroutine, Generator, NoReturn, Optional, Type

from .client_base import ClientBase
from .client_blocking import BlockingMethods
from .client_methods import AsyncMethods
from .._errors import TimedOutError
from .._exec import Command, Executed
from .._objects import Closes
from .._records import Result, TaskName
from .._session import AsyncSession, Session


class Client(AsyncMethods):
    """Speaks OpenPAI's REST API, on the asyncio loop that runs.

        async with openpai.Client("https://pai.example.org/rest-server",
                                  token=token) as client:
            job = await client.submit("job.yaml")
            async for line in client.logs(job, follow=True):
                print(line)
            print(await client.wait(job))

    Jobs are named "user~name".  A failure is an Error of the package's, with
    http_status and api_code; what is cancelled by asyncio is not asked any
    more.  There is no thread.  BlockingClient has the same for programs
    without asyncio.
    """
    __slots__ = ()

    async def __aenter__(self) -> "Client":
        self._pump.hold()
        return self

    async def __aexit__(self, exc_type: Optional[Type[BaseException]],
                        exc: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.close()

    def __enter__(self) -> NoReturn:
        raise TypeError("it is `async with openpai.Client(...)`, or `with "
                        "openpai.BlockingClient(...)`")

    def __exit__(self, *error: object) -> None:
        """Only so that __enter__() says what is wrong."""

    def __del__(self) -> None:
        _warn(self)

    async def wait(self, job: str, timeout: Optional[float] = None) -> Result:
        """Until it is over.  TimeoutError after so many seconds."""
        waits = self._await(self._wait(job))
        if timeout is None:
            return await waits
        try:
            return await asyncio.wait_for(waits, timeout)
        except asyncio.TimeoutError:
            pass
        raise TimedOutError("the job is not over after %g s" % timeout)

    def exec(self, job: str, command: Command = None,
             task: Optional[TaskName] = None, *, input: bytes = b"",
             tty: bool = False) -> "Executing":
        """Runs a command in a task that runs: a list of words, or a line for
        sh(1); None is the user's shell.  With `tty` it has a terminal.

            done = await client.exec(job, "tar x", input=data)
            async with client.exec(job, ["bash"], tty=True) as session: ...

        Awaited it reads `input` and no more, and comes back when it is over; in
        a block one speaks with it while it runs.  Cancelled, it is hung up on.
        """
        return Executing(self, job, command, task, input, tty)


class Executing(Coroutine[Any, Any, Executed]):
    """What Client.exec() has made: to be awaited, or entered."""
    __slots__ = ("_client", "_asked", "_running", "_session")

    def __init__(self, client: Client, *asked: Any) -> None:
        self._client, self._asked = client, asked
        self._running: Optional[Coroutine[Any, Any, Executed]] = None
        self._session: Optional[AsyncSession] = None

    def _run(self) -> Coroutine[Any, Any, Executed]:
        if self._running is None:
            self._running = self._client._await(
                self._client._exec(*self._asked))
        return self._running

    def __await__(self) -> Generator[Any, None, Executed]:
        return self._run().__await__()

    # For create_task(), which takes coroutines only.

    def send(self, value: Any) -> Any:
        return self._run().send(value)

    def throw(self, *error: Any) -> Any:
        return self._run().throw(*error)

    def close(self) -> None:
        if self._running is not None:
            self._running.close()

    async def __aenter__(self) -> AsyncSession:
        self._session = AsyncSession(self._client, await self._client._await(
            self._client._speak(*self._asked)))
        return self._session

    async def __aexit__(self, exc_type: Optional[Type[BaseException]],
                        exc: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self._session is not None:
            self._session.close()


class BlockingClient(BlockingMethods, Closes):
    """The same, for programs without asyncio: what is asked is waited for.

        with openpai.BlockingClient() as client:
            job = client.submit("job.yaml")
            for line in client.logs(job, follow=True):
                print(line)
            print(client.wait(job))

    To be used by one thread at a time.
    """
    __slots__ = ()

    def __del__(self) -> None:
        _warn(self)

    def wait(self, job: str, timeout: Optional[float] = None) -> Result:
        """Until it is over.  TimeoutError after so many seconds."""
        return self._block(self._wait(job), timeout, "the job is not over")

    def exec(self, job: str, command: Command = None,
             task: Optional[TaskName] = None, *, input: bytes = b"",
             tty: bool = False) -> Executed:
        """As one that is awaited of Client.exec(): until it is over."""
        return self._block(self._exec(job, command, task, input, tty))

    def session(self, job: str, command: Command = None,
                task: Optional[TaskName] = None, *, input: bytes = b"",
                tty: bool = False) -> Session:
        """As the block of Client.exec(): one speaks with it while it runs.

            with client.session(job, ["bash"], tty=True) as session: ...
        """
        return Session(self, self._block(self._speak(job, command, task,
                                                     input, tty)))


def _warn(client: ClientBase) -> None:
    # Nothing to close if the constructor failed.
    if hasattr(client, "_client") and not client.closed:
        warnings.warn("unclosed %r" % client, ResourceWarning, source=client)
