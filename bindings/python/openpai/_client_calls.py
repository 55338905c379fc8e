"""Functions as jobs of a server: what call() of a client gives."""
import os
import pathlib
import shutil
import tempfile
import urllib.parse
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Generator, Generic,
    Iterable, Iterator, Mapping, Optional, Tuple, TypeVar)

from . import _call_job, _job_files, _ship
from ._errors import Error, NotFoundError, PermissionDenied
from ._job_options import JobOptions
from ._loop import Steps
from ._records import (
    FINAL, JobStatus, Result, State, TaskName, Why, make_why)
from ._ship import JobFailed

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    from ._client import BlockingClient, Client
    from ._client_base import ClientBase
    from ._client_streams import ClientLogs

    _P = ParamSpec("_P")

_T = TypeVar("_T")


# --- one call ----------------------------------------------------------------

def machine(client: "ClientBase") -> Steps[Dict[str, Any]]:
    """What the server says of its machine; {} if it says nothing."""
    try:
        told = yield from client._told_at("/api/v2/status")
    except Error as error:
        if error.http_status is None:
            raise
        return {}
    return dict(told)


def ship(client: "ClientBase", shipment: "_ship.Shipment", name: str,
         wishes: "_call_job.Wishes") -> Steps[str]:
    """Submits the job of a call: its name."""
    status = yield from machine(client)
    here = client._is_here
    folder = pathlib.Path(tempfile.mkdtemp(prefix="openpai-call-"))
    try:
        if wishes.code is not None:
            shutil.copytree(os.fsdecode(wishes.code), folder,
                            dirs_exist_ok=True)
        shipment.write(folder, here=here)
        job = wishes.job(
            name, status.get("machine"),
            _call_job.folders(status["root"]) if here else (), here=here)
        return (yield from client._submit(job, None, folder, JobOptions(
            tags=wishes.options.tags)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def result(client: "ClientBase", name: str, sent: Mapping[str, Any]
           ) -> Steps[Any]:
    """What a call has returned, once its job is over."""
    __tracebackhide__ = True
    ended = yield from client._wait(name)
    status = yield from client._job(name)
    folder = tempfile.mkdtemp(prefix="openpai-result-")
    try:
        yield from _job_files.download(
            _job_files.OfServer(client, name), "outcome.pickle",
            os.path.join(folder, "it"))
        with open(os.path.join(folder, "it"), "rb") as file:
            told = file.read()
    except NotFoundError:
        if ended.succeeded:
            raise _call_job.no_result() from None
    else:
        value = _call_job.read_outcome(told, sent)
        if ended.succeeded:
            return value
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    raise (yield from _failure(client, name, ended, status))


def of_this_user(client: "ClientBase", name: str) -> Steps[None]:
    """PermissionDenied if the job is another user's: to read its result may
    run code of that user's."""
    mine = client.user
    if mine is None and client._is_here:
        mine = (yield from machine(client)).get("user")
    status = yield from client._job(name)
    if mine is None or status.user != mine:
        raise PermissionDenied(
            "the result of a job of %s is not read, as that may run code of "
            "another user's\nhelp: log in as the job's user, or have the job "
            "write a file" % status.user)


def _failure(client: "ClientBase", name: str, ended: Result, status: JobStatus
             ) -> Steps[JobFailed]:
    """With the last lines of the task that decided the end."""
    told = yield from why(client, name)
    lines: Tuple[str, ...] = ()
    try:
        roles = status.detail["taskRoles"]
        role = told.detail.get("role") or next(iter(roles))
        task = roles[role]["taskStatuses"][told.detail.get("index") or 0]
        if ended.state == "failed":  # 255 stands for any code of its own
            ended = ended._replace(code=status.detail["jobStatus"].get(
                "originUserExitCode") or ended.code)
        text = yield from _last_of_log(client, task)
        lines = tuple(text.splitlines()[-_call_job.LAST_LINES:])
    except (Error, LookupError):
        pass  # there is no task, or it has no logs
    return _call_job.failure(ended, status, told, lines)


def _last_of_log(client: "ClientBase", task: Mapping[str, Any]) -> Steps[str]:
    answer = yield from client._told_at(task["containerLog"] +
                                        "?tail-mode=true")
    for place in answer["locations"]:
        if place["name"] == "all":
            got = yield from client._request("GET", place["uri"], None, None,
                                             None, None)
            return got.text
    return ""


def why(client: "ClientBase", name: str) -> Steps[Why]:
    """Why a job waits, or what ended it."""
    told = yield from client._told_at(
        "/api/v2/jobs/%s/why" % urllib.parse.quote(name, safe="~"))
    return make_why(told)


class _Called(Generic[_T]):
    """What both kinds have: two of the same job are equal."""
    __slots__ = ("_client", "_name", "_sent")
    _client: "ClientBase"

    def __init__(self, client: "ClientBase", name: str,
                 sent: Mapping[str, Any]) -> None:
        self._client, self._name, self._sent = client, name, sent

    @property
    def name(self) -> str:
        """"user~name", which the client's functions take."""
        return self._name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Called):
            return NotImplemented
        return self._name == other._name and self._client is other._client

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return "<openpai.%s %s>" % (type(self).__name__, self._name)


class ClientCall(_Called[_T]):
    """A job of BlockingClient.call(): its result is what the function
    returns."""
    __slots__ = ()
    _client: "BlockingClient"

    def result(self, timeout: Optional[float] = None) -> _T:
        """What the function returned, once the job is over.

        What it raised is raised.  JobFailed if the job failed in another way
        or was stopped.  TimeoutError after so many seconds."""
        __tracebackhide__ = True
        self.wait(timeout)
        value: _T = self._client._block(result(self._client, self._name,
                                               self._sent))
        return value

    def exception(self, timeout: Optional[float] = None
                  ) -> Optional[BaseException]:
        """What result() raises, once the job is over, or None."""
        self.wait(timeout)
        try:
            self.result()
        except Exception as error:
            return error
        return None

    def wait(self, timeout: Optional[float] = None) -> Result:
        """Waits until the job is over.  TimeoutError after so many seconds."""
        return self._client.wait(self._name, timeout)

    @property
    def status(self) -> JobStatus:
        """All that is known of the job now."""
        return self._client.job(self._name)

    @property
    def state(self) -> State:
        """The job's state now, as in Event.state."""
        return self.status.state

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in FINAL

    def why(self) -> Why:
        """Why the job waits, or what ended it."""
        return self._client.why(self._name)

    def logs(self, task: Optional[TaskName] = None, *, follow: bool = False,
             name: str = "all", offset: int = 0) -> "ClientLogs":
        """Lines of what it has printed, as BlockingClient.logs()."""
        return self._client.logs(self._name, task, follow=follow, name=name,
                                 offset=offset)

    def stop(self) -> None:
        """Stops the job; it is over a little later."""
        self._client.stop(self._name)

    def _repr_html_(self) -> str:
        return self.status._repr_html_()


class AsyncClientCall(_Called[_T]):
    """A job of Client.call(): `await call.result()` is what the function
    returns, `await call` how the job ended."""
    __slots__ = ()
    _client: "Client"

    async def result(self, timeout: Optional[float] = None) -> _T:
        """What the function returned, once the job is over.

        What it raised is raised.  JobFailed if the job failed in another way
        or was stopped.  TimeoutError after so many seconds."""
        __tracebackhide__ = True
        await self.wait(timeout)
        value: _T = await self._client._await(result(
            self._client, self._name, self._sent))
        return value

    async def exception(self, timeout: Optional[float] = None
                        ) -> Optional[BaseException]:
        """What result() raises, once the job is over, or None."""
        await self.wait(timeout)
        try:
            await self.result()
        except Exception as error:
            return error
        return None

    async def wait(self, timeout: Optional[float] = None) -> Result:
        """Until the job is over.  TimeoutError after so many seconds."""
        return await self._client.wait(self._name, timeout)

    def __await__(self) -> Generator[Any, None, Result]:
        return self.wait().__await__()

    async def status(self) -> JobStatus:
        """All that is known of the job now."""
        return await self._client.job(self._name)

    async def why(self) -> Why:
        """Why the job waits, or what ended it."""
        return await self._client.why(self._name)

    def logs(self, task: Optional[TaskName] = None, *, follow: bool = False,
             name: str = "all", offset: int = 0) -> "ClientLogs":
        """Lines of what it has printed, as Client.logs()."""
        return self._client.logs(self._name, task, follow=follow, name=name,
                                 offset=offset)

    async def stop(self) -> None:
        """Stops the job; it is over a little later."""
        await self._client.stop(self._name)


# --- how functions are to be run ---------------------------------------------

class ClientCallOptions:
    """How functions are to be run, from BlockingClient.options()."""

    def __init__(self, client: "BlockingClient", wishes: "_call_job.Wishes"
                 ) -> None:
        self._client, self._wishes = client, wishes

    def call(self, function: "Callable[_P, _T]", /, *args: "_P.args",
             **kwargs: "_P.kwargs") -> ClientCall[_T]:
        """As BlockingClient.call(); all that is named here is the
        function's."""
        shipment = _ship.call(function, args, kwargs)
        return ClientCall(self._client, self._client._block(ship(
            self._client, shipment, self._wishes.name_for(function),
            self._wishes)), shipment.by_value.named())

    def map(self, function: Callable[..., _T], /, *iterables: Iterable[Any],
            limit: Optional[int] = None) -> Iterator[_T]:
        """As BlockingClient.map(), with these options."""
        from ._client_many import map_calls
        return map_calls(self, function, iterables, limit)


class AsyncClientCallOptions:
    """How functions are to be run, from Client.options()."""

    def __init__(self, client: "Client", wishes: "_call_job.Wishes") -> None:
        self._client, self._wishes = client, wishes

    async def call(self, function: "Callable[_P, _T]", /, *args: "_P.args",
                   **kwargs: "_P.kwargs") -> AsyncClientCall[_T]:
        """As Client.call(); all that is named here is the function's."""
        shipment = _ship.call(function, args, kwargs)
        return AsyncClientCall(self._client, await self._client._await(ship(
            self._client, shipment, self._wishes.name_for(function),
            self._wishes)), shipment.by_value.named())

    def map(self, function: Callable[..., _T], /, *iterables: Iterable[Any],
            limit: Optional[int] = None) -> AsyncIterator[_T]:
        """As Client.map(), with these options."""
        from ._client_many import map_calls_async
        return map_calls_async(self, function, iterables, limit)
