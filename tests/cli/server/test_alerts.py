"""Alerts by rules of alerts.yaml: state over a restart, silences, and each
action, against servers of webhooks and mail of this test's own; to and from a
real Alertmanager."""

import contextlib
import email
import email.header
import http.server
import json
import queue
import shutil
import socket
import ssl
import subprocess
import threading
import time
import unittest
import urllib.request

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
    commands: ["sleep 600"]
"""

HERE = '{alert: Here, expr: openpai_cpus > 0, severity: info}'
RUNS = ('{alert: Runs, expr: "sum by (job_name) (pai_job_pod_count'
        '{phase=\\"running\\"}) > 0", severity: error, '
        'summary: "{{job_name}} runs"}')


class Hook(http.server.BaseHTTPRequestHandler):
    """Puts what is posted into its server's queue, and answers as that says."""

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, headers = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.posted.put((self.path, dict(self.headers), body))

    def log_message(self, *args):
        pass


def at_manager(address, body=None):
    """Asks an Alertmanager; posts a body."""
    request = urllib.request.Request(
        address, data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
    return json.loads(text) if text else None


class Mailbox(threading.Thread):
    """A server of mail: TLS from the start, and a login."""

    def __init__(self, context):
        super().__init__(daemon=True)
        self.context = context
        self.mails = queue.Queue()
        self.logins = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError):
                with (self.context.wrap_socket(plain, server_side=True)
                      if self.context else plain) as peer:
                    self.talk(peer)

    def talk(self, peer):
        lines = peer.makefile("rb")
        say = lambda text: peer.sendall(text.encode() + b"\r\n")
        to = []
        say("220 here")
        for line in lines:
            word = line.split(b" ")[0].strip().upper()
            if word == b"EHLO":
                say("250-here\r\n250 AUTH PLAIN")
            elif word == b"AUTH":
                if len(line.split()) < 3:
                    say("334 ")
                    line = lines.readline()
                self.logins.append(line)
                say("235 welcome")
            elif word == b"RCPT":
                to.append(line.decode().strip())
                say("250 good")
            elif word == b"DATA":
                say("354 go on")
                text = b""
                for more in lines:
                    if more == b".\r\n":
                        break
                    text += more
                self.mails.put((to, text))
                to = []
                say("250 taken")
            elif word == b"QUIT":
                say("221 bye")
                return
            else:
                say("250 good")


