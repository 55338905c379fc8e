"""Policies that are written in Python."""
import copy
import json
from typing import (
    Any, Dict, Iterable, Iterator, Optional, Protocol, Sequence, Tuple, Union)

from .. import facade as _facade
from .._fields import SchedNode
from .queue import Views
from .._values import made

#: A node's name or number, and numbers of its GPUs.
TaskPlace = Tuple[Union[str, int], Sequence[int]]


class PolicyHost(Views):
    """What a policy sees and may do, as long as it is asked.

    Whatever it asks for is checked: nothing is given twice, no gang in part.
    """
    __slots__ = ()

    def __init__(self, sched: "_facade.Scheduler") -> None:
        self._sched = sched

    def waiting(self) -> Iterator[int]:
        """Ids of the requests that may begin, by turn."""
        id = self._sched.next_waiting(0)
        while id != 0:
            yield id
            id = self._sched.next_waiting(id)

    def placed(self) -> Tuple[Tuple[int, int], ...]:
        """(id, instance) of those that hold places, as they were placed."""
        return tuple((id, instance) for id, instance in
                     json.loads(self._sched.placed()))

    def node(self, number: int) -> SchedNode:
        """One node; NotFoundError: there are fewer."""
        return made(SchedNode, [json.loads(self._sched.node(number))])[0]

    def start(self, id: int, place: str = "topo", *,
              beyond_share: bool = False) -> bool:
        """Starts the next instance of a request, where there is room.

        `place` is "pack", "spread", "topo", "first" or "score".  False: there
        is no room, and the reason is kept, or nothing of it is left to start.
        """
        return self._sched.start(id, place, beyond_share, False)

    def start_over(self, id: int, place: str = "topo", *,
                   beyond_share: bool = False) -> bool:
        """The same, and if there is no room, where fewest and least important
        instances of lower priority have to stop for it; it starts then."""
        return self._sched.start(id, place, beyond_share, True)

    def start_at(self, id: int, places: Iterable[TaskPlace]) -> None:
        """Starts it just there: (node, GPUs) of each task, want by want.

        BusyError: that is not free; InvalidError: that is not what it wants.
        """
        self._sched.start_at(id, _places(places), False)

    def claim_at(self, id: int, places: Iterable[TaskPlace]) -> bool:
        """The same where others are, who are preempted.  False: it starts when
        they have stopped."""
        return self._sched.start_at(id, _places(places), True)

    def preempt(self, id: int, instance: int = 0, by: int = 0) -> None:
        """Has an instance stopped, for request `by`."""
        self._sched.preempt(id, instance, by)

    def resize(self, id: int, instance: int, want: int, tasks: int) -> bool:
        """Changes how many tasks of a want it has; False: there is no room."""
        return self._sched.resize(id, instance, want, tasks)

    def refuse(self, id: int, text: Optional[str] = None,
               lack: str = "policy", *, node: Optional[str] = None,
               behind: int = 0, until: int = 0) -> None:
        """Keeps the policy's own reason why a request waits."""
        self._sched.refuse(id, lack, text, node, behind, until)

    def __repr__(self) -> str:
        return "<openpai.PolicyHost>"


def _places(places: Iterable[TaskPlace]) -> bytes:
    words = []
    for node, gpus in places:
        name, number = (node, 0) if isinstance(node, str) else ("", node)
        words += [name, "%d" % number, ",".join("%d" % gpu for gpu in gpus)]
    return b"".join(word.encode() + b"\0" for word in words)


class SchedulingPolicy(Protocol):
    """A policy: anything with decide().

        class Oldest:
            def decide(self, host):
                for id in host.waiting():
                    while host.start(id):
                        pass

    It decides by what it is shown and by its own attributes: no clock, no
    random numbers.  It may also have

    * name: else its class's; lends: True if start(beyond_share=True) counts
    * open(host, options): what the scheduler was given as options, a dict
    * event(host, event): a dict of what has happened, with its kind as "event"
    * clone(): what forks get, else copy.deepcopy()
    * save(), load(saved): a value for JSON; else its attributes are saved
    """

    def decide(self, host: PolicyHost) -> object:
        """Decides what starts now: calls start() and so on of the host."""


