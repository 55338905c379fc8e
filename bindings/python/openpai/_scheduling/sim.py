"""Simulations: a cluster, a trace and a policy, in virtual time."""
import contextlib
import json
from typing import (
    Any, BinaryIO, Callable, Iterable, Mapping, Optional, Sequence, Tuple,
    Union)

from . import plots as _plots
from .._fields import SimJob, TraceNote
from .. import facade as _facade
from .._cluster import Cluster
from .._files import Writer, open_for
from .._job import Path
from .._objects import Closes, Immutable
from .policy import PolicyLike, policy_ref
from .sched import SchedulerView, facade_cluster
from .trace import Teller, Trace, fields, thousandths
from .._values import text_or_bytes

_NEVER = 2 ** 63 - 1

Output = Union[Path, Writer, BinaryIO]


class _SimTeller(Teller):
    """What the facade calls for functions and files of the caller's."""
    __slots__ = ("_on_job", "_log", "_events")

    def __init__(self, on_job: Optional[Callable[[SimJob], object]],
                 on_line: Optional[Callable[[TraceNote], object]],
                 log: Optional[Writer], events: Optional[Writer]) -> None:
        super().__init__(on_line)
        self._on_job = on_job
        self._log = log
        self._events = events

    def job(self, text: str) -> None:
        if self._on_job is not None:
            self._on_job(SimJob(**json.loads(text)))

    def log(self, text: str) -> None:
        if self._log is not None:
            self._log.write(text)

    def event(self, text: str) -> None:
        if self._events is not None:
            self._events.write(text)


class Simulation(Closes):
    """A simulation that can be halted, and looked at.

        with openpai.Simulation(cluster, trace, "backfill") as simulation:
            while simulation.step(simulation.now + 86400_000000):
                print(simulation.scheduler.queue)
            print(simulation.report())

    Times are microseconds; means are of exponential distributions, drawn from
    `seed`.  What is not given is free, or never happens:

    * options: the policy's own
    * strict: a job that cannot be taken as it is is an error; else it is mapped
      or rejected, and counted
    * estimates: the policy knows how long jobs take, where the trace does not
      tell what their owners believed
    * until: no further
    * start_cost, restart_cost, stop_cost: from a place to work, likewise for
      who has run before, and until it has left
    * checkpoint: how often a job saves its work, in time that it ran
    * node_up, node_down: mean times until a node fails, and is repaired
    * fail: this part of all attempts fails
    * patience: mean time after which who has not started is killed
    * stretch, spread: durations times that; they vary by that part
    * on_job, on_line: called with each SimJob that ends, and TraceNote of jobs
      that are not taken as they are
    * log, events: files, as paths or open, for the scheduler's log, and for
      what happens to jobs
    * bars: so many runs at most are kept for the picture of who was where
    """
    __slots__ = ("_sim", "_trace", "_at", "_files", "__weakref__")

    def __init__(self, cluster: Cluster, trace: Union[Trace, Path],
                 policy: PolicyLike = "fifo",
                 options: Optional[Mapping[str, object]] = None, *,
                 seed: int = 0, strict: bool = False, estimates: bool = False,
                 until: Optional[int] = None, start_cost: int = 0,
                 restart_cost: int = 0, stop_cost: int = 0,
                 checkpoint: int = 0, node_up: int = 0, node_down: int = 0,
                 fail: float = 0.0, patience: int = 0, stretch: float = 1.0,
                 spread: float = 0.0, bars: int = 0,
                 on_job: Optional[Callable[[SimJob], object]] = None,
                 on_line: Optional[Callable[[TraceNote], object]] = None,
                 log: Optional[Output] = None,
                 events: Optional[Output] = None) -> None:
        self._at = 0
        self._trace = trace if isinstance(trace, Trace) else Trace.load(trace)
        given = fields({
            "policy_options": json.dumps(options) if options else None,
            "seed": seed, "strict": strict, "estimates": estimates,
            "until": until, "start_cost": start_cost,
            "restart_cost": restart_cost, "stop_cost": stop_cost,
            "checkpoint": checkpoint, "node_up": node_up,
            "node_down": node_down, "fail": thousandths(fail),
            "patience": patience, "stretch":
            0 if stretch == 1.0 else thousandths(stretch),
            "spread": thousandths(spread), "bars": bars,
            "tell_jobs": on_job is not None, "tell_lines": on_line is not None,
            "tell_log": log is not None, "tell_events": events is not None})
        with contextlib.ExitStack() as files:
            teller = _SimTeller(on_job, on_line, _to(files, log),
                                _to(files, events))
            self._sim = _facade.Simulation.make(
                facade_cluster(cluster), self._trace._begin(), given,
                policy_ref(policy), teller)
            self._files = files.pop_all()

    def step(self, until: Optional[int] = None) -> bool:
        """Goes on to a time, or to the end, and does all that happens then.
        False: it is over.

        What a callback or policy raises comes out as it is.  Ctrl-C ends it,
        too, and it can go on."""
        more = self._sim.step(_NEVER if until is None else until)
        self._at = until if more and until is not None else 0
        return more

    def run(self) -> "SimReport":
        """Goes on to the end."""
        self.step()
        return self.report()

    def report(self) -> "SimReport":
        """What was found so far."""
        return SimReport._of(self._sim.report())

    @property
    def scheduler(self) -> SchedulerView:
        """Its scheduler, to look at."""
        return SchedulerView._view(self._sim.view(), self)

    @property
    def now(self) -> int:
        """How far it has gone."""
        return max(self._at, self.scheduler.now)

    def close(self) -> None:
        """Closes the files that it has opened."""
        self._files.close()

    def __repr__(self) -> str:
        return "<openpai.Simulation: %r>" % self.scheduler


