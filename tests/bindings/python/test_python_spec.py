"""What the Python module promises of job files: checking, writing, drafts.

Usage: test_python_spec.py ROOT [unittest's arguments]
"""
import dataclasses
import json
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

import openpai
from python_jobs import ROOT, job, text

V1 = """{ // job config v1
  "jobName": "old", "image": "pai/run",
  "taskRoles": [{"name": "main", "taskNumber": 2, "cpuNumber": 1,
                 "memoryMB": 16, "command": "echo v1"}]
}
"""

SECRET = """\
protocolVersion: 2
name: t # stays
type: job
secrets: { key: hunter2 }
parameters: { lr: 0.1 }
prerequisites:
  - { name: none, type: dockerimage, uri: none }
taskRoles:
  main:
    instances: 1
    dockerImage: none
    resourcePerInstance: { cpu: 1, memoryMB: 16, gpu: 0 }
    commands:
      - echo <% $secrets.key %> <% $parameters.lr %> <% $parameters.no %>
"""


class Editing(unittest.TestCase):
    """What an editor asks."""
    SLIPS = text("true").replace('"type"', '"typ"').replace('"cpu": 1',
                                                          '"cpu": "1"')

    def test_fixes(self):
        report = openpai.check("\ufeff# \u00e9\r\n" + SECRET.replace(
            "type: job", "typ: job").replace("cpu: 1", "cpu: \"1\""))
        found = {d.code: d.fixes for d in report}
        rename, = found["unknown-key"]
        self.assertEqual(rename, openpai.Fix("write 'type'", True, (
            openpai.TextEdit(4, 1, 4, 4, "type"),)))
        self.assertEqual(found["wrong-type"][0].edits[0].text, "1")
        self.assertEqual(found["unresolved"], ())
        self.assertEqual(pickle.loads(pickle.dumps(report)), report)

    def test_apply(self):
        before = self.SLIPS
        for _ in range(9):
            fixes = [f for d in openpai.check(before) for f in d.fixes]
            if not fixes:
                break
            before = fixes[0].apply(before)
        self.assertTrue(openpai.check(before), before)
        odd = "\ufeff# \u00e9\r\ntyp: job # \u00e9\rname: 1\n"
        for diagnostic in openpai.check(odd):
            for fix in diagnostic.fixes:
                self.assertIn(fix.apply(odd), (
                    odd.replace("typ:", "type:"),
                    odd.replace("name: 1", 'name: "1"'),
                    odd.replace("typ:", "protocolVersion: 2\r\ntyp:")))

    def test_fix(self):
        self.assertTrue(openpai.check(openpai.fix(self.SLIPS)))
        self.assertEqual(openpai.fix(b"# \xc3\xa9"), "# \u00e9")
        self.assertEqual(openpai.fix(SECRET), SECRET)
        with self.assertRaises(openpai.InvalidError):
            openpai.fix("", version=3)

    def test_places(self):
        place = openpai.place_at(SECRET, 2, 8)
        self.assertEqual(place, openpai.TextPlace(
            "/name", "value", False, True, False, True,
            openpai.TextRange(2, 1, 2, 5), openpai.TextRange(2, 7, 2, 8)))
        self.assertEqual(openpai.place_of(SECRET, "/name"),
                         dataclasses.replace(place, may_value=False))
        place = openpai.place_at("a:\n  b: 1\n  ", 3, 3)
        self.assertEqual((place.pointer, place.on, place.may_key),
                         ("/a", "space", True))
        place = openpai.place_at(b"a:\n  b: 1\n  inst\n@", 3, 5)
        self.assertEqual((place.pointer, place.on, place.valid, place.value),
                         ("/a/inst", "key", False, None))
        for call in ((openpai.place_at, SECRET, 99, 1),
                     (openpai.place_of, SECRET, "/none")):
            with self.assertRaises(openpai.NotFoundError):
                call[0](*call[1:])
        with self.assertRaises(openpai.InvalidError):
            openpai.place_of("a: [", "/a")
        with self.assertRaises(TypeError):
            openpai.place_of("a: 1", b"/a")


