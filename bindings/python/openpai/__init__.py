"""OpenPAI as a library: read a job file, run it on this machine.

>>> import openpai
>>> job = openpai.Job.load("examples/jobs/hello.yaml")
>>> openpai.run(job, on_event=print)
Result(state='succeeded', code=0)

check() tells all that is wrong with a job file, and Draft changes one.
Topology is a machine, Cluster many of them, Allocation what a job holds of
them; gpus() and Sampler tell what this machine has and does.  Scheduler decides
who starts where; HiveD does that for Kubernetes.

What fails raises openpai.Error, or a subclass of it per code.
"""
from . import facade as _facade
from ._allocation import Allocation, Item, NodeAllocation
from ._cluster import (
    Cluster, Machine, Near, Node, NodeGpu, Nodes, Share, Sku, Sums,
    VirtualCluster)
from ._draft import Draft
from ._errors import (
    BusyError, CanceledError, Error, ExistsError, InternalError, InvalidError,
    IoError, LimitError, NoMemoryError, NoRoomError, NoSuchFileError,
    NoSuchPlaceError, NotFoundError, PermissionDenied, UnsupportedError)
from ._gpus import Gpu, GpuLink, GpuProcess, Gpus, gpus
from ._hived import HiveD, HiveDAnswer, HiveDBinding
from ._job import Change, Job, Prerequisite, Role, check, schema
from ._platform import Event, Platform, Result, run
from ._policy import PolicyHost, SchedulingPolicy
from ._queue import (
    Decision, Place, Policy, Queue, Reason, Request, Running, SchedNode,
    SchedSums, SchedVirtualCluster, Want)
from ._report import Diagnostic, Report
from ._sampler import (
    CpuSample, DiskSample, FileSystemSample, GpuSample, GroupSample,
    MemorySample, NetworkSample, Sample, Sampler)
from ._sched import Log, Scheduler, policies
from ._topology import (
    Affinity, Link, Summary, Topology, TopologyGpu, TopologyObject)

__all__ = [
    "Affinity", "Allocation", "BusyError", "CanceledError", "Change",
    "Cluster", "CpuSample", "Decision", "Diagnostic", "DiskSample", "Draft",
    "Error", "Event", "ExistsError", "FileSystemSample", "Gpu", "GpuLink",
    "GpuProcess", "GpuSample", "Gpus", "GroupSample", "HiveD", "HiveDAnswer",
    "HiveDBinding", "InternalError",
    "InvalidError", "IoError", "Item", "Job", "LimitError", "Link", "Log",
    "Machine", "MemorySample", "Near", "NetworkSample", "NoMemoryError",
    "NoRoomError", "NoSuchFileError", "NoSuchPlaceError", "Node",
    "NodeAllocation", "NodeGpu", "Nodes", "NotFoundError", "PermissionDenied",
    "Place", "Platform", "Policy", "PolicyHost", "Prerequisite", "Queue",
    "Reason", "Report", "Request", "Result", "Role", "Running", "Sample",
    "Sampler", "SchedNode", "SchedSums", "SchedVirtualCluster", "Scheduler",
    "SchedulingPolicy", "Share", "Sku", "Summary", "Sums", "Topology",
    "TopologyGpu", "TopologyObject", "UnsupportedError", "VirtualCluster",
    "Want", "__version__", "check", "gpus", "policies", "run", "schema"]

__version__: str = _facade.version()

if _facade.version_number() < _facade.HEADER_VERSION_NUMBER:
    raise ImportError(
        "libopenpai %s is older than this module, which was built for %#08x"
        % (__version__, _facade.HEADER_VERSION_NUMBER))
