"""Clusters: machines with their GPUs, what is sick, who shares them."""
import json
import operator
import os
from typing import (
    Any, Iterable, Iterator, NamedTuple, Optional, Sequence, Tuple, Union,
    overload)

from ._fields import (
    Sums, NodeGpu, Node, Near,
    Sku, Share, VirtualCluster)
from . import facade as _facade
from ._errors import NoSuchPlaceError, NotFoundError, alike
from ._job import Path
from ._marks import ClusterMarks, encoded
from ._objects import Copied
from ._report import Picture, Report, make_report
from ._topology import Topology
from ._values import loaded, made, text_or_bytes


class Machine(NamedTuple):
    """A machine of a cluster to be."""
    #: None: the name in the topology.
    name: Optional[str]
    rack: Optional[str]
    topology: Topology


NodeRef = Union[str, int, Node]


class Nodes(Sequence[Node]):
    """The nodes of a cluster, by their numbers and by their names."""
    __slots__ = ("_cluster",)

    def __init__(self, cluster: "_facade.Cluster") -> None:
        self._cluster = cluster

    def __len__(self) -> int:
        return self._cluster.node_count()

    @overload
    def __getitem__(self, node: Union[int, str]) -> Node: ...
    @overload
    def __getitem__(self, node: slice) -> Tuple[Node, ...]: ...

    def __getitem__(self, node: Union[int, str, slice]
                    ) -> Union[Node, Tuple[Node, ...]]:
        """IndexError, or for a name KeyError, if there is none."""
        if isinstance(node, slice):
            return tuple(self[i] for i in range(*node.indices(len(self))))
        if isinstance(node, str):
            return self._named(node)
        index = operator.index(node)
        if not -len(self) <= index < len(self):
            raise IndexError("the cluster has %d nodes" % len(self))
        return self._made(index % len(self))

    def _named(self, name: str) -> Node:
        try:
            return self._made(name)
        except NotFoundError as error:
            missing = alike(NoSuchPlaceError, error)
        raise missing

    def _made(self, node: Union[int, str]) -> Node:
        told = json.loads(self._cluster.node(node))
        told["gpus"] = made(NodeGpu, told["gpus"])
        return Node(**told)

    def get(self, name: str, default: Optional[Node] = None
            ) -> Optional[Node]:
        """The node of that name, or `default` if there is none."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, node: object) -> bool:
        """A name, or a Node that is like one of these."""
        if isinstance(node, Node):
            return self.get(node.name) == node
        return isinstance(node, str) and self.get(node) is not None

    def __iter__(self) -> Iterator[Node]:
        for i in range(len(self)):
            yield self._made(i)

    def __repr__(self) -> str:
        return "<openpai.Nodes: %d>" % len(self)


class Cluster(Copied):
    """Machines with their GPUs, and the virtual clusters that share them.

        cluster = openpai.Cluster.synthetic("racks:2 nodes:4 gpu:8:h100")
        for node in cluster.nodes:
            print(node.name, node.rack, len(node.gpus))
        cluster.set_sick("node0001", "fan", gpu=3)

    Forms are "openpai", "hived", "layout", "kubernetes" and "slurm"; None:
    told by the content.  Two clusters are equal if to_json() of both is; a
    cluster can change, so it has no hash.  Copies and pickles have all of it.
    """
    __slots__ = ("_cluster", "__weakref__")
    _cluster: "_facade.Cluster"
    __hash__ = None  # type: ignore[assignment] # it changes

    def __init__(self) -> None:
        raise TypeError("use Cluster.load(), .parse(), .synthetic() or "
                        ".from_machines()")

    @classmethod
    def _of(cls, cluster: "_facade.Cluster") -> "Cluster":
        made_now = cls.__new__(cls)
        made_now._cluster = cluster
        return made_now

    @classmethod
    def load(cls, path: Path, form: Optional[str] = None) -> "Cluster":
        """Reads a file, or standard input for "-".

        If it is invalid, the error's `report` has all that is wrong.
        """
        return cls._of(loaded(_facade.Cluster.load, path, form))

    @classmethod
    def parse(cls, text: Union[str, bytes],
              form: Optional[str] = None) -> "Cluster":
        """The same of a text, YAML or JSON; bytes are UTF-8."""
        return cls._of(_facade.Cluster.parse(text_or_bytes(text), form))

    @classmethod
    def synthetic(cls, description: str) -> "Cluster":
        """Makes one up: "racks:2 nodes:16 gpu:8:h100"; also cpus, mem, numa,
        switch and link."""
        return cls._of(_facade.Cluster.synthetic(description))

    @classmethod
    def from_machines(cls, machines: Iterable[
            Tuple[Optional[str], Optional[str], Topology]]) -> "Cluster":
        """Of machines as they are: (name, rack, topology); a name may be None,
        then it is the topology's, and so may a rack."""
        given = []
        for name, rack, topology in machines:
            if not isinstance(topology, Topology):
                raise TypeError("a Topology is wanted, not %s"
                                % type(topology).__name__)
            given.append((name, rack, topology._topology))
        return cls._of(_facade.Cluster.from_machines(given))

    @staticmethod
    def check(source: Union[str, bytes, "os.PathLike[str]"],
              form: Optional[str] = None) -> Report:
        """Finds all that is wrong with the text of a cluster, or with the file
        of a pathlib.Path, Path("-") being standard input."""
        if isinstance(source, os.PathLike):
            return make_report(loaded(_facade.Cluster.check_file, source,
                                      form))
        return make_report(_facade.Cluster.check(text_or_bytes(source), form))

    @property
    def sums(self) -> Sums:
        """The cluster in numbers."""
        return Sums(**json.loads(self._cluster.sums()))

    @property
    def name(self) -> str:
        """Its name; "" if it has none."""
        return self.sums.name

    @property
    def nodes(self) -> Nodes:
        """The machines, by number and by name."""
        return Nodes(self._cluster)

    @property
    def skus(self) -> Tuple[Sku, ...]:
        """The types of machines."""
        listed = json.loads(self._cluster.skus())
        for sku in listed:
            sku["near"] = made(Near, sku["near"])
        return made(Sku, listed)

    @property
    def virtual_clusters(self) -> Tuple[VirtualCluster, ...]:
        """The virtual clusters, with their shares."""
        return tuple(VirtualCluster(vc["name"], made(Share, vc["shares"]))
                     for vc in json.loads(self._cluster.virtual_clusters()))

    def set_sick(self, node: NodeRef, why: Optional[str],
                 gpu: Optional[int] = None) -> None:
        """Takes a node, or one of its GPUs, out of use; None: it is well."""
        if isinstance(node, Node):
            node = node.name
        number = -1 if gpu is None else operator.index(gpu)
        if gpu is not None and number < 0:
            raise IndexError("GPUs are numbered from 0")
        self._cluster.set_sick(node, why, number)

    def to_yaml(self) -> str:
        """The cluster in our own form."""
        return self._cluster.to_yaml()

    def to_json(self) -> str:
        """The same as JSON."""
        return self._cluster.to_json()

    def to_hived(self, format: str = "yaml") -> str:
        """HiveD's configuration, "yaml" or "json"; UnsupportedError for a
        cluster without GPUs."""
        return self._cluster.to_hived(format)

    def text(self, marks: Optional[ClusterMarks] = None, *,
             colour: bool = False) -> str:
        """A picture of characters, with a terminal's colours if asked for."""
        return self._cluster.text(encoded(marks), bool(colour))

    def svg(self, marks: Optional[ClusterMarks] = None) -> Picture:
        """A picture.  Marks tell who uses a GPU, None that it is free, and
        ("sick", why) that it is broken: a list of all GPUs, node by node, or
        {(node's name, GPU's number there): mark}."""
        return Picture(self._cluster.svg(encoded(marks)))

    def copy(self) -> "Cluster":
        """Another cluster with the same content."""
        return self.parse(self.to_json())

    def __reduce__(self) -> Tuple[Any, ...]:
        return Cluster.parse, (self.to_json(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cluster):
            return NotImplemented
        return self is other or self.to_json() == other.to_json()

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        s = self.sums
        return "<openpai.Cluster %r: %d nodes, %d GPUs, %d sick>" % (
            s.name, s.nodes, s.gpus, s.sick_gpus)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return self.svg()._repr_html_()
