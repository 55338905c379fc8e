"""Users, groups and tokens: as the platform's own user sees to them, and as
those whom they are for ask over HTTP."""

import base64
import json
import os
import pathlib
import pty
import urllib.parse

import answers
import program

PASSWORD = "hunter2-Xyzzy-Plugh"
OTHER = "another-Xyzzy-Plover"


class Accounts(program.RootTest):
    def ask(self, method, path, body=None, token=None, headers=None):
        """The status and the answer."""
        headers = dict(headers or {})
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if isinstance(body, dict):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection = answers.Connection(self.root / "socket")
        connection.request(method, "/api/v2" + path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        self.described(method, "/api/v2" + path, answer.status,
                       answer.headers["Content-Type"], text)
        return answer.status, json.loads(text) if text[:1] in "[{" else text

    def add(self, name, *args, password=PASSWORD):
        self.ok("user", "add", *args, "--password-file", "-", name,
                input=password + "\n")

    def login(self, name, password=PASSWORD):
        status, answer = self.ask(
            "POST", "/authn/basic/login",
            urllib.parse.urlencode({"username": name, "password": password}),
            headers={"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(status, 200, answer)
        return answer["token"]

    def user(self, name):
        return json.loads(self.ok("user", "show", "--json", name))

    # --- users ---------------------------------------------------------------

    def test_quota_table(self):
        self.ok("up")
        self.add("alice")
        self.ok("user", "quota", "--set", "jobs=none,uploads=5G", "alice")
        self.assertEqual(
            [line.split() for line in
             self.ok("user", "quota", "alice").splitlines()],
            [["LIMIT", "MOST"], ["jobs", "none"], ["tasks", "10000"],
             ["streams", "64"], ["uploads", str(5 << 30)],
             ["processes", "16384"]])

    def test_users(self):
        self.ok("up")
        self.assertEqual(self.ok("user", "list").split(),
                         ["NAME", "ADMIN", "CLUSTERS", "GROUPS", "EMAIL"])
        self.add("alice", "--email", "a@b.c")
        self.add("root.one", "--admin")
        self.assertEqual(
            [line.split() for line in
             self.ok("user", "list").splitlines()[1:]],
            [["alice", "no", "default", "default", "a@b.c"],
             ["root.one", "yes", "default", "default,admingroup", "-"]])
        self.assertEqual(self.user("alice")["email"], "a@b.c")
        self.ok("user", "set", "--email", "", "--admin", "alice")
        self.assertTrue(self.user("alice")["admin"])
        self.refused(1, "admin", "user", "remove", "alice")
        self.ok("user", "set", "--no-admin", "alice")
        self.ok("user", "set", "--groups", "default,admingroup", "alice")
        self.assertTrue(self.user("alice")["admin"])
        self.ok("user", "set", "--groups", "default", "alice")
        self.ok("user", "remove", "alice")
        self.refused(1, "alice", "user", "show", "alice")

    def test_users_refused(self):
        self.ok("up")
        self.add("alice")
        self.refused(1, "alice", "user", "add", "--password-file", "-",
                     "alice", input=PASSWORD)
        self.refused(1, "at least 8 characters", "user", "add",
                     "--password-file", "-", "bob", input="short")
        self.refused(1, "fails to match", "user", "add", "--password-file",
                     "-", "a b", input=PASSWORD)
        self.refused(1, "must be a valid email", "user", "add", "--email",
                     "x", "--password-file", "-", "bob", input=PASSWORD)
        self.refused(1, "cannot ask for a password", "user", "add", "bob")
        self.refused(1, "cannot read", "user", "add", "--password-file",
                     "no/such", "bob")
        self.refused(1, "cluster", "user", "set", "--vc", "nowhere", "alice")
        self.refused(1, "none", "user", "set", "--groups", "none", "alice")
        self.refused(1, "bob", "user", "passwd", "--password-file", "-",
                     "bob", input=PASSWORD)
        self.refused(2, "no setting is given", "user", "set", "alice")
        self.refused(2, "exclude each other", "user", "set", "--admin",
                     "--no-admin", "alice")
        self.refused(2, "which user?", "user", "show")
        self.refused(2, "b", "user", "show", "a", "b")
        self.refused(2, "which user?", "user", "remove")
        self.assertEqual(len(self.ok("user", "list").splitlines()), 2)

    def test_passwords(self):
        self.ok("up")
        self.add("alice")
        browser = self.login("alice")
        machine = self.ok("token", "create", "--user", "alice").strip()
        self.ok("user", "passwd", "--password-file", "-", "alice",
                input=OTHER)
        status, answer = self.ask(
            "POST", "/tokens", {"username": "alice", "password": PASSWORD})
        self.assertEqual((status, answer["code"], answer["message"]),
                         (400, "IncorrectPasswordError",
                          "Password is incorrect."))
        self.assertEqual(self.ask("GET", "/jobs", token=browser)[0], 401)
        self.assertEqual(self.ask("GET", "/jobs", token=machine)[0], 200)
        self.login("alice", OTHER)
        # One's own, with the old one; both ways that OpenPAI has.
        token = self.login("alice", OTHER)
        change = {"oldPassword": PASSWORD, "newPassword": PASSWORD}
        self.assertEqual(self.ask("PUT", "/users/alice/password", change,
                                  token)[0], 403)
        change["oldPassword"] = OTHER
        self.assertEqual(self.ask("PUT", "/users/alice/password", change,
                                  token)[0], 201)
        token = self.login("alice")
        data = {"username": "alice", "email": "x@y.z", "newPassword": OTHER,
                "oldPassword": "wrong password"}
        self.assertEqual(self.ask("PUT", "/users/me", {"data": data},
                                  token)[0], 403)
        data["oldPassword"] = PASSWORD
        self.assertEqual(self.ask("PUT", "/users/me", {"data": data},
                                  token)[0], 201)
        self.login("alice", OTHER)
        self.assertEqual(self.user("alice")["email"], "x@y.z")
        self.assert_nowhere(PASSWORD, OTHER)

    def assert_nowhere(self, *words):
        for word in words:
            for file, text in program.bytes_below(self.root):
                self.assertNotIn(word.encode(), text, file)

    def test_password_at_a_terminal(self):
        self.ok("up")
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(program.OPENPAI, [program.OPENPAI, "user", "add",
                                        "alice"], self.env)
        seen = b""
        for prompt in (b"Password for alice: ", b"Repeat it: "):
            seen += program.read_terminal_until(terminal, prompt)
            os.write(terminal, PASSWORD.encode() + b"\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)
        self.assertNotIn(PASSWORD.encode(), seen)
        self.login("alice")

    # --- groups ---------------------------------------------------------------

    def test_groups(self):
        self.ok("up")
        self.ok("group", "add", "--description", "the lab", "--external-name",
                "lab@x", "--storage", "a,b", "lab")
        self.add("alice")
        self.ok("user", "set", "--groups", "default,lab", "alice")
        self.assertIn("members: alice\n", self.ok("group", "show", "lab"))
        group = json.loads(self.ok("group", "show", "--json", "lab"))
        self.assertEqual(
            (group["description"], group["externalName"],
             group["extension"]["acls"]),
            ("the lab", "lab@x", {"admin": False, "virtualClusters": [],
                                  "storageConfigs": ["a", "b"]}))
        self.ok("group", "set", "--admin", "--vc", "default", "--storage", "",
                "--description", "it", "lab")
        group = json.loads(self.ok("group", "show", "--json", "lab"))
        self.assertEqual(
            (group["description"], group["externalName"],
             group["extension"]["acls"]),
            ("it", "lab@x", {"admin": True, "virtualClusters": ["default"],
                             "storageConfigs": []}))
        self.assertTrue(self.user("alice")["admin"])
        self.ok("group", "remove", "lab")
        self.assertEqual(self.user("alice")["grouplist"], ["default"])
        self.assertIn("members: none\n",
                      self.ok("group", "show", "admingroup"))
        names = [line.split()[0] for line in
                 self.ok("group", "list").splitlines()[1:]]
        self.assertEqual(names, ["admingroup", "default"])
        self.refused(1, "none", "group", "show", "none")
        self.refused(1, "none", "group", "remove", "none")
        self.refused(1, "none", "group", "set", "--admin", "none")
        self.refused(1, "alpha-numeric", "group", "add", "a-b")
        self.refused(1, "default", "group", "add", "default")
        self.refused(2, "no setting is given", "group", "set", "default")

    # --- storages -------------------------------------------------------------

    def test_storages(self):
        self.ok("up")
        data = self.folder / "data"
        data.mkdir()
        self.ok("storage", "add", "--path", str(data), "data")
        self.ok("storage", "add", "--type", "azureBlob", "--data-file", "-",
                "--own", "--read-only", "blob", input=json.dumps(
                    {"containerName": "c", "accountName": "a",
                     "accountKey": PASSWORD}))
        self.assertEqual([line.split() for line in
                          self.ok("storage", "list").splitlines()],
                         [["NAME", "SHARED"], ["blob", "no"],
                          ["data", "yes"]])
        shown = json.loads(self.ok("storage", "show", "blob"))
        self.assertEqual((shown["data"]["accountKey"], shown["readOnly"]),
                         (PASSWORD, True))
        # OpenPAI's portal knows no type "local", and shows nothing then.
        shown = json.loads(self.ok("storage", "show", "data"))
        self.assertEqual((shown["type"], shown["local"]), ("unknown", True))
        self.assertEqual(self.ask("GET", "/storage/server/data")[1]["type"],
                         "unknown")
        # Only those whose groups have one see it.
        self.add("alice", password=OTHER)
        alice = self.login("alice", OTHER)
        self.assertEqual(self.ask("GET", "/storages", token=alice)[1],
                         {"storages": []})
        status, answer = self.ask("GET", "/storages/blob", token=alice)
        self.assertEqual((status, answer["code"]),
                         (403, "ForbiddenUserError"))
        self.ok("group", "add", "--storage", "blob", "lab")
        self.ok("user", "set", "--groups", "default,lab", "alice")
        self.assertEqual(self.ask("GET", "/storages/blob", token=alice)[0],
                         200)
        self.assertEqual(self.ask("PUT", "/storages/blob", {"type": "other"},
                                  alice)[0], 403)
        self.assert_nowhere(PASSWORD)
        self.ok("storage", "remove", "blob", "data")
        self.refused(1, "blob", "storage", "show", "blob")
        self.refused(1, "blob", "storage", "remove", "blob")
        self.refused(1, "type", "storage", "add", "--type", "tape", "x")
        self.refused(1, "not valid JSON", "storage", "add", "--data-file", "-", "x",
                     input="{")
        self.refused(2, "exclude each other", "storage", "add", "--path", "/",
                     "--data-file", "-", "x")
        self.refused(2, "which storage?", "storage", "add")

    # --- tokens ----------------------------------------------------------------

    def test_tokens(self):
        self.ok("up")
        self.add("alice")
        self.add("bob")
        token = self.ok("token", "create", "--user", "alice").strip()
        browser = self.login("alice")
        rows = [line.split() for line in
                self.ok("token", "list", "--user", "alice").splitlines()]
        self.assertEqual([row[1:4] for row in rows],
                         [["NAME", "KIND", "SCOPES"],
                          ["-", "program", "read,submit"],
                          ["-", "browser", "read,submit,admin"]])
        self.assertNotIn(token.split(".")[2], str(rows))
        # What was shown once is not shown again: only what it is for.
        shown = json.loads(self.ok("token", "list", "--json", "--user",
                                   "alice"))
        self.assertEqual(shown["tokens"],
                         [one.rsplit(".", 1)[0] + "."
                          for one in (token, browser)])
        self.assertEqual([one["scopes"] for one in shown["details"]],
                         [["read", "submit"], ["read", "submit", "admin"]])
        self.assertEqual(self.ask("GET", "/jobs",
                                  token=shown["tokens"][0])[0], 401)
        self.assertEqual(self.ok("token", "list", "--user", "bob").split()[0],
                         "ID")
        # By its id, by itself; and again, which is no failure.
        self.assertEqual(self.ask("GET", "/users/alice", token=token)[0], 200)
        self.refused(1, "no token", "token", "revoke", "--user", "bob",
                     rows[1][0])
        self.ok("token", "revoke", "--user", "alice", rows[1][0])
        status, answer = self.ask("GET", "/users/alice", token=token)
        self.assertEqual((status, answer),
                         (401, {"code": "UnauthorizedUserError",
                                "message": "Your token is invalid."}))
        self.ok("token", "revoke", browser)
        self.ok("token", "revoke", browser)
        self.assertEqual(self.ask("GET", "/jobs", token=browser)[0], 401)
        self.refused(1, "is not found", "token", "revoke", "12345678")
        self.refused(2, "which tokens?", "token", "revoke")
        self.refused(1, "nobody", "token", "create", "--user", "nobody")
        self.refused(2, "argument", "token", "create", "alice")

    def test_tokens_have_scopes(self):
        self.ok("up")
        self.add("alice")
        self.ok("user", "set", "--admin", "alice")
        reader = self.ok("token", "create", "--user", "alice", "--name",
                         "dashboard", "--scope", "read", "--expires",
                         "2h").strip()
        row = self.ok("token", "list", "--user",
                      "alice").splitlines()[1].split()
        self.assertEqual(row[1:4] + row[-1:],
                         ["dashboard", "program", "read", "never"])
        self.assertEqual(self.ask("GET", "/jobs", token=reader)[0], 200)
        for path in "/users/alice", "/users":  # the key would let it submit
            self.assertNotIn("PRIVATE KEY", str(self.ask(
                "GET", path, token=reader)))
        self.assertNotIn("never", self.ok("token", "list", "--user", "alice"))
        for method, path, scope in (
                ("POST", "/jobs", "submit"), ("GET", "/audit", "admin"),
                ("GET", "/kubernetes/nodes", "admin")):
            status, answer = self.ask(method, path, token=reader)
            self.assertEqual((status, answer["message"]),
                             (403, f'This token lacks the scope "{scope}".'))
        all_of_it = self.ok("token", "create", "--user", "alice", "--scope",
                            "all").strip()
        self.assertEqual(self.ask("GET", "/audit", token=all_of_it)[0], 200)
        # The database is for persons.
        for path in ("/backup", "/export"):
            self.assertEqual(self.ask("GET", path, token=all_of_it)[0], 403)
        connection = answers.Connection(self.root / "socket")
        connection.request("GET", "/api/v2/export", headers={
            "Authorization": f"Bearer {self.login('alice')}"})
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        self.assertIn(("alice", "GET /api/v2/export", 200),
                      [(note["user"], note["what"], note["status"])
                       for note in self.ask("GET", "/audit")[1]])
        self.refused(2, "as 30d", "token", "create", "--expires", "soon")
        self.refused(1, "read, submit, admin and alerts", "token", "create", "--user",
                     "alice", "--scope", "write")

    def test_a_program_asks(self):
        self.ok("up")
        self.add("alice")
        token = self.ok("token", "create", "--user", "alice").strip()
        basic = base64.b64encode(f"alice:{token}".encode()).decode()
        status, answer = self.ask("GET", "/tokens/check", headers={
            "Authorization": f"Basic {basic}"})
        self.assertEqual((status, answer["username"], answer["application"]),
                         (200, "alice", True))
        status, answer = self.ask("GET", "/tokens", token=token)
        self.assertEqual(answer, {
            "code": "ForbiddenUserError",
            "message":
                "Applications are not allowed to do this operation."})
        other = base64.b64encode(f"bob:{token}".encode()).decode()
        self.assertEqual(self.ask("GET", "/jobs", headers={
            "Authorization": f"Basic {other}"})[0], 401)
        # One's own keys are there, and for nobody else.
        self.add("bob")
        own = self.ask("GET", "/users/alice", token=token)[1]["extension"]
        self.assertIn("PRIVATE KEY", own["jobSSH"]["key"])
        others = self.ask("GET", "/users/alice",
                          token=self.login("bob"))[1]["extension"]
        self.assertEqual(others, {"jobSSH": {
            "pubKey": own["jobSSH"]["pubKey"]}})
        # A browser's is no name and password.
        browser = base64.b64encode(
            f"alice:{self.login('alice')}".encode()).decode()
        self.assertEqual(self.ask("GET", "/jobs", headers={
            "Authorization": f"Basic {browser}"})[0], 401)
        # A user who is gone has no tokens.
        self.ok("user", "remove", "alice")
        self.assertEqual(self.ask("GET", "/jobs", token=token)[0], 401)

    def test_a_token_is_there_after_a_crash(self):
        self.ok("up")
        self.add("alice")
        token = self.login("alice")
        lock = (self.root / "lock").read_text().split()[0]
        os.kill(int(lock), 9)
        self.ok("up")
        self.assertEqual(self.ask("GET", "/users", token=token)[0], 200)

    # --- jobs --------------------------------------------------------------------

    def test_jobs_are_their_users(self):
        self.ok("up")
        self.add("alice")
        self.add("bob")
        self.add("boss", "--admin")
        alice, bob, boss = map(self.login, ("alice", "bob", "boss"))
        text = pathlib.Path(self.job("sleep 1000")).read_text()
        yaml = {"Content-Type": "text/yaml"}
        self.assertEqual(self.ask("POST", "/jobs", text, alice, yaml)[0], 202)
        self.assertEqual(self.ask("POST", "/jobs", text, bob, yaml)[0], 202)
        names = {(job["username"], job["name"])
                 for job in self.ask("GET", "/jobs", token=alice)[1]}
        self.assertEqual(names, {("alice", "test"), ("bob", "test")})
        # All see all; each changes what is theirs.
        self.assertEqual(self.ask("GET", "/jobs/alice~test/config",
                                  token=bob)[0], 200)
        stop = {"value": "STOP"}
        status, answer = self.ask("PUT", "/jobs/alice~test/executionType",
                                  stop, bob)
        self.assertEqual((status, answer["code"]),
                         (403, "ForbiddenUserError"))
        self.assertEqual(self.ask("PUT", "/jobs/bob~test/executionType", stop,
                                  bob)[0], 202)
        self.assertEqual(self.ask("PUT", "/jobs/alice~test/executionType",
                                  stop, boss)[0], 202)
        text = text.replace("name: test", "name: other")
        status, answer = self.ask(
            "POST", "/jobs", text + "defaults: {virtualCluster: nowhere}\n",
            bob, yaml)
        self.assertEqual((status, answer["code"]),
                         (403, "ForbiddenUserError"))

    def test_who_gets_the_name_of_a_removed_user(self):
        """inherits nothing: no job, no secret, no log, no usage."""
        self.ok("up")
        self.add("alice")
        alice = self.login("alice")
        yaml = {"Content-Type": "text/yaml"}
        text = pathlib.Path(self.job("echo up; sleep 1000")).read_text()
        text = text.replace("name: test", "name: reg") + (
            "secrets: {key: 'the old one'}\n")
        self.assertEqual(self.ask("POST", "/jobs", text, alice, yaml)[0], 202)
        self.until_up("alice~reg")
        task, = self.ask("GET", "/jobs/alice~reg")[1]["taskRoles"][
            "a"]["taskStatuses"]
        logs = task["containerLog"][len("/api/v2"):]
        place = self.ask("GET", logs, token=alice)[1]["locations"][0]["uri"]
        place = place[len("/api/v2"):]
        self.assertEqual(self.ask("GET", place), (200, "up\n"))
        self.ok("user", "remove", "alice")
        # Its job stops, and its addresses of logs end at once.
        self.assertNotEqual(self.run_cli("wait", "alice~reg").returncode, 0)
        self.assertEqual(self.ask("GET", "/jobs/alice~reg")[1][
            "jobStatus"]["state"], "STOPPED")
        self.assertEqual(self.ask("GET", place)[0], 401)
        self.add("alice")
        alice = self.login("alice")
        self.assertEqual(self.ask("GET", place)[0], 401)
        status, answer = self.ask("POST", "/jobs?like=alice~reg", text.replace(
            "the old one", "******").replace("name: reg", "name: again"),
            alice, yaml)
        self.assertEqual((status, answer["code"]),
                         (403, "ForbiddenUserError"))
        for method, path in (("GET", "/jobs/alice~reg/ssh"),
                             ("PUT", "/jobs/alice~reg/executionType"),
                             ("PUT", "/jobs/alice~reg/tag")):
            self.assertNotEqual(self.ask(method, path, {"value": "STOP"},
                                         alice)[0], 200, path)
        self.assertNotIn("the old one", json.dumps(
            self.ask("GET", "/jobs/alice~reg/config", token=alice)[1]))
        # The scheduler counts what it uses from nothing.
        text = text.replace("name: reg", "name: new")
        self.assertEqual(self.ask("POST", "/jobs", text, alice, yaml)[0], 202)
        self.until_up("alice~new")
        self.assertIn('"alice~2"', json.dumps(self.ask("GET", "/scheduler")))
        self.ok("stop", "alice~new")

    def test_what_was_changed_is_noted(self):
        self.ok("up")
        self.add("alice")
        alice = self.login("alice")
        self.ask("PUT", "/users/bob/admin", {"admin": True}, alice)
        self.ask("DELETE", f"/tokens/{alice}", token=alice)
        self.assertEqual(self.ask("GET", "/audit", token=alice)[0], 401)
        notes = self.ask("GET", "/audit")[1]
        self.assertEqual(
            [(note["user"], note["what"], note["status"]) for note in notes
             if note["user"] == "alice"],
            [("alice", "DELETE /api/v2/tokens/:token", 200),
             ("alice", "PUT /api/v2/users/bob/admin", 403),
             ("alice", "POST /api/v2/authn/basic/login", 200)])
        self.assertEqual(len(self.ask("GET", "/audit?limit=1")[1]), 1)
        self.assertEqual(self.ask("GET", "/audit?username=bob")[1], [])

    def test_document(self):
        self.ok("up")
        document = self.ask("GET", "/openapi.json")[1]
        self.assertEqual(document["openapi"], "3.0.3")
        login = document["paths"]["/api/v2/authn/basic/login"]["post"]
        schema = login["requestBody"]["content"]["application/json"]["schema"]
        self.assertEqual(schema["required"], ["username", "password"])
        for path, item in document["paths"].items():
            for method, operation in item.items():
                self.assertTrue(operation["summary"], path)
                for part in path.split("/"):
                    if part.startswith("{"):
                        self.assertIn(part[1:-1], [
                            p["name"] for p in operation["parameters"]])
