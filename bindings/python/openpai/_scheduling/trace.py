"""Traces: what jobs came to a cluster, when, and how they ended."""
import itertools
import json
import operator
import os
from typing import (
    Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Mapping, Optional,
    SupportsIndex, Tuple, Union)

from .._fields import Attempt, TraceNote, TraceRecord, Want
from .. import facade as _facade
from .._files import Writer, open_for
from .._job import Path
from .._objects import Copied
from .._report import html_table
from .._values import loaded, made, text_or_bytes, words

_CHUNK = 1 << 16

_Recipe = Tuple[str, Tuple[Any, ...], Dict[str, Any]]


RecordLike = Union[TraceRecord, Mapping[str, Any], str]


def fields(given: Mapping[str, object]) -> bytes:
    """Options as the facade has them; None, False and 0 are defaults."""
    flat: List[object] = []
    for name, value in given.items():
        if value is None or value is False or value == 0:
            continue
        flat += [name, value if isinstance(value, str) else
                 "%d" % operator.index(value)]  # type: ignore[arg-type]
    return words(flat)


def thousandths(part: float) -> int:
    """0.05 as 50."""
    return round(part * 1000)


class Teller:
    """What the facade calls for functions of the caller's."""
    __slots__ = ("_on_line", "_chunks")

    def __init__(self, on_line: Optional[Callable[[TraceNote], object]],
                 chunks: Optional[Iterator[str]] = None) -> None:
        self._on_line = on_line
        self._chunks = chunks

    def line(self, text: str) -> None:
        if self._on_line is not None:
            self._on_line(TraceNote(**json.loads(text)))

    def read(self) -> str:
        return next(self._chunks, "") if self._chunks is not None else ""


