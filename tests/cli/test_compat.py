"""The words of the two old programs, called by links with their names."""

import json
import os
import re
import stat
import subprocess

import program
import served

try:
    import yaml
except ImportError:
    yaml = None

BOXES = """\
+-------+{line}+-------+-------+
| alias | uri{pad} | user  | https |
|-------|{line}|-------|-------|
| lab   | {url} | admin | false |
+-------+{line}+-------+-------+

"""

# As tabulate 0.8.9 prints these rows.
CLUSTERS = """\
cluster    uri{pad}user    virtual-cluster    GPUs    vCores    memory
---------  {line}  ------  -----------------  ------  --------  --------
lab        {url}  admin   default            -       -         -
"""
RESOURCES = """\
cluster    uri    user    virtual-cluster      GPUs    vCores    memory
---------  -----  ------  -----------------  ------  --------  --------
lab                       default          {gpus:>8}{cpus:>10}{memory:>10}
"""
NO_CLUSTERS = """\
cluster    uri    user    virtual-cluster    GPUs    vCores    memory
---------  -----  ------  -----------------  ------  --------  --------
"""
NO_JOBS = """\
+------+------+-------+----+------+-------+-------------+---------------+
| name | user | state | VC | #GPU | #Task | createdTime | completedTime |
+------+------+-------+----+------+-------+-------------+---------------+

"""
NOTE = ("if not set, only your job will be listed, user `--user __all__` to "
        "list jobs of all users\n")

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


