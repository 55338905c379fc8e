"""Job files under change."""
import json
from typing import Any, Optional, Tuple, Union

from . import facade as _facade
from ._errors import NoSuchPlaceError, NotFoundError, alike
from ._job import Job, _place, _version
from ._objects import Copied
from ._report import Report, make_report

def _json(value: object) -> bytes:
    # YAML knows no surrogate pairs.
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


class Draft(Copied):
    """A job file's text, of which single places are set; all else stays as it
    was written, comments and quotes included.

        draft = openpai.Draft(text)
        draft["taskRoles.worker.instances"] = 4
        draft["taskRoles.worker.commands[+]"] = "echo one more"
        del draft["defaults"]
        job = draft.job()

    Places are keys with dots between them, [0] an item, [-1] the last one,
    [+] a new one; a key may be in quotes; or they are JSON pointers.
    """
    __slots__ = ("_draft", "__weakref__")

    def __init__(self, text: Union[str, bytes, None] = None) -> None:
        if isinstance(text, str):
            text = text.encode()
        self._draft = _facade.Draft.make(b"" if text is None else text)

    @property
    def text(self) -> str:
        """The text as it is now, secrets included."""
        return self._draft.text()

    def __setitem__(self, path: str, value: Any) -> None:
        """Sets a place to None, a bool, number, str, list or dict.

        A str stays text: "4" is not 4.
        """
        try:
            self._draft.set(_place(path), value if isinstance(value, str)
                            else _json(value))
            return
        except NotFoundError as error:
            missing = alike(NoSuchPlaceError, error)
        raise missing

    def set_yaml(self, path: str, value: str) -> None:
        """Sets a place to what a piece of YAML says: "4" is 4."""
        try:
            self._draft.set_yaml(_place(path), value)
            return
        except NotFoundError as error:
            missing = alike(NoSuchPlaceError, error)
        raise missing

    def __getitem__(self, path: str) -> Any:
        """The value of a place; KeyError if there is none."""
        try:
            return json.loads(self._draft.get(_place(path)))
        except NotFoundError as error:
            missing = alike(NoSuchPlaceError, error)
        raise missing

    def get(self, path: str, default: Any = None) -> Any:
        """The value of a place, or `default` if there is none."""
        try:
            return self[path]
        except KeyError:
            return default

    def __delitem__(self, path: str) -> None:
        """Takes a place out; KeyError if there is none."""
        try:
            self._draft.unset(_place(path))
            return
        except NotFoundError as error:
            missing = alike(NoSuchPlaceError, error)
        raise missing

    def __contains__(self, path: str) -> bool:
        try:
            self._draft.get(_place(path))
        except NotFoundError:
            return False
        return True

    __iter__ = None  # else Python would iterate by index

    def format(self) -> None:
        """Brings the text into its canonical layout; it means the same."""
        self._draft.format()

    def job(self) -> Job:
        """Job.parse() of the text."""
        return Job._of(self._draft.job())

    def check(self, *, version: Optional[int] = None,
              hived: bool = False) -> Report:
        """openpai.check() of the text."""
        return make_report(self._draft.check(
            _version(version, 0), bool(hived)))

    def copy(self) -> "Draft":
        """Another draft with the same text."""
        return Draft(self.text)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Draft, (self.text,)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "<openpai.Draft: %d lines>" % len(self.text.splitlines())
