"""A scripted life of one server, which the golden tests of its answers share.

One job in each state that lasts, an account, a group, a token, a storage, a
virtual cluster; clock, ids, ports and the machine's size are replaced in what
is kept (golden.Fixed).
"""

import getpass
import json
import os
import pathlib
import re
import shlex
import shutil
import socket
import sys

import golden

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import served  # noqa: E402

JOB = """\
protocolVersion: 2
name: {name}
type: job
{more}
prerequisites: [{{name: image, type: dockerimage, uri: host}}]
parameters: {{rate: 0.25}}
taskRoles:
{roles}"""

split = shlex.split

ROLE = """\
  {name}:
    instances: {instances}
    dockerImage: image
    resourcePerInstance: {{cpu: {cpu}, memoryMB: 100, gpu: 0, ports: {{web: 1}}}}
    commands: [{command}]
"""


def role(name, command, instances=1, cpu=1):
    return ROLE.format(name=name, command=json.dumps(command), cpu=cpu,
                       instances=instances)


def job(name, *roles, more=""):
    return JOB.format(name=name, more=more, roles="".join(roles))


KEPT = {"OPENPAI_ROOT", "OPENPAI_RUNTIME", "OPENPAI_ADMIN_PASSWORD"}


class LifeTest(served.ServedTest):
    maxDiff = None

    def setUp(self):
        super().setUp()
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("needs two CPUs")
        os.sched_setaffinity(0, cpus[:2])  # the platform then has these
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        for name in [name for name in self.env if name.startswith("OPENPAI_")
                     and name not in KEPT]:
            del self.env[name]
        self.env |= {"HOME": str(self.folder), "LC_ALL": "C", "TZ": "UTC"}
        self.begin()

    def begin(self):
        self.fixed = golden.Fixed()
        self.server = self.serve()
        self.token = self.login()
        node, = json.loads(self.get("/api/v2/nodes"))
        if node["gpus"] != 0:
            self.skipTest("needs a machine without GPUs")
        self.cpus, self.node = node["cpus"], node["name"]
        self.fixed.memory = {node["memory"]: "MEMORY",
                             node["memory"] >> 20: "MEMORY_MB"}
        self.fixed.word(f"{node['memory'] >> 10}Ki", "MEMORY")
        self.fixed.word(f"{node['memory'] >> 20}M", "MEMORY")
        self.fixed.word(str(self.folder), "FOLDER")
        self.fixed.word(self.node, "NODE")
        self.fixed.word(socket.gethostname(), "NODE")
        self.fixed.word(str(pathlib.Path(served.program.OPENPAI).parent),
                        "BIN")
        self.fixed.user = getpass.getuser()

    def get(self, path):
        status, _, text = self.ask("GET", path, token=self.token)
        self.assertEqual(status, 200, (path, text))
        return text

    def submit(self, text, query=""):
        status, _, answer = self.ask("POST", "/api/v2/jobs" + query, text,
                                     self.token, content_type="text/yaml")
        self.assertEqual(status, 202, answer)
        return answer

    def held(self, name, command, **kwargs):
        """A job that waits in its task until the test ends, and has begun."""
        up = self.folder / f"up-{name}"
        served.program.os.mkfifo(up)
        self.submit(job(name, role("main", f"{command}; echo up > {up}; "
                                   f"read line < {up}"), **kwargs))
        self.assertEqual(up.read_text(), "up\n")
        return up

    def ended(self, text):
        """A job that ends by itself, and has ended."""
        self.submit(text)
        self.run_cli("wait", "admin~" + re.search("name: (.*)", text)[1],
                     "--quiet")

    def two_tasks(self):
        """A job whose tasks end one after the other."""
        gate = self.folder / "gate"
        served.program.os.mkfifo(gate)
        both = "    completion: {minSucceededInstances: -1}\n"
        self.submit(job("pair", role("first", f"read line < {gate}") + both,
                        role("second", "true") + both))
        while "SUCCEEDED" not in self.ok("show", "--json", "admin~pair"):
            pass
        self.release(gate)
        self.run_cli("wait", "admin~pair", "--quiet")

    def live(self):
        """A life without a port that somebody else took: the platform then
        begins such a job anew, which is right, and in no file."""
        self.live_once()
        while '"event":"returned"' in self.get("/api/v2/scheduler/log"):
            self.end_platforms()
            while self.root.exists():  # tasks that ended remove theirs, too
                shutil.rmtree(self.root, ignore_errors=True)
            for gate in [self.folder / "gate", *self.folder.glob("up-*")]:
                gate.unlink()
            self.begin()
            self.live_once()

    def live_once(self):
        """Everything that there are lists of."""
        for method, path, body in (
                ("PUT", "/api/v2/storages/files",
                 {"type": "other", "share": False, "mountOptions": ["ro"]}),
                ("PUT", "/api/v2/virtual-clusters/lab", {"vcCapacity": 0}),
                ("POST", "/api/v2/groups",
                 {"groupname": "team", "description": "of the golden set",
                  "externalName": "", "extension": {"acls": {
                      "admin": False, "virtualClusters": ["default", "lab"],
                      "storageConfigs": ["files"]}}}),
                ("POST", "/api/v2/users",
                 {"username": "alice", "password": "swordfish-9",
                  "email": "alice@example.org", "admin": False,
                  "virtualCluster": ["default"], "extension": {}})):
            status, _, text = self.ask(method, path, body, self.token)
            self.assertIn(status, (200, 201), (path, text))
        self.ended(job("good", role("main", "echo out; echo err >&2"),
                       more="jobRetryCount: 1\n"
                            "secrets: {key: hidden-value}"))
        self.ended(job("bad", role("main", "echo no such file; exit 3")))
        self.two_tasks()
        self.held("stopped", "true")
        self.ok("stop", "admin~stopped")
        self.run_cli("wait", "admin~stopped", "--quiet")
        self.held("running", "echo begun")
        self.submit(job("waiting", role("main", "true", cpu=self.cpus)))
        status, _, text = self.ask("PUT", "/api/v2/jobs/admin~good/tag",
                                   {"value": "kept"}, self.token)
        self.assertEqual(status, 200, text)
