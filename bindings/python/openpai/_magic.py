"""%load_ext openpai: cells as jobs, and %pai to look after them."""
import asyncio
import atexit
import shlex
import sys
from typing import Any, Dict, List, Optional, Tuple, Union

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from ._functions.call_job import Wishes
from ._errors import BusyError, InvalidError
from ._handle import Handle
from ._platform import Platform
from ._functions.ship import Shipment
from ._values import cpus

USAGE = """\
%%pai [gpu=N] [cpu=N] [memory=SIZE] [name=NAME] [background]
    Runs the cell as a job, with the variables and functions that it refers to,
    and shows what it prints.  The value is a Handle, in `_` and `pai_job`, whose
    result() is that of the cell's last expression.  With `background` it does
    not wait.
%pai list | status              what there is
%pai show|logs|why|events|stop|result [NAME]
                                of a job, or of the latest
%pai root DIR                   use the platform of another folder
%pai use VARIABLE               use an openpai.Platform of the notebook"""


def _options(line: str) -> Tuple[Dict[str, str], List[str]]:
    given: Dict[str, str] = {}
    words = []
    for word in shlex.split(line):
        name, equals, value = word.partition("=")
        if equals:
            given[name] = value
        else:
            words.append(word)
    return given, words


def _number(given: Dict[str, str], name: str, default: int) -> int:
    text = given.pop(name, str(default))
    if not text.isdecimal():
        raise ValueError("%s is a whole number, not %r" % (name, text))
    return int(text)


def _cpus(given: Dict[str, str]) -> Union[int, float]:
    try:
        return cpus("cpu", given.pop("cpu", "1"))
    except (TypeError, InvalidError) as error:
        raise ValueError(str(error)) from None


@magics_class
class PaiMagics(Magics):  # type: ignore[misc]
    """The two magics, over one platform that they open when it is needed."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._platform: Optional[Platform] = None
        self._latest: Optional[Handle] = None
        self._root: Optional[str] = None

    @property
    def platform(self) -> Platform:
        if self._platform is None or self._platform.closed:
            try:
                self._platform = Platform(root=self._root)
            except BusyError as error:
                raise BusyError(
                    "%s\nhelp: use another folder, as %%pai root ~/notebook"
                    % error) from None
            try:
                asyncio.get_running_loop()
                self._platform.attach()  # jobs make progress between cells
            except RuntimeError:
                pass
        return self._platform

    def leave(self) -> None:
        """Jobs go on; the next platform of the folder takes them over."""
        if self._platform is not None:
            self._platform.leave()
            self._platform = None

    @cell_magic  # type: ignore[misc]
    def pai(self, line: str, cell: str) -> Optional[Handle]:
        given, words = _options(line)
        gpu, cpu = _number(given, "gpu", 0), _cpus(given)
        memory, name = given.pop("memory", None), given.pop("name", "cell")
        background = words == ["background"]
        if given or (words and not background):
            raise ValueError("%%%%pai has no option %s\n%s" % (
                ", ".join([*given, *words]), USAGE))
        space = self.shell.user_ns
        handle = self.platform._ship(
            Shipment(self.shell.transform_cell(cell), space, (
                "Cell In[%d]" % self.shell.execution_count, 2)), name,
            Wishes(gpu=gpu, cpu=cpu, memory=memory))
        space["pai_job"] = self._latest = handle
        if not background:
            self._stream(handle)
        return handle

    def _stream(self, handle: Handle) -> None:
        try:
            for piece in handle.logs(follow=True).pieces():
                sys.stdout.write(piece)
                sys.stdout.flush()
            handle.wait()
        except KeyboardInterrupt:
            handle.stop()
            raise

    @line_magic("pai")  # type: ignore[misc]
    def manage(self, line: str) -> Any:
        words = shlex.split(line)
        verb, rest = (words[0] if words else "help"), words[1:]
        if verb == "root" and len(rest) == 1:
            self.leave()
            self._root = rest[0]
            return None
        if verb == "use" and len(rest) == 1:
            given = self.shell.user_ns.get(rest[0])
            if not isinstance(given, Platform):
                raise ValueError("%s is not an openpai.Platform" % rest[0])
            if given is not self._platform:
                self.leave()
            self._platform = given
            return None
        if verb in ("list", "status") and not rest:
            platform = self.platform
            return platform.jobs() if verb == "list" else platform.status
        if verb not in ("show", "logs", "why", "events", "stop",
                        "result") or len(rest) > 1:
            print(USAGE)
            return None
        return self._of_job(verb, self._named(rest))

    def _named(self, rest: List[str]) -> Handle:
        if rest:
            return self.platform.job(rest[0])
        if self._latest is None:
            jobs = self.platform.jobs(limit=1)
            if not jobs:
                raise ValueError("there is no job yet")
            return jobs[0].handle
        return self._latest

    @staticmethod
    def _of_job(verb: str, handle: Handle) -> Any:
        if verb == "logs":
            print(handle.logs().read(), end="")
            return None
        if verb == "why":
            print(handle.why())
            return None
        if verb == "events":
            for event in reversed(handle.events()):
                print("%s  %-8s %s%s" % (
                    event.time.astimezone().strftime("%H:%M:%S"),
                    event.reason, event.task + ": " if event.task else "",
                    event.message))
            return None
        if verb == "stop":
            handle.stop()
            return None
        return handle.result() if verb == "result" else handle


def load(shell: Any) -> None:
    if isinstance(shell.magics_manager.registry.get("PaiMagics"), PaiMagics):
        return  # %reload_ext: keeps the platform, which has jobs
    magics = PaiMagics(shell)
    shell.register_magics(magics)
    atexit.register(magics.leave)
