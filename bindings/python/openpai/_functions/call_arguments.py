"""What a function and call() are given, looked at before there is a job."""
import difflib
import inspect
from typing import Any, Callable, Dict, Optional, Tuple

#: Options of options() of platforms and clients, to find misspelt ones.
_OPTIONS = ("after", "code", "cpu", "gpu", "image", "memory", "name",
            "priority", "python", "tags", "time", "virtual_cluster")


def _signature(function: Callable[..., Any]) -> Optional[inspect.Signature]:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # a function of C, for example
        return None


def check_own(function: Callable[..., Any], own: Dict[str, Any]) -> None:
    """TypeError for an option of call() that the function has, too."""
    signature = _signature(function) if callable(function) else None
    if signature is None:
        return
    for name, value in own.items():
        if value is not None and name in signature.parameters:
            raise TypeError(
                "%s= is an option of call() and a parameter of %s()\n"
                "help: options(%s=...).call(function, ...) is for the job, "
                "options().call(function, ..., %s=...) for the function" % (
                    name, _called(function), name, name))


def _called(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", None) or
               type(function).__name__)


def check_arguments(function: Callable[..., Any], args: Tuple[Any, ...],
                     kwargs: Dict[str, Any]) -> None:
    """What the job would raise is raised at once."""
    __tracebackhide__ = True
    signature = _signature(function)
    if signature is None:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        text = "%s(): %s" % (_called(function), error)
        for name in kwargs:
            near = difflib.get_close_matches(name, _OPTIONS, 1)
            if name not in signature.parameters and near:
                text += "\nhelp: " + (
                    "%s= is of options(%s=...).call(function, ...)" % (
                        name, name) if name in _OPTIONS else
                    "did you mean %s=?" % near[0])
        raise TypeError(text) from None
