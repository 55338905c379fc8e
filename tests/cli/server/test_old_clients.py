"""What OpenPAI's Python SDK and its VS Code client send, and must get.

And curl, as the guide (argv[2]) has it for other machines.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import urllib.parse

import served

JOB = """\
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: host}}]
taskRoles:
  worker:
    instances: 1
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0, ports: {{ssh: 1}}}}
    commands: [{command}]
"""
REST = "/rest-server/api"
YAML = {"content_type": "text/yaml"}


class OldClientsTest(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.process = self.serve()

    def exchange(self, method, path, status, body=None, token=None, **headers):
        """The answer's JSON, or its text."""
        got, _, text = self.ask(method, REST + path, body, token, **headers)
        self.assertEqual(got, status, (method, path, text))
        try:
            return json.loads(text)
        except ValueError:
            return text

    def token(self, path="/v1/token", seconds=3600):
        status, _, text = self.form(REST + path, urllib.parse.urlencode({
            "username": "admin", "password": served.PASSWORD,
            "expiration": seconds}))
        self.assertEqual(status, 200, text)
        answer = json.loads(text)
        self.assertEqual((answer["user"], answer["admin"]), ("admin", True))
        return answer["token"]

    def code(self, status, code, method, path, *args, **kwargs):
        answer = self.exchange(method, path, status, *args, **kwargs)
        self.assertEqual(answer.get("code"), code, answer)
        self.assertIsInstance(answer["message"], str)

    def submitted(self, token, name, command):
        answer = self.exchange(
            "POST", "/v2/jobs", 202,
            JOB.format(name=name, command=json.dumps(command)), token, **YAML)
        self.assertEqual(answer["status"], 202)

    # --- curl -----------------------------------------------------------------

    @unittest.skipUnless(shutil.which("curl"), "curl is not installed")
    def test_the_guide(self):
        block = re.search(r"^```bash\n(.*?)^```$",
                          pathlib.Path(sys.argv[2]).read_text(), re.M | re.S)
        done = subprocess.run(
            ["bash", "-e", "-c", block[1]], cwd=self.folder, text=True,
            capture_output=True, timeout=60,
            env={**self.env, "URL": self.url, "PASSWORD": served.PASSWORD})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn('"username":"admin"', done.stdout)
        self.assertIn("Logout successfully", done.stdout)
        self.assertTrue(done.stdout.endswith("[]"), done.stdout)

    # --- the Python SDK -------------------------------------------------------

    def test_python(self):
        token = self.token()
        self.assertEqual(
            self.exchange("GET", "/v2/info", 200)["authnMethod"], "basic")
        self.assertEqual(self.exchange("GET", "/v2/storages", 200, None,
                                       token), {"storages": []})
        vcs = self.exchange("GET", "/v2/virtual-clusters", 200, None, token)
        for name in ("resourcesTotal", "resourcesUsed"):
            self.assertLessEqual({"GPUs", "vCores", "memory"},
                                 set(vcs["default"][name]))
        for version in ("v1/user", "v2/user"):
            user = self.exchange("GET", f"/{version}/admin", 200, None, token)
            self.assertEqual((user["username"], user["virtualCluster"]),
                             ("admin", ["default"]))
        self.submitted(token, "one", "echo hello")
        self.ok("wait", "admin~one", "--quiet")
        rows = self.exchange("GET", "/v2/jobs?username=admin", 200, None,
                             token)
        self.assertEqual([(row["name"], row["state"]) for row in rows],
                         [("one", "SUCCEEDED")])
        # Its reads say nothing of who asks: refused, in the form it knows.
        for path in ("/v1/jobs", "/v1/jobs?username=admin",
                     "/v1/user/admin/jobs/one",
                     "/v1/user/admin/jobs/one/config"):
            self.code(401, "UnauthorizedUserError", "GET", path)
            self.exchange("GET", path, 200, None, token)
        self.assertEqual(self.exchange(
            "GET", "/v1/user/admin/jobs/one", 200, None, token)["jobStatus"]
            ["state"], "SUCCEEDED")
        self.code(404, "NoJobSshInfoError", "GET",
                  "/v1/user/admin/jobs/one/ssh", None, token)
        self.exchange("PUT", "/v2/jobs/admin~one/executionType", 202,
                      {"value": "STOP"}, token)
        self.code(401, "UnauthorizedUserError", "GET", "/v2/jobs", None,
                  token + "x")

    # --- the VS Code client ---------------------------------------------------

    def test_a_cluster_is_added(self):
        """Is anybody there, and which protocol and login?"""
        self.assertEqual(self.ask("GET", "/healthz")[0], 200)
        self.assertEqual(
            self.exchange("GET", "/v2/info", 200)["authnMethod"], "basic")
        self.assertEqual(
            self.exchange("GET", "/v2/authn/info", 200)["authn_type"],
            "basic")
        # Any answer but NoApiError: version 2.
        probe = "/v2/jobs/protocolversion/config"
        self.code(401, "UnauthorizedUserError", "GET", probe)
        self.code(404, "NoJobError", "GET", probe, None, self.token())
        self.code(404, "NoApiError", "GET", "/v2/no/such/thing")
        # The old portal is not there, so that the new one is opened.
        self.assertEqual(self.ask("GET", "/view.html")[0], 404)

    def test_logins(self):
        for path in ("/v1/token", "/v2/authn/basic/login",
                     "/v1/authn/basic/login", "/v2/tokens"):
            token = self.token(path, 4000)
            who = self.exchange("GET", "/v2/tokens/check", 200, None, token)
            self.assertEqual((who["username"], who["application"],
                              who["admin"]), ("admin", False, True))
        long = self.exchange("POST", "/v2/tokens/application", 200, {}, token)
        self.assertTrue(long["application"])
        user = self.exchange("GET", "/v2/users/admin", 200, None,
                             long["token"])
        self.assertTrue(user["admin"])
        self.assertEqual(sorted(user["grouplist"]), ["admingroup", "default"])
        for text, code in (("username=no&password=secret-1", "NoUserError"),
                           ("username=admin&password=secret-1",
                            "IncorrectPasswordError"),
                           ("username=admin", "InvalidParametersError")):
            status, _, answer = self.form(REST + "/v1/token", text)
            self.assertEqual((status, json.loads(answer)["code"]),
                             (400, code))

    def test_submitting(self):
        token = self.token()
        # Is the name free?  And then for a place to connect to.
        self.code(404, "NoJobError", "GET", "/v1/user/admin/jobs/remote", None,
                  token)
        self.submitted(token, "remote", "echo up; sleep 1000")
        self.exchange("GET", "/v1/user/admin/jobs/remote", 200, None, token)
        self.code(409, "ConflictJobError", "POST", "/v2/jobs",
                  JOB.format(name="remote", command="x"), token, **YAML)
        self.until_up("admin~remote")
        detail = self.exchange("GET", "/v2/jobs/admin~remote", 200, None,
                               token)
        task = detail["taskRoles"]["worker"]["taskStatuses"][0]
        self.assertRegex(task["containerPorts"]["ssh"], "^[0-9]+$")
        self.assertRegex(task["containerIp"], r"^[0-9a-f.:]+$")
        self.assertEqual(self.ask("GET", task["containerLog"],
                                  token=token)[0], 200)
        # The tilde may be escaped, as some libraries do.
        self.assertEqual(self.exchange("GET", "/v2/jobs/admin%7Eremote", 200,
                                       None, token)["name"], "remote")

    def test_forms_of_paths(self):
        token = self.token()
        self.submitted(token, "one", "true")
        self.assertIsInstance(
            self.exchange("GET", "/v2/jobs", 200, None, token), list)
        self.assertEqual(self.exchange(
            "GET", "/v2/jobs?withTotalCount=true", 200, None, token)
            ["totalCount"], 1)
        self.assertIsInstance(self.exchange(
            "GET", "/v2/jobs?withTotalCount=1", 200, None, token), list)
        self.assertEqual(len(self.exchange(
            "GET", "/v2/users/", 200, None, token)), 1)
        self.exchange("GET", "/V2/Users", 200, None, token)
        self.assertEqual(len(self.exchange(
            "GET", "/v2/jobs?username=x,admin&order=jobName,ASC", 200, None,
            token)), 1)
        self.exchange("PUT", "/v2/jobs/admin~one/tag", 200, {"value": "t"},
                      token)
        self.exchange("DELETE", "/v2/jobs/admin~one/tag", 200, {"value": "t"},
                      token)
        # JSON that does not say that it is.
        self.assertEqual(self.ask(
            "PUT", REST + "/v2/jobs/admin~one/tag", '{"value": "u"}', token,
            content_type="text/plain")[0], 200)