class Checking(unittest.TestCase):
    def test_valid(self):
        report = openpai.check(text("true"))
        self.assertTrue(report)
        self.assertEqual((len(report), list(report), report.version),
                         (0, [], 2))
        self.assertEqual(str(report), "")
        self.assertEqual(openpai.check(V1).version, 1)
        self.assertEqual(openpai.check(b"[").version, None)

    def test_diagnostics(self):
        report = openpai.check(text("true").replace('"cpu": 1', '"cpu": "x"')
                               .replace('"type": "job"', '"type": "jo<b"'))
        self.assertFalse(report)
        self.assertEqual(len(report), 2)
        first, second = report
        self.assertEqual((first.severity, first.pointer, first.line),
                         ("error", "/type", 1))
        self.assertEqual(first.end_column - first.column, len('"jo<b"'))
        self.assertTrue(first.source[first.source_column - 1:]
                        .startswith('"jo<b"'))
        self.assertEqual(str(first), "1:%d: error: %s [%s]" % (
            first.column, first.message, first.code))
        self.assertEqual(report[1], second)
        self.assertEqual(report.errors, report.diagnostics)
        self.assertEqual(first.code, "not-allowed")
        with self.assertRaises(dataclasses.FrozenInstanceError):
            first.line = 2
        self.assertEqual(pickle.loads(pickle.dumps(report)), report)

    def test_warning(self):
        report = openpai.check(SECRET)
        self.assertTrue(report)
        self.assertEqual({d.severity for d in report}, {"warning"})
        self.assertEqual(report.errors, ())

    def test_shown(self):
        report = openpai.check('{\t"protocolVersion": 2, "n\u4f60": 1}')
        self.assertIn('  {\t"protocolVersion": 2, "n\u4f60": 1}\n'
                      '   \t                      ^~~~\n', str(report))
        report = openpai.check("nme: 1 # <b>\nprotocolVersion: 2\n"
                               "type: job\ntaskRoles: {}\n")
        self.assertEqual(str(report).splitlines()[:4], [
            "1:1: error: a job file has no field 'nme' [unknown-key]",
            "  nme: 1 # <b>", "  ^~~", "  help: did you mean 'name'?"])
        html = report._repr_html_()
        self.assertIn("nme: 1 # &lt;b&gt;", html)
        self.assertNotIn("<b>", html)
        self.assertTrue(html.startswith("<p>invalid</p>"))

    def test_versions_are_numbers(self):
        for call in (lambda: openpai.schema("v2"),
                     lambda: openpai.check("{}", version="v1"),
                     lambda: openpai.Draft().check(version=True)):
            with self.assertRaisesRegex(TypeError, "a version is 1 or 2, not"):
                call()

    def test_secrets_are_not_shown(self):
        report = openpai.check(text("true").replace(
            '"type": "job"', '"secrets": {"key": "hunter2"}, "type": "x"'))
        self.assertIn('"secrets": ***', str(report))
        for shown in (repr(report), str(report), report._repr_html_()):
            self.assertNotIn("hunter2", shown)

    def test_options(self):
        self.assertEqual(openpai.check("{}", version=1).version, 1)
        self.assertEqual(openpai.check("{}", version=2).version, 2)
        for wrong in (3, -1):
            with self.assertRaises(openpai.InvalidError):
                openpai.check("{}", version=wrong)
        with self.assertRaises(TypeError):
            openpai.check("{}", version="v2")
        hived = text("true")[:-1] + ', "extras": {"hivedScheduler": 1}}'
        self.assertTrue(openpai.check(hived))
        self.assertFalse(openpai.check(hived, hived=True))

    def test_file(self):
        path = ROOT / "check.yaml"
        path.write_text(text("true"))
        self.assertTrue(openpai.check(path))
        self.assertFalse(openpai.check(str(path)))  # a text
        with self.assertRaises(FileNotFoundError) as caught:
            openpai.check(ROOT / "missing.yaml")
        self.assertIn("missing.yaml", caught.exception.message)
        with self.assertRaises(openpai.IoError):
            openpai.check(ROOT)
        for wrong in (None, 1, ["a"]):
            with self.assertRaises(TypeError):
                openpai.check(wrong)

    def test_standard_input(self):
        said = subprocess.run(
            [sys.executable, "-c", "import openpai\n"
             "print(openpai.Job.load('-').name)"],
            input=text("true", name="piped"), capture_output=True, text=True,
            check=True)
        self.assertEqual(said.stdout, "piped\n")

    def test_limit(self):
        path = ROOT / "long.yaml"
        path.write_bytes(b"#" * (4 << 20) + b"#")
        for read in (openpai.Job.load, lambda p: openpai.Job.parse(
                p.read_bytes())):
            with self.assertRaises(openpai.LimitError) as caught:
                read(path)
            self.assertEqual([d.code for d in caught.exception.report],
                             ["limit"])
        os.remove(path)

    def test_report_of_error(self):
        bad = "nme: t\nprotocolVersion: 2\ntaskRoles: {}\n"
        path = ROOT / "bad.yaml"
        path.write_text(bad)
        for read in (lambda: openpai.Job.parse(bad),
                     lambda: openpai.Job.load(path),
                     openpai.Draft(bad).job):
            with self.assertRaises(openpai.InvalidError) as caught:
                read()
            error = caught.exception
            self.assertEqual(error.report, openpai.check(bad))
            self.assertGreater(len(error.report), 2)
            self.assertEqual((error.message, error.line, error.column), (
                error.report[0].message, 1, 1))
            self.assertEqual(pickle.loads(pickle.dumps(error)).report,
                             error.report)
        with self.assertRaises(openpai.NotFoundError) as caught:
            openpai.Job.load(ROOT / "missing.yaml")
        self.assertIsNone(caught.exception.report)

    def test_schema(self):
        for version in (1, 2):
            schema = json.loads(openpai.schema(version))
            self.assertIn("draft-07", schema["$schema"])
        self.assertEqual(openpai.schema(), openpai.schema(2))
        with self.assertRaises(openpai.InvalidError):
            openpai.schema(3)


