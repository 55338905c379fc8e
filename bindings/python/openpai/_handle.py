"""A job that was given to a platform."""
import dataclasses
import json
import pathlib
import time
from typing import (
    TYPE_CHECKING, Any, BinaryIO, Dict, Generator, Generic, List, Mapping,
    Optional, Tuple, TypeVar, cast)

from . import _cards, _job_files
from ._functions import call_job as _call_job
from ._functions import outcome as _outcome
from ._errors import Error, InvalidError, NotFoundError, TimedOutError
from ._exec import Command, Execution, command_words, exec_fields
from ._job import Path
from ._job_files import File, OfPlatform
from ._logs import Logs, Since, log_part
from ._functions.outcome import JobFailed, Outcome
from ._records import (
    FINAL, JobEvent, JobStatus, Result, TaskName, Why, make_event, make_status,
    make_why, task_name)
from ._schema import State
from ._functions.runner import SHIPPED

if TYPE_CHECKING:
    from . import facade as _facade
    from ._platform import Platform

_T = TypeVar("_T")


class Handle:
    """A job of a platform: what it does, its logs, its end.

        handle = platform.submit(job)
        for line in handle.logs(follow=True):
            print(line)
        print(handle.wait())          # or, with asyncio, await handle

    Two handles of a job are equal, and equal to its number.
    """
    __slots__ = ("_platform", "_id", "__weakref__")
    #: Of a call by this process: values sent by value, by their names in the
    #: job.
    _sent: Mapping[str, Any] = {}
    _is_own_call = False

    def __init__(self, platform: "Platform", id: int) -> None:
        self._platform = platform
        self._id = id

    @property
    def id(self) -> int:
        """The job's number, as in Event.job."""
        return self._id

    def __index__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Handle):
            return (self._id == other._id and
                    self._platform is other._platform)
        if isinstance(other, int):  # the id in Event.job
            return self._id == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        kind = type(self).__name__
        try:
            state = self.state
        except Exception:  # the platform is closed, or the job was removed
            return "<openpai.%s %d>" % (kind, self._id)
        try:
            name = ", " + self.name
        except Exception:  # the platform is not durable
            name = ""
        return "<openpai.%s %d%s: %s>" % (kind, self._id, name, state)

    # --- status

    @property
    def state(self) -> State:
        """As in Event.state."""
        return self._platform.state(self._id)

    @property
    def code(self) -> Optional[int]:
        """The completion code, or None before the end."""
        return self._platform.code(self._id)

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in FINAL

    @property
    def dir(self) -> str:
        """The folder with the job's logs."""
        return self._platform.dir(self._id)

    def show(self, attempt: Optional[int] = None) -> JobStatus:
        """All that is known, of the latest attempt or of another."""
        return make_status(json.loads(self._core().show(
            self._id, -1 if attempt is None else attempt)))

    @property
    def status(self) -> JobStatus:
        """All that is known now."""
        return self.show()

    @property
    def name(self) -> str:
        """"user~name", which platform.job() takes."""
        return "{0.user}~{0.name}".format(self.show())

    def why(self) -> Why:
        """Why it waits, or what ended it."""
        return make_why(json.loads(self._core().why(self._id)))

    def events(self, type: Optional[str] = None) -> Tuple[JobEvent, ...]:
        """What happened to it, the newest first; "Warning" for trouble."""
        told = json.loads(self._core().events(self._id, type))
        return tuple(map(make_event, told["data"]))

    def config(self) -> str:
        """Its file as it was submitted, with secrets masked."""
        return self._core().config(self._id, "yaml")

    def ssh(self) -> Dict[str, Any]:
        """How its running tasks are reached by ssh: "containers", each with
        taskRole, taskIndex, sshUser, sshIp, sshPort and hostKey, and
        "publicKey".  NotFoundError without the runtime plugin ssh."""
        return dict(json.loads(self._core().ssh(self._id)))

    def ssh_key(self) -> str:
        """The private key that opens them, if the job has made one."""
        return str(json.loads(self._core().ssh_key(self._id))["privateKey"])

    # --- changes

    def stop(self, *, now: bool = False) -> None:
        """Asks it to end; with `now`, or asked once more, kills it."""
        self._platform.stop(self._id)
        if now:
            try:
                self._platform.stop(self._id)
            except NotFoundError:
                pass  # the job is over already

    def rescale(self, role: str, tasks: int) -> None:
        """Gives a role more tasks, or fewer, while it runs."""
        self._core().rescale(self._id, role, tasks)
        self._platform._pump.poke()

    def forget(self, *, keep_files: bool = False) -> Optional[str]:
        """Removes the job, which is over, with its logs, records and files.
        `keep_files` keeps the job's own folder, in a folder of the root that is
        returned; None if the job has none."""
        return self._platform.forget(self._id, keep_files=keep_files)

    def tag(self, tag: str) -> None:
        """Adds a tag to the job."""
        self._core().tag(self._id, tag, True)

    def untag(self, tag: str) -> None:
        """Removes a tag from the job."""
        self._core().tag(self._id, tag, False)

    # --- waiting

    def wait(self, timeout: Optional[float] = None) -> Result:
        """Until it is over.  TimeoutError after so many seconds."""
        if timeout is None:
            return self._platform.wait(self._id)
        until = time.monotonic() + timeout
        while not self.is_over:
            left = until - time.monotonic()
            if left <= 0:
                raise TimedOutError("the job is not over after %g s" % timeout)
            self._platform._step(min(int(left * 1000) + 1, 250))
        return self._result()

    def _result(self) -> Result:
        return Result(self.state, self.code or 0)

    def result(self, timeout: Optional[float] = None) -> Any:
        """What the function of Platform.call(), or the last expression of a
        %%pai cell, returned, once the job is over.

        What it raised is raised.  JobFailed if the job failed in another way,
        was stopped or exited early.  NotFoundError for a job of another kind.
        The result is a pickle: that of another user's job is refused with
        PermissionDenied, and one of more than 1 GiB with LimitError."""
        __tracebackhide__ = True  # for IPython: the error is not from here
        return self._came_to(self.wait(timeout)).get()

    def _came_to(self, ended: Result) -> Outcome:
        """What result() returns or raises, of a job that is over."""
        status = self.show()
        found = self._found(status)
        if found is not None and (ended.succeeded or found.error is not None):
            return found
        if not ended.succeeded:
            return Outcome(error=self._failure(ended, status))
        if self._is_own_call or (self._folder(status) / SHIPPED).exists():
            return Outcome(error=_outcome.exited_early(
                status.name, self._last_lines(None)))
        raise _outcome.no_result()

    def _folder(self, status: JobStatus) -> pathlib.Path:
        return pathlib.Path(self._platform.status["root"], "code",
                            "%s~%s" % (status.user, status.name))

    def _found(self, status: JobStatus) -> Optional[Outcome]:
        # Jobs of all accounts may run as the same local user.
        if not self._is_own_call:
            _outcome.check_user(status.user, self._platform.status["user"])
        return _outcome.of_folder(self._folder(status), self._sent)

    def exception(self, timeout: Optional[float] = None
                  ) -> Optional[BaseException]:
        """What result() raises, once the job is over, or None."""
        ended = self.wait(timeout)
        try:
            return self._came_to(ended).error
        except Exception as error:
            return error

    def _failure(self, ended: Result, status: JobStatus) -> JobFailed:
        why = self.why()
        role = why.detail.get("role")
        return _call_job.failure(ended, status, why, self._last_lines(
            (role, why.detail.get("index") or 0) if role else None))

    def _last_lines(self, task: Optional[TaskName]) -> Tuple[str, ...]:
        try:
            return _call_job.last_lines(self._log(
                task, False, "all", {"last": _call_job.LAST_BYTES}).read())
        except Error:
            return ()  # there is no task, or the task has no logs

    async def _ended(self) -> Result:
        while not self.is_over:
            await self._platform._pump.end_of(self._id)
            if self._platform.closed:
                raise InvalidError("the platform was closed")
        return self._result()

    def __await__(self) -> Generator[Any, None, Result]:
        return self._ended().__await__()

    # --- commands

    def exec(self, command: Command = None, task: Optional[TaskName] = None,
             *, input: bytes = b"", tty: bool = False) -> Execution:
        """Begins a command in a task that runs: a list of words, or a line for
        sh(1); None is the user's shell.

            print(handle.exec("nvidia-smi").wait().stdout)
            done = await handle.exec(["tar", "x"], "worker/1", input=data)
            with handle.exec(["bash"], tty=True) as session: ...

        Of the job's first task, or of "role/index".  With `tty` it has a
        terminal.  It reads `input` and no more; but in a block, `with` or
        `async with`, one speaks with it while it runs: a Session, or an
        AsyncSession."""
        role, index = task_name(task) if task is not None else (None, 0)
        if role is None:
            role = next(iter(self.show().detail["taskRoles"]))
        return Execution(self._platform, self._id,
                         exec_fields(role, index, tty),
                         command_words(command), input)

    # --- logs

    def logs(self, task: Optional[TaskName] = None, *, follow: bool = False,
             name: str = "all", tail: Optional[int] = None,
             since: Optional[Since] = None, attempt: Optional[int] = None
             ) -> Logs:
        """Lines of what a task has printed: `for`, or `async for`.

        Of the job's first task, or of "role/index".  `follow` goes on until
        the task is over, also when it is tried again.  `name` is "stdout",
        "stderr", "all" (both) or "runtime": what openpai did to run it.
        `tail`: only so many lines at the end, and what comes then; `since`:
        only what was written at that time or later, or in that time before
        now, a timedelta.  The later of both places counts.
        """
        part = log_part(tail, since)
        if "ago" in part:
            part["since"] = round(time.time() * 1e6) - part.pop("ago")
        return self._log(task, follow, name, part, attempt)

    def _log(self, task: Optional[TaskName], follow: bool, name: str,
             part: Dict[str, int], attempt: Optional[int] = None) -> Logs:
        role, index = task_name(task) if task is not None else (None, 0)
        return Logs(self, role, index, follow, name, part, attempt)

    # --- files

    def files(self, path: Optional[str] = None, recursive: bool = False
              ) -> List[File]:
        """Files in the job's folder, or in a folder of it, sorted by path;
        `recursive`: with all that is in its folders.

            for file in handle.files("out"):
                print(file.path, file.size, file.modified)
        """
        return self._platform._block(_job_files.listed(
            self._source(), path, recursive))

    async def files_async(self, path: Optional[str] = None,
                          recursive: bool = False) -> List[File]:
        """The same on asyncio's loop."""
        return await self._platform._await(_job_files.listed(
            self._source(), path, recursive))

    def open_file(self, path: str) -> BinaryIO:
        """Opens a file of the job for reading, as open(path, "rb").

            with handle.open_file("out/metrics.json") as file:
                metrics = json.load(file)
        """
        return open(self._core().open_file(self._id, path).detach(), "rb")

    def download(self, path: Optional[str], to: Path) -> pathlib.Path:
        """Copies a file of the job to the path `to`, or into `to` if that is a
        folder; of a folder, or with None of the job's, all files go below `to`.
        Returns where that is.

        Files that are there already, with the same size and time of change,
        are not copied again.  Of links those are made that lead to something
        in the same folder."""
        return self._platform._block(_job_files.download(
            self._source(), path, to))

    async def download_async(self, path: Optional[str], to: Path
                             ) -> pathlib.Path:
        """The same on asyncio's loop, which goes on between pieces."""
        return await self._platform._await(_job_files.download(
            self._source(), path, to))

    def upload(self, local: Path, path: Optional[str] = None) -> None:
        """Copies a file to a path in the job's folder, or into a folder there
        if the path ends with "/" or is None; of a local folder all files go
        below the path.  Folders that are missing are made."""
        self._platform._block(_job_files.upload(self._source(), local, path))

    async def upload_async(self, local: Path, path: Optional[str] = None
                           ) -> None:
        """The same on asyncio's loop, which goes on between pieces."""
        await self._platform._await(_job_files.upload(
            self._source(), local, path))

    def _source(self) -> OfPlatform:
        return OfPlatform(self._platform, self._id)

    def _core(self) -> "_facade.Platform":
        return self._platform._platform

    # --- notebooks

    def _card(self, status: JobStatus) -> str:
        return _cards.job_card(status)

    def _repr_html_(self) -> str:
        return self._card(self.show())

    def _ipython_display_(self) -> None:
        _cards.show_live(self)


