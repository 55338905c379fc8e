"""Carries launch plans out: what bash makes of the scripts of real jobs.

Usage: plans.py PROGRAM, the program being plans.  A back end does more, and
has tests of its own; here a task is bash, its folder and its environment.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[2]))
from startup import hide_startup_file

PLANS = sys.argv.pop(1)

# A job of one role; what differs is put in.
JOB = """
protocolVersion: 2
name: train
type: job
prerequisites:
  - {name: image, type: dockerimage, uri: "python:3"}
%(prerequisites)s
parameters: {word: hello, dir: "it's here"}
secrets: {key: s3cret}
taskRoles:
  Worker_A:
    instances: %(instances)d
    dockerImage: image
    resourcePerInstance: {cpu: 2, memoryMB: 64, gpu: 0}
%(role)s
    commands:
%(commands)s
extras:
%(extras)s
"""


def job(*commands, instances=1, prerequisites="", role="", extras=""):
    return JOB % {
        "instances": instances, "prerequisites": prerequisites,
        "role": role, "extras": extras or "  none: 0",
        "commands": "\n".join("      - " + json.dumps(c) for c in commands)}


def plugins(*items):
    return "  com.microsoft.pai.runtimeplugin:\n" + "\n".join(
        "    - " + json.dumps(item) for item in items)


def free_ports(count):
    """The first of so many ports in a row that nobody listens on."""
    for first in range(21000 + os.getpid() % 9000, 40000, count):
        with contextlib.ExitStack() as held:
            try:
                for port in range(first, first + count):
                    s = held.enter_context(socket.socket())
                    s.bind(("127.0.0.1", port))
                return first
            except OSError:
                continue
    raise OSError("no free ports")


class Case(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="openpai-plans-"))
        self.started = []
        self.used = set()
        self.addCleanup(self.clean)
        self.port = free_ports(40)

    def clean(self):
        """Nothing of a task is left, whatever it has put behind itself."""
        for process in self.started:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
            process.stderr.close()
        for pid in self.root.rglob("sshd.pid"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(pid.read_text(encoding="utf-8")), signal.SIGTERM)
        while self.root.exists():  # sshd removes its file, too
            shutil.rmtree(self.root, ignore_errors=True)

    def plans(self, text, *args, attempt=0, name="job.yaml"):
        file = self.root / name
        file.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [PLANS, file, self.root / "job", str(self.port), str(attempt),
             *map(str, args)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        plans = [json.loads(line) for line in done.stdout.splitlines()]
        for plan in plans:
            subprocess.run(["bash", "-n"], input=plan["script"].encode(),
                           check=True)
        return plans

    def start(self, plan, inside=(), **env):
        folder = pathlib.Path(plan["dir"])
        if plan["dir"] in self.used:  # as it is with a new job
            shutil.rmtree(folder)
        self.used.add(plan["dir"])
        folder.mkdir(parents=True)
        script = folder / "script"
        script.write_text(plan["script"], encoding="utf-8")
        work = self.root / "work"
        work.mkdir(exist_ok=True)
        given = dict(os.environ)
        given.update(var.split("=", 1) for var in plan["env"])
        given.update(env)
        process = subprocess.Popen(
            [*inside, "bash", script], cwd=plan["workdir"] or work, env=given,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)
        self.started.append(process)
        return process

    def run_plan(self, plan, **env):
        """Code, output, errors, and what was said about running it."""
        process = self.start(plan, **env)
        out, err = process.communicate(timeout=60)
        log = pathlib.Path(plan["dir"]) / "runtime"
        return (process.returncode, out.decode(), err.decode(),
                log.read_text(encoding="utf-8") if log.exists() else "")

    def run_job(self, text, *args, **env):
        return self.run_plan(self.plans(text, *args)[0], **env)


class Commands(Case):
    def test_one_shell_that_stops_at_the_first_failure(self):
        self.assertEqual(
            self.run_job(job("cd /", "x=1", "pwd", "echo $x", "false",
                             "echo no"))[:2], (1, "/\n1\n"))
        self.assertEqual(self.run_job(job("true | false | true"))[0], 1)
        code, _, err, _ = self.run_job(job("echo $NEVER_SET"))
        self.assertNotEqual(code, 0)
        self.assertIn("unbound variable", err)
        self.assertEqual(self.run_job(job("exit 7"))[0], 7)

    def test_what_commands_find(self):
        code, out, _, _ = self.run_job(job(
            'echo "$PAI_JOB_NAME $PAI_VIRTUAL_CLUSTER $PWD $PAI_WORK_DIR"',
            'echo "$RUNTIME_LOG_PIPE $FC_TASKROLE_NAME"',
            "echo <% $parameters.word %> <% $secrets.key %>"))
        work = self.root / "work"
        self.assertEqual((code, out.splitlines()), (0, [
            f"ada~train vision {work} {work}",
            f"{self.root}/job/0/Worker_A-0/runtime workera",
            "hello s3cret"]))

    def test_sizes(self):
        plan = self.plans(job("x"))[0]
        self.assertEqual(
            (plan["cpus"], plan["memory"], plan["shm"], plan["image"],
             plan["flags"]), (2, 64 << 20, 512 << 20, "python:3", 0))
        plan = self.plans(job(
            "x", instances=2, role="    extraContainerOptions: {shmMB: 7}"))[1]
        self.assertEqual((plan["shm"], plan["flags"]), (7 << 20, 1))

    def test_job_config_v1(self):
        text = json.dumps({
            "jobName": "old", "image": "i", "dataDir": "/data/it's",
            "retryCount": -2,
            "taskRoles": [{
                "name": "w", "taskNumber": 2, "cpuNumber": 3, "memoryMB": 100,
                "shmMB": 70, "command":
                "false; echo $NEVER_SET; echo $PAI_DATA_DIR $PAI_RESOURCE "
                "$PAI_TASK_ROLE_NUM $PAI_TASK_ROLE_INDEX "
                "$PAI_CURRENT_TASK_ROLE_SHM_MB "
                "x${PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT-no}x; "
                "echo $PAI_OUTPUT_DIR; ls -d $PAI_OUTPUT_DIR"}]})
        plan = self.plans(text, name="job.json")[1]
        code, out, err, _ = self.run_plan(plan)
        self.assertEqual((code, out.splitlines()), (0, [
            "", "/data/it's 0,3,100,70 2 1 70 xx",
            f"{self.root}/job/output", f"{self.root}/job/output"]), err)
        process = self.start(dict(plan, dir=plan["dir"] + "x",
                                  script="sleep 60\n"))
        os.killpg(process.pid, signal.SIGTERM)
        self.assertIn(process.wait(timeout=20), (143, -15))


class Cmd(Case):
    def test_both_forms_and_their_order(self):
        say = "echo {0} >> " + str(self.root / "said")
        code, out, err, log = self.run_job(job(
            say.format("user"), prerequisites="""\
  - {name: pre, type: script, plugin: com.microsoft.pai.runtimeplugin.cmd,
     callbacks: [{event: taskStarts, commands: ["%s"]},
                 {event: taskSucceeds, commands: ["%s"]},
                 {event: other, commands: ["exit 9"]}]}""" %
            (say.format("first"), say.format("last")),
            role="    prerequisites: [pre]",
            extras=plugins({"plugin": "cmd", "parameters": {
                "preCommands": ["echo out", "echo err >&2",
                                say.format("second"), "export X=1; cd /"],
                "postCommands": [say.format("before-last")]}})))
        self.assertEqual(
            (code, out, err, log, (self.root / "said").read_text().split()),
            (0, "err\n", "", "out\n",
             ["first", "second", "user", "before-last", "last"]))

    def test_what_goes_wrong(self):
        def cmd(user, policy=None, **parameters):
            item = {"plugin": "cmd", "parameters": parameters}
            if policy:
                item["failurePolicy"] = policy
            return self.run_job(job(user, extras=plugins(item)))

        told = "openpai: the plugin cmd exited with code {}\n"
        marker = self.root / "marker"
        for number, (wanted, result) in enumerate([
                ((5, told.format(5)),
                 lambda: cmd("echo ran", preCommands=["exit 5"])),
                ((1, told.format(1)),
                 lambda: cmd("echo ran", preCommands=["false", "true"])),
                ((0, "ran\n"), lambda: cmd("echo ran", "ignore",
                                           preCommands=["false", "exit 5"])),
                ((3, "ran\n" + told.format(3)),
                 lambda: cmd("echo ran", postCommands=["exit 3"])),
                ((0, "ran\n"), lambda: cmd("echo ran", "ignore",
                                           postCommands=["exit 3"])),
                ((4, ""), lambda: cmd("exit 4", postCommands=[
                    f"touch {marker}"])),
                ((2, ""), lambda: cmd("echo 'ran", postCommands=["true"])),
                ((0, "ran\n"), lambda: cmd("echo ran; exit 0", postCommands=[
                    f"touch {marker}2"])),
                ((0, "ran\n"), lambda: cmd("echo ran", "ignore", preCommands=[
                    "exec 2> /dev/null", "eval 'echo \"x'"]))]):
            with self.subTest(number):
                self.assertEqual(result()[:2], wanted)
        self.assertFalse(marker.exists())
        self.assertTrue((self.root / "marker2").exists())

    def test_that_cannot_be(self):
        for item, said in [
                ({"plugin": "cmd", "parameters": {
                    "callbacks": [], "preCommands": []}}, "cmd: callbacks and"),
                ({"plugin": "frob"}, "unknown runtime plugin"),
                ({"plugin": "git", "parameters": {}}, "repo_uri is missing"),
                ({"plugin": "tensorboard", "parameters": {"port": 1}},
                 "set port")]:
            with self.subTest(said):
                code, out, _, log = self.run_job(job(
                    "echo ran", extras=plugins(item)))
                self.assertRegex(out, f"^openpai: .*{said}.*\n$")
                self.assertEqual(code, 1)
                self.assertIn(said, log)
                self.assertIn("[openpai-runtime]", log)
                item["failurePolicy"] = "ignore"
                code, out, _, log = self.run_job(job(
                    "echo ran", extras=plugins(item)))
                self.assertEqual((code, out), (0, "ran\n"))

    def test_who_is_asked_to_end_is_no_failure_of_a_plugin(self):
        process = self.start(self.plans(job("echo ran", extras=plugins(
            {"plugin": "cmd", "parameters": {
                "preCommands": ["echo up >&2", "sleep 60"]}})))[0])
        self.assertEqual(process.stdout.read(3), b"up\n")
        while True:  # bash loses one that comes while it forks
            os.killpg(process.pid, signal.SIGTERM)
            try:
                rest, _ = process.communicate(timeout=2)
                break
            except subprocess.TimeoutExpired:
                pass
        self.assertIn(process.returncode, (143, -signal.SIGTERM))
        self.assertNotIn(b"openpai", rest)

    def test_roles_and_templates(self):
        code, out, _, _ = self.run_job(job("echo ran", extras=plugins(
            {"plugin": "cmd", "taskroles": ["other"],
             "parameters": {"preCommands": ["exit 1"]}},
            {"plugin": "cmd", "taskroles": ["workera"], "parameters": {
                "preCommands": [
                    "echo <% $parameters.word %> <% $secrets.key %> "
                    "\"<% $parameters.dir %>\" >&2"]}},
            {"plugin": "teamwise_storage"})))
        self.assertEqual((code, out), (0, "hello s3cret it's here\nran\n"))

    def test_the_task_is_asked_to_end(self):
        """Who catches the signal has its time, also with something to do
        after it; who does not ends by it."""
        post = plugins({"plugin": "cmd", "parameters": {
            "postCommands": ["echo after >&2"]}})
        for user, wanted, out in [
                ("trap 'echo caught; exit 0' TERM; echo up; "
                 "while :; do sleep 0.05; done", [0], "up\ncaught\nafter\n"),
                ("echo up; sleep 60", [143], "up\n")]:
            process = self.start(self.plans(job(user, extras=post))[0])
            self.assertEqual(process.stdout.read(3), b"up\n")
            os.killpg(process.pid, signal.SIGTERM)
            rest, _ = process.communicate(timeout=30)
            self.assertIn(process.returncode, wanted)
            self.assertEqual("up\n" + rest.decode(), out)


class Git(Case):
    def setUp(self):
        if shutil.which("git") is None:
            self.skipTest("no git")
        super().setUp()
        self.repo = self.root / "repo"
        self.git("init", "-q", str(self.repo))
        (self.repo / "file").write_text("one", encoding="utf-8")
        self.git("-C", str(self.repo), "add", "file")
        self.git("-C", str(self.repo), "-c", "user.name=a", "-c",
                 "user.email=a@b", "commit", "-q", "-m", "one")

    @staticmethod
    def git(*args):
        subprocess.run(["git", *args], check=True, capture_output=True)

    def clone(self, folder, command, *options, attempt=0, instances=1,
              uri=None, **env):
        params = {"repo_uri": uri or str(self.repo), "options": options}
        if folder:
            params["clone_dir"] = str(folder)
        plans = self.plans(job(command, instances=instances, extras=plugins(
            {"plugin": "git", "parameters": params})), attempt=attempt)
        return [self.run_plan(plan, **env) for plan in plans]

    def test_the_folder(self):
        self.assertEqual(
            self.clone(None, "cat $PAI_WORK_DIR/../job/0/*/code/file",
                       "--quiet")[0][:2], (0, "one"))
        there = self.root / "it's there"
        command = f"cat \"{there}/file\""
        self.assertEqual(
            [r[:2] for r in self.clone(there, command, "--depth=1", attempt=1,
                                       instances=2)], [(0, "one")] * 2)
        # Another attempt finds it as it was in the beginning.
        (there / "file").write_text("two", encoding="utf-8")
        self.assertEqual(self.clone(there, command, attempt=2)[0][:2],
                         (0, "one"))

    def test_that_is_not_empty(self):
        there = self.root / "there"
        there.mkdir()
        self.assertEqual(self.clone(there, f"cat {there}/file")[0][:2],
                         (0, "one"))
        other = self.root / "other"
        other.mkdir()
        (other / "own").write_text("own", encoding="utf-8")
        code, _, _, log = self.clone(other, "true", attempt=1)[0]
        self.assertEqual(code, 1)
        self.assertIn("is no empty folder", log)
        self.assertEqual((other / "own").read_text(), "own")

    def test_that_fails(self):
        code, _, err, log = self.clone(
            self.root / "x", "true", uri=str(self.root / "none"),
            PAI_GIT_PAUSE="0")[0]
        self.assertEqual(code, 1)
        self.assertIn("in 10 tries", log)
        self.assertEqual((err, log.count("does not exist")), ("", 10))
        self.assertFalse((self.root / "x").exists())


class Tensorboard(Case):
    def setUp(self):
        super().setUp()
        self.bin = self.root / "bin"
        self.bin.mkdir()

    def board(self, version, logdir, instances=1):
        board = self.bin / "tensorboard"
        board.write_text(
            "#!/bin/bash\n[ \"$1\" = --version ] && "
            f"{{ echo warning; echo {version}; exit; }}\n"
            f"printf '%s\\n' \"$@\" > {self.root}/args.$PAI_TASK_INDEX\n",
            encoding="utf-8")
        board.chmod(0o755)
        wait = (f"for i in $(seq 200); do [ -s {self.root}/args.0 ] && break; "
                "sleep 0.05; done")
        for plan in self.plans(job(wait, instances=instances, extras=plugins(
                {"plugin": "tensorboard", "parameters": {
                    "port": 1234, "logdir": logdir}}))):
            self.assertEqual(self.run_plan(
                plan, PATH=f"{self.bin}:{os.environ['PATH']}")[0], 0)
        args = (self.root / "args.0").read_text().splitlines()
        (self.root / "args.0").unlink()
        self.assertFalse((self.root / "args.1").exists())
        return args

    def test_its_arguments(self):
        self.assertEqual(self.board("2.4.1", {"a": "/x y"}),
                         ["--port=1234", "--bind_all", "--logdir=/x y"])
        self.assertEqual(self.board("2.4.1", {"a": "/x", "b": "/y"}),
                         ["--port=1234", "--bind_all",
                          "--logdir_spec=a:/x,b:/y"])
        self.assertEqual(self.board("1.15.0", {"a": "/x", "b": "/y"}, 2),
                         ["--port=1234", "--logdir=a:/x,b:/y"])

    def test_that_is_not_there(self):
        code, _, _, log = self.run_job(
            job("true", extras=plugins({"plugin": "tensorboard", "parameters":
                {"port": 1, "logdir": {"a": "/x"}}})),
            PATH=f"{self.bin}:/usr/bin:/bin")
        self.assertEqual(code, 1)
        self.assertIn("pip install tensorboard", log)


class Storages(Case):
    def test_they_are_where_the_job_wants_them(self):
        data = self.root / "data"
        data.mkdir()
        (data / "file").write_text("x", encoding="utf-8")
        at = self.root / "mnt" / "here"
        text = job(f"cat {at}/file", extras="  storages: [{name: d, "
                                            f"mountPath: {at}}}]")
        plan = self.plans(text, f"d={data},ro")[0]
        self.assertEqual(plan["mounts"], [
            {"source": str(data), "target": str(at), "readonly": 1}])
        self.assertEqual(self.run_plan(plan)[:2], (0, "x"))
        # It is there already, as in a sandbox.
        plan = self.plans(text, f"d={data},ro", attempt=1)[0]
        self.assertEqual(self.run_plan(plan), (0, "x", "", ""))
        with self.assertRaisesRegex(ValueError, 'no storage "d"'):
            self.plans(text)
        at.unlink()
        at.mkdir()
        code, _, _, log = self.run_plan(
            self.plans(text, f"d={data}", attempt=2)[0])
        self.assertEqual(code, 1)
        self.assertIn("something else is there", log)

    def test_which_ones(self):
        known = ["d=/d,own", "e=/e,usual", "f=/f,ro,usual,own"]

        def mounts(extras):
            return [(m["source"], m["target"], m["readonly"])
                    for m in self.plans(job("x", extras=extras),
                                        *known)[0]["mounts"]]
        self.assertEqual(mounts(""), [])
        self.assertEqual(mounts("  storages: []"), [
            ("/e", "/mnt/e", 0), ("/f/ada", "/mnt/f", 1)])
        self.assertEqual(mounts("  storages: [{name: d}, {mountPath: /x}]"),
                         [("/d/ada", "/mnt/d", 0)])
        teamwise = {"plugin": "teamwise_storage", "parameters": {
            "storageConfigNames": ["e"]}}
        self.assertEqual(mounts(plugins(teamwise)), [("/e", "/mnt/e", 0)])
        self.assertEqual(mounts(plugins({"plugin": "teamwise_storage"})), [
            ("/e", "/mnt/e", 0), ("/f/ada", "/mnt/f", 1)])
        with self.assertRaisesRegex(ValueError, "not an absolute path"):
            mounts("  storages: [{name: d, mountPath: x}]")


class Ssh(Case):
    def setUp(self):
        path = os.environ["PATH"] + ":/usr/sbin"
        for program in ("sshd", "ssh", "ssh-keygen"):
            if shutil.which(program, path=path) is None:
                self.skipTest("no " + program)
        super().setUp()
        self.home = self.root / "home"
        self.home.mkdir()

    def params(self, **params):
        return plugins({"plugin": "ssh", "parameters": params})

    def test_tasks_reach_each_other(self):
        text = job(
            "echo up; other=$((1 - PAI_TASK_INDEX))",
            "ssh Worker_A-$other 'echo from $(echo $SSH_CONNECTION | cut -d\" "
            "\" -f4)'",
            "ssh workera-$other true",
            "ssh Worker_A-$other 'echo $PAI_TASK_INDEX $CUDA_VISIBLE_DEVICES "
            "$OMPI_MCA_btl_vader_backing_directory; echo \"$PATH\"; "
            "ssh Worker_A-0 true' > session$other",
            "echo x > $PAI_WORK_DIR/$PAI_TASK_INDEX",
            "scp -q Worker_A-$other:$PAI_WORK_DIR/$PAI_TASK_INDEX "
            "$PAI_WORK_DIR/copy$PAI_TASK_INDEX",
            "until [ -e $PAI_WORK_DIR/copy$other ]; do sleep 0.05; done",
            instances=2, extras=self.params(jobssh=True, sshbarrier=True))
        tasks = [self.start(plan) for plan in self.plans(text)]
        ended = [task.communicate(timeout=120) for task in tasks]
        for index, (task, (out, err)) in enumerate(zip(tasks, ended)):
            self.assertEqual(
                (task.returncode, out.decode()),
                (0, f"up\nfrom {self.port + 4 * (1 - index)}\n"),
                err.decode())
            log = (self.root / f"job/0/Worker_A-{index}/runtime").read_text()
            self.assertIn("all tasks are reached", log)
            folder = self.root / f"job/0/Worker_A-{index}/ssh"
            self.assertEqual((folder / "host_key").stat().st_mode & 0o77, 0)
            session = (self.root / f"work/session{index}").read_text()
            self.assertTrue(session.startswith(f"{index} {folder}/shm\n"))
            self.assertIn(f"{folder}/bin:", session)  # in PATH

    def reach_inside(self, *inside):
        """Two tasks that reach each other, each in such a name space; what
        is said about running the first."""
        try:
            subprocess.run([*inside, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no sandbox: {error}")
        tasks = [self.start(plan, inside=inside) for plan in self.plans(job(
            "ssh Worker_A-$((1 - PAI_TASK_INDEX)) "
            "'echo hi; [ $(whoami) = '$(whoami) ']'",
            "touch $PAI_WORK_DIR/$PAI_TASK_INDEX",
            "until [ -e $PAI_WORK_DIR/$((1 - PAI_TASK_INDEX)) ]; do "
            "sleep 0.05; done", instances=2,
            extras=self.params(jobssh=True, sshbarrier=True)))]
        for task in tasks:
            out, err = task.communicate(timeout=60)
            self.assertEqual((task.returncode, out), (0, b"hi\n"), err)
        return (self.root / "job/0/Worker_A-0/runtime").read_text()

    def test_in_sandboxes(self):
        """Where root's files are nobody's, unless root runs the test."""
        self.assertNotIn("user name space", self.reach_inside(
            "bwrap", "--unshare-pid", "--dev-bind", "/", "/", "--proc",
            "/proc", "--die-with-parent"))

    def test_where_root_is_alone(self):
        """A root that can become no other user, and has no other groups."""
        if shutil.which("bwrap") is None:
            self.skipTest("no bwrap")
        self.assertIn("sshd has a user name space of its own",
                      self.reach_inside("unshare", "--user", "--map-root-user"))

    def test_a_locked_account(self):
        """As root's is on Ubuntu: sshd lets it in only by another number."""
        if os.geteuid() != 0 or shutil.which("bwrap") is None:
            self.skipTest("not root, or no bwrap")
        shadow = self.root / "shadow"
        shadow.write_text("root:!:20000:0:99999:7:::\nsshd:!:20000::::::\n")
        self.assertIn("sshd lets nobody in whose account is locked",
                      self.reach_inside(
                          "unshare", "--mount", "bash", "-c",
                          f'mount --bind {shadow} /etc/shadow && exec "$@"',
                          "bash"))

    def test_the_barrier_gives_up(self):
        text = job("echo ran", instances=2, extras=self.params(
            jobssh=True, sshbarrier=True, sshbarrierTimeout=0))
        code, out, _, log = self.run_plan(self.plans(text)[0])
        self.assertEqual(code, 10)
        self.assertRegex(out, "^openpai: SSH barrier reaches .*Worker_A-1\n$")
        self.assertIn("SSH barrier reaches max retry count", log)
        self.assertIn("Worker_A-1", log)

    def test_the_user_reaches_a_task(self):
        key = self.root / "key"
        for name in ("key", "own"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "",
                            "-f", self.root / name], check=True)
        public = (self.root / "key.pub").read_text().strip()
        own = (self.root / "own.pub").read_text().strip()
        process = self.start(self.plans(
            job("echo up", "sleep 60", extras=self.params(
                userssh={"type": "custom", "value": public})), own)[0])
        self.assertEqual(process.stdout.read(3), b"up\n")
        for k, wanted in ((key, 0), (self.root / "own", 0),
                          (self.root / "none", 255)):
            done = subprocess.run(
                ["ssh", "-F", "/dev/null", "-o", "BatchMode=yes",
                 "-o", "StrictHostKeyChecking=no", "-o", "IdentitiesOnly=yes",
                 "-o", "UserKnownHostsFile=/dev/null", "-i", k,
                 "-p", str(self.port), "127.0.0.1", "exit 0"],
                check=False, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, wanted, done.stderr)

    def test_nothing_is_asked_for(self):
        for extras in (self.params(), self.params(jobssh=False),
                       self.params(userssh={}),
                       "  gangAllocation: false\n" + self.params(jobssh=True)):
            with self.subTest(extras):
                self.assertNotIn("sshd", self.plans(job(
                    "true", extras=extras))[0]["script"])

    def test_a_port_that_is_taken(self):
        with socket.socket() as s:
            s.bind(("0.0.0.0", self.port))
            s.listen()
            code, _, _, log = self.run_job(job(
                "echo ran", extras=self.params(jobssh=True)))
        self.assertEqual(code, 1)
        self.assertIn("sshd did not start", log)


if __name__ == "__main__":
    hide_startup_file()
    unittest.main()
