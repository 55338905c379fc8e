"""The folder of a job's code as a tar archive, as servers take it."""
import io
import os
import tarfile
from typing import Any, Mapping, Optional

from .._errors import InvalidError, IoError
from .._job import Path
from .runner import OUTCOME, RUN, SHIPPED


class _Archive(tarfile.TarFile):
    """Has no hard links, which servers do not take."""

    def gettarinfo(self, *args: Any, **options: Any) -> tarfile.TarInfo:
        self.inodes = {}  # type: ignore[var-annotated] # else: hard links
        return super().gettarinfo(*args, **options)


def _taken(entry: tarfile.TarInfo) -> Optional[tarfile.TarInfo]:
    """Of files, folders and links; others are left out, as is what an earlier
    call has left there."""
    name = os.path.normpath(entry.name)
    if name in (OUTCOME, RUN, SHIPPED) or not (
            entry.isreg() or entry.isdir() or entry.issym()):
        return None
    if entry.isdir():
        entry.mode |= 0o700  # else the job could not write there
    return entry


def packed(folder: Optional[Path], more: Mapping[str, bytes] = {}) -> bytes:
    """A folder, if there is one, and more files in it; b"" of neither.  Links
    stay links.  Nothing is written: what goes is in no other folder."""
    if folder is None and not more:
        return b""
    out = io.BytesIO()
    with _Archive(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        if folder is not None:
            _add(archive, os.path.realpath(os.fsdecode(folder)))
        for name, data in more.items():
            entry = tarfile.TarInfo("./" + name)
            entry.size, entry.mode = len(data), 0o600
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def _add(archive: tarfile.TarFile, folder: str) -> None:
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InvalidError("code= is a folder, which %s is not" % folder)
    try:
        archive.add(folder, arcname=".", filter=_taken)
    except OSError as error:
        raise IoError("the folder of the code cannot be read: %s" % error
                      ) from error
