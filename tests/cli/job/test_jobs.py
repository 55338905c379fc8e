"""The examples of jobs, as a user runs them: argv[2] is their folder; argv[3]
is a library that plays NVML, argv[4] one that makes a machine large."""

import ctypes.util
import json
import math
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import program

JOBS = pathlib.Path(sys.argv[2]).resolve()
FAKE_NVML, FAKE_MACHINE = map(os.path.abspath, sys.argv[3:5])


class Jobs(program.ProgramTest):
    def run_job(self, file, *words, code=0):
        """What a job of the examples printed: a list of lines for each task;
        and what is shown of it as JSON."""
        done = self.run_cli("run", *words, str(JOBS / file))
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        self.told = done.stderr
        tasks = {}
        for line in done.stdout.splitlines():
            name, _, text = line.partition("|")
            tasks.setdefault(name.strip(), []).append(text[1:])
        name = re.search(r'(?m)^name: (\S+)|"jobName": "(\S+)"',
                         (JOBS / file).read_text())
        name = name[1] or name[2]
        job = self.shown(name)
        only = [(role, its["taskStatuses"]) for role, its in
                job["taskRoles"].items()]
        if len(only) == 1 and len(only[0][1]) == 1:  # it has no prefix
            tasks = {f"{only[0][0]}[0]": self.run_cli(
                "logs", name).stdout.splitlines()}
        return tasks, job

    def run_folder(self, name, code=0):
        return self.run_job(f"{name}/job.yaml", "--code", str(JOBS / name),
                            code=code)

    def shown(self, name):
        done = self.run_cli("show", "--json", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def states(self, job):
        return {f"{role}/{task['taskIndex']}": task["taskState"]
                for role, its in job["taskRoles"].items()
                for task in its["taskStatuses"]}


class Good(Jobs):
    def test_hello(self):
        tasks, job = self.run_job("hello.yaml")
        self.assertEqual(tasks["server[0]"][1:], ["heard: Hello, server!"])
        self.assertEqual(tasks["client[0]"], ["heard: Hello, client!"])
        self.assertEqual(job["jobStatus"]["appExitCode"], 0)

    def test_all_reduce(self):
        tasks, job = self.run_folder("all-reduce")
        names = ["left[0]", "left[1]", "right[0]", "right[1]"]
        self.assertEqual(sorted(tasks), names)
        last = [re.fullmatch(r"rank (\d) of 4: loss (\S+), weights (.*)",
                             tasks[name][-1]) for name in names]
        self.assertEqual([m[1] for m in last], ["0", "1", "2", "3"])
        # All have the same, to the last bit; and it is what they looked for.
        self.assertEqual(len({m[2] for m in last}), 1)
        self.assertLess(float(last[0][2]), 1e-12)
        self.assertEqual([float(w) for w in last[0][3].split()],
                         [-3, -2, -1, 0, 1, 2, 3, 4])
        losses = [float(line.rpartition(" ")[2]) for line in tasks["left[0]"]
                  if line.startswith("step")]
        self.assertEqual(losses, sorted(losses, reverse=True))
        self.assertEqual(tasks["right[1]"][0], "task 1 of right")
        self.assertEqual(set(self.states(job).values()), {"SUCCEEDED"})

    def test_parameter_server(self):
        tasks, job = self.run_folder("parameter-server")
        for index in range(2):
            lines = tasks[f"worker[{index}]"]
            loss, weights = re.fullmatch(
                rf"worker {index}: loss (\S+), weights (.*)",
                lines[-1]).groups()
            first = float(lines[0].rpartition(" ")[2])
            self.assertLess(float(loss), first / 100)
            self.assertEqual([round(float(w)) for w in weights.split()],
                             [1, -2, 3, -4])
        self.assertRegex(tasks["ps[0]"][0], r"^weights are at port \d+$")
        self.assertEqual(self.states(job), {
            "ps/0": "STOPPED", "worker/0": "SUCCEEDED",
            "worker/1": "SUCCEEDED"})
        self.assertIn("MinSucceededTaskCount 2",
                      job["jobStatus"]["appExitTriggerMessage"])
        self.assertEqual(job["jobStatus"]["appExitTriggerTaskRoleName"],
                         "worker")

    def test_service(self):
        tasks, job = self.run_folder("service")
        self.assertEqual(tasks["service[0]"], [
            "attempt 0 begins with 0 answers", "crashed after 3 answers",
            "attempt 1 begins with 3 answers", "crashed after 6 answers",
            "attempt 2 begins with 6 answers", "all 8 answers were given"])
        status = job["jobStatus"]
        self.assertEqual((status["state"], status["attemptId"],
                          status["retries"], status["retryDetails"]["user"]),
                         ("SUCCEEDED", 2, 2, 2))
        self.assertEqual(self.states(job), {"service/0": "SUCCEEDED",
                                            "client/0": "STOPPED"})
        before = self.run_cli("logs", "service", "--task", "service/0",
                              "--attempt", "1")
        self.assertEqual(before.stdout, "attempt 1 begins with 3 answers\n"
                         "crashed after 6 answers\n")

    def shared_memory(self):
        return set(pathlib.Path("/dev/shm").glob("vader_segment.*"))

    def test_mpi(self):
        path = os.environ["PATH"] + ":/usr/sbin"
        for name in ("mpirun", "orted", "sshd", "ssh", "ssh-keygen"):
            if shutil.which(name, path=path) is None:
                self.skipTest(f"MPI IS NOT TESTED: there is no {name}")
        if ctypes.util.find_library("mpi") is None:
            self.skipTest("MPI IS NOT TESTED: there is no libmpi")
        before = self.shared_memory()
        tasks, job = self.run_folder("mpi")
        self.assertEqual(sorted(line for line in tasks["worker[0]"]
                                if "slots" in line),
                         ["worker-0 slots=2", "worker-1 slots=2"])
        parts = {}
        for line in tasks["worker[0]"]:
            if part := re.fullmatch(r"rank (\d) of 4, of task (\d): my part "
                                    r"is (\S+)", line):
                parts[part[1]] = (part[2], float(part[3]))
        self.assertEqual({rank: task for rank, (task, _) in parts.items()},
                         {"0": "0", "1": "0", "2": "1", "3": "1"})
        self.assertAlmostEqual(sum(part for _, part in parts.values()),
                               math.pi, places=10)
        self.assertIn("pi is 3.141592653590", tasks["worker[0]"])
        self.assertEqual(self.states(job), {"worker/0": "SUCCEEDED",
                                            "worker/1": "STOPPED"})
        self.assertEqual(self.shared_memory() - before, set())


# A task looks for the other one as ranks of MPI do: by a file in /dev/shm, by
# its number, and by reading its memory.
PEER = """
import ctypes, os, pathlib, time
libc = ctypes.CDLL(None, use_errno=True)
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
def part(of):
    return ctypes.byref(Part(of, 5))
memory = ctypes.create_string_buffer(b"shown")
index = int(os.environ["PAI_TASK_INDEX"])
own, other = (pathlib.Path(f"/dev/shm/{os.environ['KEY']}-{i}")
              for i in (index, 1 - index))
new = own.with_suffix(".new")
new.write_text(f"{os.getpid()} {ctypes.addressof(memory)}")
new.rename(own)
while not other.exists():
    time.sleep(0.02)
pid, address = map(int, other.read_text().split())
os.kill(pid, 0)
got = ctypes.create_string_buffer(5)
n = libc.process_vm_readv(pid, part(ctypes.addressof(got)), 1, part(address),
                          1, 0)
print(os.readlink("/proc/self/ns/user"), got.raw.decode() if n == 5 else
      os.strerror(ctypes.get_errno()), flush=True)
pathlib.Path(f"done-{index}").touch()
while not pathlib.Path(f"done-{1 - index}").exists():
    time.sleep(0.02)
"""

# Deeper than who removes it goes, and closed to him.
DEEP = ("mkdir /dev/shm/mine$PAI_TASK_INDEX; cd /dev/shm/mine$PAI_TASK_INDEX; "
        "for i in $(seq 100); do mkdir d; touch f; cd d; done; "
        "chmod 0 /dev/shm/mine$PAI_TASK_INDEX; ")


class Memory(Jobs):
    def test_tasks_of_a_job_share_it(self):
        self.write("peer.py", PEER)
        scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
        job = self.job(f"KEY=openpai-{self.folder.name} python3 peer.py",
                       instances=2)
        done = self.run_cli("run", job)
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        lines = [line.partition(" | ")[2].split(" ", 1)
                 for line in done.stdout.splitlines()]
        self.assertEqual(lines[0][0], lines[1][0])  # the same name space
        if not scope.exists() or scope.read_text().strip() == "0":
            self.assertEqual([line[1] for line in lines[:2]], ["shown"] * 2)


class SharedMemory(program.RootTest):
    runtime = None

    def test_no_other_job_has_it(self):
        """What tasks have in /dev/shm is their job's, and gone with it."""
        shared = pathlib.Path("/dev/shm")
        left = shared / f"openpai-left-{self.folder.name}"
        # Other tests' holders remove it, too, as soon as it has its name.
        new = shared / f"left-{self.folder.name}"
        new.mkdir()
        (new / "file").touch()
        new.rename(left)
        self.ok("submit", "--name", "first",
                self.job(DEEP + "echo up; sleep 1000", instances=2,
                         cpu=0))
        self.until_up("first")
        self.assertFalse(left.exists())  # its holder is gone
        own = [folder for folder in shared.glob("openpai-*")
               if any((folder / f"mine{i}").exists() for i in range(2))]
        self.assertEqual(len(own), 1, own)
        for instances in 1, 2:
            listed = self.ok("run", "--name", f"job-{instances}", self.job(
                "ls -A /dev/shm; echo x > /dev/shm/x", instances=instances,
                cpu=0))
            self.assertNotIn("mine", listed)
        self.assertFalse(pathlib.Path("/dev/shm/x").exists())
        self.ok("stop", "first")
        while own[0].exists():  # it is removed after the end is told
            time.sleep(0.01)


class Version1(Jobs):
    def test_example(self):
        tasks, job = self.run_job("v1/job.json", "--code",
                                  str(JOBS / "v1/code"))
        self.assertEqual(tasks["worker[0]"][:3], ["step 0", "step 1",
                                                  "step 2"])
        model = pathlib.Path(tasks["worker[0]"][3].partition("is ")[2])
        self.assertEqual(model.read_text(), "3 steps\n")
        self.assertEqual(tasks["ps_server[0]"],
                         ["data are in /usr/share/dict"])
        self.assertEqual(self.states(job), {"psserver/0": "STOPPED",
                                            "worker/0": "SUCCEEDED"})

    def v1(self, command, **fields):
        role = {"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100,
                "gpuNumber": 0, "command": command}
        return self.write("v1.json", json.dumps(
            {"jobName": "v1", "image": "i", "taskRoles": [role], **fields}))

    def code(self, *folders):
        folder = self.folder.joinpath(*folders)
        folder.mkdir(parents=True)
        (folder / "x.sh").write_text("echo x; touch code/made")
        return folder

    def test_code_of_this_machine(self):
        code = self.code("far", "code")
        for address in (str(code), "far/code/", f"file://{code}",
                        f"$PAI_DEFAULT_FS_URI{code}"):
            done = self.run_cli("run", self.v1(
                "bash code/x.sh; ls . code; echo $PAI_CODE_DIR",
                codeDir=address))
            self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
            self.assertEqual(
                done.stdout.split("\n"),
                ["x", ".:", "code", "", "code:", "made", "x.sh",
                 address.replace("$PAI_DEFAULT_FS_URI", ""), ""])
        self.assertEqual([p.name for p in code.iterdir()], ["x.sh"])

    def test_code_that_cannot_be_had(self):
        address = "hdfs://10.1.2.3:9000/ann/code"
        job = self.v1("bash code/x.sh", codeDir=address, dataDir=address,
                      outputDir=address)
        done = self.run_cli("run", "-v", job)
        self.assertEqual(done.returncode, 1)
        self.assertIn("note: codeDir is an address, which is not fetched",
                      done.stderr)
        self.assertIn("note: dataDir is an address", done.stderr)
        self.assertIn("note: outputDir is an address", done.stderr)
        self.assertIn(f"openpai: codeDir {address}: such addresses are "
                      "not fetched; have its folder code where the job begins",
                      done.stdout)
        self.assertRegex(self.run_cli("show", "v1").stdout,
                         r"(?m)^printed +openpai: codeDir hdfs://")
        done = self.run_cli("run", self.v1("true", codeDir="/no/such"))
        self.assertIn("codeDir /no/such: there is no such folder on this "
                      "machine", done.stdout)
        # What the user has of it is taken, and is not written to.
        code = self.code("here", "code")
        for words, where in ((["--code", "here"], self.folder),
                             (["--code", "here/code"], self.folder),
                             ([], self.folder / "here")):
            job = self.v1("bash code/x.sh", codeDir=address)
            done = self.run_cli("run", *words, job, cwd=where)
            self.assertEqual((done.returncode, done.stdout),
                             (0, "x\n"), words)
        self.assertEqual([p.name for p in code.iterdir()], ["x.sh"])

    def test_much_code(self):
        code = self.code("code")
        with open(code / "much", "wb") as file:
            file.truncate(200000001)
        done = self.run_cli("run", self.v1("true", codeDir="code"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"codeDir code has \d+ bytes, more than "
                         "200000000: give it to openpai run --code")

    def test_folders(self):
        out = self.folder / "out"
        done = self.run_cli("run", self.v1(
            "echo $PAI_DATA_DIR $PAI_OUTPUT_DIR; ls -d $PAI_OUTPUT_DIR",
            dataDir="/etc", outputDir=f"{out}/$PAI_USER_NAME"))
        user = json.loads(self.run_cli("show", "--json", "v1").stdout)[
            "jobStatus"]["username"]
        self.assertEqual(done.stdout, f"/etc {out}/{user}\n"
                         f"{out}/{user}\n")

    # --- OpenPAI's own tutorial ------------------------------------------------

    def program(self, name, script):
        path = self.image / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def large_machine(self):
        """8 GPUs, 64 CPUs, 256 GiB; and programs of the image."""
        # Not in /tmp, of which tasks see only where they begin.
        self.image = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.image)
        shutil.copy(FAKE_NVML, self.image / "libnvidia-ml.so.1")
        shutil.copy(FAKE_MACHINE, self.image / "fake_machine.so")
        self.env.update(LD_LIBRARY_PATH=str(self.image), FAKE_NVML="8 idle",
                        LD_PRELOAD=str(self.image / "fake_machine.so"),
                        PATH=f"{self.image}:{self.env['PATH']}")
        if "verify_asan_link_order" not in self.env.get("ASAN_OPTIONS", ""):
            self.env["ASAN_OPTIONS"] = ":".join(filter(None, [
                self.env.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        self.program("git", 'echo git "$@"; mkdir -p models/research/slim')
        self.program("pip", 'echo pip "$@"')
        self.program("python", 'echo python "$@" of $CUDA_VISIBLE_DEVICES')

    def tutorial(self, name):
        root = pathlib.Path(__file__).resolve().parents[3]
        cases = pathlib.Path(os.environ.get("OPENPAI_SHARED",
                                            root.parent / "shared"),
                             "data/specs/v1-cases.jsonl")
        if not cases.exists():
            self.skipTest(f"OPENPAI'S TUTORIAL IS NOT RUN: no {cases}")
        for line in cases.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            if case["id"] == f"examples_tensorflow_tensorflow.{name}.json":
                return self.write(f"{name}.json", case["text"])
        return self.fail(f"{cases} has no {name}")

    def test_tutorial_of_one_task(self):
        self.large_machine()
        done = self.run_cli("run", "-v", self.tutorial("cifar10"))
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        note = "runs (in a sandbox|as processes) of this machine, not in its image"
        self.assertRegex(done.stderr, note)
        self.assertEqual(self.run_cli("down").returncode, 0)
        # Who listens when all is over hears it, too, from another platform.
        name = json.loads((self.folder / "cifar10.json").read_text())["jobName"]
        self.assertRegex(self.run_cli("events", "--follow", name).stdout, note)
        self.assertRegex(self.run_cli("show", name).stdout, "runtime +" + note)
        lines = done.stdout.splitlines()
        self.assertEqual(
            lines[:2], ["git clone https://github.com/tensorflow/models",
                        "python download_and_convert_data.py --dataset_name="
                        "cifar10 --dataset_dir=/tmp/data of 0"])
        self.assertIn("--train_dir=/tmp/output of 0", lines[2])

    def test_tutorial_of_many_tasks(self):
        self.large_machine()
        file = self.tutorial("distributed-cifar10")
        done = self.run_cli("run", file)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("have its folder code where the job begins", done.stdout)
        self.code("here", "code")
        done = self.run_cli("run", "--code", "here", file)
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        words = [line for line in done.stdout.splitlines()
                 if "job_name=worker" in line]
        self.assertEqual(len(words), 2, done.stdout)
        hosts = set()
        for line in words:
            found = re.search(r"--ps_hosts=(\S+) --worker_hosts=(\S+) ", line)
            hosts.add(found.groups())
            self.assertIn("/examples/tensorflow/distributed-cifar-10/data ",
                          line)
        self.assertEqual(len(hosts), 1)  # all see the same
        for side in hosts.pop():
            self.assertRegex(side, r"^[\d.]+:\d{2,5},[\d.]+:\d{2,5}$")
        self.assertEqual(sorted(line.rpartition(" of ")[2] for line in words),
                         ["0,1,2,3", "4,5,6,7"])


# Each way to fail: what `run` ends with, OpenPAI's code, its name and type,
# and what people are told.
FAILURES = {
    "oom": (137, -1200, "UserContainerDockerOOMKilled", "USER_FAILURE",
            "used more memory than it requested",
            "resourcePerInstance.memoryMB"),
    "signal": (139, 139, "ContainerSigSegvReceived", "UNKNOWN_FAILURE",
               "SIGSEGV", "Look for the error in the task's output"),
    "timeout": (124, 255, "PAIRuntimeUnknownFailed", "UNKNOWN_FAILURE",
                "exited with code 124", "Look for the error in the task's output"),
    "missing-command": (220, 220, "UserCommandExitWithError", "USER_FAILURE",
                        "A command was not found", "Install the command"),
    "missing-module": (232, 232, "ContainerImportError", "USER_FAILURE",
                       "module could not be imported",
                       "pip install --upgrade math"),
    "broken-data": (229, 229, "ContainerIncorrectDataModelError",
                    "USER_FAILURE", "Data or a model could not be read",
                    "Check that the files exist"),
    "unknown": (42, 255, "PAIRuntimeUnknownFailed", "UNKNOWN_FAILURE",
                "exited with code 42", "Look for the error in the task's output"),
}


class Failures(Jobs):
    def test_all_are_here(self):
        self.assertEqual(sorted(FAILURES), sorted(
            file.stem for file in (JOBS / "failures").iterdir()))

    def fails(self, name):
        ends, code, phrase, kind, what, cure = FAILURES[name]
        tasks, job = self.run_job(f"failures/{name}.yaml", code=ends)
        status = job["jobStatus"]
        spec = status["appExitSpec"]
        self.assertEqual(
            (status["state"], status["appExitCode"], spec["phrase"],
             spec["type"], status["retries"]),
            ("FAILED", code, phrase, kind, 0))
        task = job["taskRoles"]["main"]["taskStatuses"][0]
        self.assertEqual((task["taskState"], task["containerExitCode"]),
                         ("FAILED", code))
        # What is needed comes first: what, the last line, what to do, where.
        for verb in ("show", "why"):
            text = self.run_cli(verb, name).stdout
            ours, _, theirs = text.partition("\nOpenPAI's message:\n")
            self.assertRegex(ours, rf"(?m)^failed +task main/0.*{what}")
            self.assertRegex(ours, rf"(?m)^help +.*{cure}")
            self.assertRegex(ours, rf"(?m)^logs +openpai logs {name} "
                             "--task main/0$")
            self.assertEqual(
                re.search(r"(?m)^printed +(.*)$", ours)[1].split(),
                tasks["main[0]"][-1].split())
            self.assertNotIn("PodPattern", ours)
            self.assertIn("PodPattern matched:", theirs)
        return tasks

    def test_memory(self):
        self.assertEqual(self.fails("oom")["main[0]"][0],
                         "128 MiB are ours; here are 512")
        self.assertIn("more memory than it requested", self.told)
        self.assertIn("  help: Request more memory", self.told)

    def test_signal(self):
        self.fails("signal")

    def test_time(self):
        self.fails("timeout")
        done = self.run_cli("run", "--time", "1", "--", "sleep", "1000")
        self.assertEqual(done.returncode, 124)

    def test_commands(self):
        self.fails("missing-command")
        self.fails("missing-module")
        self.fails("broken-data")

    def test_a_code_of_its_own(self):
        self.fails("unknown")
        self.assertNotIn("help:", self.told)  # nothing is known

    def test_one_code_is_told(self):
        """Where nobody knows more: the one that the command ended with."""
        done = self.run_cli("run", "--json", str(JOBS /
                                                 "failures/unknown.yaml"))
        self.assertEqual(done.returncode, 42)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([(e["event"], e["code"]) for e in events
                          if "code" in e], [("task", 42), ("job", 42)])
        self.assertEqual(events[-1]["text"], "task main[0] exited with code 42")
        waited = self.run_cli("wait", "--json", "unknown")
        self.assertEqual((waited.returncode, json.loads(waited.stdout)["code"]),
                         (42, 42))
        self.assertRegex(self.run_cli("show", "unknown").stdout,
                         r"(?m)^  main/0 .*  code 42$")
        done = self.run_cli("run", "--json", str(JOBS / "failures/oom.yaml"))
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([e.get("code") for e in events][-2:], [-1200, -1200])
        self.assertEqual(events[-1]["text"],
                         "task main[0] exited with code -1200: out of memory")
        self.assertEqual(done.returncode, 137)
        self.assertEqual(self.run_cli("wait", "oom").returncode, 137)
