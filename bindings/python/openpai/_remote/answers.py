"""What servers answer, which may be anything: read, or refused in words."""
import json
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, TypeVar

from .._errors import Error, IoError

if TYPE_CHECKING:
    from .._records import JobStatus

_T = TypeVar("_T")

#: Number of characters of an answer that are shown.
_SHOWN = 60


def anything(value: Any) -> Any:
    """For understood(): the JSON as it is."""
    return value


def an_object(value: Any) -> Dict[str, Any]:
    """For understood(): an object of JSON."""
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return value


def a_list(value: Any) -> List[Any]:
    """For understood(): a list of JSON."""
    if not isinstance(value, list):
        raise TypeError("a list was expected")
    return value


def a_text(value: Any) -> Optional[str]:
    """For understood(): a text of JSON, or null."""
    if value is not None and not isinstance(value, str):
        raise TypeError("a text was expected")
    return value


def member(name: str, make: Callable[[Any], _T]) -> Callable[[Any], _T]:
    """For understood(): what `make` makes of a member of an object."""
    return lambda value: make(an_object(value).get(name))


def understood(body: bytes, make: Callable[[Any], _T]) -> _T:
    """What `make` makes of the JSON that a server has answered; IoError if
    that is not JSON, or not of the kind that `make` takes."""
    try:
        return make(json.loads(body))
    except Error:
        raise
    except (ValueError, TypeError, LookupError, AttributeError,
            ArithmeticError, RecursionError, OSError) as error:
        begin = body[:_SHOWN].decode("utf-8", "replace")
        raise IoError(
            "invalid answer of the server: %r%s: %s\nhelp: check that this "
            "is the URL of OpenPAI's REST API, such as "
            "https://pai.example.org/rest-server" % (
                begin, " ..." if len(body) > _SHOWN else "",
                "it lacks %s" % error if isinstance(error, KeyError)
                else error)) from None


def first_role(status: "JobStatus") -> str:
    """The role of a job that is meant where none is named."""
    for role in status.detail["taskRoles"]:
        return str(role)
    raise IoError("invalid answer of the server: the job %s has no "
                  "task roles" % status.name)
