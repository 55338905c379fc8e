"""Files of a job: lists, downloads, uploads; of a platform's and a server's."""
import datetime
import json
import os
import pathlib
import posixpath
import urllib.parse
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING, Any, Dict, List, Optional, Protocol, Tuple)

from . import facade as _facade
from ._errors import ExistsError, IoError, NotFoundError
from ._job import Path
from ._loop import Steps
from ._values import fields as as_words

if TYPE_CHECKING:
    from ._client_base import ClientBase
    from ._platform import Platform

#: How often a file is downloaded anew that changes meanwhile.
TRIES = 3


@dataclass(frozen=True)
class File:
    """A file, a folder or a link in the folder of a job."""
    #: From the job's folder, as "out/model.pt".
    path: str
    #: "file", "folder", "link" or "other".
    type: str
    size: int
    modified: datetime.datetime
    executable: bool
    #: Where a link leads, else None.
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

    def fetch(self, entry: Dict[str, Any], to: str) -> Steps[None]:
        """Downloads a file that was listed."""

    def send(self, local: str, path: str) -> Steps[None]:
        """Uploads a file."""


class OfPlatform:
    """A job of a platform in this process."""
    __slots__ = ("_platform", "_id")

    def __init__(self, platform: "Platform", id: int) -> None:
        self._platform, self._id = platform, id

    def page(self, path: Optional[str], recursive: bool, after: Optional[str]
             ) -> Steps[Dict[str, Any]]:
        asked = self._platform._platform.list_files(self._id, as_words({
            "path": path, "recursive": int(recursive), "after": after}))
        self._platform._pump.poke()
        yield asked
        return _named(json.loads(asked.answer()))

    def fetch(self, entry: Dict[str, Any], to: str) -> Steps[None]:
        copy = self._platform._platform.download(self._id, as_words({
            "path": entry["path"], "to": to, **_version(entry)}))
        while copy.step():
            yield 0.0

    def send(self, local: str, path: str) -> Steps[None]:
        copy = self._platform._platform.upload(self._id, as_words({
            "path": path, "local": local}))
        while copy.step():
            yield 0.0


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

    def fetch(self, entry: Dict[str, Any], to: str) -> Steps[None]:
        for left in range(TRIES)[::-1]:
            try:
                yield from self._client._done("get_file", {
                    "job": self._job, "path": entry["path"], "to": to,
                    **_version(entry)})
                return
            except ExistsError:  # it has changed since
                if not left:
                    raise
            entry = yield from found(self, entry["path"])

    def send(self, local: str, path: str) -> Steps[None]:
        yield from self._client._done("put_file", {
            "job": self._job, "path": path, "local": local})


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


def _version(entry: Dict[str, Any]) -> Dict[str, int]:
    return {"size": entry["size"] or 0, "modified": entry["modified"] or 0,
            "executable": int(bool(entry["executable"]))}


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


# --- downloads -------------------------------------------------------------------

def _below(path: str, folder: str) -> str:
    """The path from the folder on."""
    begin = folder + "/" if folder else ""
    if not path.startswith(begin):
        raise IoError("the server lists %r, which is not in the folder %r"
                      % (path, folder or "."))
    return path[len(begin):]


def download(source: Source, path: Optional[str], to: Path
             ) -> Steps[pathlib.Path]:
    local = os.fsdecode(to)
    wanted = posixpath.normpath(path) if path else "."
    wanted = "" if wanted == "." else wanted
    page = yield from source.page(wanted or None, True, None)
    entries = page["entries"]
    if wanted and len(entries) == 1 and entries[0]["path"] == wanted:
        if os.path.isdir(local) or local.endswith(os.sep):
            local = os.path.join(local, posixpath.basename(wanted))
        yield from _fetch(source, entries[0], local)
    else:
        yield from _download_folder(source, wanted, page, local)
    return pathlib.Path(local)


def _fetch(source: Source, entry: Dict[str, Any], local: str) -> Steps[None]:
    """Unless it was downloaded before."""
    if not _facade.local_has(local, entry["size"] or 0,
                             entry["modified"] or 0):
        yield from source.fetch(entry, local)


def _download_folder(source: Source, wanted: str, page: Dict[str, Any],
                     to: str) -> Steps[None]:
    links: List[Tuple[str, str]] = []  # last: no file is written through one
    _facade.local_make_folder(to)
    while True:
        for entry in page["entries"]:
            rest = _below(entry["path"], wanted)
            if entry["type"] == "link":
                links.append((rest, entry["target"] or ""))
            elif entry["type"] == "folder":
                _facade.local_make_folder(_facade.local_place(to, rest))
            elif entry["type"] == "file":
                yield from _fetch(source, entry,
                                  _facade.local_place(to, rest))
        if page["next"] is None:
            break
        page = yield from source.page(wanted or None, True, page["next"])
    for rest, target in links:
        _facade.local_link(to, rest, target)


# --- uploads ----------------------------------------------------------------------

def upload(source: Source, local: Path, path: Optional[str]) -> Steps[None]:
    name = os.fsdecode(local)
    os.stat(name)  # FileNotFoundError
    if os.path.isdir(name):
        for rest in json.loads(_facade.local_list(name)):
            yield from source.send(os.path.join(name, rest),
                                   posixpath.join(path or "", rest))
    elif not path or path.endswith("/"):
        yield from source.send(name, posixpath.join(
            path or "", os.path.basename(name)))
    else:
        yield from source.send(name, path)
