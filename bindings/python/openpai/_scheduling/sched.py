"""Schedulers: events go in, decisions come out."""
import json
import os
from typing import (
    IO, Any, BinaryIO, Dict, Iterable, Iterator, List, Mapping, Optional,
    Sequence, Tuple, Union)

from .. import facade as _facade
from .._allocation import Allocation
from .._cluster import Cluster
from .._fields import Decision, Policy, Reason, Want
from .._files import Writer, open_for
from .forecast import Futures
from .._job import Path
from .._objects import Closes
from .policy import PolicyLike, PolicyRef, SchedulingPolicy, policy_ref
from .queue import make_decisions, make_reason
from .._values import cpus as _cpus, made, text_or_bytes

_NEVER = 2 ** 63 - 1


WantLike = Union[Want, Mapping[str, Any]]
After = Union[int, Mapping[str, Any]]


class SchedulerView(Futures):
    """A scheduler to look at, as it is: of a simulation, or in a log."""
    __slots__ = ("_owner",)
    _owner: object

    @classmethod
    def _view(cls, sched: "_facade.Scheduler", owner: object
              ) -> "SchedulerView":
        made_now = cls.__new__(cls)
        made_now._sched = sched
        made_now._owner = owner  # keeps it alive
        return made_now

    def allocation(self, id: int, instance: int = 0) -> Allocation:
        """What an instance holds; NotFoundError: nothing."""
        return Allocation._of(self._sched.allocation(id, instance))

    def explain(self, id: int) -> str:
        """Why a request waits, and changes with which it would start now,
        in words."""
        return self._sched.explain(id).rstrip("\n")

    def reason(self, id: int) -> Reason:
        """The same as an object; its changes are events for send()."""
        return make_reason(self._sched.explain_json(id))

    def fork(self) -> "Scheduler":
        """A copy that goes on by itself from here, for what-if."""
        return Scheduler._of(self._sched.fork())

    def __copy__(self) -> "Scheduler":
        return self.fork()

    def __deepcopy__(self, memo: Dict[int, object]) -> "Scheduler":
        return self.fork()

    def save(self) -> str:
        """The whole state as one line of JSON."""
        return self._sched.save()

    def __str__(self) -> str:
        return str(self.requests)

    def __repr__(self) -> str:
        s = self.sums
        return ("<openpai.%s %r: %d nodes, %d of %d GPUs free, "
                "%d waiting, %d running>" % (
                    type(self).__name__, s.policy, s.nodes, s.free_gpus, s.gpus, s.waiting,
                    s.running))

    def _repr_html_(self) -> str:
        return self.requests._repr_html_()


