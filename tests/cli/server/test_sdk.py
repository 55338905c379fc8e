"""OpenPAI's own client in JavaScript against `openpai serve`, over TLS.

argv[2] is the folder of package.json and sdk.js, argv[3] where packages are
put.  First sdk.js asks for everything with it and looks at the answers; then
the client's own tests of a server run, as they come in its package.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import program
import served

SOURCE, BUILD = map(pathlib.Path, sys.argv[2:4])
SDK = BUILD / "node_modules/@microsoft/openpai-js-sdk"

# The schema of job files, which its swagger.yaml has from far away.
ELSEWHERE = re.compile(r'https://raw\.[^"]+/JobProtocol')

# The document has an integer there; servers have a text.
UID = re.compile(r"(taskUid:\s+type: )integer")


def install():
    """Why there is no client, or nothing."""
    for program_name in ("node", "npm", "openssl"):
        if shutil.which(program_name) is None:
            return f"no {program_name}"
    BUILD.mkdir(parents=True, exist_ok=True)
    wanted = (SOURCE / "package.json").read_text()
    have = BUILD / "installed.json"
    if have.exists() and have.read_text() == wanted:
        return None
    (BUILD / "package.json").write_text(wanted)
    done = subprocess.run(
        ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
         "--no-package-lock", "--fetch-retries", "0"], cwd=BUILD,
        capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        return "npm cannot install: " + done.stderr.strip()[-200:]
    have.write_text(wanted)
    return None


class SdkTest(served.ServedTest):
    def setUp(self):
        super().setUp()
        cert, key = self.certificate()
        self.process = self.serve("--reveal-tokens", "--least-password", "6",
                                  "--tls-cert", cert,
                                  "--tls-key", key)
        self.node_env = {**self.env, "NODE_EXTRA_CA_CERTS": cert}
        self.address = self.url.removeprefix("https://")

    def node(self, *args):
        return subprocess.run(
            ["node", *map(str, args)], cwd=BUILD, env=self.node_env,
            capture_output=True, text=True, timeout=300)

    def storage(self):
        """One of a type that its document knows."""
        self.ok("storage", "add", "--type", "nfs", "--data-file", "-", "data",
                input=json.dumps({"server": "nas", "path": "/share"}))
        self.ok("group", "set", "--storage", "data", "default")

    def suite(self):
        """A copy of the client, and of its document without what is far."""
        suite = BUILD / "suite"  # mocha looks into no node_modules
        shutil.rmtree(suite, ignore_errors=True)
        shutil.copytree(SDK / "lib", suite / "lib")
        (suite / "v2.json").write_text(
            self.ok("spec", "schema", "--version", "v2"))
        swagger = suite / "lib/src/api/v2/swagger.yaml"
        swagger.write_text(UID.sub(r"\1string", ELSEWHERE.sub(
            str(suite / "v2.json"), swagger.read_text())))
        return suite, swagger

    def test_every_call(self):
        script = BUILD / "sdk.js"  # finds its packages from there
        shutil.copy(SOURCE / "sdk.js", script)
        self.storage()
        done = self.node(script, self.address, served.PASSWORD,
                         self.suite()[1])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all is as expected", done.stdout)
        self.end(self.process)

    def test_its_own_tests(self):
        suite, swagger = self.suite()
        folder = suite / "lib/.tests"
        folder.mkdir(exist_ok=True)
        (folder / "clusters.json").write_text(json.dumps([{
            "alias": "test", "rest_server_uri": self.address, "https": True,
            "username": "admin", "password": served.PASSWORD,
            "token": self.login()}]))
        self.storage()
        data = suite / "lib/tests/common/test_data/testJobConfig.js"
        data.write_text(data.read_text().replace("gpu: 1", "gpu: 0").replace(
            "cpu: 4", "cpu: 1").replace("memoryMB: 8192", "memoryMB: 200")
            # It fails at once here, and the document has not all that is said
            # of a failure: only if it was quick it was seen.
            .replace("'bazel-bin/", "'sleep 5; exit 0; bazel-bin/"))
        done = self.node(suite / "lib/tests/common/apiTestCaseGenerator.js",
                         "--", swagger, folder / "apiTestCase.json")
        self.assertIn("Success", done.stdout, done.stderr)
        done = self.node(
            BUILD / "node_modules/mocha/bin/mocha", "--timeout", 60000,
            "--reporter", "json",
            suite / "lib/tests/api_tests/v2/api.v2.spec.js")
        # What it prints besides comes before its report.
        text = done.stdout[done.stdout.index('{\n  "stats"'):]
        result = json.loads(text)
        failed = {test["fullTitle"]: test["err"].get("message")
                  for test in result["failures"]}
        self.assertEqual(failed, {}, done.stdout[:done.stdout.index(text)])
        self.assertGreater(result["stats"]["passes"], 50)
        self.end(self.process)


class OldProgramTest(served.ServedTest):
    """The program of the same package works with our server."""

    def setUp(self):
        super().setUp()
        home = self.folder / "home"
        home.mkdir()
        self.env.update(HOME=str(home), LANG="C")
        self.process = self.serve()
        self.write("job.yaml", program.JOB.format(
            command="'true'", instances=1, cpu=1).replace(
                "gpu: 0}", "gpu: 0, ports: {ssh: 1}}"))

    def pai(self, *words):
        return subprocess.run(
            ["node", SDK / "lib/src/cli.js", *words], cwd=self.folder,
            env=self.env, capture_output=True, text=True, timeout=60).stdout

    def test_its_commands(self):
        self.pai("addc", self.url, "admin", self.login(), "-a", "lab")
        self.assertIn("lab", self.pai("listc"))
        self.assertNotIn("test", self.pai("listj", "lab"))
        self.assertIn('"name": "test"', self.pai("subj", "lab", "job.yaml"))
        self.run_cli("wait", "admin~test", "--quiet")
        for words in (["listj", "lab"], ["listj", "lab", "-a"],
                      ["getj", "lab", "test"]):
            with self.subTest(words):
                shown = self.pai(*words)
                self.assertIn("test", shown)
                self.assertIn("SUCCEEDED", shown)
        self.assertIn("ssh", self.pai("ssh", "lab", "test"))
        self.assertIn('"storages": []', self.pai("lists", "lab"))
        self.end(self.process)


WHY = install()
if WHY is not None:
    print("skipped:", WHY)
    sys.exit(77)
program.main()
