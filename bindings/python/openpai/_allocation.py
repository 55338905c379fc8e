"""Allocation sets: devices, CPUs, ports and memory, node by node."""
import json
from dataclasses import dataclass
from typing import Any, Iterator, NamedTuple, Optional, Tuple, Union

from . import facade as _facade
from ._objects import Copied
from ._values import text_or_bytes

_ALL = 0xFFFFFFFF  # PAI_NONE: no node, or no last number

#: First and last number.
Range = Tuple[int, int]


class Item(NamedTuple):
    """One device, CPU or port of a node."""
    node: int
    #: "gpu", "cpu" or "port".
    kind: str
    number: int


@dataclass(frozen=True)
class NodeAllocation:
    """What is of a node, as ranges."""
    node: int
    gpu: Tuple[Range, ...]
    cpu: Tuple[Range, ...]
    port: Tuple[Range, ...]
    #: Bytes.
    memory: int


class Allocation(Copied):
    """GPUs, CPUs, ports and memory of nodes: a set of (node, kind, number),
    and an amount of memory for each node.

        free = openpai.Allocation("node 0: gpu 0-7 cpu 0-31 mem 64G")
        mine = openpai.Allocation("node 0: gpu 0-1 cpu 0-7 mem 8G")
        free.take(mine)
        (0, "gpu", 2) in free

    | unites, & intersects, - subtracts, of memory the larger, the smaller, and
    what is left; take() and give() are of sets that must be there, or must
    not, and add memory up.
    """
    __slots__ = ("_set", "__weakref__")
    _set: "_facade.Allocation"
    __hash__ = None  # type: ignore[assignment] # it changes

    def __init__(self, text: Union[str, bytes] = "") -> None:
        """Reads str() of another one."""
        self._set = _facade.Allocation.parse(text_or_bytes(text))

    @classmethod
    def _of(cls, made: "_facade.Allocation") -> "Allocation":
        allocation = cls.__new__(cls)
        allocation._set = made
        return allocation

    @classmethod
    def parse(cls, text: Union[str, bytes]) -> "Allocation":
        """The same."""
        return cls(text)

    def copy(self) -> "Allocation":
        """Another one with the same content."""
        return self._of(self._set.copy())

    def __reduce__(self) -> Tuple[Any, ...]:
        return Allocation, (str(self),)

    # --- changing ------------------------------------------------------------

    def add(self, node: int, kind: str, first: int,
            last: Optional[int] = None) -> None:
        """Adds numbers of a "gpu", "cpu" or "port", the last one included."""
        self._set.add(node, kind, first, _ALL if last is None else last)

    def remove(self, node: int, kind: str, first: int,
               last: Optional[int] = None) -> None:
        """Removes them; those that are not there stay away."""
        self._set.remove(node, kind, first, _ALL if last is None else last)

    def set_memory(self, node: int, bytes: int) -> None:
        """Sets the memory on a node; 0: none."""
        self._set.set_memory(node, bytes)

    def clear(self) -> None:
        """Empties it."""
        self._set.clear()

    def give(self, other: "Allocation") -> None:
        """Adds what must not be there: ExistsError."""
        try:  # checking the type first would cost more than the call
            self._set.give(other._set)
        except AttributeError:
            self._set.give(_wanted(other)._set)

    def take(self, other: "Allocation") -> None:
        """Removes what must be there: NotFoundError."""
        try:  # checking the type first would cost more than the call
            self._set.take(other._set)
        except AttributeError:
            self._set.take(_wanted(other)._set)

    def __ior__(self, other: "Allocation") -> "Allocation":
        if not isinstance(other, Allocation):
            return NotImplemented
        self._set.unite(other._set)
        return self

    def __iand__(self, other: "Allocation") -> "Allocation":
        if not isinstance(other, Allocation):
            return NotImplemented
        self._set.intersect(other._set)
        return self

    def __isub__(self, other: "Allocation") -> "Allocation":
        if not isinstance(other, Allocation):
            return NotImplemented
        self._set.subtract(other._set)
        return self

    # --- making --------------------------------------------------------------

    def __or__(self, other: "Allocation") -> "Allocation":
        if not isinstance(other, Allocation):
            return NotImplemented
        return self._of(self._set.union_of(other._set))

    def __and__(self, other: "Allocation") -> "Allocation":
        if not isinstance(other, Allocation):
            return NotImplemented
        return self._of(self._set.intersection(other._set))

    def __sub__(self, other: "Allocation") -> "Allocation":
        if not isinstance(other, Allocation):
            return NotImplemented
        return self._of(self._set.difference(other._set))

    # --- reading -------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Allocation):
            return NotImplemented
        return self._set.equals(other._set)

    def __le__(self, other: "Allocation") -> bool:
        """Is all of it in the other one, memory included?"""
        if not isinstance(other, Allocation):
            return NotImplemented
        return other._set.contains(self._set)

    def __lt__(self, other: "Allocation") -> bool:
        if not isinstance(other, Allocation):
            return NotImplemented
        return self <= other and self != other

    def isdisjoint(self, other: "Allocation") -> bool:
        """Is no device, CPU or port in both?  Memory is not looked at."""
        return not self._set.overlaps(_wanted(other)._set)

    def __contains__(self, item: object) -> bool:
        """Of (node, kind, number)."""
        if not isinstance(item, tuple) or len(item) != 3:
            raise TypeError("what is in it is (node, kind, number), not %r"
                            % (item,))
        node, kind, number = item
        if node < 0 or number < 0:
            return False
        return self._set.has(node, kind, number)

    def __len__(self) -> int:
        """How many devices, CPUs and ports."""
        return sum(self.count(kind) for kind in ("gpu", "cpu", "port"))

    def __bool__(self) -> bool:
        """Is there anything, memory included?"""
        return not self._set.is_empty()

    def count(self, kind: str, node: Optional[int] = None) -> int:
        """How many of a kind, on all nodes or on one."""
        return self._set.count(kind, _ALL if node is None else node)

    def memory(self, node: Optional[int] = None) -> int:
        """Bytes, on all nodes or on one."""
        return self._set.memory(_ALL if node is None else node)

    @property
    def nodes(self) -> Tuple[NodeAllocation, ...]:
        """The nodes on which there is anything."""
        def ranges(listed: Any) -> Tuple[Range, ...]:
            return tuple((first, last) for first, last in listed)
        return tuple(NodeAllocation(
            n["node"], ranges(n["gpu"]), ranges(n["cpu"]), ranges(n["port"]),
            n["memory"]) for n in json.loads(self._set.nodes()))

    def __iter__(self) -> Iterator[Item]:
        """The devices, CPUs and ports that are there now."""
        for node in self.nodes:
            for kind in ("gpu", "cpu", "port"):
                for first, last in getattr(node, kind):
                    for number in range(first, last + 1):
                        yield Item(node.node, kind, number)

    def to_json(self) -> str:
        """One JSON object on one line."""
        return self._set.to_json()

    def __str__(self) -> str:
        """The text form, which Allocation() reads again."""
        return str(self._set.__str__())

    def __repr__(self) -> str:
        return "Allocation(%r)" % str(self)


def _wanted(other: object) -> Allocation:
    if not isinstance(other, Allocation):
        raise TypeError("an Allocation is wanted, not %s"
                        % type(other).__name__)
    return other
