"""Runs what _ship.py has packed; a copy of this is the job's program.

It knows nothing of openpai, and runs in any Python that has what the shipped
code imports.
"""
import ast
import asyncio
import importlib
import inspect
import itertools
import linecache
import marshal
import os
import pickle
import sys
import traceback
import types
from typing import Any, Dict, List


def tell(folder: str, outcome: bytes) -> None:
    """The outcome beside this file, whole or not at all."""
    path = os.path.join(folder, "outcome.pickle")
    with open(path + ".new", "wb") as out:
        out.write(outcome)
    os.replace(path + ".new", path)


def remember(file: str, lines: List[str]) -> None:
    """For tracebacks: these lines of a file, beside others of it."""
    known: Any = linecache.cache.get(file, (0, None, [], file))
    merged = [new if new.strip() else old for new, old in
              itertools.zip_longest(lines, known[2], fillvalue="\n")]
    linecache.cache[file] = (sum(map(len, merged)), None, merged, file)


def make_function(space: Dict[str, Any], name: str, version: Any, code: bytes,
                  cells: List[str], called: str, qualified: str, file: str,
                  line: int, lines: List[str]) -> Any:
    """A function of its code, whose cells are filled later."""
    if tuple(version) != sys.version_info[:2]:
        raise RuntimeError(
            "%s was made by Python %d.%d, and its code runs in no other "
            "version: define it with def, at the top of a cell or module" % (
                called, *version))
    remember(file, ["\n"] * (line - 1) + lines)
    for cell in cells:
        space.setdefault(cell, types.CellType())
    made = types.FunctionType(
        marshal.loads(code), space, called, None,
        tuple(space[cell] for cell in cells))
    made.__qualname__ = qualified
    return made


def complete(function: Any, defaults: Any, keywords: Any, more: Dict[str, Any],
             annotations: Dict[str, Any]) -> None:
    function.__defaults__ = defaults
    function.__kwdefaults__ = keywords
    function.__dict__.update(more)
    function.__annotations__ = annotations


def prepare(shipped: Dict[str, Any], space: Dict[str, Any]) -> None:
    """What the code needs, in `space`, the module __main__."""
    for kind, *parts in shipped["steps"]:
        if kind == "module":
            space[parts[0]] = importlib.import_module(parts[1])
        elif kind == "value":
            space[parts[0]] = pickle.loads(parts[1])
        elif kind == "function":
            space[parts[0]] = make_function(space, *parts)
        elif kind == "fill":
            space[parts[0]].cell_contents = space.pop(parts[1])
        elif kind == "complete":
            complete(space[parts[0]], *space.pop(parts[1]))
        elif kind == "alias":
            space[parts[0]] = space[parts[1]]
        else:
            file, line, source = parts
            source = "\n" * (line - 1) + source
            remember(file, source.splitlines(True))
            exec(compile(source, file, "exec", shipped["flags"]), space)


def run(source: str, space: Dict[str, Any]) -> Any:
    """Runs it; the value of its last expression.  It may await."""
    name = "<job>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    end = tree.body[-1] if tree.body else None
    if isinstance(end, ast.Expr):
        target = ast.copy_location(ast.Name("_value", ast.Store()), end)
        tree.body[-1] = ast.copy_location(
            ast.Assign([target], end.value), end)
    code = compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    awaitable = eval(code, space)
    if inspect.iscoroutine(awaitable):
        asyncio.run(awaitable)
    return space.pop("_value", None) if isinstance(end, ast.Expr) else None


def main() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "shipped.pickle"), "rb") as file:
        shipped = pickle.load(file)
    # The code has a module __main__ of its own: what it calls `run` is not
    # what is called so here.
    ours = sys.modules["__main__"]
    sys.modules["__main__"] = theirs = types.ModuleType("__main__")
    space = theirs.__dict__
    sys.path[:] = shipped["path"] + [
        path for path in sys.path if path not in shipped["path"]]
    if os.path.isdir(shipped["cwd"]):
        os.chdir(shipped["cwd"])
    try:
        prepare(shipped, space)
        value = run(shipped["code"], space)
        outcome = pickle.dumps(("value", value, ""))
    except SystemExit:
        raise
    except BaseException as error:
        text = traceback.format_exc()
        # Our own frames are nobody's business.
        frame = error.__traceback__
        while frame is not None and frame.tb_frame.f_code.co_filename in (
                __file__, os.path.abspath(__file__)):
            frame = frame.tb_next
        if frame is not None:
            text = "".join(traceback.format_exception(
                type(error), error.with_traceback(frame), frame))
        sys.stdout.flush()
        sys.stderr.write(text)
        try:
            outcome = pickle.dumps(("error", error.with_traceback(None), text))
            pickle.loads(outcome)
        except Exception:
            outcome = pickle.dumps(("error", None, text))
        tell(folder, outcome)
        sys.exit(1)
    tell(folder, outcome)
    assert ours  # it must live until here


if __name__ == "__main__":
    main()
