"""The templates that come with openpai run to their end; the verbs `template`;
imports of hostile folders and repositories.  argv[2] is the templates' folder."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

import program

TEMPLATES = pathlib.Path(sys.argv[2]).resolve()
SECRET = "secrets: {token: hunter2}\n"

#: What each prints, as expressions that are all found.
PRINTS = {
    "batch-files": [r"task 0: [12] files", r"task 1: [12] files"],
    "data-parallel": [r"rank 0 of 3: weights (2\.0|1\.99)\d+ -(1\.0|0\.99)\d+"],
    "gpu-check": [r"CPUs \d+, memory \d+ MiB", r"GPUs of this task"],
    "hello": [r"heard: Hello, client!", r"heard: Hello, server!"],
    "log-viewer": [r"the board shows 40 points"],
    "notebook-run": [r"the sum is 45"],
    "parameter-server": [r"worker 0: weights \d\.\d+ [12]\.\d+", r"worker 1: "],
    "pytorch-ddp": [r"it would run: torchrun --nnodes 2 |rank 0 of 2: sum 2"],
    "serve-model": [r'answer: \{"prediction": 4.5\}'],
    "sweep": [r"best of 6: rate 0\.3, momentum 0\.0"],
}


class Templates(program.RootTest):
    def setUp(self):
        super().setUp()
        self.env["OPENPAI_TEMPLATES"] = str(TEMPLATES)

    def run_template(self, name, *more):
        """What its tasks have printed; the job succeeds."""
        job = self.ok("template", "use", name, "--submit", "-q", *more).strip()
        done = self.run_cli("wait", job)
        logs = self.run_cli("logs", job).stdout
        self.assertEqual(done.returncode, 0, (name, logs, done.stderr))
        return logs

    def test_each_runs(self):
        for name, prints in PRINTS.items():
            with self.subTest(name):
                logs = self.run_template(name)
                for text in prints:
                    self.assertRegex(logs, text)

    def test_all_are_tested(self):
        self.assertEqual(set(PRINTS) | {"jupyter", "mpi", "train-checkpoints"},
                         {file.stem for file in TEMPLATES.glob("*.yaml")})

    def test_the_ranks_agree(self):
        logs = self.run_template("data-parallel", "--set", "steps=5")
        weights = re.findall(r"rank \d of 3: weights (\S+ \S+)", logs)
        self.assertEqual(len(weights), 3, logs)
        self.assertEqual(len(set(weights)), 1, logs)

    def test_checkpoints(self):
        """The second attempt goes on where the first one has failed."""
        logs = self.run_template("train-checkpoints", "--set", "results=kept")
        self.assertIn("resumed at step 80", logs)
        self.assertIn("trained: weight 3.000, bias 1.000", logs)
        shown = json.loads(self.ok("show", "--json", "train-checkpoints"))
        self.assertEqual(shown["jobStatus"]["retries"], 1)
        self.assertTrue(list((self.folder / "kept").glob("*.json")))

    def test_mpi(self):
        if not shutil.which("mpirun") or not pathlib.Path("/usr/sbin/sshd").exists():
            self.skipTest("no Open MPI or no sshd")
        logs = self.run_template("mpi")
        for rank in range(4):
            self.assertIn(f"rank {rank} of 4", logs)

    def test_jupyter(self):
        job = self.ok("template", "use", "jupyter", "--submit", "-q",
                      "--set", "minutes=5").strip()
        if not (shutil.which("jupyter-notebook") or shutil.which("jupyter-lab")):
            self.ok("wait", job)
            self.assertIn("apt install", self.ok("logs", job))
            return
        found = []

        def answers():
            found[:] = re.findall(r"open (http\S+)", self.ok("logs", job))
            try:
                return found and urllib.request.urlopen(
                    found[0], timeout=10).status == 200
            except OSError:
                return False
        self.until(answers)
        self.ok("stop", job)

    # --- verbs ---

    def test_without_a_server(self):
        listed = json.loads(self.ok("template", "list", "--json"))
        self.assertEqual([item["name"] for item in listed],
                         sorted(file.stem for file in TEMPLATES.glob("*.yaml")))
        self.assertFalse(self.root.exists())  # nothing was started
        self.assertIn("sweep", self.ok("template", "search", "HYPER"))
        self.assertIn("hello", self.ok("template", "list", "--tag", "shell,python"))
        self.refused(1, "no template has", "template", "search", "zzz")
        self.refused(1, "no template zzz", "template", "show", "zzz")
        self.assertIn("taskRoles:", self.ok("template", "show", "hello"))
        text = self.ok("template", "use", "sweep", "--set", "rates=0.5")
        self.assertIn("rates: 0.5", text)
        self.ok("template", "use", "sweep", "-o", "new.yaml")
        self.assertEqual((self.folder / "new.yaml").read_text(),
                         (TEMPLATES / "sweep.yaml").read_text())
        self.refused(1, "new.yaml", "template", "use", "sweep", "-o", "new.yaml")
        self.assertFalse(self.root.exists())

    def test_saved(self):
        file = self.write("mine.yaml", (TEMPLATES / "hello.yaml").read_text())
        identity = self.ok("template", "save", file, "--name", "mine", "--tag",
                           "a,b", "--summary", "One of mine").strip()
        self.assertRegex(identity, r"^[0-9a-f-]{36}$")
        self.assertEqual(self.ok("template", "save", file, "--name", "mine")
                         .strip(), identity)  # it is changed
        item = json.loads(self.ok("template", "show", identity[:8], "--json"))
        self.assertEqual((item["from"], item["name"], item["tags"]),
                         ("marketplace", "mine", ["shell", "python"]))
        self.assertIn("mine", self.ok("template", "list", "--mine"))
        job = self.ok("template", "use", "mine", "--submit", "-q").strip()
        self.ok("wait", job)
        item = json.loads(self.ok("template", "show", "mine", "--json"))
        self.assertEqual(item["useNumber"], 1)
        self.ok("template", "use", "mine", "--submit", "-q", "--name", "other")
        self.ok("wait", "other")
        item = json.loads(self.ok("template", "show", "mine", "--json"))
        self.assertEqual(item["useNumber"], 2)
        self.ok("template", "remove", "mine")
        self.refused(1, "no template mine", "template", "show", "mine")
        self.refused(1, "value of a secret", "template", "save",
                     self.write("s.yaml", pathlib.Path(file).read_text() + SECRET))
        self.refused(1, "no job file", "template", "save",
                     self.write("bad.yaml", "[}"))

    # --- imports ---

    def hostile_folder(self):
        folder = self.folder / "from"
        (folder / "deep/deep").mkdir(parents=True)
        (folder / "deep/deep/deep").mkdir()
        text = (TEMPLATES / "hello.yaml").read_text()
        for path in ("a.yaml", "deep/b.yml", "deep/deep/c.yaml",
                     "deep/deep/deep/too-deep.yaml", ".hidden.yaml", "not.txt"):
            name = path.replace("/", "-").partition(".")[0] or "hidden"
            (folder / path).write_text(text.replace("name: hello",
                                                    f"name: {name}", 1))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "linked.yaml").write_text(text)
        (folder / "link.yaml").symlink_to(elsewhere / "linked.yaml")
        (folder / "links").symlink_to(elsewhere)
        os.mkfifo(folder / "pipe.yaml")
        (folder / "huge.yaml").write_text("# " + "x" * (200 << 10) + "\n" + text)
        return folder

    def test_import_of_a_folder(self):
        folder = self.hostile_folder()
        want = ["a", "deep-b", "deep-deep-c"]
        printed = self.ok("template", "import", "--dry-run", str(folder))
        self.assertEqual([line.split()[0] for line in printed.splitlines()], want)
        self.assertEqual(len(self.ok("template", "import", str(folder))
                             .splitlines()), 3)
        listed = json.loads(self.ok("template", "list", "--mine", "--json"))
        self.assertEqual(sorted(item["name"] for item in listed), want)
        self.ok("template", "import", str(folder), "--private")  # again
        listed = json.loads(self.ok("template", "list", "--mine", "--json"))
        self.assertEqual([item["isPrivate"] for item in listed], [True] * 3)
        (folder / "z.yaml").write_text("name: nothing\n")
        done = self.run_cli("template", "import", str(folder))
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 of 4 files were refused", done.stderr)
        empty = self.folder / "empty"
        empty.mkdir()
        self.refused(1, "no job file", "template", "import", str(empty))

    def test_import_of_a_repository(self):
        """By ssh, which here is a script; hooks, links, filters and submodules
        of the repository have no effect."""
        if not shutil.which("git"):
            self.skipTest("no git")
        folder = self.hostile_folder()
        (folder / "pipe.yaml").unlink()
        (folder / "deep/deep/deep/too-deep.yaml").unlink()
        harm = self.folder / "harmed"
        (folder / ".gitattributes").write_text("*.yaml filter=harm\n")
        (folder / ".gitmodules").write_text(
            f'[submodule "x"]\n\tpath = x\n\turl = ext::touch {harm}\n')
        hook = folder / "hooks/post-checkout"
        hook.parent.mkdir()
        hook.write_text(f"#!/bin/sh\ntouch {harm}\n")
        hook.chmod(0o755)
        git = ["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@x"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
            subprocess.run(git + words, check=True)
        ssh = self.folder / "ssh"
        ssh.write_text('#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\nexec sh -c "$1"\n')
        ssh.chmod(0o755)
        home = self.folder / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(
            f'[filter "harm"]\n\tsmudge = touch {harm}\n[safe]\n\tdirectory = *\n')
        tmp = self.folder / "tmp"
        tmp.mkdir()
        self.env |= {"GIT_SSH_COMMAND": str(ssh), "HOME": str(home),
                     "GIT_SSH_VARIANT": "simple", "TMPDIR": str(tmp)}
        printed = self.ok("template", "import", f"ssh://there{folder}")
        self.assertEqual([line.split()[1] for line in printed.splitlines()],
                         [".hidden.yaml", "a.yaml", "deep/b.yml",
                          "deep/deep/c.yaml"])
        self.assertFalse(harm.exists())
        self.assertEqual(list(tmp.iterdir()), [])  # nothing is left
        for url in ("ext::sh -c true", "file:///etc", "http://x/y", "git://x/y"):
            code = 1 if "://" not in url else 2
            self.refused(code, "", "template", "import", url)
        self.refused(1, "cannot fetch", "template", "import",
                     "ssh://-oProxyCommand=true/x")


if __name__ == "__main__":
    program.main()