class Scheduler(SchedulerView):
    """Decides who starts where, and why others wait.

        cluster = openpai.Cluster.synthetic("nodes:2 gpu:8:h100")
        scheduler = openpai.Scheduler(cluster, "fifo")
        scheduler.submit(1, tasks=2, gpus=8)
        for decision in scheduler.decide():
            print(decision.kind, decision.id, decision.tasks)
        scheduler.finished(1)

    It reads no clock and starts nothing: tell it what happened and when, and
    do what it decides.  Times are whole microseconds of a clock of yours; where
    none is given, it is the one of the event before.

    `policy` is the name of a built-in one, see policies(), or an object or
    class with decide(): see SchedulingPolicy.  `options` are the policy's own.
    To be used by one thread at a time; forks are apart.
    """
    __slots__ = ()

    def __init__(self, cluster: Cluster, policy: PolicyLike = "fifo", *,
                 first_port: int = 0, last_port: int = 0,
                 unchecked: bool = False, **options: object) -> None:
        self._sched = _facade.Scheduler.make(
            facade_cluster(cluster), json.dumps(options), first_port, last_port,
            unchecked, policy_ref(policy))

    @classmethod
    def _of(cls, sched: "_facade.Scheduler") -> "Scheduler":
        made_now = cls.__new__(cls)
        made_now._sched = sched
        return made_now

    @classmethod
    def load(cls, text: Union[str, bytes],
             policy: Optional[PolicyLike] = None,
             shadow: Optional[SchedulingPolicy] = None) -> "Scheduler":
        """Makes one of what save() has given, which goes on just as that one.

        Policies of yours are needed again, by the same names.  If `policy` is
        the name of a built-in one, that decides from now on.
        """
        return cls._of(_facade.Scheduler.load(
            text_or_bytes(text), policy_ref(policy), _own(shadow)))

    @classmethod
    def replay(cls, log: Union[Path, Iterable[Union[str, bytes]]],
               policy: Optional[PolicyLike] = None,
               shadow: Optional[SchedulingPolicy] = None
               ) -> Iterator[Decision]:
        """Does again what a log tells, of a file or of lines, and gives all
        decisions, which are the same as then; policies are those of load()."""
        if isinstance(log, (str, bytes, os.PathLike)):
            with open(log, encoding="utf-8") as lines:
                yield from cls._replay(lines, policy, shadow)
        else:
            yield from cls._replay(log, policy, shadow)

    @classmethod
    def _replay(cls, lines: Iterable[Union[str, bytes]],
                policy: Optional[PolicyLike],
                shadow: Optional[SchedulingPolicy]) -> Iterator[Decision]:
        scheduler = None
        for line in lines:
            if isinstance(line, bytes):
                line = line.decode()
            if scheduler is None:
                scheduler = cls.load(line, policy, shadow)
            elif line.strip() and scheduler._sched.send(line) > 0:
                yield from scheduler.decisions

    # --- events ---

    def send(self, event: Union[Mapping[str, Any], str]) -> None:
        """Tells of an event, as docs/internals/sched-log.md has it: a dict, or
        a line of JSON.  An event that cannot be true changes nothing."""
        if not isinstance(event, str):
            event = json.dumps({"time": self.now, **event},
                               ensure_ascii=False)
        self._sched.send(event)

    def _send(self, kind: str, time: Optional[int], **what: object) -> None:
        self._sched.send(json.dumps({
            "time": self._sched.now() if time is None else time,
            "event": kind,
            **{key: value for key, value in what.items()
               if value is not None}}, ensure_ascii=False))

    def submit(self, id: int, *, tasks: Optional[int] = None,
               gpus: Optional[int] = None,
               cpus: Union[int, float, None] = None,
               memory: Optional[int] = None, ports: Optional[int] = None,
               type: Optional[str] = None, min_tasks: Optional[int] = None,
               wants: Optional[Iterable[WantLike]] = None,
               name: Optional[str] = None, vc: Optional[str] = None,
               user: Optional[str] = None, pin: Optional[str] = None,
               within: Optional[str] = None, priority: Optional[int] = None,
               duration: Optional[int] = None, limit: Optional[int] = None,
               instances: Optional[int] = None, at_once: Optional[int] = None,
               held: bool = False, lazy: bool = False,
               after: Iterable[After] = (),
               time: Optional[int] = None) -> None:
        """A request: a gang of tasks that start together, or not at all.

        Equal tasks are described by tasks, gpus and so on; others by `wants`.
        `after` has ids of requests that must have finished well, or dicts
        {"id": 7, "when": "any"}.  NoRoomError: it could never start.
        """
        want = {"tasks": tasks, "gpus": gpus, "cpus": cpus, "memory": memory,
                "ports": ports, "type": type, "min_tasks": min_tasks}
        if wants is None:
            wants = [want]
        elif any(value is not None for value in want.values()):
            raise TypeError("tasks are described by `wants`, or without it")
        request = {
            "id": _id(id), "name": name, "vc": vc, "user": user, "pin": pin,
            "within": within, "priority": priority, "duration": duration,
            "limit": limit, "instances": instances, "at_once": at_once,
            "held": held or None, "lazy": lazy or None,
            "wants": [_given(w) for w in wants],
            "after": [a if isinstance(a, Mapping) else {"id": _id(a)}
                      for a in after] or None}
        self._send("submit", time, request=_given(request))

    def change(self, id: int, *, want: Optional[int] = None,
               time: Optional[int] = None, **what: object) -> None:
        """Changes a request: change(7, priority=5, held=False).

        What can be changed of one that runs as well, <openpai/sched.h> tells.
        Of several changes, those before one that fails stay.
        """
        for key, value in what.items():
            if isinstance(value, bool):
                value = int(value)
            elif key == "cpus":
                value = _cpus("cpus", value)
            moment = self._sched.now() if time is None else time
            event = {"time": moment, "event": "change", "id": _id(id),
                     "key": key, "value": value}
            if want is not None:
                event["want"] = want
            self._sched.send(json.dumps(event, ensure_ascii=False))

    def cancel(self, id: int, instance: Optional[int] = None, *,
               time: Optional[int] = None) -> None:
        """What waits is gone, what runs is to be stopped."""
        self._send("cancel", time, id=_id(id), instance=instance)

    def started(self, id: int, instance: int = 0, *,
                time: Optional[int] = None) -> None:
        """It has begun to run; its limit and duration count from here."""
        self._send("started", time, id=_id(id), instance=instance)

    def finished(self, id: int, instance: int = 0, ok: bool = True, *,
                 time: Optional[int] = None) -> None:
        """It is over, and holds nothing."""
        self._send("finished", time, id=_id(id), instance=instance,
                   code=0 if ok else 1)

    def returned(self, id: int, instance: int = 0, *,
                 time: Optional[int] = None) -> None:
        """It was stopped or not begun, and waits again where it was."""
        self._send("returned", time, id=_id(id), instance=instance)

    def resized(self, id: int, instance: int = 0, *,
                time: Optional[int] = None) -> None:
        """What a "shrink" took is not in use any more."""
        self._send("resized", time, id=_id(id), instance=instance)

    def node(self, name: str, state: str, why: Optional[str] = None, *,
             gpu: Optional[int] = None, time: Optional[int] = None) -> None:
        """A node, or one of its GPUs, is "up", "drain" or "sick" now."""
        self._send("node", time, node=name, state=state, why=why, gpu=gpu)

    def reserve(self, name: str, *, start: int = 0,
                end: Optional[int] = None,
                nodes: Optional[Sequence[str]] = None,
                vc: Optional[str] = None, user: Optional[str] = None,
                time: Optional[int] = None) -> None:
        """Keeps nodes, or all, for some, or for nobody, from `start` to `end`,
        or for ever."""
        kept = {"name": name, "from": start, "to": end, "vc": vc,
                "user": user,
                "nodes": list(nodes) if nodes is not None else None}
        self._send("reserve", time, reservation=_given(kept))

    def unreserve(self, name: str, *, time: Optional[int] = None) -> None:
        """Ends a reservation."""
        self._send("unreserve", time, name=name)

    def cluster(self, new: Cluster, *, time: Optional[int] = None) -> None:
        """From now on it is this one; nodes are the same by their names."""
        self._sched.cluster(facade_cluster(new),
                            self._sched.now() if time is None else time)

    def set_policy(self, policy: PolicyLike, *, time: Optional[int] = None,
                   **options: object) -> None:
        """From now on this policy decides; what runs goes on."""
        self._set(False, policy, time, options)

    def set_shadow(self, policy: Optional[PolicyLike], *,
                   time: Optional[int] = None, **options: object) -> None:
        """It decides beside the one that counts, without effect: see sums, and
        shadow_decisions.  None: no more.

        One of yours is told of events, and a copy of it is asked each time.
        """
        self._set(True, policy, time, options)

    def _set(self, beside: bool, policy: Optional[PolicyLike],
             time: Optional[int], options: Mapping[str, object]) -> None:
        self._sched.policy(self._sched.now() if time is None else time,
                           beside, json.dumps(options) if options else None,
                           policy_ref(policy))

    # --- decisions ---

    def decide(self, now: Optional[int] = None) -> List[Decision]:
        """Lets the policy decide.  What its decide() raises comes out as it
        is; what was decided before is in `decisions`."""
        return make_decisions(self._sched.decide(
            self._sched.now() if now is None else now))

    @property
    def decisions(self) -> List[Decision]:
        """Those of the last decide(), until something changes."""
        return make_decisions(self._sched.decisions())

    @property
    def shadow_decisions(self) -> Optional[List[Decision]]:
        """What the shadow would have decided in the last decide(), until
        something changes; None: there is none, or it has failed."""
        told = self._sched.beside()
        return make_decisions(told) if told != "null" else None

    @property
    def next_time(self) -> Optional[int]:
        """When decide() should be called though nothing happens; None:
        never."""
        time = self._sched.next_time()
        return time if time != _NEVER else None

    # --- persistence ---

    def log(self, file: Union[Path, Writer, BinaryIO, None], *,
            snapshots: bool = False, every: int = 0) -> "Log":
        """From now on each event and decision is written, behind the state as
        it is now, to a file that is begun anew, or to an open one, of text or
        of bytes, or any object with write(); None: no more.
        `with scheduler.log(path):` ends it, too.

        With snapshots in its middle, one may go to any time of it quickly: see
        Replay; between them are so many bytes at least, 64 KiB for 0."""
        self._sched.log_options(snapshots, every)
        if file is None:
            self._sched.log(None)
            return Log(self, None)
        # Line-buffered: a line is in the file when the call of its event
        # returns.
        opened, writer = open_for(file, 1)
        try:
            self._sched.log(writer)
        except BaseException:
            if opened is not None:
                opened.close()
            raise
        return Log(self, opened)


