"""What comes piece by piece from a server: logs, changes, pages of jobs."""
import codecs
from typing import (
    Any, AsyncIterator, Callable, Dict, Iterator, List, Optional, Set, Tuple,
    cast)

from .. import facade as _facade
from .answers import a_list, first_role, understood
from .client_base import ClientBase, JobChange, _Filter
from .._loop import Steps
from .._records import Jobs, JobSummary, TaskName, task_name
from .._schema import State
from .._values import listed


class _Stream:
    """Begins when it is first read; ends with what the call fails with.  What
    nobody reads waits at the server, but for some 256 KiB."""
    __slots__ = ("_client", "_begin", "_call", "_over")

    def __init__(self, client: ClientBase,
                 begin: Callable[[], Steps["_facade.Call"]]) -> None:
        self._client, self._begin = client, begin
        self._call: Optional["_facade.Call"] = None
        self._over = False

    def close(self) -> None:
        """Ends it early."""
        call, self._call, self._over = self._call, None, True
        if call is not None:
            self._client._drop(call)

    def _piece(self) -> Optional[bytes]:
        """What is there; None: nothing yet; b"": the end."""
        if self._over or self._call is None:
            return b""
        state = self._call.state()
        if state == 0:
            return None
        if state > 0:
            piece = self._call.take()
            if not self._client.closed:
                self._client._pump.poke()  # more may come now
            return piece
        call, self._call, self._over = self._call, None, True
        call.answer()  # raises the failure
        return b""

    def _next_piece(self) -> bytes:
        if self._call is None and not self._over:
            self._call = self._client._block(self._begin())
        while True:
            piece = self._piece()
            if piece is not None:
                return piece
            self._client._step()

    async def _await_piece(self) -> bytes:
        if self._call is None and not self._over:
            self._call = await self._client._await(self._begin())
        while True:
            piece = self._piece()
            if piece is not None:
                return piece
            await self._client._pump.tick()


class _Lines(_Stream):
    """The same in lines."""
    __slots__ = ("_decoder", "_rest", "_lines")

    def __init__(self, client: ClientBase,
                 begin: Callable[[], Steps["_facade.Call"]]) -> None:
        super().__init__(client, begin)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._lines: List[str] = []  # in reverse order

    def close(self) -> None:
        super().close()
        self._lines, self._rest = [], ""

    def _split(self, piece: bytes) -> bool:
        """False: it was the last one."""
        text = self._rest + self._decoder.decode(piece, not piece)
        *lines, self._rest = text.split("\n")
        if not piece and self._rest:
            lines.append(self._rest)
            self._rest = ""
        self._lines = lines[::-1]
        return bool(piece)

    def _line(self) -> Optional[str]:
        while not self._lines:
            if not self._split(self._next_piece()) and not self._lines:
                return None
        return self._lines.pop()

    async def _await_line(self) -> Optional[str]:
        while not self._lines:
            if (not self._split(await self._await_piece()) and
                    not self._lines):
                return None
        return self._lines.pop()


class ClientLogs(_Lines):
    """Lines of a log of a server's job: `async for` of a Client, `for` of a
    BlockingClient."""
    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._line()
        if line is None:
            raise StopIteration
        return line

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        line = await self._await_line()
        if line is None:
            raise StopAsyncIteration
        return line


class Changes(_Lines):
    """JobChanges of a server's jobs, as they come; likewise."""
    __slots__ = ()

    @staticmethod
    def _made(line: str) -> JobChange:
        return understood(line.encode(), lambda told: JobChange(
            told["job"], cast(State, told["state"].lower()),
            told["code"] if told["final"] else None))

    def __iter__(self) -> Iterator[JobChange]:
        return self

    def __next__(self) -> JobChange:
        line = self._line()
        if line is None:
            raise StopIteration
        return self._made(line)

    def __aiter__(self) -> AsyncIterator[JobChange]:
        return self

    async def __anext__(self) -> JobChange:
        line = await self._await_line()
        if line is None:
            raise StopAsyncIteration
        return self._made(line)


class JobPages:
    """Jobs of a server, asked for by pages: `async for` of a Client, `for` of
    a BlockingClient.  all() makes a table of them, await all() of a Client."""
    __slots__ = ("_client", "_query", "_limit", "_offset", "_seen", "_got",
                 "_over")

    def __init__(self, client: ClientBase, query: Dict[str, Any], offset: int,
                 limit: Optional[int], page: int) -> None:
        if page < 1:
            raise ValueError("a page has at least one job")
        self._client, self._query = client, {**query, "limit": page}
        self._offset, self._limit = offset, limit
        self._seen: Set[Tuple[str, str]] = set()
        self._got: List[JobSummary] = []  # in reverse order
        self._over = limit == 0

    def _page(self) -> Steps[None]:
        """The next jobs, if there are any.  One that moved to another page
        while others were submitted is told once."""
        told = yield from self._client._call(
            "jobs.list", {**self._query, "offset": self._offset},
            lambda told: [JobSummary.made(None, item)
                          for item in a_list(told)])
        self._offset += len(told)
        self._over = len(told) < self._query["limit"]
        for job in told:
            if (job.user, job.name) not in self._seen:
                self._seen.add((job.user, job.name))
                self._got.insert(0, job)

    def _pop(self) -> Optional[JobSummary]:
        if self._limit is not None:
            if self._limit == 0:
                return None
            self._limit -= 1
        return self._got.pop()

    def __iter__(self) -> Iterator[JobSummary]:
        return self

    def __next__(self) -> JobSummary:
        while not self._got and not self._over:
            self._client._block(self._page())
        job = self._pop() if self._got else None
        if job is None:
            raise StopIteration
        return job

    def __aiter__(self) -> AsyncIterator[JobSummary]:
        return self

    async def __anext__(self) -> JobSummary:
        while not self._got and not self._over:
            await self._client._await(self._page())
        job = self._pop() if self._got else None
        if job is None:
            raise StopAsyncIteration
        return job


class AsyncJobPages(JobPages):
    __slots__ = ()

    async def all(self) -> Jobs:
        """All that are left, as a table."""
        return Jobs([job async for job in self])


class BlockingJobPages(JobPages):
    __slots__ = ()

    def all(self) -> Jobs:
        """All that are left, as a table."""
        return Jobs(self)

    def _repr_html_(self) -> str:
        return self.all()._repr_html_()


def job_query(state: _Filter, user: _Filter, virtual_cluster: _Filter,
              tag: _Filter, keyword: Optional[str], order: Optional[str]
              ) -> Dict[str, Any]:
    return {"state": listed(state, str.upper), "username": listed(user),
            "vc": listed(virtual_cluster), "tagsContain": listed(tag),
            "keyword": keyword, "order": order}


def open_logs(client: ClientBase, job: str, task: Optional[TaskName],
              follow: bool, name: str, offset: int, part: Dict[str, int]
              ) -> ClientLogs:
    def begin() -> Steps["_facade.Call"]:
        role, index = task_name(task) if task is not None else (None, 0)
        if role is None:
            status = yield from client._job(job)
            role = first_role(status)
        return client._begin("logs", {
            "job": job, "role": role, "index": index, "name": name,
            "offset": offset, "follow": int(follow), **part})
    return ClientLogs(client, begin)


def open_changes(client: ClientBase, job: Optional[str]) -> Changes:
    def begin() -> Steps["_facade.Call"]:
        return client._begin("watch", {"job": job})
        yield  # makes this a generator, like the others
    return Changes(client, begin)
