"""What calls about accounts and virtual clusters have in common."""
import datetime
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Optional

from ._values import fields

if TYPE_CHECKING:
    from . import facade as _facade

#: An object of OpenPAI's REST API.
Table = Dict[str, Any]
_WHOLE = 10000


@dataclass(frozen=True)
class Identity:
    """Whose token it is; false if nobody's."""
    user: Optional[str]
    admin: bool
    #: Whether the token is an application's.
    application: bool
    issued: Optional[datetime.datetime]
    #: None: never.
    expires: Optional[datetime.datetime]
    #: "good", or why the token is not valid: "none", "forged", "expired",
    #: "revoked", "no_group", "not_basic".
    why: str

    def __bool__(self) -> bool:
        return self.user is not None


def _time(microseconds: Optional[int]) -> Optional[datetime.datetime]:
    if not microseconds:
        return None
    return datetime.datetime.fromtimestamp(microseconds / 1e6,
                                           datetime.timezone.utc)


def identity(told: Table) -> Identity:
    """Of the object that the facade returns."""
    return Identity(told.get("user"), told["admin"], told["application"],
                    _time(told.get("issued")), _time(told.get("expires")),
                    told["why"])


def _moment(when: Optional[datetime.datetime]) -> Optional[int]:
    return None if when is None else int(when.timestamp() * 1e6)


def _span(seconds: Optional[float]) -> Optional[int]:
    return None if seconds is None else int(seconds * 1e6)


def _share(part: Optional[float]) -> Optional[int]:
    return None if part is None else round(part * _WHOLE)


class AccountsBase:
    """Makes the calls of bindings/accounts.txt."""
    __slots__ = ("_core",)

    def __init__(self, core: "_facade.Platform") -> None:
        self._core = core

    def _do(self, kind: str, given: Dict[str, Any], *body: Any) -> Any:
        text = json.dumps(body[0]).encode() if body else b""
        return json.loads(self._core.administer(kind, fields(given), text))
