"""ssh(1) into tasks of a server elsewhere: whose the key is, where it lies."""

import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import unittest

import served
from entered import JOB, Terminal


def heeds_signals():
    """Whoever began the tests may have had them ignored."""
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)

PLUGIN = """\
extras:
  com.microsoft.pai.runtimeplugin:
    - {plugin: ssh, parameters: {%s}}"""


@unittest.skipUnless(shutil.which("sshd", path="/usr/sbin:/usr/bin") and
                     shutil.which("ssh"), "needs OpenSSH")
class SshFar(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.env["PATH"] = "/usr/bin:/bin:/usr/sbin"  # without a keyring
        self.keys = self.folder / "runtime"
        self.keys.mkdir(mode=0o700)
        self.env["XDG_RUNTIME_DIR"] = str(self.keys)
        self.server = self.serve()
        self.enlist("lab", self.url)
        self.env["OPENPAI_CLUSTER"] = "lab"

    def waits(self, name="j", plugin="jobssh: true", instances=1):
        path = self.write(name + ".yaml", JOB.format(
            name=name, command=json.dumps("echo up; sleep 1000"),
            instances=instances, memory=200,
            rest=PLUGIN % plugin if plugin else ""))
        self.ok("submit", path)
        self.until_up(name, instances)

    def refused(self, part, *args, code=125):
        return super().refused(code, part, "ssh", *args,
                               stdin=subprocess.DEVNULL)

    def key(self, name="admin~j"):
        return next((self.root / "jobs").glob(name + "/0/ssh/key"))

    def none_left(self):
        self.assertEqual(list(self.keys.iterdir()), [])

    # --- one gets in ---

    def test_the_key_comes_and_goes(self):
        self.waits()
        done = self.run_cli("ssh", "j", "--", "cat; echo $PAI_JOB_NAME >&2; "
                            "exit 8", input="x\n")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (8, "x\n", "admin~j\n"))
        self.none_left()
        process = self.start("ssh", "j", "--", "echo in; cat",
                             stdin=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "in\n")
        folder, = self.keys.iterdir()
        key = folder / "key"
        self.assertEqual([p.stat().st_mode & 0o777 for p in (folder, key)],
                         [0o700, 0o600])
        self.assertEqual(key.read_text(), self.key().read_text())
        process.communicate("bye\n")
        self.assertEqual(process.returncode, 0)
        self.none_left()
        way = json.loads(self.ok("ssh", "--json", "j"))
        self.assertEqual((way["host"], way["command"]), ("127.0.0.1", None))
        self.none_left()

    def test_it_goes_with_a_signal(self):
        self.waits()
        for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
            process = self.start("ssh", "j", "--", "echo in; sleep 1000",
                                 stdin=subprocess.DEVNULL,
                                 preexec_fn=heeds_signals)
            self.assertEqual(process.stdout.readline(), "in\n")
            self.assertEqual(len(list(self.keys.iterdir())), 1)
            process.send_signal(number)
            process.communicate(timeout=60)
            self.assertIn(process.returncode, (128 + number, 255), number)
            self.none_left()

    def test_it_goes_with_ctrl_c(self):
        self.waits()
        t = Terminal(self, "ssh", "j", "--", "echo in; sleep 1000")
        t.until("in\r\n")
        self.assertEqual(len(list(self.keys.iterdir())), 1)
        t.type("\x03")
        self.assertIn(t.code(), (130, 255))
        self.none_left()

    def test_a_terminal(self):
        self.waits()
        t = Terminal(self, "ssh", "j")
        t.type("stty size; exit 9\n")
        t.until("33 101\r\n")
        self.assertEqual(t.code(), 9)
        self.none_left()

    def test_the_servers_own_machine(self):
        """Its tasks are at 127.0.0.1 for it, and for others where it is."""
        self.waits()
        self.enlist("name", self.url.replace("127.0.0.1", "localhost"))
        self.env["OPENPAI_CLUSTER"] = "name"
        way = json.loads(self.ok("ssh", "--json", "j"))
        self.assertEqual(way["host"], "localhost")
        done = self.run_cli("ssh", "j", "--", "echo in",
                            stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, "in\n"),
                         done.stderr)

    def test_one_of_several(self):
        self.waits(instances=2)
        process = self.start("logs", "-f", "--task", "a/1", "j")
        self.assertEqual(process.stdout.readline(), "up\n")
        process.kill()
        self.refused("has several running tasks", "j")
        done = self.run_cli("ssh", "--task", "a/1", "j", "--",
                            "echo $PAI_TASK_INDEX", stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"),
                         done.stderr)

    def test_ones_own_key(self):
        """Of a job without one of its own."""
        key = self.folder / "own"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                        key], check=True, timeout=60)
        public = key.with_suffix(".pub").read_text().strip()
        self.waits(plugin="jobssh: false, userssh: {type: custom, value: "
                   f"'{public}'}}")
        agent = self.folder / "agent"
        with subprocess.Popen(["ssh-agent", "-D", "-a", agent],
                              stdout=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            process.stdout.readline()
            self.env["SSH_AUTH_SOCK"] = str(agent)
            subprocess.run(["ssh-add", "-q", key], env=self.env, check=True,
                           timeout=60)
            done = self.run_cli("ssh", "j", "--", "echo in",
                                stdin=subprocess.DEVNULL)
            process.kill()
        self.assertEqual((done.returncode, done.stdout), (0, "in\n"),
                         done.stderr)
        self.none_left()

    # --- one does not ---

    def test_there_is_none(self):
        self.waits("bare", plugin=None)
        self.refused("has no sshd", "bare")
        self.refused("not found", "nope")
        self.none_left()

    def test_it_cannot_be_reached(self):
        self.waits()
        task = next((self.root / "jobs").glob("*~j/0/a-0/ssh"))
        pid = int((task / "sshd.pid").read_text())
        end = os.pidfd_open(pid)
        self.addCleanup(os.close, end)
        os.kill(pid, signal.SIGKILL)
        select.select([end], [], [], 30)
        said = self.refused("cannot connect to the task's sshd",
                            "j", "--", "true", code=255)
        self.assertIn("help: openpai exec", said)
        self.none_left()

    def test_a_stranger_at_its_port(self):
        """Who has another host key gets no further."""
        self.waits()
        task = next((self.root / "jobs").glob("*~j/0/a-0/ssh"))
        (task / "host_key.pub").write_text(
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43 + "\n")
        done = self.run_cli("ssh", "j", "--", "true",
                            stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 255)
        self.assertIn("ost key", done.stderr)
        self.none_left()

    def test_what_a_server_says(self):
        """It becomes no option, no line and no other host's key."""
        self.waits()
        task = next((self.root / "jobs").glob("*~j/0/a-0/ssh"))
        for line in "@cert-authority * ssh-ed25519 AAAA", "x", "a b;c", "":
            (task / "host_key.pub").write_text(line + "\n")
            self.refused("invalid address, user or key", "j")
        self.none_left()

    # --- whose it is ---

    def users(self):
        self.ok("user", "add", "bob", "--password-file", "-",
                input="password of bob\n")
        return self.login(), self.login("bob", "password of bob")

    def test_it_is_its_users_alone(self):
        admin, bob = self.users()
        self.enlist("his", self.url, "bob", "password of bob")
        self.env["OPENPAI_CLUSTER"] = "his"
        self.waits()
        text = self.key("bob~j").read_text()
        path = "/api/v2/jobs/bob~j/ssh"
        status, headers, told = self.ask("GET", path + "/key", token=bob)
        self.assertEqual((status, json.loads(told)),
                         (200, {"privateKey": text}))
        self.assertIn("no-store", headers["Cache-Control"])
        self.assertIsNone(headers["ETag"])
        status, _, program_ = self.ask("POST", "/api/v2/tokens/application",
                                       {}, token=bob)
        self.assertEqual(status, 200, program_)
        for token, want in ((json.loads(program_)["token"], 200),
                            (admin, 403), (None, 401)):
            status, _, told = self.ask("GET", path + "/key", token=token)
            self.assertEqual(status, want, told)
            self.assertEqual("PRIVATE" in told, want == 200)
        # How it is reached is no secret.
        for token in admin, bob:
            status, _, told = self.ask("GET", path, token=token)
            self.assertEqual(status, 200)
            self.assertNotIn("PRIVATE", told)
        public = (self.key("bob~j").parent / "key.pub").read_text().strip()
        self.assertEqual(json.loads(told)["publicKey"], public)
        self.env["OPENPAI_CLUSTER"] = "lab"
        self.refused("only the owner", "bob~j")
        # That it was taken is noted, and by whom; not what it is.
        notes = json.loads(self.ask("GET", "/api/v2/audit", token=admin)[2])
        mine = [(n["user"], n["status"]) for n in notes
                if n["what"] == f"GET {path}/key"]
        self.assertEqual(sorted(set(mine)), [("admin", 403), ("bob", 200)])
        secret = re.search(r"\n([^-\n]{40,})\n", text)[1]
        for said in json.dumps(notes), told, self.ask(
                "GET", "/api/v2/jobs/bob~j", token=bob)[2]:
            self.assertNotIn(secret, said)
        self.ok("stop", "--now", "bob~j", "--cluster", "his")
        self.server.send_signal(signal.SIGTERM)
        out, err = self.server.communicate(timeout=60)
        self.assertNotIn(secret, out + err)
        for log in self.root.glob("*log*"):
            if log.is_file():
                self.assertNotIn(secret.encode(), log.read_bytes())

    def test_it_is_over_with_the_job(self):
        self.waits()
        path = "/api/v2/jobs/admin~j/ssh"
        token = self.login()
        self.assertEqual(self.ask("GET", path + "/key", token=token)[0], 200)
        self.ok("stop", "--now", "j")
        self.run_cli("wait", "--quiet", "j")
        self.assertTrue(self.key().exists())
        for of in path, path + "/key":
            status, _, told = self.ask("GET", of, token=token)
            self.assertEqual((status, json.loads(told)["code"]),
                             (404, "NoJobSshInfoError"))

    def test_a_link_leads_nowhere(self):
        self.waits()
        other = pathlib.Path(self.write("other", "PRIVATE\n"))
        key = self.key()
        key.rename(key.with_name("old"))
        key.symlink_to(other)
        status, _, told = self.ask("GET", "/api/v2/jobs/admin~j/ssh/key",
                                   token=self.login())
        self.assertEqual(status, 404, told)
