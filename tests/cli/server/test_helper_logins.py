"""Logins through `openpai helper`, and clusters whose token an editor keeps; the
effect of changes; job files that wait for a debugger."""

import json
import os
import pathlib
import socket
import subprocess
import sys

import edited
import program
import served
from helped import HelperTest


class Logins(HelperTest):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.env.update(HOME=str(self.home),
                        XDG_CONFIG_HOME=str(self.home / ".config"))

    def token(self, editor, **params):
        told = editor.ask("openpai/login", **{
            "url": self.url, "user": "admin", "password": served.PASSWORD,
            **params})
        self.assertEqual((told["url"], told["user"]), (self.url, "admin"))
        return told["token"]

    def test_a_token_is_in_memory_alone(self):
        self.serve()
        editor = self.editor()
        token = self.token(editor)
        self.assertIsNone(editor.ask("openpai/addCluster", name="own",
                                     url=self.url, user="admin", token=token))
        self.assertEqual(
            editor.ask("openpai/call", cluster="own", name="tokens.check")
            ["body"]["username"], "admin")
        self.assertIn(
            {"name": "own", "url": self.url, "user": "admin", "chosen": False,
             "owner": "editor"}, editor.ask("openpai/clusters"))
        editor.ask("shutdown")
        editor.note("exit")
        self.assertEqual(self.process.wait(60), 0)
        said = self.process.stderr.read()
        for secret in token, served.PASSWORD:
            self.assertNotIn(secret.encode(), said)
            for path in program.files_below(self.home):
                self.assertNotIn(secret.encode(), path.read_bytes(), path)

    def test_what_is_refused(self):
        self.serve()
        editor = self.editor()
        wrong = editor.refused("openpai/login", url=self.url, user="admin",
                               password="hunter2")
        self.assertEqual((wrong["code"], wrong["data"]["status"]),
                         (-32000, "PAI_EPERM"))
        self.assertNotIn("hunter2", json.dumps(wrong))
        self.assertEqual(editor.refused(
            "openpai/login", url=self.url, token="a.b.c")["data"]["httpStatus"],
            401)
        away = editor.refused("openpai/login", url="http://127.0.0.1:1",
                              token="x")
        self.assertEqual(away["data"]["httpStatus"], 0)
        for params, part in (
                ({"url": self.url}, "user and a password"),
                ({"url": self.url, "code": "x"}, "its verifier"),
                ({"token": "x"}, "address"), ({"url": "x:", "token": "x"},
                                              "address")):
            error = editor.refused("openpai/login", **params)
            self.assertIn(part, error["message"])
            self.assertEqual(error["code"], -32602)
        self.assertIn("password", editor.refused(
            "openpai/loginPage", url=self.url)["message"])
        for params in {"name": "own"}, {"url": self.url}, \
                {"name": "local", "url": self.url}, \
                {"name": "own", "url": "x:"}:
            self.assertEqual(editor.refused("openpai/addCluster", **params)
                             ["code"], -32602)

    def test_a_server_is_found_before_a_login(self):
        self.serve()
        editor = self.editor()
        for url in self.url, f"{self.url}/":
            self.assertEqual(editor.ask("openpai/findServer", url=url)
                             ["browser"], False)
        away = editor.refused("openpai/findServer", url="http://127.0.0.1:1")
        self.assertTrue(away["data"]["notReached"])
        self.assertIn("no OpenPAI at this address", editor.refused(
            "openpai/findServer", url=f"{self.url}/nowhere")["message"])
        self.assertEqual(editor.refused("openpai/findServer", url="x:")
                         ["code"], -32602)

    def test_a_token_is_checked(self):
        self.serve()
        token = self.login()
        self.assertEqual(self.token(self.editor(), user=None, password=None,
                                    token=token), token)

    def test_a_certificate_that_nobody_knows(self):
        cert, key = self.certificate()
        self.serve("--tls-cert", cert, "--tls-key", key)
        editor = self.editor()
        login = {"url": self.url, "user": "admin",
                 "password": served.PASSWORD}
        self.assertTrue(editor.refused("openpai/login", **login)["data"]
                        ["untrusted"])
        token = self.token(editor, caFile=cert)
        editor.ask("openpai/addCluster", name="own", url=self.url, token=token,
                   caFile=cert)
        self.assertEqual(editor.ask("openpai/call", cluster="own",
                                    name="server.info")["status"], 200)
        # The program is told of the same in variables.
        self.env.update(OPENPAI_CLUSTER=self.url, OPENPAI_TOKEN=token)
        self.assertIn("certificate", self.run_cli("list").stderr)
        self.env["OPENPAI_CA_FILE"] = cert
        self.ok("list")

    def test_whose_a_cluster_is(self):
        """The editor's own goes first; another editor has the program's."""
        self.serve()
        self.enlist("lab", self.url)
        path = self.folder / "s"
        self.binary("helper", "--socket", str(path))
        self.until(path.is_socket)
        first, second = (self.connect(path) for _ in "12")
        check = {"cluster": "lab", "name": "tokens.check"}
        self.assertEqual(second.ask("openpai/call", **check)["status"], 200)
        first.ask("openpai/addCluster", name="lab", url=self.url)
        self.assertEqual(first.refused("openpai/call", **check)["data"]
                         ["httpStatus"], 401)
        self.assertEqual(second.ask("openpai/call", **check)["status"], 200)
        self.assertEqual([(one["name"], one["owner"]) for one in
                          first.ask("openpai/clusters")],
                         [("local", "program"), ("lab", "editor")])
        first.ask("openpai/forgetCluster", name="lab")
        self.assertEqual(first.ask("openpai/call", **check)["status"], 200)
        # A token that the program has changed is used after that, too.
        self.ok("logout", "lab")
        first.ask("openpai/forgetCluster", name="lab")
        self.assertEqual(first.refused("openpai/call", **check)["data"]
                         ["httpStatus"], 401)
        first.ask("openpai/addCluster", name="mine", url=self.url)
        self.assertIn("no cluster", second.refused(
            "openpai/call", cluster="mine", name="server.info")["message"])
        for editor in first, second:
            editor.said.close()

    def connect(self, path):
        while True:  # it may be bound and not listen yet
            try:
                editor = edited.Editor.at(path)
                break
            except ConnectionRefusedError:
                os.sched_yield()
        editor.begin()
        return editor

    def test_a_login_that_is_cancelled(self):
        """By a server that never answers."""
        with self.listener() as listener:
            editor = self.editor()
            login = editor.request(
                "openpai/login", token="x",
                url=f"http://127.0.0.1:{listener.getsockname()[1]}")
            editor.ask("openpai/clusters")
            editor.note("$/cancelRequest", id=login)
            self.assertEqual(editor.answer(login)["error"]["code"], -32800)

    @staticmethod
    def listener():
        return socket.create_server(("127.0.0.1", 0))


