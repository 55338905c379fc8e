"""What this machine is doing, cheap enough to ask each second."""
import json
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

from . import facade as _facade
from ._gpus import Gpus, make_gpus
from ._job import Path
from ._values import made, words


@dataclass(frozen=True)
class CpuSample:
    """A processor, or all; rates in thousandths of one processor."""
    #: Microseconds since the start.
    user: int
    system: int
    iowait: int
    idle: int
    #: None: all of them.
    number: Optional[int] = None
    busy_rate: Optional[int] = None
    user_rate: Optional[int] = None
    system_rate: Optional[int] = None
    iowait_rate: Optional[int] = None


@dataclass(frozen=True)
class MemorySample:
    """Memory, in bytes."""
    total: Optional[int] = None
    available: Optional[int] = None
    free: Optional[int] = None
    buffers: Optional[int] = None
    cached: Optional[int] = None
    swap_total: Optional[int] = None
    swap_free: Optional[int] = None
    #: The tightest of the cgroups this process is in, and what is used of it.
    limit: Optional[int] = None
    used: Optional[int] = None


@dataclass(frozen=True)
class DiskSample:
    """A disk, or all of them: ""; rates are a second's."""
    name: str
    #: In the sum?
    counted: bool
    read_bytes: int
    write_bytes: int
    reads: int
    writes: int
    read_bytes_rate: Optional[int] = None
    write_bytes_rate: Optional[int] = None
    reads_rate: Optional[int] = None
    writes_rate: Optional[int] = None
    #: Thousandths of the time it had work; not of the sum.
    busy_permille: Optional[int] = None


@dataclass(frozen=True)
class NetworkSample:
    """A network interface, or all of them: ""; rates are a second's."""
    name: str
    #: In the sum?
    counted: bool
    rx_bytes: int
    tx_bytes: int
    rx_packets: int
    tx_packets: int
    rx_errors: int
    tx_errors: int
    rx_bytes_rate: Optional[int] = None
    tx_bytes_rate: Optional[int] = None
    rx_packets_rate: Optional[int] = None
    tx_packets_rate: Optional[int] = None
    rx_errors_rate: Optional[int] = None
    tx_errors_rate: Optional[int] = None


@dataclass(frozen=True)
class FileSystemSample:
    """A file system, by the path it was asked for; bytes."""
    path: str
    total: Optional[int] = None
    #: For this user.
    free: Optional[int] = None


@dataclass(frozen=True)
class GpuSample:
    """A GPU, at its place in sampler.gpus."""
    #: It cannot be reached any more.
    lost: bool
    busy_percent: Optional[int] = None
    memory_busy_percent: Optional[int] = None
    memory_total: Optional[int] = None
    memory_used: Optional[int] = None
    temperature: Optional[int] = None
    power_mw: Optional[int] = None
    power_limit_mw: Optional[int] = None


@dataclass(frozen=True)
class GroupSample:
    """A group of processes."""
    #: "group", "session" or "cgroup".
    kind: str
    #: Asked for, rather than there by all_groups.
    watched: bool
    #: Of a cgroup: 0.
    id: int
    #: Of its first process; of a cgroup its path.
    name: str
    #: Microseconds that were seen.
    cpu: int
    processes: Optional[int] = None
    #: Thousandths of a processor.
    cpu_rate: Optional[int] = None
    #: In bytes: resident; what is shared counts again.
    memory: Optional[int] = None
    read_bytes: Optional[int] = None
    write_bytes: Optional[int] = None
    read_bytes_rate: Optional[int] = None
    write_bytes_rate: Optional[int] = None
    gpu_memory: Optional[int] = None


@dataclass(frozen=True)
class Sample:
    """What a machine did since the sample before.  None: nobody can tell, as
    of the rates in a first sample."""
    #: As it was told, and since the sample before; microseconds.
    time: int
    elapsed: int
    #: How many processors are online.
    online: int
    #: Over 1, 5 and 15 minutes.
    load: Tuple[float, ...]
    cpu: CpuSample
    cpus: Tuple[CpuSample, ...]
    memory: MemorySample
    disk: DiskSample
    disks: Tuple[DiskSample, ...]
    network: NetworkSample
    networks: Tuple[NetworkSample, ...]
    file_systems: Tuple[FileSystemSample, ...]
    gpus: Tuple[GpuSample, ...]
    groups: Tuple[GroupSample, ...]
    threads: Optional[int] = None
    running: Optional[int] = None


_ONE: Dict[str, Callable[..., object]] = {
    "cpu": CpuSample, "memory": MemorySample, "disk": DiskSample,
    "network": NetworkSample}
_MANY: Dict[str, Callable[..., object]] = {
    "cpus": CpuSample, "disks": DiskSample, "networks": NetworkSample,
    "file_systems": FileSystemSample, "gpus": GpuSample,
    "groups": GroupSample}


def _made(told: Dict[str, Any]) -> Sample:
    for name, one in _ONE.items():
        told[name] = one(**told[name])
    for name, each in _MANY.items():
        told[name] = made(each, told[name])
    told["load"] = tuple(told["load"])
    return Sample(**told)


class Sampler:
    """Samples this machine.

        with openpai.Sampler(paths=["/"]) as sampler:
            for sample in sampler.every(1.0):
                print(sample.cpu.busy_rate, sample.memory.available)

    `paths` are those of file systems to look at; `all_groups` samples every
    process group of the machine; `root` and `nvml` are as for gpus().
    """
    __slots__ = ("_sampler", "__weakref__")

    def __init__(self, *, paths: Sequence[Path] = (),
                 all_groups: bool = False, root: Optional[Path] = None,
                 nvml: Optional[Path] = None) -> None:
        if isinstance(paths, (str, bytes)):
            raise TypeError("paths are a list, not %r" % (paths,))
        self._sampler = _facade.Sampler.make(root, nvml, words(paths),
                                             bool(all_groups))

    @property
    def gpus(self) -> Gpus:
        """The GPUs as they were when the sampler was made."""
        return make_gpus(self._sampler.gpus())

    def watch(self, kind: str, id: int) -> None:
        """Samples a "group" or "session" of processes from now on."""
        self._sampler.watch(kind, id)

    def watch_cgroup(self, path: str) -> None:
        """The same for a cgroup, by its path from the root of all."""
        self._sampler.watch_cgroup(path)

    def unwatch(self, kind: str, id: int) -> None:
        """Ends that; NotFoundError if it is not watched."""
        self._sampler.unwatch(kind, id)

    def unwatch_cgroup(self, path: str) -> None:
        """The same for a cgroup."""
        self._sampler.unwatch_cgroup(path)

    def take(self, now: Optional[int] = None) -> Sample:
        """Takes a sample.  `now` is in microseconds of any clock that does not
        go backwards; None: the machine's own, monotonic one."""
        if now is not None and now < 0:
            raise ValueError("a time is not below 0")
        return _made(json.loads(self._sampler.take(
            -1 if now is None else now)))

    def every(self, seconds: float) -> Iterator[Sample]:
        """Samples without end, the first at once; it waits in between."""
        due = time.monotonic()
        while True:
            yield self.take()
            due = max(due + seconds, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))

    def close(self) -> None:
        """Closes what it reads; it cannot be used any more."""
        self._sampler.close()

    def __enter__(self) -> "Sampler":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
