"""OpenPAI as a library: read a job file, run it on this machine.

>>> import openpai
>>> job = openpai.Job.load("examples/jobs/hello.yaml")
>>> openpai.run(job, on_event=print)
Result(state='succeeded', code=0)

What fails raises openpai.Error, or a subclass of it per code.
"""
from . import facade as _facade
from ._errors import (
    BusyError, CanceledError, Error, ExistsError, InternalError, InvalidError,
    IoError, LimitError, NoMemoryError, NoRoomError, NoSuchFileError,
    NotFoundError, PermissionDenied, UnsupportedError)
from ._job import Job, Role
from ._platform import Event, Platform, Result, run

__all__ = [
    "BusyError", "CanceledError", "Error", "Event", "ExistsError",
    "InternalError", "InvalidError", "IoError", "Job", "LimitError",
    "NoMemoryError", "NoRoomError", "NoSuchFileError", "NotFoundError",
    "PermissionDenied", "Platform", "Result", "Role", "UnsupportedError",
    "__version__", "run"]

__version__: str = _facade.version()

if _facade.version_number() < _facade.HEADER_VERSION_NUMBER:
    raise ImportError(
        "libopenpai %s is older than this module, which was built for %#08x"
        % (__version__, _facade.HEADER_VERSION_NUMBER))
