"""What the Python tests share: job files, and a folder for their jobs."""
import faulthandler
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import openpai

os.makedirs(sys.argv[1], exist_ok=True)
ROOT = pathlib.Path(tempfile.mkdtemp(dir=sys.argv.pop(1))).resolve()


def text(*commands, name="t", instances=1, cpus=1):
    return json.dumps({
        "protocolVersion": 2, "name": name, "type": "job",
        "prerequisites": [
            {"name": "none", "type": "dockerimage", "uri": "none"}],
        "taskRoles": {"main": {
            "instances": instances, "dockerImage": "none",
            "resourcePerInstance": {"cpu": cpus, "memoryMB": 1, "gpu": 0},
            "commands": list(commands)}}}, ensure_ascii=False)


def job(*commands, **more):
    return openpai.Job.parse(text(*commands, **more))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# Says its process id, then sleeps longer than any test.
SLEEP = ("echo $$", "exec sleep 1000")

# The same for a shell that has traps; tasks run with `set -e`.
STAY = "while :; do sleep 1000 & wait || :; done"


def main():
    """Runs the tests of the calling script, whose arguments are those of
    unittest after a folder."""
    faulthandler.dump_traceback_later(240, exit=True)  # rather than hang
    try:
        unittest.main()
    finally:
        shutil.rmtree(ROOT)