class Adapter:
    """What script.c calls for a policy."""
    __slots__ = ("policy",)

    def __init__(self, policy: Any) -> None:
        self.policy = policy

    def open(self, host: "_facade.Scheduler", options: str) -> None:
        given = json.loads(options)
        if hasattr(self.policy, "open"):
            self.policy.open(PolicyHost(host), given)
        elif given:
            raise TypeError("%s takes no options: it has no open()"
                            % type(self.policy).__name__)

    def decide(self, host: "_facade.Scheduler") -> None:
        self.policy.decide(PolicyHost(host))

    def event(self, host: "_facade.Scheduler", event: str) -> None:
        self.policy.event(PolicyHost(host), json.loads(event))

    def clone(self) -> "Adapter":
        if hasattr(self.policy, "clone"):
            return Adapter(self.policy.clone())
        return Adapter(copy.deepcopy(self.policy))

    def save(self) -> str:
        own = hasattr(self.policy, "save")
        state = (self.policy.save() if own else
                 dict(getattr(self.policy, "__dict__", ())))
        text = json.dumps(state, ensure_ascii=False, allow_nan=False)
        if not own and json.loads(text) != state:
            raise TypeError("JSON changes attributes of %s: give it save() "
                            "and load()" % type(self.policy).__name__)
        return text

    def load(self, host: "_facade.Scheduler", both: str) -> None:
        options, state = json.loads(both)
        if hasattr(self.policy, "open"):
            self.policy.open(PolicyHost(host), options)
        if hasattr(self.policy, "load"):
            self.policy.load(state)
        elif state:
            vars(self.policy).update(state)


_named: Dict[str, type] = {}


def policy(given: Any = None, *, name: Optional[str] = None,
           lends: bool = False) -> Any:
    """Makes a class, or a function decide(host), a policy that has a name.

        @openpai.policy
        def greedy(host):
            for id in host.waiting():
                while host.start(id):
                    pass

        openpai.simulate(cluster, trace, "greedy")

    A name may be made a policy again, as when a notebook's cell runs twice, but
    not a built-in one's.
    """
    if given is None:
        return lambda later: policy(later, name=name, lends=lends)
    if isinstance(given, type):
        kind: Any = given
        if not callable(getattr(kind, "decide", None)):
            raise TypeError("a policy has decide(), which %s has not"
                            % kind.__name__)
    elif callable(given):
        kind = type(given.__name__, (), {
            "__doc__": given.__doc__, "__module__": given.__module__,
            "decide": lambda self, host: given(host)})
    else:
        raise TypeError("a class or a function is a policy, not %s"
                        % type(given).__name__)
    called = name or getattr(kind, "name", None) or kind.__name__
    if called in (one["name"] for one in json.loads(_facade.policies())):
        raise ValueError("there is a built-in policy %s" % called)
    kind.name = called
    if lends:
        kind.lends = True
    _named[called] = kind
    return kind


PolicyLike = Union[str, SchedulingPolicy, type]
PolicyRef = Union[None, str, Tuple[Adapter, str, bool, bool]]


def policy_ref(policy: Optional[PolicyLike]) -> PolicyRef:
    """What the facade takes: nothing, a name, or an object's adapter."""
    if isinstance(policy, str) and policy in _named:
        policy = _named[policy]
    if policy is None or isinstance(policy, str):
        return policy
    if isinstance(policy, type):
        policy = policy()
    if not callable(getattr(policy, "decide", None)):
        raise TypeError("a policy has decide(), which %s has not"
                        % type(policy).__name__)
    name = getattr(policy, "name", None)
    return (Adapter(policy),
            name if isinstance(name, str) else type(policy).__name__,
            bool(getattr(policy, "lends", False)), hasattr(policy, "event"))
