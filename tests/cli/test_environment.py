"""Which variables a job's commands have: those of who submits it, and of who
runs the platform only a few."""

import json
import subprocess

import program
import served

SHOW = "echo LR=${LR-} A=${A-} B=${B-} TOKEN=${HF_TOKEN-}; echo up"


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
        return [line.split("| ", 1)[1] for line in text.splitlines()]

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

    def test_a_file_of_variables(self):
        self.ok("up")
        path = self.write("vars", "# a comment\n\nA=1 2\r\n LR\nB='x'\n")
        self.assertEqual(
            self.command("--clean-env", "--env-file", path, "-e", "A=3",
                         LR="4")[0], "LR=4 A=3 B='x' TOKEN=")
        for text, why in (("A B=1\n", "this is no name of a variable"),
                          ("NOT_SET_HERE\n", "is not set here")):
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


if __name__ == "__main__":
    program.main()
