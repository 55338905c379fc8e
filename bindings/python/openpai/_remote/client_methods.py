"""What clients have beside the calls of the REST API: jobs, files, functions.

It is written down as it is awaited; blocking.py makes of it the module
client_blocking, in which it is waited for.
"""
import pathlib
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Iterable, List,
    Optional, TypeVar, Union)

from .. import _job_files
from . import client_many as _client_many
from .answers import an_object
from .._functions.archive import packed
from .._functions.call_arguments import check_own
from .._functions.call_job import Wishes
from .calls import AsyncCalls
from .client_base import Answer, ClientBase
from .client_calls import (
    AsyncClientCall, AsyncClientCallOptions, came_to, of_this_user)
from .client_many import ClientExecutor
from .client_streams import (
    AsyncJobPages, Changes, ClientLogs, job_query, open_changes, open_logs)
from .._job import Job, Path
from .._job_files import File, OfServer
from .._job_options import After, JobOptions, Priority
from .._logs import Since, log_part
from .._loop import Steps
from .._functions.outcome import Outcome
from .._records import TaskName

if TYPE_CHECKING:
    from .client import Client

_T = TypeVar("_T")
_Filter = Union[None, str, Iterable[str]]


def _result(client: ClientBase, name: str) -> Steps[Outcome]:
    yield from of_this_user(client, name)
    return (yield from came_to(client, name, {}))


class AsyncMethods(AsyncCalls):
    """Of Client."""
    __slots__ = ()

    # --- identity

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
        return await self._await(self._told("info", {}, an_object))

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

    def watch(self, job: Optional[str] = None) -> Changes:
        """States: as they are, then what changes, through cuts and restarts;
        of one job until it is over, or of all that are not."""
        return open_changes(self, job)

    def logs(self, job: str, task: Optional[TaskName] = None, *,
             follow: bool = False, name: str = "all", offset: int = 0,
             tail: Optional[int] = None, since: Optional[Since] = None
             ) -> ClientLogs:
        """Lines of what a task's latest start has printed, from byte `offset`
        on; else as Handle.logs().  `since`, a timedelta, is by the server's
        clock.  What is followed goes on behind a lost connection."""
        return open_logs(self, job, task, follow, name, offset,
                         log_part(tail, since))

    # --- functions as jobs

    def executor(self, *, limit: Optional[int] = None, name: str = "",
                 gpu: int = 0, cpu: Union[int, float] = 1, memory: Optional[str] = None,
                 time: Optional[str] = None, after: After = (),
                 virtual_cluster: Optional[str] = None,
                 priority: Optional[Priority] = None,
                 tags: Union[str, Iterable[str]] = (),
                 image: Optional[str] = None, python: Optional[Path] = None,
                 code: Optional[Path] = None) -> ClientExecutor:
        """An executor of concurrent.futures that runs functions on the server.

            with client.executor(gpu=1, limit=4) as executor:
                losses = list(executor.map(train, rates))

        It has a client of its own, so this one may be closed meanwhile.
        `limit` is how many jobs there are at a time, all else is as for
        options().
        """
        options = dict(self._options)
        if self.token is not None:
            options["token"] = self.token
        return ClientExecutor(options, Wishes(
            name, gpu, cpu, memory, JobOptions.of(
                time, after, virtual_cluster, priority, tags), image, python,
            code), limit)

    async def call(self: "Client",  # type: ignore[misc]
                   function: Callable[..., _T], /, *args: Any, name: str = "",
                   gpu: int = 0, cpu: Union[int, float] = 1, memory: Optional[str] = None,
                   **kwargs: Any) -> AsyncClientCall[_T]:
        """Runs a function in a job of the server.

            call = await client.call(train, data, gpu=1, memory="8G", lr=0.1)
            model = await call.result()

        As Platform.call(); but on another machine modules have to be
        installed, or be in the folder `code` of options(), and files are
        those of that machine.  The result comes back as a pickle: use a server
        that you trust, by https.
        """
        check_own(function, {"name": name or None, "gpu": gpu or None,
                             "cpu": cpu if cpu != 1 else None,
                             "memory": memory})
        return await self.options(
            name=name, gpu=gpu, cpu=cpu, memory=memory).call(
                function, *args, **kwargs)

    def options(self: "Client", *, name: str = "",  # type: ignore[misc]
                gpu: int = 0, cpu: Union[int, float] = 1, memory: Optional[str] = None,
                time: Optional[str] = None, after: After = (),
                virtual_cluster: Optional[str] = None,
                priority: Optional[Priority] = None,
                tags: Union[str, Iterable[str]] = (),
                image: Optional[str] = None, python: Optional[Path] = None,
                code: Optional[Path] = None) -> AsyncClientCallOptions:
        """How functions are to be run: await options(...).call(function, ...).

        As Platform.options(), and besides: `image` is a container's image;
        `python` the Python there, by default this one, or one of the same
        version; `code` a folder that goes along, from which modules can be
        imported, and in which the function begins.
        """
        return AsyncClientCallOptions(self, Wishes(
            name, gpu, cpu, memory, JobOptions.of(
                time, after, virtual_cluster, priority, tags), image, python,
            code))

    def map(self: "Client",  # type: ignore[misc]
            function: Callable[..., _T], /, *iterables: Iterable[Any],
            limit: Optional[int] = None) -> AsyncIterator[_T]:
        """Runs a function in a job of the server for each item, `limit` jobs
        at a time or all at once; results come in the order of the items.

            async for loss in client.map(train, [0.1, 0.01], limit=2): ...

        options(...).map() says more.  What a call raised comes out in its
        place, StopIteration as JobFailed; whoever does not ask for more stops
        the jobs that are left.
        """
        return self.options().map(function, *iterables, limit=limit)

    def as_completed(self: "Client",  # type: ignore[misc]
                     calls: Iterable[AsyncClientCall[_T]],
                     timeout: Optional[float] = None
                     ) -> AsyncIterator[AsyncClientCall[_T]]:
        """The calls, each when its job is over: `async for`.  TimeoutError
        after so many seconds."""
        return _client_many.as_completed_async(calls, timeout)

    async def result(self: "Client", job: str) -> Any:  # type: ignore[misc]
        """What a job of call() has returned, as of another program: by its
        name.  Waits for its end.

        The result is a pickle: that of another user's job is refused with
        PermissionDenied."""
        __tracebackhide__ = True
        return (await self._await(_result(self, job))).get_in_generator()