def _to(files: contextlib.ExitStack, output: Optional[Output]
        ) -> Optional[Writer]:
    if output is None:
        return None
    opened, writer = open_for(output)
    if opened is not None:
        files.enter_context(opened)
    return writer


def simulate(cluster: Cluster, trace: Union[Trace, Path],
             policy: PolicyLike = "fifo",
             options: Optional[Mapping[str, object]] = None,
             **given: Any) -> "SimReport":
    """Simulates a trace on a cluster, to the end.

        trace = openpai.Trace.generate(3000, seed=1, gpus=256)
        report = openpai.simulate(cluster, trace, "backfill", seed=7)
        print(report)

    `trace` may be a path.  All else that can be given, as seed, restart_cost or
    on_job, is Simulation's.  The same cluster, trace and arguments give the
    same report on any machine.
    """
    with Simulation(cluster, trace, policy, options, **given) as simulation:
        return simulation.run()


class Comparison(Sequence["SimReport"]):
    """Reports side by side."""
    __slots__ = ("_reports",)

    def __init__(self, reports: Iterable["SimReport"]) -> None:
        self._reports = tuple(reports)
        if not self._reports:
            raise ValueError("there is no report to compare")
        for report in self._reports:
            if not isinstance(report, SimReport):
                raise TypeError("a SimReport is wanted, not %s"
                                % type(report).__name__)

    def __len__(self) -> int:
        return len(self._reports)

    def __getitem__(self, index: Any) -> Any:
        return self._reports[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return self._reports == other._reports

    def __hash__(self) -> int:
        return hash(self._reports)

    def _written(self, form: str) -> str:
        all_of_them = _facade.Reports.make()
        for report in self._reports:
            all_of_them.add(report._report)
        return all_of_them.write(form)

    def to_json(self) -> str:
        """Of one report an object, of several an object with "runs"."""
        return self._written("json")

    def to_csv(self) -> str:
        """A row for each."""
        return self._written("csv")

    def to_html(self) -> str:
        """A page with charts, that needs no other file."""
        return self._written("html")

    def __str__(self) -> str:
        return self._written("text").rstrip("\n")

    def __repr__(self) -> str:
        return "<openpai.Comparison: %s>" % ", ".join(
            report.policy for report in self._reports)

    def plot(self) -> Any:
        """A matplotlib.figure.Figure: GPUs in use, jobs that wait, waits."""
        return _plots.draw(self)

    def _repr_html_(self) -> str:
        """The page's body, which draws itself in any other page: it has a
        shadow root, and no names of its own.  Where scripts do not run it is
        str()."""
        return self.to_html().partition("<body>")[2].partition("</body>")[0]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


class SimReport(Immutable):
    """What a simulation has found; times are microseconds.

    str() is a page for a terminal; a notebook shows one with charts.  Two
    reports are equal if to_json() of both is.
    """
    policy: str
    seed: int
    #: Lines of the trace that could not be used.
    lines_skipped: int
    #: Jobs that came; that could never start; that started at least once.
    jobs: int
    rejected: int
    started: int
    #: Jobs that ended by themselves; those of them that failed.
    finished: int
    failed: int
    #: Jobs ended by their owners or limits; jobs that have not ended.
    killed: int
    left: int
    #: Jobs that asked for an unknown virtual cluster or GPU type.
    mapped_vcs: int
    mapped_types: int
    preemptions: int
    retries: int
    #: The first submission; the time from there to the last end.
    begin: int
    makespan: int
    #: Time from submission to the first start, of jobs that started.
    wait_mean: int
    wait_p50: int
    wait_p90: int
    wait_p99: int
    wait_max: int
    #: Time in the system divided by run time, which counts as at least 10 s.
    slowdown_mean: float
    slowdown_p50: float
    slowdown_p90: float
    #: From 0 to 1: GPU time in use; free GPUs that no task of eight GPUs could
    #: use; Jain's fairness index over users.
    utilization: float
    fragmentation: float
    fairness: float
    #: Lost work: time multiplied by GPUs.
    lost: int

    def __init__(self) -> None:
        raise TypeError("use simulate() or SimReport.parse()")

    @classmethod
    def _of(cls, report: "_facade.SimReport") -> "SimReport":
        made_now = cls.__new__(cls)
        made_now.__dict__.update(json.loads(report.look()))
        made_now.__dict__["_report"] = report
        return made_now

    _report: "_facade.SimReport"

    @classmethod
    def parse(cls, text: Union[str, bytes]) -> "SimReport":
        """Reads what to_json() has written."""
        return cls._of(_facade.SimReport.parse(text_or_bytes(text)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a report does not change")

    def __reduce__(self) -> Tuple[Any, ...]:
        return SimReport.parse, (self.to_json(),)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SimReport):
            return NotImplemented
        return self is other or self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def to_json(self) -> str:
        """All of it as one object."""
        return Comparison([self]).to_json()

    def to_csv(self) -> str:
        """Names of columns, and a row."""
        return Comparison([self]).to_csv()

    def to_html(self) -> str:
        """A page with charts, that needs no other file."""
        return Comparison([self]).to_html()

    def __str__(self) -> str:
        return str(Comparison([self]))

    def __repr__(self) -> str:
        return ("<openpai.SimReport %r: %d jobs, %.1f %% utilization, "
                "wait %.0f s>" % (self.policy, self.jobs,
                                  self.utilization * 100,
                                  self.wait_mean / 1e6))

    def plot(self) -> Any:
        """A matplotlib.figure.Figure: GPUs in use, jobs that wait, waits."""
        return Comparison([self]).plot()

    def _repr_html_(self) -> str:
        return Comparison([self])._repr_html_()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def compare(reports: Iterable[SimReport]) -> Comparison:
    """Puts reports of one trace on one cluster side by side; the first is what
    the others are compared with."""
    return Comparison(reports)
