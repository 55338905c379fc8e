"""Every route's answers in a scripted life, as they are kept on file."""

import re

import golden
import life

NAMES = {"item": "none", "label": "none", "attempt": "0", "index": "0", "retry": "0", "username": "alice",
         "groupname": "team", "vc": "lab", "path": "acls",
         "fingerprint": "none", "id": "none", "tag": "none"}
JOBS = {"good": "main", "bad": "main", "pair": "first", "stopped": "main",
        "running": "main", "waiting": "main"}

# Streams without an end, what is drawn anew each time, and what is no text.
PASSED_OVER = {"/", "/api/v2/alerts/rules",  # with what fires now
               "/api/v2/backup", "/api/v2/events", "/metrics",
               "/api/v2/openapi.json",  # in a file of its own
               "/api/v2/jobs/{job}/file", "/api/v2/jobs/{job}/follow",
               "/api/internal/tail-logs/{log}", "/api/v2/scheduler/log",
               "/api/v2/jobs/{job}/taskRoles/{role}/taskIndex/{index}/stream",
               # what was sampled, and when
               "/api/v2/jobs/{job}/metrics", "/api/v2/jobs/{job}/metrics/stream",
               "/api/v2/nodes/{node}/metrics",
               "/api/v2/nodes/{node}/metrics/stream",
               "/api/v2/virtual-clusters/{vc}/metrics",
               "/api/v2/scheduler/metrics", "/api/v2/usage"}

QUERIES = {
    "/api/v2/jobs": [
        "withTotalCount=true&limit=2", "limit=0", "state=RUNNING,WAITING",
        "username=admin&order=jobName,ASC", "keyword=pai", "tagsContain=kept",
        "tagsNotContain=kept", "vc=default&order=completionTime,DESC",
        "limit=x", "offset=-1", "order=no,ASC"],
    "/api/v2/virtual-clusters": ["nodes"],
    "/api/v2/storages": ["default=true"],
    "/api/v2/audit": ["limit=2", "username=alice", "limit=x"],
    "/api/v2/export": ["limit=1"],
}

CHANGES = [  # method, path, body
    ("POST", "/api/v2/authn/basic/login", {"username": "alice",
                                           "password": "swordfish-9"}),
    ("POST", "/api/v2/authn/basic/login", {"username": "alice",
                                           "password": "wrong"}),
    ("POST", "/api/v2/authn/basic/login", {"username": "alice"}),
    ("POST", "/api/v2/tokens", {"name": "ci", "scopes": ["read"]}),
    ("POST", "/api/v2/tokens", {"scopes": ["everything"]}),
    ("POST", "/api/v2/tokens/application", {}),
    ("POST", "/api/v2/users", {"username": "alice", "password": "swordfish-9",
                               "email": "", "admin": False}),
    ("POST", "/api/v2/users", {"username": "bob", "password": "short",
                               "email": "no address", "admin": 1}),
    ("PUT", "/api/v2/users/alice/email", {"data": {"email": "a@example.org"}}),
    ("PUT", "/api/v2/users/alice/email", {"email": "a@example.org"}),
    ("PUT", "/api/v2/users/alice/admin", {"data": {"admin": True}}),
    ("PUT", "/api/v2/users/alice/extension", {"data": {"theme": "dark"}}),
    ("PUT", "/api/v2/users/alice/grouplist", {"data": {"grouplist":
                                                       ["default", "team"]}}),
    ("PUT", "/api/v2/users/alice/group", {"data": {"groupname": "team"}}),
    ("DELETE", "/api/v2/users/alice/group", {"data": {"groupname": "team"}}),
    ("PUT", "/api/v2/users/alice/virtualcluster",
     {"data": {"virtualCluster": ["default", "lab"]}}),
    ("PUT", "/api/v2/users/alice/virtualcluster",
     {"data": {"virtualCluster": ["none"]}}),
    ("PUT", "/api/v2/users/alice/password",
     {"data": {"oldPassword": "swordfish-9", "newPassword": "swordfish-8"}}),
    ("PUT", "/api/v2/users/alice/quota", {"jobs": 3}),
    ("PUT", "/api/v2/quota", {"jobs": 100}),
    ("PUT", "/api/v2/quota", {"jobs": -1}),
    ("PUT", "/api/v2/users", {"patch": True, "data": {
        "username": "alice", "email": "b@example.org"}}),
    ("PUT", "/api/v2/users", {"data": {"username": "nobody-here"}}),
    ("PUT", "/api/v2/groups", {"patch": True, "data": {
        "groupname": "team", "description": "changed"}}),
    ("PUT", "/api/v2/groups/team/description", {"data": {"description": "d"}}),
    ("PUT", "/api/v2/groups/team/externalname", {"data": {"externalName":
                                                          "x"}}),
    ("PUT", "/api/v2/groups/team/extension", {"data": {"a": 1}}),
    ("PUT", "/api/v2/groups/team/extension/b/c", {"data": [2]}),
    ("POST", "/api/v2/groups", {"groupname": "team"}),
    ("PUT", "/api/v2/virtual-clusters/lab", {"vcCapacity": -1}),
    ("PUT", "/api/v2/virtual-clusters/lab", {"vcCapacity": 0}),
    ("PUT", "/api/v2/virtual-clusters/lab/status", {"vcStatus": "stopped"}),
    ("PUT", "/api/v2/virtual-clusters/lab/status", {"vcStatus": "running"}),
    ("PUT", "/api/v2/virtual-clusters/lab/status", {"vcStatus": "x"}),
    ("PUT", "/api/v2/jobs/admin~good/tag", {"value": "two"}),
    ("DELETE", "/api/v2/jobs/admin~good/tag", {"value": "two"}),
    ("DELETE", "/api/v2/jobs/admin~good/tag", {"value": "two"}),
    ("PUT", "/api/v2/jobs/admin~good/executionType", {"value": "STOP"}),
    ("PUT", "/api/v2/jobs/admin~waiting/executionType", {"value": "STOP"}),
    ("PUT", "/api/v2/jobs/admin~none/executionType", {"value": "STOP"}),
    ("PUT", "/api/v2/jobs/admin~good/executionType", {"value": "JUMP"}),
    ("DELETE", "/api/v2/jobs/admin~running", None),
    ("DELETE", "/api/v2/jobs/admin~bad", None),
    ("DELETE", "/api/v2/jobs/admin~bad", None),
    ("PUT", "/api/v2/storages/files", {"type": "nfs", "data": {}}),
    ("PUT", "/api/v2/storages/Bad%20Name", {"type": "other"}),
    ("DELETE", "/api/v2/storages/files", None),
    ("DELETE", "/api/v2/storages/files", None),
    ("DELETE", "/api/v2/virtual-clusters/default", None),
    ("DELETE", "/api/v2/virtual-clusters/lab", None),
    ("DELETE", "/api/v2/users/alice", None),
    ("DELETE", "/api/v2/groups/team", None),
    ("DELETE", "/api/v2/groups/default", None),
    ("DELETE", "/api/v2/tokens/nothing", None),
    ("GET", "/api/v2/none", None),
    ("PATCH", "/api/v2/jobs", {}),
]

