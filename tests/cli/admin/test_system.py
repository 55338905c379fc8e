"""A platform of all users: who may do what, and as whom it is done.

Only root can have one.  Users are those that every Debian has, and one that
no list has."""

import io
import json
import os
import pathlib
import re
import select
import socket
import subprocess
import sys
import tarfile
import unittest

import program

DAEMON, BIN, STRANGER = 1, 2, 54321


def can_run():
    """Why there can be no such platform here, or None."""
    if os.geteuid() != 0:
        return "only root can run a platform for all users"
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534",
                           "--clear-groups", program.OPENPAI, "--version"],
                          capture_output=True)
    return None if done.returncode == 0 else "other users cannot run openpai"


WHY_NOT = can_run()
if WHY_NOT is not None:
    print("SKIPPED:", WHY_NOT, file=sys.stderr)


@unittest.skipIf(WHY_NOT is not None, WHY_NOT)
class SystemTest(program.ProgramTest):
    """Has one, whose users ask it."""

    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.root = self.folder / "root"
        self.env["OPENPAI_RUNTIME"] = "process"
        self.env["OPENPAI_SYSTEM_ROOT"] = str(self.root)
        self.env["A_SECRET_OF_ROOT"] = "of root alone"

    def up(self):
        done = self.run_cli("up", "--system")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.env.pop("OPENPAI_RUNTIME")

    def as_user(self, uid, *args, text=None):
        env = dict(self.env, HOME="/nonexistent",
                   XDG_STATE_HOME="/nonexistent")
        env.pop("TMPDIR", None)  # it may be root's alone
        return subprocess.run([program.OPENPAI, *args], env=env, user=uid,
                              group=65534, extra_groups=[], input=text,
                              cwd=self.folder, capture_output=True, text=True,
                              timeout=60)

    def ok(self, uid, *args, **kwargs):
        done = self.as_user(uid, *args, **kwargs)
        self.assertEqual(done.returncode, 0, (args, done.stdout, done.stderr))
        return done.stdout

    def refused(self, uid, part, *args):
        done = self.as_user(uid, *args)
        self.assertNotEqual(done.returncode, 0, args)
        self.assertIn(part, done.stderr)
        self.assertEqual(done.stdout, "")

    def bash(self, uid, name, command, code=0):
        """What a job of that user has printed."""
        done = self.as_user(uid, "run", "--name", name, "--",
                            "bash", "-c", command)
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        return done.stdout

    def ask(self, uid, method, path, body=b""):
        """The status and the body of an answer to that user."""
        script = ("import os, socket, sys\n"
                  "os.setgroups([]); os.setgid(65534)\n"
                  f"os.setuid({uid})\n"
                  "s = socket.socket(socket.AF_UNIX)\n"
                  f"s.connect({str(self.root / 'socket')!r})\n"
                  "s.sendall(sys.stdin.buffer.read())\n"
                  "while True:\n"
                  "  b = s.recv(65536)\n"
                  "  if not b: break\n"
                  "  sys.stdout.buffer.write(b)\n")
        head = (f"{method} {path} HTTP/1.1\r\nHost: x\r\n"
                f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n")
        done = subprocess.run([sys.executable, "-c", script],
                              input=head.encode() + body, capture_output=True,
                              timeout=60)
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        kind = re.search(rb"(?i)content-type: (\S+?)[;\r]", head + b"\r")
        if kind and kind[1] == b"application/json":
            self.described(method, path, status, kind[1].decode(), rest)
        return status, rest

    def read_job(self, command):
        return pathlib.Path(self.job(command)).read_text()


class System(SystemTest):
    def test_tasks_are_their_users(self):
        self.up()
        for uid, name in ((DAEMON, "daemon"), (BIN, "bin"),
                          (STRANGER, str(STRANGER))):
            out = self.bash(uid, "who", "id -u; id -un; echo $USER; "
                            "grep -E '^(Uid|Cap(Prm|Eff|Amb)):' "
                            "/proc/self/status; ls -l /proc/self/fd | wc -l")
            lines = [line.split("| ", 1)[-1] for line in out.splitlines()]
            self.assertIn(str(uid), lines)
            self.assertIn(f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}", lines)
            for kind in ("CapPrm", "CapEff", "CapAmb"):
                self.assertIn(f"{kind}:\t0000000000000000", lines)
            self.assertIn(name, lines)
            # Nobody becomes root again, nor is its supervisor root's.
            self.bash(uid, "back", "python3 -c 'import os; os.setuid(0)'", 1)
            out = self.bash(uid, "parent", "stat -c %u /proc/$PPID")
            self.assertIn(str(uid), out)

    def test_nobody_runs_no_jobs(self):
        """User 65534 stands for many, who would read each other's jobs."""
        self.up()
        body = self.read_job("true").encode()
        code, text = self.ask(65534, "POST", "/api/v2/jobs", body)
        self.assertEqual(code, 403, text)
        self.assertIn("nobody", json.loads(text)["message"])
        self.assertEqual(self.ask(65534, "GET", "/api/v2/jobs")[0], 200)

    def test_processes_of_a_task_are_limited(self):
        """Where control groups can count them (pids.max)."""
        self.up()
        done = self.run_cli("user", "quota", "--set", "processes=20")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.as_user(DAEMON, "run", "--name", "many", "--", "bash",
                            "-c", "for i in {1..60}; do sleep 60 & done; "
                            "kill $(jobs -p); echo all")
        if "no limit by" in done.stdout + done.stderr:
            self.skipTest("there are no control groups here")
        self.assertIn("Resource temporarily unavailable",
                      done.stdout + done.stderr)

    def test_nothing_of_root_is_handed_on(self):
        self.up()
        out = self.ok(DAEMON, "run", "--clean-env", "--name", "env", "--",
                      "bash", "-c", "env; cat /proc/$PPID/environ | "
                      "tr '\\0' '\\n'")
        self.assertIn("LOGNAME=daemon", out)
        self.assertNotIn("of root alone", out)
        self.assertNotIn("OPENPAI_SYSTEM_ROOT", out)
        done = self.as_user(DAEMON, "run", "--", "cat",
                            "/etc/shadow")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("denied", done.stdout + done.stderr)

    def test_roots_own_jobs_are_roots(self):
        self.up()
        done = self.run_cli("run", "--", "id", "-u")
        self.assertEqual((done.returncode, done.stdout.split()[-1]), (0, "0"),
                         done.stderr)

    def test_files_are_for_their_owner_alone(self):
        self.up()
        self.bash(DAEMON, "mine", "echo hidden")
        attempt = self.root / "jobs" / "daemon~mine" / "0"
        for path in [attempt, *attempt.rglob("*")]:
            st = path.lstat()
            self.assertEqual(st.st_uid, DAEMON, path)
            self.assertEqual(st.st_mode & 0o077, 0, path)
        for path in (self.root, self.root / "jobs", attempt.parent):
            self.assertEqual((path.stat().st_uid, path.stat().st_mode & 0o777),
                             (0, 0o711), path)
        for name in ("openpai.db", "lock", "log", "system"):
            self.assertEqual((self.root / name).stat().st_mode & 0o077, 0)
        out = self.bash(BIN, "look", f"ls {self.root}/jobs; "
                        f"cat {attempt}/*/stdout", 1)
        self.assertNotIn("hidden", out)

    def test_files_of_jobs(self):
        """They are used with the rights of the job's user, whoever asks."""
        self.up()
        code = self.folder / "code"
        code.mkdir()
        (code / "x").write_text("mine")
        code.chmod(0o755)
        self.ok(DAEMON, "run", "--name", "own", "--code", str(code), "--",
                "bash", "-c", "mkdir shut; touch shut/f; chmod 0 shut; "
                "echo hidden >dark; chmod 0 dark; ln -s /etc/shadow link")
        path = "/api/v2/jobs/daemon~own"
        for uid in DAEMON, 0:
            status, text = self.ask(uid, "GET", path + "/files?recursive=1")
            self.assertEqual(status, 200, text)
            listed = json.loads(text)
            self.assertEqual([e["path"] for e in listed["entries"]
                              if e["path"][0] != "a"],
                             ["dark", "link", "shut", "x"])
            self.assertEqual(listed["folder"],
                             str(self.root / "code" / "daemon~own"))
            for what, want in (("x", 200), ("dark", 403), ("shut/f", 403),
                               ("link", 400)):
                status, text = self.ask(uid, "GET", f"{path}/file?path={what}")
                self.assertEqual(status, want, text)
            status, text = self.ask(uid, "PUT",
                                    f"{path}/file?path=a/b{uid}&size=2", b"hi")
            self.assertEqual(status, 200, text)
            status, text = self.ask(uid, "PUT",
                                    f"{path}/file?path=shut/b&size=2", b"hi")
            self.assertEqual(status, 403, text)
            made = self.root / "code/daemon~own/a" / f"b{uid}"
            self.assertEqual((made.stat().st_uid, made.read_text()),
                             (DAEMON, "hi"))
        for method, what in (("GET", "/files"), ("GET", "/file?path=x"),
                             ("PUT", "/file?path=y&size=0"),
                             ("DELETE", "?keepFiles=1")):
            status, text = self.ask(BIN, method, path + what)
            self.assertEqual(status, 403, text)
        # Where a job has no folder of its own, what its user may read.
        self.bash(DAEMON, "bare", "cd /; true")
        bare = self.ask(DAEMON, "GET", "/api/v2/jobs/daemon~bare/files")
        self.assertEqual(bare[0], 200, bare)
        folder = json.loads(bare[1])["folder"]
        up = "../" * folder.count("/")
        for uid in DAEMON, 0:
            status, text = self.ask(uid, "GET", "/api/v2/jobs/daemon~bare/"
                                    f"file?path={up}etc/shadow")
            self.assertEqual(status, 400, text)
        status, text = self.ask(DAEMON, "DELETE", path + "?keepFiles=1")
        self.assertEqual(status, 200, text)
        kept = self.root / "kept" / "daemon~own"
        self.assertEqual(json.loads(text)["kept"], str(kept))
        self.assertEqual((kept.parent.stat().st_mode & 0o777,
                          kept.stat().st_uid), (0o711, DAEMON))
        read = subprocess.run(["cat", kept / "x"], user=DAEMON, group=65534,
                              extra_groups=[], capture_output=True, text=True)
        self.assertEqual(read.stdout, "mine", read.stderr)

    def test_a_folder_that_is_closed_to_the_user(self):
        self.up()
        closed = self.folder / "closed"
        closed.mkdir(mode=0o700)
        # It is entered as the user, whatever root may.
        body = self.read_job("true")
        code, _ = self.ask(BIN, "POST", f"/api/v2/jobs?workDir={closed}",
                           body.encode())
        self.assertEqual(code, 202)
        done = self.as_user(BIN, "wait", "test")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("closed", self.ok(BIN, "show", "test"))

    # --- who may ------------------------------------------------------------------

    def test_others_see_the_list_alone(self):
        self.up()
        self.bash(DAEMON, "mine", "echo hidden")
        self.bash(BIN, "mine", "echo of bin")  # the same name
        users = {j["username"] for j in
                 json.loads(self.ok(BIN, "list", "--json"))}
        self.assertEqual(users, {"daemon", "bin"})
        self.assertIn("hidden", self.ok(DAEMON, "logs", "mine"))
        self.assertIn("of bin", self.ok(BIN, "logs", "mine"))
        for args in (("logs",), ("show",), ("stop",), ("rm",), ("events",),
                     ("why",), ("wait",), ("retry",), ("clone",)):
            self.refused(BIN, "belongs to another user", *args, "daemon~mine")
        self.refused(BIN, "administrator", "down")
        self.assertIn("hidden", self.run_cli("logs", "daemon~mine").stdout)
        self.assertEqual(self.run_cli("rm", "daemon~mine").returncode, 0)
        self.assertEqual([p.name for p in (self.root / "jobs").iterdir()],
                         ["bin~mine"])

    def test_once_more(self):
        """One's own job, in the folder where it was begun; by a short name,
        too.  Code is to be sent."""
        self.up()
        self.bash(BIN, "mine", "pwd")
        for verb in "retry", "clone":
            name = self.ok(BIN, verb, "mine").strip()
            self.ok(BIN, "wait", name)
            self.assertEqual(self.ok(BIN, "logs", name), f"{self.folder}\n")

    def test_all_paths_of_a_job_are_closed(self):
        self.up()
        self.bash(DAEMON, "mine", "echo hidden")
        job = "/api/v2/jobs/daemon~mine"
        task = job + "/attempts/0/taskRoles/main/taskIndex/0/attempts"
        for method, path in (("GET", job), ("GET", job + "/config"),
                             ("GET", job + "/attempts/0"), ("GET", task),
                             ("GET", task + "/0/logs"),
                             ("GET", task + "/0/logs/stdout"),
                             ("GET", job + "/follow"), ("GET", job + "/why"),
                             ("GET", job + "/events"), ("PUT", job + "/code"),
                             ("PUT", job + "/tag"), ("DELETE", job + "/tag"),
                             ("PUT", job + "/executionType"),
                             ("DELETE", job),
                             ("GET", "/api/v2/events?job=daemon~mine"),
                             ("GET", "/API//v2/Jobs/daemon%7Emine/follow"),
                             ("POST", "/api/v2/shutdown")):
            code, body = self.ask(BIN, method, path, b"{}")
            self.assertEqual(code, 403, (method, path, body))
            self.assertNotIn(b"hidden", body)
        self.assertEqual(self.ask(DAEMON, "GET", job)[0], 200)

    def test_what_is_like_anothers_is_refused(self):
        self.up()
        self.bash(DAEMON, "mine", "true")
        body = self.read_job("true").encode()
        # A short name is one's own, in paths as here; and there is none.
        for like, wanted in (("daemon~mine", 403), ("mine", 404)):
            code, _ = self.ask(BIN, "POST", f"/api/v2/jobs?like={like}",
                               body)
            self.assertEqual(code, wanted, like)
        code, _ = self.ask(BIN, "PUT",
                           "/api/v2/jobs/x/code?from=daemon~mine")
        self.assertEqual(code, 403)
        for path in ("/api/v2/backup", "/api/v2/export"):
            self.assertEqual(self.ask(BIN, "GET", path)[0], 403)

    def test_all_look_back(self):
        """What was decided is in files of root's; who may see all jobs that
        wait and run may see it, and asks the platform."""
        self.up()
        self.bash(DAEMON, "mine", "true")
        self.assertEqual((self.root / "scheduler.log").stat().st_mode & 0o77, 0)
        for words in (("sched", "story", "mine"), ("at", "-0", "nodes"),
                      ("sched", "replay")):
            told = self.ok(BIN, *words)
            self.assertNotEqual(told, "")
            self.assertEqual(self.run_cli(*words).stdout, told)
        self.assertIn("(request 1) of daemon ",
                      self.ok(BIN, "sched", "story", "daemon~mine"))
        self.assertEqual(self.run_cli("down", "--kill").returncode, 0)
        self.refused(BIN, "no platform runs there", "sched", "show",
                     "--root", str(self.root))

    def test_a_name_says_nothing_of_who_asks(self):
        self.up()
        body = self.read_job("true").replace("name: test", "name: root~x")
        self.assertEqual(self.ask(BIN, "POST", "/api/v2/jobs",
                                  body.encode())[0], 400)
        body = self.read_job("id -u")
        code, _ = self.ask(BIN, "POST",
                           "/api/v2/jobs?user=root&username=root&name=x",
                           body.encode())
        self.assertEqual(code, 202)
        self.assertEqual(self.as_user(BIN, "wait", "x").returncode, 0)
        self.assertEqual("2\n", self.ok(BIN, "logs", "bin~x"))

    def test_nobody_keeps_others_out(self):
        self.up()
        script = ("import os, select, socket, sys\n"
                  "os.setgroups([]); os.setgid(65534); os.setuid(2)\n"
                  "all = [socket.socket(socket.AF_UNIX) for i in range(900)]\n"
                  "p = select.poll()\n"
                  "for s in all:\n"
                  f"  s.connect({str(self.root / 'socket')!r})\n"
                  "  p.register(s, select.POLLIN)\n"
                  "gone = 0\n"
                  "while gone < 650:\n"
                  "  for fd, _ in p.poll():\n"
                  "    p.unregister(fd); gone += 1\n"
                  "print(gone, len(p.poll(0)), flush=True)\n"
                  "sys.stdin.read()\n")
        with subprocess.Popen([sys.executable, "-c", script],
                              stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as p:
            self.assertEqual(p.stdout.readline(), b"650 0\n")
            self.assertEqual(self.as_user(BIN, "list").returncode, 1)
            self.ok(DAEMON, "list")
            p.stdin.close()
        while self.as_user(BIN, "list").returncode != 0:
            pass  # until the platform has seen them go

    # --- code ---------------------------------------------------------------------

    def archive(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            info = tarfile.TarInfo("go.sh")
            info.size = 6
            tar.addfile(info, io.BytesIO(b"id -u\n"))
        return out.getvalue()

    def test_code_is_sent(self):
        self.up()
        code = self.folder / "code"
        code.mkdir()
        (code / "go.sh").write_text("id -u; pwd\n")
        (code / ("long" * 50)).write_text("x")
        code.chmod(0o755)
        for path in code.iterdir():
            path.chmod(0o644)
        job = self.job("bash go.sh; ls")
        os.chmod(job, 0o644)
        self.ok(DAEMON, "submit", "--code", str(code), job)
        self.assertEqual(self.as_user(DAEMON, "wait", "test").returncode, 0)
        out = self.ok(DAEMON, "logs", "test")
        self.assertEqual(out.splitlines(),
                         ["1", str(self.root / "code" / "daemon~test"),
                          "go.sh", "long" * 50])
        for path in (self.root / "code" / "daemon~test").rglob("*"):
            self.assertEqual(path.lstat().st_uid, DAEMON)

    def test_code_of_another_is_not_taken(self):
        self.up()
        code, body = self.ask(DAEMON, "PUT", "/api/v2/jobs/x/code",
                              self.archive())
        self.assertEqual(code, 201)
        folder = json.loads(body)["codeDir"]
        self.assertEqual(os.lstat(folder).st_uid, DAEMON)
        body = self.read_job("bash go.sh").encode()
        path = f"/api/v2/jobs?codeDir={folder}"
        self.assertEqual(self.ask(BIN, "POST", path, body)[0], 400)
        self.assertEqual(self.ask(DAEMON, "POST", path, body)[0], 202)

    # --- its life -----------------------------------------------------------------

    def test_tasks_are_adopted(self):
        self.up()
        gate = self.fifo()
        gate.chmod(0o666)
        job = self.job(f"echo up; read -r x < {gate}; id -u; exit 7")
        os.chmod(job, 0o644)
        self.ok(STRANGER, "submit", job)
        self.assertEqual(self.run_cli("down").returncode, 0)
        self.assertEqual(self.run_cli("up", "--system").returncode, 0)
        self.release(gate)
        self.assertEqual(self.as_user(STRANGER, "wait", "test").returncode, 7)
        self.assertEqual(self.ok(STRANGER, "logs", "test"), f"up\n{STRANGER}\n")

    def test_a_root_is_of_one_kind(self):
        self.up()
        self.assertEqual(self.run_cli("down").returncode, 0)
        done = self.run_cli("up", "--root", str(self.root))
        self.assertEqual(done.returncode, 1)
        self.assertIn("of all users' platform", done.stderr)
        own = self.folder / "own"
        self.assertEqual(self.run_cli("up", "--root", str(own)).returncode, 0)
        self.assertEqual(self.run_cli("down", "--root", str(own)).returncode,
                         0)
        done = self.run_cli("up", "--system", "--root", str(own))
        self.assertEqual(done.returncode, 1)
        self.assertIn("of one user's platform", done.stderr)

    def test_a_root_that_users_cannot_reach(self):
        self.folder.chmod(0o700)
        done = self.run_cli("up", "--system")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"they cannot enter {self.folder}", done.stderr)

    def test_only_root_can(self):
        self.refused(BIN, "only root", "up", "--system")

    # --- which is asked -----------------------------------------------------------

    def test_ones_own_comes_first(self):
        self.up()
        done = self.run_cli("status", "--json")
        self.assertEqual(json.loads(done.stdout)["root"], str(self.root))
        self.assertTrue(json.loads(done.stdout)["system"])
        self.assertEqual(self.run_cli("up").returncode, 0)
        own = json.loads(self.run_cli("status", "--json").stdout)
        self.assertEqual(own["root"],
                         str(self.folder / "state" / "openpai"))
        self.assertFalse(own["system"])
        self.env["OPENPAI_ROOT"] = str(self.root)
        done = self.run_cli("status")
        self.assertIn(f"{self.root}, of all users", done.stdout)

    def test_a_planted_socket(self):
        """Somebody else's in the place of the platform's."""
        self.root.mkdir()
        self.root.chmod(0o755)  # whatever the umask
        planted = socket.socket(socket.AF_UNIX)
        self.addCleanup(planted.close)
        planted.bind(str(self.root / "socket"))
        planted.listen()
        os.chmod(self.root / "socket", 0o666)
        os.chown(self.root / "socket", BIN, BIN)
        for uid in (0, DAEMON):
            done = self.as_user(uid, "list")
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("belongs to another user: 2", done.stderr)
        # The file is root's, and who listens is not.
        os.chown(self.root / "socket", 0, 0)
        (self.root / "socket").unlink()
        script = ("import os, socket, sys\n"
                  "s = socket.socket(socket.AF_UNIX)\n"
                  f"s.bind({str(self.root / 'socket')!r})\n"
                  "os.setgid(65534); os.setuid(65534); s.listen()\n"
                  "print('up', flush=True); sys.stdin.read()\n")
        with subprocess.Popen([sys.executable, "-c", script],
                              stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as p:
            p.stdout.readline()
            os.chmod(self.root / "socket", 0o666)
            done = self.as_user(DAEMON, "list")
            self.assertEqual(done.returncode, 1)
            self.assertIn("another user listens", done.stderr)
            p.stdin.close()
