"""Clients of a server: of a platform on this machine, or of any at a URL."""
import asyncio
import pathlib
import warnings
from types import TracebackType
from typing import (
    Any, Coroutine, Dict, Generator, Iterable, List, NoReturn, Optional, Type,
    Union)

from . import _job_files
from ._answers import a_list, an_object
from ._archive import packed
from ._client_base import Answer, ClientBase
from ._client_functions import AsyncFunctions, BlockingFunctions
from ._client_streams import (
    AsyncJobPages, BlockingJobPages, Changes, ClientLogs, job_query,
    open_changes, open_logs)
from ._errors import TimedOutError
from ._exec import Command, Executed
from ._records import JobStatus, Result, TaskName
from ._job import Job, Path
from ._job_files import File, OfServer
from ._job_options import After, JobOptions, Priority
from ._session import AsyncSession, Session

_Filter = Union[None, str, Iterable[str]]


class Client(AsyncFunctions):
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

    # --- who asks

    async def login(self, user: str, password: str) -> Dict[str, Any]:
        """Logs in: {"user", "token", "admin"}.  The token is used from now
        on, and made anew when it is no longer good."""
        return await self._await(self._told(
            "login", {"user": user, "password": password}, an_object))

    async def logout(self) -> None:
        """Makes the server forget the token, and the client, too."""
        await self._await(self._done("logout", {}))

    async def info(self) -> Dict[str, Any]:
        """What the server is."""
        return await self._await(self._told("info", None, an_object))

    async def users(self) -> List[Dict[str, Any]]:
        """All users, as the API has them."""
        return await self._await(self._told("users", None, a_list))

    async def request(self, method: str, path: str, *, json: Any = None,
                      data: Optional[bytes] = None,
                      type: Optional[str] = None,
                      accept: Optional[str] = None) -> Answer:
        """Anything: request("GET", "/api/v2/virtual-clusters").  The body is
        `json`, any value, or `data` of a `type`."""
        return await self._await(self._request(method, path, json, data, type,
                                               accept))

    # --- jobs

    async def submit(self, job: Union[Job, Path], *,
                     name: Optional[str] = None, code: Optional[Path] = None,
                     time: Optional[str] = None, after: After = (),
                     virtual_cluster: Optional[str] = None,
                     priority: Optional[Priority] = None,
                     tags: Union[str, Iterable[str]] = ()) -> str:
        """Submits a job, or the file at a path: "user~name".  `code` is a
        folder that its commands begin in, for servers of this library; links
        in it stay links.  All else is as for Platform.submit()."""
        return await self._await(self._submit(
            job, name, packed(code), JobOptions.of(
                time, after, virtual_cluster, priority, tags)))

    def jobs(self, *, state: _Filter = None, user: _Filter = None,
             virtual_cluster: _Filter = None, tag: _Filter = None,
             keyword: Optional[str] = None, order: Optional[str] = None,
             offset: int = 0, limit: Optional[int] = None, page: int = 100
             ) -> AsyncJobPages:
        """Jobs, newest first: `async for`, or `await client.jobs().all()`.
        The filters are those of Platform.jobs()."""
        return AsyncJobPages(self, job_query(
            state, user, virtual_cluster, tag, keyword, order), offset, limit,
            page)

    async def job(self, name: str) -> JobStatus:
        """All that is known of a job."""
        return await self._await(self._job(name))

    async def config(self, job: str) -> Any:
        """Its file, with secrets masked."""
        return await self._await(self._told("config", {"job": job}))

    async def stop(self, job: str) -> None:
        """Stops it; it is over a little later."""
        await self._await(self._done("stop", {"job": job}))

    async def tag(self, job: str, tag: str) -> None:
        """Adds a tag to a job."""
        await self._await(self._done("tag", {"job": job, "tag": tag}))

    async def untag(self, job: str, tag: str) -> None:
        """Removes a tag from a job."""
        await self._await(self._done("untag", {"job": job, "tag": tag}))

    async def forget(self, job: str, *, keep_files: bool = False
                     ) -> Optional[str]:
        """Removes a job that is over, with its logs, records and files.
        `keep_files` keeps the job's own folder, in a folder of the server that
        is returned; None if the job has none."""
        return await self._await(self._forget(job, keep_files))

    # --- files

    async def files(self, job: str, path: Optional[str] = None,
                    recursive: bool = False) -> List[File]:
        """Files in the job's folder, or in a folder of it, sorted by path;
        `recursive`: with all that is in its folders."""
        return await self._await(_job_files.listed(
            OfServer(self, job), path, recursive))

    async def download(self, job: str, path: Optional[str], to: Path
                       ) -> pathlib.Path:
        """Downloads a file of the job to the path `to`, or into `to` if that is
        a folder; of a folder, or with None of the job's, all files go below
        `to`.  Returns where that is.

        A download that was cut goes on where it was when it is called again,
        and files that are there already, with the same size and time of
        change, are not downloaded again.  Of links those are made that lead to
        something in the same folder."""
        return await self._await(_job_files.download(
            OfServer(self, job), path, to))

    async def upload(self, job: str, local: Path, path: Optional[str] = None
                     ) -> None:
        """Uploads a file to a path in the job's folder, or into a folder there
        if the path ends with "/" or is None; of a local folder all files go
        below the path.  Folders that are missing are made.

        An upload of a large file that was cut goes on where it was when it is
        called again."""
        await self._await(_job_files.upload(OfServer(self, job), local, path))

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

    def watch(self, job: Optional[str] = None) -> Changes:
        """States: as they are, then what changes, through cuts and restarts;
        of one job until it is over, or of all that are not."""
        return open_changes(self, job)

    def logs(self, job: str, task: Optional[TaskName] = None, *,
             follow: bool = False, name: str = "all", offset: int = 0
             ) -> ClientLogs:
        """Lines of what a task's latest start has printed, from byte `offset`
        on; else as Handle.logs()."""
        return open_logs(self, job, task, follow, name, offset)


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


