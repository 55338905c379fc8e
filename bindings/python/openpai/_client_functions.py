"""What clients have for functions as jobs: call(), map(), executor()."""
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Callable, Iterable, Iterator, Optional,
    TypeVar, Union)

from . import _client_many
from ._call_arguments import check_own
from ._call_job import Wishes
from ._client_base import ClientBase
from ._client_calls import (
    AsyncClientCall, AsyncClientCallOptions, ClientCall, ClientCallOptions,
    came_to, of_this_user, why)
from ._client_many import ClientExecutor
from ._job import Path
from ._job_options import After, JobOptions, Priority
from ._loop import Steps
from ._outcome import Outcome
from ._records import Why

if TYPE_CHECKING:
    from ._client import BlockingClient, Client

_T = TypeVar("_T")


def _result(client: ClientBase, name: str) -> Steps[Outcome]:
    yield from of_this_user(client, name)
    return (yield from came_to(client, name, {}))


class _Functions(ClientBase):
    """What waits for nothing."""
    __slots__ = ()

    def executor(self, *, limit: Optional[int] = None, name: str = "",
                 gpu: int = 0, cpu: int = 1, memory: Optional[str] = None,
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


class BlockingFunctions(_Functions):
    """Of BlockingClient."""
    __slots__ = ()

    def call(self: "BlockingClient",  # type: ignore[misc]
             function: Callable[..., _T], /, *args: Any, name: str = "",
             gpu: int = 0, cpu: int = 1, memory: Optional[str] = None,
             **kwargs: Any) -> ClientCall[_T]:
        """Runs a function in a job of the server.

            call = client.call(train, data, gpu=1, memory="8G", lr=0.1)
            model = call.result()

        As Platform.call(); but on another machine modules have to be
        installed, or be in the folder `code` of options(), and files are
        those of that machine.  The result comes back as a pickle: use a server
        that you trust, by https.
        """
        check_own(function, {"name": name or None, "gpu": gpu or None,
                             "cpu": cpu if cpu != 1 else None,
                             "memory": memory})
        return self.options(name=name, gpu=gpu, cpu=cpu, memory=memory).call(
            function, *args, **kwargs)

    def options(self: "BlockingClient", *,  # type: ignore[misc]
                name: str = "", gpu: int = 0, cpu: int = 1,
                memory: Optional[str] = None, time: Optional[str] = None,
                after: After = (), virtual_cluster: Optional[str] = None,
                priority: Optional[Priority] = None,
                tags: Union[str, Iterable[str]] = (),
                image: Optional[str] = None, python: Optional[Path] = None,
                code: Optional[Path] = None) -> ClientCallOptions:
        """How functions are to be run: options(...).call(function, ...).

        As Platform.options(), and besides: `image` is a container's image;
        `python` the Python there, by default this one, or one of the same
        version; `code` a folder that goes along, from which modules can be
        imported, and in which the function begins.
        """
        return ClientCallOptions(self, Wishes(
            name, gpu, cpu, memory, JobOptions.of(
                time, after, virtual_cluster, priority, tags), image, python,
            code))

    def map(self: "BlockingClient",  # type: ignore[misc]
            function: Callable[..., _T], /, *iterables: Iterable[Any],
            limit: Optional[int] = None) -> Iterator[_T]:
        """Runs a function in a job of the server for each item, `limit` jobs
        at a time or all at once; results come in the order of the items.

            losses = list(client.map(train, [0.1, 0.01, 0.001], limit=2))

        options(...).map() says more.  What a call raised comes out in its
        place, StopIteration as JobFailed; whoever does not ask for more stops
        the jobs that are left.
        """
        return self.options().map(function, *iterables, limit=limit)

    def as_completed(self: "BlockingClient",  # type: ignore[misc]
                     calls: Iterable[ClientCall[_T]],
                     timeout: Optional[float] = None
                     ) -> Iterator[ClientCall[_T]]:
        """The calls, each when its job is over.  TimeoutError after so many
        seconds."""
        return _client_many.as_completed(self, calls, timeout)

    def result(self: "BlockingClient",  # type: ignore[misc]
               job: str) -> Any:
        """What a job of call() has returned, as of another program: by its
        name.  Waits for its end.

        The result is a pickle: that of another user's job is refused with
        PermissionDenied."""
        __tracebackhide__ = True
        return self._block(_result(self, job)).get()

    def why(self: "BlockingClient", job: str) -> Why:  # type: ignore[misc]
        """Why a job waits, or what ended it."""
        return self._block(why(self, job))


class AsyncFunctions(_Functions):
    """Of Client."""
    __slots__ = ()

    async def call(self: "Client",  # type: ignore[misc]
                   function: Callable[..., _T], /, *args: Any, name: str = "",
                   gpu: int = 0, cpu: int = 1, memory: Optional[str] = None,
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
                gpu: int = 0, cpu: int = 1, memory: Optional[str] = None,
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

    def as_completed(self, calls: Iterable[AsyncClientCall[_T]],
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

    async def why(self: "Client", job: str) -> Why:  # type: ignore[misc]
        """Why a job waits, or what ended it."""
        return await self._await(why(self, job))
