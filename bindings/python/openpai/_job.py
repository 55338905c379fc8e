"""Job files."""
import json
import os
from dataclasses import dataclass
from html import escape
from typing import Any, NoReturn, Optional, Tuple, Union

from ._fields import (
    Role, Prerequisite, TextRange, TextPlace)
from . import facade as _facade
from ._errors import (
    NoSuchFileError, NoSuchPlaceError, NotFoundError, alike)
from ._objects import Immutable
from ._report import Report, html_table, make_report
from ._values import made

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def _version(version: object, none: int) -> int:
    if version is None and none == 0:
        return none
    if not isinstance(version, int) or isinstance(version, bool):
        raise TypeError("a version is 1 or 2, not %r" % (version,))
    return version


def _place(path: object) -> str:
    if not isinstance(path, str):
        raise TypeError("a place is a str, such as 'taskRoles.worker', not %r"
                        % (path,))
    return path


def check(source: Union[str, bytes, "os.PathLike[str]"], *,
          version: Optional[int] = None, hived: bool = False) -> Report:
    """Finds all that is wrong with a job file, of either version.

    A str, or bytes, is the text; a pathlib.Path the file there, and Path("-")
    standard input.  `version` 1 or 2 insists on one; `hived` checks what is
    HiveD's, too.
    """
    options = _version(version, 0), bool(hived)
    if isinstance(source, str):
        source = source.encode()
    if not isinstance(source, os.PathLike):
        return make_report(_facade.Job.check(source, *options))
    try:
        return make_report(_facade.Job.check_file(source, *options))
    except NotFoundError as error:
        missing = alike(NoSuchFileError, error)
    raise missing


def fix(source: Union[str, bytes], *, version: Optional[int] = None,
        hived: bool = False) -> str:
    """The text of a job file with all corrections that are sure.

    What is not, check() tells: each of its diagnostics has `fixes`.  Comments and
    all else stay.  The options are those of check().
    """
    if isinstance(source, str):
        source = source.encode()
    return _facade.Job.fix(source, _version(version, 0), bool(hived))


def _text_place(told: str) -> TextPlace:
    found = json.loads(told)
    for part in ("key", "value"):
        if part in found:
            found[part] = TextRange(**found[part])
    return TextPlace(**found)


def place_at(source: Union[str, bytes], line: int, column: int) -> TextPlace:
    """What is at a position of a job file, which may be unfinished.

    From 1; NotFoundError: the text has no such position.
    """
    if isinstance(source, str):
        source = source.encode()
    return _text_place(_facade.Job.at(source, line, column))


def place_of(source: Union[str, bytes], pointer: str) -> TextPlace:
    """Where the key and value of a JSON pointer stand in a job file.

    NotFoundError: there is nothing; InvalidError: the text cannot be read.
    """
    if isinstance(source, str):
        source = source.encode()
    return _text_place(_facade.Job.range(source, _place(pointer)))


def schema(version: int = 2) -> str:
    """JSON Schema of job files, for editors: draft 7, as text.

    1: job config v1; 2: job protocol v2.
    """
    return _facade.Job.schema(_version(version, 2))


@dataclass(frozen=True)
class Change:
    """One difference of two jobs."""
    #: "added", "removed", "changed", or "moved" for a role that changed its
    #: place.
    kind: str
    #: JSON pointer: into the first job if removed, else into the second.
    pointer: str
    #: The values; None if there is none. For a moved role: its places, from 0.
    old: Any
    new: Any


def _first_lines(script: str, most: int = 3) -> str:
    lines = script.splitlines()
    return "\n".join(lines[:most] + ["..."] * (len(lines) > most))


