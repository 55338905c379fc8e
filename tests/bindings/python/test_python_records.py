"""What a platform and a server tell of jobs in each state, against what is
documented: the API's document, and the types of the module's records.

Usage: test_python_records.py ROOT [unittest's arguments]
"""
import collections.abc
import contextlib
import dataclasses
import json
import os
import sys
import typing
import unittest

import openpai
import python_serve
from python_jobs import SLEEP, job, new_root, text

PASSWORD = "correct horse battery"


# --- types of records

def is_record(value):
    return dataclasses.is_dataclass(value) or (
        isinstance(value, tuple) and hasattr(value, "_fields"))


def fits(value, hint):
    """Whether a value is of a type as annotations write it."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return True
    if origin is typing.Literal:
        return value in args
    if origin is typing.Union:
        return any(fits(value, each) for each in args)
    if origin in (tuple, collections.abc.Iterable, list):
        each = args[0] if args else typing.Any
        return isinstance(value, origin) and all(
            fits(item, each) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(key, args[0]) and fits(item, args[1])
            for key, item in value.items())
    if origin is not None:
        return isinstance(value, origin)
    if hint is int and isinstance(value, bool):
        return False
    return isinstance(value, hint)


def check_record(test, value, seen):
    """Each field is what its annotation says, and it can be shown."""
    if isinstance(value, (tuple, list)) and not is_record(value):
        for each in value:
            check_record(test, each, seen)
        return
    if not is_record(value):
        return
    kind = type(value)
    seen.add(kind.__name__)
    for name, hint in typing.get_type_hints(
            kind, {**vars(sys.modules[kind.__module__]),
                   **vars(openpai)}).items():
        if not hasattr(value, name) or name.startswith("__"):
            continue
        field = getattr(value, name)
        test.assertTrue(fits(field, hint), "%s.%s is %r, not %s" % (
            kind.__name__, name, field, hint))
        check_record(test, field, seen)
    for show in (str, repr):
        test.assertTrue(show(value))
    html = getattr(value, "_repr_html_", None)
    if html is not None:
        test.assertIn("<", html())


# --- jobs in each state

def jobs():
    """State, job; each but the last ones is over, or stays as it is."""
    cpus = os.cpu_count() or 1
    single = json.loads(text(*SLEEP, name="partial", instances=cpus + 1))
    single["extras"] = {"openpai": {"runtime": "process"},
                        "gangAllocation": False}
    failing = json.loads(text("echo first; echo last; exit 3", name="failed"))
    failing["extras"] = {"openpai": {"runtime": "process"}}
    return (
        ("succeeded", job("echo fine", name="succeeded")),
        ("failed", openpai.Job.parse(json.dumps(failing))),
        ("failed", job("kill -9 $$", name="killed")),
        ("failed", job("no-such-command", name="known")),
        ("stopped", job(*SLEEP, name="stopped")),
        ("running", openpai.Job.parse(json.dumps(single))),
        ("waiting", job("true", name="waiting", cpus=cpus)),
        ("stopped", job("true", name="stopped-early", cpus=cpus)),
    )


def make_jobs(submit, wait, stop):
    """Submits them all; names in order."""
    names = []
    for state, given in jobs():
        name = submit(given)
        names.append(name)
        if state == "stopped":
            if "early" not in str(given.name):
                wait(name, "running")
            stop(name)
        wait(name, state)
    return names


class Handles(unittest.TestCase):
    def test_each_state(self):
        seen = set()
        events = []
        platform = openpai.Platform(root=new_root(), on_event=events.append)
        self.addCleanup(platform.close)

        def wait(handle, state):
            while handle.state != state:
                self.assertFalse(handle.is_over, handle.state)
                platform._step(250)

        handles = make_jobs(platform.submit, wait,
                            lambda handle: handle.stop(now=True))
        states = set()
        for handle in handles:
            states.add(handle.state)
            for value in (handle.show(), handle.why(), handle.events(),
                          handle.status.tasks):
                check_record(self, value, seen)
            self.assertEqual(str(handle.why()).split("\n")[0], handle.state)
            if handle.is_over:
                check_record(self, handle.wait(), seen)
        check_record(self, events, seen)
        check_record(self, platform.jobs(), seen)
        self.assertEqual(states, {"succeeded", "failed", "stopped", "running",
                                  "waiting"})
        known = next(handle for handle in handles
                     if handle.status.name == "known")
        failure = known.status.failure
        self.assertEqual(failure.name, "command-not-found")
        self.assertIn("no-such-command: command not found", failure.line)
        self.assertEqual(known.why().failure, failure)
        self.assertEqual(known.status.tasks[0].failure, failure)
        self.assertIn(failure.reason, str(known.why()))
        self.assertIn("command -v no-such-command",
                      known.status._repr_html_())
        self.assertIsNone(handles[0].status.failure)
        self.assertLessEqual({"JobStatus", "TaskStatus", "Why", "WhyReason",
                              "Failure",
                              "JobEvent", "JobSummary", "Result", "Event"},
                             seen)
        waiting = next(handle for handle in handles
                       if handle.state == "waiting").why()
        self.assertEqual(str(waiting), "waiting\n" + waiting.explanation)
        self.assertIn("would start now", str(waiting))
        self.assertEqual(waiting.change["lack"], waiting.reasons[0].code)
        for handle in handles:
            handle.stop(now=True) if not handle.is_over else None


# --- the API's document

def as_json_schema(schema):
    """OpenAPI 3.0's nullable in JSON schema's words; objects have no members
    but those that the document names."""
    if isinstance(schema, list):
        return [as_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: as_json_schema(value) for key, value in schema.items()
            if key != "nullable"}
    if "properties" in made:
        made.setdefault("additionalProperties", False)
    if schema.get("nullable"):
        return {"anyOf": [made, {"type": "null"}]}
    return made


class Server(unittest.TestCase):
    def check_answer(self, client, document, template, path):
        """What GET says, against its schema.  False where there is none."""
        import jsonschema
        content = document["paths"][template]["get"]["responses"].get(
            "200", {}).get("content", {})
        if "application/json" not in content:
            return False
        try:
            answer = client.request("GET", path)
        except openpai.Error as error:
            self.assertIn(str(error.http_status), document["paths"][template]
                          ["get"]["responses"], (path, str(error)))
            return False
        schema = {**as_json_schema(content["application/json"]["schema"]),
                  "components": self.components}
        try:
            jsonschema.validate(answer.json(), schema)
        except jsonschema.ValidationError as error:
            self.fail("GET %s: /%s: %s" % (
                path, "/".join(map(str, error.absolute_path)), error.message))
        return True

    def test_each_state(self):
        try:
            import jsonschema  # noqa: F401
        except ImportError:
            self.skipTest("no jsonschema")
        root = new_root()
        with python_serve.served(root, PASSWORD) as url:
            client = openpai.BlockingClient(url)
            self.addCleanup(client.close)
            client.login("admin", PASSWORD)
            self.ask(client)

    def ask(self, client):
        def wait(name, state):
            with contextlib.closing(client.watch(name)) as changes:
                now = client.job(name).state
                while now != state:
                    now = next(changes).state

        names = make_jobs(client.submit, wait, client.stop)
        document = client.request("GET", "/api/v2/openapi.json").json()
        self.components = as_json_schema(document["components"])
        seen, asked = set(), set()
        for name in names:
            check_record(self, client.job(name), seen)
            for template in document["paths"]:
                if "{" in template and "get" in document["paths"][template]:
                    path = template
                    for key, value in self.words(name).items():
                        path = path.replace("{%s}" % key, value)
                    if self.check_answer(client, document, template, path):
                        asked.add(template)
        for template, methods in document["paths"].items():
            if "{" not in template and "get" in methods and (
                    self.check_answer(client, document, template, template)):
                asked.add(template)
        check_record(self, client.jobs().all(), seen)
        self.assertGreater(len(asked), 35, sorted(asked))
        for name in names[-3:-1]:
            client.stop(name)

    @staticmethod
    def words(job):
        user, _, name = job.partition("~")
        return {"job": job, "attempt": "0", "role": "main", "index": "0",
                "retry": "0", "name": "admin", "username": user,
                "v1job": name, "groupname": "default", "vc": "default",
                "node": os.uname().nodename, "log": "none"}
