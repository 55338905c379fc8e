"""Running jobs: run() for one, Platform for many or for a host's loop."""
import json
import operator
import pathlib
import shutil
import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import (
    TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, Optional, Type,
    TypeVar, Union, cast)

from ._functions import call_job as _call_job
from ._functions import ship as _ship
from . import facade as _facade
from ._accounts import Accounts, VirtualClusters
from ._functions.call_arguments import check_own
from ._functions.call_job import Wishes
from ._errors import ExistsError
from ._handle import CallHandle, Handle
from ._job import Job, Path
from ._job_options import After, JobOptions, Priority
from ._loop import Ends, Pump, Waits, tell_end
from ._functions.many import as_completed, map_calls
from ._objects import Closes
from ._scheduling.policy import PolicyLike
from ._records import Jobs, JobSummary, Result
from ._schema import State
from ._scheduling.sched import Scheduler
from ._scheduling.shadow import Shadow
from ._values import fields as as_words, listed

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    _P = ParamSpec("_P")

_T = TypeVar("_T")
_H = TypeVar("_H", bound=Handle)


@dataclass(frozen=True)
class Event:
    """What happened to a job, or to a task of one."""
    #: "job" or "task": its state has changed; "output": a task wrote output.
    type: str
    job: int
    #: Microseconds since the epoch.
    time_us: int
    #: "waiting", "running", "stopping", "succeeded", "failed" or "stopped".
    state: Optional[State]
    #: The completion code, if the state is one of the last three.
    code: Optional[int]
    #: The task's role and index; None in a job's event.
    role: Optional[str]
    index: Optional[int]
    #: Attempt of the job, from 0.
    attempt: int
    #: "stdout" or "stderr" of output.
    stream: Optional[str]
    #: The output, cut at any byte; else the reason of the state.
    data: bytes

    @property
    def time(self) -> float:
        """Seconds since the epoch."""
        return self.time_us / 1e6

    @property
    def text(self) -> str:
        """`data` as text; what is not UTF-8, or cut in two, is replaced."""
        return self.data.decode("utf-8", "replace")


OnEvent = Callable[[Event], object]


def _wanted(job: object) -> "_facade.Job":
    if not isinstance(job, Job):
        raise TypeError("a Job is wanted, not %s" % type(job).__name__)
    return job._spec


def _teller(on_event: Optional[OnEvent]) -> Optional[Callable[..., None]]:
    """The function that glue.c calls with the parts of an event."""
    if not callable(on_event):
        return on_event  # None; glue.c refuses all other values
    function = on_event

    def tell(*parts: object) -> None:
        function(Event(*parts))  # type: ignore[arg-type]
    return tell


def _listener(on_event: Optional[OnEvent], ends: Ends
              ) -> Optional[Callable[..., None]]:
    """The same for a platform, whose ends of jobs asyncio may wait for."""
    tell = _teller(on_event)
    if tell is not None and not callable(tell):
        return tell

    def both(*parts: Any) -> None:
        if tell is not None:
            tell(*parts)
        if parts[0] == "job" and parts[4] is not None:
            tell_end(ends, parts[1])
    return both


def run(job: Union[Job, Path], *, root: Optional[Path] = None,
        on_event: Optional[OnEvent] = None) -> Result:
    """Runs a job, or the job file at a path, and waits until it is over.

    `root` is the folder for its logs; by default this user's own.  `on_event`
    is called with each Event.  If it raises, or on Ctrl-C, the job is stopped
    first and the exception comes out then; a second Ctrl-C kills the job.
    """
    spec = _wanted(job if isinstance(job, Job) else Job.load(job))
    state, code = _facade.run(spec, root, _teller(on_event))
    return Result(cast(State, state), code)


def _submit_anew(submit: Callable[["_facade.Job", bytes], int],
                 spec: "_facade.Job", fields: Dict[str, Any]) -> int:
    """By the first name that is free."""
    for number in range(2, 10000):
        fields["name"] = "%s_%d" % (spec.name(), number)
        try:
            return submit(spec, as_words(fields))
        except ExistsError:
            pass
    raise ExistsError("there are too many jobs named %s" % spec.name())


