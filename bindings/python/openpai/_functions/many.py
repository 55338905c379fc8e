"""Many functions as jobs: as_completed(), map() with a limit, and Executor, for
what takes one of concurrent.futures."""
import atexit
import collections
import concurrent.futures
import os
import queue
import select
import threading
from typing import (
    TYPE_CHECKING, Any, Callable, Deque, Dict, Generator, Iterable, Iterator,
    List, NamedTuple, Optional, Set, TypeVar, cast)

from . import ship as _ship
from .call_job import Wishes, checked, left, until
from .._errors import NotFoundError
from .._handle import CallHandle, Handle
from .._job import Path

if TYPE_CHECKING:
    from .._platform import CallOptions, Platform

_T = TypeVar("_T")
_H = TypeVar("_H", bound=Handle)


def as_completed(platform: "Platform", handles: Iterable[_H],
                 timeout: Optional[float] = None) -> Iterator[_H]:
    """The handles, each when its job is over."""
    end = until(timeout)
    waiting = list(handles)
    while waiting:
        over = [handle for handle in waiting if handle.is_over]
        waiting = [handle for handle in waiting if handle not in over]
        yield from over
        if not over:
            platform._step(left(end, timeout, len(waiting)))


def _stop(handle: Handle) -> None:
    """It may have ended just now."""
    try:
        handle.stop(now=True)
    except NotFoundError:
        pass


def map_calls(options: "CallOptions", function: Callable[..., _T],
              iterables: Iterable[Iterable[Any]], limit: Optional[int]
              ) -> Iterator[_T]:
    """Results in the order of what was given, with so many jobs at a time.
    Who gives up early stops those that are left."""
    checked(limit)
    given = zip(*iterables)
    begun: Deque[CallHandle[_T]] = collections.deque()
    platform = options._platform

    def begin_some() -> None:
        while limit is None or limit > sum(
                not handle.is_over for handle in begun):
            args = next(given, None)
            if args is None:
                return
            begun.append(options.call(function, *args))

    def results() -> Generator[Optional[_T], None, None]:
        try:
            begin_some()
            yield None  # lets the caller continue: the jobs have begun
            while begun:
                while not begun[0].is_over:
                    platform._step(-1)
                    begin_some()
                first = begun.popleft()
                yield first._came_to(first.wait()).get_in_generator()
                begin_some()
        finally:
            for handle in begun if not platform.closed else ():
                if not handle.is_over:
                    _stop(handle)

    made = results()
    next(made)
    return cast(Iterator[_T], made)


class _Call(NamedTuple):
    shipment: "_ship.Shipment"
    name: str
    future: "concurrent.futures.Future[Any]"


