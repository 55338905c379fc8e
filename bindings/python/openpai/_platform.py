"""Running jobs: run() for one, Platform for many or for a host's loop."""
import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import Callable, NamedTuple, Optional, Type, Union

from . import facade as _facade
from ._job import Job, Path


@dataclass(frozen=True)
class Event:
    """What happened to a job, or to a task of one."""
    #: "job" or "task": its state changed; "output": a task wrote something.
    type: str
    job: int
    #: Microseconds since the epoch.
    time_us: int
    #: "waiting", "running", "stopping", "succeeded", "failed" or "stopped".
    state: Optional[str]
    #: The completion code, in the last three states.
    code: Optional[int]
    #: Which task; None in a job's event.
    role: Optional[str]
    index: Optional[int]
    #: Which attempt of the job, from 0.
    attempt: int
    #: "stdout" or "stderr" of output.
    stream: Optional[str]
    #: The output, cut anywhere; else the reason of a state.
    data: bytes

    @property
    def time(self) -> float:
        """Seconds since the epoch."""
        return self.time_us / 1e6

    @property
    def text(self) -> str:
        """`data` as text; what is not UTF-8, or cut in two, is replaced."""
        return self.data.decode("utf-8", "replace")


class Result(NamedTuple):
    """How a job ended."""
    state: str
    #: 0 success, 1..255 the deciding task's exit code, negative the platform's.
    code: int

    @property
    def succeeded(self) -> bool:
        return self.state == "succeeded"


OnEvent = Callable[[Event], object]


def _teller(on_event: Optional[OnEvent]) -> Optional[Callable[..., None]]:
    """The function that glue.c calls with the parts of an event."""
    if not callable(on_event):
        return on_event  # None; glue.c refuses all else
    function = on_event

    def tell(*parts: object) -> None:
        function(Event(*parts))  # type: ignore[arg-type]
    return tell


def _wanted(job: object) -> "_facade.Job":
    if not isinstance(job, Job):
        raise TypeError("a Job is wanted, not %s" % type(job).__name__)
    return job._spec


def run(job: Union[Job, Path], *, root: Optional[Path] = None,
        on_event: Optional[OnEvent] = None) -> Result:
    """Runs a job, or the job file at a path, and waits until it is over.

    `root` is the folder for its logs; by default this user's own.  `on_event`
    is called with each Event.  If it raises, or on Ctrl-C, the job is stopped
    first and the exception comes out then; a second Ctrl-C kills the job.
    """
    spec = _wanted(job if isinstance(job, Job) else Job.load(job))
    return Result(*_facade.run(spec, root, _teller(on_event)))


class Platform:
    """Runs jobs on this machine, as many at a time as there is room for.

        with openpai.Platform(on_event=print) as platform:
            job_id = platform.submit(job)
            platform.wait(job_id)

    Jobs make progress, and on_event is called, only inside wait(), dispatch()
    and close().  Leaving the `with` block stops what still runs.  To be used
    by one thread at a time.
    """
    __slots__ = ("_platform", "__weakref__")
    _platform: "_facade.Platform"

    def __init__(self, *, root: Optional[Path] = None,
                 on_event: Optional[OnEvent] = None) -> None:
        self._platform = _facade.Platform.open(root, _teller(on_event))

    def __enter__(self) -> "Platform":
        return self

    def __exit__(self, exc_type: Optional[Type[BaseException]],
                 exc: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        # Nothing to close if the constructor failed.
        if hasattr(self, "_platform") and not self._platform.closed():
            warnings.warn("unclosed %r" % self, ResourceWarning, source=self)

    def close(self) -> None:
        """Stops all jobs, waits until they are over, frees everything.

        A job that ignores this is killed after five seconds, or on Ctrl-C.
        """
        self._platform.close()

    def submit(self, job: Job) -> int:
        """Takes a job and returns its id."""
        return self._platform.submit(_wanted(job))

    def stop(self, job_id: int) -> None:
        """Asks a job to end, and kills it when asked a second time."""
        self._platform.stop(job_id)

    def forget(self, job_id: int) -> None:
        """Frees what is kept of a job that is over; its folder stays.

        For programs that run many jobs: a platform keeps them all otherwise.
        """
        self._platform.forget(job_id)

    def wait(self, job_id: int) -> Result:
        """Waits until a job is over.

        If on_event raises, the job it was told of is stopped, and when that is
        over the exception comes out.  Ctrl-C comes out at once.
        """
        return Result(*self._platform.wait(job_id))

    def state(self, job_id: int) -> str:
        """The job's state, as in Event.state."""
        return self._platform.state(job_id)[0]

    def code(self, job_id: int) -> Optional[int]:
        """The job's completion code, or None before its end."""
        return self._platform.state(job_id)[1]

    def dir(self, job_id: int) -> str:
        """The folder with the job's logs."""
        return self._platform.dir(job_id)

    def fileno(self) -> int:
        """For a loop of yours: wait until this descriptor is readable, for at
        most timeout_ms(), then call dispatch()."""
        return self._platform.fileno()

    def timeout_ms(self) -> int:
        """How long to wait at most; -1: for ever.  Ask before every wait."""
        return self._platform.timeout_ms()

    def dispatch(self) -> bool:
        """Does what is due, without waiting.  False: nothing is left to do.

        An exception of on_event comes out at once; the job it was told of is
        being stopped.
        """
        return self._platform.dispatch()