class Writing(unittest.TestCase):
    def test_v1_is_read(self):
        j = openpai.Job.parse(V1)
        self.assertEqual((j.name, j.task_count), ("old", 2))
        self.assertIn("echo v1", j.roles[0].script)
        self.assertEqual(openpai.check(j.to_yaml()).version, 2)

    def test_texts(self):
        j = job("echo gr\u00fc\u00dfe", name="w")
        self.assertEqual(j.to_yaml(), openpai.Job.parse(
            j.to_yaml()).to_yaml())
        self.assertIn("gr\u00fc\u00dfe", j.to_yaml())
        self.assertEqual(json.loads(j.to_json()),
                         json.loads(text("echo gr\u00fc\u00dfe", name="w")))

    def test_deployments(self):
        draft = openpai.Draft(text("true"))
        draft["defaults"] = {"deployment": "d"}
        draft["deployments"] = [{"name": "d", "taskRoles": {
            "main": {"preCommands": ["echo before"]}}}]
        self.assertEqual(draft.job().roles[0].script, "echo before\ntrue")

    def test_secrets(self):
        j = openpai.Job.parse(SECRET)
        for write in (j.to_yaml, j.to_json):
            self.assertNotIn("hunter2", write())
            self.assertIn("******", write())
            self.assertIn("hunter2", write(secrets=True))
            self.assertNotIn("hunter2", j.masked().to_yaml(secrets=True))
        self.assertEqual(j.masked().roles, j.roles)
        self.assertEqual(j.unresolved, ("$parameters.no",))
        self.assertEqual(j.missing_secrets, ())
        self.assertEqual(j.masked().missing_secrets, ("/secrets/key",))
        self.assertEqual(j.roles[0].script,
                         "echo <% $secrets.key %> 0.1 <% $parameters.no %>")

    def test_any_place(self):
        j = openpai.Job.parse("""
            protocolVersion: 2
            name: places
            type: job
            secrets: {pw: hunter2}
            prerequisites:
            - {name: i, type: dockerimage, uri: x, auth: {username: u,
               password: <% $secrets.pw %>, registryuri: r}}
            taskRoles:
              main:
                dockerImage: i
                completion: {minFailedInstances: -1}
                resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}
                commands: ["true"]
            """)
        self.assertEqual(j["taskRoles.main.completion"],
                         {"minFailedInstances": -1})
        self.assertEqual((j["/secrets"], j.get("no.such", 7)), ("******", 7))
        with self.assertRaises(KeyError):
            j["secrets.pw"]
        self.assertEqual(json.loads(j.docker_config()),
                         {"auths": {"r": {"auth": "dTpodW50ZXIy"}}})

    def test_places_are_texts(self):
        j = openpai.Job.parse(SECRET)
        for thing in j, openpai.Draft(SECRET):
            self.assertIn("parameters.lr", thing)
            self.assertNotIn("parameters.no", thing)
            for wrong in 0, None, b"name":
                for call in (lambda: thing[wrong], lambda: wrong in thing,
                             lambda: thing.get(wrong)):
                    with self.assertRaisesRegex(TypeError, "a place is a str"):
                        call()
            with self.assertRaisesRegex(TypeError, "not iterable"):
                list(thing)

    def test_all_fields(self):
        j = openpai.Job.parse("""\
protocolVersion: 2
name: t
type: job
contributor: me
description: "a \\"b\\"\\tc"
jobRetryCount: 3
prerequisites:
- {name: i, type: dockerimage, uri: x, auth: {username: u, password: p}}
- {name: d, type: data, uri: [y, z]}
- {name: s, type: script, plugin: p}
taskRoles:
  w:
    instances: 2
    completion: {minFailedInstances: -1, minSucceededInstances: 1}
    taskRetryCount: 4
    dockerImage: i
    data: d
    script: s
    prerequisites: [s, d]
    extraContainerOptions: {shmMB: 7, infiniband: true}
    resourcePerInstance: {cpu: 1, memoryMB: 2, gpu: 3, ports: {web: 5}}
    commands: [run]
defaults: {virtualCluster: vc, deployment: prod}
deployments: [{name: prod, taskRoles: {w: {preCommands: [pre]}}}]
extras: {gangAllocation: false}
""")
        self.assertEqual(
            (j.contributor, j.description, j.virtual_cluster, j.deployment,
             j.gang), ("me", 'a "b"\tc', "vc", "prod", False))
        self.assertEqual(j.roles, (openpai.Role(
            name="w", instances=2, cpus=1, memory_mb=2, gpus=3,
            script="pre\nrun", min_failed=-1, min_succeeded=1,
            task_retry_count=4, shm_mb=7, infiniband=True, image="i",
            data="d", script_name="s", ports={"web": 5, "ssh": 1, "http": 1},
            prerequisites=("s", "d")),))
        self.assertEqual(list(j.roles[0].ports), ["web", "ssh", "http"])
        self.assertEqual(j.prerequisites, (
            openpai.Prerequisite("dockerimage", "i", ("x",), True),
            openpai.Prerequisite("data", "d", ("y", "z"), False),
            openpai.Prerequisite("script", "s", (), False, "p")))
        j = openpai.Job.parse(text("true"))
        self.assertEqual((j.contributor, j.description, j.virtual_cluster,
                          j.deployment, j.gang),
                         (None, None, "default", None, True))

    def test_explained(self):
        j = openpai.Job.parse(SECRET)
        self.assertEqual(json.loads(j.explain_json())["name"], "t")
        self.assertIn("main", j.explain())
        self.assertNotIn("hunter2", j.explain() + j.explain_json())

    def test_diff(self):
        draft = openpai.Draft(SECRET)
        old = draft.job()
        self.assertEqual(old.diff(old), ())
        draft["taskRoles.main.instances"] = 2
        draft["parameters.lr"] = [1, None]
        draft["secrets.key"] = "hunter3"
        draft["description"] = "gr\u00fc\u00dfe"
        changes = {c.pointer: c for c in old.diff(draft.job())}
        self.assertEqual(changes["/taskRoles/main/instances"], openpai.Change(
            "changed", "/taskRoles/main/instances", 1, 2))
        self.assertEqual(changes["/description"], openpai.Change(
            "added", "/description", None, "gr\u00fc\u00dfe"))
        self.assertIn("removed", {c.kind for c in draft.job().diff(old)})
        self.assertNotIn("hunter", repr(changes))
        with self.assertRaises(TypeError):
            old.diff(None)

    def test_html(self):
        j = job("echo '<b>&'", "two", "three", "four", instances=7)
        html = j._repr_html_()
        for part in (">7<", "&lt;b&gt;&amp;", "three\n...", ">main<"):
            self.assertIn(part, html)
        for part in ("<b>", "four"):
            self.assertNotIn(part, html)
        self.assertNotIn("hunter2",
                         openpai.Job.parse(SECRET)._repr_html_())


