"""Runtime plugins and storages, as jobs have them through the program."""

import json
import pathlib
import shutil
import socket
import subprocess
import unittest

import program


class Plugins(program.ProgramTest):
    def plugins(self, command, *items, instances=1, **extras):
        """A job file that has these plugins."""
        text = pathlib.Path(self.job(command, instances=instances)).read_text()
        text = text.replace("uri: x", "uri: host")  # there is none to speak of
        extras["com.microsoft.pai.runtimeplugin"] = list(items)
        return self.write("plugins.yaml",
                          text + "extras: " + json.dumps(extras) + "\n")

    def runs(self, code, file, *words, **kwargs):
        """What its tasks print, with their names before it."""
        done = self.run_cli("run", *words, file, **kwargs)
        self.assertEqual(done.returncode, code, (done.stdout, done.stderr))
        return done.stdout

    def said(self, task="a/0", name="test"):
        """What is said about running a task."""
        done = self.run_cli("logs", name, "--task", task, "--log", "runtime")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_commands_around_commands(self):
        file = self.plugins("cat before; echo ran", {
            "plugin": "cmd", "parameters": {
                "preCommands": ["echo first > before", "echo about it"],
                "postCommands": ["echo last > after"]}})
        self.assertEqual(self.runs(0, file), "first\nran\n")
        self.assertEqual((self.folder / "after").read_text(), "last\n")
        self.assertEqual(self.said(), "about it\n")

    def test_what_goes_wrong(self):
        for code, item, told in (
                (7, {"plugin": "cmd", "parameters": {
                    "preCommands": ["exit 7"]}},
                 "the plugin cmd exited with code 7"),
                (1, {"plugin": "frob"}, "unknown runtime plugin"),
                (1, {"plugin": "git", "parameters": {}}, "git: repo_uri is missing")):
            file = self.plugins("echo ran", item)
            shown = self.runs(code, file, "--name", f"job{code}{item['plugin']}")
            self.assertTrue(shown.startswith(f"openpai: {told}"), shown)
            self.assertNotIn("ran", shown.split())
            why = self.run_cli("why", f"job{code}{item['plugin']}").stdout
            self.assertIn(f"printed    openpai: {told}", why)
            item["failurePolicy"] = "ignore"
            self.assertEqual(self.runs(0, self.plugins("echo ran", item)),
                             "ran\n")

    def test_git(self):
        if shutil.which("git") is None:
            self.skipTest("NO PLUGIN GIT: there is no git")
        repo = self.folder / "repo"
        repo.mkdir()
        (repo / "x").write_text("cloned\n")
        for words in (["init", "-q"], ["add", "x"],
                      ["-c", "user.name=a", "-c", "user.email=a@b", "commit",
                       "-q", "-m", "one"]):
            subprocess.run(["git", *words], cwd=repo, check=True,
                           capture_output=True)
        item = {"plugin": "git", "parameters": {
            "repo_uri": str(repo), "clone_dir": str(self.folder / "src"),
            "options": ["--quiet"]}}
        shown = self.runs(0, self.plugins("cat src/x", item, instances=2))
        self.assertEqual(sorted(shown.splitlines()),
                         ["a[0] | cloned", "a[1] | cloned"])
        # One of both has cloned it.
        self.assertEqual(sorted("already" in self.said(task)
                                for task in ("a/0", "a/1")), [False, True])
        (self.folder / "src" / "mine").write_text("")
        shown = self.runs(1, self.plugins("cat src/x", item), "--name", "other")
        self.assertIn("is there, and is no empty folder", shown)

    def test_tensorboard(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        item = {"plugin": "tensorboard", "parameters": {
            "port": port, "logdir": {"run": "/mnt/tensorboard"}}}
        if shutil.which("tensorboard") is None:
            self.assertIn("openpai: tensorboard is not installed here: pip "
                          "install tensorboard", self.runs(1, self.plugins(
                              "true", item), "--name", "without"))
            self.run_cli("down")
        path = self.folder / "bin" / "tensorboard"
        path.parent.mkdir()
        path.write_text('#!/bin/bash\n[ "$1" != --version ] || '
                        f'exec echo 2.14\necho "$@" > {self.folder}/args.new\n'
                        f"mv {self.folder}/args.new {self.folder}/args\n"
                        "exec sleep 1000\n")
        path.chmod(0o755)
        self.env["PATH"] = f"{path.parent}:{self.env['PATH']}"
        file = self.plugins("until [ -e args ]; do sleep 0.05; done", item,
                            instances=2)
        self.assertEqual(self.runs(0, file), "")  # it does not outlive the job
        self.assertEqual((self.folder / "args").read_text(),
                         f"--port={port} --bind_all "
                         "--logdir=/mnt/tensorboard\n")
        self.assertIn(f"tensorboard listens on port {port}", self.said())
        self.assertEqual(self.run_cli("logs", "test", "--task", "a/1", "--log",
                                      "runtime").stdout, "")

    # --- storages ----------------------------------------------------------------

    def test_a_storage_that_is_not_there(self):
        done = self.run_cli("run", self.plugins("true", storages=[
            {"name": "data"}]))
        self.assertEqual(done.returncode, 125)
        self.assertIn('there is no storage "data"', done.stderr)
        self.assertIn(f"ln -s FOLDER {self.folder}/state/openpai/storages/NAME",
                      done.stderr)
        self.assertEqual(self.run_cli("list", "--json").stdout, "[]\n")
        (self.folder / "state/openpai/storages").mkdir()
        (self.folder / "state/openpai/storages/data").write_text("no folder")
        self.assertEqual(self.run_cli("run", self.plugins(
            "true", storages=["data"])).returncode, 125)
        done = self.run_cli("run", self.plugins("true", storages=[
            {"name": "data", "mountPath": "x"}]))
        self.assertEqual(done.returncode, 125)

    def storage(self, name):
        """One that has a file."""
        folder = self.folder / f"of-{name}"
        folder.mkdir()
        (folder / "file").write_text(f"{name}\n")
        link = self.folder / "state/openpai/storages" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(folder)
        return folder

    def test_storages(self):
        name = f"openpai-test-{self.folder.name}"
        folder, other = self.storage(name), self.storage("other")
        self.run_cli("up")
        if "bwrap" not in self.run_cli("status").stdout:
            self.skipTest("STORAGES ARE NOT TESTED: there is no sandbox")
        file = self.plugins(
            f"cat /mnt/{name}/file /tmp/there/file; echo new > /mnt/{name}/new; "
            "ls /mnt", storages=[{"name": name},
                                 {"name": "other", "mountPath": "/tmp/there"}])
        shown = self.runs(0, file).splitlines()
        self.assertEqual(shown[:2], [f"{name}", "other"])
        self.assertEqual((folder / "new").read_text(), "new\n")
        self.assertEqual([p.name for p in other.iterdir()], ["file"])
        # What else is there is shown; and the machine is as it was.
        there = sorted(p.name for p in pathlib.Path("/mnt").iterdir())
        self.assertNotIn(name, there)
        self.assertEqual(shown[2:], [f"{entry}"
                                     for entry in sorted([*there, name])])
        # All, at their usual places, for who asks for none by name.
        file = self.plugins(f"cat /mnt/{name}/file /mnt/other/file",
                            storages=[])
        self.assertEqual(self.runs(0, file),
                         f"{name}\nother\n")
