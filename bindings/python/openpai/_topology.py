"""Machines as they are built."""
import json
import operator
from typing import Any, Iterable, Optional, Tuple, Union

from ._fields import (
    Summary, TopologyObject, TopologyGpu, Link,
    Affinity)
from . import facade as _facade
from ._job import Path
from ._marks import Marks, encoded
from ._objects import Immutable
from ._report import Picture
from ._values import loaded, made, numbers, text_or_bytes


class Topology(Immutable):
    """A machine as it is built; it does not change.  Two are equal if to_json()
    of both is.

        machine = openpai.Topology.discover()
        print(machine)
        for gpu in machine.gpus:
            print(gpu.model, machine.affinity([gpu.number]).cpus)

    GPUs are numbered from 0, in the order of `gpus`.
    """
    __slots__ = ("_topology", "_recipe", "__weakref__")
    _topology: "_facade.Topology"
    #: Class method and argument that make the same machine again, or None.
    _recipe: Optional[Tuple[str, Union[str, bytes]]]

    def __init__(self) -> None:
        raise TypeError("use Topology.discover(), .load(), .parse_xml() or "
                        ".synthetic()")

    @classmethod
    def _of(cls, topology: "_facade.Topology",
            recipe: Optional[Tuple[str, Union[str, bytes]]] = None
            ) -> "Topology":
        made_now = cls.__new__(cls)
        made_now._topology = topology
        made_now._recipe = recipe
        return made_now

    @classmethod
    def discover(cls, *, drivers: bool = False) -> "Topology":
        """This machine: what this process may use of it.  `drivers` also asks
        CUDA, OpenCL and Level Zero, which loads them into this process."""
        return cls._of(_facade.Topology.discover(bool(drivers)))

    @classmethod
    def load(cls, path: Path) -> "Topology":
        """Reads XML as `lstopo file.xml` writes it, or standard input for
        "-"."""
        topology = loaded(_facade.Topology.load, path)
        if path in ("-", b"-"):
            return cls._of(topology)
        with open(path, "rb") as file:
            return cls._of(topology, ("parse_xml", file.read()))

    @classmethod
    def parse_xml(cls, text: Union[str, bytes]) -> "Topology":
        """The same of a text."""
        return cls._of(_facade.Topology.parse_xml(text_or_bytes(text)),
                       ("parse_xml", text))

    @classmethod
    def synthetic(cls, description: str) -> "Topology":
        """Makes a machine up, of "pack:2 [numa(memory=64GB)] core:4 pu:2"."""
        return cls._of(_facade.Topology.synthetic(description),
                       ("synthetic", description))

    @property
    def summary(self) -> Summary:
        """The machine in numbers."""
        return Summary(**json.loads(self._topology.summary()))

    @property
    def objects(self) -> Tuple[TopologyObject, ...]:
        """All parts; each comes before what it holds."""
        return made(TopologyObject, json.loads(self._topology.objects()))

    @property
    def gpus(self) -> Tuple[TopologyGpu, ...]:
        """The GPUs, each once."""
        return made(TopologyGpu, json.loads(self._topology.gpus()))

    def between(self, a: int, b: int) -> Link:
        """How near one GPU is to another."""
        return Link(**json.loads(self._topology.between(a, b)))

    def affinity(self, gpus: Iterable[int], cores: int = 0) -> Affinity:
        """The CPUs near some GPUs: all of them, or so many whole cores.

        NoRoomError if the machine has fewer cores.
        """
        return Affinity(**json.loads(self._topology.affinity(
            numbers(gpus), operator.index(cores))))

    def text(self, marks: Optional[Marks] = None) -> str:
        """A tree, for people."""
        return self._topology.text(encoded(marks))

    def svg(self, marks: Optional[Marks] = None) -> Picture:
        """A picture.  Marks tell who uses a GPU, None that it is free, and
        ("sick", why) that it is broken: a list, or {number: mark}."""
        return Picture(self._topology.svg(encoded(marks)))

    def to_json(self, marks: Optional[Marks] = None) -> str:
        """All of it, for programs."""
        return self._topology.to_json(encoded(marks))

    def __reduce__(self) -> Tuple[Any, ...]:
        if self._recipe is None:
            raise TypeError("a machine that was discovered is not pickled: "
                            "write it with lstopo FILE.xml, and load() that")
        name, source = self._recipe
        return getattr(Topology, name), (source,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return self is other or self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        s = self.summary
        return "<openpai.Topology %r: %d GPUs, %d cores, %d NUMA nodes>" % (
            s.name, s.gpus, s.cores, s.numa_nodes)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return self.svg()._repr_html_()
