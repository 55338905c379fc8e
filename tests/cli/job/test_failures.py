"""Failures that people have, explained with the cure."""

import json
import os
import pathlib

import program
from box import BoxTest

IMPORTING = ("--", "python3", "-c", "import nosuchmodule")
CAUSE = "Python has no module 'nosuchmodule'."

# Tried again ever later: the GPU is said to have failed.
AGAIN = """
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: x, type: dockerimage, uri: x}}]
extras: {{gangAllocation: {gang}}}
taskRoles:
  main:
    dockerImage: x
    resourcePerInstance: {{cpu: 1, memoryMB: 64, gpu: 0}}
    commands:
      - echo CUDA_ERROR_ECC_UNCORRECTABLE
      - >-
        echo "ModuleNotFoundError: No module named 'nosuchmodule'"; exit 1
"""

OWN = """
failures:
  - name: license
    pattern: "license server: error (-[0-9]+)"
    reason: The license server refused with $1.
    solution: Ask licenses@example.org for a seat, and name $1.
  - name: our-module
    pattern: No module named 'nosuchmodule'
    reason: That module is ours.
"""


class Failures(BoxTest):
    def failure(self, name):
        return json.loads(self.ok("show", "--json", name))["jobStatus"][
            "failure"]

    # --- built-in ones

    def test_missing_module(self):
        """It is told where one looks: by run, wait, show, why, and the API."""
        run = self.run_cli("run", "--runtime", "process", "--name", "m",
                           *IMPORTING)
        self.assertEqual(run.returncode, 1, run)
        self.assertIn(f"\n  {CAUSE}\n  help: Install the module where the job runs: "
                      "pip install nosuchmodule.", run.stderr)
        for verb in ("show", "why"):
            told = self.ok(verb, "m")
            self.assertIn(f"\ncause      {CAUSE}\nprinted    "
                          "ModuleNotFoundError: No module named "
                          "'nosuchmodule'\nhelp       Install the module", told)
        self.assertEqual(self.failure("m"), json.loads(
            self.ok("why", "--json", "m"))["failure"])
        wait = self.run_cli("wait", "m")
        self.assertEqual((wait.returncode, wait.stdout), (1, "m FAILED\n"))
        self.assertIn(f"  {CAUSE}\n  help: ", wait.stderr)
        self.assertEqual(self.run_cli("wait", "--quiet", "m").stderr, "")
        self.assertEqual(
            json.loads(self.run_cli("wait", "--json", "m").stdout)["failure"],
            self.failure("m"))

    def test_colours(self):
        """Escape sequences of a terminal do not hide it."""
        self.run_cli("run", "--runtime", "process", "--name", "c", "--", "sh",
                     "-c", r"printf '\033[0;31mModuleNotFoundError\033[0m: No "
                     r"module named '\''x'\''\n'; exit 1")
        self.assertEqual(self.failure("c")["name"], "module-missing")

    def test_fields(self):
        """A job and its task have it; what succeeds, or fails in a way that
        nobody knows, has none.  Exit codes are as before."""
        self.run_cli("run", "--runtime", "process", "--name", "f", *IMPORTING)
        told = json.loads(self.ok("show", "--json", "f"))
        self.assertEqual(sorted(told["jobStatus"]["failure"]),
                         ["line", "name", "reason", "solution"])
        self.assertEqual(told["jobStatus"]["failure"]["name"],
                         "module-missing")
        self.assertEqual(
            told["taskRoles"]["main"]["taskStatuses"][0]["failure"],
            told["jobStatus"]["failure"])
        self.assertEqual(told["jobStatus"]["appExitCode"], 255)
        self.assertEqual(told["jobStatus"]["originUserExitCode"], 1)
        self.ok("run", "--name", "good", "--", "true")
        self.assertIsNone(self.failure("good"))
        self.run_cli("run", "--name", "bad", "--", "sh", "-c",
                     "echo no module named x; exit 3")
        self.assertIsNone(self.failure("bad"))
        run = self.run_cli("run", "--json", "--name", "events", "--", "false")
        self.assertNotIn("failure", json.loads(run.stdout.splitlines()[-1]))
        self.assertNotIn("cause", self.ok("show", "bad"))
        self.assertIsNone(json.loads(
            self.run_cli("wait", "--json", "bad").stdout)["failure"])

    def test_missing_command(self):
        """Also as the last event of --json, and behind a restart."""
        run = self.run_cli("run", "--json", "--name", "c", "--", "frobnicate",
                           "-x")
        self.assertEqual(run.returncode, 127, run)
        events = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual((events[-1]["event"], events[-1]["state"]),
                         ("job", "failed"))
        self.assertEqual(events[-1]["failure"]["name"], "command-not-found")
        self.assertEqual(events[-1]["failure"]["reason"],
                         "The command 'frobnicate' was not found.")
        self.ok("down")
        self.ok("up")
        self.assertEqual(self.failure("c"), events[-1]["failure"])

    def test_long_output_behind(self):
        """It is found among the last 64 KiB, whatever follows it."""
        run = self.run_cli(
            "run", "--runtime", "process", "--name", "long", "--", "python3",
            "-c", "import sys\n"
            "print('torch.OutOfMemoryError: CUDA out of memory. Tried to "
            "allocate 2.00 GiB. GPU 0 has a total capacity of 23.65 GiB of "
            "which 1.06 GiB is free.')\n"
            "for i in range(500): print('UserWarning: leaked semaphore ' * 4)\n"
            "sys.exit(1)")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(self.failure("long")["name"], "gpu-out-of-memory")
        self.assertIn("needed 2.00 GiB more on GPU 0",
                      self.failure("long")["reason"])

    def test_stopped(self):
        """What a task prints when it is asked to end is no cause."""
        said = self.write("said", "ModuleNotFoundError: No module named 'x'\n")
        name = self.ok("submit", self.job(
            f"trap 'cat {said}; exit 1' TERM; echo up; "
            "while :; do sleep 0.1; done")).strip()
        logs = self.start("logs", "-f", name)
        self.assertEqual(logs.stdout.readline(), "up\n")
        self.ok("stop", name)
        self.assertIn("No module named 'x'", logs.communicate()[0])
        self.run_cli("wait", name)
        told = json.loads(self.ok("show", "--json", name))
        task, = told["taskRoles"]["a"]["taskStatuses"]
        self.assertIsNone(task["failure"])
        self.assertIsNone(told["jobStatus"]["failure"])

    def test_before_it_is_tried_again(self):
        """The cause of the last attempt beside why it waits."""
        self.ok("up")
        for gang in "true", "false":  # the job waits, or its task
            name = "again-" + gang
            self.ok("submit", self.write("again.yaml", AGAIN.format(
                name=name, gang=gang)))
            told = {"reasons": ()}
            while not told["reasons"] or \
                    "retry 4 of" not in told["reasons"][0]["text"]:
                told = json.loads(self.ok("why", "--json", name))
            self.assertEqual((told["state"], told["failure"]["name"],
                              told["role"], told["index"]),
                             ("WAITING" if gang == "true" else "RUNNING",
                              "module-missing", "main", 0))
            self.assertEqual(told["reasons"][0]["code"], "retry")
            self.assertNotIn("code", told)
            text = ""
            while "of at most 100, in " not in text:
                text = self.ok("why", name)
            whose = ("its last attempt" if gang == "true" else
                     "the last start of main[0]")
            self.assertIn(f"\n  {whose} failed: {CAUSE}\n"
                          "  printed: ModuleNotFoundError: No module named "
                          "'nosuchmodule'\n  help: Install the module", text)
            self.ok("stop", name)

    def test_terminal(self):
        """What a program prints does nothing to the terminal."""
        self.run_cli("run", "--runtime", "process", "--name", "t", "--",
                     "python3", "-c", "import sys; sys.exit("
                     "\"ModuleNotFoundError: No module named 'a\\x1b[2Jb\\x1bc'\")")
        self.assertIn("ab\x1bc", self.failure("t")["reason"])
        self.assertNotIn("\x1b", self.ok("show", "t"))
        self.assertNotIn("\x1b", self.run_cli("wait", "t").stderr)

    # --- own ones

    def own(self, text):
        pathlib.Path(self.root).mkdir(mode=0o700, exist_ok=True)
        path = pathlib.Path(self.root) / "failures.yaml"
        path.write_text(text)
        return path

    def test_own(self):
        """They come before the built-in ones."""
        self.own(OWN)
        self.run_cli("run", "--name", "l", "--", "sh", "-c",
                     "echo license server: error -88; exit 1")
        self.assertEqual(self.failure("l"), {
            "name": "license",
            "reason": "The license server refused with -88.",
            "solution": ["Ask licenses@example.org for a seat, and name -88."],
            "line": "license server: error -88"})
        run = self.run_cli("run", "--runtime", "process", "--name", "o",
                           *IMPORTING)
        self.assertIn("  That module is ours.\n", run.stderr)
        self.assertNotIn("help:", run.stderr)
        self.assertEqual(self.failure("o")["solution"], [])

    def test_broken_file(self):
        """The platform does not start, and says where to look."""
        path = self.own(OWN + "  - name: x\n    reason: y\n"
                        "    pattern: 'a(b'\n")
        done = self.run_cli("up")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{path}:12:5: the pattern cannot be read from "
                      "character 2 on: (b", done.stderr)
        self.assertIn("help: patterns support", done.stderr)
        done = self.run_cli("doctor")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{path}:12:5: the pattern cannot be read from "
                      "character 2 on: (b\n  help: patterns support", done.stderr)
        self.assertIn("when failures.yaml is corrected", done.stdout)
        done = json.loads(self.run_cli("doctor", "--json").stdout)
        self.assertFalse(done["healthy"])
        self.assertIn(":12:5: the pattern", done["failures"]["message"])
        self.assertIn("patterns support", done["failures"]["help"])
        path.rename(path.with_name("kept"))
        os.mkfifo(path)  # nobody waits for what comes
        self.assertIn(f"{path} is not a regular file",
                      self.run_cli("doctor").stderr)
        path.unlink()
        path.write_text("failures:\n  - nmae: x\n")
        self.assertIn(f"{path}:2:5: a failure has no nmae",
                      self.run_cli("up").stderr)
        path.write_text(OWN)
        if os.geteuid() != 0:
            path.chmod(0)
            done = self.run_cli("doctor")
            self.assertEqual(done.returncode, 1)
            self.assertIn("failures.yaml was not checked", done.stdout)
            self.assertIn("cannot read", done.stderr)
            path.chmod(0o600)
        self.ok("up")
        self.assertIsNone(json.loads(
            self.run_cli("doctor", "--json").stdout)["failures"])
