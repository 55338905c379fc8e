"""What schedulers show: requests, nodes, places, decisions, reasons.

Times are microseconds, as whole numbers; memory is bytes.
"""
import json
from dataclasses import dataclass, field
from typing import (
    Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence,
    Tuple, overload, Union)

from . import facade as _facade
from ._report import html_table
from ._values import made


@dataclass(frozen=True)
class Place:
    """Where a task is."""
    #: Of its request, and in that, both from 0.
    want: int
    index: int
    node: str
    gpus: Tuple[int, ...] = ()
    #: As "0-3,8"; "": none are given out.
    cpus: str = ""
    ports: Tuple[int, ...] = ()
    memory: int = 0
    #: Of its want.
    name: Optional[str] = None


@dataclass(frozen=True)
class Decision:
    """What is to be done."""
    #: "start", "stop", "grow" or "shrink".
    kind: str
    id: int
    instance: int
    #: How many tasks it has now.
    count: int
    time: int
    #: Where they are; of a stop none.
    tasks: Tuple[Place, ...] = ()
    #: Of a stop: "preempted", "cancelled" or "limit".
    cause: Optional[str] = None
    #: The request for which it is stopped.
    by: Optional[int] = None
    #: Of "grow" and "shrink": which want.
    want: Optional[int] = None
    #: Whether the scheduler and its shadow both decided that; None: it has none.
    agreed: Optional[bool] = None


class Want(NamedTuple):
    """What each of some equal tasks is given."""
    tasks: int = 1
    gpus: int = 0
    cpus: int = 0
    #: Bytes.
    memory: int = 0
    ports: int = 0
    #: A kind of GPU or a SKU; None: any one.
    type: Optional[str] = None
    #: It is willing to run with so many; None: all of them.
    min_tasks: Optional[int] = None
    #: Of the task role.
    name: Optional[str] = None


@dataclass(frozen=True)
class Request:
    """A request, as it was when it was asked for."""
    id: int
    #: "waiting", "running" or "stopping".
    state: str
    #: Of two requests, the lower came first.
    turn: int
    submitted: int
    duration: int
    limit: int
    priority: int
    instances: int
    at_once: int
    held: bool
    lazy: bool
    #: How many others it is, or was, to come after.
    after: int
    #: Instances.
    waiting: int
    running: int
    finished: int
    failed: int
    wants: Tuple[Want, ...]
    name: Optional[str] = None
    vc: Optional[str] = None
    user: Optional[str] = None
    pin: Optional[str] = None
    within: Optional[str] = None
    #: Why it waits, in one word; None: it was not looked at.
    lack: Optional[str] = None


class SchedNode(NamedTuple):
    """A node, as it was when it was asked for."""
    number: int
    name: str
    #: "up", "drain" or "sick".
    state: str
    gpus: int
    #: Their numbers; free ones are not sick.
    free_gpus: Tuple[int, ...]
    sick_gpus: Tuple[int, ...]
    #: 0: not known, nobody counts them.
    cpus: int
    free_cpus: int
    memory: int
    free_memory: int
    why: Optional[str] = None


class SchedVirtualCluster(NamedTuple):
    """A virtual cluster, and what is in use of it."""
    name: str
    #: False: the cluster has no shares, and it may have all.
    limited: bool
    #: Its own GPUs, those of its guaranteed and of its opportunistic ones.
    gpus: int
    used: int
    lent: int
    #: Requests, and instances.
    waiting: int
    running: int


class Running(NamedTuple):
    """An instance that holds its place."""
    id: int
    instance: int
    started: int


class SchedSums(NamedTuple):
    """A scheduler in numbers."""
    policy: str
    #: Of the last event or decision.
    now: int
    #: Taken so far.
    events: int
    nodes: int
    virtual_clusters: int
    gpus: int
    free_gpus: int
    #: All there are, those that wait, and instances that run.
    requests: int
    waiting: int
    running: int
    #: Since there is a shadow: decisions, its own, those that were the same,
    #: and times it could not decide.
    live_decisions: int
    shadow_decisions: int
    shadow_agreed: int
    shadow_failed: int
    shadow: Optional[str] = None


@dataclass(frozen=True)
class Reason:
    """Why a request waits."""
    id: int
    #: What decided, as "gpu"; "": it does not wait, or was not looked at.
    lack: str = ""
    #: What lacked the next task.
    of: str = ""
    #: Of which the first task without a place is; tasks that had one; of all.
    want: int = 0
    placed: int = 0
    tasks: int = 0
    #: Of what lacks, and what there was, for the nearest miss.
    wanted: int = 0
    found: int = 0
    node: Optional[str] = None
    #: The request it waits for.
    behind: Optional[int] = None
    #: It will not start before, as planned.
    until: Optional[int] = None
    #: What the policy says.
    text: Optional[str] = None
    #: How many nodes failed, for each lack.
    nodes_failed: Dict[str, int] = field(default_factory=dict, hash=False)
    #: Changes with which it would start now, of one thing where that is
    #: enough: events, of the request itself, and of others.
    own_change: Tuple[Dict[str, Any], ...] = field(default=(), hash=False)
    other_change: Tuple[Dict[str, Any], ...] = field(default=(), hash=False)
    #: Something has changed since it was looked at: it starts at the next
    #: decide().
    starts: bool = False


