"""A policy that decides beside a platform's own, without effect."""
import json
import os
from collections import deque
from typing import (
    Any, Callable, Deque, Dict, List, Mapping, NamedTuple, Optional, Set,
    Tuple, Union)

from .. import facade as _facade
from .._errors import Error
from .._fields import Decision, SchedSums
from .._job import Path
from .._objects import Closes
from .policy import Adapter, PolicyLike, PolicyRef, policy_ref
from .sched import Scheduler

_MOST = 1000  # kept differences; starts: ten times as many

#: Kind of decision, request id, instance.
_Key = Tuple[str, int, int]


class ShadowStart(NamedTuple):
    """When an instance was started, and when the shadow first would have;
    None: not so far.  `id` is the request's: of a gang that of its job."""
    id: int
    instance: int
    live: Optional[int]
    shadow: Optional[int]


class Difference(NamedTuple):
    """A time at which the shadow would have decided otherwise."""
    time: int
    #: Decisions that the shadow did not make.
    live: Tuple[Decision, ...]
    #: Decisions that only the shadow made, each once.
    shadow: Tuple[Decision, ...]


class _Watched(Adapter):
    """Keeps what a policy raises: schedulers count that, and go on."""
    __slots__ = ("raised",)

    def __init__(self, policy: Any, raised: List[Exception]) -> None:
        super().__init__(policy)
        self.raised = raised

    def _keep(self, call: Callable[..., Any], *args: Any) -> Any:
        try:
            return call(*args)
        except Exception as error:
            if not self.raised:
                self.raised.append(error)
            raise

    def decide(self, host: "_facade.Scheduler") -> None:
        self._keep(super().decide, host)

    def event(self, host: "_facade.Scheduler", event: str) -> None:
        self._keep(super().event, host, event)

    def clone(self) -> "_Watched":
        copy: Adapter = self._keep(super().clone)
        return _Watched(copy.policy, self.raised)


class _Tail:
    """A log that grows, as a file; when that is turned over, the next one."""
    __slots__ = ("_path", "_file", "_at")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file, self._at = open(path, "rb"), 0

    def close(self) -> None:
        self._file.close()

    def _whole_lines(self) -> str:
        # Continues behind the last complete line.
        self._file.seek(self._at)
        text = self._file.read()
        text = text[:text.rfind(b"\n") + 1]
        self._at += len(text)
        return text.decode()

    def read(self) -> str:
        text = self._whole_lines()
        try:
            fresh = open(self._path, "rb")
        except OSError:
            return text  # being rotated: the next look finds the new file
        if os.path.sameopenfile(fresh.fileno(), self._file.fileno()):
            fresh.close()
            return text
        text += self._whole_lines()  # lines written before the rotation
        self.close()
        self._file, self._at = fresh, 0
        return text + self._whole_lines()


