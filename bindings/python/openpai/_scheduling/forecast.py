"""What will be: when a job starts, what a change would do."""
import json
from typing import Any, Dict, Iterable, Mapping, Optional, Tuple, Union

from .._fields import (
    Guess, When, Shape)
from .. import facade as _facade
from .._cluster import Cluster
from .._objects import Copied, Listed
from .queue import Views
from .._report import html_text
from .trace import fields
from .._values import made, text_or_bytes, words


class History(Copied):
    """How long jobs took.

        history = openpai.History()
        history.add(user="ann", name="bert-7", gpus=8, duration=3600_000000)
        print(history.guess(user="ann", name="bert-8", gpus=8).p50)
    """
    __slots__ = ("_history", "__weakref__")

    def __init__(self) -> None:
        self._history = _facade.History.make()

    def add(self, duration: int, *, user: Optional[str] = None,
            vc: Optional[str] = None, name: Optional[str] = None,
            gpus: int = 0, estimate: int = 0, limit: int = 0) -> None:
        """A job has ended by itself.  Of jobs alike the last ones are kept."""
        self._history.add(fields({
            "duration": duration, "user": user, "vc": vc, "name": name,
            "gpus": gpus, "estimate": estimate, "limit": limit}))

    def guess(self, *, user: Optional[str] = None, vc: Optional[str] = None,
              name: Optional[str] = None, gpus: int = 0, estimate: int = 0,
              limit: int = 0, ran: int = 0) -> Guess:
        """How long a job takes that has run for `ran`."""
        return Guess(**json.loads(self._history.guess(fields({
            "user": user, "vc": vc, "name": name, "gpus": gpus,
            "estimate": estimate, "limit": limit}), ran)))

    def learn(self, scheduler: Views, line: Union[str, bytes]) -> None:
        """Learns from a line of a scheduler's log, before it is sent: what
        comes, so that more come like it, and what ends."""
        self._history.learn(scheduler._sched, text_or_bytes(line))

    def save(self) -> str:
        """All of it as one line of JSON."""
        return self._history.save()

    @classmethod
    def load(cls, text: Union[str, bytes]) -> "History":
        """Reads what save() has given."""
        history = cls.__new__(cls)
        history._history = _facade.History.load(text_or_bytes(text))
        return history

    def copy(self) -> "History":
        """Another history that knows the same."""
        return self.load(self.save())

    def __reduce__(self) -> Tuple[Any, ...]:
        return History.load, (self.save(),)


class Forecast(Listed[When]):
    """When what waits starts, by turn.  str() tells it, with what was assumed.
    """
    __slots__ = ("_forecast", "_owner")
    _forecast: "_facade.Forecast"
    _owner: object

    def __init__(self) -> None:
        raise TypeError("use Scheduler.forecast()")

    @classmethod
    def _of(cls, forecast: "_facade.Forecast", owner: object = None
            ) -> "Forecast":
        made_now = cls.__new__(cls)
        made_now._forecast = forecast
        made_now._owner = owner  # keeps it alive
        made_now._all = tuple(map(_when, json.loads(forecast.all())))
        return made_now

    def when(self, id: int) -> When:
        """Of one request; NotFoundError: it does not wait."""
        return _when(json.loads(self._forecast.when(id)))

    def met(self, id: int, started: int, history: History) -> None:
        """One of these has started: how good that was is kept in the history,
        and makes further bands wider or narrower."""
        self._forecast.met(id, started, history._history)

    def to_json(self) -> str:
        """All of it as an object."""
        return self._forecast.write("json")

    def __str__(self) -> str:
        return self._forecast.write("text").rstrip("\n")

    def __repr__(self) -> str:
        return "<openpai.Forecast: %d requests>" % len(self)

    def _repr_html_(self) -> str:
        return html_text(str(self))


class WhatIf:
    """The future as it is, and after some changes.  str() tells which requests
    start, stop, move, are sooner or later."""
    #: Instances that start at once only with the changes; running ones that
    #: are stopped or lose their nodes; that are stopped and start elsewhere.
    start_now: int
    stop_now: int
    move: int
    #: Waiting requests by their median start; requests that never start then.
    sooner: int
    later: int
    same: int
    never: int
    #: Mean over the waiting requests.
    wait_before: int
    wait_after: int
    preempted_before: float
    preempted_after: float
    #: Used share of GPU time, until all waiting requests have started.
    used_before: float
    used_after: float
    #: True: something that runs is lost.
    unsafe: bool
    #: True: the present differs from the past, so these numbers are less
    #: certain.
    unlike: bool
    _what_if: "_facade.WhatIf"

    def __init__(self) -> None:
        raise TypeError("use Scheduler.what_if()")

    @classmethod
    def _of(cls, what_if: "_facade.WhatIf") -> "WhatIf":
        made_now = cls.__new__(cls)
        made_now.__dict__.update(json.loads(what_if.look()))
        made_now._what_if = what_if
        return made_now

    @property
    def before(self) -> Forecast:
        """The future as it is."""
        return Forecast._of(self._what_if.before(), self)

    @property
    def after(self) -> Forecast:
        """The future after the changes."""
        return Forecast._of(self._what_if.after(), self)

    def to_json(self) -> str:
        """All of it as an object."""
        return self._what_if.write("json")

    def __str__(self) -> str:
        return self._what_if.write("text").rstrip("\n")

    def __repr__(self) -> str:
        return "<openpai.WhatIf: %d sooner, %d later%s>" % (
            self.sooner, self.later, ", unsafe" if self.unsafe else "")

    def _repr_html_(self) -> str:
        return html_text(str(self))