class CompatTest(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.here = self.folder / "here"
        self.home.mkdir()
        self.here.mkdir()
        self.env.update(HOME=str(self.home), TZ="UTC",
                        XDG_CONFIG_HOME=str(self.home / "config"))
        for name in ("EDITOR", "VISUAL"):
            self.env.pop(name, None)
        for name in ("pai", "opai"):
            os.symlink(program.OPENPAI, self.folder / name)

    def old(self, tool, *words, code=0, **kwargs):
        """What an old program has printed, and what it has said."""
        done = subprocess.run(
            [self.folder / tool, *words], env=self.env, cwd=self.here,
            capture_output=True, text=True, timeout=60, **kwargs)
        self.assertEqual(done.returncode, code,
                         (tool, words, done.stdout, done.stderr))
        return done.stdout, done.stderr

    def good(self, *words, **kwargs):
        return self.old(*words, **kwargs)[0]

    def bad(self, *words, code=1, **kwargs):
        return self.old(*words, code=code, **kwargs)[1]

    def lab(self):
        """A server that is known as lab; it is all that is known."""
        self.process = self.serve()
        self.env.pop("OPENPAI_ROOT")
        token = self.login()
        self.assertEqual(
            self.good("pai", "addc", self.url, "admin", token, "-a", "lab"),
            '""\n')
        return token

    def file(self, name="job.yaml", **kwargs):
        path = self.here / name
        path.write_text(program.JOB.format(
            command=json.dumps(kwargs.get("command", "true")), instances=1,
            cpu=1))
        return path

    def state(self, job, state):
        self.run_cli("wait", job, "--quiet", "--cluster", "lab")
        self.assertIn(f"- {job} [{state}]\n",
                      self.good("opai", "job", "list", "-a", "lab"))

    # --- each list of words -------------------------------------------------

    def test_words_that_are_understood(self):
        """Every row of both programs, with each of its options."""
        self.lab()
        job = self.file()
        (self.here / "nb.ipynb").write_text("{}")
        sub = ("--job-name j --cluster-alias lab --virtual-cluster default "
               "--workspace /w --sources job.yaml --pip-installs p --image i "
               "--cpu 1 --gpu 0 --mem 1g --memoryMB 9 --no-browser "
               "--python python3 --preview")
        short = ("-j j -a lab --vc default -w /w --src job.yaml --src nb.ipynb"
                 " --pip p --pip q -i i --preview")
        rows = [  # words, a part of what is printed
            ("pai listc", "| lab "),
            ("pai listj lab", "| name |"),
            ("pai listj lab --user admin", "| name |"),
            ("pai listj -u admin lab", "| name |"),
            ("pai listj lab -uadmin", "| name |"),
            ("pai list-jobs lab --all", "| name |"),
            ("pai list-jobs -a lab", "| name |"),
            (f"pai subj lab {job}", '"name": "test"'),
            ("pai getj lab test", '\n    "name": "test",\n'),
            ("pai getj --user admin lab test", '\n    "name": "test",\n'),
            ("pai job-info lab test --user=admin", '\n    "name": "test",\n'),
            ("pai lists lab", '"storages": []'),
            ("pai list-storages lab -k", '"storages": []'),
            ("pai lists --skip-cache lab", '"storages": []'),
            ("opai set", "cluster-alias: null\n"),
            ("opai set -g image=i", "image set to i under global_default"),
            ("opai set --is-global cpu=2 gpu=0", "gpu set to 0 under"),
            ("opai unset -g image cpu gpu", "gpu removed completely"),
            ("opai cluster list", "lab "),
            ("opai cluster resources", "lab "),
            ("opai cluster resources -a lab", "lab "),
            ("opai cluster update", "try to connect cluster lab\n"),
            ("opai cluster edit --editor echo", "clusters.yaml\n"),
            ("opai cluster select lab", "under local_default"),
            ("opai cluster select -g lab", "under global_default"),
            ("opai job list", "- test ["),
            ("opai job list -a lab --user admin", "- test ["),
            ("opai job list --cluster-alias=lab --user __all__", "- test ["),
            ("opai job list --cluster lab", "- test ["),
            ("opai job sub -j j -i i --preview x --cluster y",
             '"x --cluster y"'),
            ("opai job status test", '"name": "test"'),
            ("opai job status -a lab --user admin test", '"name": "test"'),
            ("opai job status test config", "protocolVersion"),
            ("opai job stop -a lab test", ""),
            ("opai job submit job.yaml --preview -a lab", "name: test"),
            ("opai job submit --vc v -u name=x -u extras:a:b=1 "
             "--update taskRoles:a:instances=3 job.yaml --preview",
             "instances: 3"),
            (f"opai job sub {sub} echo -n --vc -- x",
             '"echo -n --vc -- x"'),
            (f"opai job sub {short} -- echo a b", '"echo a b"'),
            (f"opai job notebook {sub} nb.ipynb", "jupyter nbconvert"),
            (f"opai job notebook {short} --interactive --token t",
             "jupyter notebook"),
            (f"opai job notebook {short} nb.ipynb --interactive "
             "--notebook-token t", "file_to_run='<% $parameters."),
            ("opai storage list-storage -a lab", '"storages": []'),
            ("opai cluster delete lab", "cluster lab deleted\n"),
            ("pai listc --help", "job list [--user"),
            ("opai job --help", "job list [--user"),
            ("opai job sub -h", "job list [--user"),
        ]
        for words, want in rows:
            with self.subTest(words):
                self.assertIn(want, self.good(*words.split()))

    def test_words_that_are_not(self):
        """What is wrong is told, with what would be right."""
        self.lab()
        self.file()
        self.env["OPENPAI_CLUSTER"] = "lab"
        rows = [  # words, exit code, a part of what is said
            ("pai", 2, "that is understood: pai"),
            ("pai nothing", 2, "that is understood: pai nothing"),
            ("opai job", 2, "that is understood: opai job"),
            ("opai job clone x", 2, "that is understood: opai job"),
            ("pai listj", 2, "pai listj takes ALIAS"),
            ("pai listj lab x", 2, "one word too many: x"),
            ("pai listj lab -u", 2, "needs a value: -u"),
            ("pai listj lab -u a -a", 2, "--user with --all"),
            ("pai listj lab --all=x", 2, "has no value: --all=x"),
            ("pai listj lab --al", 0, ""),
            ("pai listj lab --bad", 2, "no such option here: --bad"),
            ("pai listj lab --", 0, ""),
            ("pai listj lab -- -x", 2, "one word too many: -x"),
            ("pai listj lab -x", 2, "no such option here: -x"),
            ("pai listj nowhere", 1, "no server with the alias 'nowhere'"),
            ("pai addc here bob t", 2, "this is no URL: here"),
            ("pai addc http://x bob", 2, "a word is missing"),
            ("pai delc nowhere", 1, "no server with the alias 'nowhere'"),
            ("pai subj lab none.yaml", 1, "cannot read none.yaml"),
            ("pai getj lab none", 1, "not found"),
            ("pai getj lab a/b", 1, "cannot be the name of a job"),
            ("pai ssh lab none", 1, "not found"),
            ("pai ssh lab none r -1", 2, "no such option"),
            ("pai ssh lab none r x", 2, "no number of a task: x"),
            ("pai getinfo lab none", 1, "not found"),
            ("opai set image", 2, "not NAME=VALUE: image"),
            ("opai set image=", 2, "not NAME=VALUE: image="),
            ("opai set =x", 2, "not NAME=VALUE: =x"),
            ("opai set imag=x", 1, "imag is no setting of opai"),
            ("opai unset", 2, "a word is missing"),
            ("opai unset imag", 1, "imag is no setting of opai"),
            ("opai cluster list x", 2, "one word too many"),
            ("opai cluster add -a x", 2, "an option is missing"),
            ("opai cluster add -a x --pai-uri http://x --user u", 2,
             "--token or --password"),
            ("opai cluster add -a x --pai-uri x --user u --token t", 2,
             "this is no URL"),
            ("opai cluster add -a x --pai-uri http://127.0.0.1:1 --user u "
             "--token t", 1, "127.0.0.1"),
            ("opai cluster delete nowhere", 1, "no server with the alias"),
            ("opai cluster select nowhere", 1, "no server with the alias"),
            ("opai cluster select -g nowhere", 1, "no server with the alias"),
            ("opai cluster edit --editor /no/editor", 1,
             "cannot start the editor /no/editor"),
            ("opai job list -a nowhere", 1, "no server with the alias"),
            ("opai job status none", 1, "not found"),
            ("opai job status none logs", 2, "neither config nor ssh"),
            ("opai job status none ssh", 1, "not found"),
            ("opai job stop", 2, "a word is missing"),
            ("opai job stop none", 1, "not found"),
            ("opai job submit none.yaml", 1, "cannot read none.yaml"),
            ("opai job submit job.yaml -u name", 2, "not KEY:KEY=VALUE"),
            ("opai job submit job.yaml -u taskRoles:a:instances=x", 1,
             "instances"),
            ("opai job submit job.yaml -u taskRoles:9:=x:y=1 --preview", 1,
             "taskRoles"),
            ("opai job sub -i x true", 2, "the job needs a name"),
            ("opai job sub -j x true", 2, "must specify a docker image"),
            ("opai job sub -j x -i x", 2, "a word is missing"),
            ("opai job sub -j x -i x --cpu 0 true", 2, "no such number: 0"),
            ("opai job sub -j x -i x --cpu 1g true", 2, "no such number: 1g"),
            ("opai job sub -j x -i x --mem 1q true", 2, "--mem is as 8g"),
            ("opai job sub -j x -i x --mem 99999999999g true", 2, "--mem is"),
            ("opai job sub -j x -i x --src none true", 1, "cannot read none"),
            ("opai job sub -j x -i x --src . true", 1, "not found"),
            ("opai job sub -j x -i x --src /etc/passwd true", 1,
             "below the present folder"),
            ("opai job sub -j x -i x --src a/../../b true", 1,
             "below the present folder"),
            ("opai job notebook -i x", 2, "must specify a notebook name"),
            ("opai job notebook -i x a.txt", 1, "this cannot be a notebook"),
            ("opai job notebook -i x a'.ipynb", 1, "cannot be a notebook"),
            ("opai job notebook -i x none.ipynb", 1, "cannot read none.ipynb"),
            ("opai job notebook -i x --interactive --token a$b", 1,
             "a token is up to"),
            ("opai job connect none", 1, "not found"),
            ("opai storage list", 2, "a word is missing"),
            ("opai storage list /", 1, "use what its own service has"),
        ]
        for words, code, want in rows:
            with self.subTest(words):
                self.assertIn(want, self.bad(*words.split(), code=code))
        said = self.bad("opai", "job", "submit", "job.yaml",
                        *["-u", "a=b"] * 300, code=2)
        self.assertIn("given too often", said)
        # A verb, too, has these words; a link's name is no verb of ours.
        done = self.run_cli("compat", "pai", "listj", "lab")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.bad("pai", "compat", "pai", "listc", code=2)

    # --- what they print ------------------------------------------------------

    def test_tables(self):
        self.assertEqual(self.good("opai", "cluster", "list"), NO_CLUSTERS)
        self.lab()
        line, pad = "-" * (len(self.url) + 2), " " * (len(self.url) - 3)
        self.assertEqual(self.good("pai", "listc"),
                         BOXES.format(url=self.url, line=line, pad=pad))
        self.assertEqual(self.good("pai", "listj", "lab", "-u", "none"),
                         NO_JOBS)
        self.assertEqual(self.good("opai", "job", "list", "-a", "lab"), NOTE)
        self.good("opai", "cluster", "update")
        self.assertEqual(self.good("opai", "cluster", "list"),
                         CLUSTERS.format(url=self.url, line=line[2:],
                                         pad=pad + "  "))
        _, _, text = self.ask("GET", "/api/v2/virtual-clusters",
                              token=self.login())
        vc = json.loads(text)["default"]
        free = {name: vc["resourcesTotal"][key] - vc["resourcesUsed"][key]
                for name, key in (("gpus", "gpu"), ("cpus", "cpu"),
                                  ("memory", "memory"))}
        self.assertEqual(self.good("opai", "cluster", "resources"),
                         RESOURCES.format(**free))

    def test_list_of_jobs(self):
        self.lab()
        self.good("pai", "subj", "lab", str(self.file()))
        self.state("test", "SUCCEEDED")
        rows = self.good("pai", "listj", "lab").splitlines()
        when = r"1?\d/[123]?\d/\d{4}, 1?\d:\d\d:\d\d [AP]M"
        self.assertRegex(
            rows[3], r"^\| test \| admin \| SUCCEEDED \| default \| 0    \| 1 "
            rf"    \| {when} +\| {when} +\|$")
        self.assertEqual({len(row) for row in rows[:-1]}, {len(rows[0])})
        # PyYAML breaks a line behind its eightieth column.
        name = "x" * 90
        self.good("opai", "job", "submit", "job.yaml", "-a", "lab", "-u",
                  f"name={name}")
        self.assertRegex(self.good("opai", "job", "list", "-a", "lab"),
                         rf"- {name}\n  \[[A-Z]+\]\n- test \[SUCCEEDED\]\n\n$")

    def test_lines_of_yaml(self):
        if yaml is None:
            self.skipTest("no PyYAML")
        values = ["a", "no", "Yes", "null", "~", "1", "-1.5", "0x1F", "1:30",
                  "2020-01-02", "1.2.3", "a: b", "a #b", "'q'", "x:", "- a",
                  "<<", "=", ".5", "1e3", "1.0e+3", "y", "nvidia/cuda:11",
                  "a,b", "[x]", "{x", "&a", "*a", "!a", "%a", "@a", "`a",
                  "|", ">", "?", '"', "---", "a'b", "v1-2", "é"]
        for value in values:
            self.good("opai", "set", "image=" + value)
            said = self.good("opai", "set")
            self.assertEqual(yaml.safe_load(said)["image"], value, said)
            if value.isascii():
                self.assertEqual(
                    re.search("^image: .*\n", said, re.M)[0],
                    yaml.dump({"image": value}, default_flow_style=False))

    # --- settings ---------------------------------------------------------------

    def test_settings(self):
        local = self.here / ".openpai/defaults.yaml"
        everywhere = self.home / ".openpai/defaults.yaml"

        def lines(name):
            said = self.good("opai", "set")
            return re.search(rf"^{name}:.*\n(- .*\n)*", said, re.M)[0]

        self.good("opai", "set", "-g", "image=one", "sources+=a", "mem=1g")
        self.assertEqual(lines("image"), "image: one\n")
        self.good("opai", "set", "image=two", "sources=b", "sources+=c",
                  "resource-list+=0,1,1g")
        self.assertEqual(lines("image"), "image: two\n")
        self.assertEqual(lines("sources"), "sources:\n- b\n- c\n- a\n")
        self.assertEqual(lines("mem"), "mem: 1g\n")
        self.good("opai", "set", "sources-=b")
        self.assertEqual(lines("sources"), "sources:\n- c\n- a\n")
        self.good("opai", "unset", "sources=c")
        self.assertEqual(lines("sources"), "sources:\n- a\n")
        self.assertIn("not found in local_default",
                      self.good("opai", "unset", "mem"))
        self.good("opai", "unset", "image")
        self.assertEqual(lines("image"), "image: one\n")
        self.assertEqual(stat.S_IMODE(local.stat().st_mode), 0o600)
        # What its owner has written stays.
        everywhere.write_text("# mine\nimage: three # why\nother: [1]\n")
        self.good("opai", "set", "-g", "cpu=4")
        self.assertEqual(everywhere.read_text().replace("'", '"'),
                         '# mine\nimage: three # why\nother: [1]\ncpu: "4"\n')
        for text in ("a: [", "- a\n", "just text", "\0"):
            local.write_text(text)
            self.bad("opai", "job", "list")
            self.bad("opai", "set", "cpu=1")
            self.assertEqual(local.read_text(), text)
        local.unlink()
        self.env.pop("HOME")
        self.good("opai", "set", "cpu=1")
        self.assertIn("HOME", self.bad("opai", "set", "-g", "cpu=1"))

    def test_a_folder_names_no_server(self):
        """Settings come with a folder that was got from elsewhere."""
        self.lab()
        folder = self.here / ".openpai"
        folder.mkdir()
        for alias in ("http://127.0.0.1:1", "https://x/y", "-x", "a b"):
            (folder / "defaults.yaml").write_text(
                json.dumps({"cluster-alias": alias}))
            self.assertIn("cannot be the alias",
                          self.bad("opai", "job", "list"))
        (folder / "defaults.yaml").write_text("cluster-alias: lab\n"
                                              "sources: [/etc/passwd]\n")
        self.good("opai", "job", "list")
        self.assertIn("below the present folder",
                      self.bad("opai", "job", "sub", "-j", "x", "-i", "x",
                               "true"))
        (self.here / "data").symlink_to("/etc")
        (self.here / "key").symlink_to("/etc/passwd")
        for source in ("data/passwd", "key"):
            (folder / "defaults.yaml").write_text(
                f"cluster-alias: lab\nsources: [{source}]\n")
            self.assertIn("leads out of the present folder",
                          self.bad("opai", "job", "sub", "-j", "x", "-i", "x",
                                   "true"))

    def test_select(self):
        self.lab()
        self.good("opai", "cluster", "select", "lab")
        self.assertEqual(json.loads(self.ok("remote", "list", "--json"))[0]
                         ["current"], False)
        self.good("opai", "job", "list")
        self.good("opai", "cluster", "select", "-g", "lab")
        self.assertEqual(json.loads(self.ok("remote", "list", "--json"))[0]
                         ["current"], True)
        # One that goes is selected no more.
        self.good("opai", "cluster", "delete", "lab")
        self.assertIn("cluster-alias: null", self.good("opai", "set"))

    def test_add(self):
        self.process = self.serve()
        self.env.pop("OPENPAI_ROOT")
        add = ("opai", "cluster", "add", "-a", "lab", "--pai-uri", self.url,
               "--user", "admin")
        out, said = self.old(*add, "--password", served.PASSWORD)
        self.assertEqual(out, "try to connect cluster lab\n"
                         "OrganizedList: cluster_alias = lab added\n")
        self.assertIn("can be read by others", said)
        out = self.good(*add, "--token", self.login())
        self.assertIn("lab already exists, replace it", out)
        self.assertIn("incorrect", self.bad(*add, "--password",
                                              "wrong password"))
        kept = "".join(path.read_text() for path in
                       (self.home / "config/openpai").iterdir())
        self.assertNotIn(served.PASSWORD, kept)
        self.good("opai", "job", "list", "-a", "lab")
        self.end(self.process)
        self.assertIn("127.0.0.1", self.bad("opai", "cluster", "update"))
        self.bad("opai", "cluster", "resources")

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
                        FIFO=str(self.fifo()))
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
        self.assertIn("no notebook's job",
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
        self.assertIn("no storage", self.bad("opai", "storage", "list", "/"))
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
