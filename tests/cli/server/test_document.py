"""The API's document: every route is asked, and answers what that says."""

import json
import re
import unittest

import served

JOB = """\
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: host}}]
taskRoles:
  work:
    dockerImage: x
    resourcePerInstance: {{cpu: {cpu}, memoryMB: 100, gpu: 0, ports: {{p: 1}}}}
    commands: ["{command}"]
"""

STANDS_FOR = {
    "job": "admin~one", "attempt": "0", "role": "work", "index": "0",
    "retry": "0", "username": "admin", "groupname": "default",
    "v1job": "one", "vc": "default"}

# Streams without an end, what is no text, and what there is not.
PASSED_OVER = {
    "/api/v2/jobs/{job}/file", "/api/v2/events",
    "/api/v2/jobs/{job}/metrics/stream", "/api/v2/nodes/{node}/metrics/stream", "/api/v2/backup",
    "/api/v2/alerts/{fingerprint}", "/api/internal/tail-logs/{log}",
    "/api/v2/jobs/{job}/taskRoles/{role}/taskIndex/{index}/stream"}

# What the job has not, for want of code.
REFUSED = {"files": 404}


class Document(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.token = self.login()  # from which on there is the document

    def put(self, name, command, cpu=1):
        status, _, text = self.ask(
            "POST", "/api/v2/jobs",
            JOB.format(name=name, command=command, cpu=cpu), self.token,
            content_type="text/yaml")
        self.assertEqual(status, 202, text)

    def get(self, path):
        status, headers, text = self.ask("GET", path, token=self.token)
        usual = (302 if path.endswith(".html") else
                 404 if "/ssh" in path else 200)
        self.assertEqual(status, REFUSED.get(path.partition("~one/")[2],
                                             usual), (path, text))
        self.headers = headers
        return headers["Content-Type"], text

    def fill(self, path, **more):
        values = {**STANDS_FOR, **more}
        return re.sub(r"\{(\w+)\}", lambda m: values[m[1]], path)

    def names(self, path):
        """What stands for the names that only a path tells of."""
        if "/logs/" in path:
            return {"name": "stdout"}
        if "storage" in path:
            return {"name": "files"}
        if "/marketplace/" in path:
            return {"item": self.item, "label": self.label[
                "categories" if "categories" in path else "tags"]}
        if "/portal/" in path:
            return {"name": re.search(r"/portal/([\w-]+\.js)",
                                      self.get("/")[1])[1]}
        if "{node}" in path:
            return {"node": json.loads(self.get("/api/v2/nodes")[1])[0]["name"]}
        return {}

    def make(self, kind, body):
        """Something of the marketplace; its id."""
        status, _, text = self.ask("POST", "/api/v2/marketplace/" + kind,
                                   body, self.token)
        self.assertEqual(status, 201, text)
        return json.loads(text)["id"]

    def make_things(self):
        """One of everything that there are lists of."""
        (self.root / "plugins.yaml").write_text(
            "[{title: Charts, uri: https://plugins.example/charts.js}]")
        status, _, text = self.ask(
            "PUT", "/api/v2/storages/files",
            {"type": "other", "share": False, "mountOptions": ["ro"]},
            self.token)
        self.assertEqual(status, 201, text)
        status, _, text = self.ask(
            "PUT", "/api/v2/groups/default/extension/acls/storageConfigs",
            {"data": ["files"]}, self.token)
        self.assertEqual(status, 201, text)
        status, _, text = self.ask(
            "PUT", "/api/v2/users/me",
            {"patch": True, "data": {"username": "admin",
                                     "email": "a@example.org"}}, self.token)
        self.assertEqual(status, 201, text)
        self.item = self.make("items", {
            "name": "item", "dataType": "x", "dataUrl": "y",
            "protocol": JOB.format(name="item", command="true", cpu=1)})
        self.label = {kind: self.make(kind, {"name": "label", "extras": "{}"})
                      for kind in ("tags", "categories")}
        self.put("one", "echo out; exit 3")
        self.ok("wait", "admin~one", "--quiet", check=False)
        fifo = self.fifo()
        cpus = json.loads(self.get("/api/v2/nodes")[1])[0]["cpus"]
        self.put("two", f"echo up > {fifo}; read line < {fifo}", cpu=cpus)
        self.assertEqual(fifo.read_text(), "up\n")  # it runs
        self.put("three", "true")  # and this one waits

    def ok(self, *args, check=True, **kwargs):
        if check:
            return super().ok(*args, **kwargs)
        return self.run_cli(*args, **kwargs).stdout

    def test_every_route(self):
        self.make_things()
        asked = 0
        has_portal = "/portal/" in self.get("/")[1]
        for path, operations in self.document.document["paths"].items():
            if "get" not in operations or path in PASSED_OVER or (
                    re.match("/portal/|/plugin-frame/", path) and not has_portal):
                continue
            kind, _ = self.get(self.fill(path, **self.names(path)))
            said = operations["get"]["responses"].get("200")
            if said is not None:
                for name in said.get("headers", ()):
                    self.assertIn(name, self.headers, path)
                self.assertIn(kind.partition(";")[0], said["content"], path)
            asked += 1
        self.assertGreaterEqual(asked, 50)
        for job in ("admin~two", "admin~three"):
            for rest in ("", "/why", "/estimate", "/events", "/job-attempts"):
                self.get("/api/v2/jobs/" + job + rest)
        for query in ("?withTotalCount=true", "?limit=1", "?limit=0"):
            self.get("/api/v2/jobs" + query)
        self.get("/api/v2/virtual-clusters?nodes")
        self.get("/api/v2/jobs/admin~one/config?format=yaml")
        self.end(self.server)

    # --- what is compared with it is looked at, too ---

    def test_what_is_seen(self):
        d = self.document
        user = {"username": "a", "grouplist": [], "email": None,
                "extension": {}, "admin": False, "virtualCluster": ["default"],
                "storageConfig": []}
        self.assertIsNone(d.wrong([user], {"type": "array", "items":
                                           {"$ref": "User"}}))
        for change in ({"password": "x"}, {"admin": 1}, {"username": None},
                       {"grouplist": [1]}):
            self.assertIsNotNone(d.wrong({**user, **change}, {"$ref": "User"}))
        del user["admin"]
        self.assertIsNotNone(d.wrong(user, {"$ref": "User"}))
        with self.assertRaises(AssertionError):
            d.check("GET", "/api/v2/users/a", 200, "application/json",
                    json.dumps(user))
        with self.assertRaises(AssertionError):
            d.check("GET", "/api/v2/users/a", 202, "application/json", "{}")
        with self.assertRaises(AssertionError):
            d.check("GET", "/api/v2/users/a", 404, "application/json",
                    '{"why":"x"}')
        d.check("GET", "/rest-server/api/v2/users/a", 404, "application/json",
                '{"message":"x"}')

    def test_names_are_known(self):
        """Each reference leads to a schema, and each schema is used."""
        text = json.dumps(self.document.document)
        used = set(re.findall(r'"#/components/schemas/(\w+)"', text))
        self.assertEqual(used, set(self.document.document["components"]
                                   ["schemas"]))


if __name__ == "__main__":
    unittest.main(argv=["document"])
