"""Job files."""
import os
from typing import NoReturn, Tuple, Union
from dataclasses import dataclass

from . import facade as _facade
from ._errors import NoSuchFileError, NotFoundError

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


@dataclass(frozen=True)
class Role:
    """A task role of a job, and what each of its tasks asks for."""
    name: str
    instances: int
    cpus: int
    memory_mb: int
    gpus: int
    #: Its commands, joined by newlines.
    script: str


class Job:
    """A job file that was read; it does not change.

    Made by Job.load() and Job.parse(); may be shared between threads.
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
        """Reads the job file at `path`, or standard input for "-"."""
        try:
            return cls._of(_facade.Job.load(path))
        except NotFoundError as error:
            missing = NoSuchFileError(str(error))
            missing.__dict__.update(error.__dict__)
            missing.__cause__ = error.__cause__
        raise missing

    @classmethod
    def parse(cls, text: Union[str, bytes]) -> "Job":
        """Reads a job from YAML or JSON; bytes are UTF-8."""
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
        return tuple(Role(*role) for role in self._spec.roles())

    @property
    def notes(self) -> Tuple[str, ...]:
        """What the file asks for and this version does not act on."""
        return tuple(self._spec.notes())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Job does not change")

    def __repr__(self) -> str:
        return "<openpai.Job %r: %s>" % (self.name, ", ".join(
            "%s x %d" % (role.name, role.instances) for role in self.roles))