class Executor(concurrent.futures.Executor):
    """Runs functions in jobs, for what takes an executor.

        with openpai.Executor(gpu=1, memory="8G", limit=4) as executor:
            losses = list(executor.map(train, rates))

    A thread of its own runs the platform of `root`, by default this user's
    own, which nobody else may have meanwhile.  `limit` is how many jobs there
    are at a time; the other arguments are those of Platform.options().  A
    future is cancelled until its job runs; what the function raised, or
    JobFailed, comes out of result().  May be used by any thread.
    """

    def __init__(self, *, root: Optional[Path] = None,
                 limit: Optional[int] = None, runtime: Optional[str] = None,
                 policy: Optional[str] = None, name: str = "",
                 **options: Any) -> None:
        self._limit = checked(limit)
        self._name = name
        self._calls: "queue.SimpleQueue[_Call]" = queue.SimpleQueue()
        self._waiting: List[_Call] = []
        self._jobs: Dict[Handle, "concurrent.futures.Future[Any]"] = {}
        self._asked: Set[Handle] = set()  # jobs that have begun to run
        self._told: Set[Handle] = set()  # jobs with a running future
        self._stopped: Set[Handle] = set()  # stopped, their futures cancelled
        self._ended = self._cancels = False
        self._lock = threading.Lock()
        self._woken, self._wake_fd = os.pipe()
        os.set_blocking(self._wake_fd, False)
        os.set_blocking(self._woken, False)
        ready: "concurrent.futures.Future[None]" = concurrent.futures.Future()
        self._thread = threading.Thread(
            target=self._run, name="openpai.Executor", daemon=True,
            args=({"root": root, "runtime": runtime, "policy": policy},
                  options, ready))
        self._process = os.getpid()
        self._thread.start()
        try:
            ready.result()
        except BaseException:
            self.shutdown(cancel_futures=True)  # closes what was opened
            raise
        atexit.register(self.shutdown)

    def submit(self, fn: Callable[..., _T], /, *args: Any,
               **kwargs: Any) -> "concurrent.futures.Future[_T]":
        """Runs fn(*args, **kwargs) in a job."""
        future: "concurrent.futures.Future[_T]" = concurrent.futures.Future()
        if os.getpid() != self._process:
            raise RuntimeError("the executor is of the process before fork()")
        call = _Call(_ship.call(fn, args, kwargs),
                     self._name or getattr(fn, "__name__", "call"), future)
        with self._lock:
            if self._ended:
                raise RuntimeError("the executor was shut down")
            self._calls.put(call)
        future.add_done_callback(self._wake)
        self._wake()
        return future

    def shutdown(self, wait: bool = True, *,
                 cancel_futures: bool = False) -> None:
        """Takes no more; with `cancel_futures` what has not begun to run is
        not run.  Without this the executor keeps its root until the program
        ends, which then waits for what was submitted."""
        with self._lock:
            self._ended = True
            self._cancels = self._cancels or cancel_futures
        atexit.unregister(self.shutdown)
        self._wake()
        if wait and self._thread is not threading.current_thread():
            self._thread.join()

    # --- the thread

    def _wake(self, _future: object = None) -> None:
        with self._lock:
            try:
                os.write(self._wake_fd, b"x")
            except OSError:  # full or closed: it is awake or over anyway
                pass

    def _run(self, where: Dict[str, Any], options: Dict[str, Any],
             ready: "concurrent.futures.Future[None]") -> None:
        from .._platform import Platform
        try:
            platform = Platform(**where)
            try:
                wishes = platform.options(**options)._wishes
                ready.set_result(None)
                self._drive(platform, wishes)
            finally:
                platform.close()
        except BaseException as error:
            if ready.done():
                self._give_up(error)
            else:
                ready.set_exception(error)
        finally:
            with self._lock:
                self._ended = True
                os.close(self._woken)
                os.close(self._wake_fd)
                self._wake_fd = -1

    def _give_up(self, error: BaseException) -> None:
        """The platform does not go on: nobody waits for ever."""
        with self._lock:
            self._ended = True
        while not self._calls.empty():
            self._waiting.append(self._calls.get())
        for future in [call.future for call in self._waiting] + list(
                self._jobs.values()):
            try:
                if not future.running():
                    future.set_running_or_notify_cancel()
                future.set_exception(error)
            except Exception:  # the future is done, as a cancelled one
                pass

    def _has_room(self) -> bool:
        return self._limit is None or len(self._jobs) < self._limit

    def _drive(self, platform: "Platform", wishes: Wishes) -> None:
        poll = select.poll()
        for fd in platform.fileno(), self._woken:
            poll.register(fd, select.POLLIN)
        while True:
            while not self._calls.empty():
                self._waiting.append(self._calls.get())
            if self._cancels:
                for future in [call.future for call in self._waiting] + list(
                        self._jobs.values()):
                    future.cancel()
            while self._waiting and self._has_room():
                self._begin(platform, wishes, self._waiting.pop(0))
            for handle in list(self._jobs):
                self._look(handle)
            if self._waiting and self._has_room():
                continue
            if (self._ended and not self._waiting and not self._jobs and
                    self._calls.empty()):
                return
            poll.poll(platform.timeout_ms())
            try:
                os.read(self._woken, 4096)
            except BlockingIOError:
                pass
            platform.dispatch()

    def _begin(self, platform: "Platform", wishes: Wishes,
               call: _Call) -> None:
        if call.future.cancelled():
            call.future.set_running_or_notify_cancel()
            return
        try:
            handle = platform._ship(call.shipment, call.name, wishes)
        except BaseException as error:
            if call.future.set_running_or_notify_cancel():
                call.future.set_exception(error)
        else:
            self._jobs[handle] = call.future

    def _look(self, handle: Handle) -> None:
        """A future runs from when its job does: until then it is cancelled
        with it."""
        future, state = self._jobs[handle], handle.state
        if handle not in self._asked and state not in ("waiting", "stopping"):
            self._asked.add(handle)
            if future.set_running_or_notify_cancel():
                self._told.add(handle)
        if future.cancelled() and handle not in self._stopped:
            self._stopped.add(handle)
            _stop(handle)
        if not handle.is_over:
            return
        runs = handle in self._told
        del self._jobs[handle]
        for known in self._asked, self._told, self._stopped:
            known.discard(handle)
        if not runs:
            return
        try:
            value = handle.result()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(value)
