"""OpenPAI's REST API of a real platform, asked with curl at its socket.

What the tables of OpenPAI's contract say of answers stands here once more, by
hand: each key with the types that it may have.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import program

GUIDE = pathlib.Path(sys.argv[2])

STR, INT, LIST, MAP, BOOL, NULL = str, int, list, dict, bool, type(None)
MAY_INT, MAY_STR = (INT, NULL), (STR, NULL)

ITEM = {  # 2.7
    "debugId": STR, "name": STR, "username": STR, "state": STR,
    "subState": STR, "executionType": STR, "tags": LIST, "retries": INT,
    "retryDetails": MAP, "retryDelayTime": MAY_INT, "submissionTime": INT,
    "createdTime": MAY_INT, "launchedTime": MAY_INT, "completedTime": MAY_INT,
    "appExitCode": MAY_INT, "virtualCluster": STR, "totalGpuNumber": INT,
    "totalTaskNumber": INT, "totalTaskRoleNumber": INT, "jobPriority": MAY_STR,
    "outputLost": BOOL, "queuedReason": MAY_STR}

DETAIL = {"debugId": STR, "name": STR, "tags": LIST,  # 2.9
          "jobPriority": MAY_STR, "jobStatus": MAP, "taskRoles": MAP}

STATUS = {
    "username": STR, "virtualCluster": STR, "state": STR, "subState": STR,
    "executionType": STR, "retries": INT, "retryDetails": MAP,
    "retryDelayTime": MAY_INT, "submissionTime": INT, "createdTime": MAY_INT,
    "launchedTime": MAY_INT, "completedTime": MAY_INT, "attemptId": INT,
    "attemptState": STR, "appId": STR, "appProgress": INT,
    "appTrackingUrl": STR, "appCreatedTime": MAY_INT,
    "appLaunchedTime": MAY_INT, "appCompletedTime": MAY_INT,
    "appExitCode": MAY_INT, "appExitSpec": (MAP, NULL),
    "appExitDiagnostics": MAY_STR, "appExitMessages": (MAP, NULL),
    "appExitTriggerMessage": MAY_STR, "appExitTriggerTaskRoleName": MAY_STR,
    "appExitTriggerTaskIndex": MAY_INT, "appExitType": MAY_STR,
    "originUserExitCode": MAY_INT, "exitReason": MAY_STR,
    "failure": (MAP, NULL), "outputLost": BOOL}

PLACE = {
    "containerId": MAY_STR, "containerIp": MAY_STR,
    "containerNodeName": MAY_STR, "containerPorts": MAP, "containerGpus": NULL,
    "containerLog": STR, "containerExitCode": MAY_INT,
    "containerExitSpec": (MAP, NULL), "containerExitDiagnostics": MAY_STR,
    "originUserExitCode": MAY_INT, "exitReason": MAY_STR,
    "failure": (MAP, NULL), "outputLost": BOOL, "runtime": MAY_STR}

START = {
    "attemptId": INT, "attemptState": STR,
    "currentAttemptCreatedTime": MAY_INT,
    "currentAttemptLaunchedTime": MAY_INT,
    "currentAttemptCompletedTime": MAY_INT, **PLACE}

TASK = {
    "taskIndex": INT, "taskUid": STR, "taskState": STR, "retries": INT,
    "accountableRetries": INT, "createdTime": MAY_INT, "launchedTime": MAY_INT,
    "completedTime": MAY_INT, **START}

STARTS = {
    "username": STR, "jobName": STR, "jobAttemptId": INT, "taskRoleName": STR,
    "taskIndex": INT, "taskUid": STR, "taskState": STR, "retries": INT,
    "accountableRetries": INT, "createdTime": MAY_INT, "launchedTime": MAY_INT,
    "completedTime": MAY_INT, "attempts": LIST}

EVENT = {
    "uid": STR, "frameworkName": STR, "podUid": MAY_STR,
    "taskroleName": MAY_STR, "taskName": MAY_STR, "taskIndex": MAY_INT,
    "type": STR, "reason": STR, "message": STR, "firstTimestamp": STR,
    "lastTimestamp": STR, "count": INT, "sourceComponent": MAY_STR,
    "sourceHost": MAY_STR}

ATTEMPT = {  # 2.10
    "jobName": STR, "frameworkName": STR, "uid": STR, "userName": STR,
    "state": STR, "originState": STR, "attemptIndex": INT,
    "jobStartedTime": MAY_INT, "attemptStartedTime": MAY_INT,
    "attemptCompletedTime": MAY_INT, "exitCode": MAY_INT,
    "exitPhrase": MAY_STR, "exitType": MAY_STR, "exitDiagnostics": (MAP, NULL),
    "appExitTriggerMessage": MAY_STR, "appExitTriggerTaskRoleName": MAY_STR,
    "appExitTriggerTaskIndex": MAY_INT, "appExitSpec": (MAP, NULL),
    "appExitDiagnostics": MAY_STR, "appExitMessages": (MAP, NULL),
    "totalGpuNumber": INT, "totalTaskNumber": INT, "totalTaskRoleNumber": INT,
    "jobPriority": MAY_STR, "taskRoles": MAP, "isLatest": bool}

JOB = """\
protocolVersion: 2
name: {name}
type: job
jobRetryCount: {retries}
prerequisites: [{{name: x, type: dockerimage, uri: host}}]
taskRoles:
  Work_er:
    instances: 1
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0, ports: {{web: 1}}}}
    commands: [{command}]
{more}"""


@unittest.skipUnless(shutil.which("curl"), "curl is not installed")
class Api(program.RootTest):
    def setUp(self):
        super().setUp()
        self.ok("up")
        self.user = json.loads(self.ok("status", "--json"))["user"]

    # --- asking --------------------------------------------------------------

    def curl(self, *args):
        return subprocess.run(
            ["curl", "--silent", "--show-error", "--max-time", "60",
             "--unix-socket", str(self.root / "socket"), *args],
            stdout=subprocess.PIPE, check=True, cwd=self.folder).stdout

    def ask(self, path, *args):
        """Status and body of a request."""
        out = self.curl("--write-out", "\n%{http_code} %{content_type}",
                        *args, f"http://x{path}").decode()
        body, _, said = out.rpartition("\n")
        status, _, kind = said.partition(" ")
        method = args[args.index("-X") + 1] if "-X" in args else "GET"
        self.described(method, path, int(status), kind, body)
        return int(status), body

    def get(self, path, status=200):
        code, body = self.ask(path)
        self.assertEqual(code, status, (path, body))
        return json.loads(body)

    def change(self, method, path, value, status):
        code, body = self.ask(path, "-X", method, "-H",
                              "Content-Type: application/json", "-d",
                              json.dumps({"value": value}))
        self.assertEqual(code, status, body)
        return json.loads(body)

    def submit(self, name, command="true", retries=0, more=""):
        text = JOB.format(name=name, command=json.dumps(command),
                          retries=retries, more=more)
        code, body = self.ask("/api/v2/jobs", "-X", "POST", "-H",
                              "Content-Type: text/yaml", "--data-binary", text)
        self.assertEqual(code, 202, body)
        self.assertEqual(json.loads(body)["status"], 202)

    def path(self, name, rest=""):
        return f"/api/v2/jobs/{self.user}~{name}{rest}"

    def until(self, name, state):
        """Until that is on record."""
        while self.get(self.path(name))["jobStatus"]["state"] != state:
            pass

    def wait(self, name):
        self.run_cli("wait", name)

    # --- shapes --------------------------------------------------------------

    def same(self, what, table):
        self.assertEqual(sorted(what), sorted(table))
        for key, types in table.items():
            value = what[key]
            self.assertIsInstance(value, types, key)
            if bool not in (types if isinstance(types, tuple) else (types,)):
                self.assertNotIsInstance(value, bool, key)

    def refused(self, path, status, code, *args):
        got, body = self.ask(path, *args)
        self.assertEqual(got, status, body)
        error = json.loads(body)
        self.assertEqual(error.get("code"), code, body)
        self.assertLessEqual(set(error), {"code", "message", "help"})
        return error["message"]

    # --- tests ---------------------------------------------------------------

    def test_lists(self):
        self.submit("b", more="extras: {hivedScheduler: "
                              "{jobPriorityClass: prod}}")
        self.submit("a", command="exit 3")
        for name in ("a", "b"):
            self.wait(name)
        self.change("PUT", self.path("a", "/tag"), "red", 200)
        rows = self.get("/api/v2/jobs")
        self.assertEqual([r["name"] for r in rows], ["a", "b"])
        for row in rows:
            self.same(row, ITEM)
            self.same(row["retryDetails"],
                      {"user": INT, "platform": INT, "resource": INT})
            self.assertRegex(row["debugId"], "^[0-9a-f]{32}$")
        self.assertEqual([r["state"] for r in rows], ["FAILED", "SUCCEEDED"])
        self.assertEqual([r["jobPriority"] for r in rows], [None, "prod"])
        for query, names in {
                "state=FAILED": "a", "state=FAILED,SUCCEEDED": "ab",
                "state=RUNNING": "", "username=nobody": "",
                f"username=x,{self.user}": "ab", "vc=default": "ab",
                "vc=other": "", "keyword=a&username=" + self.user + "&state="
                "FAILED": "a", "jobPriority=prod": "b",
                "jobPriority=default": "a", "jobPriority=default,prod": "ab",
                # Row 10 of the quirks: not one group with the keyword.
                "jobPriority=default&keyword=zzz": "",
                "tagsContain=red": "a", "tagsContain=red,blue": "a",
                "tagsNotContain=red": "b", "order=jobName,ASC": "ab",
                "order=jobName,DESC": "ba", "order=bad,ASC": "ab",
                "order=state,ASC": "ab", "order=completionTime,DESC": None,
                "order=jobPriority,ASC": "ba", "limit=1": "a",
                "offset=1": "b", "limit=0": "", "offset=9": ""}.items():
            rows = self.get("/api/v2/jobs?" + query)
            if names is not None:
                self.assertEqual("".join(r["name"] for r in rows), names,
                                 query)
        total = self.get("/api/v2/jobs?withTotalCount=true&limit=1&offset=1")
        self.assertEqual((total["totalCount"], total["data"][0]["name"]),
                         (2, "b"))
        self.assertEqual(sorted(total), ["data", "totalCount"])
        for query in ("limit=50001", "limit=-1", "limit=x", "offset=-1",
                      "offset=NaN"):
            self.refused("/api/v2/jobs?" + query, 400,
                         "InvalidParametersError")
        self.assertEqual(self.get("/api/v1/jobs"), self.get("/api/v2/jobs"))

    def test_a_job_that_is_tried_again(self):
        self.submit("again", "echo $PAI_TASK_INDEX; test -e ../../../flag ||"
                             " { touch ../../../flag; exit 1; }", retries=3)
        self.wait("again")
        detail = self.get(self.path("again"))
        self.same(detail, DETAIL)
        status = detail["jobStatus"]
        self.same(status, STATUS)
        self.assertEqual(detail["taskRoles"].keys(), {"worker"})
        self.assertEqual(status["attemptId"], status["retries"])
        tasks = detail["taskRoles"]["worker"]["taskStatuses"]
        self.same(tasks[0], TASK)
        self.assertRegex(tasks[0]["containerPorts"]["web"], "^[0-9]+$")
        first = self.get(self.path("again", "/attempts/0"))
        self.same(first["jobStatus"], STATUS)
        self.assertEqual(first["jobStatus"]["attemptId"], 0)
        if status["retries"] > 0:
            self.assertEqual(first["jobStatus"]["attemptState"], "FAILED")
            self.assertEqual(first["jobStatus"]["appExitType"], "Failed")
            self.assertEqual(first["jobStatus"]["appExitSpec"]["code"],
                             first["jobStatus"]["appExitCode"])
        starts = self.get(self.path(
            "again", "/attempts/0/taskRoles/worker/taskIndex/0/attempts"))
        self.same(starts, STARTS)
        for start in starts["attempts"]:
            self.same(start, START)
        attempts = self.get(self.path("again", "/job-attempts"))
        self.assertEqual([a["isLatest"] for a in attempts],
                         [True] + [False] * status["retries"])
        self.assertEqual([a["attemptIndex"] for a in attempts],
                         [status["retries"], *range(status["retries"])])
        for one in attempts:
            self.same(one, ATTEMPT)
        one = self.get(self.path("again", "/job-attempts/0"))
        self.same(one, ATTEMPT)
        self.assertEqual(one["attemptIndex"], 0)
        self.assertTrue(one["isLatest"])
        if one["exitDiagnostics"] is not None:
            self.same(one["exitDiagnostics"],
                      {"diagnosticsSummary": STR, "runtime": (MAP, NULL),
                       "launcher": MAY_STR})
        self.assertEqual(self.ask(self.path("none", "/job-attempts")),
                         (404, "null"))
        self.assertEqual(self.ask(self.path("again", "/job-attempts/healthz")),
                         (200, "ok"))

    def test_how_a_task_ended_is_told_in_fields(self):
        """What the program printed is not taken for it."""
        self.submit("three", "echo 'originUserExitCode: 7'; exit 3")
        self.wait("three")
        detail = self.get(self.path("three"))
        task = detail["taskRoles"]["worker"]["taskStatuses"][0]
        for end in detail["jobStatus"], task:
            self.assertEqual(end["originUserExitCode"], 3)
            self.assertIsNone(end["exitReason"])
        self.assertEqual(task["containerExitCode"], 255)
        self.assertEqual(self.run_cli("wait", "three").returncode, 3)
        self.submit("well", "true")
        self.wait("well")
        self.assertIsNone(
            self.get(self.path("well"))["jobStatus"]["originUserExitCode"])

    def test_what_is_not_there(self):
        self.submit("one")
        self.wait("one")
        for path, code in {
                self.path("none"): "NoJobError",
                self.path("none", "/config"): "NoJobError",
                self.path("none", "/events"): "NoJobError",
                self.path("none", "/estimate"): "NoJobError",
                self.path("one", "/attempts/1"): "NoJobError",
                self.path("one", "/attempts/x"): "NoJobError",
                self.path("one", "/job-attempts/7"): "NoJobError",
                self.path("one", "/attempts/0/taskRoles/worker/taskIndex/1"
                                 "/attempts"): "NoJobError",
                self.path("one", "/attempts/0/taskRoles/no/taskIndex/0"
                                 "/attempts"): "NoJobError",
                self.path("one", "/attempts/0/taskRoles/worker/taskIndex/0"
                                 "/attempts/5/logs"): "NoTaskLogError",
                self.path("one", "/ssh"): "NoJobSshInfoError",
                "/api/v1/user/u/jobs/j": "NoJobError",
                "/api/v2/jobs/protocolversion/config": "NoJobError",
                "/api/v2/nothing": "NoApiError",
                "/portal/none.js": "NoApiError"}.items():
            self.refused(path, 404, code)
        self.refused("/api/internal/tail-logs/x", 500, "UnknownError")
        self.refused(self.path("one"), 404, "NoApiError", "-X", "PATCH")

    def test_submitting(self):
        headers = ("-X", "POST", "-H", "Content-Type: text/yaml", "--data")
        good = JOB.format(name="j", command="'true'", retries=0, more="")
        message = self.refused("/api/v2/jobs", 400, "InvalidProtocolError",
                               *headers, "name: j")
        errors = json.loads(message)
        self.assertIn("should have required property 'protocolVersion'",
                      [e["message"] for e in errors])
        for error in errors:
            self.assertLessEqual({"keyword", "dataPath", "schemaPath",
                                  "params", "message"}, set(error))
        self.refused("/api/v2/jobs", 400, "InvalidProtocolError", *headers, "")
        self.refused("/api/v2/jobs", 400, "InvalidProtocolError", *headers,
                     "a: [")
        self.refused("/api/v2/jobs", 404, "NoStorageError", *headers,
                     good + "extras: {storages: [{name: nobodys}]}")
        # JSON is YAML, whatever it is called.
        text = json.dumps({
            "protocolVersion": 2, "name": "json", "type": "job",
            "prerequisites": [{"name": "x", "type": "dockerimage",
                               "uri": "host"}],
            "taskRoles": {"w": {
                "dockerImage": "x", "commands": ["true"],
                "resourcePerInstance": {"cpu": 1, "memoryMB": 100,
                                        "gpu": 0}}}})
        code, body = self.ask("/api/v2/jobs", "-X", "POST", "-H",
                              "Content-Type: application/json", "-d", text)
        self.assertEqual(code, 202, body)
        self.submit("j")
        self.refused("/api/v2/jobs", 409, "ConflictJobError", *headers, good)
        self.wait("json")

    def test_changes(self):
        self.submit("long", "echo up; sleep 600")
        tag = self.path("long", "/tag")
        for _ in range(2):  # it is there already: that is no mistake
            self.assertEqual(self.change("PUT", tag, "t1", 200)["status"], 200)
        self.change("PUT", tag, "t2", 200)
        self.assertEqual(sorted(self.get(self.path("long"))["tags"]),
                         ["t1", "t2"])
        self.assertEqual(self.change("DELETE", tag, "t1", 200)["status"], 200)
        self.assertEqual(self.change("DELETE", tag, "t1", 404)["code"],
                         "NoTagError")
        for bad in ("", "a,b", "x" * 513):
            self.assertEqual(self.change("PUT", tag, bad, 400)["code"],
                             "InvalidParametersError")
        execution = self.path("long", "/executionType")
        self.assertEqual(self.change("PUT", execution, "stop", 400)["code"],
                         "InvalidParametersError")
        done = self.change("PUT", execution, "STOP", 202)
        self.assertEqual(done["status"], 202)
        self.wait("long")
        status = self.get(self.path("long"))["jobStatus"]
        self.assertEqual((status["state"], status["executionType"],
                          status["appExitCode"]), ("STOPPED", "STOP", -210))
        self.change("PUT", execution, "START", 202)  # it is over, and stays so
        self.assertEqual(self.get(self.path("long"))["jobStatus"]["state"],
                         "STOPPED")

    def test_config_and_events(self):
        self.submit("one", more="secrets: {key: hidden}\n")
        self.wait("one")
        head = self.curl("-D", "-", "-o", "/dev/stdout",
                         f"http://x{self.path('one', '/config')}").decode()
        self.assertIn("Content-Type: text/yaml; charset=utf-8", head)
        config = self.get(self.path("one", "/config"))
        self.assertEqual(config["secrets"], "******")
        self.assertEqual(config["name"], "one")
        self.assertEqual(
            self.get(f"/api/v1/user/{self.user}/jobs/one/config"), config)
        events = self.get(self.path("one", "/events"))
        self.assertEqual(events["totalCount"], len(events["data"]))
        for event in events["data"]:
            self.same(event, EVENT)
            self.assertRegex(event["lastTimestamp"],
                             r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        times = [e["lastTimestamp"] for e in events["data"]]
        self.assertEqual(times, sorted(times, reverse=True))
        some = self.get(self.path("one", "/events?type=Normal"))["data"]
        self.assertEqual({e["type"] for e in some}, {"Normal"})
        none = self.get(self.path("one", "/events?type=normal"))
        self.assertEqual(none, {"totalCount": 0, "data": []})

    # --- logs ----------------------------------------------------------------

    def events(self, text):
        """Server-sent events: (name, id, data)."""
        found = []
        for block in text.split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            found.append((fields.get("event"), int(fields["id"]),
                          json.loads(fields["data"])))
        return found

    def test_logs(self):
        gate = self.fifo()
        self.submit("log", "i=0; while [ $i -lt 4000 ]; do echo line $i; "
                           f"i=$((i+1)); done; read x <{gate}; printf 'é'")
        process = self.start("logs", "-f", "log")
        for line in process.stdout:
            if line == "line 3999\n":
                break
        process.kill()
        task = self.get(self.path("log"))["taskRoles"]["worker"]
        logs = task["taskStatuses"][0]["containerLog"]
        self.assertEqual(logs, self.path(
            "log", "/attempts/0/taskRoles/worker/taskIndex/0/attempts/0/logs"))
        for mode in ("", "?tail-mode=true"):
            places = self.get(logs + mode)["locations"]
            self.assertEqual([p["name"] for p in places],
                             ["stdout", "stderr", "all", "runtime"])
            for place in places:
                self.assertRegex(
                    place["uri"], rf"^{re.escape(logs)}/{place['name']}\?"
                    rf"token=[^&]+{mode.replace('?', '&')}$")
        whole = "".join(f"line {i}\n" for i in range(4000))
        self.assertEqual(self.ask(logs + "/all")[1], whole)
        tail = self.ask(logs + "/all?tail-mode=true")[1]
        self.assertEqual(tail, whole[-16384:])
        self.assertEqual(self.ask(logs + "/all?tail-mode=1")[1], whole)
        self.assertEqual(self.ask(logs + "/stdout?offset=-5")[1], "3999\n")
        self.refused(logs + "/core", 404, "NoTaskLogError")
        self.resume(logs, whole, gate)

    def resume(self, logs, whole, gate):
        """A reader of events that is cut off goes on where it was."""
        events = ["-N", "-H", "Accept: text/event-stream"]
        process = subprocess.Popen(
            ["curl", "--silent", "--unix-socket", str(self.root / "socket"),
             *events, f"http://x{logs}/all"], stdout=subprocess.PIPE,
            text=True)
        self.addCleanup(process.wait)
        seen = ""
        while seen.count("\n\n") < 1:
            seen += process.stdout.readline()
        process.kill()
        process.stdout.close()
        (_, last, data), *_ = self.events(seen)
        self.assertEqual(data["text"], whole[:last])
        self.release(gate)
        rest = self.events(self.ask(f"{logs}/all", *events, "-H",
                                    f"Last-Event-ID: {last}")[1] + "\n")
        name, end, what = rest.pop()
        self.assertEqual((name, what), ("end", {"offset": end}))
        self.assertEqual(end, len((whole + "é").encode()))
        self.assertEqual("".join(d["text"] for _, _, d in rest),
                         (whole + "é")[last:])
        at = last
        for _, number, data in rest:
            self.assertEqual(data["offset"], at)
            at = number
        self.wait("log")

    # --- watching ------------------------------------------------------------

    def test_metrics(self):
        gate = self.fifo()
        self.submit("busy", f"echo up; read x <{gate}")
        self.until_up("busy")
        self.until("busy", "RUNNING")
        self.ask("/metrics")
        text = self.ask("/metrics")[1]
        labels = (f'{{username="{self.user}",job_name="{self.user}~busy",'
                  'role_name="worker",task_index="0",job_instance_id="')
        for name in ("task_cpu_percent", "task_mem_usage_byte",
                     "task_mem_usage_percent", "task_mem_limit_byte"):
            self.assertIn(name + labels, text)
        app = self.get(self.path("busy"))["jobStatus"]["appId"]
        self.assertIn(f'job_instance_id="{app}",virtual_cluster="default"',
                      text)
        self.assertRegex(text, r'task_mem_usage_byte\{[^}]*\} [1-9]')
        self.assertIn('openpai_jobs{state="running"} 1\n', text)
        self.assertIn('route="/api/v2/jobs",method="POST",status="202"', text)
        self.assertRegex(text, r"openpai_store_commit_seconds_count [1-9]")
        self.assertRegex(text, r"pai_node_count\{.*\} 1\n")
        pods = self.get("/api/v2/kubernetes/pods")["items"]
        self.assertEqual(pods[0]["status"]["phase"], "Running")
        self.assertEqual(pods[0]["metadata"]["uid"], self.get(
            self.path("busy"))["taskRoles"]["worker"]["taskStatuses"][0]
                         ["containerId"])
        nodes = self.get("/api/v1/kubernetes/nodes")["items"]
        self.assertEqual(pods[0]["spec"]["nodeName"],
                         nodes[0]["metadata"]["name"])
        self.assertIsInstance(self.get("/api/v2/alerts"), list)
        self.release(gate)
        self.wait("busy")
        text = self.ask("/metrics")[1]
        self.assertIn('openpai_jobs_ended_total{state="succeeded"} 1\n', text)
        self.assertNotIn("~busy", text)
        self.assertEqual(self.get("/api/v2/kubernetes/pods")["items"], [])

    def test_estimates(self):
        gate = self.fifo()
        self.submit("short")
        self.wait("short")
        self.assertEqual(self.get(self.path("short", "/estimate"))["state"],
                         "SUCCEEDED")
        cpus = json.loads(self.ok("status", "--json"))["machine"]["cpus"]
        self.submit("first", f"echo up; read x <{gate}")
        self.until("first", "RUNNING")
        running = self.get(self.path("first", "/estimate"))
        self.assertEqual(running["state"], "RUNNING")
        self.assertLessEqual(running["startedAt"], running["now"])
        for band in ("p10", "p50", "p90"):
            self.assertGreaterEqual(running["end"][band],
                                    running["startedAt"])
        path = self.job("true", cpu=cpus)
        self.ok("submit", path)  # it wants all of the machine
        self.until("test", "WAITING")
        waiting = self.get(self.path("test", "/estimate"))
        self.assertEqual(waiting["state"], "WAITING")
        start = waiting["start"]
        self.assertGreaterEqual(start["p50"], waiting["now"] - 60000)
        self.assertLessEqual(start["p10"], start["p50"])
        self.assertLessEqual(start["p50"], start["p90"])
        self.assertGreater(waiting["runs"], 0)
        self.assertIs(waiting["unlike"], False)
        self.assertRegex(self.ok("why", "test"),
                         r"It starts in about \S+, and with a probability of "
                         r"90 % within \S+,\nif the jobs before it run (as "
                         r"long (as jobs that ended did|again as)|until)")
        self.release(gate)
        self.wait("test")

    def behind_another(self, *words):
        """The estimate of a job that waits for one submitted with words."""
        gate = self.fifo()
        cpus = json.loads(self.ok("status", "--json"))["machine"]["cpus"]
        path = self.job(f"echo up; read x <{gate}", cpu=cpus)
        self.ok("submit", "--name", "first", *words, path)
        self.until("first", "RUNNING")
        self.ok("submit", "--name", "next", self.job("true", cpu=cpus))
        self.addCleanup(self.ok, "stop", "--now", "first")
        return self.get(self.path("next", "/estimate"))

    def test_estimates_of_nothing(self):
        """No job has ended: nobody knows, but for who has a time limit."""
        waiting = self.behind_another()
        self.assertNotIn("end", self.get(self.path("first", "/estimate")))
        self.assertIs(waiting["unknown"], True)
        self.assertIsNone(waiting["start"])
        self.assertIn("The start time is unknown: no job has ended yet",
                      self.ok("why", "next"))
        self.assertIn("unknown: no job has ended yet", self.ok("when"))

    def test_estimates_by_time_limits(self):
        waiting = self.behind_another("--time", "2h")
        self.assertIsNone(waiting["alike"])
        self.assertIn("if the jobs before it run until their time limits.",
                      self.ok("why", "next"))
        launched = self.get(self.path("first"))["jobStatus"]["launchedTime"]
        for time in (self.get(self.path("first", "/estimate"))["end"]["p90"],
                     waiting["start"]["p90"]):
            self.assertLessEqual(abs(time - launched - 7200000), 60000)

    # --- the guide -----------------------------------------------------------

    def test_the_guide(self):
        """Its examples run as they stand there."""
        text = GUIDE.read_text()
        head = "\n".join(line[4:] for line in
                         text.partition("\n## ")[0].split("\n")
                         if line.startswith("    "))
        blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
        self.assertGreater(len(blocks), 8)
        for block in blocks:
            head += "\n" + block + "\necho; echo ====\n"
        done = subprocess.run(
            ["bash", "-e", "-c", head], cwd=self.folder, env=self.env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=540)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        parts = done.stdout.split("\n====\n")
        for wanted in ('"status":202', '"totalCount":1', '"taskRoles"',
                       "Add tag good", "hello from 0", "event: end",
                       '"reasons":[]', "openpai_jobs", "NoJobError",
                       "should have required property"):
            self.assertTrue(any(wanted in part for part in parts), wanted)
        # What must not be refused, was not.
        self.assertEqual(done.stdout.count('"code":"No'), 1)