class Shapes(Listed[Shape]):
    """Shapes of a request that waits: first as it is, then the best."""
    __slots__ = ("_shapes",)
    _shapes: "_facade.Shapes"

    def __init__(self) -> None:
        raise TypeError("use Scheduler.shapes()")

    @classmethod
    def _of(cls, shapes: "_facade.Shapes") -> "Shapes":
        made_now = cls.__new__(cls)
        made_now._shapes = shapes
        made_now._all = made(Shape, json.loads(shapes.all()))
        return made_now

    def to_json(self) -> str:
        """All of it as an object, with the events that make each change."""
        return self._shapes.write("json")

    def __str__(self) -> str:
        return self._shapes.write("text").rstrip("\n")

    def __repr__(self) -> str:
        return "<openpai.Shapes: %d>" % len(self)

    def _repr_html_(self) -> str:
        return html_text(str(self))


class Futures(Views):
    """What a scheduler can be asked about its future.

    Copies of it are driven into `runs` futures, in which jobs take as long as
    others like them in `history`, or, without one, as their owners believe;
    no further than `horizon`, 90 days for 0.  arrivals: jobs go on coming as
    the history has seen them; None: if it has seen 64 in a day or
    more.  The same arguments give the same answer.
    """
    __slots__ = ()

    def forecast(self, history: Optional[History] = None, runs: int = 100,
                 seed: int = 0, *, horizon: int = 0,
                 arrivals: Optional[bool] = None, only: int = 0) -> Forecast:
        """When what waits starts; `only`: that request alone counts."""
        return Forecast._of(_facade.Forecast.make(
            self._sched, _history(history),
            _options(runs, seed, horizon, arrivals, only)))

    def when(self, id: int, history: Optional[History] = None,
             runs: int = 100, seed: int = 0, *, horizon: int = 0,
             arrivals: Optional[bool] = None) -> When:
        """When one request starts; NotFoundError: it does not wait."""
        return self.forecast(history, runs, seed, horizon=horizon,
                             arrivals=arrivals, only=id).when(id)

    def what_if(self, events: Iterable[Union[Mapping[str, Any], str]] = (),
                history: Optional[History] = None, runs: int = 100,
                seed: int = 0, *, cluster: Optional[Cluster] = None,
                horizon: int = 0, arrivals: Optional[bool] = None) -> WhatIf:
        """Compares the future with one after some changes, now: events as of
        send(), whose times do not count, and then another cluster.

            scheduler.what_if([{"event": "cancel", "id": 7}])
            scheduler.what_if([{"event": "policy", "policy": "backfill"}])
            scheduler.what_if(cluster=scheduler.changed_cluster("2x dgx"))
        """
        if isinstance(events, (str, Mapping)):
            events = [events]
        lines = [event if isinstance(event, str) else _line(event)
                 for event in events]
        if cluster is not None:
            if not isinstance(cluster, Cluster):
                raise TypeError("a Cluster is wanted, not %s"
                                % type(cluster).__name__)
            lines.append(_line({"event": "cluster",
                                "cluster": json.loads(cluster.to_json())}))
        return WhatIf._of(_facade.WhatIf.make(
            self._sched, _history(history), "\n".join(lines).encode(),
            _options(runs, seed, horizon, arrivals, 0)))

    def changed_cluster(self, nodes: Optional[str] = None,
                        vc: Optional[str] = None, share: Optional[str] = None,
                        *, shares: Optional[Mapping[str, str]] = None,
                        of: Optional[Cluster] = None) -> Cluster:
        """The cluster as it is, or another one, but for more nodes, as
        "2x gpu:8:h100" or "2x dgx", or another share of a virtual cluster, as
        "dgx:12".  `shares` are those of several, by name: only the cluster
        after all changes has to be valid."""
        changed = dict(shares or {})
        if vc is not None:
            if share is None:
                raise ValueError("a virtual cluster needs a share")
            changed[vc] = share
        return Cluster._of(_facade.changed_cluster(
            self._sched, of._cluster if of is not None else None, nodes,
            words(word for pair in changed.items() for word in pair)))

    def shapes(self, id: int, vcs: Iterable[str] = (),
               history: Optional[History] = None, runs: int = 100,
               seed: int = 0, *, horizon: int = 0,
               arrivals: Optional[bool] = None) -> Shapes:
        """In which shape a request that waits would start sooner; `vcs` are
        virtual clusters that its user may use besides."""
        return Shapes._of(_facade.Shapes.make(
            self._sched, _history(history), id, words(vcs),
            _options(runs, seed, horizon, arrivals, 0)))


def _line(event: Mapping[str, Any]) -> str:
    return json.dumps({"time": 0, **event}, ensure_ascii=False)


def _history(history: Optional[History]) -> "Optional[_facade.History]":
    if history is None:
        return None
    if not isinstance(history, History):
        raise TypeError("a History is wanted, not %s"
                        % type(history).__name__)
    return history._history


def _options(runs: int, seed: int, horizon: int, arrivals: Optional[bool],
             only: int) -> bytes:
    return fields({"runs": runs, "seed": seed, "horizon": horizon,
                   "arrivals": 2 if arrivals is False else arrivals,
                   "only": only})


def _when(told: Dict[str, Any]) -> When:
    told["id"] = int(told["id"])
    return When(**told)