class Job(Immutable):
    """A job file that was read; it does not change.

    Made by Job.load() and Job.parse(); may be shared between threads.  Two jobs
    are equal if to_yaml(secrets=True) of both is.
    """
    __slots__ = ("_spec", "__weakref__")
    _spec: "_facade.Job"

    def __init__(self) -> None:
        raise TypeError("use Job.load() or Job.parse()")

    @classmethod
    def _of(cls, spec: "_facade.Job") -> "Job":
        job = cls.__new__(cls)
        object.__setattr__(job, "_spec", spec)
        return job

    @classmethod
    def load(cls, path: Path) -> "Job":
        """Reads the job file at `path`, or standard input for "-".

        Job protocol v2 or job config v1, which becomes v2.  When it is
        invalid, the error's `report` has all that is wrong.
        """
        try:
            return cls._of(_facade.Job.load(path))
        except NotFoundError as error:
            missing = alike(NoSuchFileError, error)
        raise missing

    @classmethod
    def parse(cls, text: Union[str, bytes]) -> "Job":
        """The same for a text, YAML or JSON; bytes are UTF-8."""
        if isinstance(text, str):
            text = text.encode()
        return cls._of(_facade.Job.parse(text))

    @property
    def name(self) -> str:
        """The job's name."""
        return self._spec.name()

    @property
    def retry_count(self) -> int:
        """How often the job is tried again when it has failed."""
        return self._spec.retry_count()

    @property
    def task_count(self) -> int:
        """Number of tasks of all roles."""
        return self._spec.task_count()

    @property
    def roles(self) -> Tuple[Role, ...]:
        """The task roles, in the order of the file."""
        return made(Role, json.loads(self._spec.roles()))

    @property
    def prerequisites(self) -> Tuple[Prerequisite, ...]:
        """Images, scripts, outputs and data, in the order of the file."""
        return made(Prerequisite, json.loads(self._spec.prerequisites()))

    @property
    def virtual_cluster(self) -> str:
        """Where it is to run; "default" unless the file says otherwise."""
        return self._spec.virtual_cluster()

    @property
    def deployment(self) -> Optional[str]:
        """The deployment that is used."""
        return self._spec.deployment()

    @property
    def description(self) -> Optional[str]:
        """What the file says of itself."""
        return self._spec.description()

    @property
    def contributor(self) -> Optional[str]:
        """Who wrote it."""
        return self._spec.contributor()

    @property
    def gang(self) -> bool:
        """Whether all tasks start together."""
        return self._spec.gang()

    @property
    def notes(self) -> Tuple[str, ...]:
        """What the file asks for and this version does not act on."""
        return tuple(self._spec.notes())

    @property
    def unresolved(self) -> Tuple[str, ...]:
        """Names in the commands' templates that nothing stands for."""
        return tuple(self._spec.unresolved())

    @property
    def missing_secrets(self) -> Tuple[str, ...]:
        """Places of secrets that the job needs and the file lacks, or has
        only as "******": "/secrets/token".  A draft sets them there."""
        return tuple(self._spec.missing_secrets())

    def masked(self) -> "Job":
        """A copy with "******" for each secret, to be shown to anybody."""
        return self._of(self._spec.masked())

    def to_yaml(self, *, secrets: bool = False) -> str:
        """The job as YAML, in the order of its file; "******" for secrets
        unless they are asked for."""
        return self._spec.to_yaml(bool(secrets))

    def to_json(self, *, secrets: bool = False) -> str:
        """The same as JSON."""
        return self._spec.to_json(bool(secrets))

    def __getitem__(self, path: str) -> Any:
        """The value of any place of the job, as protocol v2 has it, such as
        "taskRoles.worker.completion"; KeyError if there is none.  Secrets are
        "******"."""
        try:
            return json.loads(self._spec.get(_place(path)))
        except NotFoundError as error:
            missing = alike(NoSuchPlaceError, error)
        raise missing

    def get(self, path: str, default: Any = None) -> Any:
        """The same, or `default` if there is none."""
        try:
            return self[path]
        except KeyError:
            return default

    def __contains__(self, path: str) -> bool:
        try:
            self._spec.get(_place(path))
        except NotFoundError:
            return False
        return True

    __iter__ = None  # else Python would iterate by index

    def __reduce__(self) -> Tuple[Any, ...]:
        text = self.to_yaml(secrets=True)
        if text != self.to_yaml():
            raise TypeError(
                "a Job with secrets is not pickled, for they would show: "
                "pickle to_yaml(secrets=True), and Job.parse() that")
        return Job.parse, (text,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Job):
            return NotImplemented
        return self is other or (self.to_yaml(secrets=True) ==
                                 other.to_yaml(secrets=True))

    def __hash__(self) -> int:
        return hash(self.to_yaml(secrets=True))

    def docker_config(self) -> str:
        """Docker's config.json to pull the job's images.  Holds secrets."""
        return self._spec.docker_config()

    def explain(self) -> str:
        """What the job will do, for people; nothing of it is secret."""
        return self._spec.explain()

    def explain_json(self) -> str:
        """The same for programs: one JSON object."""
        return self._spec.explain_json()

    def diff(self, other: "Job") -> Tuple[Change, ...]:
        """What differs in `other`, by what it means; secrets are "******"."""
        if not isinstance(other, Job):
            raise TypeError("a Job is wanted, not %s" % type(other).__name__)
        return tuple(
            Change(told["kind"], told["pointer"], told.get("old"),
                   told.get("new"))
            for told in json.loads(self._spec.diff(other._spec)))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Job does not change")

    def __repr__(self) -> str:
        return "<openpai.Job %r: %s>" % (self.name, ", ".join(
            "%s x %d" % (role.name, role.instances) for role in self.roles))

    def _repr_html_(self) -> str:
        shown = self.masked()
        rows = ((r.name, r.instances, r.cpus, r.memory_mb, r.gpus,
                 _first_lines(r.script)) for r in shown.roles)
        return "<p>%s</p>" % escape(shown.name) + html_table(
            ("role", "instances", "CPUs", "memory (MiB)", "GPUs", "commands"),
            rows)
