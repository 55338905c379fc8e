"""What both clients have in common: what is asked, and what it becomes."""
import json
import os
from dataclasses import dataclass
from typing import (
    Any, Callable, Dict, Iterable, List, NamedTuple, Optional, TypeVar, Union,
    cast)

from .. import facade as _facade
from .answers import a_text, first_role, understood
from .._exec import (
    Command, Executed, command_words, exec_fields, executed, tried)
from .._records import (
    FINAL, JobStatus, Result, TaskName, make_status, task_name)
from .._schema import State
from .._job import Job, Path
from .._job_options import JobOptions
from .._loop import Asked, Pump, Steps, Waits
from .._session import begun
from .._values import fields as as_words

_T = TypeVar("_T")
_Filter = Union[None, str, Iterable[str]]


@dataclass(frozen=True)
class Answer:
    """What a server answered to request()."""
    http_status: int
    #: Content type of the body, as "application/json"; or "".
    type: str
    body: bytes
    #: Number of tries.
    tries: int

    @property
    def text(self) -> str:
        """The body as text; what is not UTF-8 is replaced."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body, of JSON."""
        return json.loads(self.body)


class JobChange(NamedTuple):
    """A job has come to a state."""
    job: str  #: "user~name"
    state: State  #: as in Event.state
    code: Optional[int]  #: the completion code, if the job is over

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state in FINAL


def calls() -> List[Dict[str, Any]]:
    """The table of the REST API's calls: {"name", "summary", "right",
    "method", "path", "arguments", "answers", "errors"}."""
    result: List[Dict[str, Any]] = json.loads(_facade.calls())
    return result


def _microseconds(seconds: Optional[float]) -> Optional[int]:
    return None if seconds is None else int(seconds * 1e6)


def _job_text(job: Union[Job, Path], options: JobOptions) -> bytes:
    """A file goes as it is: what is wrong with it, the server says best."""
    if options.changes_file and not isinstance(job, Job):
        job = Job.load(job)
    if isinstance(job, Job):
        return options.applied(job).to_yaml(secrets=True).encode()
    with open(job, "rb") as file:
        return file.read()