class WhatIf(HelperTest):
    def setUp(self):
        super().setUp()
        self.serve()
        self.enlist("lab", self.url)
        self.env["OPENPAI_CLUSTER"] = "lab"
        cpus = len(os.sched_getaffinity(0))
        for name, command in ("first", "echo up; sleep 600"), ("second", ":"):
            self.ok("submit", "--name", name, self.job(command, cpu=cpus))
        self.until_up("first")
        self.addCleanup(self.run_cli, "stop", "first", "second")

    def what_if(self, editor, **changes):
        return editor.ask("openpai/whatIf", cluster="lab", **changes)

    def test_changes(self):
        editor = self.editor()
        told = self.what_if(editor, cancel=["first"])
        usual = json.loads(self.ok("what-if", "--json", "--kill", "first"))
        self.assertEqual(told.keys(), usual.keys())
        for key in "start_now", "stop_now", "unsafe":
            self.assertEqual(told[key], usual[key], key)
        self.assertEqual((told["start_now"], told["stop_now"]), (1, 1))
        node = json.loads(self.ok("node", "list", "--json"))[0]["name"]
        self.assertEqual(self.what_if(editor, drain=[node])["never"], 1)
        self.assertEqual(self.what_if(editor, policy="backfill")["stop_now"], 0)
        self.assertIn("  stops at once: first", self.what_if(
            editor, cancel=["first"], format="text"))
        more = self.what_if(editor, job=self.job_text())
        self.assertEqual((more["start_now"], more["unsafe"]), (0, False))
        # A job that is not submitted needs to fit on an empty cluster.
        self.assertIn("100000 CPUs", editor.refused(
            "openpai/whatIf", cluster="lab",
            job=pathlib.Path(self.job(":", cpu=100000)).read_text())
            ["message"])
        # Nothing of it has happened.
        self.assertEqual(
            {job["name"]: job["state"] for job in
             json.loads(self.ok("list", "--json"))},
            {"first": "RUNNING", "second": "WAITING"})

    def test_refusals(self):
        editor = self.editor()
        for changes, part in (
                ({}, "nothing is changed"), ({"cancel": ["none"]}, "none"),
                ({"job": "taskRoles: ["}, ""), ({"config": "["}, ""),
                ({"drain": ["none"]}, "none"), ({"policy": "none"}, "none")):
            error = editor.refused("openpai/whatIf", cluster="lab", **changes)
            self.assertIn(part, error["message"], changes)


