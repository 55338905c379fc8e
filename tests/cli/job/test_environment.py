"""Which variables a job's commands have: those of who submits it, and of who
runs the platform only a few."""

import json
import os
import pathlib
import subprocess
import time
import unittest

import played
import program
import served

SHOW = "echo LR=${LR-} A=${A-} B=${B-} TOKEN=${HF_TOKEN-}; echo up"


TWO = """\
protocolVersion: 2
name: two
type: job
prerequisites: [{name: x, type: dockerimage, uri: host}]
parameters: {lr: 1}
taskRoles:
  a:
    instances: 1
    dockerImage: x
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["echo <% $parameters.lr %>", "true"]
  b:
    instances: 1
    dockerImage: x
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["true"]
"""


class Environment(program.RootTest):
    def setUp(self):
        super().setUp()
        self.env["OPENPAI_ROOT"] = str(self.root)
        self.given = {}

    def run_cli(self, *args, **kwargs):
        """With more variables in this one call."""
        before, self.env = self.env, {**self.env, **self.given}
        try:
            return super().run_cli(*args, **kwargs)
        finally:
            self.env = before

    def printed(self, *args, **given):
        self.given = given
        text = self.ok(*args)
        self.given = {}
        return text

    def command(self, *options, script=SHOW, **given):
        text = self.printed("run", "-q", *options, "--", "bash", "-c", script,
                            **given)
        return text.splitlines()

    def stored(self):
        return b"".join(path.read_bytes()
                        for path in self.root.glob("openpai.db*"))

    def test_a_command_has_its_callers_variables(self):
        self.ok("up")
        self.assertEqual(self.command(LR="0.25")[0], "LR=0.25 A= B= TOKEN=")
        odd = "it's <% $x %> \"$HOME\"\n  two"
        self.assertEqual(self.command(script='echo "$LR"', LR=odd),
                         odd.split("\n"))
        self.assertEqual(
            self.command("-e", "A=2", "-e", "LR", "-eB=", LR="1", A="1",
                         B="1")[0], "LR=1 A=2 B= TOKEN=")
        self.assertEqual(self.command("--clean-env", "-e", "A", LR="1",
                                      A="2")[0], "LR= A=2 B= TOKEN=")
        # What is the session's is left out.
        self.assertEqual(
            self.command(script="echo $DISPLAY $SSH_AUTH_SOCK $XDG_SEAT "
                         "$DBUS_SESSION_BUS_ADDRESS $OPENPAI_TOKEN $PAI_X .",
                         DISPLAY=":0", SSH_AUTH_SOCK="/x", XDG_SEAT="s",
                         DBUS_SESSION_BUS_ADDRESS="y", OPENPAI_TOKEN="t",
                         PAI_X="x"), ["."])

    def test_it_is_shown(self):
        """Also of a job that is over, and no secret."""
        self.ok("up")
        self.printed("run", "-q", "--name", "shown", "--clean-env", "-e",
                     "LR=0.25", "-e", "HF_TOKEN=hidden", "--", "bash", "-c",
                     "true")
        self.assertEqual(self.ok("env", "shown").split("\n"), [
            "role         main", "command      exec bash -c true",
            "environment", "  LR=0.25", "  HF_TOKEN=******", ""])
        told = json.loads(self.ok("env", "shown", "--json"))
        self.assertEqual(told["folder"], str(self.folder))
        self.assertEqual(told["parameters"], {})
        self.assertEqual([role["name"] for role in told["taskRoles"]],
                         ["main"])
        self.assertNotIn("hidden", json.dumps(told))
        self.ok("submit", "-p", "lr=0.1", self.write("two.yaml", TWO))
        self.ok("wait", "two")
        told = json.loads(self.ok("env", "two", "--json"))
        self.assertEqual(told["parameters"], {"lr": 0.1})
        self.assertEqual([role["command"] for role in told["taskRoles"]],
                         ["echo 0.1\ntrue", "true"])
        done = self.run_cli("env", "nobody")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("nobody", done.stderr)

    def test_a_file_of_variables(self):
        self.ok("up")
        path = self.write("vars", "# a comment\n\nA=1 2\r\n LR\nB='x'\n")
        self.assertEqual(
            self.command("--clean-env", "--env-file", path, "-e", "A=3",
                         LR="4")[0], "LR=4 A=3 B='x' TOKEN=")
        for text, why in (("A B=1\n", "not a valid name of a variable"),
                          ("NOT_SET_HERE\n", "is not set in this environment")):
            done = self.run_cli("run", "--env-file", self.write("bad", text),
                                "--", "true")
            self.assertEqual(done.returncode, 125)
            self.assertIn(why, done.stderr)
        done = self.run_cli("run", "-e", "1A=secret", "--", "true")
        self.assertIn("1A", done.stderr)
        self.assertNotIn("secret", done.stderr)

    def test_secrets_are_never_stored_in_clear(self):
        self.ok("up")
        secrets = {"HF_TOKEN": "hf-it's-1", "AWS_SECRET_ACCESS_KEY": "aws-2",
                   "PGPASSWORD": "pg-3", "OPENAI_API_KEY": "oa-4",
                   "DATABASE": "postgres://me:db-5@host/x"}
        script = "; ".join(f'echo "${name}"' for name in secrets)
        self.assertEqual(self.command(script=script, TOKENIZERS="tok-6",
                                      **secrets), list(secrets.values()))
        user = json.loads(self.ok("list", "--json"))[0]["username"]
        config = subprocess.run(
            ["curl", "-sf", "--unix-socket", self.root / "socket",
             f"http://x/api/v2/jobs/{user}~bash/config"], check=True,
            capture_output=True, text=True, timeout=60).stdout
        for value in "it's-1", "aws-2", "pg-3", "oa-4", "db-5":
            self.assertNotIn(value, config)
            self.assertNotIn(value.encode(), self.stored())
        self.assertIn("HF_TOKEN", config)
        self.assertIn("tok-6", config)

    def test_job_files_get_what_is_given(self):
        self.ok("up")
        file = self.job(SHOW, instances=2)
        self.printed("submit", "-e", "A=1", "-e", "HF_TOKEN", file, LR="0.1",
                     HF_TOKEN="hf-1")
        self.ok("wait", "test")
        for index in "01":
            self.assertEqual(
                self.ok("logs", "test", "--task", f"a/{index}"),
                "LR= A=1 B= TOKEN=hf-1\nup\n")
        self.assertNotIn(b"hf-1", self.stored())
        self.assertIn("LR= A=7 B= TOKEN=\n",
                      self.printed("run", "-q", "-e", "A=7", file))
        # A secret of the file's own is not written over.
        with open(file, "a") as f:
            f.write("secrets: {HF_TOKEN: own}\n")
        done = self.run_cli("submit", "-e", "HF_TOKEN=x", file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has a secret HF_TOKEN already", done.stderr)

    def test_a_file_with_variables_of_its_own(self):
        self.ok("up")
        file = self.job(SHOW)
        with open(file, "a") as f:
            f.write("secrets: {word: it's a word}\n"
                    "extras: {openpai: {environment: {LR: '0.5', A: a, "
                    "HF_TOKEN: {secret: word}, "
                    "B: {value: b, container: false}}}}\n")
        self.assertIn("LR=0.5 A=2 B=b TOKEN=it's a word\n",
                      self.printed("run", "-q", "-e", "A=2", file))
        self.assertNotIn(b"it's a word", self.stored())
        for value, why in (("{LR: 0.5}", "LR must be a text in quotes"),
                           ("{A: {secret: none}}", "A must be a text"),
                           ("{'1A': x}", "1A is not a valid name of a variable")):
            path = self.write("bad.yaml", open(self.job("true")).read() +
                              "extras: {openpai: {environment: %s}}\n" % value)
            done = self.run_cli("submit", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn("extras.openpai.environment." + why, done.stderr)

    def test_a_job_tried_again_has_its_secrets_of_here(self):
        self.ok("up")
        self.printed("submit", "-e", "HF_TOKEN", self.job(SHOW),
                     HF_TOKEN="hf-'1")
        self.ok("wait", "test")
        name = self.printed("retry", "test", HF_TOKEN="hf-'1").strip()
        self.ok("wait", name)
        self.assertIn("TOKEN=hf-'1\n", self.ok("logs", name))

    def test_tasks_have_little_of_the_platforms_variables(self):
        operator = {"AWS_SECRET_ACCESS_KEY": "aws-2", "OTHER": "one",
                    "MORE_1": "two", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        file = self.job("env")
        for pass_env, more in ((None, set()), ("OTHER,MORE_*",
                                               {"OTHER", "MORE_1"})):
            options = ("--pass-env", pass_env) if pass_env else ()
            self.printed("up", *options, **operator)
            self.ok("submit", "--name", f"env{len(more)}", file)
            self.ok("wait", f"env{len(more)}")
            names = {line.split("=")[0] for line in self.ok(
                "logs", f"env{len(more)}").splitlines()}
            self.assertEqual(names & set(operator), {"LC_ALL", "TZ"} | more)
            self.assertLessEqual({"PATH", "HOME", "PAI_USER_NAME"}, names)
            self.ok("down")


class Entered(program.RootTest):
    """Who enters a task finds what its commands have."""

    def entered(self, runtime):
        before = dict(self.env)
        self.env.update(HF_TOKEN="hf-it's-1", LR="0.25")
        self.start("run", "-q", "--runtime", runtime, "-e", "A=1 2", "--name",
                   "test", "--", "bash", "-c", "echo up; exec sleep 1000")
        self.env = before
        while not self.run_cli("logs", "test").stdout:
            time.sleep(0.05)
        found = set(self.ok("exec", "test", "--", "env").splitlines())
        self.assertLessEqual({"A=1 2", "HF_TOKEN=hf-it's-1", "LR=0.25"}, found)
        shown = self.ok("exec", "test", "--", "bash", "-c", "echo $LR.$PATH")
        self.assertRegex(shown, "^0.25./")
        self.ok("stop", "--now", "test")
        self.run_cli("wait", "test")

    def test_a_process(self):
        self.entered("process")

    @unittest.skipUnless(program.bubblewrap_works(), "no sandbox here")
    def test_a_sandbox(self):
        self.entered("bwrap")

    @unittest.skipUnless(program.bubblewrap_works(), "no sandbox here")
    def test_what_makes_a_sandbox_obeys_none(self):
        """A library of the job's is loaded inside of its sandbox alone."""
        self.ok("up")
        self.ok("submit", "--runtime", "bwrap", "-e", "MARK=mark-7",
                self.job("exec sh -c 'echo up; sleep 1000; :'"))
        self.until_up()
        seen = 0
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                program_of = os.path.basename(os.readlink(path / "exe"))
                has = b"MARK=mark-7" in (path / "environ").read_bytes()
            except OSError:
                continue  # it ended, or is another user's
            self.assertFalse(has and program_of in ("bwrap", "openpai-task"))
            seen += has
        self.assertGreater(seen, 0)  # sh has it, from its beginning
        self.ok("stop", "--now", "test")
        self.run_cli("wait", "test")


class Elsewhere(served.ServedTest):
    def test_variables_go_to_a_server(self):
        process = self.serve()
        self.enlist("far", self.url)
        self.env["HF_TOKEN"] = "hf-1"
        self.ok("submit", "--cluster", "far", "-e", "HF_TOKEN", "-e", "A=1",
                self.job(SHOW))
        self.ok("wait", "--cluster", "far", "test")
        self.assertEqual(self.ok("logs", "--cluster", "far", "test"),
                         "LR= A=1 B= TOKEN=hf-1\nup\n")
        status, _, text = self.ask("GET", "/api/v2/jobs/admin~test/config",
                                   token=self.login())
        self.assertEqual(status, 200)
        self.assertNotIn("hf-1", text)
        self.assertIn("HF_TOKEN", text)
        self.end(process)


class Original(played.Handler):
    """An OpenPAI that takes jobs, and says nothing of itself."""

    def do_GET(self):
        self.answer({"version": "v1.8.0"})

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        self.server.taken.append(self.rfile.read(size).decode())
        self.answer({}, 202)


class OfOpenPAI(program.RootTest):
    def test_an_original_server_gets_lines(self):
        """What bash makes of them is what was given."""
        server = played.serve(self, Original, taken=[])
        secret = "it's\n \"$HOME\" \\ `x`"
        self.env.update(
            XDG_CONFIG_HOME=str(self.folder / "config"), HF_TOKEN=secret,
            OPENPAI_CLUSTER=server.url)
        self.ok("submit", "-e", "HF_TOKEN", "-e", "A=it's <% $x %>", "-e",
                "PYTHONPATH=/machine", self.job(
                    'printf "%s\n" "$HF_TOKEN" "$A" "${PYTHONPATH-none}"'))
        self.ok("submit", self.job("true"))
        with_lines, as_it_was = server.taken
        self.assertNotIn("environment", as_it_was)
        for name in "OPENPAI_CLUSTER", "HF_TOKEN":
            del self.env[name]
        self.ok("run", "-q", self.write("sent.yaml", with_lines))
        self.assertEqual(self.ok("logs", "test"),
                         f"{secret}\nit's <% $x %>\nnone\n")
        self.assertNotIn("export", self.ok("show", "test"))
