"""A platform of all users: tricks of its users, and who gets into whose tasks."""

import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys

import program
from test_system import DAEMON, BIN, STRANGER, SystemTest


class SystemTasks(SystemTest):
    # --- tricks -------------------------------------------------------------------

    def test_links_lead_no_further_than_their_owner(self):
        self.up()
        secret = self.folder / "secret"
        secret.write_text("of root alone\n")
        secret.chmod(0o600)
        self.bash(DAEMON, "mine", "echo hidden")
        theirs = self.root / "jobs" / "daemon~mine" / "0" / "main-0" / "all"
        for target in (secret, theirs):
            self.bash(BIN, "link", "d=$(dirname $RUNTIME_LOG_PIPE); "
                      f"for f in stdout all streams runtime; do "
                      f"ln -sf {target} $d/$f; done; "
                      "exit 1", 1)
            for log in ("stdout", "all", "runtime"):
                code, body = self.ask(
                    BIN, "GET", "/api/v2/jobs/bin~link/attempts/0/"
                    f"taskRoles/main/taskIndex/0/attempts/0/logs/{log}")
                self.assertNotIn(b"of root", body)
                self.assertNotIn(b"hidden", body)
            shown = self.as_user(BIN, "show", "link")
            self.assertNotIn("of root", shown.stdout + shown.stderr)
            self.ok(BIN, "rm", "link")
        self.assertEqual(secret.read_text(), "of root alone\n")

    def test_a_folder_in_another_place(self):
        self.up()
        self.bash(DAEMON, "mine", "echo hidden")
        theirs = self.root / "jobs" / "daemon~mine" / "0" / "main-0"
        gate = self.fifo()
        gate.chmod(0o666)
        up = self.folder / "up"
        os.mkfifo(up)
        up.chmod(0o666)
        job = self.job(f"d=$(dirname $RUNTIME_LOG_PIPE); mv $d $d.x; "
                       f"ln -s {theirs} $d; echo up > {up}; "
                       f"read -r x < {gate}; rm $d; mv $d.x $d")
        os.chmod(job, 0o644)
        self.ok(BIN, "submit", job)
        self.assertEqual(up.read_text(), "up\n")
        done = self.as_user(BIN, "logs", "test")
        self.assertNotIn("hidden", done.stdout + done.stderr)
        for log in ("stdout", "all"):
            _, body = self.ask(
                BIN, "GET", "/api/v2/jobs/bin~test/attempts/0/taskRoles/"
                f"a/taskIndex/0/attempts/0/logs/{log}")
            self.assertNotIn(b"hidden", body)
        self.release(gate)
        self.assertEqual(self.as_user(BIN, "wait", "test").returncode, 0)

    def test_a_pipe_holds_nobody_up(self):
        self.up()
        self.bash(BIN, "pipe", "d=$(dirname $RUNTIME_LOG_PIPE); "
                  "rm $d/all; mkfifo $d/all; exit 1", 1)
        self.assertNotEqual(self.as_user(BIN, "logs", "pipe").returncode, 2)
        self.assertIn("pipe", self.ok(BIN, "list"))

    def test_removing_removes_nothing_else(self):
        self.up()
        beside = self.folder / "beside"
        beside.mkdir()
        (beside / "kept").write_text("kept")
        self.bash(BIN, "tree",
                  "cd $(dirname $(dirname $RUNTIME_LOG_PIPE)); "
                  f"ln -s {beside} link; mkdir locked; touch locked/a; "
                  "chmod 0 locked; for i in $(seq 300); do mkdir d && cd d; "
                  f"done; touch f; ln -s {beside} link")
        self.ok(BIN, "rm", "tree")
        self.assertEqual(list((self.root / "jobs").iterdir()), [])
        self.assertEqual((beside / "kept").read_text(), "kept")

    def test_tasks_of_a_user_share_a_limit(self):
        self.up()
        if "pids" not in self.run_cli("status").stdout:
            self.skipTest("there are no control groups")
        look = "grep -o 'openpai-of-[0-9a-f]*' /proc/self/cgroup"
        said = [self.bash(user, f"look{i}", look).split()[-1]
                for i, user in enumerate((BIN, BIN, DAEMON))]
        self.assertRegex(said[0], "^openpai-of-")
        self.assertEqual(said[0], said[1])
        self.assertNotEqual(said[0], said[2])
        # Who has no limit has no group.
        self.assertEqual(self.run_cli(
            "user", "quota", "--set", "processes=none").returncode, 0)
        self.bash(BIN, "free", look, code=1)

    def test_a_forged_status_ends_no_other_process(self):
        self.up()
        victim = subprocess.Popen(["sleep", "60"])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        stat = pathlib.Path(f"/proc/{victim.pid}/stat").read_text()
        ticks = stat.rpartition(") ")[2].split()[19]
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
        gate = self.fifo()
        gate.chmod(0o666)
        pid = self.write("pid", "")
        os.chmod(pid, 0o666)
        pid = pathlib.Path(pid)
        job = self.job(f"echo $$ > {pid}; "
                       "d=$(dirname $RUNTIME_LOG_PIPE); "
                       f"printf 'supervisor {victim.pid} {ticks} "
                       f"{boot.strip()}\\nstarted 1 1 {victim.pid}\\n' "
                       f"> $d/status; echo up; read -r x < {gate}")
        os.chmod(job, 0o644)
        self.ok(BIN, "submit", job)
        env = dict(self.env, HOME="/nonexistent",
                   XDG_STATE_HOME="/nonexistent")
        with subprocess.Popen([program.OPENPAI, "logs", "-f", "test"],
                              env=env, user=BIN, group=65534,
                              extra_groups=[], stdout=subprocess.PIPE) as p:
            self.assertEqual(p.stdout.readline(), b"up\n")
            p.kill()
        task = os.pidfd_open(int(pid.read_text()))
        self.addCleanup(os.close, task)
        self.run_cli("down")
        self.assertEqual(self.run_cli("up", "--system").returncode, 0)
        self.as_user(BIN, "stop", "test")
        self.assertIsNone(victim.poll())
        # Nor does it hide what runs: that was found by its group.
        if "limit memory" in self.run_cli("status").stdout:
            self.assertEqual(select.select([task], [], [], 30)[0], [task])
        else:
            print("SKIPPED: there are no control groups", file=sys.stderr)
            signal.pidfd_send_signal(task, signal.SIGKILL)

    # --- into tasks -----------------------------------------------------------------

    def submit(self, uid, name, command, rest=""):
        job = self.write("job.yaml", f"""\
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: img}}]
taskRoles:
  a:
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0}}
    taskRetryCount: 1
    commands: [{json.dumps(command)}]
{rest}
""")
        os.chmod(job, 0o644)
        self.ok(uid, "submit", job)

    def begin(self, uid, name, *args):
        """The same, when its task has said "up"."""
        self.submit(uid, name, *args)
        env = dict(self.env, HOME="/nonexistent",
                   XDG_STATE_HOME="/nonexistent")
        with subprocess.Popen([program.OPENPAI, "logs", "-f", name], env=env,
                              user=uid, group=65534, extra_groups=[],
                              stdout=subprocess.PIPE) as p:
            for line in p.stdout:
                if line.strip() == b"up":
                    break
            else:
                self.fail("it has not said that it is up")
            p.kill()

    def test_commands_in_ones_own_task(self):
        self.up()
        self.begin(STRANGER, "mine", "cat /proc/self/cgroup; echo up; "
                   "sleep 1000")
        groups = self.ok(STRANGER, "logs", "mine").partition("up\n")[0]
        script = ("id -u; id -G; grep -E '^(Uid|Cap(Prm|Eff|Amb)):' "
                  "/proc/self/status; cat /proc/self/cgroup; cat; exit 3")
        # Root is led to it as its user, too.
        for uid in (STRANGER, 0):
            done = self.as_user(uid, "exec", f"{STRANGER}~mine", "--",
                                "sh", "-c", script, text="input\n")
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            none = "".join(f"Cap{kind}:\t0000000000000000\n"
                           for kind in ("Prm", "Eff", "Amb"))
            self.assertEqual(done.stdout, f"{STRANGER}\n65534\nUid:" +
                             f"\t{STRANGER}" * 4 + f"\n{none}{groups}input\n")
        # By its folder's socket nobody else comes, and by the API neither.
        path = self.root / "jobs" / f"{STRANGER}~mine" / "0" / "a-0" / "enter"
        self.assertEqual((path.stat().st_uid, path.stat().st_mode & 0o777),
                         (STRANGER, 0o600))
        for verb in ("exec", "attach", "ssh"):
            words = ("--", "id") if verb == "exec" else ()
            done = self.as_user(BIN, verb, f"{STRANGER}~mine", *words)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn("belongs to another user", done.stderr)
        stream = (f"/api/v2/jobs/{STRANGER}~mine/taskRoles/a/taskIndex/0/"
                  "stream")
        self.assertEqual(self.ask(BIN, "GET", stream)[0], 403)
        self.assertEqual(self.ask(STRANGER, "GET", stream)[0], 426)

    def test_input_of_a_user(self):
        self.up()
        done = self.as_user(STRANGER, "run", "-i", "--name", "in", "--", "sh",
                            "-c", "id -u; cat", text="input\n")
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"{STRANGER}\ninput\n"), done.stderr)
        self.begin(STRANGER, "tty", "stat -c %u $(tty); echo up; read -r x; "
                   "echo read $x", "extras: {openpai: {tty: true}}")
        done = self.as_user(0, "attach", f"{STRANGER}~tty", text="word\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = self.ok(STRANGER, "logs", "tty").replace("\r", "")
        self.assertTrue(out.startswith(f"{STRANGER}\nup\n"), out)
        self.assertTrue(out.endswith("read word\n"), out)

    def test_a_socket_of_another_in_the_folder(self):
        """It leads no further than its user may go, nor to who is not he."""
        self.up()
        planted = socket.socket(socket.AF_UNIX)
        self.addCleanup(planted.close)
        planted.bind(str(self.folder / "planted"))
        planted.listen()
        os.chmod(self.folder / "planted", 0o666)
        self.begin(DAEMON, "theirs", "echo up; sleep 1000")
        theirs = self.root / "jobs" / "daemon~theirs" / "0" / "a-0" / "enter"
        for i, target in enumerate((self.folder / "planted", theirs)):
            self.begin(BIN, f"mine{i}", "cd $(dirname $RUNTIME_LOG_PIPE); "
                       "until [ -S enter ]; do sleep 0.02; done; "
                       f"ln -sf {target} enter; echo up; sleep 1000")
            for uid in (BIN, 0):
                done = self.as_user(uid, "exec", f"bin~mine{i}", "--", "id")
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assertRegex(done.stderr,
                                 "is not its supervisor|ermission")
            self.ok(BIN, "stop", f"mine{i}")  # for its place

    KEYS = ("d=$(dirname $RUNTIME_LOG_PIPE); mkdir $d/ssh; "
            "echo ssh-ed25519 AAAA > $d/ssh/host_key.pub; ")

    def test_a_key_of_another(self):
        """It is its user's alone, and found by no link."""
        self.up()
        self.begin(DAEMON, "theirs", self.KEYS + "mkdir $d/../ssh; echo their "
                   "secret > $d/../ssh/key; echo up; sleep 1000")
        path = "/api/v2/jobs/daemon~theirs/ssh"
        status, told = self.ask(DAEMON, "GET", path)
        self.assertEqual((status, json.loads(told)["containers"][0]["sshUser"]),
                         (200, "daemon"))
        self.assertEqual(self.ask(DAEMON, "GET", path + "/key"),
                         (200, b'{"privateKey":"their secret\\n"}'))
        for uid in BIN, 0:
            status, told = self.ask(uid, "GET", path + "/key")
            self.assertEqual(status, 403, told)
        attempt = self.root / "jobs" / "daemon~theirs" / "0"
        self.begin(BIN, "mine", self.KEYS + f"ln -s {attempt}/ssh "
                   "$d/../ssh; echo up; sleep 1000")
        status, told = self.ask(BIN, "GET", "/api/v2/jobs/bin~mine/ssh")
        self.assertEqual((status, json.loads(told)["publicKey"]), (200, None))
        status, told = self.ask(BIN, "GET",
                                "/api/v2/jobs/bin~mine/ssh/key")
        self.assertEqual(status, 404, told)

    SPY = """
import os
def say(pid):
    try:
        return [os.readlink(f"/proc/{pid}/fd/{fd}")
                for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError as e:
        return [e.strerror]
def parent(pid):
    text = open(f"/proc/{pid}/stat").read()
    return int(text.rpartition(") ")[2].split()[1])
def is_task(pid):
    return "openpai-task" in open(f"/proc/{pid}/comm").read()
pid = os.getppid()
while not is_task(pid):
    pid = parent(pid)
while is_task(pid):
    print(pid, *say(pid))
    pid = parent(pid)
"""

    def test_nobody_has_the_files_of_groups(self):
        """Opened by root, they move any process, and so give it an end."""
        self.up()
        spy = self.write("spy.py", self.SPY)
        os.chmod(spy, 0o644)
        self.begin(BIN, "spy", f"python3 {spy}; echo up; sleep 1000")
        told = [self.ok(BIN, "logs", "spy"),
                self.ok(BIN, "exec", "spy", "--", "python3", spy)]
        for out in told:
            lines = [l for l in out.splitlines() if l != "up"]
            self.assertGreaterEqual(len(lines), 2)
            self.assertIn("Permission denied", lines[-1])  # the supervisor
            for line in lines[:-1]:
                self.assertIn("/dev/null", line)
            self.assertNotRegex(out, "/tasks|/cgroup.procs")
