"""What is said of a job besides its file: submit(..., time=, after=)."""
from dataclasses import dataclass
from typing import (
    Any, Iterable, Literal, Optional, Protocol, Tuple, Union, cast)

from ._errors import InvalidError
from ._job import Job
from ._values import fields, listed

#: Priority classes of HiveD, the most urgent one first.
Priority = Literal["prod", "test", "oppo"]

class Named(Protocol):
    """A job that one has: a Handle, or what call() of a client gives."""

    @property
    def name(self) -> str:
        """"user~name"."""


#: Jobs to wait for, or names as "prepare" and "prepare:ended".
After = Union[Named, str, Iterable[Union[Named, str]]]


#: Most bytes of a tag.
_LONGEST_TAG = 512


def _can_be_sent(value: str) -> bool:
    """Whether it is UTF-8 without NUL, as all that the platform takes."""
    try:
        return b"\0" not in value.encode()
    except UnicodeEncodeError:  # there is a surrogate
        return False


def text(name: str, value: object, example: str) -> Optional[str]:
    """An option that is a text, or None; TypeError or InvalidError else."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError("%s is a text as %s, not %r" % (name, example, value))
    if not value or not _can_be_sent(value):
        raise InvalidError("%s is a text as %s, not %r" % (
            name, example, value))
    return value


def _listed(name: str, given: Any, what: str) -> Tuple[Any, ...]:
    try:
        return tuple(given)
    except TypeError:
        raise TypeError("%s= is %s, or a list of them, not %r" % (
            name, what, given)) from None


def _names(after: Any) -> Tuple[str, ...]:
    what = "a job or its name"
    jobs = ((after,) if isinstance(after, str) or hasattr(after, "name") else
            _listed("after", after, what))
    names = [job if isinstance(job, str) else getattr(job, "name", None)
             for job in jobs]
    for job, name in zip(jobs, names):
        if not isinstance(name, str):
            raise TypeError("after= is %s, or a list of them, not %r" % (
                what, job))
        if not name or not _can_be_sent(name):
            raise InvalidError("after= is %s, which %r is not" % (what, name))
    return tuple(map(str, names))


def _tags(tags: Any) -> Tuple[str, ...]:
    given = (tags,) if isinstance(tags, str) else _listed("tags", tags,
                                                          "a text")
    for tag in given:
        if not isinstance(tag, str):
            raise TypeError("a tag is a text, not %r" % (tag,))
        if "," in tag or not _can_be_sent(tag) or not (
                0 < len(tag.encode()) <= _LONGEST_TAG):
            raise InvalidError(
                "the tag %.80r is wrong: a tag has 1 to %d bytes, no comma "
                "and no NUL" % (tag, _LONGEST_TAG))
    return given


@dataclass(frozen=True)
class JobOptions:
    """Options of submit() and options() that change the job."""
    time: Optional[str] = None
    after: Tuple[str, ...] = ()
    virtual_cluster: Optional[str] = None
    priority: Optional[Priority] = None
    tags: Tuple[str, ...] = ()

    @classmethod
    def of(cls, time: Optional[str], after: After,
           virtual_cluster: Optional[str], priority: Optional[Priority],
           tags: Union[str, Iterable[str]]) -> "JobOptions":
        """Of what submit() is given; what is wrong is told before there is a
        job."""
        return cls(text("time", time, '"90s" or "2h"'), _names(after),
                   text("virtual_cluster", virtual_cluster, '"default"'),
                   cast(Optional[Priority], text(
                       "priority", priority, '"prod", "test" or "oppo"')),
                   _tags(tags))

    @property
    def changes_file(self) -> bool:
        """Whether applied() does anything."""
        return bool(self.after) or any(
            option is not None for option in (
                self.time, self.virtual_cluster, self.priority))

    def applied(self, job: Job) -> Job:
        """The job with these options in its file; tags are in none."""
        if not self.changes_file:
            return job
        return Job._of(job._spec.with_options(fields({
            "time": self.time, "after": listed(self.after) or None,
            "virtual_cluster": self.virtual_cluster,
            "priority": self.priority})))
