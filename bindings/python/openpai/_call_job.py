"""The jobs of functions: their job files, and what they come to."""
import io
import os
import pathlib
import pickle
import re
import secrets
import shlex
import sys
from typing import Any, BinaryIO, Dict, List, Mapping, Optional, Sequence

from ._errors import InvalidError, NotFoundError, PermissionDenied
from ._ship import JobFailed


def job_name(name: str) -> str:
    """One that a job may have, and no other job has."""
    plain = re.sub("[^A-Za-z0-9._-]+", "-", name).strip("-._") or "call"
    return "%s_%s" % (plain[:200], secrets.token_hex(4))


def megabytes(memory: Optional[str], machine: Mapping[str, Any],
              cpus: int) -> int:
    """Of "512M" or "8G"; None: so much of the machine's as the CPUs are."""
    if memory is None:
        cpus = max(cpus, 1)
        share: int = machine["memory"] * cpus // max(machine["cpus"], cpus)
        return max(share >> 20, 256)
    match = re.fullmatch(r"(\d+)\s*([kmgt])i?b?", memory.strip().lower())
    if match is None:
        raise ValueError('memory is as "512M" or "8G", not %r' % memory)
    shift = {"k": 10, "m": 20, "g": 30, "t": 40}[match[2]]
    return max((int(match[1]) << shift) >> 20, 1)


def folders(root: str) -> List[str]:
    """Below /tmp, what the job needs of this process: tasks in the sandbox have
    a /tmp of their own, and see nothing of the platform's root."""
    found: List[str] = []
    for path in sorted({os.path.normpath(path) for path in (
            os.getcwd(), sys.prefix, sys.base_prefix, *filter(None, sys.path))}):
        if path.startswith("/tmp/") and os.path.exists(path) and not any(
                path == above or path.startswith(above + "/")
                for above in (*found, root)):
            found.append(path)
    return found[:64]


def job_file(name: str, *, gpus: int, cpus: int, memory_mb: int,
             command: Optional[str] = None, time: Optional[str] = None,
             after: Sequence[str] = (), folders: Sequence[str] = ()
             ) -> Dict[str, Any]:
    """A job of one task, as a job file has it."""
    own: Dict[str, Any] = {"timeLimit": time} if time is not None else {}
    if after:
        own["after"] = list(after)
    if folders:
        own["folders"] = list(folders)
    return {
        **({"extras": {"openpai": own}} if own else {}),
        "protocolVersion": 2, "name": name, "type": "job",
        "prerequisites": [{"name": "host", "type": "dockerimage",
                           "uri": "none"}],
        "taskRoles": {"main": {
            "instances": 1, "dockerImage": "host",
            "resourcePerInstance": {"cpu": cpus, "memoryMB": memory_mb,
                                    "gpu": gpus},
            "commands": [command or "exec %s -u run.py" %
                         shlex.quote(sys.executable)]}}}


def _own_bytes(path: pathlib.Path) -> bytes:
    """Of a file of this user: to unpickle another's runs what he likes."""
    if not path.is_symlink():
        with open(path, "rb", opener=lambda name, flags: os.open(
                name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            if os.fstat(file.fileno()).st_uid == os.geteuid():
                return file.read()
    raise PermissionDenied(
        "the job's result is not a file of this user: it is not read, as that "
        "may run another's code\nhelp: ask for it as the job's user, or have "
        "the job write a file")


class _Unpickler(pickle.Unpickler):
    """Of outcomes: what was sent by value comes back as what it is here."""

    def __init__(self, file: BinaryIO, sent: Mapping[str, Any]) -> None:
        super().__init__(file)
        self._sent = sent

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__" and name in self._sent:
            return self._sent[name]
        return super().find_class(module, name)


def outcome(folder: pathlib.Path, sent: Mapping[str, Any]) -> Any:
    """What the code in a job's folder came to."""
    try:
        told = _own_bytes(folder / "outcome.pickle")
    except PermissionDenied:
        raise
    except OSError:
        raise no_result() from None
    return read_outcome(told, sent)


def no_result() -> NotFoundError:
    return NotFoundError(
        "the job has told no result\nhelp: only a job of call() or %%pai "
        "that ran to its end has one; see why() and logs()")


def read_outcome(told: bytes, sent: Mapping[str, Any]) -> Any:
    """The value of an outcome; raises what the code has raised."""
    try:
        kind, value, text = _Unpickler(io.BytesIO(told), sent).load()
    except Exception as error:
        raise InvalidError(
            "the job's result cannot be read here: %s\nhelp: define or import "
            "here, too, what the result is made of" % error) from error
    if kind == "value":
        return value
    if value is None:
        raise JobFailed(text)
    value.__cause__ = JobFailed(text)
    raise value
