"""Job files, good and bad, and what is asked of openpai spec."""

import json

import program

GOOD = """\
protocolVersion: 2
name: good
type: job
prerequisites: [{name: x, type: dockerimage, uri: x}]
taskRoles:
  a:
    instances: 1
    dockerImage: x
    resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}
    commands: [echo hi]
"""
WARNED = GOOD + "parameters: {lr: 1}\n"
BAD = GOOD.replace("a:\n    instances: 1", "a:\n    instances: 0").replace(
    "dockerImage: x", 'dockerImage: "\u65e5\u672c"')
BAD_TEXT = """\
bad.yaml:7:16: error: instances cannot be 0 [too-small]
    7 |     instances: 0
      |                ^
  help: use 1 or more
bad.yaml:8:18: error: there is no dockerimage prerequisite '\u65e5\u672c' \
[unknown-name]
    8 |     dockerImage: "\u65e5\u672c"
      |                  ^~~~~~
  help: there are: x
"""
V1 = json.dumps({"jobName": "old", "image": "x", "taskRoles": [{
    "name": "a", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
    "gpuNumber": 0, "command": "echo hi"}]})
SECRETS = """\
secrets: {pw: hunter1, list: [hunter2], "key": 'hunter3'}
"""


def with_two_roles(text):
    """Its role `a`, and the same as `b` with a template and a secret."""
    head, role = text.split("  a:\n")
    other = role.replace("echo hi",
                         "echo <% $parameters.lr %> <% $parameters.no %> "
                         "<% $secrets.pw %>")
    return (head + "  a:\n" + role + "  b:\n" + other
            + "parameters: {lr: 0.1}\nsecrets: {pw: hunter1}\n")


class SpecTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("good.yaml", GOOD)
        self.write("warned.yaml", WARNED)
        self.write("bad.yaml", BAD)

    def spec(self, *args, **kwargs):
        return self.run_cli("spec", *args, cwd=self.folder, **kwargs)

    def expect(self, code, out, err, *args, **kwargs):
        done = self.spec(*args, **kwargs)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (code, out, err), args)

    def usage(self, *args):
        """A call that is wrong: what is said of it."""
        done = self.spec(*args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), args)
        return done.stderr
