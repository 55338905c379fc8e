"""What is known of a job, of its tasks, and of jobs in a list."""
import datetime
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING, Any, Dict, Literal, NamedTuple, Optional, Tuple, Union,
    cast)

from . import _cards
from ._errors import InvalidError

if TYPE_CHECKING:
    from ._handle import Handle
    from ._platform import Platform

FINAL = frozenset(("succeeded", "failed", "stopped"))


#: Of a job, or of a task.
State = Literal["waiting", "running", "stopping", "succeeded", "failed",
                "stopped"]


def _state(told: str) -> State:
    return cast(State, told.lower())


class Result(NamedTuple):
    """How a job ended."""
    state: State
    #: 0 success, 1..255 the deciding task's exit code, negative the platform's.
    code: int

    @property
    def succeeded(self) -> bool:
        """Whether the job succeeded."""
        return self.state == "succeeded"


def _time(milliseconds: Optional[int]) -> Optional[datetime.datetime]:
    if not milliseconds:
        return None
    return datetime.datetime.fromtimestamp(milliseconds / 1000,
                                           datetime.timezone.utc)


@dataclass(frozen=True)
class Failure:
    """A known failure, found in what the task printed."""
    #: Its kind, as "module-missing".
    name: str
    #: What went wrong, in a sentence.
    reason: str
    #: What can be done.
    solution: Tuple[str, ...]
    #: The line that it was found in, or None.
    line: Optional[str]


def _make_failure(told: Optional[Dict[str, Any]]) -> Optional[Failure]:
    if not told:
        return None
    return Failure(told["name"], told["reason"], tuple(told["solution"]),
                   told.get("line"))


@dataclass(frozen=True)
class TaskStatus:
    """What is known of a task."""
    role: str
    index: int
    state: State
    code: Optional[int]
    retries: int
    node: Optional[str]
    ports: Dict[str, str]
    gpus: Tuple[Dict[str, Any], ...]
    started: Optional[datetime.datetime]
    ended: Optional[datetime.datetime]
    #: What its code means, and how it ended, or None.
    reason: Optional[str]
    diagnostics: Optional[str] = field(repr=False, default=None)
    #: In what its latest start runs, where that is not what is usual.
    runtime: Optional[str] = field(repr=False, default=None)
    #: Some of its output is in no log, because the disk was full.
    output_lost: bool = False
    #: What its output says of its failure, if that is known.
    failure: Optional[Failure] = field(repr=False, default=None)

    @property
    def name(self) -> str:
        """"role/index", which logs() and exec() take."""
        return "%s/%d" % (self.role, self.index)


@dataclass(frozen=True)
class JobStatus:
    """What is known of a job."""
    name: str
    user: str
    state: State
    code: Optional[int]
    #: Which attempt this is, from 0, and how many there were before it.
    attempt: int
    retries: int
    virtual_cluster: str
    submitted: Optional[datetime.datetime]
    started: Optional[datetime.datetime]
    ended: Optional[datetime.datetime]
    tags: Tuple[str, ...]
    tasks: Tuple[TaskStatus, ...]
    #: Why it ended, in a line, or None.
    reason: Optional[str]
    #: Some output of its tasks is in no log, because the disk was full.
    output_lost: bool
    #: What the output says of its failure, if that is known.
    failure: Optional[Failure]
    #: The object of OpenPAI's REST API, whole.
    detail: Dict[str, Any] = field(repr=False, compare=False)

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in FINAL

    @property
    def seconds(self) -> Optional[float]:
        """How long it ran, or has run by now; None before its start."""
        if self.started is None:
            return None
        end = self.ended or datetime.datetime.now(datetime.timezone.utc)
        return max((end - self.started).total_seconds(), 0.0)

    def _repr_html_(self) -> str:
        return _cards.job_card(self)


def _make_task(role: str, told: Dict[str, Any]) -> TaskStatus:
    spec = told.get("containerExitSpec") or {}
    return TaskStatus(
        role=role, index=told["taskIndex"], state=_state(told["taskState"]),
        code=told.get("containerExitCode"), retries=told.get("retries") or 0,
        node=told.get("containerNodeName"),
        ports=dict(told.get("containerPorts") or {}),
        gpus=tuple(told.get("containerGpus") or ()),
        started=_time(told.get("launchedTime")),
        ended=_time(told.get("completedTime")), reason=spec.get("reason"),
        diagnostics=told.get("containerExitDiagnostics"),
        runtime=told.get("runtime"),
        output_lost=bool(told.get("outputLost")),
        failure=_make_failure(told.get("failure")))


def make_status(told: Dict[str, Any]) -> JobStatus:
    """Of the detail object of the REST API."""
    job = told["jobStatus"]
    return JobStatus(
        name=told["name"], user=job["username"], state=_state(job["state"]),
        code=job.get("appExitCode"), attempt=job.get("attemptId") or 0,
        retries=job.get("retries") or 0,
        virtual_cluster=job.get("virtualCluster") or "default",
        submitted=_time(job.get("submissionTime")),
        started=_time(job.get("launchedTime")),
        ended=_time(job.get("completedTime")),
        tags=tuple(told.get("tags") or ()),
        tasks=tuple(_make_task(role, task)
                    for role, tasks in told["taskRoles"].items()
                    for task in tasks["taskStatuses"]),
        reason=(job.get("appExitSpec") or {}).get("reason"),
        output_lost=bool(job.get("outputLost")),
        failure=_make_failure(job.get("failure")), detail=told)