class Trace(Copied):
    """What jobs came to a cluster; each iteration reads it anew.

        trace = openpai.Trace.load("cluster_job_log")
        for record in trace:
            print(record.time, record.user, record.wants, record.attempts)
        print(trace.form, trace.jobs, trace.skipped)
        for note in trace.notes:
            print("line %d: %s" % (note.line, note.why))

    Records come in the order of their times, and none is kept: a trace may be
    longer than memory.  form, jobs, notes and so on are of the reading that
    began last, as far as it has come; a simulation is one, too.

    Two traces are equal if their records are: == reads both, and leaves the
    reading that began last alone.  A pickle of load() has the path, not the
    file.  What can be read only once is not pickled, and equal to itself only.
    """
    __slots__ = ("_open", "_trace", "_fresh", "_recipe", "__weakref__")
    __hash__ = None  # type: ignore[assignment] # a file may change
    _open: "Callable[[], _facade.Trace]"
    #: Class method and arguments that open the trace again; None: it can be
    #: read only once.
    _recipe: "Optional[_Recipe]"
    _trace: "_facade.Trace"
    _fresh: bool

    def __init__(self) -> None:
        raise TypeError("use Trace.load(), .parse(), .generate() or .of()")

    @classmethod
    def _of(cls, reopen: "Callable[[], _facade.Trace]",
            recipe: "Optional[_Recipe]" = None) -> "Trace":
        trace = cls.__new__(cls)
        trace._open = reopen
        trace._recipe = recipe
        trace._trace = reopen()  # reports failures at once
        trace._fresh = True
        return trace

    @classmethod
    def load(cls, path: Path, form: Optional[str] = None, *,
             strict: bool = False, sort: bool = False, window: int = 0,
             model: Optional[str] = None,
             on_line: Optional[Callable[[TraceNote], object]] = None
             ) -> "Trace":
        """Reads a file, or standard input, once, for "-".

        `form` is "philly", "sacct", ...: docs/guide/traces.md has them; None:
        as its first lines look.  strict: the first line that cannot be used is
        an error; sort: all is read first; `window`: so many records are held
        back till late ones have found their place; `model`: the GPUs that jobs
        ask for, where the trace names none; on_line: is told of each note.
        """
        options = _options(form, strict, sort, window, model, on_line)
        again = _Once() if path in ("-", b"-") else None

        def reopen() -> "_facade.Trace":
            if again is not None:
                again.check()
            return loaded(_facade.Trace.load, path, options, Teller(on_line))
        return cls._of(reopen, None if again is not None else (
            "load", (os.path.abspath(os.fsdecode(path)),), {
                "form": form, "strict": strict, "sort": sort, "window": window,
                "model": model, "on_line": on_line}))

    @classmethod
    def parse(cls, text: Union[str, bytes], form: Optional[str] = None, *,
              strict: bool = False, sort: bool = False, window: int = 0,
              model: Optional[str] = None,
              on_line: Optional[Callable[[TraceNote], object]] = None
              ) -> "Trace":
        """The same of a text."""
        options = _options(form, strict, sort, window, model, on_line)
        given = text_or_bytes(text)
        return cls._of(
            lambda: _facade.Trace.parse(given, options, Teller(on_line)),
            ("parse", (given,), {
                "form": form, "strict": strict, "sort": sort, "window": window,
                "model": model, "on_line": on_line}))

    @classmethod
    def of(cls, records: Iterable[RecordLike], *, strict: bool = True,
           sort: bool = False, window: int = 0, model: Optional[str] = None,
           on_line: Optional[Callable[[TraceNote], object]] = None
           ) -> "Trace":
        """One of your own: records, dicts or lines of JSON.

            Trace.of([{"time": 0, "gpus": 8, "duration": 3600_000000},
                      {"time": 1, "user": "ann", "wants": [Want(2, 4)],
                       "attempts": [Attempt(60_000000, code=1)]}])

        Dicts have the names of TraceRecord, and times in microseconds; instead
        of `wants` tasks, gpus and so on, instead of `attempts` duration and
        code.  An iterator is read once, and as it is needed.
        """
        options = _options("jsonl", strict, sort, window, model, on_line)
        again = _Once() if iter(records) is records else None

        def reopen() -> "_facade.Trace":
            if again is not None:
                again.check()
            return _facade.Trace.read(options, Teller(on_line,
                                                      _chunks(records)))
        return cls._of(reopen, None if again is not None else (
            "of", (records,), {"strict": strict, "sort": sort, "window": window,
                               "model": model, "on_line": on_line}))

    @classmethod
    def generate(cls, jobs: int = 1000, *, seed: int = 0,
                 like: str = "philly", gpus: int = 0, load: float = 0.8,
                 most_gpus: int = 0, gpus_per_node: int = 0, users: int = 0,
                 virtual_clusters: Union[int, Iterable[str]] = 0,
                 model: Optional[str] = None, faults: bool = False
                 ) -> "Trace":
        """Makes one up after published numbers, "philly" or "helios": the same
        for the same arguments, on any machine.

        `gpus` has the cluster that they come to, of which `load` is kept busy;
        0 is as published.  virtual_clusters: how many, or their names.
        faults: attempts fail, and users kill jobs, as published.
        """
        count, names = 0, b""
        if isinstance(virtual_clusters, int):
            count = virtual_clusters
        else:
            names = words(virtual_clusters)
        options = fields({
            "jobs": jobs, "seed": seed, "like": like, "gpus": gpus,
            "load": thousandths(load), "most_gpus": most_gpus,
            "gpus_per_node": gpus_per_node, "users": users,
            "virtual_clusters": count, "model": model, "faults": faults})
        return cls._of(lambda: _facade.Trace.generate(options, names), (
            "generate", (jobs,), {
                "seed": seed, "like": like, "gpus": gpus, "load": load,
                "most_gpus": most_gpus, "gpus_per_node": gpus_per_node,
                "users": users, "virtual_clusters": virtual_clusters,
                "model": model, "faults": faults}))

    def _again(self) -> _Recipe:
        if self._recipe is None:
            raise TypeError("a trace that can be read only once is neither "
                            "copied nor pickled: give Trace.of() a list")
        return self._recipe

    def copy(self) -> "Trace":
        """Another trace with the same records, which is read on its own."""
        return _remake(*self._again())

    def __reduce__(self) -> Tuple[Any, ...]:
        return _remake, self._again()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        if self is other:
            return True
        if self._recipe is None or other._recipe is None:
            return False
        return all(mine == its for mine, its in itertools.zip_longest(
            _all_lines(self._open()), _all_lines(other._open())))

    def _begin(self) -> "_facade.Trace":
        """A reading that stands before the first record."""
        if not self._fresh:
            self._trace = self._open()
        self._fresh = False
        return self._trace

    # --- reading ---

    def __iter__(self) -> Iterator[TraceRecord]:
        reading = self._begin()
        told = json.loads(reading.next())
        while told is not None:
            yield _record(told)
            told = json.loads(reading.next())

    def _lines(self) -> Iterator[str]:
        reading = self._begin()
        text = reading.lines()
        while text:
            yield text
            text = reading.lines()

    def to_jsonl(self) -> str:
        """All of it as lines of our own form."""
        return "".join(self._lines())

    def write(self, file: Union[Path, Writer, BinaryIO]) -> None:
        """The same to a file, as a path or open, for text or bytes."""
        opened, to = open_for(file)
        try:
            for text in self._lines():
                to.write(text)
        finally:
            if opened is not None:
                opened.close()

    # --- sums and notes ---

    def _look(self) -> Dict[str, Any]:
        looked: Dict[str, Any] = json.loads(self._trace.look())
        return looked

    @property
    def form(self) -> str:
        """As "philly"; "": not known yet."""
        return str(self._look()["form"])

    @property
    def lines(self) -> int:
        """How many lines were read."""
        return int(self._look()["lines"])

    @property
    def jobs(self) -> int:
        """How many jobs came."""
        return int(self._look()["jobs"])

    @property
    def skipped(self) -> int:
        """How many lines could not be used."""
        return int(self._look()["skipped"])

    @property
    def altered(self) -> int:
        """How many lines were used, but not as they stand."""
        return int(self._look()["altered"])

    @property
    def first(self) -> int:
        """When the first job came."""
        return int(self._look()["first"])

    @property
    def last(self) -> int:
        """When the last job came."""
        return int(self._look()["last"])

    @property
    def notes(self) -> Tuple[TraceNote, ...]:
        """The first 1000 lines that cannot be used as they stand, and why."""
        return made(TraceNote, json.loads(self._trace.notes()))

    def __repr__(self) -> str:
        look = self._look()
        return "<openpai.Trace: %s, %d jobs read, %d lines skipped>" % (
            look["form"] or "?", look["jobs"], look["skipped"])

    def _repr_html_(self) -> str:
        look = self._look()
        head = ("form", "lines", "jobs", "skipped", "altered")
        text = html_table(head, [[str(look[name]) for name in head]])
        if self.notes:
            text += html_table(("line", "used", "why"), self.notes)
        return text


