"""What run and submit are told of a job: its resources, time, order, tags."""

import getpass
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from box import BoxTest

USER = getpass.getuser()

TWO = """\
protocolVersion: 2
name: two
type: job
prerequisites: [{name: i, type: dockerimage, uri: "old:1"}]
taskRoles:
  ps: # kept
    dockerImage: i
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["true"]
  worker:
    dockerImage: i
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["true"]
"""


class JobOptions(BoxTest):
    def text(self, name):
        return subprocess.run(
            ["curl", "-sf", "--unix-socket", self.root / "socket",
             f"http://x/api/v2/jobs/{USER}~{name}/config?format=yaml"],
            check=True, capture_output=True, text=True).stdout

    def config(self, name):
        return json.loads(subprocess.run(
            ["curl", "-sf", "--unix-socket", self.root / "socket",
             f"http://x/api/v2/jobs/{USER}~{name}/config?format=json"],
            check=True, capture_output=True, text=True).stdout)

    def until_running(self, name):
        for line in self.start("events", "-f", name).stdout:
            if "RUNNING" in line or "running" in line:
                return
        self.fail("it has not begun")

    def job_status(self, name):
        return json.loads(self.ok("show", "--json", name))

    # --- commands -----------------------------------------------------------------

    def test_a_command_is_submitted(self):
        gate = self.fifo()
        self.assertEqual(
            self.ok("submit", "--", "sh", "-c", f"read x < {gate}; exit 3"),
            "sh\n")
        self.assertEqual(json.loads(self.ok("submit", "--json", "--", "true")),
                         {"name": "true"})
        self.assertEqual(self.ok("run", "-d", "--name", "third", "--", "true"),
                         "third\n")
        self.release(gate)
        self.assertEqual(self.run_cli("wait", "sh").returncode, 3)
        self.assertEqual(self.ok("wait", "third"), "third SUCCEEDED\n")
        self.refused(2, "--priority is prod, test or oppo", "submit",
                     "--priority", "prod|test", "--", "true")
        self.refused(125, "exclude each other: --interactive --detach", "run",
                     "-d", "-i", "--", "true")
        self.refused(2, "missing argument: a job file, or a command after --",
                     "submit")

    def test_its_environment_goes_with_it(self):
        self.env["LR"] = "0.25"
        self.ok("submit", "--name", "with", "--", "sh", "-c", "echo $LR")
        self.ok("submit", "--name", "less", "--clean-env", "--", "sh", "-c",
                "echo $LR.")
        self.ok("wait", "with", "less")
        self.assertEqual(self.ok("logs", "with"), "0.25\n")
        self.assertEqual(self.ok("logs", "less"), ".\n")

    def test_it_is_called_after_what_it_runs(self):
        self.ok("up")
        (self.folder / "train.py").write_text("")
        (self.folder / "prepare.sh").write_text("")
        for words, name in (
                (["python3", "train.py", "--lr", "0.1"], "train"),
                (["bash", "-e", "./prepare.sh"], "prepare"),
                (["python3", "-m", "json.tool", "--help"], "tool"),
                (["/usr/bin/env", "LR=1", "python3", "train.py"], "train_2"),
                (["nproc"], "nproc"), (["sh", "-c", "true"], "sh"),
                (["/bin/echo", "x.py"], "echo")):
            self.assertEqual(self.ok("submit", "--", *words), f"{name}\n")

    def test_its_memory_is_its_part_of_the_node(self):
        self.ok("up")
        node = json.loads(self.ok("status", "--json"))["machine"]
        cpus, memory = node["cpus"], node["memory"] >> 20
        for words, want in ((["--cpus", str(cpus)], memory // cpus * cpus),
                            (["--cpus", "1"], max(256, memory // cpus)),
                            (["--cpus", "0.5"],
                             max(256, memory // cpus // 2)),
                            (["--memory", "300M"], 300)):
            if words == ["--cpus", str(cpus)]:
                want = memory
            name = self.ok("submit", *words, "--", "true").strip()
            role = self.config(name)["taskRoles"]["main"]
            self.assertEqual(role["resourcePerInstance"]["memoryMB"], want,
                             words)
            self.ok("wait", name)

    # --- over what the file says --------------------------------------------------

    def test_files(self):
        path = self.write("two.yaml", TWO)
        self.refused(2, "--gpus 2: the job has several task roles", "submit",
                     "--gpus", "2", path)
        self.refused(2, "the job has no task role other", "submit", "--cpus",
                     "other=1", path)
        self.refused(2, "other task roles use the image of ps", "submit",
                     "--image", "ps=new:2", path)
        path = self.write("two.yaml", TWO.replace(
            "    dockerImage: i\n    resourcePerInstance: {cpu: 1, memoryMB: 100, "
            "gpu: 0}\n    commands: [\"true\"]\n  worker:\n    dockerImage: i",
            "    dockerImage: i\n    resourcePerInstance: {cpu: 1, memoryMB: 100, "
            "gpu: 0}\n    commands: [\"true\"]\n  worker:\n    dockerImage: j")
            .replace('"old:1"}]', '"old:1"}, '
                     '{name: j, type: dockerimage, uri: "old:2"}]'))
        self.refused(2, "--tag is a text without commas", "submit", "--tag",
                     "a,b", path)
        name = self.ok("submit", "--cpus", "ps=2", "--cpus", "worker=1",
                       "--memory", "worker=1G", "--image", "ps=new:2",
                       "--time", "1h30m", "--vc", "default", "--priority",
                       "oppo", "--tag", "a", "--tag", "b", path).strip()
        config = self.config(name)
        roles = config["taskRoles"]
        self.assertEqual(roles["ps"]["resourcePerInstance"],
                         {"cpu": 2, "memoryMB": 100, "gpu": 0})
        self.assertEqual(roles["worker"]["resourcePerInstance"],
                         {"cpu": 1, "memoryMB": 1024, "gpu": 0})
        self.assertEqual(config["prerequisites"][0]["uri"], "new:2")
        self.assertEqual(config["extras"],
                         {"openpai": {"timeLimit": "1h30m"},
                          "hivedScheduler": {"jobPriorityClass": "oppo"}})
        self.assertEqual(config["defaults"], {"virtualCluster": "default"})
        self.assertEqual(sorted(self.job_status(name)["tags"]), ["a", "b"])
        self.assertIn("ps: # kept", self.text(name))
        self.refused(1, "there is no virtual cluster 'nowhere'", "submit", "--vc",
                     "nowhere", path)

    # --- time -----------------------------------------------------------------------

    def test_clones(self):
        self.ok("run", "--name", "base", "--memory", "64M", "--", "true")
        self.assertEqual(self.ok("clone", "--name", "other", "--memory", "80M",
                                 "--time", "2h", "--tag", "blue", "base"),
                         "other\n")
        self.ok("wait", "other")
        file = self.config("other")
        role, = file["taskRoles"].values()
        self.assertEqual(role["resourcePerInstance"]["memoryMB"], 80)
        self.assertEqual(file["extras"]["openpai"]["timeLimit"], "2h")
        self.assertEqual(self.ok("list", "-o", "name", "--tag",
                                 "blue").split(), ["NAME", "other"])
        self.refused(2, "--cpus is a number above 0, as 2 or 0.5", "clone",
                     "--cpus", "0", "base")
        self.assertEqual(self.ok("clone", "--name", "half", "--cpus", "0.25",
                                 "base"), "half\n")
        role, = self.config("half")["taskRoles"].values()
        self.assertEqual(role["resourcePerInstance"]["cpu"], 0.25)

    # --- fractions of CPUs ------------------------------------------------------------

    def test_two_halves_share_a_cpu(self):
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(mine)})
        self.addCleanup(os.sched_setaffinity, 0, mine)
        self.ok("up")
        gates = {name: self.fifo(f"gate-{name}") for name in "ab"}
        for name, gate in gates.items():
            self.ok("submit", "--name", name, "--cpus", "0.5", "--memory",
                    "64M", "--", "sh", "-c",
                    f"echo $PAI_RESOURCE_main $(nproc); read x < {gate}")
            self.until_running(name)
        self.assertEqual(self.machine()["freeCpus"], 0)
        self.ok("submit", "--name", "c", "--cpus", "0.25", "--memory", "64M",
                "--", "true")
        self.assertIn("0.25 CPUs", self.ok("why", "c"))
        self.release(gates["a"])
        self.assertEqual(self.ok("wait", "c"), "c SUCCEEDED\n")
        self.assertEqual(self.ok("wait", "a"), "a SUCCEEDED\n")
        self.assertEqual(self.machine()["freeCpus"], 0.5)
        self.assertIn("free      0.5 of 1 CPUs", self.ok("status"))
        self.assertIn("1, of which 0.5 are free", self.ok(
            "node", "show", self.machine()["name"]))
        self.release(gates["b"])
        self.assertEqual(self.ok("wait", "b"), "b SUCCEEDED\n")
        self.assertEqual(self.ok("logs", "b"), "0,1,64,0 1\n")
        self.assertEqual(self.machine()["freeCpus"], 1)

    def machine(self):
        return json.loads(self.ok("status", "--json"))["machine"]

    def test_a_file_keeps_its_number(self):
        path = self.write("two.yaml", TWO.replace("cpu: 1,", "cpu: 0.50,", 1))
        self.ok("submit", path)
        self.assertEqual(self.ok("wait", "two"), "two SUCCEEDED\n")
        self.assertIn("cpu: 0.50, memoryMB", self.text("two"))
        self.assertEqual(
            self.config("two")["taskRoles"]["ps"]["resourcePerInstance"],
            {"cpu": 0.5, "memoryMB": 100, "gpu": 0})
        path = self.write("fine.yaml", TWO.replace("cpu: 1,", "cpu: 0.0005,",
                                                   1))
        self.refused(1, "cpu cannot be 0.0005", "submit", path)

    def test_amounts_that_are_none(self):
        for cpus in "0.0001", "1.2345":
            self.refused(2, "use at most three decimals: 1.234",
                         "submit", "--cpus", cpus, "--", "true")
        for cpus in "half", "-1", "0.", "1e0", "":
            self.refused(2, "is not an amount of CPUs", "submit", "--cpus",
                         cpus, "--", "true")
        self.refused(2, "--cpus: '9999999' is too many CPUs: the limit is 4294966",
                     "submit", "--cpus", "9999999", "--", "true")

    def test_a_time_limit(self):
        path = self.write("two.yaml", TWO.replace('["true"]', '["sleep 1000"]')
                          + "extras: {openpai: {timeLimit: 1s}}\n")
        done = self.run_cli("run", path)
        self.assertEqual(done.returncode, 124, done)
        self.assertIn("reached its time limit", done.stderr)
        status = self.job_status("two")["jobStatus"]
        self.assertEqual((status["state"], status["appExitCode"],
                          status["appExitSpec"]["phrase"]),
                         ("FAILED", -240, "TimeLimitReached"))
        self.assertEqual(self.run_cli("wait", "two").returncode, 124)

    def test_a_time_limit_outlives_the_platform(self):
        path = self.write("two.yaml", TWO.replace('["true"]', '["sleep 1000"]'))
        self.ok("submit", "--time", "3s", path)
        self.until_running("two")
        self.ok("down", "--leave")
        self.ok("up")
        self.assertEqual(self.run_cli("wait", "two").returncode, 124)

    def test_a_time_limit_has_a_grace_time(self):
        """Also where each task has its own: the second limit is no second
        stop."""
        path = self.write("two.yaml", TWO.replace(
            '["true"]', """["trap 'sleep 1; echo saved; exit 0' TERM; """
            """while :; do sleep 0.1; done"]""")
            + "extras: {gangAllocation: false, openpai: {timeLimit: 8s}}\n")
        self.ok("submit", path)
        self.assertEqual(self.run_cli("wait", "two").returncode, 124)
        self.assertEqual(self.ok("logs", "two", "--log", "stdout"),
                         "ps[0]     | saved\nworker[0] | saved\n")

    def test_wrong_extras_of_a_job_config_v1(self):
        self.ok("up")
        for extras in ({"runtime": 9007199254740991}, {"gpuMemoryMB": [1]},
                       {"timeLimit": "x"}, {"after": ["a"] * 65}):
            job = {"jobName": "z", "image": "x", "taskRoles": [
                {"name": "t", "taskNumber": 1, "cpuNumber": 1,
                 "memoryMB": 100, "gpuNumber": 0, "command": "true"}],
                "extras": {"openpai": extras}}
            told = subprocess.run(
                ["curl", "-s", "--unix-socket", self.root / "socket", "-H",
                 "Content-Type: application/json", "-X", "POST",
                 "http://x/api/v2/jobs", "--data-binary", json.dumps(job)], check=True, capture_output=True,
                text=True).stdout
            self.assertIn("cannot be run: in extras.openpai", told)

    # --- order ------------------------------------------------------------------------

    def test_after_one_that_succeeds(self):
        gate = self.fifo()
        self.ok("submit", "--name", "first", "--", "sh", "-c",
                f"read x < {gate}")
        self.ok("submit", "--name", "next", "--after", "first", "--", "true")
        self.ok("submit", "--name", "other", "--after", "first:failed", "--",
                "true")
        self.assertIn("it waits for first (request 1) to succeed",
                      self.ok("why", "next"))
        self.release(gate)
        self.assertEqual(self.ok("wait", "next"), "next SUCCEEDED\n")
        self.assertEqual(self.run_cli("wait", "other").returncode, 125)
        status = self.job_status("other")["jobStatus"]
        self.assertEqual((status["state"], status["appExitCode"],
                          status["exitReason"]),
                         ("FAILED", -250, f"{USER}~first has succeeded"))
        self.ok("submit", "--name", "late", "--after", "first", "--", "true")
        self.assertEqual(self.ok("wait", "late"), "late SUCCEEDED\n")

    def test_after_one_that_fails(self):
        gate = self.fifo()
        self.ok("submit", "--name", "first", "--", "sh", "-c",
                f"read x < {gate}; exit 1")
        for when in ("ok", "failed", "ended"):
            self.ok("submit", "--name", when, "--after", f"first:{when}", "--",
                    "true")
        self.ok("submit", "--name", "chain", "--after", "ok", "--", "true")
        self.release(gate)
        for name in ("failed", "ended"):
            self.assertEqual(self.ok("wait", name), f"{name} SUCCEEDED\n")
        for name in ("ok", "chain"):
            self.assertEqual(self.run_cli("wait", name).returncode, 125)
        self.refused(1, f"the job can never start: {USER}~first has failed",
                     "submit", "--after", "first", "--", "true")
        self.refused(1, f"cannot wait for '{USER}~nobody': there is no such job", "submit", "--after",
                     "nobody", "--", "true")

    def test_a_retry_does_not_ask_again(self):
        """Whatever took the name of the one that it was to come after."""
        self.ok("run", "--name", "first", "--", "true")
        gate = self.fifo()
        path = self.write("two.yaml", TWO.replace(
            '["true"]', '["test -e tried || { read x < %s; touch tried; '
            'exit 1; }"]' % gate, 1).replace(
                '["true"]', '["sleep 1000"]')
            + "jobRetryCount: 2\nextras: {gangAllocation: false}\n")
        self.ok("submit", "--after", "first", path)
        self.until_running("two")
        self.ok("rm", "first")
        self.ok("submit", "--name", "first", "--", "false")
        self.release(gate)
        self.assertEqual(self.ok("wait", "two"), "two SUCCEEDED\n")
        self.run_cli("wait", "first")

    def test_order_outlives_the_platform(self):
        gate = self.fifo()
        self.ok("submit", "--name", "first", "--", "sh", "-c",
                f"read x < {gate}")
        self.ok("submit", "--name", "next", "--after", "first", "--", "true")
        self.until_running("first")
        self.ok("down", "--leave")
        self.ok("up")
        self.assertIn("it waits for first", self.ok("why", "next"))
        self.release(gate)
        self.assertEqual(self.ok("wait", "next"), "next SUCCEEDED\n")


@unittest.skipUnless(shutil.which("bwrap"), "no bubblewrap")
class FoldersOfTmp(BoxTest):
    """Tasks have a /tmp of their own: what a command needs is shown."""
    runtime = None

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.outside = pathlib.Path(folder.name)

    def run_cli(self, *args, **kwargs):
        return super().run_cli(*args, **{"cwd": "/", **kwargs})

    def test_what_a_command_names(self):
        tmp = self.outside
        script = tmp / "deep" / "a.py"
        script.parent.mkdir()
        (tmp / "data").write_text("5")
        script.write_text("import sys; print(open(sys.argv[1]).read())")
        python = ["--", "/usr/bin/python3"]
        self.assertEqual(self.ok("run", "-q", *python, str(script),
                                 f"{tmp}/data"), "5\n")
        self.assertEqual(self.ok("run", "-q", "--", "sh", "-c",
                                 f"cat<{tmp}/data>{tmp}/out; echo $?"), "0\n")
        self.assertEqual((tmp / "out").read_text(), "5")
        self.assertEqual(self.ok(
            "run", "-q", "--folder", str(tmp), *python, "-c",
            f"print(open('/tmp'+'{str(tmp)[4:]}/data').read())"), "5\n")
        done = self.run_cli("run", "-v", *python, "-c",
                            f"print(open('/tmp'+'{str(tmp)[4:]}/data'))")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{tmp}/data does not exist.",
                      done.stderr)
        done = self.run_cli("run", "-v", "--", "sh", "-c",
                            ": > /tmp/none-such; ls /tmp/none-such")
        self.assertEqual(done.stderr.count("/tmp/none-such is not there"), 1)
        odd = tmp / "my exp, lr=0.1" / "b.py"
        odd.parent.mkdir()
        odd.write_text("print(5)")
        done = self.run_cli("run", "-v", *python, str(odd))
        self.assertEqual((done.returncode, done.stdout), (0, "5\n"))
        self.assertIn(f"the tasks see {odd.parent} of this machine",
                      done.stderr)
        shutil.rmtree(odd.parent)
        self.refused(125, "--folder is a path below /tmp", "run", "--folder",
                     "/etc", "--", "true")
        for words in (["run", "--folder", f"{tmp}/none", "--", "true"],
                      ["submit", "--folder", f"{tmp}/none", "--", "true"]):
            self.assertIn(f"--folder: there is no '{tmp}/none' on this "
                          "machine\n  help: make the folder before",
                          self.run_cli(*words).stderr)
        names = [path.name for path in tmp.iterdir()]
        self.assertEqual(sorted(names), ["data", "deep", "out"])

    def test_a_virtual_environment_below_tmp(self):
        tmp = self.outside
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip",
                        tmp / "venv"], check=True)
        ask = ["python", "-c", "import sys; print(sys.prefix)"]
        self.assertEqual(
            self.ok("run", "-q", "--", f"{tmp}/venv/bin/{ask[0]}", *ask[1:]),
            f"{tmp}/venv\n")
        self.env["PATH"] = f"{tmp}/venv/bin:" + self.env["PATH"]
        self.env["VIRTUAL_ENV"] = f"{tmp}/venv"
        self.assertEqual(self.ok("run", "-q", "--", *ask), f"{tmp}/venv\n")