class Alerts(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        self.hook.posted, self.hook.answer = queue.Queue(), (200, {})
        threading.Thread(target=self.hook.serve_forever, daemon=True).start()
        self.addCleanup(self.hook.server_close)
        self.addCleanup(self.hook.shutdown)
        self.port = self.hook.server_address[1]
        self.root.mkdir(mode=0o700, exist_ok=True)

    def write(self, text, rules=HERE):
        (self.root / "alerts.yaml").write_text(
            f"interval: 1s\nrules: [{rules}]\n"
            f"targets: ['127.0.0.1:{self.port}']\n{text}")
        (self.root / "alerts.yaml").chmod(0o600)

    def receiver(self, actions, match="alertname: Here"):
        return ("receivers: [{name: r, actions: {%s}}]\n"
                "routes: [{receiver: r, match: {%s}}]\n" % (actions, match))

    def to_hook(self):
        return f"webhook: {{url: 'http://127.0.0.1:{self.port}/in?x=1'}}"

    def posted(self):
        path, headers, body = self.hook.posted.get(timeout=60)
        return path, headers, json.loads(body)

    def api(self, method, path, body=None, want=200, token=None):
        status, _, text = self.ask(method, path, body, token or self.token)
        self.assertEqual(status, want, text)
        return json.loads(text) if text else None

    def alerts(self, name, query=""):
        return [a for a in self.api("GET", "/api/v2/alerts" + query)
                if a["labels"]["alertname"] == name]

    def until(self, holds):
        """Asks again until it holds: the rules are looked at each second."""
        for _ in range(600):
            got = holds()
            if got:
                return got
            time.sleep(0.1)
        self.fail("not within a minute")

    def submit(self, name):
        status, _, text = self.ask("POST", "/api/v2/jobs",
                                   JOB.format(name=name), self.token,
                                   content_type="text/yaml")
        self.assertEqual(status, 202, text)

    # --- state -----------------------------------------------------------------

    def test_state_survives_a_restart(self):
        self.write(self.receiver(self.to_hook(),
                                 "severity: info"), HERE + "," + RUNS)
        server = self.serve()
        self.token = self.login()
        path, headers, body = self.posted()
        self.assertEqual(path, "/in?x=1")
        self.assertEqual(headers["Content-Type"], "application/json")
        self.assertEqual((body["version"], body["status"], body["receiver"]),
                         ("4", "firing", "r"))
        self.assertEqual(body["alerts"][0]["labels"]["alertname"], "Here")
        self.assertEqual(len(body["alerts"][0]["fingerprint"]), 16)
        before, = self.alerts("Here")
        self.api("PUT", "/api/v2/alerts/" + before["fingerprint"],
                 {"acknowledged": True}, 201)
        silence = self.api("POST", "/api/v2/silences", {
            "matchers": [{"name": "alertname", "value": "Run.*",
                          "isRegex": True}],
            "endsAt": "2999-01-01T00:00:00Z", "comment": "why not"})
        server.kill()
        server.communicate()
        self.hook.posted = queue.Queue()
        server = self.serve()
        self.token = self.login()
        after, = self.alerts("Here")
        self.assertEqual(after["startsAt"], before["startsAt"])
        self.assertEqual(after["acknowledgedBy"], "admin")
        kept, = self.api("GET", "/api/v2/silences")
        self.assertEqual(kept["id"], silence["silenceID"])
        self.assertEqual((kept["createdBy"], kept["comment"]),
                         ("admin", "why not"))
        # The receiver is not told again: what comes next is of the end.
        self.write(self.receiver(self.to_hook(), "severity: info"),
                   HERE.replace("> 0", "> 1000000") + "," + RUNS)
        _, _, body = self.posted()
        self.assertEqual((body["status"], body["alerts"][0]["status"]),
                         ("resolved", "resolved"))
        self.assertEqual(self.alerts("Here"), [])
        self.assertEqual(len(self.alerts("Here", "?resolved=true")), 1)
        self.end(server)

    def test_silenced_alerts_reach_nobody(self):
        self.write(self.receiver(self.to_hook(), "alertname: Runs"), RUNS)
        server = self.serve()
        self.token = self.login()
        made = self.ok("alert", "silence", "alertname=Runs",
                       'job_name=~"admin~(a|b)"', "--comment", "known",
                       "--duration", "1h").strip()
        for name in ("a", "c"):
            self.submit(name)
        _, _, body = self.posted()  # only of the other
        self.assertEqual([a["labels"]["job_name"] for a in body["alerts"]],
                         ["admin~c"])
        self.assertEqual(body["alerts"][0]["annotations"]["summary"],
                         "admin~c runs")
        one, = self.until(lambda: [
            a for a in self.alerts("Runs")
            if a["labels"]["job_name"] == "admin~a"])
        self.assertEqual(one["status"]["state"], "suppressed")
        self.assertEqual(one["status"]["silencedBy"], [made])
        self.assertIn("suppressed", self.ok("alert", "list"))
        self.assertIn("admin~a",
                      self.ok("alert", "show", one["fingerprint"]))
        self.assertIn("known", self.ok("alert", "silences"))
        self.assertIn("Runs", self.ok("alert", "rules"))
        self.ok("alert", "unsilence", made)
        _, _, body = self.posted()
        self.assertEqual(body["alerts"][0]["labels"]["job_name"], "admin~a")
        self.assertEqual(
            self.run_cli("alert", "silence", "nothing").returncode, 2)
        self.end(server)

    # --- actions ---------------------------------------------------------------

    def test_jobs_are_tagged_and_stopped_and_nodes_drained(self):
        self.write("receivers: [{name: r, actions: {stop-jobs: {}, tag-jobs: "
                   "{tags: [bad]}, cordon-nodes: {}}}]\n"
                   "routes: [{receiver: r, match_re: {alertname: 'Run.'}}]\n",
                   RUNS)
        server = self.serve()
        self.token = self.login()
        self.submit("a")
        self.until(lambda: self.api("GET", "/api/v2/jobs/admin~a")[
            "jobStatus"]["state"] == "STOPPED")
        self.assertIn("bad", [
            t for j in self.api("GET", "/api/v2/jobs?tagsContain=bad")
            for t in ["bad"] if j["name"] == "a"])
        node, = self.api("GET", "/api/v2/nodes")
        self.assertEqual((node["state"], node["why"]),
                         ("drained", "alert Runs"))
        self.until(lambda: {
            "PUT /api/v2/jobs/admin~a/executionType",
            "PUT /api/v2/jobs/admin~a/tag",
            f"PUT /api/v2/nodes/{node['name']}/status"} <= {
                n["what"] for n in self.api("GET", "/api/v2/audit")
                if n["user"] == "(alerts: r)"})
        self.end(server)

    @unittest.skipUnless(shutil.which("openssl"), "no openssl")
    def test_mail(self):
        cert, key = self.certificate()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self.context = None  # of the platform's own server
        box = Mailbox(context)
        self.addCleanup(box.listener.close)
        secret = self.root / "secret"
        secret.write_text("swordfish\n")
        secret.chmod(0o600)
        mail = (f"mail: {{server: 'smtps://localhost:{box.port}', from: "
                "pai@example.org, to: [root@example.org, boss@example.org], "
                f"user: me, password_file: secret, ca_file: {cert}}}\n"
                + self.receiver("email-admin: {}, email-user: {}",
                                "alertname: Runs"))
        self.write(mail.replace("targets", "x"), RUNS)
        text = (self.root / "alerts.yaml").read_text().replace(
            "targets: [", f"targets: ['localhost:{box.port}', "
            f"'127.0.0.1:{box.port}', ")
        (self.root / "alerts.yaml").write_text(text)
        server = self.serve()
        self.token = self.login()
        self.api("PUT", "/api/v2/users", {
            "patch": True, "data": {"username": "admin",
                                    "email": "admin@example.org"}}, 201)
        self.submit("a")
        mails = {}
        for _ in range(2):
            to, text = box.mails.get(timeout=60)
            mails[tuple(to)] = email.message_from_bytes(text)
        administrators = mails[("RCPT TO:<root@example.org>",
                                "RCPT TO:<boss@example.org>")]
        self.assertEqual(administrators["Subject"], "[OpenPAI] Runs")
        self.assertEqual(administrators["From"], "pai@example.org")
        self.assertIn("admin~a runs", administrators.get_payload())
        self.assertIn("Severity: error", administrators.get_payload())
        self.assertIn(("RCPT TO:<admin@example.org>",), mails)
        self.assertEqual(len(box.logins), 2)
        # The alert-handler sends what it is told; no text becomes a header.
        evil = "a\r\nBcc: x@example.org\r\n\r\nhello \u4e2d\u6587"
        self.api("POST", "/alert-handler/send-email-to-admin?template=general",
                 {"alerts": [{"status": "firing", "labels": {
                     "alertname": evil, "severity": evil},
                     "annotations": {"summary": evil}}]})
        _, text = box.mails.get(timeout=60)
        message = email.message_from_bytes(text)
        self.assertIsNone(message["Bcc"])
        self.assertIn("\u4e2d", str(email.header.make_header(
            email.header.decode_header(message["Subject"]))))
        # The password is in no answer, log or file but its own.
        self.end(server)
        for path in self.root.rglob("*"):
            if path.is_file() and path != secret:
                self.assertNotIn(b"swordfish", path.read_bytes(), path)

    def test_mail_without_tls_is_refused(self):
        box = Mailbox(None)
        self.addCleanup(box.listener.close)
        mail = (f"mail: {{server: 'smtp://127.0.0.1:{box.port}', from: "
                "a@example.org, to: [b@example.org]%s}\n" +
                self.receiver("email-admin: {}"))
        self.port = box.port
        self.write(mail % "")
        server = self.serve()
        said = ""
        while "cannot send alerts (mail)" not in said:
            said = server.stderr.readline()
            self.assertNotEqual(said, "")
        self.assertTrue(box.mails.empty())
        # unless the settings say otherwise; the running server reads them
        self.write(mail % ", allow_plain: true")
        to, _ = box.mails.get(timeout=60)
        self.assertEqual(to, ["RCPT TO:<b@example.org>"])
        self.end(server)

    def test_retries_and_redirects(self):
        """A failure is tried again; a redirect leads nowhere."""
        self.hook.answer = (500, {})
        self.write(self.receiver(self.to_hook()))
        server = self.serve()
        self.posted()
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        other.posted, other.answer = queue.Queue(), (200, {})
        threading.Thread(target=other.serve_forever, daemon=True).start()
        self.addCleanup(other.server_close)
        self.addCleanup(other.shutdown)
        self.hook.answer = (307, {"Location": "http://127.0.0.1:%d/" %
                                  other.server_address[1]})
        self.posted()  # after five seconds
        self.hook.answer = (200, {})
        self.posted()
        self.assertTrue(other.posted.empty())
        self.end(server)

    # --- what is refused -------------------------------------------------------

    def refused(self, text, *wanted):
        (self.root / "alerts.yaml").write_text(text)
        result = self.run_cli("serve", "--listen", "127.0.0.1:0")
        self.assertNotEqual(result.returncode, 0)
        for part in wanted:
            self.assertIn(part, result.stdout + result.stderr)

    def test_settings_that_are_wrong(self):
        self.refused("rules:\n- alert: Hot\n  expr: t > > 5\n",
                     "alerts.yaml:3:13", "name of a metric")
        self.refused("rules:\n- {alert: Hot, expr: 't > 5', tpye: x}\n",
                     "alerts.yaml:2:31", "there is no such key",
                     "alert, expr, for")
        self.refused("receivers: [{name: r, actions: {webhook: {url: "
                     "'https://10.0.0.1/'}}}]\n",
                     "10.0.0.1:443 is not in targets",
                     'add "10.0.0.1:443"')
        self.refused("receivers: [{name: r, actions: {webhook: {url: "
                     "'http://a@b/'}}}]\n", "alerts.yaml:1:")
        self.refused("routes: [{receiver: r}]\n", "names receiver r")
        self.refused("disabled: [Nothing]\n", "no such rule")
        self.refused("mail: {server: 'smtps://x', from: \"a@b\\r\\nX: y\"}\n",
                     "alerts.yaml:1:")

    def test_a_name_leads_to_no_private_address(self):
        """localhost is listed, its address is not."""
        self.write(self.receiver(
            f"webhook: {{url: 'http://localhost:{self.port}/'}}"))
        text = (self.root / "alerts.yaml").read_text().replace(
            f"targets: ['127.0.0.1:{self.port}'",
            f"targets: ['localhost:{self.port}'")
        (self.root / "alerts.yaml").write_text(text)
        server = self.serve()
        said = ""
        while "private address" not in said:
            said = server.stderr.readline()
            self.assertNotEqual(said, "")
        self.assertTrue(self.hook.posted.empty())
        self.end(server)

    def test_hostile_bodies_and_rights(self):
        self.write("")
        server = self.serve()
        self.token = self.login()
        path = "/api/v2/alerts/webhook"
        for body in ("", "[]", "{}", '{"alerts":{}}', '{"alerts":[1]}',
                     '{"alerts":[{"labels":{"alertname":""}}]}',
                     '{"alerts":[{"labels":{"alertname":"a","b c":"d"}}]}',
                     '{"alerts":[{"labels":{"alertname":["a"]}}]}',
                     "[" * 50000, '{"alerts":' + "[" * 40000,
                     json.dumps({"alerts": [{"labels": {"alertname": "a"}}]
                                 * 501})):
            status, _, text = self.ask("POST", path, body, self.token,
                                       content_type="application/json")
            self.assertEqual(status, 400, (body[:60], text))
        status, _, _ = self.ask("POST", path, "x" * 200000, self.token,
                                content_type="application/json")
        self.assertEqual(status, 413)
        # A token for alerts does this, and nothing else.
        made = self.api("POST", "/api/v2/tokens/application",
                        {"scopes": ["alerts"]})["token"]
        many = {"alerts": [{"labels": {"alertname": "Flood", "n": str(n)}}
                           for n in range(300)]}
        self.api("POST", path, many, 201, made)
        self.assertEqual(len(self.alerts("Flood")), 100)
        for method, other, body in (
                ("GET", "/api/v2/alerts", None),
                ("GET", "/api/v2/jobs", None),
                ("POST", "/alert-handler/stop-jobs", {"alerts": []}),
                ("POST", "/api/v2/silences", {"matchers": [], "endsAt": "x"}),
                ("PUT", "/api/v2/nodes/x/status", {"state": "drained"})):
            status, _, text = self.ask(method, other, body, made)
            self.assertEqual(status, 403, (other, text))
        self.api("POST", "/api/v2/users", {
            "username": "eve", "password": "eve-secret-1", "email": "",
            "admin": False, "virtualCluster": ["default"]}, 201)
        eve = self.login("eve", "eve-secret-1")
        of_eve = self.api("POST", "/api/v2/tokens/application",
                          {"scopes": ["alerts"]}, token=eve)["token"]
        for token in (eve, of_eve):
            self.api("POST", path, many, 403, token)
        here, = self.alerts("Here")  # not hers
        self.api("PUT", "/api/v2/alerts/" + here["fingerprint"],
                 {"acknowledged": True}, 404, eve)
        self.api("POST", "/api/v2/silences",
                 {"matchers": [{"name": "a", "value": "(((("
                                , "isRegex": True}],
                  "endsAt": "2999-01-01T00:00:00Z"}, 400)
        self.end(server)

    # --- Alertmanager ----------------------------------------------------------

    @unittest.skipUnless(shutil.which("prometheus-alertmanager"),
                         "SKIPPED: prometheus-alertmanager is not installed")
    def test_alertmanager(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.port = port
        self.write(f"alertmanagers: ['http://127.0.0.1:{port}']\n")
        server = self.serve()
        self.token = self.login()
        made = self.api("POST", "/api/v2/tokens/application",
                        {"scopes": ["alerts"]})["token"]
        config = self.folder / "alertmanager.yml"
        config.write_text(
            "route: {receiver: pai, group_wait: 1s, group_interval: 1s, "
            "group_by: [alertname]}\n"
            f"receivers: [{{name: pai, webhook_configs: [{{url: '{self.url}"
            "/api/v2/alerts/webhook', http_config: {authorization: "
            f"{{credentials: '{made}'}}}}}}]}}]\n")
        manager = subprocess.Popen(
            ["prometheus-alertmanager", f"--config.file={config}",
             f"--storage.path={self.folder}/am", "--cluster.listen-address=",
             f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(manager.wait)
        self.addCleanup(manager.kill)
        address = f"http://127.0.0.1:{port}/api/v2/alerts"

        def seen():
            with contextlib.suppress(OSError):
                return [a for a in at_manager(address)
                        if a["labels"]["alertname"] == "Here"]
            return []  # it does not listen yet

        one, = self.until(seen)  # out
        self.assertEqual(one["labels"]["severity"], "info")
        at_manager(address, [{
            "labels": {"alertname": "Elsewhere", "severity": "fatal",
                       "rack": "7"}, "annotations": {"summary": "smoke"}}])
        other, = self.until(lambda: self.alerts("Elsewhere"))  # in
        self.assertEqual(other["labels"]["rack"], "7")
        self.assertEqual(other["annotations"]["summary"], "smoke")
        # Ours came back, too, and is not taken for another one.
        self.assertEqual(len(self.alerts("Here")), 1)
        self.end(server)


if __name__ == "__main__":
    unittest.main(argv=["alerts"])