class Policy(NamedTuple):
    """A built-in policy."""
    name: str
    #: Guaranteed requests may get more than their virtual cluster owns.
    lends: bool
    about: Optional[str] = None


class Queue(Sequence[Request]):
    """Requests by turn; a notebook shows them as a table."""
    __slots__ = ("_requests",)

    def __init__(self, requests: Iterable[Request]) -> None:
        self._requests = tuple(requests)

    def __len__(self) -> int:
        return len(self._requests)

    @overload
    def __getitem__(self, index: int) -> Request: ...
    @overload
    def __getitem__(self, index: slice) -> Tuple[Request, ...]: ...

    def __getitem__(self, index: Union[int, slice]
                    ) -> Union[Request, Tuple[Request, ...]]:
        return self._requests[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Queue) and self._requests == other._requests

    def __hash__(self) -> int:
        return hash(self._requests)

    def _rows(self) -> Iterator[List[str]]:
        for r in self:
            yield [str(r.id), r.name or "", r.user or "", r.vc or "",
                   str(r.priority), ", ".join(map(_in_words, r.wants)),
                   str(r.waiting), str(r.running), r.lack or ""]

    def __str__(self) -> str:
        rows = [list(_HEAD), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(
            cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
            for row in rows)

    def __repr__(self) -> str:
        return "<openpai.Queue: %d requests>" % len(self)

    def _repr_html_(self) -> str:
        return html_table(_HEAD, self._rows())


_HEAD = ("id", "name", "user", "vc", "priority", "wants", "waiting",
         "running", "lacks")


def _in_words(want: Want) -> str:
    parts = ["%d %s" % (number, name) for number, name in (
        (want.gpus, want.type or "GPU"), (want.cpus, "CPU")) if number]
    return "%d × %s" % (want.tasks, " + ".join(parts) or "nothing")


# --- of what the facade tells ------------------------------------------------

def make_places(listed: Iterable[Dict[str, Any]]) -> Tuple[Place, ...]:
    return made(Place, listed)


def make_decisions(text: str) -> List[Decision]:
    return [_decision(told) for told in json.loads(text)]


def _decision(told: Dict[str, Any]) -> Decision:
    by = told.get("by")
    return Decision(
        told["decision"], int(told["id"]), told["instance"], told["tasks"],
        told["time"], make_places(told.get("places", ())), told.get("cause"),
        int(by) if by is not None else None, told.get("want"),
        told.get("agreed"))


def _request(told: Dict[str, Any]) -> Request:
    told["id"] = int(told["id"])
    told["wants"] = made(Want, told["wants"])
    return Request(**told)


def make_reason(text: str) -> Reason:
    told = json.loads(text)
    for name in ("id", "behind"):
        if name in told:
            told[name] = int(told[name])
    told["nodes_failed"] = told.pop("failed", {})
    for name in ("own_change", "other_change"):
        told[name] = tuple(told.get(name, ()))
    return Reason(**told)


class Views:
    """What a scheduler shows, and a policy's host as well."""
    __slots__ = ("_sched", "__weakref__")
    _sched: "_facade.Scheduler"

    @property
    def now(self) -> int:
        """The time of the last event or decision, in microseconds."""
        return self._sched.now()

    @property
    def sums(self) -> SchedSums:
        """The scheduler in numbers."""
        return SchedSums(**json.loads(self._sched.sums()))

    @property
    def requests(self) -> Queue:
        """All requests that are not done."""
        return Queue(map(_request, json.loads(self._sched.requests())))

    @property
    def queue(self) -> Queue:
        """Those of which something waits."""
        return Queue(r for r in self.requests if r.waiting > 0)

    def request(self, id: int) -> Request:
        """One request; NotFoundError: there is none."""
        return _request(json.loads(self._sched.request(id)))

    @property
    def nodes(self) -> Tuple[SchedNode, ...]:
        """The nodes, in the cluster's order."""
        return made(SchedNode, json.loads(self._sched.nodes()))

    @property
    def virtual_clusters(self) -> Tuple[SchedVirtualCluster, ...]:
        """The virtual clusters."""
        return made(SchedVirtualCluster,
                    json.loads(self._sched.virtual_clusters()))

    @property
    def running(self) -> Tuple[Running, ...]:
        """The instances that hold places."""
        return tuple(Running(int(r["id"]), r["instance"], r["started"])
                     for r in json.loads(self._sched.running()))

    def places(self, id: int, instance: int = 0) -> Tuple[Place, ...]:
        """Where the tasks of an instance are; NotFoundError: nowhere."""
        return make_places(json.loads(self._sched.places(id, instance)))