class Platform(Waits, Closes):
    """Runs jobs on this machine, as many at a time as there is room for.

        with openpai.Platform() as platform:
            handle = platform.submit(job)
            for line in handle.logs(follow=True):
                print(line)
            print(handle.wait(), handle.why())

    Its jobs are kept in the database of `root`, by default this user's own,
    and so are those that ended: job() and jobs() find them after a restart.
    One process has a root at a time.  `policy` is a built-in one that says who
    is next.  With durable=False nothing is kept, jobs
    are only states and folders of logs, and on_event is told of output, too.

    Jobs make progress, and on_event is called, only while something waits:
    wait(), logs(), dispatch(), close(), or asyncio, where an `await`, or
    attach(), runs the platform on the loop.  Leaving the `with` block stops
    what still runs; leave() does not.  To be used by one thread at a time.
    """
    __slots__ = ("_platform", "_pump", "__weakref__")
    _platform: "_facade.Platform"

    def __init__(self, *, root: Optional[Path] = None, durable: bool = True,
                 runtime: Optional[str] = None,
                 policy: Optional[str] = None,
                 on_event: Optional[OnEvent] = None,
                 keep_time: Optional[float] = None,
                 keep_jobs: Optional[int] = None,
                 keep_bytes: Optional[int] = None) -> None:
        """Finished jobs are removed, the oldest first, after `keep_time`
        seconds, beyond `keep_jobs` of them, and where all logs have more than
        `keep_bytes`; without these all are kept.  Neither `keep_jobs` nor
        `keep_bytes` removes a job in the minute after its end."""
        ends: Ends = {}
        self._platform = _facade.Platform.open(
            root, bool(durable), runtime, policy, _listener(on_event, ends),
            as_words({"keep_time": None if keep_time is None
                      else round(keep_time * 1_000_000),
                      "keep_jobs": keep_jobs, "keep_bytes": keep_bytes}))
        self._pump = Pump(self._platform, ends)

    def __del__(self) -> None:
        # Nothing to close if the constructor failed.
        if hasattr(self, "_platform") and not self._platform.closed():
            warnings.warn("unclosed %r" % self, ResourceWarning, source=self)

    async def __aenter__(self) -> "Platform":
        self._pump.hold()
        return self

    async def __aexit__(self, exc_type: Optional[Type[BaseException]],
                        exc: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if not self.closed:
            self._pump.detach()
            self._platform.close(False)

    def close(self) -> None:
        """Stops all jobs, waits until they are over, frees everything.

        A job that ignores this is killed after five seconds, or on Ctrl-C.
        """
        if not self.closed:
            self._pump.detach()
        self._platform.close(False)

    def leave(self) -> None:
        """Ends this platform and leaves its tasks running: the next one of
        its root goes on with them, and with those that ended meanwhile."""
        if not self.closed:
            self._pump.detach()
        self._platform.close(True)

    @property
    def closed(self) -> bool:
        """Whether close() or leave() was called."""
        return self._platform.closed()

    # --- jobs

    def submit(self, job: Union[Job, Path], *, name: Optional[str] = None,
               user: Optional[str] = None, code: Optional[Path] = None,
               work_dir: Optional[Path] = None, time: Optional[str] = None,
               after: After = (), virtual_cluster: Optional[str] = None,
               priority: Optional[Priority] = None,
               tags: Union[str, Iterable[str]] = ()) -> Handle:
        """Takes a job, or the job file at a path.

        When this returns the job is in the database, so a crash does not lose
        it.  Without a `name` it has its file's, or, if there is such a job,
        that with a number behind it: "train_2".  Its commands begin in
        `work_dir`, by default the working folder; or in `code`, which becomes
        the platform's own: it is moved if it lies in the root.

        Over what the file says, `time` is a time limit, as "90s" or "2h";
        `after` are jobs to wait for, handles or names as "prepare" and
        "prepare:ended"; `priority` is "prod", "test" or "oppo".
        """
        options = JobOptions.of(time, after, virtual_cluster, priority, tags)
        return self._submit(self._platform.submit, job, {
            "name": name, "user": user, "code_dir": code,
            "work_dir": work_dir}, options)

    async def submit_async(self, job: Union[Job, Path], *,
                           name: Optional[str] = None,
                           user: Optional[str] = None,
                           code: Optional[Path] = None,
                           work_dir: Optional[Path] = None,
                           time: Optional[str] = None, after: After = (),
                           virtual_cluster: Optional[str] = None,
                           priority: Optional[Priority] = None,
                           tags: Union[str, Iterable[str]] = ()) -> Handle:
        """The same on asyncio's loop, which goes on while the disk writes.

        Many at once share what is written: asyncio.gather().  The job is taken
        also if nobody waits for this any more.
        """
        options = JobOptions.of(time, after, virtual_cluster, priority, tags)
        handle = self._submit(self._platform.submit_soon, job, {
            "name": name, "user": user, "code_dir": code,
            "work_dir": work_dir}, options)
        promise = self._platform.promise()
        self._pump.poke()
        while promise.state() == 0:
            await self._pump.tick()
        promise.take()
        return handle

    def _submit(self, submit: Callable[["_facade.Job", bytes], int],
                job: Union[Job, Path], fields: Dict[str, Any],
                options: JobOptions) -> Handle:
        spec = _wanted(options.applied(
            job if isinstance(job, Job) else Job.load(job)))
        try:
            id = submit(spec, as_words(fields))
        except ExistsError:
            if fields["name"] is not None:
                raise
            id = _submit_anew(submit, spec, fields)
        self._pump.poke()
        handle = Handle(self, id)
        for tag in options.tags:
            handle.tag(tag)
        return handle

    def call(self, function: Callable[..., _T], /, *args: Any, name: str = "",
             gpu: int = 0, cpu: Union[int, float] = 1, memory: Optional[str] = None,
             **kwargs: Any) -> CallHandle[_T]:
        """Runs a function in a job of its own, in another Python.

            handle = platform.call(train, data, gpu=1, memory="8G", lr=0.1)
            model = handle.result()

        What it refers to goes along: functions and classes of a script as
        their source; those that were changed since, lambdas, closures and
        classes of a notebook by value; modules by import, all else pickled.  `memory` is as "512M" or "8G";
        without it the CPUs' share of the machine's.  options() says more, and
        takes no names away from the function.
        """
        check_own(function, {"name": name or None, "gpu": gpu or None,
                             "cpu": cpu if cpu != 1 else None,
                             "memory": memory})
        return self.options(name=name, gpu=gpu, cpu=cpu, memory=memory).call(
            function, *args, **kwargs)

    def map(self, function: Callable[..., _T], /, *iterables: Iterable[Any],
            limit: Optional[int] = None) -> Iterator[_T]:
        """Runs a function in a job for each item, `limit` jobs at a time or as
        many as there is room for; results come in the order of the items.

            losses = list(platform.map(train, [0.1, 0.01, 0.001], limit=2))

        options(...).map() says more.  What a call raised comes out in its
        place, StopIteration as JobFailed; whoever does not ask for more stops the jobs that are left.
        """
        return self.options().map(function, *iterables, limit=limit)

    def as_completed(self, handles: Iterable[_H],
                     timeout: Optional[float] = None) -> Iterator[_H]:
        """The handles, each when its job is over.  TimeoutError after so many
        seconds."""
        return as_completed(self, handles, timeout)

    def options(self, *, name: str = "", gpu: int = 0, cpu: Union[int, float] = 1,
                memory: Optional[str] = None, time: Optional[str] = None,
                after: After = (), virtual_cluster: Optional[str] = None,
                priority: Optional[Priority] = None,
                tags: Union[str, Iterable[str]] = ()) -> "CallOptions":
        """How functions are to be run: options(...).call(function, ...).

            slow = platform.options(gpu=1, time="2h", after=first)
            handle = slow.call(train, data, name="what train() calls so")

        The last five are those of submit().
        """
        return CallOptions(self, Wishes(
            name, gpu, cpu, memory, JobOptions.of(
                time, after, virtual_cluster, priority, tags)))

    def _ship(self, shipment: "_ship.Shipment", name: str, wishes: Wishes
              ) -> CallHandle[Any]:
        status = self.status
        job = wishes.job(name, status["machine"],
                         _call_job.folders(status["root"]))
        folder = shipment.pack(pathlib.Path(status["root"]))
        try:
            handle = CallHandle[Any](self, self.submit(job, code=folder).id,
                                     shipment.by_value.named())
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        for tag in wishes.options.tags:
            handle.tag(tag)
        return handle

    def job(self, name: Union[str, int]) -> Handle:
        """The job of that name, "name" or "user~name", or with that id."""
        if isinstance(name, str):
            return Handle(self, self._platform.find(name))
        self._platform.state(name)  # raises an error if there is no such job
        return Handle(self, name)

    def jobs(self, *, state: Union[None, str, Iterable[str]] = None,
             user: Union[None, str, Iterable[str]] = None,
             virtual_cluster: Union[None, str, Iterable[str]] = None,
             tag: Union[None, str, Iterable[str]] = None,
             keyword: Optional[str] = None, order: Optional[str] = None,
             offset: int = 0, limit: int = 0) -> Jobs:
        """Those on record, newest first; each filter may name several.

        `keyword` is looked for in users, names and virtual clusters; `order`
        is as "submissionTime,ASC"; `limit` 0 is 5000.
        """
        fields = {"states": listed(state, str.upper), "users": listed(user),
                  "virtual_clusters": listed(virtual_cluster),
                  "tags": listed(tag), "keyword": keyword, "order": order,
                  "offset": offset or None, "limit": limit or None}
        told = json.loads(self._platform.list(as_words(fields)))
        return Jobs(JobSummary.made(self, item) for item in told)

    @property
    def status(self) -> Dict[str, Any]:
        """What the platform is and does: its root, jobs by state, the machine
        and what of it is free, how limits are held, where tasks run."""
        result: Dict[str, Any] = json.loads(self._platform.status())
        return result

    def scheduler(self) -> Scheduler:
        """A copy of the platform's scheduler as it is now: to ask, to fork, and
        to drive on without any effect on the platform."""
        return Scheduler.load(self._platform.snapshot())

    def shadow(self, policy: PolicyLike, **options: object) -> Shadow:
        """A policy, of yours or a built-in one, that decides beside the
        platform's own from now on, without any effect on the platform: what it
        would have started, when, and where they differ."""
        return Shadow._of(self._platform.follow(), self._platform, policy,
                          options)

    @property
    def accounts(self) -> Accounts:
        """Users, groups, tokens, storages."""
        return Accounts(self._platform)

    @property
    def virtual_clusters(self) -> VirtualClusters:
        """Parts of the machine that jobs are held to; and its node."""
        return VirtualClusters(self._platform)

    def backup(self, path: Path) -> None:
        """Copies the database to a new file, while jobs run."""
        self._platform.backup(path)

    def export(self, path: Path) -> None:
        """Writes all that is on record to a file, a line of JSON each."""
        self._platform.save_all(path)

    def stop(self, job: Union[Handle, int]) -> None:
        """Asks a job to end, and kills it when asked a second time."""
        self._platform.stop(operator.index(job))
        self._pump.poke()

    def forget(self, job: Union[Handle, int], *, keep_files: bool = False
               ) -> Optional[str]:
        """Frees what is kept of a job that is over: of a durable platform all
        of it, with its logs; else its folder stays.

        For programs that run many jobs: a platform keeps them all otherwise.
        `keep_files` keeps the job's own folder, in a folder of the root that is
        returned; None if the job has none.
        """
        id = operator.index(job)
        if not keep_files:
            self._platform.forget(id)
            return None
        told: Dict[str, Optional[str]] = json.loads(
            self._platform.forget_keep(id))
        return told["kept"]

    def wait(self, job: Union[Handle, int]) -> Result:
        """Waits until a job is over.

        If on_event raises, the job it was told of is stopped, and when that is
        over the exception comes out.  Ctrl-C comes out at once.
        """
        try:
            state, code = self._platform.wait(operator.index(job))
            return Result(cast(State, state), code)
        finally:
            self._pump.poke()

    def state(self, job: Union[Handle, int]) -> State:
        """The job's state, as in Event.state."""
        return cast(State, self._platform.state(operator.index(job))[0])

    def code(self, job: Union[Handle, int]) -> Optional[int]:
        """The job's completion code, or None before its end."""
        return self._platform.state(operator.index(job))[1]

    def dir(self, job: Union[Handle, int]) -> str:
        """The folder with the job's logs."""
        return self._platform.dir(operator.index(job))

    # --- loops

    def _step(self, most_ms: int) -> None:
        """Waits once; a loop of asyncio's may have to look anew."""
        self._platform.step(most_ms)
        self._pump.poke()

    def attach(self) -> None:
        """Runs the platform on the asyncio loop that runs now, until it is
        closed, whether anybody awaits anything or not."""
        self._pump.hold()

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


def repair(root: Optional[Path] = None) -> Dict[str, Any]:
    """Makes a new database of what can be read in a root's broken one, which
    is kept beside it, and tells what came of it.  No platform may have it."""
    result: Dict[str, Any] = json.loads(_facade.repair_root(root))
    return result


class CallOptions:
    """How functions are to be run in jobs, from Platform.options()."""

    def __init__(self, platform: Platform, wishes: Wishes) -> None:
        self._platform, self._wishes = platform, wishes

    def map(self, function: Callable[..., _T], /, *iterables: Iterable[Any],
            limit: Optional[int] = None) -> Iterator[_T]:
        """As Platform.map(), with these options."""
        return map_calls(self, function, iterables, limit)

    def call(self, function: "Callable[_P, _T]", /, *args: "_P.args",
             **kwargs: "_P.kwargs") -> CallHandle[_T]:
        """As Platform.call(); all that is named here is the function's."""
        return self._platform._ship(_ship.call(function, args, kwargs),
                                    self._wishes.name_for(function),
                                    self._wishes)