class Shadow(Closes):
    """A policy that decides beside a platform's scheduler, without effect.

        shadow = platform.shadow(SmallestFirst)
        ...
        for one in shadow.differences:
            print(one.time, one.live, one.shadow)

    A copy of the scheduler is told all that the platform's is told, and decides
    as that does; each time the shadow is asked, too, as it is by
    Scheduler.set_shadow().  That is done when somebody looks: until then the
    platform has no more to do than to keep some lines.  Of 64 MiB of them, that
    is some hundred thousand jobs, it begins anew: see `gaps`.  What the shadow
    raises comes out of the next look, as it is; the platform knows nothing of
    it, and the look after that goes on.

    Shadow(path, policy) is the same beside a platform elsewhere on this
    machine, by its ROOT/scheduler.log, from the beginning of that.

    Times are microseconds of the scheduler's clock: a platform's is the wall's.
    To be used by the thread that uses the platform.
    """
    __slots__ = ("_source", "_owner", "_ref", "_options", "_raised", "_sched",
                 "_lost", "_ahead", "_failed", "_before", "_gaps", "_lines", "_starts",
                 "_told", "_differences", "__weakref__")
    _source: Union[None, _Tail, "_facade.Follower"]
    _sched: Scheduler

    def __init__(self, log: Path, policy: PolicyLike,
                 **options: object) -> None:
        source = _Tail(log)
        try:
            self._begin(source, None, policy, options)
        except BaseException:
            source.close()
            raise

    @classmethod
    def _of(cls, follower: "_facade.Follower", owner: object,
            policy: PolicyLike, options: Mapping[str, object]) -> "Shadow":
        shadow = cls.__new__(cls)
        shadow._begin(follower, owner, policy, options)
        return shadow

    def _begin(self, source: Union[_Tail, "_facade.Follower"], owner: object,
               policy: PolicyLike, options: Mapping[str, object]) -> None:
        self._source, self._owner = source, owner  # keeps it alive
        self._raised: List[Exception] = []
        self._ref = self._watched(policy_ref(policy))
        self._options = json.dumps(options) if options else None
        self._lost, self._ahead, self._failed = True, 0, False
        self._before = (0, 0, 0, 0)
        self._gaps = -1  # the first snapshot makes it 0
        self._lines: Deque[str] = deque()
        self._starts: Dict[Tuple[int, int], ShadowStart] = {}
        self._told: Set[_Key] = set()
        self._differences: Deque[Difference] = deque(maxlen=_MOST)
        self._look()
        if self._lost:
            raise ValueError("there is no scheduler in the log yet")

    def _watched(self, ref: PolicyRef) -> PolicyRef:
        if ref is None:
            raise TypeError("a policy is wanted, not None")
        if isinstance(ref, str):
            return ref
        adapter, name, lends, hears = ref
        return _Watched(adapter.policy, self._raised), name, lends, hears

    # --- following

    def _fetch(self) -> None:
        if self._source is not None:
            self._lines.extend(self._source.read().splitlines())

    def _look(self) -> None:
        """Does what has come since the last time."""
        self._fetch()
        while self._lines:
            self._take(self._lines.popleft())
        if self._raised:
            raise self._raised.pop()

    def _take(self, line: str) -> None:
        if line.startswith('{"snapshot"'):
            self._load(line)
        elif not self._lost:
            self._failed = line.endswith(',"failed":true}')
            try:
                count = self._sched._sched.send(line)
            except Error:
                self._lost = True  # until the next snapshot
                raise
            live = self._sched.decisions if count > 0 else []
            for decision in live:
                self._told.discard(_key(decision))
                self._started(decision, "live")
            beside = self._sched.shadow_decisions
            if beside is not None:
                self._compare(live, beside)

    def _load(self, line: str) -> None:
        """A snapshot: where it begins, or again behind a gap.  One that tells
        nothing new is passed by."""
        if not (self._lost or self._failed):
            head = json.loads(line.partition(',"turns":')[0] + "}")
            sums = self._sched.sums
            if (head["time"], head["events"] + self._ahead) == (
                    sums.now, sums.events):
                return
        self._lost = True  # until the load has succeeded
        sched = Scheduler.load(line)
        sched._sched.policy(sched.now, True, self._options, self._ref)
        if self._gaps >= 0:
            sums = self._sums()
            self._before = (sums.live_decisions, sums.shadow_decisions,
                            sums.shadow_agreed, sums.shadow_failed)
        self._gaps += 1
        self._sched = sched
        self._ahead = 1  # the event that set the shadow policy
        self._lost = self._failed = False

    def _compare(self, live: List[Decision], beside: List[Decision]) -> None:
        alone = [d for d in beside if not d.agreed and
                 _key(d) not in self._told]
        for decision in beside:
            self._started(decision, "shadow")
        if len(self._told) > 10 * _MOST:
            self._told.clear()  # most of these requests are gone
        self._told.update(map(_key, alone))
        refused = tuple(d for d in live if not d.agreed)
        if refused or alone:
            self._differences.append(Difference(
                (live or beside)[0].time, refused, tuple(alone)))

    def _started(self, decision: Decision, by: str) -> None:
        key = (decision.id, decision.instance)
        start = self._starts.get(key, ShadowStart(*key, None, None))
        if decision.kind == "start" and getattr(start, by) is None:
            self._starts[key] = start._replace(**{by: decision.time})
        if len(self._starts) > 10 * _MOST:
            del self._starts[next(iter(self._starts))]

    # --- looking

    def _sums(self) -> SchedSums:
        sums = self._sched.sums
        live, shadow, agreed, failed = self._before
        return sums._replace(
            live_decisions=sums.live_decisions + live,
            shadow_decisions=sums.shadow_decisions + shadow,
            shadow_agreed=sums.shadow_agreed + agreed,
            shadow_failed=sums.shadow_failed + failed)

    @property
    def sums(self) -> SchedSums:
        """The scheduler in numbers, and in them live_decisions,
        shadow_decisions, shadow_agreed and shadow_failed.  A start that the
        shadow would do counts each time that it is not done."""
        self._look()
        return self._sums()

    @property
    def starts(self) -> Tuple[ShadowStart, ...]:
        """What was started, or would have been: the last ten thousand."""
        self._look()
        return tuple(self._starts.values())

    @property
    def differences(self) -> Tuple[Difference, ...]:
        """The last thousand.  Each time the shadow decides on the scheduler as
        it really is; what it would do again and again is told once."""
        self._look()
        return tuple(self._differences)

    @property
    def gaps(self) -> int:
        """How often something was missed, and it has begun anew."""
        self._look()
        return self._gaps

    def scheduler(self) -> Scheduler:
        """A copy of the scheduler, to ask and to drive on."""
        self._look()
        return self._sched.fork()

    def close(self) -> None:
        """Follows no more; up to now all stays known."""
        self._fetch()
        if isinstance(self._source, _Tail):
            self._source.close()
        self._source = self._owner = None

    def __repr__(self) -> str:
        sums = self._sums()
        return ("<openpai.Shadow %r beside %r: %d decisions, its own %d, the "
                "same %d, failed %d>" % (
                    sums.shadow, sums.policy, sums.live_decisions,
                    sums.shadow_decisions, sums.shadow_agreed,
                    sums.shadow_failed))


def _key(decision: Decision) -> _Key:
    return decision.kind, decision.id, decision.instance
