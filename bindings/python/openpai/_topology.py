"""Machines as they are built."""
import json
import operator
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, NamedTuple, Optional, Tuple, Union

from . import facade as _facade
from ._job import Path
from ._marks import Marks, encoded
from ._report import Picture
from ._values import loaded, made, numbers, text_or_bytes


class Summary(NamedTuple):
    """A machine in numbers."""
    name: str
    objects: int
    packages: int
    numa_nodes: int
    cores: int
    pus: int
    gpus: int
    #: Of memory.
    bytes: int


@dataclass(frozen=True)
class TopologyObject:
    """A part of a machine.  None: there is none, or nobody knows."""
    number: int
    #: "machine", "package", "group", "numa", "cache", "core", "pu", "bridge",
    #: "pci", "gpu", "network", "infiniband", "storage" or "other".
    kind: str
    #: What it holds ends before the object of this number.
    end: int
    #: Processing units in it, or near a device.
    pus: int
    #: Number of the object that it is in.
    parent: Optional[int] = None
    os_index: Optional[int] = None
    #: Of a cache: 1 to 5.
    level: Optional[int] = None
    #: Of a GPU: its number among the GPUs.
    gpu: Optional[int] = None
    #: Of PCI: MB/s to its parent now.
    link_mbps: Optional[int] = None
    #: Of memory and caches.
    bytes: Optional[int] = None
    name: str = ""
    pci: str = ""


@dataclass(frozen=True)
class TopologyGpu:
    """A GPU of a machine.  None or "": nobody knows."""
    #: Its place in topology.gpus.
    number: int
    #: Its number among topology.objects.
    object: int
    #: Its vendor's: NVML's or CUDA's, RSMI's, ...
    index: Optional[int] = None
    #: Number of the nearest memory.
    numa_node: Optional[int] = None
    link_mbps: Optional[int] = None
    #: Of its memory.
    bytes: Optional[int] = None
    vendor: str = ""
    model: str = ""
    uuid: str = ""
    serial: str = ""
    pci: str = ""
    #: Who knows it: "cuda0 nvml0 opencl0d0 card0".
    backends: str = ""


@dataclass(frozen=True)
class Link:
    """How near two GPUs are."""
    #: The smallest thing they share: "machine", "package", "numa", "switch",
    #: "board" or "same"; as a number, more is nearer.
    near: str
    closeness: int
    #: What joins them at best: "NVLink", "NVSwitch", "xGMI", "Xe Link", "PCI"
    #: or "unknown".
    link: str
    #: Peers with nothing in between.
    direct: bool
    hops: Optional[int] = None
    #: MB/s one way.
    mbps: Optional[int] = None


@dataclass(frozen=True)
class Affinity:
    """CPUs and memory near some GPUs, and how to give those to a process."""
    cores: int
    pus: int
    #: As cpusets take it: "0-3,8".
    cpus: str
    #: As hwloc writes it.
    bitmap: str
    #: As taskset takes it: "ff".
    mask: str
    #: A list: "0,2".
    numa_nodes: str
    #: Environment variables that show a process these GPUs, by their indices
    #: and by their uuids; without those where one is not known.
    env: Dict[str, str] = field(hash=False)
    env_by_uuid: Dict[str, str] = field(hash=False)


class Topology:
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
    #: The class method that makes the same machine, and its argument; None:
    #: nothing does.
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

    def __copy__(self) -> "Topology":
        return self  # it never changes

    def __deepcopy__(self, memo: object) -> "Topology":
        return self

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