class Log(Closes):
    """A log that is being written; ends at the end of a `with` block."""
    __slots__ = ("_scheduler", "_file")

    def __init__(self, scheduler: Scheduler,
                 file: Optional[IO[str]]) -> None:
        self._scheduler = scheduler
        self._file = file

    def __repr__(self) -> str:
        return "<openpai.Log%s>" % (
            " %r" % self._file.name if self._file is not None else "")

    def close(self) -> None:
        """Ends it."""
        self._scheduler._sched.log(None)
        if self._file is not None:
            self._file.close()


def policies() -> Tuple[Policy, ...]:
    """The built-in policies."""
    return made(Policy, json.loads(_facade.policies()))


def facade_cluster(cluster: object) -> "_facade.Cluster":
    if not isinstance(cluster, Cluster):
        raise TypeError("a Cluster is wanted, not %s"
                        % type(cluster).__name__)
    return cluster._cluster


def _own(policy: Optional[SchedulingPolicy]) -> PolicyRef:
    if isinstance(policy, str):
        raise TypeError("a shadow is a policy of yours: built-in ones are "
                        "known by their names")
    return policy_ref(policy)


def _id(id: int) -> Union[int, str]:
    """As the library's JSON has it."""
    return id if not isinstance(id, int) or id <= _NEVER else str(id)


def _given(fields: WantLike) -> Dict[str, Any]:
    """Without what is None."""
    if isinstance(fields, Want):
        fields = fields._asdict()
    return {key: _cpus(key, value) if key == "cpus" else value
            for key, value in fields.items() if value is not None}
