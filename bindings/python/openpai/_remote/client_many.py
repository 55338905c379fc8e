"""Many functions as jobs of a server: map(), as_completed(), an executor."""
import asyncio
import atexit
import collections
import concurrent.futures
import os
import threading
from typing import (
    TYPE_CHECKING, Any, AsyncIterator, Callable, Deque, Dict, Iterable,
    Iterator, List, Mapping, Optional, Set, TypeVar)

from .._functions import ship as _ship
from .._functions.call_job import Wishes, checked, left, until
from .client_calls import (
    AsyncClientCall, AsyncClientCallOptions, ClientCall, ClientCallOptions,
    came_to, ship)
from .._errors import NotFoundError
from .._records import Result

if TYPE_CHECKING:
    from .. import facade as _facade
    from .client import BlockingClient

_T = TypeVar("_T")


class _Waiting(Dict[ClientCall[_T], "_facade.Call"]):
    """Calls whose jobs are not over, with what waits for that."""

    def __init__(self, client: "BlockingClient") -> None:
        self._client = client

    def add(self, call: ClientCall[_T]) -> None:
        self[call] = self._client._begin("wait", {"job": call.name})

    def over(self) -> List[ClientCall[_T]]:
        """Those that are over by now, and no longer here."""
        found = [call for call, wait in self.items() if wait.state()]
        for call in found:
            self.pop(call).answer()
        return found

    def drop(self) -> None:
        if not self._client.closed:
            for wait in self.values():
                self._client._drop(wait)


def as_completed(client: "BlockingClient", calls: Iterable[ClientCall[_T]],
                 timeout: Optional[float]) -> Iterator[ClientCall[_T]]:
    """The calls, each when its job is over."""
    end = until(timeout)
    waiting: _Waiting[_T] = _Waiting(client)
    try:
        for call in calls:
            waiting.add(call)
        while waiting:
            over = waiting.over()
            yield from over
            if not over:
                client._step(left(end, timeout, len(waiting)))
    finally:
        waiting.drop()


def map_calls(options: ClientCallOptions, function: Callable[..., _T],
              iterables: Iterable[Iterable[Any]], limit: Optional[int]
              ) -> Iterator[_T]:
    """Results in the order of what was given, with so many jobs at a time.
    Who gives up early stops those that are left."""
    checked(limit)
    client, given = options._client, zip(*iterables)
    begun: Deque[ClientCall[_T]] = collections.deque()
    waiting: _Waiting[_T] = _Waiting(client)

    def begin_some() -> None:
        while limit is None or len(waiting) < limit:
            args = next(given, None)
            if args is None:
                return
            begun.append(options.call(function, *args))
            waiting.add(begun[-1])

    def stop_all() -> None:
        left_over = list(waiting)
        waiting.drop()
        for call in left_over if not client.closed else ():
            try:
                call.stop()
            except NotFoundError:
                pass  # it ended just now

    def results() -> Iterator[_T]:
        try:
            while begun:
                while begun[0] in waiting:
                    if not waiting.over():
                        client._step()
                    begin_some()
                yield client._block(
                    begun.popleft()._came_to()).get_in_generator()
        finally:
            stop_all()

    made = results()
    try:
        begin_some()
    except BaseException:
        stop_all()
        raise
    return _Stopping(made, stop_all)


class _Stopping(Iterator[_T]):
    """An iterator with close(), which stops also what was never asked."""

    def __init__(self, made: Iterator[_T], stop: Callable[[], None]) -> None:
        self._made, self._stop = made, stop

    def __next__(self) -> _T:
        return next(self._made)

    def close(self) -> None:
        """Stops the jobs that are left."""
        self._made.close()  # type: ignore[attr-defined]
        self._stop()

    def __del__(self) -> None:
        self.close()


async def map_calls_async(options: AsyncClientCallOptions,
                          function: Callable[..., _T],
                          iterables: Iterable[Iterable[Any]],
                          limit: Optional[int]) -> AsyncIterator[_T]:
    """The same on asyncio's loop; the jobs begin when it is first asked."""
    checked(limit)
    given = zip(*iterables)
    begun: Deque[AsyncClientCall[_T]] = collections.deque()
    running: Dict["asyncio.Future[Result]", AsyncClientCall[_T]] = {}

    async def begin_some() -> None:
        while limit is None or len(running) < limit:
            args = next(given, None)
            if args is None:
                return
            begun.append(await options.call(function, *args))
            running[asyncio.ensure_future(begun[-1].wait())] = begun[-1]

    try:
        await begin_some()
        while begun:
            while begun[0] in running.values():
                done, _ = await asyncio.wait(
                    running, return_when=asyncio.FIRST_COMPLETED)
                for future in done:
                    running.pop(future)
                    future.result()
                await begin_some()
            yield await begun.popleft().result()
    finally:
        for future, call in running.items():
            future.cancel()
            if not options._client.closed:
                try:
                    await call.stop()
                except NotFoundError:
                    pass  # it ended just now


