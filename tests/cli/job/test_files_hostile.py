"""Files of jobs whose users plant what should lead elsewhere: asked for over
REST, nothing comes that is not in the job's own folder."""

import io
import json
import re
import tarfile
import unittest
import urllib.parse

import program
import served

JOBS = "/api/v2/jobs"

# What alice's job makes of its folder, and goes on to change until it ends.
PLANT = r"""
import os, socket
ROOT = "@ROOT@"
for name in "openpai.db", "key", "log", "socket", "jobs":
    os.symlink("../../" + name, "up-" + name)
    os.symlink(ROOT + "/" + name, "abs-" + name)
os.symlink("/etc/shadow", "shadow")
os.symlink("..", "above")
os.symlink("../../..", "far")
os.symlink("self", "self")
os.symlink(".", "here")
os.symlink("inside", "fine")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("bound")
for name in "openpai.db", "key":
    try:
        os.link("../../" + name, "hard-" + name)
    except OSError:
        pass
for name in "inside", "swap-file", "folder/key", "swap/key", "\n\x01.txt":
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as file:
        file.write("INSIDE")
with open(b"b\xff", "w") as file:
    file.write("INSIDE")
os.symlink("../../key", "link-file")
os.symlink("../..", "link")
print("planted", flush=True)
while not os.path.exists("end"):
    for at, other in ("swap-file", "link-file"), ("swap", "link"):
        for old, new in (at, "was"), (other, at), ("was", other):
            try:
                os.rename(old, new)
            except OSError:  # somebody has written there
                pass
"""

LEADING_OUT = ["shadow", "above", "far", "above/alice~plant/inside",
               "above/../key", "far/etc/passwd", "up-jobs/x", "../../key",
               "here/../../key", "/etc/passwd", "here/above/../key"] + [
                   f"{way}-{name}" for way in ("up", "abs") for name in
                   ("openpai.db", "key", "log", "socket", "jobs")]


