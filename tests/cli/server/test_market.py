"""The marketplace over HTTP, as OpenPAI's pages and programs use it: paths, status
codes, bodies; who sees what; uses that are counted at the submission."""

import json
import re

import served

JOB = """\
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: host}}]
taskRoles:
  work:
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0}}
    commands: ["true"]
"""
PASSWORD = "swordfish-9"


class Market(served.ServedTest):
    base = "/marketplace/api/v2"  # where OpenPAI's proxy has it

    def setUp(self):
        super().setUp()
        self.server = self.serve()
        self.admin = self.login()
        self.tokens = {"admin": self.admin}
        self.did(200, "PUT", "/api/v2/groups", {"data": {
            "groupname": "default"}, "patch": True}, accept=(200, 201))
        self.did(201, "POST", "/api/v2/groups", {"groupname": "team"})
        for name in ("ada", "bob", "eve"):
            self.did(201, "POST", "/api/v2/users",
                     {"username": name, "password": PASSWORD})
            self.tokens[name] = self.login(name, PASSWORD)
        for name in ("ada", "bob"):
            self.did(201, "PUT", f"/api/v2/users/{name}/group",
                     {"groupname": "team"})

    def did(self, want, method, path, body=None, who="admin", accept=()):
        status, headers, text = self.ask(method, path, body, self.tokens[who])
        self.assertIn(status, (want, *accept), (method, path, text))
        self.kind = headers["Content-Type"]
        return text

    def api(self, want, method, path, body=None, who="ada"):
        return self.did(want, method, self.base + path, body, who)

    def create(self, who="ada", **more):
        body = {"name": "item", "author": who,
                "protocol": JOB.format(name="item"), **more}
        return json.loads(self.api(201, "POST", "/items", body, who))["id"]

    def names(self, who, query=""):
        return [item["name"] for item in
                json.loads(self.api(200, "GET", "/items" + query, who=who))]

    def test_the_contract(self):
        """Bodies as OpenPAI's marketplace sends them."""
        one = self.create(summary="s", description="# d", tags=["t"],
                          categories=["c"], type="template")
        self.assertRegex(one, r"^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$")
        item = json.loads(self.api(200, "GET", f"/items/{one}", who="eve"))
        self.assertEqual({key: item[key] for key in (
            "id", "name", "author", "type", "source", "isPublic", "isPrivate",
            "groupList", "dataType", "dataUrl", "useBlob", "categories",
            "tags", "summary", "description", "useNumber", "starNumber",
            "status")}, {
            "id": one, "name": "item", "author": "ada", "type": "template",
            "source": "marketplace", "isPublic": True, "isPrivate": False,
            "groupList": [], "dataType": None, "dataUrl": None,
            "useBlob": False, "categories": ["c"], "tags": ["t"],
            "summary": "s", "description": "# d", "useNumber": 0,
            "starNumber": 0, "status": "approved"})
        self.assertRegex(item["createdAt"],
                         r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        # The pages send the whole item back.
        item["summary"] = "other"
        self.assertEqual(self.api(200, "PUT", f"/items/{one}", item), "updated")
        self.assertEqual(self.kind.partition(";")[0], "text/html")
        self.assertIn('"summary":"other"',
                      self.api(200, "GET", f"/items/{one}"))
        # The same items at the address of the service itself, and at ours.
        for base in ("/api/v2/items/", "/api/v2/marketplace/items/"):
            self.did(200, "GET", base + one, who="eve")
        self.api(403, "PUT", f"/items/{one}", {"name": "x"}, "eve")
        self.api(403, "DELETE", f"/items/{one}", who="eve")
        self.assertEqual(self.api(200, "DELETE", f"/items/{one}"), "deleted")
        self.api(404, "GET", f"/items/{one}")
        self.api(404, "PUT", f"/items/{one}", {})
        self.api(404, "DELETE", f"/items/{one}")

    def test_refused(self):
        self.api(403, "POST", "/items", {"name": "n", "author": "bob",
                                         "protocol": JOB.format(name="n")})
        self.api(400, "POST", "/items", {"name": "n", "protocol": ""})
        self.api(400, "POST", "/items", {"name": "n"})
        text = self.api(400, "POST", "/items", {"name": "n", "protocol": "a: 1"})
        self.assertIn("InvalidProtocolError", text)
        one = self.create()
        text = self.api(400, "PUT", f"/items/{one}", {
            "protocol": JOB.format(name="n") + "secrets: {t: hunter2}\n"})
        self.assertNotIn("hunter2", text)
        status, _, _ = self.ask("GET", self.base + "/items")
        self.assertEqual(status, 401)
        big = {"name": "n", "protocol": "x" * (600 << 10)}
        self.api(413, "POST", "/items", big)

    def test_sharing(self):
        """An item of a group is in its members' lists, which it was not in
        OpenPAI's."""
        self.create(name="public")
        private = self.create(name="private", isPrivate=True, isPublic=False)
        group = self.create(name="group", isPrivate=False, isPublic=False,
                            groupList=["team"])
        self.assertEqual(self.names("ada"), ["group", "private", "public"])
        self.assertEqual(self.names("bob"), ["group", "public"])
        self.assertEqual(self.names("eve"), ["public"])
        self.assertEqual(len(self.names("admin")), 3)
        for who, item in (("bob", private), ("eve", private), ("eve", group)):
            for method, rest, body in (
                    ("GET", "", None), ("PUT", "", {"name": "x"}),
                    ("DELETE", "", None), ("PUT", "/star", None),
                    ("GET", "/tag", None), ("GET", "/category", None)):
                self.api(404, method, f"/items/{item}{rest}", body, who)
        self.did(201, "DELETE", "/api/v2/users/bob/group", {"groupname": "team"})
        self.assertEqual(self.names("bob"), ["public"])

    def test_filters(self):
        self.create(name="train", tags=["a", "b"], categories=["vision"],
                    summary="Faces")
        self.create("bob", name="rows", type="data", dataUrl="https://x/y")
        for query, want in (("?name=train", ["train"]), ("?author=bob", ["rows"]),
                            ("?type=data", ["rows"]), ("?type=all", ["rows", "train"]),
                            ("?keyword=FACES", ["train"]), ("?tag=a,b", ["train"]),
                            ("?tag=a,c", []), ("?category=vision", ["train"]),
                            ("?source=pai", [])):
            self.assertEqual(self.names("eve", query), want, query)
        text = self.api(200, "GET", "/items?brief=true")
        self.assertNotIn("protocol", text)

    def test_labels(self):
        body = {"name": "fast", "color": "#00f"}
        self.api(403, "POST", "/tags", body)
        tag = json.loads(self.api(201, "POST", "/tags", body, "admin"))["id"]
        self.api(409, "POST", "/tags", body, "admin")
        official = json.loads(self.api(201, "POST", "/categories", {
            "name": "official example"}, "admin"))["id"]
        self.assertEqual(json.loads(self.api(200, "GET", f"/tags/{tag}")), {
            "id": tag, "name": "fast", "color": "#00f", "description": None,
            "extras": None})
        self.assertEqual(self.api(200, "PUT", f"/tags/{tag}", {
            "description": "d"}, "admin"), "updated")
        one = self.create()
        self.api(201, "POST", f"/items/{one}/tag/{tag}")
        self.assertEqual(json.loads(self.api(200, "GET", f"/items/{one}/tag"))
                         [0]["id"], tag)
        self.api(403, "POST", f"/items/{one}/category/{official}")
        self.api(201, "POST", f"/items/{one}/category/{official}", who="admin")
        self.api(403, "PUT", f"/items/{one}", {"name": "x"})
        self.api(403, "DELETE", f"/items/{one}/tag/{tag}")
        self.api(200, "DELETE", f"/items/{one}/category/{official}", who="admin")
        self.assertEqual(self.api(200, "DELETE", f"/items/{one}/tag/{tag}"),
                         "deleted")
        self.assertEqual(self.api(200, "DELETE", f"/tags/{tag}", who="admin"),
                         "deleted")
        self.api(404, "GET", f"/tags/{tag}")

    def test_counts(self):
        one = self.create()
        hidden = self.create(isPrivate=True)
        for who, name, item in (("bob", "one", one), ("bob", "two", one),
                                ("bob", "three", hidden), ("bob", "four", "x")):
            status, _, text = self.ask(
                "POST", f"/api/v2/jobs?template={item}", JOB.format(name=name),
                self.tokens[who], content_type="text/yaml")
            self.assertEqual(status, 202, text)  # the job is accepted anyway
        status, _, _ = self.ask("POST", f"/api/v2/jobs?template={one}", "a: 1",
                                self.tokens["bob"], content_type="text/yaml")
        self.assertEqual(status, 400)
        for _ in range(2):
            self.api(200, "PUT", f"/items/{one}/star", who="bob")
        self.api(200, "PUT", f"/items/{one}/star", who="eve")
        self.api(200, "DELETE", f"/items/{one}/star", who="eve")
        self.end(self.server)
        self.server = self.serve()  # all of it is kept
        item = json.loads(self.api(200, "GET", f"/items/{one}", who="bob"))
        self.assertEqual((item["useNumber"], item["starNumber"],
                          item["isStarred"]), (2, 1, True))
        item = json.loads(self.api(200, "GET", f"/items/{hidden}"))
        self.assertEqual(item["useNumber"], 0)

    def test_a_client(self):
        """The program, at the server from elsewhere."""
        self.enlist("there", self.url, "ada", PASSWORD)
        file = self.write("t.yaml", JOB.format(name="shared"))
        del self.env["OPENPAI_ROOT"]
        made = self.ok("--cluster", "there", "template", "save", file,
                       "--group", "team").strip()
        item = json.loads(self.api(200, "GET", f"/items/{made}"))
        self.assertEqual(item["groupList"], ["team"])
        job = self.ok("--cluster", "there", "template", "use", "shared",
                      "--submit", "-q").strip()
        self.assertRegex(job, r"^shared")
        item = json.loads(self.api(200, "GET", f"/items/{made}"))
        self.assertEqual(item["useNumber"], 1)
        self.assertTrue(re.search(r"shared +marketplace +ada +1", self.ok(
            "--cluster", "there", "template", "list")))
        self.ok("--cluster", "there", "template", "remove", made[:8])


if __name__ == "__main__":
    served.program.main()
