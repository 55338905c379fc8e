"""The life of a job: events go in, actions come out."""
import json
from typing import Any, Dict, Optional, Tuple

from .._fields import (
    Action, LifeTask, LifeRole, LifeStatus)
from .. import facade as _facade
from .._job import Job
from .._objects import Copied
from .._values import made


class Life(Copied):
    """What becomes of a job, for who starts its tasks in a way of their own.

        life = openpai.Life(openpai.Job.load("job.yaml"))
        while (action := life.next()):
            ...  # do it: "queue" asks for room
        life.send("placed", time=now)
        ...

    Whether it is decided, what is tried again and when, what is stopped
    meanwhile, is OpenPAI's.  It knows no clock: times are microseconds of the
    caller's.  To be used by one thread at a time.
    """
    __slots__ = ("_life", "__weakref__")
    _life: "_facade.Life"

    def __init__(self, job: Job, *, seed: int = 0, gang: bool = False,
                 raw: bool = False, own_signals: bool = False) -> None:
        """`seed` is that of delays; `gang`: all tasks start together, whatever
        the job says; `raw`: nobody looks into why commands fail, so that their
        codes mean nothing but that; `own_signals`: a signal that ends a
        command is not the platform's, so that it is no transient failure."""
        self._life = _facade.Life.make(job._spec, seed, gang, raw,
                                       own_signals)

    @classmethod
    def load(cls, saved: bytes) -> "Life":
        """Goes on from what save() gave."""
        life = cls.__new__(cls)
        life._life = _facade.Life.load(saved)
        return life

    def save(self) -> bytes:
        """All of its state."""
        return bytes.fromhex(self._life.save())

    def copy(self) -> "Life":
        """Another life in the same state."""
        return self.load(self.save())

    def __reduce__(self) -> Tuple[Any, ...]:
        return Life.load, (self.save(),)

    def send(self, kind: str, task: int = 0, count: Optional[int] = None, *,
             code: int = 0, time: int = 0) -> None:
        """Tells what has happened: "placed", "started", "ended", "preempted",
        "stop", "impatient" or "due", of one task if not said otherwise; placed
        and preempted are all.  InvalidError: that cannot be."""
        if count is None:
            count = 0 if kind in ("placed", "preempted") else 1
        self._life.send(kind, task, count, code, time)

    def next(self, most: int = 1) -> Optional[Action]:
        """The next thing to do, for so many tasks at most; None: nothing."""
        for fields in json.loads(self._life.next(most)):
            return Action(**fields)
        return None

    def rescale(self, role: int, tasks: int, *, time: int = 0) -> None:
        """From now on a role has so many tasks."""
        self._life.rescale(role, tasks, time)

    @property
    def status(self) -> LifeStatus:
        """How it is now."""
        fields = json.loads(self._life.look())
        fields["roles"] = made(LifeRole, fields["roles"])
        fields["tasks"] = made(LifeTask, fields["tasks"])
        return LifeStatus(**fields)

    def __repr__(self) -> str:
        status = self.status
        return "<openpai.Life: %s, %d of %d tasks alive>" % (
            status.state, status.alive, len(status.tasks))


def exit_spec(code: int) -> Dict[str, Any]:
    """What OpenPAI says of a completion code, as in its REST API."""
    entry: Dict[str, Any] = json.loads(_facade.exit_entry(code))
    return entry


def exit_codes() -> Tuple[int, ...]:
    """All codes that have an entry, in the order in which they are tried."""
    return tuple(json.loads(_facade.exit_codes()))
