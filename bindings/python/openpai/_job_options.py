"""What is said of a job besides its file: submit(..., time=, after=)."""
from dataclasses import dataclass
from typing import (
    Iterable, Literal, Optional, Protocol, Tuple, Union, cast)

from ._job import Job
from ._values import fields, listed

#: HiveD's classes, the most urgent one first.
Priority = Literal["prod", "test", "oppo"]

class Named(Protocol):
    """A job that one has: a Handle, or what call() of a client gives."""

    @property
    def name(self) -> str:
        """"user~name"."""


#: Jobs to wait for, or names as "prepare" and "prepare:ended".
After = Union[Named, str, Iterable[Union[Named, str]]]


def _names(after: After) -> Tuple[str, ...]:
    if isinstance(after, str) or hasattr(after, "name"):
        jobs = [cast(Union[Named, str], after)]
    else:
        jobs = list(after)
    return tuple(job if isinstance(job, str) else job.name for job in jobs)


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
        """Of what submit() is given."""
        given = (tags,) if isinstance(tags, str) else tuple(tags)
        for tag in given:
            if not tag or "," in tag:
                raise ValueError("a tag is a text without commas, not %r" % tag)
        return cls(time, _names(after), virtual_cluster, priority, given)

    @property
    def changes_file(self) -> bool:
        """Whether applied() does anything."""
        return any((self.time, self.after, self.virtual_cluster,
                    self.priority))

    def applied(self, job: Job) -> Job:
        """The job with these options in its file; tags are in none."""
        if not self.changes_file:
            return job
        return Job._of(job._spec.with_options(fields({
            "time": self.time, "after": listed(self.after) or None,
            "virtual_cluster": self.virtual_cluster,
            "priority": self.priority})))
