"""The words of the two old programs: what they understand and print."""

import json
import re
import stat

import program
import served
from compat import NOTE, CompatTest

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


class Words(CompatTest):
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
            ("pai", 2, "unknown command of pai or opai: pai"),
            ("pai nothing", 2, "unknown command of pai or opai: pai nothing"),
            ("opai job", 2, "unknown command of pai or opai: opai job"),
            ("opai job clone x", 2, "unknown command of pai or opai: opai job"),
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
            ("pai getj lab a/b", 1, "invalid name of a job"),
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
            ("opai job sub -j x -i x --cpu 0 true", 2, "not a valid number: 0"),
            ("opai job sub -j x -i x --cpu 1g true", 2, "not a valid number: 1g"),
            ("opai job sub -j x -i x --mem 1q true", 2, "--mem is as 8g"),
            ("opai job sub -j x -i x --mem 99999999999g true", 2, "--mem is"),
            ("opai job sub -j x -i x --src none true", 1, "cannot read none"),
            ("opai job sub -j x -i x --src . true", 1, "not a regular file"),
            ("opai job sub -j x -i x --src /etc/passwd true", 1,
             "below the present folder"),
            ("opai job sub -j x -i x --src a/../../b true", 1,
             "below the present folder"),
            ("opai job notebook -i x", 2, "must specify a notebook name"),
            ("opai job notebook -i x a.txt", 1, "not a notebook"),
            ("opai job notebook -i x a'.ipynb", 1, "not a notebook"),
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
            self.assertIn("invalid alias",
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
            self.assertIn("is outside the present folder",
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
        self.assertIn("other users can read", said)
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


if __name__ == "__main__":
    program.main()
