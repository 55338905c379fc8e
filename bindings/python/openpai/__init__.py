"""OpenPAI as a library: read a job file, run it on this machine.

>>> import openpai
>>> job = openpai.Job.load("examples/jobs/hello.yaml")
>>> openpai.run(job, on_event=print)
Result(state='succeeded', code=0)

check() tells all that is wrong with a job file, and Draft changes one.
Topology is a machine, Cluster many of them, Allocation what a job holds of
them; gpus() and Sampler tell what this machine has and does.  Scheduler decides
who starts where; HiveD does that for Kubernetes.  simulate() runs a Trace on a
cluster in virtual time, and Replay goes back in a scheduler's log.

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
from ._forecast import (
    Forecast, Guess, History, Shape, Shapes, WhatIf, When)
from ._gpus import Gpu, GpuLink, GpuProcess, Gpus, gpus
from ._hived import HiveD, HiveDAnswer, HiveDBinding
from ._job import Change, Job, Prerequisite, Role, check, schema
from ._platform import Event, Platform, Result, run
from ._policy import PolicyHost, SchedulingPolicy
from ._queue import (
    Decision, Place, Policy, Queue, Reason, Request, Running, SchedNode,
    SchedSums, SchedVirtualCluster, Want)
from ._replay import Replay, Step
from ._report import Diagnostic, Report
from ._sampler import (
    CpuSample, DiskSample, FileSystemSample, GpuSample, GroupSample,
    MemorySample, NetworkSample, Sample, Sampler)
from ._sched import Log, Scheduler, SchedulerView, policies
from ._sim import (
    Comparison, SimJob, SimReport, Simulation, compare, simulate)
from ._topology import (
    Affinity, Link, Summary, Topology, TopologyGpu, TopologyObject)
from ._trace import Attempt, Trace, TraceNote, TraceRecord

__all__ = [
    "Affinity", "Allocation", "Attempt", "BusyError", "CanceledError",
    "Change", "Cluster", "Comparison", "CpuSample", "Decision", "Diagnostic",
    "DiskSample", "Draft", "Error", "Event", "ExistsError", "FileSystemSample",
    "Forecast", "Gpu", "GpuLink", "GpuProcess", "GpuSample", "Gpus",
    "GroupSample", "Guess", "History", "HiveD", "HiveDAnswer", "HiveDBinding",
    "InternalError", "InvalidError", "IoError", "Item", "Job", "LimitError",
    "Link", "Log", "Machine", "MemorySample", "Near", "NetworkSample",
    "NoMemoryError", "NoRoomError", "NoSuchFileError", "NoSuchPlaceError",
    "Node", "NodeAllocation", "NodeGpu", "Nodes", "NotFoundError",
    "PermissionDenied", "Place", "Platform", "Policy", "PolicyHost",
    "Prerequisite", "Queue", "Reason", "Replay", "Report", "Request", "Result",
    "Role", "Running", "Sample", "Sampler", "SchedNode", "SchedSums",
    "SchedVirtualCluster", "Scheduler", "SchedulerView", "SchedulingPolicy",
    "Shape", "Shapes", "Share", "SimJob", "SimReport", "Simulation", "Sku",
    "Step", "Summary", "Sums", "Topology", "TopologyGpu", "TopologyObject",
    "Trace", "TraceNote", "TraceRecord", "UnsupportedError", "VirtualCluster",
    "Want", "WhatIf", "When", "__version__", "check", "compare", "gpus",
    "policies", "run", "schema", "simulate"]

__version__: str = _facade.version()

if _facade.version_number() < _facade.HEADER_VERSION_NUMBER:
    raise ImportError(
        "libopenpai %s is older than this module, which was built for %#08x"
        % (__version__, _facade.HEADER_VERSION_NUMBER))
