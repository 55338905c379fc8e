"""HiveD as an extender of Kubernetes' scheduler."""
import json
from typing import Any, Mapping, NamedTuple, Optional, Union

from .._fields import (
    HiveDBinding)
from .. import facade as _facade
from .._errors import NotFoundError
from .._job import Path
from .._values import loaded, text_or_bytes

Json = Union[Mapping[str, Any], str, bytes]


class HiveDAnswer(NamedTuple):
    """What HiveD answers to a request of HTTP."""
    status: int
    body: Optional[str] = None
    content_type: Optional[str] = None
    location: Optional[str] = None  #: target of a redirection
    hold_ms: int = 0  #: delay of the answer
    binding: Optional[HiveDBinding] = None

    def json(self) -> Any:
        """The body as a value; None without one."""
        return json.loads(self.body) if self.body else None


def _json(value: Json) -> bytes:
    if isinstance(value, Mapping):
        value = json.dumps(value, ensure_ascii=False)
    return text_or_bytes(value)


def _answer(text: str) -> HiveDAnswer:
    fields = json.loads(text)
    if "binding" in fields:
        fields["binding"] = HiveDBinding(**fields["binding"])
    return HiveDAnswer(**fields)


class HiveD:
    """HiveD's web server without the web: told of nodes and pods, asked where
    pods go.

        hived = openpai.HiveD.load("hivedscheduler.yaml")
        hived.tell(nodes)  # a NodeList of Kubernetes' API server, then pods
        answer = hived.filter({"Pod": pod, "NodeNames": ["n1", "n2"]})
        print(answer.json(), answer.binding)

    docs/guide/hived-extender.md tells what the host of one does.  What is told
    and asked is JSON: a mapping, a text or bytes.  Times are microseconds since
    the epoch.  To be used by one thread at a time.
    """
    __slots__ = ("_hived", "__weakref__")
    _hived: "_facade.HiveD"

    def __init__(self) -> None:
        raise TypeError("use HiveD.load() or HiveD.parse()")

    @classmethod
    def _of(cls, hived: "_facade.HiveD") -> "HiveD":
        made_now = cls.__new__(cls)
        made_now._hived = hived
        return made_now

    @classmethod
    def load(cls, path: Path) -> "HiveD":
        """Reads HiveD's configuration, or standard input for "-"."""
        return cls._of(loaded(_facade.HiveD.load, path))

    @classmethod
    def parse(cls, text: Union[str, bytes]) -> "HiveD":
        """The same of a text, as of Cluster.to_hived()."""
        return cls._of(_facade.HiveD.parse(text_or_bytes(text)))

    def tell(self, event: Json, now: int = 0) -> None:
        """Tells what the API server tells: an event of a watch, or a list.

        InvalidError and ExistsError of a bound pod are for a log: all else was
        done.
        """
        self._hived.tell(_json(event), now)

    def request(self, method: str, target: str,
                body: Union[str, bytes] = b"", now: int = 0) -> HiveDAnswer:
        """Answers a request of HTTP, whatever it is."""
        return _answer(self._hived.request(method, target,
                                           text_or_bytes(body), now))

    def filter(self, args: Json, now: int = 0) -> HiveDAnswer:
        """Where does a pod go?  {"Pod": {...}, "NodeNames": [...]}"""
        return self.request("POST", "/v1/extender/filter", _json(args), now)

    def preempt(self, args: Json, now: int = 0) -> HiveDAnswer:
        """Who goes for a pod?  {"Pod": {...}, "NodeNameToMetaVictims": {...}}"""
        return self.request("POST", "/v1/extender/preempt", _json(args), now)

    def bind(self, args: Json, now: int = 0) -> HiveDAnswer:
        """{"PodName": "", "PodNamespace": "", "PodUID": "", "Node": ""}"""
        return self.request("POST", "/v1/extender/bind", _json(args), now)

    def inspect(self, what: str = "clusterstatus") -> Any:
        """What it knows: "clusterstatus", "affinitygroups/",
        "affinitygroups/NAME"."""
        answer = self.request("GET", "/v1/inspect/" + what)
        if answer.status == 200:
            return answer.json()
        raise NotFoundError(answer.json() or "there is no %s" % what)

    def unbound(self, uid: str, why: str) -> HiveDAnswer:
        """What to answer to bind when the API server has refused the binding.
        """
        return _answer(self._hived.unbound(uid, why))
