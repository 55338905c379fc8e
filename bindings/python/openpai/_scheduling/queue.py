"""What schedulers show: requests, nodes, places, decisions, reasons.

Times are microseconds, as whole numbers; memory is bytes.
"""
import json
from typing import Any, Dict, Iterable, Iterator, List, Tuple

from .._fields import (
    Place, Decision, Want, Request, SchedNode, SchedVirtualCluster, Running,
    SchedSums, Reason)
from .. import facade as _facade
from .._objects import Listed
from .._report import html_table
from .._values import made


class Queue(Listed[Request]):
    """Requests by turn; a notebook shows them as a table."""
    __slots__ = ()

    def __init__(self, requests: Iterable[Request]) -> None:
        self._all = tuple(requests)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Queue) and self._all == other._all

    def __hash__(self) -> int:
        return hash(self._all)

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
    parts = ["%s %s" % (number, name) for number, name in (
        (want.gpus, want.type or "GPU"), (want.cpus, "CPU")) if number]
    return "%d × %s" % (want.tasks, " + ".join(parts) or "nothing")


# --- objects of the facade ---------------------------------------------------

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
