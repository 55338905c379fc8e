"""Reports of simulations as figures of matplotlib."""
import json
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from .sim import SimReport


def _unit(seconds: float) -> Tuple[float, str]:
    """What a span is best told in."""
    for size, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 3 * size:
            return size, name
    return 1, "seconds"


def _over_time(axes: Any, told: Dict[str, Any], values: Sequence[float],
               size: float) -> None:
    step = told["bin_s"] / size
    axes.plot([step * i for i in range(len(values))], values,
              drawstyle="steps-post", label=told["policy"], linewidth=1)


def _waits(axes: Any, told: Dict[str, Any], size: float) -> None:
    at: List[float] = told["waits_s"]["at"]
    if len(at) > 1:
        axes.plot([value / size for value in at],
                  [i / (len(at) - 1) for i in range(len(at))],
                  label=told["policy"])


def draw(reports: Sequence["SimReport"]) -> Any:
    """A figure: GPUs in use, jobs that wait, how long they waited."""
    from matplotlib.figure import Figure

    all_told = [json.loads(report.to_json()) for report in reports]
    size, unit = _unit(max(told["span_s"] for told in all_told))
    wait_size, wait_unit = _unit(max(told["wait_p99_s"] for told in all_told))
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    grid = figure.add_gridspec(2, 2)
    use, backlog, waits = (figure.add_subplot(grid[0, :]),
                           figure.add_subplot(grid[1, 0]),
                           figure.add_subplot(grid[1, 1]))
    for told in all_told:
        whole = max(told["bin_s"] * told["gpus"], 1)
        _over_time(use, told, [100 * busy / whole for busy
                               in told["bins"]["busy_gpu_s"]], size)
        _over_time(backlog, told, [
            waited / max(told["bin_s"], 1e-9) for waited
            in told["bins"]["waiting_job_s"]], size)
        _waits(waits, told, wait_size)
    use.set(title="GPUs in use, %", xlabel=unit, ylim=(0, 102))
    backlog.set(title="jobs that wait", xlabel=unit)
    backlog.set_ylim(bottom=0)
    waits.set(title="part of jobs that waited so long at most",
              xlabel=wait_unit, ylim=(0, 1.02))
    waits.set_xlim(left=0)
    for axes in (use, backlog, waits):
        axes.grid(alpha=0.3)
    if len(all_told) > 1:
        use.legend()
    return figure
