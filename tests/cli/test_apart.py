"""What jobs of several accounts see of a platform of one user: in a sandbox
nothing of its root but what is theirs."""

import json
import os
import subprocess
import unittest

import program
import served

JOBS = "/api/v2/jobs"

# Each line that it prints is something that it should not have found.
LOOK = r"""
cd ROOT
for f in key openpai.db openpai.db-wal lock log jobs/OTHER/0/a-0/stdout
do ! cat "$f" || echo "reads $f"; done 2>/dev/null
! curl -sf --unix-socket ROOT/socket http://x/api/v2/status || echo asks
! touch ROOT/new 2>/dev/null || echo writes
[ "$(echo *)" = jobs ] || echo "sees $(echo *)"
[ "$(echo jobs/*)" = "jobs/OWN" ] || echo "sees $(echo jobs/*)"
[ "$UID" = 0 ] || ! unshare -Urm umount ROOT 2>/dev/null || echo uncovers
echo kept > jobs/OWN/note || echo "has no folder"
"""


@unittest.skipUnless(program.bubblewrap_works(), "needs bubblewrap")
class Apart(served.ServedTest):
    runtime = "auto"

    def account(self, name, admin=False):
        """A new one's token."""
        status, _, text = self.ask("POST", "/api/v2/users", {
            "username": name, "password": name * 3, "email": "",
            "admin": admin, "virtualCluster": ["default"]}, self.login())
        self.assertEqual(status, 201, text)
        return self.login(name, name * 3)

    def submit(self, token, name, command, query="", extras=""):
        """The status and the text of the answer."""
        job = program.JOB.format(command=json.dumps(command), instances=1,
                                 cpu=1) + extras
        status, _, text = self.ask(
            "POST", f"{JOBS}?name={name}{query}", job, token,
            content_type="text/yaml")
        return status, text

    def look(self, own):
        other = "bob~spy" if own == "amy~other" else "amy~other"
        return LOOK.replace("ROOT", str(self.root)).replace(
            "OWN", own).replace("OTHER", other)

    def found(self, job):
        self.ok("wait", job)
        self.assertEqual((self.root / "jobs" / job / "note").read_text(),
                         "kept\n")
        return self.ok("logs", job)

    def test_a_job_sees_what_is_its_own(self):
        process = self.serve()
        bob, amy = self.account("bob"), self.account("amy", admin=True)
        fifo = self.fifo()
        other = f"echo up; read line < {fifo}"
        self.assertEqual(self.submit(amy, "other", other)[0], 202)
        self.until_up("amy~other")
        self.assertEqual(self.submit(bob, "spy", self.look("bob~spy")),
                         (202, '{"status":202,"message":"Update job '
                          'successfully.","name":"spy"}'))
        self.assertEqual(self.found("bob~spy"), "")
        # Where it begins in the root, or above it.
        for n, folder in enumerate((self.root, self.folder, "/tmp")):
            name = f"at{n}"
            status = self.submit(amy, name, self.look(f"amy~{name}"),
                                 f"&workDir={folder}")
            self.assertEqual(status[0], 202, status)
            self.assertEqual(self.found(f"amy~{name}"), "", folder)
        # So does a command that enters it, also after another platform has
        # taken it up.
        for _ in range(2):
            look = self.look("amy~other")
            self.assertEqual(
                self.ok("exec", "amy~other", "--", "bash", "-c", look,
                        stdin=subprocess.DEVNULL), "")
            self.end(process)
            process = self.serve()
        self.release(fifo)
        self.ok("wait", "amy~other")
        self.end(process)

    def test_nobody_asks_for_more(self):
        process = self.serve()
        bob, amy = self.account("bob"), self.account("amy", admin=True)
        plain = "extras: {openpai: {runtime: process}}\n"
        status, text = self.submit(bob, "plain", "true", extras=plain)
        self.assertEqual(status, 403)
        self.assertIn('the runtime \\"process\\" is for administrators', text)
        self.assertEqual(self.submit(amy, "plain", "true", extras=plain)[0],
                         202)
        self.ok("run", "--runtime", "process", "--", "true")
        for folder in "jobs", "code", "jobs/amy~plain":
            (self.root / folder).mkdir(exist_ok=True)
            status, text = self.submit(
                bob, "there", "ls", f"&workDir={self.root}/{folder}")
            self.assertEqual(status, 400)
            self.assertIn("is hidden from jobs", text)
        (self.root / "storages/data").mkdir(parents=True)
        status, text = self.submit(
            bob, "data", "echo x > made", f"&workDir={self.root}/storages/data")
        self.assertEqual(status, 202, text)
        self.ok("wait", "bob~data")
        self.assertTrue((self.root / "storages/data/made").exists())
        self.end(process)

    def warning(self):
        """What a server says at its start, and its status later."""
        said = json.loads(self.ok("status", "--json"))["warning"]
        process = self.run_cli("status")
        self.assertEqual(process.stderr,
                         "" if said is None else f"openpai: warning: {said}\n")
        return said

    def test_what_is_open_is_told(self):
        self.env["OPENPAI_RUNTIME"] = "process"
        process = self.serve()
        self.assertIsNone(self.warning())
        self.account("bob")
        want = ("jobs of all accounts run as root, from whom nothing is "
                "hidden" if os.geteuid() == 0 else
                "jobs of all accounts run as plain processes of this user")
        self.assertIn(want, self.warning())
        process.terminate()
        self.assertNotIn(want, process.communicate(timeout=60)[1])
        process = self.serve()
        process.terminate()
        self.assertEqual(process.communicate(timeout=60)[1].count(want), 1)
        self.env["OPENPAI_RUNTIME"] = "auto"
        process = self.serve()
        if os.geteuid() != 0:
            self.assertIsNone(self.warning())
        self.end(process)


if __name__ == "__main__":
    program.main()
