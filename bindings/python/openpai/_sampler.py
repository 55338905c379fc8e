"""What this machine is doing, cheap enough to ask each second."""
import json
import time
from typing import Any, Callable, Dict, Iterator, Optional, Sequence

from ._fields import (
    CpuSample, MemorySample, DiskSample, NetworkSample,
    FileSystemSample, GpuSample, GroupSample, Sample)
from . import facade as _facade
from ._gpus import Gpus, make_gpus
from ._job import Path
from ._objects import Closes
from ._values import made, words


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


class Sampler(Closes):
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

