"""The GPUs of this machine, as their drivers tell."""
import json
from dataclasses import dataclass
from typing import (
    Any, Dict, Iterable, NamedTuple, Optional, Sequence, Tuple, Union,
    overload)

from . import facade as _facade
from ._job import Path
from ._values import made, numbers


class GpuProcess(NamedTuple):
    """A process that uses a GPU."""
    pid: int
    #: Not among those that were said to be ours.
    foreign: bool
    #: In bytes.
    memory: Optional[int] = None


class GpuLink(NamedTuple):
    """The links of two GPUs, or from one to a switch, which joins all that
    have one."""
    a: int
    links: int
    #: None: a switch.
    b: Optional[int] = None
    #: In tenths: 30 is NVLink 3.0.
    version: Optional[int] = None
    #: Of all of them, each direction.
    mbytes_per_second: Optional[int] = None


@dataclass(frozen=True)
class Gpu:
    """A GPU, or a MIG instance, which follows its GPU in the list.  None or
    "": nobody could tell."""
    vendor: str
    #: The driver's; of a MIG instance its number within its GPU.
    number: int
    processes: Tuple[GpuProcess, ...]
    #: "healthy", "worn", "sick" or "lost".
    health: Optional[str] = None
    #: Why it is not healthy.
    reason: str = ""
    model: str = ""
    uuid: str = ""
    pci: str = ""
    #: Of a MIG instance: its GPU's place in the list.
    parent: Optional[int] = None
    #: Of /dev/nvidiaN or renderDN.
    device: Optional[int] = None
    #: "shared", "exclusive-thread", "prohibited" or "exclusive".
    compute_mode: Optional[str] = None
    #: Cut into instances?
    mig: Optional[bool] = None
    gpu_instance: Optional[int] = None
    compute_instance: Optional[int] = None
    #: Is memory checked?
    ecc: Optional[bool] = None
    ecc_corrected: Optional[int] = None
    ecc_uncorrected: Optional[int] = None
    #: In bytes.
    memory_total: Optional[int] = None
    memory_used: Optional[int] = None
    clock_mhz: Optional[int] = None
    clock_max_mhz: Optional[int] = None
    memory_clock_mhz: Optional[int] = None
    memory_clock_max_mhz: Optional[int] = None
    #: Degrees Celsius.
    temperature: Optional[int] = None
    power_mw: Optional[int] = None
    power_limit_mw: Optional[int] = None
    busy_percent: Optional[int] = None
    memory_busy_percent: Optional[int] = None


class Gpus(Sequence[Gpu]):
    """The GPUs as they were; made by gpus()."""
    __slots__ = ("_gpus", "links", "notes", "driver")

    def __init__(self, listed: Sequence[Gpu], links: Sequence[GpuLink] = (),
                 notes: Sequence[str] = (), driver: str = "") -> None:
        self._gpus = tuple(listed)
        #: What joins them.
        self.links: Tuple[GpuLink, ...] = tuple(links)
        #: What could not be asked: why there is none though there are GPUs.
        self.notes: Tuple[str, ...] = tuple(notes)
        #: The version of NVIDIA's driver, or "".
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
    """Of what facade_gpu.c has written."""
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
