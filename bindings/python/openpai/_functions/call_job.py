"""The jobs of functions: their job files, and what they come to."""
import json
import operator
import os
import re
import secrets
import shlex
import sys
import time
from dataclasses import dataclass
from typing import (
    Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union)

from .._errors import InvalidError, TimedOutError
from .._job import Job, Path
from .._job_options import JobOptions, text
from .outcome import JobFailed
from .._records import JobStatus, Result, Why
from .runner import RUN
from .._values import cpus

#: MiB of memory per CPU if the machine is unknown, as for the program openpai.
EACH_MB = 4096

#: Least memory of a task in MiB, without an option.
LEAST_MB = 256

#: Printed output of a failed job that is shown: number of lines, and of the
#: bytes in which they are looked for.
LAST_LINES, LAST_BYTES = 10, 4096


def last_lines(text: str) -> Tuple[str, ...]:
    """What of the end of a job's output is told."""
    return tuple(text.splitlines()[-LAST_LINES:])


#: Most bytes of a job name, and bytes of its random suffix.
LONGEST_NAME, OWN_PART = 180, 9


def job_name(name: str) -> str:
    """One that a job may have, and no other job has."""
    plain = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("-._") or "call"
    return "%s_%s" % (plain[:LONGEST_NAME - OWN_PART], secrets.token_hex(4))


def _megabytes(memory: Optional[str]) -> Optional[int]:
    """Of "512M" or "8G"."""
    if memory is None:
        return None
    match = re.fullmatch(r"(\d+)\s*([kmgt])i?b?", memory.strip().lower())
    if match is None:
        raise InvalidError('memory is a text as "512M" or "8G", not %r' %
                           memory)
    shift = {"k": 10, "m": 20, "g": 30, "t": 40}[match[2]]
    return max((int(match[1]) << shift) >> 20, 1)


def megabytes(memory: Optional[str], machine: Optional[Mapping[str, Any]],
              cpus: Union[int, float]) -> int:
    """Of "512M" or "8G"; None: so much of the machine's as the CPUs are, or
    EACH_MB for each if nobody knows the machine."""
    given = _megabytes(memory)
    if given is not None:
        return given
    milli = round(cpus * 1000) or 1000
    if not machine:
        return max(milli * EACH_MB // 1000, LEAST_MB)
    share: int = machine["memory"] * milli // max(
        machine["cpus"] * 1000, milli)
    return max(share >> 20, LEAST_MB)


def _number(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("%s is a whole number, not %r" % (name, value)
                        ) from None
    if number < least:
        raise InvalidError("%s is %d or more, not %d" % (name, least, number))
    return number


def folders(root: Optional[str]) -> List[str]:
    """Below /tmp, what the job needs of this process: tasks in the sandbox have
    a /tmp of their own, and see nothing of the platform's root."""
    found: List[str] = []
    for path in sorted({os.path.normpath(path) for path in (
            os.getcwd(), sys.prefix, sys.base_prefix, *filter(None, sys.path))}):
        if path.startswith("/tmp/") and os.path.exists(path) and not any(
                path == above or path.startswith(above + "/")
                for above in (*found, *filter(None, (root,)))):
            found.append(path)
    return found[:64]


def _command(python: Optional[Path], here: bool) -> str:
    """What runs the runner.  Elsewhere it is this Python if it is there, else one
    of the same version, else any: code that needs the version says so."""
    if python is not None or here:
        return "exec %s -u %s" % (
            shlex.quote(os.fsdecode(python or sys.executable)), RUN)
    ours = "%d.%d" % sys.version_info[:2]
    check = "import sys; sys.exit('%%d.%%d' %% sys.version_info[:2] != '%s')"
    return (
        "for python in %s python%s python3 python; do\n"
        "  if command -v $python > /dev/null && $python -c \"%s\"; then\n"
        "    exec $python -u {run}\n"
        "  fi\n"
        "done\n"
        "command -v python3 > /dev/null && exec python3 -u {run}\n"
        "echo 'there is no Python here' >&2; exit 127" % (
            shlex.quote(sys.executable), ours, check % ours)
    ).replace("{run}", RUN)


@dataclass(frozen=True)
class Wishes:
    """How functions are to be run: what options() was given."""
    name: str = ""
    gpu: int = 0
    cpu: Union[int, float] = 1
    memory: Optional[str] = None
    options: JobOptions = JobOptions()
    image: Optional[str] = None
    python: Optional[Path] = None
    code: Optional[Path] = None

    def __post_init__(self) -> None:
        """What is wrong is told before there is a job."""
        if not isinstance(self.name, str):
            raise TypeError("name is a text, not %r" % (self.name,))
        set_field = object.__setattr__  # the class is frozen; json has no int64
        set_field(self, "gpu", _number("gpu", self.gpu, 0))
        set_field(self, "cpu", cpus("cpu", self.cpu))
        if self.cpu <= 0:
            raise InvalidError("cpu is above 0, as 2 or 0.5, not %s" %
                               self.cpu)
        _megabytes(text("memory", self.memory, '"512M" or "8G"'))
        text("image", self.image, '"ubuntu:22.04"')
        for name in "python", "code":
            value = getattr(self, name)
            if value is not None and not isinstance(
                    value, (str, bytes, os.PathLike)):
                raise TypeError("%s is a path, not %r" % (name, value))
            if value is not None and not os.fspath(value):
                raise InvalidError("%s is a path, which is empty" % name)

    def name_for(self, function: object) -> str:
        """What a job of a function is called."""
        return self.name or getattr(function, "__name__", "call")

    def job(self, name: str, machine: Optional[Mapping[str, Any]],
            folders: Sequence[str], *, here: bool = True) -> Job:
        """A job of one task that runs the runner in the folder of its code."""
        file: Dict[str, Any] = {
            "protocolVersion": 2, "name": job_name(name), "type": "job",
            "prerequisites": [{"name": "image", "type": "dockerimage",
                               "uri": self.image or "none"}],
            "taskRoles": {"main": {
                "instances": 1, "dockerImage": "image",
                "resourcePerInstance": {
                    "cpu": self.cpu, "gpu": self.gpu,
                    "memoryMB": megabytes(self.memory, machine, self.cpu)},
                "commands": [_command(
                    "python3" if self.image and not self.python
                    else self.python, here)]}}}
        if folders:
            file["extras"] = {"openpai": {"folders": list(folders)}}
        return self.options.applied(Job.parse(json.dumps(file)))


def checked(limit: Optional[int]) -> Optional[int]:
    """How many jobs there are at a time."""
    return None if limit is None else _number("limit", limit, 1)


def until(timeout: Optional[float]) -> Optional[float]:
    """When so many seconds are over."""
    return None if timeout is None else time.monotonic() + timeout


def left(end: Optional[float], timeout: Optional[float], jobs: int) -> int:
    """Milliseconds to wait at most; -1: for a while."""
    if end is None:
        return -1
    most = min(int((end - time.monotonic()) * 1000) + 1, 250)
    if most <= 0:
        raise TimedOutError("%d jobs are not over after %g s" % (
            jobs, timeout or 0))
    return most


def failure(ended: Result, status: JobStatus, why: Why,
            lines: Tuple[str, ...]) -> JobFailed:
    """What result() raises of a job without one."""
    reason = status.reason or str(why).partition("\n")[2] or None
    return JobFailed("\n".join(
        ["the job %s %s with code %d%s" % (
            status.name, "was stopped" if ended.state == "stopped"
            else ended.state, ended.code,
            ": " + reason if reason else ""), *lines]),
        ended.state, ended.code, reason, lines)
