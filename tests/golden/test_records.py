"""Python's and Lua's records in a scripted life, as they are kept on file.

Usage: test_records.py OPENPAI [LUA LUA_CPATH]; openpai is importable.
"""

import dataclasses
import inspect
import os
import pathlib
import subprocess
import sys
import unittest

import golden
import life

try:
    import openpai
except ImportError:
    print("skipped: no module openpai")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
JOBS = "good", "bad", "pair", "stopped", "running", "waiting"

CLUSTER = "nodes:2 gpu:4:h100 cpus:64 mem:512G"
TRACE = b"""\
{"time": 0, "id": "a", "user": "ann", "gpus": 4, "duration": 100}
{"time": 1, "id": "b", "user": "bob", "gpus": 4, "duration": 50}
{"time": 2, "id": "c", "user": "bob", "gpus": 8, "duration": 10}
"""
WRONG = life.job("wrong", life.role("main", "true")).replace("cpu:", "cpus:")


def plain(value):
    """A record with the names of its fields, as JSON has it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"": type(value).__name__, **{
            field.name: plain(getattr(value, field.name))
            for field in dataclasses.fields(value)}}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return {"": type(value).__name__, **plain(value._asdict())}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    return repr(value)


def arguments(function):
    """Names and defaults; each Python shows types in its own way."""
    signature = inspect.signature(function)
    bare = [each.replace(annotation=each.empty)
            for each in signature.parameters.values()]
    return str(signature.replace(parameters=bare,
                                 return_annotation=signature.empty))


class Records(life.LifeTest):
    def add(self, title, value):
        self.golden.add(title, golden.layout(self.fixed.value(plain(value))))

    def test_python_client(self):
        self.live()
        self.golden = golden.Golden("life/python-client.txt")
        with openpai.BlockingClient(root=str(self.root)) as client:
            self.add("info", client.info())
            self.add("users", client.users())
            self.add("jobs", list(client.jobs()))
            for name in JOBS:
                self.add(f"job {name}", client.job("admin~" + name))
                self.add(f"config {name}", client.config("admin~" + name))
            self.add("files", client.files("admin~pair"))
            self.add("wait", client.wait("admin~bad"))
            try:
                client.job("none")
            except openpai.Error as error:
                self.add("error", [type(error).__name__, error.code,
                                   error.http_status, error.api_code])
        self.golden.check(self)

    def test_lua(self):
        if len(LUA) < 2 or not os.access(LUA[0], os.X_OK):
            self.skipTest("no Lua")
        self.live()
        self.golden = golden.Golden("life/lua.txt")
        done = subprocess.run(
            [LUA[0], str(HERE / "records.lua"), str(self.root)],
            env={**self.env, "LUA_CPATH": LUA[1]}, capture_output=True,
            text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in done.stdout.split("=== ")[1:]:
            title, _, text = part.partition("\n")
            self.golden.add(title, self.fixed.json(text))
        self.golden.check(self)


class Module(unittest.TestCase):
    """What needs no platform."""

    def add(self, title, value):
        self.golden.add(title, golden.layout(plain(value)))

    def test_pure(self):
        self.golden = golden.Golden("life/python.txt")
        self.add("check", openpai.check(WRONG))
        job = openpai.Job.parse(life.job("good", life.role("main", "true", 2)))
        self.add("roles", job.roles)
        cluster = openpai.Cluster.synthetic(CLUSTER)
        for name in "nodes", "skus", "sums":
            value = getattr(cluster, name)
            self.add(f"cluster.{name}", list(value)
                     if name != "sums" else value)
        trace = openpai.Trace.parse(TRACE)
        self.add("trace", list(trace))
        report = openpai.simulate(cluster, trace)
        self.add("simulate", {
            name: getattr(report, name) for name in dir(report)
            if not name.startswith("_") and isinstance(
                getattr(report, name), (int, float, str, tuple, list))})
        for code in 0, 1, 137, 255, -210, -220:
            self.add(f"exit_spec {code}", openpai.exit_spec(code))
        self.golden.check(self)

    def test_members(self):
        """What the module offers: names, fields, arguments."""
        self.golden = golden.Golden("life/python-members.txt")
        for name in openpai.__all__:
            thing = getattr(openpai, name)
            if not inspect.isclass(thing):
                said = arguments(thing) if callable(
                    thing) else type(thing).__name__
                self.golden.add(name, said)
                continue
            lines = ["is " + ", ".join(base.__name__
                                       for base in thing.__mro__[1:-1])]
            if dataclasses.is_dataclass(thing):
                lines += ["field " + field.name
                          for field in dataclasses.fields(thing)]
            lines += sorted(self.member(thing, each) for each in dir(thing)
                            if not each.startswith("_"))
            self.golden.add(name, "\n".join(lines))
        self.golden.check(self)

    @staticmethod
    def member(thing, name):
        value = inspect.getattr_static(thing, name)
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        if inspect.isfunction(value):
            return name + arguments(value)
        return name


if __name__ == "__main__":
    LUA = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
