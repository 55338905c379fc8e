"""Time travel: a scheduler's log, read again."""
import json
from typing import (
    Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union)

from .. import facade as _facade
from .._fields import Decision
from .._job import Path
from .policy import PolicyLike, policy_ref
from .queue import make_decisions
from .sched import SchedulerView
from .trace import fields
from .._values import loaded, text_or_bytes

_NEVER = 2 ** 63 - 1


class Step(NamedTuple):
    """A line of a log that was taken."""
    #: Line number, from 1.
    line: int
    time: int
    #: Decisions of that line.
    decisions: List[Decision]


class Replay:
    """A scheduler's log, which can be asked at any time of it.

        replay = openpai.Replay("sched.log")
        print(replay.at("2026-05-01 14:05").queue)
        print(replay.at("end").explain(7))
        print(replay.story(7, "backfill"))
        for step in replay:  # from there on
            print(step.line, step.time, step.decisions)

    `policy` is the name of a built-in one that decides instead of the log's
    own, with `options`; or, where that was one of yours, that one.  check: a
    snapshot in the middle that is not what the lines before it make is an
    error.  A time is microseconds, or a text: "2026-05-01 14:05:06.5+02:00",
    "@12.5" (seconds of the log's clock), "+2h" behind its begin, "-30m" before
    its end, "begin", "end".
    """
    __slots__ = ("_replay", "__weakref__")

    def __init__(self, path: Path, policy: Optional[PolicyLike] = None, *,
                 options: Optional[Mapping[str, object]] = None,
                 check: bool = False) -> None:
        self._replay = loaded(_facade.Replay.open, path,
                              _options(options, check), policy_ref(policy))

    @classmethod
    def parse(cls, text: Union[str, bytes],
              policy: Optional[PolicyLike] = None, *,
              options: Optional[Mapping[str, object]] = None,
              check: bool = False) -> "Replay":
        """The same of a text."""
        replay = cls.__new__(cls)
        replay._replay = _facade.Replay.parse(
            text_or_bytes(text), _options(options, check), policy_ref(policy))
        return replay

    @property
    def range(self) -> Tuple[int, int]:
        """The times of its first and of its last line."""
        begin, end = json.loads(self._replay.range())
        return begin, end

    # --- stepping ---

    def at(self, time: Union[int, str]) -> SchedulerView:
        """Goes to a time, later or earlier: all lines up to then were taken.
        NotFoundError: the log begins later, or ends before."""
        self._replay.to(self.time(time))
        return self.scheduler

    def step(self, until: Union[int, str, None] = None) -> bool:
        """Takes the next line, unless it is later; False: there is none."""
        return self._replay.step(_NEVER if until is None else
                                 self.time(until))

    def steps(self, until: Union[int, str, None] = None) -> Iterator[Step]:
        """Takes the lines that follow, up to a time."""
        while self.step(until):
            yield Step(self.line, self.scheduler.now, self.decisions)

    def __iter__(self) -> Iterator[Step]:
        return self.steps()

    # --- current position ---

    @property
    def scheduler(self) -> SchedulerView:
        """The scheduler as it was, to look at; it goes where this goes, and
        is not there before the first line.  fork() keeps one."""
        return SchedulerView._view(self._replay.view(), self)

    @property
    def decisions(self) -> List[Decision]:
        """What the line of the last step has decided."""
        return make_decisions(self._replay.decisions())

    @property
    def line(self) -> int:
        """The number of the last line that was taken, from 1; 0: none."""
        return self._replay.line()

    @property
    def skipped(self) -> int:
        """How many lines were left out, because another policy has not done
        what they tell of."""
        return self._replay.skipped()

    # --- times ---

    def time(self, time: Union[int, str]) -> int:
        """A time in microseconds."""
        return self._replay.time(time) if isinstance(time, str) else time

    def show_time(self, time: int) -> str:
        """A time as time() reads it: "2026-05-01 14:05:06", or "@12.500000"
        where the log's clock does not count from 1970."""
        return self._replay.show_time(time)

    # --- timelines ---

    def story(self, id: int, policy: Optional[str] = None,
              options: Optional[Mapping[str, object]] = None,
              grain: int = 0) -> str:
        """How a request waited: what it lacked, since when, and who had it.

        `policy`, a built-in one: when would it have started under that?
        `grain`: how long reasons that change more often than that are told as
        one; an hour for 0.  Afterwards the replay stands somewhere behind it.
        """
        return self._story(id, policy, options, grain, "text").rstrip("\n")

    def story_data(self, id: int, policy: Optional[str] = None,
                   options: Optional[Mapping[str, object]] = None,
                   grain: int = 0) -> Dict[str, Any]:
        """The same as a dict."""
        data: Dict[str, Any] = json.loads(
            self._story(id, policy, options, grain, "json"))
        return data

    def _story(self, id: int, policy: Optional[str],
               options: Optional[Mapping[str, object]], grain: int,
               form: str) -> str:
        return self._replay.story(id, fields({
            "policy": policy, "grain": grain, "policy_options":
            json.dumps(options) if options else None}), form)

    def __repr__(self) -> str:
        return "<openpai.Replay: line %d>" % self.line


def _options(options: Optional[Mapping[str, object]], check: bool) -> bytes:
    return fields({"policy_options": json.dumps(options) if options else None,
                   "check": check})