class ClientBase(Waits):
    """What both clients have: what needs no answer."""
    __slots__ = ("_client", "_pump", "_options", "__weakref__")
    _client: "_facade.Client"
    #: Constructor options, for another client of the same server.
    _options: Dict[str, Any]

    def __init__(self, url: Optional[str] = None, *,
                 socket: Optional[Path] = None, root: Optional[Path] = None,
                 token: Optional[str] = None, user: Optional[str] = None,
                 password: Optional[str] = None,
                 ca_file: Optional[Path] = None,
                 cert_file: Optional[Path] = None,
                 key_file: Optional[Path] = None, proxy: Optional[str] = None,
                 connect_time: Optional[float] = None,
                 idle_time: Optional[float] = None,
                 total_time: Optional[float] = None,
                 most_tries: Optional[int] = None,
                 first_wait: Optional[float] = None,
                 most_wait: Optional[float] = None,
                 stream_time: Optional[float] = None) -> None:
        """Nothing is connected yet.

        The server is at `url`, as "https://pai.example.org/rest-server"; or it
        is the platform of `openpai up` with that `socket`, or that `root`, by
        default this user's own.  Times are in seconds.
        """
        self._options = {
            name: value for name, value in locals().items()
            if value is not None and name not in ("self", "__class__")}
        if root is not None:
            if url is not None or socket is not None:
                raise ValueError("a root is for a client without URL or socket")
            socket = os.path.join(os.fsdecode(root), "socket")
        self._client = _facade.Client.open(as_words({
            "url": url, "socket": socket, "token": token, "user": user,
            "password": password, "ca_file": ca_file, "cert_file": cert_file,
            "key_file": key_file, "proxy": proxy, "most_tries": most_tries,
            "connect_time": _microseconds(connect_time),
            "idle_time": _microseconds(idle_time),
            "total_time": _microseconds(total_time),
            "first_wait": _microseconds(first_wait),
            "stream_time": _microseconds(stream_time),
            "most_wait": _microseconds(most_wait)}))
        self._pump = Pump(self._client, {})

    def close(self) -> None:
        """Ends what is still asked with CanceledError, and frees all."""
        if not self.closed:
            self._pump.detach()
        self._client.close()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._client.closed()

    @property
    def _is_here(self) -> bool:
        """Whether it is the platform of a socket: on this machine."""
        return "url" not in self._options

    def _who(self) -> Dict[str, str]:
        result: Dict[str, str] = json.loads(self._client.who())
        return result

    @property
    def token(self) -> Optional[str]:
        """The one that is used now: to be kept where secrets are."""
        return self._who().get("token")

    @property
    def user(self) -> Optional[str]:
        """Who that says one is."""
        return self._who().get("user")

    def __repr__(self) -> str:
        return "<openpai.%s%s>" % (type(self).__name__,
                                   ": closed" if self.closed else "")

    # --- waiting

    def _step(self, most_ms: int = -1) -> None:
        self._client.step(most_ms)
        self._pump.wake()
        self._pump.poke()

    def _drop(self, asked: Asked) -> None:
        asked.cancel()
        if not self.closed:
            self._step(0)

    # --- requests

    def _begin(self, kind: str, fields: Optional[Dict[str, Any]] = None,
               text: bytes = b"", code: bytes = b"") -> "_facade.Call":
        call = self._client.call(kind, as_words(fields or {}), text, code)
        self._pump.poke()
        return call

    def _call(self, name: str, arguments: Dict[str, Any],
              make: Callable[[Any], _T]) -> Steps[_T]:
        """What `make` makes of the JSON that a call of the REST API answers."""
        return understood((yield from self._call_bytes(name, arguments)), make)

    def _call_bytes(self, name: str, arguments: Dict[str, Any]
                    ) -> Steps[bytes]:
        given = {key: value if value is None or isinstance(
                     value, (str, int, float, list, dict)) else list(value)
                 for key, value in arguments.items()}
        return (yield from self._body_of(self._begin(
            "call", {"name": name}, json.dumps(
                {key: value for key, value in given.items()
                 if value is not None}).encode())))

    def _call_text(self, name: str, arguments: Dict[str, Any]) -> Steps[str]:
        body = yield from self._call_bytes(name, arguments)
        return body.decode("utf-8", "replace")

    def _call_done(self, name: str, arguments: Dict[str, Any]) -> Steps[None]:
        yield from self._call_bytes(name, arguments)

    @staticmethod
    def _body_of(call: "_facade.Call") -> Steps[bytes]:
        """What is answered, once it is over."""
        yield call
        call.answer()
        return call.body()

    def _told(self, kind: str, fields: Dict[str, Any],
              make: Callable[[Any], _T]) -> Steps[_T]:
        """What `make` makes of the JSON that is answered."""
        body = yield from self._body_of(self._begin(kind, fields))
        return understood(body or b"null", make)

    def _done(self, kind: str, fields: Dict[str, Any]) -> Steps[None]:
        yield from self._body_of(self._begin(kind, fields))

    def _request(self, method: str, path: str, json_body: Any,
                 data: Optional[bytes], type: Optional[str],
                 accept: Optional[str]) -> Steps[Answer]:
        if json_body is not None:
            if data is not None:
                raise ValueError("a body is either json or data")
            data = json.dumps(json_body).encode()
        call = self._begin("ask", {"method": method, "path": path,
                                   "type": type, "accept": accept}, data or b"")
        yield call
        told = json.loads(call.answer())
        return Answer(told["status"], told.get("type") or "", call.body(),
                      told["tries"])

    def _submit(self, job: Union[Job, Path], name: Optional[str],
                code: bytes, options: JobOptions = JobOptions()
                ) -> Steps[str]:
        """`code`: a tar archive of its folder, or b""."""
        text = _job_text(job, options)
        call = self._begin("submit", {"name": name}, text, code)
        yield call
        call.answer()
        told = understood(call.body() or b"{}",
                          lambda told: a_text(told.get("name")))
        made = told or name or Job.parse(text).name
        if "~" not in made:
            user = self.user
            if user is None:  # over a socket only the platform knows
                status = yield from self._job(made)
                user = status.user
            made = "%s~%s" % (user, made)
        for tag in options.tags:
            yield from self._call_done("jobs.tag", {
                "job": made, "value": tag})
        return made

    def _job(self, name: str) -> Steps[JobStatus]:
        return self._call("jobs.show", {"job": name}, make_status)

    def _enter(self, job: str, command: Command, task: Optional[TaskName],
               input: bytes, tty: bool) -> Steps["_facade.Exec"]:
        role, index = task_name(task) if task is not None else (None, 0)
        if role is None:
            status = yield from self._job(job)
            role = first_role(status)
        call = self._client.enter(exec_fields(role, index, tty, job=job),
                                  command_words(command), input)
        self._pump.poke()
        return call

    def _exec(self, *asked: Any) -> Steps[Executed]:
        """Of one that begins, and is told all at once."""
        def work() -> Steps[Executed]:
            call = yield from self._enter(*asked)
            yield call
            return executed(call)
        return tried(work)

    def _speak(self, *asked: Any) -> Steps["_facade.Exec"]:
        """Of one that is live."""
        def work() -> Steps["_facade.Exec"]:
            call = yield from self._enter(*asked)
            call.live()
            return (yield from begun(call))
        return tried(work)

    def _wait(self, name: str) -> Steps[Result]:
        call = self._begin("wait", {"job": name})
        yield call
        told = json.loads(call.answer())
        return Result(cast(State, told["state"].lower()), told["code"])
