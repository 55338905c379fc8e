"""Jobs, notebooks and storages by the words of the two old programs."""

import json
import os
import re
import subprocess

import program
from compat import NOTE, CompatTest

try:
    import yaml
except ImportError:
    yaml = None

# As much of Jupyter as is asked for.  It says what it was called with.
JUPYTER = """\
#!/bin/sh
echo "$@" > "$CALLS"
pwd >> "$CALLS"
case $1 in
notebook)
  echo "[I] The Jupyter Notebook is running at:" >&2
  read line < "$FIFO" ;;
nbconvert)
  for last; do :; done
  { echo "<html>"; cat "$last"; seq 2000; } > "${last%.ipynb}.html" ;;
esac
"""


class Jobs(CompatTest):
    # --- jobs ---------------------------------------------------------------------

    def test_submit(self):
        self.lab()
        self.file()
        out = self.good("opai", "job", "submit", "-a", "lab", "job.yaml")
        self.assertEqual(out, (
            "submit job test to cluster lab\n"
            f"job_link: {self.url}/job-detail.html?username=admin&"
            "jobName=test\njob_name: test\n\n"))
        self.assertIn("already", self.bad("opai", "job", "submit", "-a", "lab",
                                          "job.yaml"))
        # Texts stay texts; numbers can be numbers.
        out = self.good("opai", "job", "submit", "job.yaml", "--preview",
                        "-u", "name=007", "-u", "extras:n=5", "-u",
                        "extras:s=a=b", "-u", "extras:a/b~c=x", "-u",
                        "taskRoles:a:commands:0=echo 1", "--vc", "v")
        if yaml is not None:
            job = yaml.safe_load(out)
            self.assertEqual(job["name"], "007")
            self.assertEqual(job["extras"], {"n": 5, "s": "a=b", "a/b~c": "x"})
            self.assertEqual(job["taskRoles"]["a"]["commands"], ["echo 1"])
            self.assertEqual(job["defaults"], {"virtualCluster": "v"})
        self.assertNotIn("- 007", self.good("opai", "job", "list", "-a", "lab"))

    def test_submit_protocol_1(self):
        self.lab()
        (self.here / "v1.json").write_text(json.dumps({
            "jobName": "first", "image": "x", "taskRoles": [{
                "name": "a", "taskNumber": 1, "cpuNumber": 1,
                "memoryMB": 200, "gpuNumber": 0, "command": "true"}]}))
        out = self.good("opai", "job", "submit", "v1.json", "--preview",
                        "--vc", "v")
        self.assertEqual(json.loads(out)["virtualCluster"], "v")
        self.good("opai", "job", "submit", "v1.json", "-a", "lab")
        self.state("first", "SUCCEEDED")

    def test_sub(self):
        self.lab()
        folder = self.here / "src"
        folder.mkdir()
        (folder / "say.sh").write_text("#!/bin/sh\ncat src/data.txt\n")
        (folder / "say.sh").chmod(0o755)
        (folder / "data.txt").write_text("hello from a source\n")
        tmp = self.folder / "tmp"
        tmp.mkdir()
        self.env["TMPDIR"] = str(tmp)
        self.good("opai", "set", "image=x", "sources+=src/data.txt",
                  "cluster-alias=lab", "mem=200m", "cpu=1")
        out = self.good("opai", "job", "sub", "-j", "a$b", "--src",
                        "src/say.sh", "./src/say.sh", "&&", "ls", "-a")
        name = re.search("job_name: (a[A-Za-z]{10}b)\n", out)[1]
        self.state(name, "SUCCEEDED")
        said = self.ok("logs", name, "--cluster", "lab")
        self.assertIn("hello from a source", said)
        self.assertEqual(said.split()[-3:], [".", "..", "src"])
        self.assertIn("py-sdk-one-liner", self.good("opai", "job", "status",
                                                    name, "config"))
        self.assertEqual(list(tmp.iterdir()), [])

    def test_sub_installs(self):
        """Packages are put in before."""
        out = self.good("opai", "job", "sub", "-j", "x", "-i", "x", "--pip",
                        "one", "--pip", "-U two", "--python", "py", "--preview",
                        "true")
        job = json.loads(out)
        self.assertEqual(job["defaults"], {"deployment": "sdk_deployment"})
        self.assertEqual(job["parameters"], {"python_path": "py"})
        self.assertEqual(
            job["deployments"][0]["taskRoles"]["main"]["preCommands"],
            ["<% $parameters.python_path %> -m pip install one",
             "<% $parameters.python_path %> -m pip install -U two"])
        self.assertNotIn("secrets", job)

    def test_one_platform(self):
        """Of this machine, without any server."""
        out = self.good("opai", "job", "sub", "-j", "x", "-i", "x", "--cpu",
                        "1", "--mem", "200m", "true")
        self.assertEqual(out, "submit job x to cluster local\njob_name: x\n\n")
        self.ok("wait", "x")
        self.assertEqual(self.good("opai", "job", "list", "-a", "local"),
                         NOTE + "- x [SUCCEEDED]\n\n")

    # --- notebooks --------------------------------------------------------------------

    def jupyter(self):
        bin_folder = self.here / "bin"
        bin_folder.mkdir()
        program_file = bin_folder / "jupyter"
        program_file.write_text(JUPYTER)
        program_file.chmod(0o755)
        self.env.update(PATH=f"{bin_folder}:{self.env['PATH']}",
                        CALLS=str(self.folder / "calls"),
                        FIFO=str(self.fifo()),
                        OPENPAI_PASS_ENV="CALLS,FIFO")  # to its tasks
        self.lab()
        self.good("opai", "set", "image=x", "cluster-alias=lab", "mem=200m",
                  "cpu=1")

    def test_notebook_comes_back(self):
        self.jupyter()
        (self.here / "deep").mkdir()
        (self.here / "deep/my b.ook.ipynb").write_text('{"cells": []}')
        out = self.good("opai", "job", "notebook", "deep/my b.ook.ipynb")
        page = self.here / "my b.ook.html"
        name = re.search("job_name: (my_b_ook_[A-Za-z]{10})\n", out)[1]
        self.assertTrue(out.endswith(
            f"notebook: file://{page}\nstate: SUCCEEDED\n\n"), out)
        want = '<html>\n{"cells": []}' + "".join(
            f"{n}\n" for n in range(1, 2001))
        self.assertEqual(page.read_text(), want)
        called = (self.folder / "calls").read_text().splitlines()
        self.assertTrue(called[0].endswith("--execute my b.ook.ipynb"), called)
        self.assertTrue(called[1].endswith("/deep"), called)
        page.unlink()
        self.good("opai", "job", "connect", name)
        self.assertEqual(page.read_text(), want)

    def test_notebook_that_fails(self):
        self.jupyter()
        (self.here / "bin/jupyter").write_text("#!/bin/sh\nexit 3\n")
        (self.here / "x.ipynb").write_text("{}")
        out, _ = self.old("opai", "job", "notebook", "x.ipynb", "-j", "bad",
                          code=1)
        self.assertTrue(out.endswith("notebook: null\nstate: FAILED\n\n"), out)
        self.assertFalse((self.here / "x.html").exists())

    def test_notebook_to_go_to(self):
        self.jupyter()
        (self.here / "x.ipynb").write_text("{}")
        out = self.good("opai", "job", "notebook", "--interactive", "-j",
                        "live", "--token", "se-cret", "x.ipynb")
        url = r"notebook: http://127\.0\.0\.1:(\d+)/notebooks/x\.ipynb"
        self.assertRegex(out, url + "\nstate: RUNNING\n\n$")
        self.assertNotIn("se-cret", out)
        called = (self.folder / "calls").read_text().split()
        self.assertEqual(called[called.index("--port") + 1],
                         re.search(url, out)[1])
        self.assertIn("--NotebookApp.token=se-cret", called)
        self.assertIn("--NotebookApp.file_to_run=x.ipynb", called)
        out = self.good("opai", "job", "connect", "live")
        self.assertRegex(out, url + "\nstate: RUNNING\n\n$")
        self.good("opai", "job", "stop", "live")
        # A token of one's own is better than the old one of all.
        out = self.good("opai", "job", "notebook", "--interactive", "-j",
                        "other")
        self.assertRegex(out, r"/notebooks\?token=[A-Za-z]{32}\nstate: RUNNIN")
        self.good("opai", "job", "stop", "other")
        self.good("opai", "job", "submit", str(self.file()))
        self.assertIn("not the job of a notebook",
                      self.bad("opai", "job", "connect", "test"))

    # --- ssh, storages ------------------------------------------------------------------

    def test_ssh(self):
        self.lab()
        path = self.file(command=f"echo up; read x < {self.fifo()}")
        path.write_text(path.read_text().replace(
            "gpu: 0}", "gpu: 0, ports: {ssh: 1}}"))
        self.good("pai", "subj", "lab", str(path))
        self.env["OPENPAI_CLUSTER"] = "lab"
        self.until_up()
        line = "ssh -oStrictHostKeyChecking=no {}-l {} -p "
        rows = [("", "", "root"), ("a", "", "root"), ("a 0", "", "root"),
                ("-i key", "-i key ", "root"), ("-l me", "", "me"),
                ("--login-name me --identity-file k", "-i k ", "me"),
                ("--user admin", "", "root"), ("-i a;b", "-i 'a;b' ", "root")]
        for words, key, user in rows:
            self.assertRegex(
                self.good("pai", "ssh", "lab", "test", *words.split()),
                "^" + re.escape(line.format(key, user)) +
                r"\d+ 127\.0\.0\.1\n$")
        for words in ("b", "a 1"):
            self.assertIn("no such task", self.bad("pai", "ssh", "lab", "test",
                                                   *words.split()))
        self.good("opai", "job", "stop", "-a", "lab", "test")

    def test_storage(self):
        store = self.folder / "store"
        (store / "sub").mkdir(parents=True)
        secret = self.folder / "secret"
        secret.write_text("secret")
        os.symlink(secret, store / "link")
        os.symlink(self.folder, store / "out")
        self.assertIn("no access to any storage", self.bad("opai", "storage", "list", "/"))
        self.ok("storage", "add", "--path", str(store), "mine")
        (self.here / "f").write_text("data")
        rows = [  # words, exit code, a part of what is printed or said
            ("list /", 0, "- link\n- out\n- sub\n\n"),
            ("upload f sub/deep/f", 0, ""),
            ("upload f sub/deep/f", 1, "--overwrite replaces it"),
            ("upload --overwrite f /sub//deep/f", 0, ""),
            ("upload f link", 1, "exists"),
            ("upload f out/x", 1, "not followed"),
            ("upload f ../x", 1, "no parts"),
            ("upload f sub/../../x", 1, "no parts"),
            ("upload none x", 1, "cannot read none"),
            ("upload . x", 1, "cannot read ."),
            ("list -s mine sub/deep", 0, "- f\n\n"),
            ("list sub/deep/f", 1, "cannot list"),
            ("list none", 1, "cannot list"),
            ("list out", 1, "cannot list"),
            ("status sub/deep/f", 0, "length: 4\n"),
            ("status sub", 0, "type: DIRECTORY\n"),
            ("status -a local none", 1, "cannot look at"),
            ("download sub/deep/f g", 0, ""),
            ("download sub/deep/f .", 0, ""),
            ("download link g", 1, "not followed"),
            ("download out/secret g", 1, "not followed"),
            ("download none g", 1, "cannot read none"),
            ("download sub/deep/f no/g", 1, "cannot write no/g"),
            ("delete sub", 1, "--recursive"),
            ("delete /", 1, "storage itself"),
            ("delete none", 1, "cannot delete"),
            ("delete out/secret", 1, "not followed"),
            ("delete --recursive out", 0, ""),
            ("delete sub/deep/f", 0, ""),
            ("delete sub/deep", 0, ""),
            ("list -s none /", 1, "none"),
        ]
        for words, code, want in rows:
            with self.subTest(words):
                out, said = self.old("opai", "storage", *words.split(),
                                     code=code)
                self.assertIn(want, out + said)
        self.assertEqual((self.here / "g").read_text(), "data")
        self.assertTrue(secret.exists())
        self.assertEqual(secret.read_text(), "secret")
        # What is not whole is not there, and what was there stays.
        (self.here / "big").write_bytes(b"x" * (1 << 20))
        self.good("opai", "storage", "upload", "f", "kept")
        done = subprocess.run(
            ["bash", "-c", 'ulimit -f 100; trap "" XFSZ; exec "$@"', "-",
             self.folder / "opai", "storage", "upload", "--overwrite", "big",
             "kept"], env=self.env, cwd=self.here, capture_output=True,
            text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual((store / "kept").read_text(), "data")
        self.assertEqual(sorted(os.listdir(store)), ["kept", "link", "sub"])
        (store / "sub/a/b").mkdir(parents=True)
        os.symlink(self.folder, store / "sub/a/l")
        (store / "sub/a/c").write_text("")
        self.good("opai", "storage", "delete", "sub", "--recursive")
        self.assertEqual(sorted(os.listdir(store)), ["kept", "link"])
        self.assertTrue(secret.exists())

    def test_storage_elsewhere(self):
        """What cannot be reached is said, with what can reach it."""
        self.ok("up")
        for kind, want in (("azureBlob", "azcopy"), ("nfs", "mount it")):
            self.ok("storage", "add", "--type", kind, "--data-file", "-", kind,
                    input=json.dumps({"server": "s", "path": "/p",
                                      "containerName": "c",
                                      "accountName": "a", "accountKey": "k"}))
            said = self.bad("opai", "storage", "list", "-s", kind, "/")
            self.assertIn(f"of type {kind}", said)
            self.assertIn(want, said)
        self.assertIn("several storages",
                      self.bad("opai", "storage", "list", "/"))
        (self.root / "storages").mkdir(exist_ok=True)
        (self.folder / "common").mkdir()
        os.symlink(self.folder / "common", self.root / "storages/common")
        (self.here / "f").write_text("data")
        self.good("opai", "storage", "upload", "-s", "common", "f", "f")
        self.assertEqual((self.folder / "common/f").read_text(), "data")
        # Each has a folder of his own in one that is not shared.
        self.ok("storage", "add", "--own", "--path",
                str(self.folder / "common"), "own")
        self.bad("opai", "storage", "list", "-s", "own", "/")


if __name__ == "__main__":
    program.main()
