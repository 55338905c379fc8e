"""Functions as jobs of a server: what call() of a client gives."""
import pathlib
import shutil
import tempfile
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Generator, Generic,
    Iterable, Iterator, Mapping, Optional, Tuple, TypeVar)

from .. import _job_files
from .._functions import call_job as _call_job
from .._functions import outcome as _outcome
from .._functions import ship as _ship
from .answers import a_text, an_object, first_role, understood
from .._functions.archive import packed
from .._errors import Error, NotFoundError, ServerNotFoundError
from .._job_options import JobOptions
from .._logs import Since
from .._loop import Steps
from .._functions.outcome import JobFailed
from .._records import FINAL, JobStatus, Result, TaskName, Why, make_why
from .._schema import State
from .._functions.runner import OUTCOME, SHIPPED

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    from .client import BlockingClient, Client
    from .client_base import ClientBase
    from .client_streams import ClientLogs

    _P = ParamSpec("_P")

_T = TypeVar("_T")

#: Exit code that stands for a code of the command itself, which the platform
#: cannot read.
_ANY_CODE = 255


# --- one call ----------------------------------------------------------------

def machine(client: "ClientBase") -> Steps[Dict[str, Any]]:
    """What the server says of its machine; {} if it says nothing."""
    try:
        return (yield from client._call("server.status", {}, _status))
    except Error as error:
        if error.http_status is None:
            raise
        return {}


def _status(told: Any) -> Dict[str, Any]:
    """What is used of it, of the kinds that are expected."""
    machine = an_object(told).get("machine")
    if machine is not None:
        machine = {name: int(machine[name]) for name in ("memory", "cpus")}
    return {"machine": machine, "root": a_text(told.get("root")),
            "user": a_text(told.get("user"))}


def ship(client: "ClientBase", shipment: "_ship.Shipment", name: str,
         wishes: "_call_job.Wishes") -> Steps[str]:
    """Submits the job of a call: its name."""
    status = yield from machine(client)
    here = client._is_here
    job = wishes.job(
        name, status.get("machine"),
        _call_job.folders(status.get("root")) if here else (), here=here)
    return (yield from client._submit(
        job, None, packed(wishes.code, shipment.files(here=here)),
        JobOptions(tags=wishes.options.tags)))


def came_to(client: "ClientBase", name: str, sent: Mapping[str, Any]
            ) -> Steps[_outcome.Outcome]:
    """What a call came to, once its job is over."""
    ended = yield from client._wait(name)
    status = yield from client._job(name)
    told = yield from _told(client, name)
    if told is not None:
        found = _outcome.read(told, sent)
        if ended.succeeded or found.error is not None:
            return found
    if not ended.succeeded:
        return _outcome.Outcome(
            error=(yield from _failure(client, name, ended, status)))
    if not (yield from _has(client, name, SHIPPED)):
        raise _outcome.no_result()
    lines = yield from _last_lines(client, status, None, 0)
    return _outcome.Outcome(error=_outcome.exited_early(status.name, lines))


def _told(client: "ClientBase", name: str) -> Steps[Optional[bytes]]:
    """The bytes of its outcome; None: it has told nothing."""
    source = _job_files.OfServer(client, name)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="openpai-result-"))
    try:
        entry = yield from _job_files.found(source, OUTCOME)
        _outcome.check_size(entry["size"] or 0)
        yield from source.copy("download", path=OUTCOME, to=folder / "it")
        return _outcome.read_file(folder / "it")
    except NotFoundError as error:
        if isinstance(error, ServerNotFoundError):
            raise
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _has(client: "ClientBase", name: str, path: str) -> Steps[bool]:
    try:
        yield from _job_files.found(_job_files.OfServer(client, name), path)
    except NotFoundError as error:
        if isinstance(error, ServerNotFoundError):
            raise
        return False
    return True


def of_this_user(client: "ClientBase", name: str) -> Steps[None]:
    """PermissionDenied if the job is another user's: to read its result may
    run code of that user's."""
    mine = client.user
    if mine is None and client._is_here:
        mine = (yield from machine(client)).get("user")
    status = yield from client._job(name)
    _outcome.check_user(status.user, mine)


