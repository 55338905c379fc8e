"""The openpai program as a user meets it."""

import contextlib
import errno
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import unittest

import program

HELLO = sys.argv[2]


class Cli(program.ProgramTest):
    def test_no_verb_and_unknown_verb(self):
        done = self.run_cli()
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage:", done.stderr)
        done = self.run_cli("rum")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("there is no verb 'rum'", done.stderr)

    def test_help_and_version(self):
        for args in (["help"], ["--help"], ["help", "run"], ["help", "help"], ["run", "--help"],
                     ["doctor", "-h"]):
            done = self.run_cli(*args)
            self.assertEqual((done.returncode, done.stderr), (0, ""), args)
            self.assertIn("usage: openpai", done.stdout)
        self.assertEqual(self.run_cli("help", "rum").returncode, 2)
        self.assertLessEqual(self.run_cli("help").stdout.count("\n"), 24)
        for verb in ("run", "vc add", "sim generate", "fit", "help"):
            self.assertIn(f"\n  {verb} ", self.run_cli("help", "--all").stdout)
        self.assertRegex(self.run_cli("--version").stdout,
                         r"^openpai \d+\.\d+\.\d+\n$")

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_words_that_bash_offers(self):
        script = pathlib.Path(sys.argv[3]).read_text()
        for line, offered in (("openpai he", "helper\nhelp"),
                              ("openpai help sp", "spec"),
                              ("openpai help spec sc", "schema"),
                              ("openpai help spec check ", ""),
                              ("openpai help run ", ""),
                              ("openpai spec diff --", "--json\n--help"),
                              ("openpai cluster h", "hived"),
                              ("openpai help sch", "sched"),
                              ("openpai sched e", "explain"),
                              ("openpai help cluster sh", "show"),
                              ("openpai cluster show --as ku", "kubernetes"),
                              ("openpai cluster top x", "")):
            words = line.split(" ")
            done = subprocess.run(
                ["bash", "-c", script + "COMP_WORDS=(\"$@\")\n"
                 "COMP_CWORD=$(($# - 1))\n_openpai\n"
                 "printf '%s\\n' \"${COMPREPLY[@]}\"", "bash", *words],
                stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(done.stdout.strip(), offered, line)

    def test_hello(self):
        done = self.run_cli("run", HELLO)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("server[0] | heard: Hello, server!\n", done.stdout)
        self.assertIn("client[0] | heard: Hello, client!\n", done.stdout)

    def test_quiet_when_piped_unless_asked(self):
        done = self.run_cli("run", self.job("echo hi; printf end"))
        self.assertEqual(done.stdout, "hi\nend")
        self.assertEqual(done.stderr, "")
        done = self.run_cli("run", "--verbose", self.job("echo hi"))
        self.assertIn("note: job test exists already: this job is named "
                      "test_2\n",
                      done.stderr)
        done = self.run_cli("run", "--verbose", "--name", "other",
                            self.job("echo hi"))
        self.assertIn("other running\n", done.stderr)
        self.assertRegex(done.stderr, r"other succeeded after \d+\.\d s\n$")
        self.assertNotIn("\033", done.stderr + done.stdout)

    def test_exit_code_is_the_jobs(self):
        done = self.run_cli("run", self.job("exit 7"))
        self.assertEqual(done.returncode, 7)
        self.assertIn("task a[0] exited with code 7", done.stderr)
        logs = re.search(r"logs: (.*)", done.stderr).group(1)
        self.assertTrue(pathlib.Path(logs, "0", "a-0", "all").exists())
        self.assertEqual(
            self.run_cli("run", self.job("kill -ABRT $$")).returncode, 134)

    def test_bad_files_are_told_like_a_compiler_does(self):
        path = self.job("true", instances=0)
        done = self.run_cli("run", path)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual(done.stderr,
                         f"{path}:7:16: error: instances cannot be 0 "
                         "[too-small]\n    7 |     instances: 0\n"
                         "      |                ^\n"
                         "  help: use 1 or more\n")
        done = self.run_cli("run", "-", input="a: [")
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, r"^<stdin>:\d+:\d+: error: ")
        done = self.run_cli("run", "/no/such/file")
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr, "openpai: error: cannot read "
                         "/no/such/file: No such file or directory\n")

    def test_the_place_is_told_also_when_the_file_is_named(self):
        os.rename(self.job("true", instances=0), self.folder / "instances")
        done = self.run_cli("run", "instances", cwd=self.folder)
        self.assertTrue(done.stderr.startswith(
            "instances:7:16: error: instances cannot be 0 "), done.stderr)

    def test_wrong_words(self):
        for args in (["run"], ["run", "a", "b"], ["run", "--jsn", "a"],
                     ["run", "--json=1", "a"], ["run", "--root"]):
            done = self.run_cli(*args)
            self.assertEqual((done.returncode, done.stdout), (125, ""), args)
            self.assertIn("help: did you mean --json?" if "--jsn" in args
                          else "help: openpai run --help", done.stderr)
        self.assertEqual(self.run_cli("doctor", "x").returncode, 2)

    def test_letters_are_joined(self):
        """As getopt() has them, with a value behind the last one."""
        for words in (["-lwn1"], ["-l", "-wn", "1"], ["-lw", "-n1"]):
            done = self.run_cli("list", "--root", "/nowhere", *words)
            self.assertNotIn("option", done.stderr, words)
        for words, what in ((["-lx"], "unknown option: -x\n"),
                            (["-ln"], "this option needs a value: -ln"),
                            (["-n1l"], "--limit is a whole number")):
            done = self.run_cli("list", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(what, done.stderr)

    def test_empty_command(self):
        for verb, code in (("submit", 2), ("run", 125)):
            done = self.run_cli(verb, "--", "")
            self.assertEqual(done.returncode, code)
            self.assertIn("the command after -- is empty", done.stderr)

    def test_few_descriptors(self):
        done = subprocess.run(
            ["bash", "-c", "ulimit -n 5; exec \"$@\"", "bash", program.OPENPAI,
             "list"], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "the limit of open files is 5: .*\n"
                                      "  help: raise it: ulimit -n")

    def test_unusable_root(self):
        job = self.job("true")
        done = self.run_cli("run", "--root", f"{job}/x", job)
        self.assertEqual(done.returncode, 125)
        self.assertIn(f"{job}/x: Not a directory", done.stderr)
        self.env.pop("XDG_STATE_HOME")
        self.env.pop("HOME", None)
        done = self.run_cli("run", job)
        self.assertEqual(done.returncode, 125)
        self.assertIn("HOME is not set", done.stderr)

    def test_root_holds_everything_and_is_private(self):
        root = self.folder / "root"
        self.run_cli("run", "--root", str(root), self.job("true"))
        self.run_cli("run", f"--root={root}", self.job("true"))
        self.run_cli("--root", str(root), "run", self.job("true"))
        names = [p.name.split("~")[1] for p in (root / "jobs").iterdir()]
        self.assertEqual(sorted(names), ["test", "test_2", "test_3"])
        for path in program.files_below(root):
            for each in path, path.parent:
                with contextlib.suppress(FileNotFoundError):
                    self.assertEqual(each.stat().st_mode & 0o077, 0, each)
        self.assertFalse((self.folder / "state").exists())

    def test_json_events(self):
        done = self.run_cli("run", "--json",
                            self.job(r"printf 'a\"\\\x01\xff\xc3\xa4'"))
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(done.stderr, "")
        # Where following it began depends on how quick it was.
        if events[0].get("state") == "waiting":
            del events[0]
        self.assertEqual(
            [(e["event"], e.get("state")) for e in events],
            [("job", "running"), ("task", "running"), ("output", None),
             ("task", "succeeded"), ("job", "succeeded")])
        self.assertEqual(events[2]["text"], 'a"\\\x01\ufffd\xe4')
        self.assertEqual((events[2]["role"], events[2]["index"],
                          events[2]["stream"]), ("a", 0, 1))
        self.assertEqual(events[-1]["code"], 0)

    def test_json_keeps_characters_whole(self):
        fifo = self.fifo()
        process = self.start("run", "--json", self.job(
            rf"printf 'a\xc3'; read -r x <{fifo}; printf '\xa4b\xe2\x82'"))
        texts = []
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "output":
                texts.append((event["stream"], event["text"]))
                if len(texts) == 1:  # the first half has been read
                    self.release(fifo)
            elif event["event"] == "task" and event["state"] == "succeeded":
                texts.append("ended")
        self.assertEqual(texts, [(1, "a"), (1, "\xe4b"), (1, "\ufffd" * 2),
                                 "ended"])
        self.assertEqual(process.wait(timeout=60), 0)

    def test_output_that_cannot_be_written(self):
        said = ("openpai: error: cannot write standard output: "
                + os.strerror(errno.ENOSPC) + "\n")
        long = self.job("for i in {1..20000}; do echo $i; done; exit 7")
        with open("/dev/full", "w", encoding="ascii") as full:
            for code, *args in (
                    (125, "run", HELLO),
                    (125, "run", "--name", "h", "--json", HELLO),
                    (125, "run", "--help"), (1, "doctor"), (1, "help"),
                    (1, "doctor", "--json"), (1, "help", "run"),
                    (1, "--version")):
                done = self.run_cli(*args, stdout=full)
                self.assertEqual((done.returncode, done.stderr), (code, said),
                                 args)
            done = self.run_cli("run", long, stdout=full)
        self.assertEqual(done.returncode, 125)
        self.assertRegex(done.stderr, said + ".*exited with code 7\n.*logs: ")

    def test_closed_standard_streams(self):
        job = self.job("exit 3")
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            done = subprocess.run(
                ["sh", "-c", 'exec "$0" run "$1" ' + closed,
                 program.OPENPAI, job],
                env=self.env, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 3, closed)

    def test_colour_and_progress_on_a_terminal(self):
        self.env.pop("NO_COLOR", None)
        self.env["TERM"] = "xterm"
        shown = self.on_terminal("run", self.job("echo hi"))
        self.assertIn("\033[", shown)
        self.assertIn("test running", shown)
        self.env["NO_COLOR"] = "1"
        shown = self.on_terminal("run", self.job("echo hi"))
        self.assertNotRegex(shown, "\033\\[[0-9;]*m")
        self.assertIn("hi", shown)

    def test_doctor(self):
        done = self.run_cli("doctor")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"found +bash")
        report = json.loads(self.run_cli("doctor", "--json").stdout)
        self.assertTrue(report["healthy"])
        self.assertEqual({p["name"]: p["found"] for p in report["parts"]}
                         ["bash"], True)
        docker = self.folder / "docker"
        docker.touch(0o700)
        daemon = socket.socket(socket.AF_UNIX)
        self.addCleanup(daemon.close)
        self.env["DOCKER_HOST"] = f"unix://{self.folder}/docker.sock"
        for word in "silent", "found":
            before = self.env["PATH"]
            self.env["PATH"] = f"{self.folder}:{before}"
            shown = self.run_cli("doctor").stdout
            self.assertRegex(shown, rf"{word} +docker")
            self.assertEqual("its daemon does not answer" in shown,
                             word == "silent")
            parts = json.loads(
                self.run_cli("doctor", "--json").stdout)["parts"]
            self.assertEqual([(p["found"], p["works"]) for p in parts
                              if p["name"] == "docker"],
                             [(True, word == "found")])
            self.env["PATH"] = before
            if word == "silent":
                daemon.bind(str(self.folder / "docker.sock"))
                daemon.listen()
        self.env["PATH"] = str(self.folder)
        done = self.run_cli("doctor")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"missing +bash")
        self.assertIn("Jobs cannot run here", done.stdout)
