"""Files of a job: lists, downloads, uploads; of a platform's and a server's."""
import datetime
import json
import os
import pathlib
import posixpath
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Protocol

from . import facade as _facade
from ._errors import NotFoundError
from ._job import Path
from ._loop import Steps
from ._values import fields as as_words

if TYPE_CHECKING:
    from ._remote.client_base import ClientBase
    from ._platform import Platform


@dataclass(frozen=True)
class File:
    """A file, a folder or a link in the folder of a job."""
    #: Relative to the job's folder, as "out/model.pt".
    path: str
    #: "file", "folder", "link" or "other".
    type: str
    size: int
    modified: datetime.datetime
    executable: bool
    #: Target of a link, else None.
    target: Optional[str] = None


def _file(entry: Dict[str, Any]) -> File:
    return File(entry["path"], entry["type"], entry["size"] or 0,
                datetime.datetime.fromtimestamp(
                    (entry["modified"] or 0) / 1000, datetime.timezone.utc),
                bool(entry["executable"]), entry["target"])


class Source(Protocol):
    """The job that files are of."""

    def page(self, path: Optional[str], recursive: bool, after: Optional[str]
             ) -> Steps[Dict[str, Any]]:
        """What pai_platform_list_files() writes."""

    def copy(self, kind: str, **fields: Optional[Path]
             ) -> Steps[Dict[str, Any]]:
        """What pai_platform_download() and pai_platform_upload() answer."""


class OfPlatform:
    """A job of a platform in this process."""
    __slots__ = ("_platform", "_id")

    def __init__(self, platform: "Platform", id: int) -> None:
        self._platform, self._id = platform, id

    def page(self, path: Optional[str], recursive: bool, after: Optional[str]
             ) -> Steps[Dict[str, Any]]:
        page = yield from self._told(self._platform._platform.list_files(
            self._id, as_words({"path": path, "recursive": int(recursive),
                                "after": after})))
        return _named(page)

    def copy(self, kind: str, **fields: Optional[Path]
             ) -> Steps[Dict[str, Any]]:
        return (yield from self._told(getattr(self._platform._platform, kind)(
            self._id, as_words(fields))))

    def _told(self, asked: "_facade.FileList") -> Steps[Dict[str, Any]]:
        self._platform._pump.poke()
        yield asked
        told: Dict[str, Any] = json.loads(asked.answer())
        return told


class OfServer:
    """A job of a server."""
    __slots__ = ("_client", "_job")

    def __init__(self, client: "ClientBase", job: str) -> None:
        self._client, self._job = client, job

    def page(self, path: Optional[str], recursive: bool, after: Optional[str]
             ) -> Steps[Dict[str, Any]]:
        return (yield from self._client._told("files", {
            "job": self._job, "path": path, "recursive": int(recursive),
            "after": after}, _page))

    def copy(self, kind: str, **fields: Optional[Path]
             ) -> Steps[Dict[str, Any]]:
        return (yield from self._client._told(
            kind, {"job": self._job, **fields}, _copy))


def _copy(answer: Dict[str, Any]) -> Dict[str, Any]:
    return answer


def _named(page: Dict[str, Any]) -> Dict[str, Any]:
    """Names that are no UTF-8 are as those of os.listdir()."""
    for entry in page["entries"]:
        if entry.get("escaped"):
            entry["path"] = os.fsdecode(
                urllib.parse.unquote_to_bytes(entry["escaped"]))
    return page


def _page(told: Dict[str, Any]) -> Dict[str, Any]:
    """A page of a server's, which may be anything."""
    if not isinstance(told["next"], (str, type(None))):
        raise TypeError("the page has no name")
    for entry in told["entries"]:
        _file(entry)
        for name in "path", "type", "target", "escaped":
            its = entry.get(name, "")
            if not isinstance(its, str) and (
                    its is not None or name in ("path", "type")):
                raise TypeError("the %s of a file is no text" % name)
        for name in "size", "modified":
            if not isinstance(entry[name], (int, type(None))):
                raise TypeError("the %s of a file is no number" % name)
    return _named(told)


def found(source: Source, path: str) -> Steps[Dict[str, Any]]:
    """A file of a job; NotFoundError if there is none, also if there is a
    folder of that name."""
    page = yield from source.page(path, False, None)
    for entry in page["entries"]:
        if entry["path"] == path and entry["type"] == "file":
            return dict(entry)
    raise NotFoundError("the job has no file %s" % path)


def listed(source: Source, path: Optional[str], recursive: bool
           ) -> Steps[List[File]]:
    files: List[File] = []
    after: Optional[str] = None
    while True:
        page = yield from source.page(path, recursive, after)
        files += map(_file, page["entries"])
        after = page["next"]
        if after is None:
            return files


# --- copies ----------------------------------------------------------------------

def download(source: Source, path: Optional[str], to: Path
             ) -> Steps[pathlib.Path]:
    local = os.fsdecode(to)
    told = yield from source.copy("download", path=path, to=local)
    if told["into"]:
        local = os.path.join(local, posixpath.basename(
            posixpath.normpath(path or "")))
    return pathlib.Path(local)


def upload(source: Source, local: Path, path: Optional[str]) -> Steps[None]:
    name = os.fsdecode(local)
    os.stat(name)  # FileNotFoundError
    yield from source.copy("upload", path=path, **{"from": name})
