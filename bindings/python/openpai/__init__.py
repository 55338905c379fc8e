"""OpenPAI as a library: read a job file, run it on this machine.

>>> import openpai
>>> job = openpai.Job.load("examples/jobs/hello.yaml")
>>> openpai.run(job, on_event=print)
Result(state='succeeded', code=0)

check() tells all that is wrong with a job file, and Draft changes one.
Topology is a machine, Cluster many of them, Allocation what a job holds of
them; gpus() and Sampler tell what this machine has and does.  Scheduler decides
who starts where; HiveD does that for Kubernetes.  Life is what becomes of a
job, exit_spec() what its code means.  simulate() runs a Trace on a
cluster in virtual time, and Replay goes back in a scheduler's log.

Client asks a server, or the platform of `openpai up`.

What fails raises openpai.Error, or a subclass of it per code.
"""
from . import facade as _facade
from ._accounts import Accounts, Identity, VirtualClusters
from ._allocation import Allocation, Item, NodeAllocation
from ._client import BlockingClient, Client, Executing
from ._client_base import Answer, JobChange
from ._client_calls import (
    AsyncClientCall, AsyncClientCallOptions, ClientCall, ClientCallOptions)
from ._client_many import ClientExecutor
from ._client_streams import Changes, ClientLogs, JobPages
from ._cluster import (
    Cluster, Machine, Near, Node, NodeGpu, Nodes, Share, Sku, Sums,
    VirtualCluster)
from ._draft import Draft
from ._errors import (
    BusyError, CanceledError, Error, ExistsError, InternalError, InvalidError,
    IoError, LimitError, NoMemoryError, NoRoomError, NoSuchFileError,
    NoSuchPlaceError, NotFoundError, PermissionDenied, ServerLostError,
    ServerNotFoundError, ServerTimeoutError, TimedOutError, UnsupportedError)
from ._exec import Executed, Execution
from ._forecast import (
    Forecast, Guess, History, Shape, Shapes, WhatIf, When)
from ._gpus import Gpu, GpuLink, GpuProcess, Gpus, gpus
from ._hived import HiveD, HiveDAnswer, HiveDBinding
from ._job_files import File
from ._job import (
    Change, Job, Prerequisite, Role, TextPlace, TextRange, check, fix, place_at,
    place_of, schema)
from ._life import (
    Action, Life, LifeRole, LifeStatus, LifeTask, exit_codes, exit_spec)
from ._handle import CallHandle, Handle
from ._logs import Logs
from ._many import Executor
from ._outcome import JobFailed
from ._platform import CallOptions, Event, Platform, repair, run
from ._policy import PolicyHost, SchedulingPolicy, policy
from ._queue import (
    Decision, Place, Policy, Queue, Reason, Request, Running, SchedNode,
    SchedSums, SchedVirtualCluster, Want)
from ._records import (
    Failure, JobEvent, Jobs, JobStatus, JobSummary, Result, TaskStatus, Why,
    WhyReason)
from ._replay import Replay, Step
from ._report import Diagnostic, Fix, Picture, Report, TextEdit
from ._sampler import (
    CpuSample, DiskSample, FileSystemSample, GpuSample, GroupSample,
    MemorySample, NetworkSample, Sample, Sampler)
from ._sched import Log, Scheduler, SchedulerView, policies
from ._session import AsyncSession, Chunk, Session
from ._shadow import Difference, Shadow, ShadowStart
from ._sim import (
    Comparison, SimJob, SimReport, Simulation, compare, simulate)
from ._topology import (
    Affinity, Link, Summary, Topology, TopologyGpu, TopologyObject)
from ._trace import Attempt, Trace, TraceNote, TraceRecord

__all__ = [
    "Accounts", "Action", "Affinity", "Allocation", "Answer",
    "AsyncClientCall", "AsyncClientCallOptions", "AsyncSession", "Attempt",
    "BlockingClient", "BusyError", "CallHandle", "CallOptions", "CanceledError", "Change", "Changes", "Chunk",
    "Client", "ClientCall", "ClientCallOptions", "ClientExecutor",
    "ClientLogs", "Cluster", "Comparison", "CpuSample", "Decision", "Diagnostic",
    "Difference",
    "DiskSample", "Draft", "Error", "Event", "ExistsError", "Failure", "FileSystemSample",
    "Executed", "Executing", "Execution", "Executor", "File", "Fix", "Forecast", "Gpu", "GpuLink", "GpuProcess", "GpuSample", "Gpus",
    "GroupSample", "Guess", "Handle", "History", "HiveD", "HiveDAnswer", "HiveDBinding",
    "Identity", "InternalError", "InvalidError", "IoError", "Item", "Job", "JobEvent",
    "JobChange", "JobFailed", "JobPages", "JobStatus", "JobSummary", "Jobs", "Life",
    "LifeRole", "LifeStatus", "LifeTask", "LimitError", "Link", "Log", "Logs",
    "Machine", "MemorySample", "Near", "NetworkSample", "NoMemoryError",
    "NoRoomError", "NoSuchFileError", "NoSuchPlaceError", "Node",
    "NodeAllocation", "NodeGpu", "Nodes", "NotFoundError", "PermissionDenied",
    "Picture", "Place", "Platform", "Policy", "PolicyHost", "Prerequisite", "Queue",
    "Reason", "Replay", "Report", "Request", "Result", "Role", "Running",
    "Sample", "Sampler", "SchedNode", "SchedSums", "SchedVirtualCluster",
    "Scheduler", "SchedulerView", "SchedulingPolicy", "ServerLostError",
    "ServerNotFoundError", "ServerTimeoutError", "Session", "Shadow", "ShadowStart", "Shape", "Shapes",
    "Share", "SimJob", "SimReport", "Simulation", "Sku", "Step", "Summary",
    "Sums", "TaskStatus", "TextEdit", "TextPlace", "TextRange", "TimedOutError", "Topology", "TopologyGpu", "TopologyObject", "Trace", "TraceNote",
    "TraceRecord", "UnsupportedError", "VirtualCluster", "VirtualClusters", "Want", "WhatIf",
    "When", "Why", "WhyReason", "__version__", "check", "compare", "exit_codes", "exit_spec",
    "fix", "gpus", "place_at", "place_of", "policies", "policy", "repair", "run", "schema", "simulate"]

__version__: str = _facade.version()

if _facade.version_number() < _facade.HEADER_VERSION_NUMBER:
    raise ImportError(
        "libopenpai %s is older than this module, which was built for %#08x"
        % (__version__, _facade.HEADER_VERSION_NUMBER))


def load_ipython_extension(shell: object) -> None:
    """%load_ext openpai: the magics %pai and %%pai."""
    from ._magic import load
    load(shell)