class Drafts(unittest.TestCase):
    def test_set(self):
        draft = openpai.Draft(SECRET)
        draft["taskRoles.main.instances"] = 4
        draft["taskRoles.main.commands[+]"] = "echo '4'"
        draft["name"] = "u"
        self.assertEqual(draft.text, SECRET.replace(
            "instances: 1", "instances: 4").replace(
            "name: t #", "name: u #") + "      - echo '4'\n")
        self.assertEqual(str(draft), draft.text)
        self.assertEqual(draft.job().task_count, 4)
        self.assertNotIn("hunter2", repr(draft))

    def test_values(self):
        draft = openpai.Draft()
        odd = "\u2028\u2029\x85\x7f\ufeff\U0001f600\u00fc\t\n\"\\'"
        for value in (None, True, False, 4, -1, 0.1, 1e300, "", "4", "null",
                      "a\nb\n", odd, [], {}, [odd, [odd]], {"a": {odd: odd}},
                      [None, 1, {"b": [0.5, "x", {}]}], 2 ** 53):
            for path in ("x", "y.z", 'y."a.b"', "/y/q"):
                draft[path] = value
                self.assertEqual(draft[path], value)
                self.assertIs(type(draft[path]), type(value))
        draft["t"] = (1, 2)
        self.assertEqual(draft["t"], [1, 2])
        draft["t[-1]"] = "two"
        draft["t[+]"] = 3
        self.assertEqual(draft["t"], [1, "two", 3])
        self.assertEqual(list(draft[""]), ["x", "y", "t"])

    def test_yaml(self):
        draft = openpai.Draft(b"a: 1\n")
        draft.set_yaml("a", "[4, x]")
        self.assertEqual(draft["a"], [4, "x"])
        draft["a"] = "[4, x]"
        self.assertEqual(draft["a"], "[4, x]")
        with self.assertRaises(openpai.InvalidError):
            draft.set_yaml("a", "[")
        self.assertEqual(draft["a"], "[4, x]")

    def test_format(self):
        draft = openpai.Draft("a:   {b:  1}  # stays\n")
        draft.format()
        self.assertEqual(draft["a"], {"b": 1})
        self.assertIn("# stays", draft.text)
        self.assertIn("b: 1", draft.text)
        self.assertNotIn("  {", draft.text)

    def test_missing(self):
        draft = openpai.Draft("a: { b: 1 }\nl: [1]\n")
        self.assertTrue("a.b" in draft and "l[0]" in draft)
        self.assertFalse("a.c" in draft or "l[1]" in draft or "q.r" in draft)
        for call in (lambda: draft["a.c"], lambda: draft.__delitem__("a.c"),
                     lambda: draft.__setitem__("l[1]", 1),
                     lambda: draft.set_yaml("l[1]", "1")):
            with self.assertRaises(KeyError) as caught:
                call()
            self.assertIsInstance(caught.exception, openpai.NoSuchPlaceError)
            self.assertIsInstance(caught.exception, openpai.NotFoundError)
            self.assertNotEqual(caught.exception.message, "")
        self.assertEqual(draft.get("a.b"), 1)
        self.assertEqual(draft.get("a.c", 7), 7)
        del draft["a.b"]
        self.assertEqual(draft["a"], {})

    def test_misuse(self):
        draft = openpai.Draft("a: 1\n")
        for wrong in (None, 0, b"a"):
            with self.assertRaises(TypeError):
                draft[wrong]
            with self.assertRaises(TypeError):
                draft[wrong] = 1
        with self.assertRaises(TypeError):
            iter(draft)
        with self.assertRaises(TypeError):
            openpai.facade.Draft.text(None)
        for wrong in (b"1", object(), {1: object()}):
            with self.assertRaises(TypeError):
                draft["a"] = wrong
        with self.assertRaises(TypeError):
            draft.set_yaml("a", 4)
        with self.assertRaises(TypeError):
            openpai.Draft(4)
        for wrong in (float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                draft["a"] = wrong
        with self.assertRaises(ValueError):
            draft["a\0b"] = 1
        with self.assertRaises(UnicodeEncodeError):
            draft["a"] = "\udc80"
        with self.assertRaises(UnicodeEncodeError):
            draft["a"] = ["\udc80"]
        with self.assertRaises(openpai.InvalidError):
            draft["a["] = 1
        with self.assertRaises(openpai.InvalidError):
            openpai.Draft("a: [")
        self.assertEqual(draft.text, "a: 1\n")

    def test_from_nothing(self):
        draft = openpai.Draft()
        self.assertEqual(draft.text, "")
        self.assertFalse(draft.check())
        for path, value in json.loads(text("true")).items():
            draft[path] = value
        self.assertTrue(draft.check())
        self.assertEqual(draft.check(version=1).version, 1)
        self.assertEqual(draft.job().to_json(), job("true").to_json())
