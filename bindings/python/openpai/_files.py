"""Where lines go: a path, an open file, or anything with write()."""
import io
import os
from typing import IO, Any, Optional, Protocol, Tuple


class Writer(Protocol):
    """Where lines go, as a file for text."""

    def write(self, text: str, /) -> object: ...


class _Encoded:
    """A file for bytes, as one for text."""
    __slots__ = ("_file",)

    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, text: str) -> object:
        return self._file.write(text.encode())


def _is_binary(file: object) -> bool:
    """A wrapper, as of tempfile, tells it by its mode."""
    if isinstance(file, (io.RawIOBase, io.BufferedIOBase)):
        return True
    mode = getattr(file, "mode", "")
    return isinstance(mode, str) and "b" in mode


def open_for(file: Any, buffering: int = -1
             ) -> Tuple[Optional[IO[str]], Writer]:
    """A path begins a file anew, which is to be closed, the first one; else it
    is open, for text or bytes, or anything with write()."""
    if isinstance(file, (str, bytes, os.PathLike)):
        opened = open(file, "w", encoding="utf-8", buffering=buffering)
        return opened, opened
    if not callable(getattr(file, "write", None)):
        raise TypeError("a file is a path, or has write(), which %s has not"
                        % type(file).__name__)
    return None, _Encoded(file) if _is_binary(file) else file