@dataclass(frozen=True)
class WhyReason:
    """One reason why a job waits."""
    code: str
    text: str
    nodes: int = 0


@dataclass(frozen=True)
class Why:
    """Why a job waits; or, of one that does not, what ended it."""
    state: State
    reasons: Tuple[WhyReason, ...]
    #: All reasons in words, and what would let it start; None of a job that
    #: does not wait.
    explanation: Optional[str]
    #: The same as the scheduler's object: "lack", "failed", "change" ...
    change: Optional[Dict[str, Any]] = field(repr=False)
    #: The object of the API, whole.
    detail: Dict[str, Any] = field(repr=False, compare=False)
    #: What the function has raised, of a job of call() or %%pai.
    raised: Optional[str] = None

    @property
    def failure(self) -> Optional[Failure]:
        """What the output says of its failure, if that is known."""
        return _make_failure(self.detail.get("failure"))

    @property
    def line(self) -> Optional[Dict[str, Any]]:
        """Its place in the queue: virtualCluster, order, place, waiting."""
        return self.detail.get("line")

    def __str__(self) -> str:
        lines = [reason.text for reason in self.reasons]
        if self.explanation:  # in its words, the first is the scheduler's
            lines[:1] = [self.explanation]
        if not lines:
            told = (self.detail.get("failure") or
                    self.detail.get("exitSpec") or {})
            lines = [text for text in (self.detail.get("trigger"), self.raised
                                       or told.get("reason")) if text]
        return "\n".join([self.state, *lines])


def make_why(told: Dict[str, Any]) -> Why:
    return Why(_state(told["state"]), tuple(
        WhyReason(reason["code"], reason["text"], reason["nodes"])
        for reason in told["reasons"]),
        told.get("explanation"), told.get("change"), told)


@dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job, as it is on record."""
    time: datetime.datetime
    #: "Normal" or "Warning".
    type: str
    reason: str
    message: str
    #: "role/index", or None in an event of the job.
    task: Optional[str]


def make_event(told: Dict[str, Any]) -> JobEvent:
    stamp = told["lastTimestamp"].replace("Z", "+00:00")
    role = told.get("taskroleName")
    return JobEvent(
        datetime.datetime.fromisoformat(stamp), told["type"], told["reason"],
        told["message"],
        "%s/%s" % (role, told.get("taskIndex")) if role else None)


@dataclass(frozen=True)
class JobSummary:
    """A job in a list."""
    name: str
    user: str
    state: State
    code: Optional[int]
    retries: int
    tasks: int
    gpus: int
    virtual_cluster: str
    priority: Optional[str]
    tags: Tuple[str, ...]
    submitted: Optional[datetime.datetime]
    started: Optional[datetime.datetime]
    ended: Optional[datetime.datetime]
    #: Some output of its tasks is in no log, because the disk was full.
    output_lost: bool
    #: None in a list of a client's.
    platform: "Optional[Platform]" = field(repr=False, compare=False)

    @property
    def full_name(self) -> str:
        """"user~name", which platforms and clients take."""
        return "%s~%s" % (self.user, self.name)

    @property
    def handle(self) -> "Handle":
        """The job's handle, of a platform's jobs."""
        if self.platform is None:
            raise InvalidError("a client's jobs have no handle: ask the client "
                               "for %s" % self.full_name)
        return self.platform.job(self.full_name)

    @staticmethod
    def made(platform: "Optional[Platform]", told: Dict[str, Any]) -> "JobSummary":
        """Of an item of the API's list."""
        return JobSummary(
            name=told["name"], user=told["username"],
            state=_state(told["state"]), code=told.get("appExitCode"),
            retries=told.get("retries") or 0,
            tasks=told.get("totalTaskNumber") or 0,
            gpus=told.get("totalGpuNumber") or 0,
            virtual_cluster=told.get("virtualCluster") or "default",
            priority=told.get("jobPriority"),
            tags=tuple(told.get("tags") or ()),
            submitted=_time(told.get("submissionTime")),
            started=_time(told.get("launchedTime")),
            ended=_time(told.get("completedTime")),
            output_lost=bool(told.get("outputLost")), platform=platform)


class Jobs(Tuple[JobSummary, ...]):
    """Jobs of a platform, which show themselves as a table."""
    __slots__ = ()

    def __str__(self) -> str:
        return _cards.jobs_text(self)

    def _repr_html_(self) -> str:
        return _cards.jobs_table(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # IPython on a terminal


TaskName = Union[str, Tuple[str, int]]


def task_name(name: TaskName) -> Tuple[str, int]:
    """("worker", 1) of "worker/1", or of itself; of a role its first."""
    if not isinstance(name, str):
        role, index = name
        return role, index
    role, slash, number = name.rpartition("/")
    if not slash:
        return name, 0
    if not number.isdecimal():
        raise ValueError("a task is ROLE/INDEX, not %r" % name)
    return role, int(number)
