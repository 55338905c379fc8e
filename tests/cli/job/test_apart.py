"""What jobs of several accounts see of a platform of one user: in a sandbox
nothing of its root but what is theirs."""

import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
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


# What a hostile account tries from a job: each line is a door that is open.
ATTACK = r"""
import ctypes, os, socket
ROOT, SERVER = "@ROOT@", @SERVER@
SHARED = int(os.environ["PAI_TASK_ROLE_TASK_COUNT_a"]) > 1
def door(name, attempt):
    try:
        found = attempt()
    except (OSError, ValueError):
        return
    if found:
        print(name, found if isinstance(found, str) else "", flush=True)
def read(path):
    with open(path, "rb") as file:
        return len(file.read(1)) == 1
def asks(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
    return True
def attach(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, pid, 0, 0) < 0:  # PTRACE_ATTACH
        return False
    os.waitpid(pid, 0)
    return libc.ptrace(17, pid, 0, 0) == 0
libc = ctypes.CDLL(None)
libc.setns.argtypes = [ctypes.c_int, ctypes.c_int]
def enter(pid):
    with open(f"/proc/{pid}/ns/mnt") as ns:
        other = os.stat("/proc/self/ns/mnt").st_ino != os.fstat(
            ns.fileno()).st_ino
        return other and libc.setns(ns.fileno(), 0) == 0
door("signals the server", lambda: os.kill(SERVER, 0) is None and
     "serve" in open(f"/proc/{SERVER}/cmdline").read())
for name in "key", "openpai.db", "lock", "log":
    door("reads " + name, lambda: read(ROOT + "/" + name))
door("asks", lambda: asks(ROOT + "/socket"))
for path in "/run/user", "/run/docker.sock", "/var/run/docker.sock":
    door("sees " + path, lambda: os.path.exists(path))
for path in @HOME@ + "/secret", @HOME@ + "/.ssh/id":
    door("reads " + path, lambda: read(path))
for path in "/etc", "/usr":
    door("writes " + path, lambda: open(path + "/x", "w") and True)
try:  # what is there is its own
    open("@MACHINE@/x", "w").close()
except OSError:
    pass
for path in os.listdir("/dev/pts"):
    door("has terminal " + path, lambda: path != "ptmx")
for path in "/dev/kvm", "/dev/fuse":
    door("has " + path, lambda: os.path.exists(path))
door("asks an abstract socket", lambda: asks("\0@ABSTRACT@"))
with open(os.environ["HOME"] + "/own", "w") as file:
    file.write("what the job keeps at home\n")
for pid in sorted(int(p) for p in os.listdir("/proc") if p.isdigit()):
    door(f"sees {pid}", lambda: pid > 1 and any(
        w in open(f"/proc/{pid}/cmdline").read()
        for w in ("\0serve\0", "/openpai", "bwrap")))
    for name in "key", "openpai.db":
        door(f"{pid}: reads {name}",
             lambda: read(f"/proc/{pid}/root{ROOT}/{name}"))
    door(f"{pid}: asks", lambda: asks(f"/proc/{pid}/root{ROOT}/socket"))
    door(f"{pid}: enters", lambda: enter(pid))
for fd in os.listdir("/proc/self/fd"):  # nothing is inherited
    door(f"inherits {fd}", lambda: int(fd) > 2 and os.readlink(
        f"/proc/self/fd/{fd}"))
door("traces the first process", lambda: SHARED and attach(1))
door("ends the first process", lambda: SHARED and (
    os.kill(1, 9), os.kill(1, 19)) and not os.path.exists("/proc/1"))
print("looked", flush=True)
"""


# Puts a link in the place of each /tmp of its siblings that it can reach, until
# all of them were there.
LEAD = r"""
import os
os.chdir(os.path.dirname(os.environ["RUNTIME_LOG_PIPE"]) + "/..")
while not all(os.path.exists(str(i)) for i in range(4)):
    for folder in os.listdir("."):
        try:
            if not os.path.islink(folder + "/tmp"):
                os.rename(folder + "/tmp", folder + "/old")
                os.symlink("@ROOT@", folder + "/tmp")
        except OSError:
            pass
"""

