"""Where OpenPAI's server is odd: what is kept, and what is mended here.

A test for each row of the table of quirks in OpenPAI's contract (9) that shows
over HTTP, and for each of its golden vectors (10).  Rows 19 and 20 are the
exit codes' and the scheduler's, 21 and 25 OpenID Connect's.
"""

import json

import program
import served

HEAD = """\
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: host}}]
"""
ROLE = """\
  {role}:
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0}}
    commands: [{command}]
"""


class QuirksTest(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.serve()
        self.token = self.login()
        self.request("POST", "/users", 201, {
            "username": "ada", "password": "secret-1",
            "extension": {"sshKeys": [{"title": "t", "value": "v",
                                       "time": 1}],
                          "boundedClusters": {"b": {
                              "uri": "u", "username": "n",
                              "token": "bounded-secret"}}}})
        self.ada = self.login("ada", "secret-1")

    def request(self, method, path, status, body=None, token=None, **headers):
        got, _, text = self.ask(method, "/api/v2" + path, body,
                                token or self.token, **headers)
        self.assertEqual(got, status, (method, path, text))
        try:
            return json.loads(text)
        except ValueError:
            return text

    def refused(self, status, code, method, path, *args, **kwargs):
        answer = self.request(method, path, status, *args, **kwargs)
        self.assertEqual(answer["code"], code, answer)
        return answer["message"]

    def job(self, name, command="true", roles=("w",), more=""):
        return (HEAD.format(name=name) + "taskRoles:\n" + "".join(
            ROLE.format(role=role, command=json.dumps(command))
            for role in roles) + more)

    def submit(self, text, status=202, token=None):
        return self.request("POST", "/jobs", status, text, token,
                            content_type="text/yaml")

    def run_job(self, name, command="true", **kwargs):
        self.submit(self.job(name, command, **kwargs))
        self.run_cli("wait", "admin~" + name, "--quiet")

    # --- users and groups -----------------------------------------------------

    def test_01_statuses_of_who_is_not_there(self):
        self.refused(400, "NoUserError", "GET", "/users/bob")
        self.refused(404, "NoUserError", "DELETE", "/users/bob")
        self.refused(404, "NoUserError", "PUT", "/users",
                     {"patch": True, "data": {"username": "bob"}})
        self.refused(400, "NoGroupError", "GET", "/groups/lab")
        self.assertEqual(self.refused(
            400, "NoGroupError", "PUT", "/groups",
            {"patch": True, "data": {"groupname": "lab"}}),
            "Group lab is not found.")

    def test_02_ones_own_password_is_changed(self):
        change = {"patch": True, "data": {
            "username": "ada", "oldPassword": "wrong-one",
            "newPassword": "secret-2"}}
        self.refused(403, "ForbiddenUserError", "PUT", "/users/me", change,
                     self.ada)
        change["data"]["oldPassword"] = "secret-1"
        self.request("PUT", "/users/me", 201, change, self.ada)
        self.login("ada", "secret-2")
        # It was new: what knew the old one is known no more.
        self.refused(401, "UnauthorizedUserError", "GET", "/tokens", None,
                     self.ada)

    def test_03_nothing_in_a_body(self):
        for path in ("/users", "/users/me", "/groups"):
            for token in (self.token, self.ada):
                self.refused(400, "InvalidParametersError", "PUT", path, {},
                             token)

    def test_04_how_long_a_token_lasts(self):
        login = {"username": "ada", "password": "secret-1"}
        for seconds in (60, "4000", 604800):
            self.request("POST", "/tokens", 200,
                         {**login, "expiration": seconds})
        for seconds in (59, 604801, "x"):
            self.refused(400, "InvalidParametersError", "POST", "/tokens",
                         {**login, "expiration": seconds})

    def test_05_groups_twice_or_never(self):
        self.request("POST", "/groups", 201, {"groupname": "lab"})
        self.assertIn("AlreadyExists", self.refused(
            409, "UnknownError", "POST", "/groups", {"groupname": "lab"}))
        self.request("DELETE", "/groups/lab", 200)
        self.assertIn("lab", self.refused(404, "UnknownError", "DELETE",
                                          "/groups/lab"))

    def test_06_secrets_are_their_users(self):
        own = self.request("GET", "/users/ada", 200, None, self.ada)
        self.assertIn("PRIVATE KEY", own["extension"]["jobSSH"]["key"])
        self.assertIn("bounded-secret", str(own["extension"]))
        self.request("POST", "/users", 201, {
            "username": "bob", "password": "secret-1"})
        bob = self.login("bob", "secret-1")
        others = [user for user in
                  self.request("GET", "/users", 200, None, bob)
                  if user["username"] != "bob"]
        for shown in (self.request("GET", "/users/ada", 200, None, bob),
                      others):
            text = str(shown)
            self.assertIn("ada", text)
            self.assertNotIn("PRIVATE KEY", text)
            self.assertNotIn("bounded-secret", text)

    def test_16_no_tokens(self):
        self.ok("user", "add", "--password-file", self.write("p", "secret-1"),
                "eve")
        self.assertEqual(json.loads(self.ok(
            "token", "list", "--json", "--user", "eve")), {"tokens": [], "details": []})

    # --- jobs -----------------------------------------------------------------

    def test_07_all_see_all_jobs(self):
        self.run_job("one", "echo hello")
        for path in ("", "/config", "/events", "/attempts/0/taskRoles/w"
                     "/taskIndex/0/attempts/0/logs"):
            self.request("GET", "/jobs/admin~one" + path, 200, None, self.ada)

    def test_08_bad_files(self):
        for text in ("a: [", self.job("one", "echo <% $parameters.x")):
            self.assertEqual(self.submit(text, 400)["code"],
                             "InvalidProtocolError", text)

    def test_10_priorities_and_keywords(self):
        self.run_job("one")
        self.run_job("two", more="extras: {hivedScheduler: "
                                 "{jobPriorityClass: prod}}\n")
        for query, names in (("jobPriority=default", ["one"]),
                             ("jobPriority=default,prod", ["two", "one"]),
                             ("jobPriority=default&keyword=two", []),
                             ("jobPriority=prod&keyword=two", ["two"])):
            rows = self.request("GET", "/jobs?" + query, 200)
            self.assertEqual([row["name"] for row in rows], names, query)

    def test_11_pages_that_are_none(self):
        for query in ("limit=-1", "limit=x", "offset=-1", "offset=NaN",
                      "limit=50001"):
            self.refused(400, "InvalidParametersError", "GET",
                         "/jobs?" + query)
        self.assertEqual(self.request("GET", "/jobs?limit=0", 200), [])

    def test_12_attempts_of_no_job(self):
        self.assertIsNone(self.request("GET", "/jobs/admin~no/job-attempts",
                                       404))
        self.refused(404, "NoJobError", "GET", "/jobs/admin~no/job-attempts/0")

    def test_13_14_configs(self):
        self.run_job("one", more="secrets: {key: hidden-one}\n"
                                 "parameters: {secrets: shown}\n")
        status, headers, text = self.ask(
            "GET", "/api/v2/jobs/admin~one/config", token=self.token)
        self.assertEqual((status, headers["content-type"]),
                         (200, "text/yaml; charset=utf-8"))
        config = json.loads(text)
        self.assertEqual((config["secrets"], config["parameters"]),
                         ("******", {"secrets": "shown"}))
        self.assertNotIn("hidden-one", text)

    def test_17_roles_that_become_one(self):
        answer = self.submit(self.job("one", roles=("w_a", "wA")), 400)
        self.assertEqual(answer["code"], "InvalidProtocolError")

    def test_18_attempts_that_are_no_numbers(self):
        self.run_job("one")
        self.request("GET", "/jobs/admin~one/attempts/0", 200)
        for attempt in ("x", "1", "-1", "0x0"):
            self.refused(404, "NoJobError", "GET",
                         "/jobs/admin~one/attempts/" + attempt)

    def test_23_priority_in_the_detail(self):
        self.run_job("one", more="extras: {hivedScheduler: "
                                 "{jobPriorityClass: crit}}\n")
        self.run_job("two")
        self.assertEqual([self.request("GET", "/jobs/admin~" + name, 200)
                          ["jobPriority"] for name in ("one", "two")],
                         ["crit", None])

    # --- the server -----------------------------------------------------------

    def test_24_no_open_doors(self):
        for path in ("/a/127.0.0.1:80", "/kubernetes/api/v1/nodes"):
            status, _, text = self.ask("GET", path)
            self.assertEqual((status, json.loads(text)["code"]),
                             (404, "NoApiError"))
        for path in ("/kubernetes/nodes", "/kubernetes/pods"):
            self.refused(401, "UnauthorizedUserError", "GET", path, None, "x")
            self.refused(403, "ForbiddenUserError", "GET", path, None,
                         self.ada)

    # --- golden vectors -------------------------------------------------------

    def test_names(self):
        self.run_job("job1", roles=("worker_A",))
        detail = self.request("GET", "/jobs/admin~job1", 200)
        self.assertEqual(detail["debugId"], "2f38ed41a21c61d954f1247914fa6c5d")
        self.assertEqual(list(detail["taskRoles"]), ["workera"])
        row = self.request("GET", "/jobs", 200)[0]
        self.assertEqual(row["debugId"], detail["debugId"])
        for event in self.request("GET", "/jobs/admin~job1/events",
                                  200)["data"]:
            self.assertEqual(event["frameworkName"], detail["debugId"])

    def test_exit_codes(self):
        for name, command, code in (("one", "exit 77", 255),
                                    ("two", "true", 0)):
            self.run_job(name, command)
            status = self.request("GET", "/jobs/admin~" + name,
                                  200)["jobStatus"]
            self.assertEqual((status["state"], status["appExitCode"],
                              status["appExitSpec"]["code"]),
                             ("FAILED" if code else "SUCCEEDED", code, code))
            if name == "one":  # what the command itself said
                self.assertEqual(status["appExitMessages"]["runtime"]
                                 ["originUserExitCode"], 77)
        self.submit(self.job("long", "sleep 1000"))
        self.request("PUT", "/jobs/admin~long/executionType", 202,
                     {"value": "STOP"})
        self.run_cli("wait", "admin~long", "--quiet")
        status = self.request("GET", "/jobs/admin~long", 200)["jobStatus"]
        self.assertEqual((status["state"], status["executionType"]),
                         ("STOPPED", "STOP"))
        self.assertIn(status["appExitCode"], (-210, -220))

    def test_templates(self):
        self.run_job("one", "echo '<% $parameters.a[0] %>' "
                            "'<% $secrets.k %>'",
                     more="parameters: {a: [x]}\nsecrets: {k: s}\n")
        self.assertEqual(self.ok("logs", "admin~one"), "x s\n")

    def test_22_too_many(self):
        for _ in range(130):  # 120 lists a minute
            status, headers, text = self.ask("GET", "/api/v2/jobs",
                                             token=self.ada)
            if status != 200:
                break
        self.assertEqual(status, 429)
        self.assertIn("text/html", headers["content-type"])
        for name in ("x-ratelimit-limit", "x-ratelimit-remaining",
                     "x-ratelimit-reset", "retry-after"):
            self.assertRegex(headers[name], "^[0-9]+$", name)