WRONG_JOBS = ["", "a: [", "protocolVersion: 2\n", "{}",
              life.job("good", life.role("main", "true")),
              life.job("no spaces", life.role("main", "true")),
              life.job("huge", life.role("main", "true", cpu=100000)),
              life.job("many", life.role("main", "true", instances=100000)),
              life.job("image", life.role("main", "true")).replace(
                  "dockerImage: image", "dockerImage: other")]


class Routes(life.LifeTest):
    def seen(self, method, path, body=None, token=None, **headers):
        status, got, text = self.ask(method, path, body, token, **headers)
        kind = (got["Content-Type"] or "").partition(";")[0]
        shown = "" if body is None else " " + (
            str(body) if isinstance(body, dict) else repr(body))
        self.golden.add(f"{method} {self.fixed.text(path)}{shown}",
                        f"{status} {kind}\n{self.fixed.json(text)}")

    def test_answers(self):
        self.live()
        document = golden.Golden("life/openapi.txt")
        document.add("GET /api/v2/openapi.json", golden.layout(
            self.document.document))
        document.check(self)
        self.golden = golden.Golden("life/routes.txt")
        node = life.json.loads(self.get("/api/v2/nodes"))[0]["name"]
        for path, operations in sorted(
                self.document.document["paths"].items()):
            if "get" not in operations or path in PASSED_OVER:
                continue
            jobs = JOBS if "{job}" in path or "{v1job}" in path else {"": ""}
            for job, role in jobs.items():
                names = {**NAMES, "job": "admin~" + job, "v1job": job,
                         "role": role, "node": node,
                         "name": "stdout" if "/logs/" in path else "files"}
                if "{v1job}" in path:
                    names["username"] = "admin"
                self.seen("GET", re.sub(r"\{(\w+)\}", lambda m: names[m[1]],
                                        path), token=self.token)
            for query in QUERIES.get(path, ()):
                self.seen("GET", f"{path}?{query}", token=self.token)
        self.golden.check(self)

    def test_changes(self):
        self.live()
        self.golden = golden.Golden("life/changes.txt")
        for method, path, body in CHANGES:
            self.seen(method, path, body, self.token)
        for text in WRONG_JOBS:
            self.seen("POST", "/api/v2/jobs", text, self.token,
                      content_type="text/yaml")
        self.golden.check(self)

    def test_rights(self):
        """What a caller without a token, and one without rights, is told."""
        self.live()
        self.golden = golden.Golden("life/rights.txt")
        alice = self.login("alice", "swordfish-9")
        for path, operations in sorted(
                self.document.document["paths"].items()):
            for method in sorted(set(operations) & {"get", "put", "post",
                                                    "delete"}):
                if path in PASSED_OVER or "logout" in path:
                    continue
                names = {**NAMES, "job": "admin~good", "v1job": "good",
                         "role": "main", "node": "none", "name": "files",
                         "token": "none", "username": "admin"}
                filled = re.sub(r"\{(\w+)\}", lambda m: names[m[1]], path)
                body = None if method == "get" else {}
                for token in None, alice:
                    status, _, text = self.ask(method.upper(), filled, body,
                                               token)
                    said = "" if status < 400 else self.fixed.text(text)
                    self.golden.add(f"{method.upper()} {filled} "
                                    f"{'alice' if token else 'nobody'}",
                                    f"{status} {said}")
        self.golden.check(self)


if __name__ == "__main__":
    life.served.program.main()
