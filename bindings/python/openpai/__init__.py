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
from ._account_base import Identity
from ._accounts import Accounts, VirtualClusters
from ._allocation import Allocation, Item, NodeAllocation
from ._remote.client import BlockingClient, Client, Executing
from ._remote.client_base import Answer, JobChange, calls
from ._remote.client_calls import (
    AsyncClientCall, AsyncClientCallOptions, ClientCall, ClientCallOptions)
from ._remote.client_many import ClientExecutor
from ._remote.client_streams import Changes, ClientLogs, JobPages
from ._cluster import Cluster, Machine, Nodes
from ._draft import Draft
from ._errors import (
    BusyError, CanceledError, Error, ExistsError, InternalError, InvalidError,
    IoError, LimitError, NoMemoryError, NoRoomError, NoSuchFileError,
    NoSuchPlaceError, NotFoundError, PermissionDenied, ServerLostError,
    ServerNotFoundError, ServerTimeoutError, ServerUntrustedError,
    TimedOutError, UnsupportedError)
from ._exec import Executed, Execution
from ._fields import (
    Action, Affinity, Attempt, CpuSample, Decision, DiskSample,
    FileSystemSample, Gpu, GpuLink, GpuProcess, GpuSample, GroupSample, Guess,
    HiveDBinding, LifeRole, LifeStatus, LifeTask, Link, MemorySample, Near,
    NetworkSample, Node, NodeGpu, Place, Policy, Prerequisite, Reason,
    Request, Role, Running, Sample, SchedNode, SchedSums, SchedVirtualCluster,
    Shape, Share, SimJob, Sku, Summary, Sums, TextEdit, TextPlace, TextRange,
    TopologyGpu, TopologyObject, TraceNote, TraceRecord, VirtualCluster, Want,
    When)
from ._scheduling.forecast import Forecast, History, Shapes, WhatIf
from ._gpus import Gpus, gpus
from ._scheduling.hived import HiveD, HiveDAnswer
from ._job_files import File
from ._job import Change, Job, check, fix, place_at, place_of, schema
from ._scheduling.life import Life, exit_codes, exit_spec
from ._handle import CallHandle, Handle
from ._logs import Logs
from ._functions.many import Executor
from ._functions.outcome import JobFailed
from ._platform import CallOptions, Event, Platform, repair, run
from ._scheduling.policy import PolicyHost, SchedulingPolicy, policy
from ._scheduling.queue import Queue
from ._records import (
    JobEvent, Jobs, JobStatus, JobSummary, Result, TaskStatus, Why, WhyReason)
from ._schema import Failure
from ._scheduling.replay import Replay, Step
from ._report import Diagnostic, Fix, Picture, Report
from ._sampler import Sampler
from ._scheduling.sched import Log, Scheduler, SchedulerView, policies
from ._session import AsyncSession, Chunk, Session
from ._scheduling.shadow import Difference, Shadow, ShadowStart
from ._scheduling.sim import Comparison, SimReport, Simulation, compare, simulate
from ._topology import Topology
from ._scheduling.trace import Trace

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
    "ServerNotFoundError", "ServerTimeoutError", "ServerUntrustedError", "Session", "Shadow", "ShadowStart", "Shape", "Shapes",
    "Share", "SimJob", "SimReport", "Simulation", "Sku", "Step", "Summary",
    "Sums", "TaskStatus", "TextEdit", "TextPlace", "TextRange", "TimedOutError", "Topology", "TopologyGpu", "TopologyObject", "Trace", "TraceNote",
    "TraceRecord", "UnsupportedError", "VirtualCluster", "VirtualClusters", "Want", "WhatIf",
    "When", "Why", "WhyReason", "__version__", "calls", "check", "compare", "exit_codes", "exit_spec",
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
