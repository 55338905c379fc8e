"""Runs a platform on the asyncio loop of whoever awaits one of its jobs."""
import asyncio
import time
from typing import Dict, Generator, List, Optional, Protocol, TypeVar, Union

from ._errors import TimedOutError


class Core(Protocol):
    """What has a loop: a platform, or a client."""

    def fileno(self) -> int: ...
    def timeout_ms(self) -> int: ...
    def dispatch(self) -> bool: ...


class Asked(Protocol):
    """What was asked of one: a call, or a command in a task."""

    def state(self) -> int: ...  # 0: wait
    def cancel(self) -> None: ...


_T = TypeVar("_T")
#: Yields requests to wait for, or numbers of seconds. Each operation is
#: written only once this way, for blocking and for asynchronous callers.
Steps = Generator[Union[Asked, float], None, _T]

#: Futures that wait for the end of a job, by job. Not in the pump, to avoid a
#: reference cycle: the listener of the platform needs them.
Ends = Dict[int, List["asyncio.Future[None]"]]


def _tell(future: "asyncio.Future[None]") -> None:
    # A future of a loop that is closed can get no result.
    if not future.done() and not future.get_loop().is_closed():
        future.set_result(None)


def tell_end(ends: Ends, job: int) -> None:
    """The end of a job was told."""
    for future in ends.pop(job, ()):
        _tell(future)


class Pump:
    """Dispatches a platform when its descriptor or its clock says so.

    It is on an asyncio loop while somebody awaits something, or from attach()
    on.  No thread of its own, and no polling.
    """
    __slots__ = ("_core", "_loop", "_users", "_timer", "_tick", "_ends")

    def __init__(self, core: Core, ends: Ends) -> None:
        self._core = core
        self._ends = ends
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._users = 0
        self._timer: Optional[asyncio.TimerHandle] = None
        self._tick: Optional["asyncio.Future[None]"] = None

    # --- users of the loop

    def hold(self) -> asyncio.AbstractEventLoop:
        """On the running loop from now on, until as many calls of release()."""
        loop = asyncio.get_running_loop()
        if self._loop is not None and self._loop is not loop:
            if not self._loop.is_closed():
                raise RuntimeError(
                    "the platform is awaited on another asyncio loop")
            self.detach()  # the futures of the closed loop are lost
        if self._loop is None:
            self._loop = loop
            loop.add_reader(self._core.fileno(), self._run)
        self._users += 1
        self._arm()
        return loop

    def release(self, loop: asyncio.AbstractEventLoop) -> None:
        """Of the loop that hold() told, unless the pump has left it."""
        if self._loop is not loop:
            return
        self._users -= 1
        if self._users == 0:
            self.detach()

    def detach(self) -> None:
        """Off the loop: nobody waits, or the platform is about to close."""
        loop, self._loop, self._users = self._loop, None, 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if loop is not None and not loop.is_closed():
            loop.remove_reader(self._core.fileno())
        self.wake()
        for job in list(self._ends):
            tell_end(self._ends, job)

    def poke(self) -> None:
        """Something was asked of the platform: its clock may be another."""
        if self._loop is not None and not self._loop.is_closed():
            self._arm()

    # --- running

    def _arm(self) -> None:
        assert self._loop is not None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        timeout = self._core.timeout_ms()
        if timeout >= 0:
            self._timer = self._loop.call_later(timeout / 1000, self._run)

    def _run(self) -> None:
        if self._loop is None:
            return
        try:
            self._core.dispatch()
        except BaseException as error:  # raised by a callback
            self._deliver(error)
        self.wake()
        if self._loop is not None:
            self._arm()

    def wake(self) -> None:
        """Those who wait for a tick look anew."""
        tick, self._tick = self._tick, None
        if tick is not None:
            _tell(tick)

    def _deliver(self, error: BaseException) -> None:
        """To somebody who waits, else to the loop."""
        if isinstance(error, StopIteration):  # a future does not accept it
            wrapped = RuntimeError("on_event raised StopIteration")
            wrapped.__cause__ = error
            error = wrapped
        waiting = [future for waiters in self._ends.values()
                   for future in waiters]
        if self._tick is not None:
            waiting.append(self._tick)
        for future in waiting:
            if not future.done():
                future.set_exception(error)
                return
        assert self._loop is not None
        self._loop.call_exception_handler({
            "message": "an openpai callback raised", "exception": error})

    # --- waiting

    async def end_of(self, job: int) -> None:
        """Until tell_end(), of a job that is not over."""
        loop = self.hold()
        future = asyncio.get_running_loop().create_future()
        self._ends.setdefault(job, []).append(future)
        try:
            await future
        finally:
            waiters = self._ends.get(job, [])
            if future in waiters:
                waiters.remove(future)
            self.release(loop)

    async def tick(self) -> None:
        """Until the platform has done something."""
        loop = self.hold()
        try:
            if self._tick is None or self._tick.done():
                self._tick = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._tick)
        finally:
            self.release(loop)


class Waits:
    """What platforms and clients have in common: both ways to wait."""
    __slots__ = ()
    _pump: Pump

    @property
    def closed(self) -> bool:
        raise NotImplementedError

    def _step(self, most_ms: int) -> None:
        """Runs the loop once, waiting for at most so long; -1: for a while."""
        raise NotImplementedError

    def _block(self, steps: Steps[_T], timeout: Optional[float] = None,
               what: str = "the answer is not there") -> _T:
        """`what` is so after the timeout."""
        __tracebackhide__ = True  # for IPython
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                asked = next(steps)
            except StopIteration as end:
                result: _T = end.value
                return result
            if isinstance(asked, float):
                time.sleep(asked)
                continue
            try:
                if not self._step_until(asked, until):
                    raise TimedOutError("%s after %g s" % (what, timeout or 0))
            except BaseException:  # Ctrl-C, or the timeout
                self._drop(asked)
                raise

    def _step_until(self, asked: Asked, until: Optional[float]) -> bool:
        """False: the time is over."""
        while asked.state() == 0:
            most = -1
            if until is not None:
                most = min(int((until - time.monotonic()) * 1000) + 1, 250)
                if most <= 0:
                    return False
            self._step(most)
        return True

    async def _await(self, steps: Steps[_T]) -> _T:
        __tracebackhide__ = True
        while True:
            try:
                asked = next(steps)
            except StopIteration as end:
                result: _T = end.value
                return result
            if isinstance(asked, float):
                await asyncio.sleep(asked)
                continue
            try:
                while asked.state() == 0:
                    await self._pump.tick()
            except BaseException:  # cancelled by asyncio
                self._drop(asked)
                raise

    def _drop(self, asked: Asked) -> None:
        """Nobody wants it any more."""
        asked.cancel()
        if not self.closed:
            self._pump.poke()
