"""Runs the tests of a file, which imports what stands beside it and in the
folder above: argv[1] is its path, the rest are its arguments."""

import pathlib
import sys
import types

from startup import hide_startup_file

hide_startup_file()
del sys.argv[0]
path = pathlib.Path(sys.argv[0])
sys.path[:1] = [str(path.parent), str(path.parent.parent)]
tests = types.ModuleType("__main__")
tests.__file__ = str(path)
sys.modules["__main__"] = tests
exec(compile(path.read_bytes(), path, "exec"), tests.__dict__)
for name in ("program", "python_jobs"):
    if name in sys.modules:
        sys.modules[name].main()
