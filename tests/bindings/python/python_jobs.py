"""What the Python tests share: job files, and a folder for their jobs."""
import faulthandler
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest
import unittest.mock

import openpai

os.makedirs(sys.argv[1], exist_ok=True)
ROOT = pathlib.Path(tempfile.mkdtemp(dir=sys.argv.pop(1))).resolve()


ROOTS = iter(range(1000))


def new_root():
    """A folder for a platform of its own."""
    path = ROOT / ("root%d" % next(ROOTS))
    path.mkdir()
    return path


def text(*commands, name="t", instances=1, cpus=1):
    """A job whose files lie with the tests' sees them: in a sandbox nothing of
    a platform's root is seen but what is the job's."""
    plain = any(str(ROOT) in command for command in commands)
    return json.dumps({
        **({"extras": {"openpai": {"runtime": "process"}}} if plain else {}),
        "protocolVersion": 2, "name": name, "type": "job",
        "prerequisites": [
            {"name": "none", "type": "dockerimage", "uri": "none"}],
        "taskRoles": {"main": {
            "instances": instances, "dockerImage": "none",
            "resourcePerInstance": {"cpu": cpus, "memoryMB": 64, "gpu": 0},
            "commands": list(commands)}}}, ensure_ascii=False)


def job(*commands, **more):
    return openpai.Job.parse(text(*commands, **more))


def without_cloudpickle(test):
    """As if it were not installed, until the test's end."""
    patch = unittest.mock.patch.dict(sys.modules, {"cloudpickle": None})
    patch.start()
    test.addCleanup(patch.stop)


# Says a number and sleeps so many seconds, longer than any test.  Process ids
# are a sandbox's own; this is to be seen from outside.
NUMBER = "n=$((RANDOM * 32768 + RANDOM + 100000)); echo $n"
SLEEP = (NUMBER, "exec sleep $n")


def is_alive(number):
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\0%d\0" % number:
                return True
        except OSError:
            pass  # it has ended meanwhile
    return False


def until_alive(number):
    """A shell that has said its number may not yet have become `sleep`."""
    end = time.monotonic() + 60
    while not is_alive(number):
        if time.monotonic() > end:
            raise AssertionError("no sleep %d" % number)
        time.sleep(0.01)


# The same for a shell that has traps; tasks run with `set -e`.
STAY = "while :; do sleep ${n:-1000} & wait || :; done"


def main():
    """Runs the tests of the script, whose arguments are those of unittest
    after a folder."""
    faulthandler.dump_traceback_later(580, exit=True)  # rather than hang
    try:
        unittest.main()
    finally:
        while ROOT.exists():  # tasks that ended remove what is theirs, too
            shutil.rmtree(ROOT, ignore_errors=True)