class Copies(HelperTest):
    def test_bytes_both_ways(self):
        self.serve()
        self.enlist("lab", self.url)
        self.env["OPENPAI_CLUSTER"] = "lab"
        code = self.folder / "code"
        code.mkdir()
        (code / "a").write_bytes(bytes(range(256)))
        self.ok("submit", "--name", "j", "--code", str(code), self.job(":"))
        self.ok("wait", "j", "--quiet")
        editor = self.editor()
        here = self.folder / "here"
        copy = {"cluster": "lab", "job": "admin~j"}
        told = editor.ask("openpai/copy", **copy, path="a", file=str(here),
                          to="here")
        self.assertEqual((told["files"], told["bytes"]), (1, 256))
        self.assertEqual(here.read_bytes(), bytes(range(256)))
        here.write_bytes(b"\0other\xff")
        editor.ask("openpai/copy", **copy, path="b/c", file=str(here), to="job")
        back = self.folder / "back"
        editor.ask("openpai/copy", **copy, path="b/c", file=str(back),
                   to="here")
        self.assertEqual(back.read_bytes(), b"\0other\xff")
        self.assertEqual(editor.refused(
            "openpai/copy", **copy, path="none", file=str(back), to="here")
            ["data"]["httpStatus"], 404)
        self.assertEqual(editor.refused(
            "openpai/copy", **copy, path="a", file="back", to="here")["code"],
            -32602)


DEBUGPY = """\
import sys
print("debugged", *sys.argv[1:], flush=True)
"""


class Debug(HelperTest):
    """With a debugpy that only says what it was called with."""

    def setUp(self):
        super().setUp()
        package = self.folder / "lib" / "debugpy"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "__main__.py").write_text(DEBUGPY)
        self.env["PYTHONPATH"] = str(self.folder / "lib")
        self.write("a.py", "import sys\nprint('plain', *sys.argv[1:])\n")

    def changed(self, command):
        return self.editor().ask("openpai/debugJob",
                                 text=self.job_text(command), port=5678)

    def debug(self, command, index="0", **env):
        """What the changed commands of the job print."""
        told = self.changed(command)
        self.assertEqual((told["role"], told["index"]), ("a", 0))
        script = self.ok("spec", "render",
                         self.write("changed.yaml", told["text"]))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=self.folder, env={**self.env, "PAI_TASK_INDEX": index, **env},
            capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_the_first_python(self):
        wait = "debugged --listen 127.0.0.1:5678 --wait-for-client"
        python = sys.executable
        for command, out in (
                ("python3 a.py 'x y'; python3 a.py",
                 f"{wait} a.py x y\nplain\n"),
                ("A=1 python3 -u -X utf8 -m pkg -v", f"{wait} -m pkg -v\n"),
                ("if true; then python3 a.py | cat; fi && python3 a.py",
                 f"{wait} a.py\nplain\n"),
                (f"{python} a.py", f"{wait} a.py\n"),
                ("python3 -VV >&2; python3 -Wignore a.py", f"{wait} a.py\n"),
                ("python3 -c 'print(1)'", f"{wait} -c print(1)\n"),
                ("echo 'print(2)' | python3; python3 a.py",
                 f"2\n{wait} a.py\n")):
            with self.subTest(command=command):
                self.assertEqual(self.debug(command)[:2], (0, out))

    def test_other_tasks_are_not_debugged(self):
        self.assertEqual(self.debug("python3 a.py; exit 3", index="1"),
                         (3, "plain\n", ""))

    def test_debugpy_is_missing(self):
        code, out, said = self.debug("python3 a.py", PYTHONPATH="")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("python3 -m pip install debugpy", said)

    def test_no_python(self):
        for command in ("echo python3 a.py", "exec python3 a.py",
                        "./python-like a.py"):
            self.assertIn("no task role calls Python", self.editor().refused(
                "openpai/debugJob", text=self.job_text(command), port=5678)
                ["message"])
        self.assertIn("port", self.editor().refused(
            "openpai/debugJob", text=self.job_text())["message"])