@unittest.skipUnless(program.bubblewrap_works(), "needs bubblewrap")
class Hostile(served.ApartTest):
    def asked(self, method, what, token, status, body=None, **query):
        """The text of an answer, which names no folder of this machine."""
        query = urllib.parse.urlencode(query)
        found, _, text = self.ask(
            method, f"{JOBS}/alice~plant{what}?{query}", body, token,
            content_type="application/octet-stream")
        self.assertIn(found, status, (method, what, query, text))
        told = re.sub('"target":"[^"]*"', "", text)  # as the job wrote it
        self.assertNotIn(str(self.root), told)
        return text

    def submit_code(self, token, name, script):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            info = tarfile.TarInfo("plant.py")
            info.size = len(script)
            tar.addfile(info, io.BytesIO(script.encode()))
        status, _, text = self.ask("PUT", f"{JOBS}/{name}/code",
                                   out.getvalue(), token,
                                   content_type="application/x-tar")
        self.assertEqual(status, 201, text)
        code = urllib.parse.quote(json.loads(text)["codeDir"])
        job = program.JOB.format(command=json.dumps("python3 plant.py"),
                                 instances=1, cpu=1)
        status, _, text = self.ask("POST",
                                   f"{JOBS}?name={name}&codeDir={code}", job,
                                   token, content_type="text/yaml")
        self.assertEqual(status, 202, text)

    def plant(self):
        """Alice's token; her job is at work."""
        alice = self.account("alice")
        self.submit_code(alice, "plant",
                         PLANT.replace("@ROOT@", str(self.root)))
        process = self.start("logs", "-f", "alice~plant")
        self.assertIn("planted", process.stdout.readline())
        process.kill()
        return alice

    def test_what_a_job_plants(self):
        process = self.serve("--rate-limit", "0")
        alice, key = self.plant(), (self.root / "key").read_bytes()
        for path in LEADING_OUT:
            for method, what, size in (("GET", "/file", {}),
                                       ("PUT", "/file", {"size": 1}),
                                       ("GET", "/files", {})):
                text = self.asked(method, what, alice, (400,),
                                  b"x" if method == "PUT" else None,
                                  path=path, **size)
                self.assertIn("leads out of the job's folder", text, path)
        for path in "fifo", "bound", "self", "here":
            self.asked("GET", "/file", alice, (400,), path=path)
            self.asked("PUT", "/file", alice, (400,), b"x", path=path, size=1)
        for path in "hard-openpai.db", "hard-key", "here/none", "inside/x":
            self.asked("GET", "/file", alice, (404,), path=path)
        for path in "fine", "here/here/fine", "\n\x01.txt":
            self.assertEqual(self.asked("GET", "/file", alice, (200,),
                                        path=path), "INSIDE")
        # Whatever is swapped while it is looked for.
        seen = set()
        for _ in range(150):
            for path in "swap-file", "swap/key", "link-file", "link/key":
                text = self.asked("GET", "/file", alice, (200, 400, 404),
                                  path=path)
                if not text.startswith("{"):
                    self.assertEqual(text, "INSIDE")
                seen.add((path, text.startswith("{")))
            self.asked("GET", "/files", alice, (200, 400, 404), path="swap",
                       recursive="true")
        for _ in range(50):
            for path in "swap-file", "swap/key":
                self.asked("PUT", "/file", alice, (200, 400, 404, 500),
                           b"INSIDE", path=path, size=6)
        self.assertIn(("swap-file", False), seen)
        self.assertEqual((self.root / "key").read_bytes(), key)
        self.assertEqual(self.asked("PUT", "/file", alice, (200,), b"",
                                    path="end", size=0),
                         '{"path":"end","received":0,"size":0,'
                         '"complete":true}')
        self.ok("wait", "alice~plant")
        listed = json.loads(self.asked("GET", "/files", alice, (200,),
                                       recursive=1, limit=10000))
        self.assertIsNone(listed["folder"])
        for entry in listed["entries"]:
            self.assertRegex(entry["path"].split("/")[0],
                             "^(up|abs|swap|link|here|fine|folder|self|fifo|"
                             "bound|shadow|above|far|inside|plant.py|end|was|"
                             "\n\x01.txt$|b\ufffd$)")
        self.assertNotIn("openpai.db-wal", str(listed))
        self.end(process)

    def test_who_else_asks(self):
        process = self.serve()
        alice = self.plant()
        bob, admin = self.account("bob"), self.login()
        for method, what, query in (("GET", "/files", {}),
                                    ("GET", "/file", {"path": "inside"}),
                                    ("PUT", "/file", {"path": "new",
                                                      "size": 1}),
                                    ("DELETE", "", {"keepFiles": 1})):
            body = b"x" if method == "PUT" else None
            self.asked(method, what, bob, (403,), body, **query)
            self.asked(method, what, None, (401,), body, **query)
        self.asked("GET", "/file", alice, (404,), path="new")
        self.assertEqual(self.asked("GET", "/file", admin, (200,),
                                    path="inside"), "INSIDE")
        # A job without code has a folder that is more than its own.
        job = program.JOB.format(command=json.dumps("true"), instances=1, cpu=1)
        status, _, text = self.ask("POST", f"{JOBS}?name=bare&workDir=/etc",
                                   job, alice, content_type="text/yaml")
        self.assertEqual(status, 202, text)
        self.ok("wait", "alice~bare")
        for token in alice, admin:
            for what in "files?path=passwd", "file?path=passwd":
                status, _, text = self.ask(
                    "GET", f"{JOBS}/alice~bare/{what}", token=token)
                self.assertEqual(status, 404, text)
                self.assertIn("no folder of its own", text)
        self.asked("PUT", "/file", alice, (200,), b"", path="end", size=0)
        self.ok("wait", "alice~plant")
        text = self.asked("DELETE", "", alice, (200,), keepFiles=1)
        self.assertEqual(json.loads(text)["kept"], "kept/alice~plant")
        kept = self.root / "kept" / "alice~plant"
        self.assertEqual((kept / "inside").read_text(), "INSIDE")
        # What is kept takes no name.
        self.submit_code(alice, "plant", "print('again')")
        self.ok("wait", "alice~plant")
        self.end(process)
        self.assertEqual((kept / "inside").read_text(), "INSIDE")
