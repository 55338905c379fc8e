"""The GPUs of this machine, as their drivers tell."""
import json
from typing import (
    Any, Dict, Iterable, Optional, Sequence, Tuple, Union, overload)

from ._fields import (
    GpuProcess, GpuLink, Gpu)
from . import facade as _facade
from ._job import Path
from ._values import made, numbers


class Gpus(Sequence[Gpu]):
    """The GPUs as they were; made by gpus()."""
    __slots__ = ("_gpus", "links", "notes", "driver")

    def __init__(self, listed: Sequence[Gpu], links: Sequence[GpuLink] = (),
                 notes: Sequence[str] = (), driver: str = "") -> None:
        self._gpus = tuple(listed)
        #: Links between GPUs.
        self.links: Tuple[GpuLink, ...] = tuple(links)
        #: What could not be read, or why no GPU is listed although there are
        #: some.
        self.notes: Tuple[str, ...] = tuple(notes)
        #: Version of NVIDIA's driver, or "".
        self.driver: str = driver

    def __len__(self) -> int:
        return len(self._gpus)

    @overload
    def __getitem__(self, index: int) -> Gpu: ...
    @overload
    def __getitem__(self, index: slice) -> Tuple[Gpu, ...]: ...

    def __getitem__(self, index: Union[int, slice]
                    ) -> Union[Gpu, Tuple[Gpu, ...]]:
        return self._gpus[index]

    def __repr__(self) -> str:
        return "<openpai.Gpus: %s>" % (
            ", ".join(gpu.model or gpu.vendor for gpu in self) or "none")


def make_gpus(listed: str) -> Gpus:
    """Of what facade/gpu.c has written."""
    told: Dict[str, Any] = json.loads(listed)
    for gpu in told["gpus"]:
        gpu["processes"] = made(GpuProcess, gpu["processes"])
    return Gpus(made(Gpu, told["gpus"]), made(GpuLink, told["links"]),
                told["notes"], told.get("driver", ""))


def gpus(*, pids: Iterable[int] = (), groups: Iterable[int] = (),
         root: Optional[Path] = None, nvml: Optional[Path] = None) -> Gpus:
    """Asks for the GPUs of this machine; none is no error.

    Processes `pids`, and those of process groups `groups`, are ours, and not
    foreign.  `root` is the folder that holds sys and proc; `nvml` NVML's file,
    and "" does not look for NVIDIA's GPUs.
    """
    return make_gpus(_facade.gpus(root, nvml, numbers(pids), numbers(groups)))