def _failure(client: "ClientBase", name: str, ended: Result, status: JobStatus
             ) -> Steps[JobFailed]:
    """With the last lines of the task that decided the end."""
    told = yield from why(client, name)
    job = status.detail["jobStatus"]
    if ended.code == _ANY_CODE and isinstance(
            job.get("originUserExitCode"), int):
        ended = ended._replace(code=job["originUserExitCode"])
    lines = yield from _last_lines(client, status, told.detail.get("role"),
                                   told.detail.get("index") or 0)
    return _call_job.failure(ended, status, told, lines)


def _last_lines(client: "ClientBase", status: JobStatus,
                role: Optional[str], index: int) -> Steps[Tuple[str, ...]]:
    """The last that a task of a job has printed."""
    try:
        tasks = status.detail["taskRoles"][role or first_role(status)]
        listed = yield from client._request(
            "GET", tasks["taskStatuses"][index]["containerLog"] +
            "?tail-mode=true", None, None, None, None)
        place = understood(listed.body, _of_all)
        if place is not None:
            got = yield from client._request("GET", place, None, None, None,
                                             None)
            return _call_job.last_lines(got.text)
    except (Error, LookupError, TypeError):
        pass  # there is no task, or the task has no logs
    return ()


def _of_all(told: Any) -> Optional[str]:
    """Where the output of both streams is."""
    for place in told["locations"]:
        if place["name"] == "all":
            return a_text(place["uri"])
    return None


def why(client: "ClientBase", name: str) -> Steps[Why]:
    """Why a job waits, or what ended it."""
    return (yield from client._call("jobs.why", {"job": name}, make_why))


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

    def _came_to(self) -> Steps[_outcome.Outcome]:
        return came_to(self._client, self._name, self._sent)

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

        What it raised is raised.  JobFailed if the job failed in another way,
        was stopped or exited early.  LimitError for a result of more than
        1 GiB.  TimeoutError after so many seconds."""
        __tracebackhide__ = True
        self.wait(timeout)
        value: _T = self._client._block(self._came_to()).get()
        return value

    def exception(self, timeout: Optional[float] = None
                  ) -> Optional[BaseException]:
        """What result() raises, once the job is over, or None."""
        self.wait(timeout)
        try:
            return self._client._block(self._came_to()).error
        except Exception as error:
            return error

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
             name: str = "all", offset: int = 0, tail: Optional[int] = None,
             since: Optional[Since] = None) -> "ClientLogs":
        """Lines of what it has printed, as BlockingClient.logs()."""
        return self._client.logs(self._name, task, follow=follow, name=name,
                                 offset=offset, tail=tail, since=since)

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

        What it raised is raised; JobFailed for StopIteration, which no
        coroutine can raise.  JobFailed if the job failed in another way, was
        stopped or exited early.  LimitError for a result of more than 1 GiB.
        TimeoutError after so many seconds."""
        __tracebackhide__ = True
        await self.wait(timeout)
        came = await self._client._await(self._came_to())
        value: _T = came.get_in_generator()
        return value

    async def exception(self, timeout: Optional[float] = None
                        ) -> Optional[BaseException]:
        """What result() raises, once the job is over, or None."""
        await self.wait(timeout)
        try:
            return (await self._client._await(self._came_to())).error
        except Exception as error:
            return error

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
             name: str = "all", offset: int = 0, tail: Optional[int] = None,
             since: Optional[Since] = None) -> "ClientLogs":
        """Lines of what it has printed, as Client.logs()."""
        return self._client.logs(self._name, task, follow=follow, name=name,
                                 offset=offset, tail=tail, since=since)

    async def stop(self) -> None:
        """Stops the job; it is over a little later."""
        await self._client.stop(self._name)


# --- how functions are run ---------------------------------------------------

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
        from .client_many import map_calls
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
        from .client_many import map_calls_async
        return map_calls_async(self, function, iterables, limit)
