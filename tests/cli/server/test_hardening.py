"""What a server over TCP tells nobody, and what a portal of OpenPAI's needs."""

import json
import os
import re
import socket
import ssl
import subprocess
import unittest
import urllib.parse

import program
import served


def others_reach():
    """The address with which this machine sends packets elsewhere, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return line.getsockname()[0]


class Hardening(served.ServedTest):
    def tls(self):
        cert, key = self.certificate()
        return self.serve("--tls-cert", cert, "--tls-key", key)

    def shakes_hands(self, ciphers):
        """The cipher of TLS 1.2, or None if the server wants none of them."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers + ":@SECLEVEL=0")
        port = urllib.parse.urlsplit(self.url).port
        with socket.create_connection(("127.0.0.1", port), 60) as line:
            try:
                with context.wrap_socket(line) as told:
                    return told.cipher()[0]
            except (ssl.SSLError, ConnectionError):
                return None

    def test_tls_has_neither_static_rsa_nor_cbc(self):
        """With a certificate of RSA, which alone could do the former."""
        cert, key = self.folder / "rsa.pem", self.folder / "rsa.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048",
                        "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                        "-subj", "/CN=localhost"], check=True,
                       capture_output=True, timeout=60)
        process = self.serve("--tls-cert", str(cert), "--tls-key", str(key))
        self.assertEqual(self.shakes_hands("ECDHE-RSA-AES128-GCM-SHA256"),
                         "ECDHE-RSA-AES128-GCM-SHA256")
        for bad in ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA",
                    "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384",
                    "DHE-RSA-AES128-GCM-SHA256"):
            self.assertIsNone(self.shakes_hands(bad), bad)
        self.end(process)

    def head(self, path):
        done = subprocess.run(["curl", "-sSik", "--max-time", "30",
                               self.url + path], capture_output=True,
                              timeout=60, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.lower()

    def test_browsers_are_told_to_use_tls(self):
        process = self.serve()
        self.assertNotIn("strict-transport-security", self.head("/healthz"))
        self.end(process)
        process = self.tls()
        for path in "/healthz", "/api/v2/jobs", "/job-detail.html":
            self.assertIn("strict-transport-security: max-age=31536000",
                          self.head(path))
        self.end(process)

    def test_failures_name_no_files(self):
        """Of 500 the log says more."""
        process = self.start("serve", "--listen", "127.0.0.1:0",
                             stderr=subprocess.PIPE)
        said = ""
        while not re.search(r"serves at /", said):
            said += process.stdout.readline()
        self.url = re.search(r"serves at (https?://\S+)", said)[1]
        token = self.login()
        code = self.root / "code"
        if code.exists():
            code.rmdir()
        code.write_text("no folder")
        status, _, text = self.ask("PUT", "/api/v2/jobs/admin~x/code", bytes(10240),
                                   token, content_type="application/x-tar")
        self.assertEqual(status, 500, text)
        self.assertEqual(json.loads(text)["message"],
                         "The server failed to handle this request. Its log has the reason.")
        self.assertNotIn(str(self.folder), text)
        process.terminate()
        self.assertIn(str(code), process.communicate(timeout=60)[1])

    @unittest.skipIf(others_reach() is None, "this machine has no network")
    def test_the_address_of_a_task_is_one_that_others_reach(self):
        process = self.start("serve", "--listen", "0.0.0.0:0",
                             *(["--jobs-as-root"] if os.geteuid() == 0
                               else []))
        said = ""
        while not re.search(r"serves at /", said):
            said += process.stdout.readline()
        self.url = "http://127.0.0.1:" + re.search(
            r"serves at https?://\S*:(\d+)", said)[1]
        token = self.login()
        job = program.JOB.format(command=json.dumps("echo up; sleep 600"),
                                 instances=1, cpu=1)
        status, _, text = self.ask("POST", "/api/v2/jobs", job, token,
                                   content_type="text/yaml")
        self.assertEqual(status, 202, text)
        self.until_up("admin~test")
        _, _, text = self.ask("GET", "/api/v2/jobs/admin~test", None, token)
        task, = json.loads(text)["taskRoles"]["a"]["taskStatuses"]
        self.assertEqual(task["containerIp"], others_reach())
        self.ok("stop", "admin~test")
        self.end(process)

    def test_addresses_of_the_original_portal_lead_to_ours(self):
        process = self.serve()
        for page, tab in (("job-detail", ""), ("task-attempt", ""),
                          ("job-event", "/events")):
            head = self.head(f"/{page}.html?username=ann&jobName=a%3Cb")
            self.assertRegex(head, r"\Ahttp/1.1 302 ")
            self.assertIn(f"location: /jobs/ann~a%3cb{tab}\n", head.replace("\r", ""))
        for page, to in (("index", "/"), ("home", "/"), ("job-list", "/jobs"),
                         ("submit", "/submit"), ("user-profile", "/profile")):
            self.assertIn(f"location: {to}\n",
                          self.head(f"/{page}.html").replace("\r", ""))
        self.end(process)
