"""Jobs in containers: with an engine that only pretends, everywhere; and with
podman where that runs.  argv[2] is fake_engine."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import program

FAKE = os.path.abspath(sys.argv[2])

JOB = """\
protocolVersion: 2
name: {name}
type: job
{extras}
secrets: {{word: swordfish}}
prerequisites: [{{name: x, type: dockerimage, uri: "{image}"}}]
taskRoles:
  a:
    instances: {instances}
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0}}
    commands: [{command}]
"""


class Containers(program.RootTest):
    runtime = None

    def setUp(self):
        super().setUp()
        self.env.pop("DOCKER_HOST", None)
        self.env["HOME"] = str(self.folder)

    def job(self, command, image="img", runtime=None, name="test",
            instances=1):
        extras = "extras: {openpai: {runtime: %s}}" % runtime
        return self.write("job.yaml", JOB.format(
            command=json.dumps(command), image=image, name=name,
            instances=instances, extras=extras if runtime else ""))

    def log(self, which, name="test"):
        return self.ok("logs", "--log", which, name)

    def file(self, file, name="test", task="a-0"):
        path, = self.root.glob(f"jobs/*~{name}/0/{task}/{file}")
        return path

    def completion(self, name="test"):
        shown = json.loads(self.ok("show", "--json", name))
        return shown["jobStatus"]["appExitCode"]


class Pretended(Containers):
    """The fake engine runs commands on this machine, and tells what for."""

    def setUp(self):
        super().setUp()
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for name in ("bash", "cat", "echo", "grep", "sleep", "sh", "bwrap"):
            if path := shutil.which(name):
                (self.bin / name).symlink_to(path)
        self.env["PATH"] = str(self.bin)
        self.engine = self.folder / "engine"
        self.engine.mkdir()
        self.env["FAKE_ENGINE"] = str(self.engine)
        self.env["CONTAINERS_CONF"] = "/dev/null"
        (self.engine / "images").write_text("img\n")

    def install(self, name="podman"):
        (self.bin / name).symlink_to(FAKE)

    def words(self):
        return (self.engine / "words").read_text().splitlines()

    def test_the_words(self):
        self.install()
        job = self.job("echo $OPENPAI_CONTAINER; "
                       "test <% $secrets.word %> = swordfish; exit 3")
        done = self.run_cli("run", "--verbose", "--runtime", "podman", job)
        self.assertEqual((done.returncode, done.stdout),
                         (3, "podman\n"))
        self.assertNotIn("machine", done.stderr)
        events = self.ok("events", "test")
        self.assertIn("the task runs; its folder is 0/a-0", events)
        self.assertRegex(events, r"Runtime +(\S+ +)?runs in podman: the image "
                         "img was requested")
        words = self.words()
        self.assertIn("--memory=104857600", words)
        self.assertIn("--init", words)
        self.assertFalse([w for w in words if "swordfish" in w])
        self.assertEqual(len((self.engine / "removed").read_text().split()), 1)
        self.assertEqual(self.log("runtime"),
                         "runs in podman: the image img was requested\n")

    def test_who_enters_has_the_jobs_variables(self):
        """The engine's program obeys none, and no list of processes has one."""
        self.install()
        self.ok("up")
        self.env["HF_TOKEN"] = "hf-1"
        self.ok("submit", "--runtime", "podman", "-e", "A=it's", "-e",
                "HF_TOKEN", "-e", "LD_LIBRARY_PATH=/machine", "-e",
                "FAKE_ENGINE=/nowhere",
                self.job("echo up; read -t 1000 <> <(:) || :"))
        del self.env["HF_TOKEN"]
        self.until_up()
        self.assertEqual(
            self.ok("exec", "test", "--", "bash", "-c",
                    "echo $A $HF_TOKEN $FAKE_ENGINE ${LD_LIBRARY_PATH-none} "
                    "${OPENPAI_VARIABLES-none}"),
            "it's hf-1 /nowhere none none\n")
        self.assertNotIn("hf-1", (self.engine / "entered").read_text())
        self.ok("stop", "--now", "test")
        self.run_cli("wait", "test")

    def test_auto_takes_what_is_at_hand(self):
        self.install()
        self.ok("run", self.job("echo hi"))
        self.assertEqual(self.log("runtime"),
                         "runs in podman: the image img is available\n")
        self.assertIn("runtime    runs in podman: the image img is available\n",
                      self.ok("show", "test"))
        self.ok("run", self.job("echo hi", image="other", name="other"))
        self.assertIn("not in its image other: podman does not have it, "
                      "docker is not installed", self.log("runtime", "other"))
        self.ok("run", self.job("echo hi", runtime="process", name="third"))
        self.assertFalse((self.file("all", "third").parent / "runtime")
                         .exists())
        self.assertIn("bwrap" if shutil.which("bwrap") else "process",
                      self.ok("status"))

    def asked(self):
        """The process of an engine that has just been asked for an image."""
        path = self.engine / "asked"
        while not path.exists() or not path.read_text().strip():
            time.sleep(0.01)
        number = path.read_text().strip()
        path.unlink()
        return number

    def test_an_engine_that_takes_its_time_holds_nobody_up(self):
        self.install()
        (self.engine / "slow").touch()
        for n in range(10):  # on a busy machine it is given up sooner
            self.ok("submit", self.job("echo hi", image=f"img{n}",
                                       name=f"slow{n}"))
            number = self.asked()
            said = self.ok("run", "-q", "--runtime", "process", "--", "bash",
                           "-c", f"! kill -0 {number} || echo works")
            if "works" in said:
                break
        else:
            self.fail("nothing runs while an engine is asked")
        self.ok("wait", f"slow{n}")
        self.assertEqual(self.ok("logs", f"slow{n}"), "hi\n")
        # Who does not wait for that stops the job, and the platform.
        self.ok("submit", self.job("echo hi", image="more", name="more"))
        self.asked()
        self.ok("stop", "more")
        self.ok("submit", self.job("echo hi", image="last", name="last"))
        self.ok("down", "--kill")

    def test_auto_takes_no_engine_that_only_has_images(self):
        self.install()
        (self.engine / "cannot").write_text("no cgroups here\n")
        self.ok("run", self.job("echo hi"))
        self.assertIn("podman cannot run it: no cgroups here",
                      self.log("runtime"))
        self.assertIn("podman cannot run it", self.ok("events", "test"))

    def test_pipes_in_place_of_its_files(self):
        """Nobody writes to what a task has put there, and is waited for.
        Nobody else killed it, so that it is not tried again."""
        self.install()
        (self.bin / "mkfifo").symlink_to(shutil.which("mkfifo"))
        (self.bin / "rm").symlink_to(shutil.which("rm"))
        job = self.job(
            "cd %s/jobs/*~test; "
            "rm 0/a-0/container.begun; mkfifo 0/a-0/container.begun; "
            "read -r _ _ _ first _ </proc/$PPID/stat; "
            "kill -9 $first $PPID" % self.root)
        done = self.run_cli("run", "--runtime", "podman", job)
        self.assertEqual(done.returncode, 137)

    def test_a_disk_that_is_full_is_no_failure_of_the_job(self):
        self.install("docker")
        self.ok("up")
        for words in ("docker: Error response from daemon: mkdir /var/lib/"
                      "docker/x: no space left on device.\n"
                      "See 'docker run --help'.\n",
                      "Error: write /x: Disk quota exceeded\n",
                      "Error: fork/exec x: cannot allocate memory\n"):
            (self.engine / "cannot").write_text(words)
            self.ok("submit", "--runtime", "docker", self.job("echo ran"))
            while "Shortage" not in self.ok("events", "test"):
                pass
            # It is tried again now and then.
            while "WAITING" not in self.ok("list"):
                pass
            while not re.search("(?i)cannot start the container: "
                                ".*(no space|quota|memory)",
                                self.ok("why", "test")):
                pass
            (self.engine / "cannot").unlink()
            self.assertEqual(self.run_cli("wait", "test").returncode, 0)
            self.assertIn("ran\n", self.log("all"))
            self.ok("rm", "test")
        # What else is wrong is the job's end.
        (self.engine / "cannot").write_text("Error: no such device\n")
        self.assertNotEqual(
            self.run_cli("run", "--runtime", "docker",
                         self.job("echo ran")).returncode, 0)

    def test_who_asks_for_an_engine_gets_no_other(self):
        job = self.job("echo hi", runtime="docker")
        done = self.run_cli("run", job)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("docker is not installed", done.stderr)
        self.assertIn("docker is not installed", self.ok("show", "test"))
        self.ok("down")
        self.install("docker")
        (self.engine / "broken").write_text("Cannot connect\n")
        done = self.run_cli("run", self.job("echo hi", runtime="docker",
                                            name="second"))
        self.assertIn("docker does not answer: Cannot connect", done.stderr)
        # What the command line says is what is done.
        self.ok("run", "--runtime", "process", job)

    def test_a_platform_of_containers(self):
        self.install()
        self.ok("up", "--runtime", "podman")
        self.assertIn("runtime   podman, as this platform was told",
                      self.ok("status"))
        self.ok("run", self.job("echo hi"))
        self.assertIn("runs in podman", self.log("runtime"))
        self.assertIn("no-such", self.ok(
            "run", "--name", "second", "--", "echo", "no-such"))
        self.assertIn("not in podman: it has no image",
                      self.log("runtime", "second"))
        self.ok("run", "--image", "img", "--name", "third", "--", "sh", "-c",
                "exit 0")
        self.assertIn("runs in podman", self.log("runtime", "third"))

    def test_an_image_that_is_not_there(self):
        self.install()
        job = self.job("echo hi", image="other", runtime="podman")
        done = self.run_cli("run", job)
        self.assertEqual(done.returncode, 125)
        self.assertIn("Error: other: image not known", done.stderr)
        self.assertEqual(self.completion(), -1201)
        # A command may end with such a code, too.
        done = self.run_cli("run", self.job("exit 125", name="second",
                                            runtime="podman"))
        self.assertEqual(done.returncode, 125)
        self.assertEqual(self.completion("second"), 255)

    def test_no_task_sees_the_machines_processes(self):
        self.install()
        self.ok("run", self.job("exit 0", instances=2))
        self.assertEqual(self.words().count("--init"), 2)
        self.assertNotIn("--pid=host", self.words())

    def test_stopping(self):
        self.install()
        self.ok("submit", self.job("trap 'echo heard; exit 9' TERM; echo up; "
                                   "sleep 1000 & wait $!"))
        self.until_up()
        self.ok("stop", "test")
        self.run_cli("wait", "test")
        self.assertEqual(self.ok("logs", "test"), "up\nheard\n")

    def test_wrong_words(self):
        file = self.job("true")
        for args, part in (
                (["run", "--runtime", "foo", "x.yaml"], "--runtime is auto"),
                (["submit", "--runtime", "", "x.yaml"], "--runtime is auto"),
                (["run", "--runtime", "podman", "--", "ls"], "--image NAME"),
                (["run", "--image", "no=img", file],
                 "--image: the job has no task role no")):
            done = self.run_cli(*args)
            self.assertIn(part, done.stderr, args)
            self.assertEqual(done.returncode, 2 if args[0] == "submit"
                             else 125)
        for value in ("foo", "7", "[podman]"):
            done = self.run_cli("run", self.job("true", runtime=value))
            self.assertIn("error: runtime ", done.stderr)


