"""OpenPAI as a library: read a job file, run it on this machine.

>>> import openpai
>>> job = openpai.Job.load("examples/jobs/hello.yaml")
>>> openpai.run(job, on_event=print)
Result(state='succeeded', code=0)

check() tells all that is wrong with a job file, and Draft changes one.

What fails raises openpai.Error, or a subclass of it per code.
"""
from . import facade as _facade
from ._draft import Draft
from ._errors import (
    BusyError, CanceledError, Error, ExistsError, InternalError, InvalidError,
    IoError, LimitError, NoMemoryError, NoRoomError, NoSuchFileError,
    NoSuchPlaceError, NotFoundError, PermissionDenied, UnsupportedError)
from ._job import Change, Job, Prerequisite, Role, check, schema
from ._platform import Event, Platform, Result, run
from ._report import Diagnostic, Report

__all__ = [
    "BusyError", "CanceledError", "Change", "Diagnostic", "Draft", "Error",
    "Event", "ExistsError", "InternalError", "InvalidError", "IoError", "Job",
    "LimitError", "NoMemoryError", "NoRoomError", "NoSuchFileError",
    "NoSuchPlaceError", "NotFoundError", "PermissionDenied", "Platform",
    "Prerequisite", "Report", "Result", "Role", "UnsupportedError",
    "__version__", "check", "run", "schema"]

__version__: str = _facade.version()

if _facade.version_number() < _facade.HEADER_VERSION_NUMBER:
    raise ImportError(
        "libopenpai %s is older than this module, which was built for %#08x"
        % (__version__, _facade.HEADER_VERSION_NUMBER))