def _remake(name: str, args: Tuple[Any, ...], options: Dict[str, Any]
            ) -> Trace:
    """What a pickle of a trace calls."""
    made_now: Trace = getattr(Trace, name)(*args, **options)
    return made_now


def _all_lines(reading: "_facade.Trace") -> Iterator[str]:
    text = reading.lines()
    while text:
        yield from text.splitlines()
        text = reading.lines()


def _options(form: Optional[str], strict: bool, sort: bool, window: int,
             model: Optional[str], on_line: object) -> bytes:
    return fields({"form": form, "strict": strict, "sort": sort,
                   "window": window, "model": model,
                   "tell": on_line is not None})


class _Once:
    """For what can be read but once."""
    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used = False

    def check(self) -> None:
        if self._used:
            raise ValueError("this trace can be read only once")
        self._used = True


# --- records -----------------------------------------------------------------

def _record(told: Dict[str, Any]) -> TraceRecord:
    told["line"] = int(told["line"])
    if "wants" in told:
        told["wants"] = made(Want, told["wants"])
        told["attempts"] = made(Attempt, told["attempts"])
        told["after"] = tuple(told["after"])
    return TraceRecord(**told)


def _seconds(time: SupportsIndex) -> Union[int, float]:
    """Exact: floats are nearer to each other than microseconds."""
    whole = operator.index(time)
    return whole // 10**6 if whole % 10**6 == 0 else whole / 10**6


_TIMES = ("time", "duration", "estimate", "limit", "patience", "started")


def _timed(given: Union[Mapping[str, Any], TraceRecord, Attempt, Want]
           ) -> Dict[str, Any]:
    """Without what is None, and with seconds."""
    if isinstance(given, (TraceRecord, Attempt, Want)):
        given = given._asdict()
    return {key: _seconds(value) if key in _TIMES else value
            for key, value in given.items() if value is not None}


def _line(record: RecordLike) -> str:
    if isinstance(record, str):
        return record.rstrip("\n")
    told = _timed(record)
    kind = told.pop("kind", "job")
    told.pop("line", None)
    if kind != "job":
        kept = (("time", "node", "state", "why") if kind == "node" else
                ("time", "id"))
        told = {key: told[key] for key in kept if key in told}
        if kind == "kill":
            told["kill"] = told.pop("id", None)
    else:
        for key in ("wants", "attempts", "after"):
            if key in told:
                told[key] = [_timed(part) if key != "after" else part
                             for part in told[key]]
                if not told[key]:
                    del told[key]
    return json.dumps(told, ensure_ascii=False)


def _chunks(records: Iterable[RecordLike]) -> Iterator[str]:
    """Some lines at a time."""
    lines: List[str] = []
    size = 0
    for record in records:
        lines.append(_line(record) + "\n")
        size += len(lines[-1])
        if size >= _CHUNK:
            yield "".join(lines)
            lines.clear()
            size = 0
    if lines:
        yield "".join(lines)