# With one CPU more than its first task has, the others begin one by one.
TOGETHER = """\
protocolVersion: 2
name: race
type: job
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
taskRoles:
  lead:
    dockerImage: x
    completion: {{minFailedInstances: 1, minSucceededInstances: 1}}
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0}}
    commands: [{lead}]
  follow:
    instances: 4
    dockerImage: x
    completion: {{minFailedInstances: 5}}
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0}}
    commands: [{follow}]
extras: {{gangAllocation: false}}
"""


@unittest.skipUnless(program.bubblewrap_works(), "needs bubblewrap")
class Apart(served.ApartTest):
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
        done = self.run_cli("wait", job)
        self.assertEqual(done.returncode, 0, self.run_cli("show", job).stdout)
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

    def test_no_door_leads_to_the_administrator(self):
        """Neither from a job of one task nor from one whose tasks share their
        processes, at its start or by a command that enters it."""
        machine = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, machine)
        home = machine / "home"
        (home / ".ssh").mkdir(parents=True)
        for path in machine, home, home / ".ssh":
            for name in "secret", "id":
                (path / name).write_text("the operator's\n")
            for path in path, path / "secret", path / "id":
                if self.who:
                    os.chown(path, self.who["user"], self.who["group"])
        self.env["HOME"] = str(home)
        process = self.serve()
        bob = self.account("bob")
        script = self.folder / "storages" / "attack.py"
        self.made(script.parent)
        # As the user's session has them: X11, D-Bus.
        abstract = socket.socket(socket.AF_UNIX)
        self.addCleanup(abstract.close)
        abstract.bind("\0openpai-%d" % os.getpid())
        abstract.listen(64)
        text = ATTACK
        for name, value in {"ROOT": self.root, "SERVER": process.pid,
                            "HOME": repr(str(home)), "MACHINE": machine,
                            "ABSTRACT": "openpai-%d" % os.getpid()}.items():
            text = text.replace(f"@{name}@", str(value))
        script.write_text(text)
        for instances in 1, 2:
            # Before a sandbox is made, who makes it is seen by its siblings.
            command = ("d=$(dirname $RUNTIME_LOG_PIPE)/..; "
                       "touch $d/up-$PAI_TASK_INDEX; "
                       f"until [ -e $d/up-0 -a -e $d/up-{instances - 1} ]; "
                       f"do sleep 0.05; done; python3 {script}; sleep 1; "
                       f"python3 {script}")
            name = f"attack{instances}"
            job = program.JOB.format(command=json.dumps(command),
                                     instances=instances, cpu=1)
            status, _, text = self.ask(
                "POST", f"{JOBS}?name={name}&workDir={script.parent}", job,
                bob, content_type="text/yaml")
            self.assertEqual(status, 202, text)
            self.ok("wait", f"bob~{name}")
            for i in range(instances):
                said = self.ok("logs", f"bob~{name}", "--task",
                               f"a/{i}")
                self.assertEqual(said, "looked\nlooked\n", f"{name} {i}")
            self.assertFalse((machine / "x").exists())
            self.assertFalse((home / "own").exists())
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
        tmp = "extras: {openpai: {folders: [/tmp/a]}}\n"
        status, text = self.submit(bob, "tmp", "true", extras=tmp)
        self.assertEqual(status, 403)
        self.assertIn("extras.openpai.folders is for administrators", text)
        self.assertEqual(self.submit(amy, "tmp", "true", extras=tmp)[0], 202)
        inside = tmp.replace("/tmp/a", f"{self.root}/jobs")
        status, text = self.submit(amy, "inside", "true", extras=inside)
        self.assertEqual(status, 400)
        self.assertIn("cannot see the platform's root", text)
        self.ok("run", "--runtime", "process", "--", "true")
        for folder in "jobs", "code", "jobs/amy~plain":
            self.made(self.root / folder)
            status, text = self.submit(
                bob, "there", "ls", f"&workDir={self.root}/{folder}")
            self.assertEqual(status, 400)
            self.assertIn("jobs cannot see the platform's root", text)
        self.made(self.root / "storages/data")
        status, text = self.submit(
            bob, "data", "echo x > made", f"&workDir={self.root}/storages/data")
        self.assertEqual(status, 202, text)
        self.ok("wait", "bob~data")
        self.assertTrue((self.root / "storages/data/made").exists())
        self.end(process)

    def test_no_link_in_a_storage_leads_out(self):
        """Neither into the user's home, nor to where the user may write."""
        machine = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, machine)
        for path in machine / "home", machine / "other":
            path.mkdir()
            (path / "secret").write_text("the operator's\n")
        if self.who:
            for path in machine, *machine.rglob("*"):
                os.chown(path, self.who["user"], self.who["group"])
        self.env["HOME"] = str(machine / "home")
        process = self.serve()
        bob = self.account("bob")
        data = self.root / "storages/data"
        self.made(data)
        cpus = json.loads(self.ok("status", "--json"))["machine"]["cpus"]
        for name, to in (("home", machine / "home"),
                         ("other", machine / "other"), ("root", self.root),
                         ("inside", None)):
            self.made(data / name)
            # While it waits, a folder becomes a link.
            gate = self.fifo()
            self.ok("submit", self.write("holds.yaml", program.JOB.format(
                command=json.dumps(f"echo up; read -r x < {gate}"),
                instances=1, cpu=cpus)), "--name", f"holds-{name}")
            self.until_up(f"holds-{name}")
            status, text = self.submit(bob, name, "ls -A; touch made",
                                       f"&workDir={data}/{name}")
            self.assertEqual(status, 202, text)
            if to is not None:
                (data / name).rmdir()
                (data / name).symlink_to(to)
            self.release(gate)
            gate.unlink()
            code = self.run_cli("wait", f"bob~{name}").returncode
            said = self.ok("show", f"bob~{name}")
            self.assertEqual(" is a link to " in said, to is not None, said)
            self.assertEqual(code == 0, to is None, said)
            self.assertEqual((data / name / "made").exists(), to is None)
        self.end(process)

    def test_a_container_begins_in_no_home(self):
        """Which it would be shown, to be written."""
        machine = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, machine)
        engine, tools = self.folder / "engine", self.folder / "bin"
        for path in machine / "home", machine / "other", engine, tools:
            path.mkdir()
        (engine / "images").write_text("x\n")
        (tools / "podman").symlink_to(
            pathlib.Path(__file__).resolve().parent / "fake_engine")
        if self.who:
            for path in engine, *machine.rglob("*"):
                os.chown(path, self.who["user"], self.who["group"])
        machine.chmod(0o755)
        self.env.update(HOME=str(machine / "home"), FAKE_ENGINE=str(engine),
                        CONTAINERS_CONF="/dev/null",
                        PATH=f"{tools}:{self.env['PATH']}")
        process = self.serve()
        bob = self.account("bob")
        for name, folder, why in (
                ("home", machine / "home", "the home folder"),
                ("run", "/run", "/run is hidden from jobs"),
                ("other", machine / "other", "")):
            status, text = self.submit(
                bob, name, "echo ran", f"&workDir={folder}",
                "extras: {openpai: {runtime: podman}}\n")
            self.assertEqual(status, 202, text)
            code = self.run_cli("wait", f"bob~{name}").returncode
            said = self.ok("show", f"bob~{name}")
            self.assertEqual(code == 0, why == "", said)
            self.assertIn(why, said)
        words = (engine / "words").read_text()
        self.assertNotIn(str(machine / "home"), words)
        self.assertIn(f'"target={machine}/other",readonly', words)
        self.end(process)

    def test_no_task_shows_another_what_is_hidden(self):
        """One that begins later is not led elsewhere by a link that a sibling
        has put in the place of a folder of its own."""
        process = self.serve()
        bob = self.account("bob")
        script = base64.b64encode(
            LEAD.replace("@ROOT@", str(self.root)).encode()).decode()
        job = TOGETHER.format(
            lead=json.dumps(f"echo {script} | base64 -d | python3 -"),
            follow=json.dumps("ls /tmp; touch $(dirname "
                              "$RUNTIME_LOG_PIPE)/../$PAI_TASK_INDEX"))
        status, _, text = self.ask("POST", JOBS, job, bob,
                                   content_type="text/yaml")
        self.assertEqual(status, 202, text)
        self.ok("wait", "bob~race")
        for i in range(4):
            said = self.ok("logs", "bob~race", "--task", f"follow/{i}")
            for name in "key", "openpai.db", "socket":
                self.assertNotIn(name, said.split(), i)
        self.end(process)

    def test_a_task_has_no_other_end_than_its_own(self):
        """Not that of the task to whose folder it leads."""
        process = self.serve()
        bob, amy = self.account("bob"), self.account("amy", admin=True)
        fifo = self.fifo()
        self.submit(amy, "other", f"echo up; read line < {fifo}")
        self.until_up("amy~other")
        status, text = self.submit(
            bob, "liar", "cd $(dirname $RUNTIME_LOG_PIPE)/..; mv a-0 b; "
            f"ln -s {self.root}/jobs/amy~other/0/a-0 a-0; exit 3")
        self.assertEqual(status, 202, text)
        self.run_cli("wait", "bob~liar")
        shown = json.loads(self.ok("show", "--json", "bob~liar"))
        self.assertEqual(shown["jobStatus"]["state"], "FAILED")
        self.assertNotIn(str(self.root), json.dumps(self.ask(
            "GET", f"{JOBS}/bob~liar/attempts/0/taskRoles/a/taskIndex/0/"
            "attempts/0/logs/all", token=bob)[2]))
        self.release(fifo)
        self.ok("wait", "amy~other")
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
        want = "jobs of all accounts run as plain processes of this user"
        self.assertIn(want, self.warning())
        process.terminate()  # it was said when there were two
        self.assertEqual(process.communicate(timeout=60)[1].count(want), 1)
        process = self.serve()
        process.terminate()
        self.assertEqual(process.communicate(timeout=60)[1].count(want), 1)
        self.env["OPENPAI_RUNTIME"] = "auto"
        process = self.serve()
        self.assertIsNone(self.warning())
        self.end(process)


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class AsRoot(served.ServedTest):
    def test_root_serves_one_account_or_is_told_to(self):
        want = "jobs of all of them would run as root"
        process = self.start("serve", "--listen", "127.0.0.1:0")
        self.until_served(process)
        password = self.write("password", "correct horse 2\n")
        done = self.run_cli("user", "add", "--password-file", password, "bob")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: jobs of all accounts run as root", done.stderr)
        process.terminate()
        self.assertEqual(process.communicate(timeout=60)[1].count(
            "jobs of all accounts run as root"), 1)
        for verb in ("serve",), ("up",), ("up", "--foreground"):
            done = self.run_cli(*verb, "--listen", "127.0.0.1:0")
            self.assertEqual(done.returncode, 1)
            self.assertIn(want, done.stderr)
            self.assertIn("--system", done.stderr)
        # Its socket is its own, and whoever insists may.
        self.ok("up")
        self.ok("down")
        self.ok("up", "--listen", "127.0.0.1:0", "--jobs-as-root")
        self.ok("down")

    def until_served(self, process):
        while line := process.stdout.readline():
            if "serves at http" in line:
                return
        self.fail(process.communicate()[1])
