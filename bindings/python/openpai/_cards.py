"""How jobs look in a notebook and on a terminal."""
import datetime
import html
from typing import TYPE_CHECKING, Iterable, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from ._handle import Handle
    from ._records import JobStatus, JobSummary

#: Legible on light and on dark pages.
_COLOURS = {"waiting": "#b08800", "running": "#1f7ae0", "stopping": "#b05c00",
            "succeeded": "#2e9e44", "failed": "#d1342c", "stopped": "#7a7a7a"}


def _escape(value: object) -> str:
    return html.escape("" if value is None else str(value))


def _badge(state: str) -> str:
    return ('<span style="background:%s;color:#fff;border-radius:4px;'
            'padding:1px 8px;font-size:85%%">%s</span>' % (
                _COLOURS.get(state, "#7a7a7a"), _escape(state)))


def duration(seconds: Optional[float]) -> str:
    """As "42s", "3m 20s", "5h 07m", "2d 3h"."""
    if seconds is None:
        return ""
    whole = int(seconds)
    if whole < 60:
        return "%ds" % whole
    if whole < 3600:
        return "%dm %02ds" % divmod(whole, 60)
    if whole < 86400:
        return "%dh %02dm" % (whole // 3600, whole % 3600 // 60)
    return "%dd %dh" % (whole // 86400, whole % 86400 // 3600)


def _ran(started: Optional[datetime.datetime],
         ended: Optional[datetime.datetime]) -> str:
    if started is None:
        return ""
    end = ended or datetime.datetime.now(datetime.timezone.utc)
    return duration(max((end - started).total_seconds(), 0.0))


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML."""
    cell = '<td style="text-align:left">%s</td>'
    return ("<table><thead><tr>" +
            "".join('<th style="text-align:left">%s</th>' % _escape(head)
                    for head in heads) + "</tr></thead><tbody>" +
            "".join("<tr>" + "".join(cell % value for value in row) + "</tr>"
                    for row in rows) + "</tbody></table>")


def job_card(status: "JobStatus", most: int = 16,
             cause: Optional[str] = None) -> str:
    """A job with its tasks; of many tasks the first ones.  `cause`: why it
    failed, where that is known better."""
    line = [_escape(status.user), _escape(status.virtual_cluster)]
    if status.seconds is not None:
        line.append("ran " + duration(status.seconds) if status.is_over
                    else "for " + duration(status.seconds))
    if status.retries:
        line.append("%d %s" % (status.retries, "retry"
                               if status.retries == 1 else "retries"))
    if status.code:
        line.append("code %d" % status.code)
    if status.output_lost:
        line.append("output lost")
    rows = [[_escape(task.name), _badge(task.state),
             _ran(task.started, task.ended),
             "" if task.code is None else str(task.code),
             _escape(task.node), _escape(task.reason if task.code else "")]
            for task in status.tasks[:most]]
    parts = ['<div><b>%s</b> %s <span style="opacity:.7">%s</span>' % (
        _escape(status.name), _badge(status.state), " · ".join(line))]
    reason = cause or (status.failure.reason if status.failure
                       else status.reason)
    if reason and status.code:
        parts.append("<div>%s</div>" % _escape(reason))
    if status.failure:
        parts += ["<div>%s</div>" % _escape(text)
                  for text in status.failure.solution]
    parts.append(_table(["task", "state", "ran", "code", "node", ""], rows))
    if len(status.tasks) > most:
        parts.append("<div>… and %d more tasks</div>" % (
            len(status.tasks) - most))
    return "".join(parts) + "</div>"


_HEADS = ("name", "user", "state", "ran", "code", "tasks", "GPUs", "VC")


def _row(job: "JobSummary") -> Tuple[str, ...]:
    return (job.name, job.user, job.state, _ran(job.started, job.ended),
            "" if job.code is None else str(job.code), str(job.tasks),
            str(job.gpus), job.virtual_cluster)


def jobs_table(jobs: Sequence["JobSummary"]) -> str:
    rows: List[List[str]] = []
    for job in jobs:
        row = [_escape(value) for value in _row(job)]
        row[2] = _badge(job.state)
        rows.append(row)
    return _table(_HEADS, rows) if rows else "<div>no jobs</div>"


def jobs_text(jobs: Sequence["JobSummary"]) -> str:
    if not jobs:
        return "no jobs"
    rows = [tuple(head.upper() for head in _HEADS), *map(_row, jobs)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    return "\n".join("  ".join(
        value.ljust(width) for value, width in zip(row, widths)).rstrip()
        for row in rows)


class _Card:
    """A job as it was; on a terminal, where nothing follows it, a line."""

    def __init__(self, handle: "Handle", status: "JobStatus") -> None:
        self.html = handle._card(status)
        self.text = repr(handle)

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def show_live(handle: "Handle") -> None:
    """A card that follows its job, where a notebook's loop runs."""
    import asyncio

    from IPython.display import display

    status = handle.show()
    shown = display(_Card(handle, status), display_id=True)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    if shown is None or status.is_over:
        return

    async def follow() -> None:
        ended = asyncio.ensure_future(handle._ended())
        last = ""
        while not ended.done():
            await asyncio.wait([ended], timeout=1.0)
            card = _Card(handle, handle.show())
            if card.html != last:
                shown.update(card)
            last = card.html
        await ended

    task = loop.create_task(follow())
    _following.add(task)  # a loop keeps tasks only weakly
    task.add_done_callback(_following.discard)


_following: "set[object]" = set()