class BlockingClient(BlockingFunctions):
    """The same, for programs without asyncio: what is asked is waited for.

        with openpai.BlockingClient() as client:
            job = client.submit("job.yaml")
            for line in client.logs(job, follow=True):
                print(line)
            print(client.wait(job))

    To be used by one thread at a time.
    """
    __slots__ = ()

    def __enter__(self) -> "BlockingClient":
        return self

    def __exit__(self, exc_type: Optional[Type[BaseException]],
                 exc: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        _warn(self)

    def login(self, user: str, password: str) -> Dict[str, Any]:
        """As Client.login(), and so on."""
        return self._block(self._told(
            "login", {"user": user, "password": password}, an_object))

    def logout(self) -> None:
        self._block(self._done("logout", {}))

    def info(self) -> Dict[str, Any]:
        return self._block(self._told("info", None, an_object))

    def users(self) -> List[Dict[str, Any]]:
        return self._block(self._told("users", None, a_list))

    def request(self, method: str, path: str, *, json: Any = None,
                data: Optional[bytes] = None, type: Optional[str] = None,
                accept: Optional[str] = None) -> Answer:
        return self._block(self._request(method, path, json, data, type,
                                         accept))

    # --- jobs

    def submit(self, job: Union[Job, Path], *, name: Optional[str] = None,
               code: Optional[Path] = None, time: Optional[str] = None,
               after: After = (), virtual_cluster: Optional[str] = None,
               priority: Optional[Priority] = None,
               tags: Union[str, Iterable[str]] = ()) -> str:
        return self._block(self._submit(
            job, name, packed(code), JobOptions.of(
                time, after, virtual_cluster, priority, tags)))

    def jobs(self, *, state: _Filter = None, user: _Filter = None,
             virtual_cluster: _Filter = None, tag: _Filter = None,
             keyword: Optional[str] = None, order: Optional[str] = None,
             offset: int = 0, limit: Optional[int] = None, page: int = 100
             ) -> BlockingJobPages:
        return BlockingJobPages(self, job_query(
            state, user, virtual_cluster, tag, keyword, order), offset, limit,
            page)

    def job(self, name: str) -> JobStatus:
        return self._block(self._job(name))

    def config(self, job: str) -> Any:
        return self._block(self._told("config", {"job": job}))

    def stop(self, job: str) -> None:
        self._block(self._done("stop", {"job": job}))

    def tag(self, job: str, tag: str) -> None:
        self._block(self._done("tag", {"job": job, "tag": tag}))

    def untag(self, job: str, tag: str) -> None:
        self._block(self._done("untag", {"job": job, "tag": tag}))

    def forget(self, job: str, *, keep_files: bool = False) -> Optional[str]:
        return self._block(self._forget(job, keep_files))

    # --- files

    def files(self, job: str, path: Optional[str] = None,
              recursive: bool = False) -> List[File]:
        return self._block(_job_files.listed(OfServer(self, job), path,
                                             recursive))

    def download(self, job: str, path: Optional[str], to: Path
                 ) -> pathlib.Path:
        return self._block(_job_files.download(OfServer(self, job), path, to))

    def upload(self, job: str, local: Path, path: Optional[str] = None
               ) -> None:
        self._block(_job_files.upload(OfServer(self, job), local, path))

    def wait(self, job: str, timeout: Optional[float] = None) -> Result:
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

    def watch(self, job: Optional[str] = None) -> Changes:
        return open_changes(self, job)

    def logs(self, job: str, task: Optional[TaskName] = None, *,
             follow: bool = False, name: str = "all", offset: int = 0
             ) -> ClientLogs:
        return open_logs(self, job, task, follow, name, offset)


def _warn(client: ClientBase) -> None:
    # Nothing to close if the constructor failed.
    if hasattr(client, "_client") and not client.closed:
        warnings.warn("unclosed %r" % client, ResourceWarning, source=client)


# What both have is described once.
for _name, _method in list(vars(BlockingClient).items()):
    if callable(_method) and not _method.__doc__ and not _name.startswith("_"):
        _method.__doc__ = vars(Client)[_name].__doc__