class CallHandle(Handle, Generic[_T]):
    """A job of call(): its result is what the function returns."""
    __slots__ = ("_sent",)
    _is_own_call = True

    def __init__(self, platform: "Platform", id: int,
                 sent: Mapping[str, Any]) -> None:
        super().__init__(platform, id)
        self._sent = sent

    def result(self, timeout: Optional[float] = None) -> _T:
        """What the function returned, once the job is over.

        What it raised is raised.  JobFailed if the job failed in another way,
        was stopped or exited early.  LimitError for a result of more than
        1 GiB.  TimeoutError after so many seconds."""
        __tracebackhide__ = True
        return cast(_T, super().result(timeout))

    async def result_async(self) -> _T:
        """The same on asyncio's loop, which goes on meanwhile.  JobFailed for
        StopIteration, which no coroutine can raise."""
        __tracebackhide__ = True
        return cast(_T, self._came_to(await self._ended()).get_in_generator())

    def why(self) -> Why:
        """Why it waits, or what ended it: what the function has raised."""
        told = super().why()
        return dataclasses.replace(told, raised=self._raised(told.state))

    def _raised(self, state: State) -> Optional[str]:
        try:
            found = self._found(self.show()) if state == "failed" else None
        except Error:
            return None  # the result cannot be read here
        return found.raised if found is not None else None

    def _card(self, status: JobStatus) -> str:
        return _cards.job_card(status, cause=self._raised(status.state))