CONF = """\
[containers]
{ulimits}
[engine]
{runtime}
cgroup_manager = "cgroupfs"
events_logger = "none"
"""

STORE = """\
[storage]
driver = "vfs"
graphroot = "{0}/store"
runroot = "{0}/run"
"""


class Podman(Containers):
    """Real containers, of an image that is this machine's bash."""

    @classmethod
    def setUpClass(cls):
        cls.kept = program.tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.place = pathlib.Path(cls.kept.name)
        cls.environment = dict(
            os.environ, CONTAINERS_CONF=str(cls.place / "containers.conf"),
            CONTAINERS_STORAGE_CONF=str(cls.place / "storage.conf"))
        (cls.place / "storage.conf").write_text(STORE.format(cls.place))
        if shutil.which("podman") is None:
            raise unittest.SkipTest("podman is not installed")
        cls.make_image()
        cls.find_a_way()

    @classmethod
    def podman(cls, *args, **kwargs):
        return subprocess.run(["podman", *args], env=cls.environment,
                              stdout=subprocess.PIPE, timeout=60,
                              stderr=subprocess.STDOUT, text=True, **kwargs)

    @classmethod
    def make_image(cls):
        tree = cls.place / "tree"
        bash = shutil.which("bash")
        libs = subprocess.run(["ldd", bash], stdout=subprocess.PIPE,
                              check=True, text=True).stdout
        for name in ("bin", "dev", "etc", "proc", "sys", "tmp", "run"):
            (tree / name).mkdir(parents=True)
        shutil.copy(bash, tree / "bin/bash")
        for lib in re.findall(r"/\S+", libs):
            to = tree / lib.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(lib, to)
        (tree / "etc/passwd").write_text("root:x:0:0::/:/bin/bash\n")
        subprocess.run(["tar", "-C", tree, "-cf", cls.place / "tree.tar", "."],
                       check=True)

    @classmethod
    def find_a_way(cls):
        """As it is here; or as it is let in a sandbox."""
        said = ""
        for runtime in ("", 'runtime = "crun"', 'runtime = "runc"'):
            for ulimits in ("", 'default_ulimits = ["nofile=1024:1024", '
                            '"nproc=4096:4096"]'):
                (cls.place / "containers.conf").write_text(
                    CONF.format(runtime=runtime, ulimits=ulimits))
                cls.podman("import", str(cls.place / "tree.tar"),
                           "localhost/test:1")
                tried = cls.podman("run", "--rm", "--network=host", "--memory",
                                   "100m", "localhost/test:1", "bash", "-c",
                                   "echo works")
                if tried.stdout == "works\n":
                    return
                said = tried.stdout
        raise unittest.SkipTest(f"podman runs no container here: {said}")

    def setUp(self):
        super().setUp()
        for name in ("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"):
            self.env[name] = self.environment[name]
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self):
        self.end_platforms()
        self.assertEqual(self.podman("ps", "-a", "-q").stdout, "")

    def job(self, command, image="localhost/test:1", **kwargs):
        return super().job(command, image=image, **kwargs)

    def test_it_runs(self):
        job = self.job("echo $container $UID; echo oops >&2; read x || "
                       "echo no input; test <% $secrets.word %> = swordfish; "
                       "exit 7")
        done = self.run_cli("run", job)
        self.assertEqual(done.returncode, 7)
        self.assertIn("podman 0", done.stdout)
        self.assertEqual(self.log("stdout"), "podman 0\nno input\n")
        self.assertEqual(self.log("stderr"), "oops\n")
        self.assertEqual(self.log("runtime"), "runs in podman: the image "
                         "localhost/test:1 is available\n")

    def test_folders(self):
        """Where it begins is seen, and is the machine's."""
        self.ok("run", self.job("echo here >made; cd $PAI_WORK_DIR; "
                                "echo $PWD"))
        self.assertEqual((self.folder / "made").read_text(), "here\n")
        self.assertEqual(self.ok("logs", "test"), f"{self.folder}\n")

    def test_secrets_are_in_no_list_of_processes(self):
        self.ok("submit", self.job("export X=<% $secrets.word %>; echo up; "
                                   "read -t 1000 <> <(:) || :"))
        self.until_up()
        listed = subprocess.run(["ps", "axww"], stdout=subprocess.PIPE,
                                check=True, text=True).stdout
        self.assertIn("localhost/test:1", listed)
        self.assertNotIn("swordfish", listed)
        self.ok("stop", "--now", "test")
        self.run_cli("wait", "test")

    def test_too_much_memory(self):
        done = self.run_cli("run", self.job(
            "x=aaaaaaaa; while :; do x=$x$x; done"))
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.completion(), -1200)

    def test_stopping(self):
        for instances, name in ((1, "one"), (2, "two")):
            self.ok("submit", self.job(
                "trap 'echo heard; exit 9' TERM; echo up; "
                "while :; do read -t 0.1 <> <(:) || :; done; :", name=name,
                instances=instances))
            for i in range(instances):
                process = self.start("logs", "-f", "--task", f"a/{i}", name)
                self.assertEqual(process.stdout.readline(), "up\n")
                process.kill()
            self.ok("stop", name)
            self.run_cli("wait", name)
            for i in range(instances):
                self.assertEqual(self.ok("logs", "--task", f"a/{i}", name),
                                 "up\nheard\n")

    def test_killing(self):
        self.ok("submit", self.job("trap '' TERM; echo up; "
                                   "while :; do read -t 0.1 <> <(:) || :; done; :"))
        self.until_up()
        self.ok("stop", "--now", "test")
        self.run_cli("wait", "test")
        self.assertEqual(self.podman("ps", "-a", "-q").stdout, "")

    def test_it_outlives_the_platform(self):
        gate = self.fifo()
        self.ok("submit", self.job(f"echo up; read -r x <{gate}; exit 5"))
        self.until_up()
        pid = json.loads(self.ok("status", "--json"))["pid"]
        os.kill(pid, signal.SIGKILL)
        self.ok("up")
        self.release(gate)
        self.assertEqual(self.run_cli("wait", "test").returncode, 5)

    def test_it_does_not_outlive_its_supervisor(self):
        self.ok("submit", self.job("echo up; "
                                   "while :; do read -t 0.1 <> <(:) || :; done; :"))
        self.until_up()
        status = next(self.root.glob("own/**/status")).read_text()
        os.kill(int(status.split()[1]), signal.SIGKILL)
        self.run_cli("wait", "test")
        self.assertEqual(self.completion(), 256)
        # The platform has it removed beside all else.
        while self.podman("ps", "-a", "-q").stdout != "":
            pass

    def test_an_image_without_bash(self):
        (self.place / "none").mkdir(exist_ok=True)
        subprocess.run(["tar", "-C", self.place / "none", "-cf",
                        self.place / "none.tar", "."], check=True)
        self.podman("import", str(self.place / "none.tar"),
                    "localhost/none:1")
        done = self.run_cli("run", "--runtime", "podman",
                            self.job("true", image="localhost/none:1"))
        self.assertIn("cannot start the container (its image needs bash)",
                      done.stderr)
        self.assertEqual(self.completion(), -1203)