async def as_completed_async(calls: Iterable[AsyncClientCall[_T]],
                             timeout: Optional[float]
                             ) -> AsyncIterator[AsyncClientCall[_T]]:
    """The calls, each when its job is over."""
    waits = {asyncio.ensure_future(call.wait()): call for call in calls}
    end = until(timeout)
    try:
        while waits:
            most = left(end, timeout, len(waits))
            done, _ = await asyncio.wait(
                waits, timeout=None if most < 0 else most / 1000,
                return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                call = waits.pop(future)
                future.result()
                yield call
    finally:
        for future in waits:
            future.cancel()


class ClientExecutor(concurrent.futures.Executor):
    """Runs functions in jobs of a server, for what takes an executor: made by
    executor() of a client.

    A thread of its own has a client of its own.  `limit` is how many jobs there
    are at a time.  A future is cancelled until its job is submitted; what the
    function raised, or JobFailed, comes out of result().  May be used by any
    thread.
    """

    def __init__(self, options: Mapping[str, Any], wishes: Wishes,
                 limit: Optional[int]) -> None:
        self._options, self._wishes = options, wishes
        self._limit = checked(limit)
        self._loop = asyncio.new_event_loop()
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._futures: List["concurrent.futures.Future[Any]"] = []
        self._lock = threading.Lock()
        self._ended = False
        self._over = self._loop.create_future()
        self._process = os.getpid()
        self._thread = threading.Thread(
            target=self._run, name="openpai.ClientExecutor", daemon=True)
        self._thread.start()
        atexit.register(self.shutdown)

    def submit(self, fn: Callable[..., _T], /, *args: Any,
               **kwargs: Any) -> "concurrent.futures.Future[_T]":
        """Runs fn(*args, **kwargs) in a job of the server."""
        if os.getpid() != self._process:
            raise RuntimeError("the executor is of the process before fork()")
        shipment = _ship.call(fn, args, kwargs)
        future: "concurrent.futures.Future[_T]" = concurrent.futures.Future()
        with self._lock:
            if self._ended:
                raise RuntimeError("the executor was shut down")
            self._futures = [one for one in self._futures if not one.done()]
            self._futures.append(future)
            self._loop.call_soon_threadsafe(
                self._begin, shipment, self._wishes.name_for(fn), future)
        return future

    def shutdown(self, wait: bool = True, *,
                 cancel_futures: bool = False) -> None:
        """Takes no more; with `cancel_futures` what was not submitted to the
        server is not."""
        with self._lock:
            if cancel_futures:
                for future in self._futures:
                    future.cancel()
            if not self._ended:
                self._ended = True
                self._loop.call_soon_threadsafe(self._end)
        atexit.unregister(self.shutdown)
        if wait and self._thread is not threading.current_thread():
            self._thread.join()

    # --- the thread

    def _end(self) -> None:
        if not self._over.done():
            self._over.set_result(None)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._main())
        except BaseException as error:
            with self._lock:
                self._ended = True
            for future in self._futures:
                if not future.done():  # else a caller would wait forever
                    future.set_exception(error)
        finally:
            self._loop.close()

    async def _main(self) -> None:
        from .client import Client
        self._slots = (None if self._limit is None else
                       asyncio.Semaphore(self._limit))
        async with Client(**self._options) as client:
            self._client = client
            await self._over
            while self._tasks:
                await asyncio.wait(self._tasks)

    def _begin(self, shipment: "_ship.Shipment", name: str,
               future: "concurrent.futures.Future[Any]") -> None:
        task = self._loop.create_task(self._call(shipment, name, future))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, shipment: "_ship.Shipment", name: str,
                    future: "concurrent.futures.Future[Any]") -> None:
        if self._slots is not None:
            await self._slots.acquire()
        try:
            if not future.set_running_or_notify_cancel():
                return
            full = await self._client._await(ship(
                self._client, shipment, name, self._wishes))
            came = await self._client._await(came_to(
                self._client, full, shipment.by_value.named()))
            if came.error is not None:
                future.set_exception(came.error)
            else:
                future.set_result(came.value)
        except BaseException as error:
            future.set_exception(error)
        finally:
            if self._slots is not None:
                self._slots.release()
