"""What is known of a job, of its tasks, and of jobs in a list."""
import datetime
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Tuple, Union)

from . import _cards
from ._errors import InvalidError
from ._schema import (
    Failure, JobItem, JobRecord, State, TaskRecord, _state, read_failure,
    read_job, read_job_item, read_task)

if TYPE_CHECKING:
    from ._handle import Handle
    from ._platform import Platform

FINAL = frozenset(("succeeded", "failed", "stopped"))


class Result(NamedTuple):
    """How a job ended."""
    state: State
    #: 0: success; 1..255: exit code of the task that decided it; negative:
    #: OpenPAI's.
    code: int

    @property
    def succeeded(self) -> bool:
        """Whether the job succeeded."""
        return self.state == "succeeded"


@dataclass(frozen=True)
class TaskStatus(TaskRecord):
    """What is known of a task."""
    role: str

    @property
    def name(self) -> str:
        """"role/index", which logs() and exec() take."""
        return "%s/%d" % (self.role, self.index)


@dataclass(frozen=True)
class JobStatus(JobRecord):
    """What is known of a job."""
    tasks: Tuple[TaskStatus, ...]
    #: The complete object of OpenPAI's REST API.
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


def make_status(told: Dict[str, Any]) -> JobStatus:
    """Of the detail object of the REST API."""
    return JobStatus(
        tasks=tuple(TaskStatus(role=role, **read_task(task))
                    for role, tasks in told["taskRoles"].items()
                    for task in tasks["taskStatuses"]),
        detail=told, **read_job(told))


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
    #: All reasons in words, and the suggested change; None if the job does not
    #: wait.
    explanation: Optional[str]
    #: The same as the scheduler's object: "lack", "failed", "change" ...
    change: Optional[Dict[str, Any]] = field(repr=False)
    #: The complete object of the API.
    detail: Dict[str, Any] = field(repr=False, compare=False)
    #: For a job of call() or %%pai: the error that the function raised.
    raised: Optional[str] = None

    @property
    def failure(self) -> Optional[Failure]:
        """What the output says of its failure, or of a job that waits to be
        tried again, of that of its last attempt, if that is known."""
        return read_failure(self.detail.get("failure"))

    @property
    def line(self) -> Optional[Dict[str, Any]]:
        """Its place in the queue: virtualCluster, order, place, waiting."""
        return self.detail.get("line")

    def __str__(self) -> str:
        lines = [reason.text for reason in self.reasons]
        if self.explanation:  # replaces the first, the scheduler's
            lines[:1] = [self.explanation]
        if lines and self.failure is not None:
            lines.append("its last attempt failed: " + self.failure.reason)
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
class JobSummary(JobItem):
    """A job in a list."""
    #: None in a client's list.
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
        return JobSummary(platform=platform, **read_job_item(told))


class Jobs(Tuple[JobSummary, ...]):
    """Jobs of a platform, which show themselves as a table."""
    __slots__ = ()

    def __str__(self) -> str:
        return _cards.jobs_text(self)

    def _repr_html_(self) -> str:
        return _cards.jobs_table(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # IPython in a terminal


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
