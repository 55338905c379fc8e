"""`openpai helper`: editors over pipes and a socket, and the clusters behind
it."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys

import edited
import program
from helped import HelperTest

GUIDE = pathlib.Path(sys.argv[2])
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


class Life(HelperTest):
    def test_exit_codes(self):
        editor = self.editor()
        self.assertIsNone(editor.ask("shutdown"))
        editor.note("exit")
        self.assertEqual(self.process.wait(60), 0)

        editor = self.editor()
        editor.note("exit")
        self.assertEqual(self.process.wait(60), 1)

    def test_the_input_ends(self):
        editor = self.editor()
        editor.said.close()
        self.process.stdin = None
        self.assertEqual(self.process.wait(60), 1)
        self.assertEqual(self.process.stderr.read(), b"")

    def test_a_file_is_an_input(self):
        path = self.folder / "messages"
        with open(path, "wb") as file:
            editor = edited.Editor(file, None)
            editor.request("initialize", processId=None, capabilities={})
            editor.request("shutdown")
            editor.note("exit")
        with open(path, "rb") as file, \
                open(self.folder / "answers", "w+b") as out:
            done = subprocess.run([program.OPENPAI, "helper"], stdin=file,
                                  stdout=out, env=self.env, timeout=60)
            out.seek(0)
            editor = edited.Editor(None, out)
            self.assertEqual([editor.hear()["id"] for _ in "12"], [1, 2])
        self.assertEqual(done.returncode, 0)

    def test_a_terminal(self):
        """Somebody who types the verb is told what it waits for."""
        terminal, end = pty.openpty()
        self.addCleanup(os.close, terminal)
        process = self.binary("helper", stdin=end)
        os.close(end)
        os.write(terminal, b"\4")
        self.assertEqual(process.wait(60), 1)
        self.assertEqual(
            process.stderr.read().decode(),
            "note: this is a language server, which an editor starts: see "
            "docs/guide/editors.md; Ctrl-D ends it\n")
        self.assertEqual(process.stdout.read(), b"")

    def test_the_parent_dies(self):
        """Its process is watched, even if the pipe stays open."""
        parent = subprocess.Popen(SLEEP)
        self.addCleanup(parent.wait)
        self.addCleanup(parent.kill)
        process = self.binary("helper")
        edited.Editor.of(process).begin(pid=parent.pid)
        parent.kill()
        self.assertEqual(process.wait(60), 1)

    def test_a_signal(self):
        self.editor()
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(60), 128 + signal.SIGTERM)

    def test_no_protocol(self):
        for said in (b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: x\r\n\r\n",
                     b"Content-Length: 99999999999999\r\n\r\n",
                     b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n7",
                     b"x" * 10000):
            with self.subTest(said=said[:40]):
                process = self.binary("helper")
                _, stderr = process.communicate(said, timeout=60)
                self.assertEqual(process.returncode, 1)
                self.assertIn(b"Content-Length", stderr)

    def test_a_message_is_cut(self):
        for said in b"hello\n", b"Content-Length: 9\r\n\r\n{":
            _, stderr = (process := self.binary("helper")).communicate(said, 60)
            self.assertEqual(process.returncode, 1)
            self.assertIn(b"within a message", stderr)

    def test_any_pieces(self):
        process = self.binary("helper")
        text = b'{"id":1,"method":"initialize","params":{}}'
        for byte in (b"content-length: %d\r\nContent-Type: x; charset=utf-8"
                     b"\r\n\r\n%s" % (len(text), text)):
            process.stdin.write(bytes([byte]))
            process.stdin.flush()
        self.assertEqual(edited.Editor.of(process).hear()["id"], 1)


class Socket(HelperTest):
    def listen(self):
        path = self.folder / "s"
        process = self.binary("helper", "--socket", str(path))
        while not path.is_socket() and process.poll() is None:
            os.sched_yield()
        self.assertIsNone(process.poll())
        return process, path

    def connect(self, path):
        while True:  # it may be bound and not listen yet
            try:
                return edited.Editor.at(path)
            except (ConnectionRefusedError, FileNotFoundError):
                os.sched_yield()

    def test_several_editors(self):
        process, path = self.listen()
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        first, second = self.connect(path), self.connect(path)
        for editor in first, second:
            editor.begin()
        self.assertTrue(first.open("file:///a", "protocolVersion: 2\n"
                                   "naem: x\n"))
        # Another editor's documents are its own.
        self.assertEqual(second.refused("textDocument/hover", textDocument={
            "uri": "file:///a"}, position={"line": 0, "character": 0})["code"],
            -32602)
        first.note("exit")
        self.assertIsNone(first.hear())
        self.assertIsNone(second.ask("shutdown"))
        done = self.run_cli("helper", "--socket", str(path), input="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("listens", done.stderr)
        process.stdin.close()
        process.stdin = None
        self.assertEqual(process.wait(60), 0)
        self.assertFalse(path.exists())
        for editor in first, second:
            editor.said.close()

    def test_a_left_socket_is_replaced(self):
        process, path = self.listen()
        process.kill()
        process.wait(60)
        self.assertTrue(path.is_socket())
        self.binary("helper", "--socket", str(path))
        editor = self.connect(path)
        editor.begin()
        editor.said.close()

    def test_only_a_socket_is_replaced(self):
        path = self.folder / "notes"
        path.write_text("mine")
        done = self.run_cli("helper", "--socket", str(path), input="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no socket", done.stderr)
        self.assertEqual(path.read_text(), "mine")

    def test_a_folder_that_is_missing(self):
        done = self.run_cli("helper", "--socket",
                            str(self.folder / "none" / "s"), input="")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such file or directory", done.stderr)


class Clusters(HelperTest):
    def setUp(self):
        super().setUp()
        self.serve()
        self.enlist("lab", self.url)

    def test_calls_and_streams(self):
        editor = self.editor()
        self.assertEqual(
            [(c["name"], c["url"], c["chosen"]) for c in
             editor.ask("openpai/clusters")],
            [("local", None, True), ("lab", self.url, False)])
        self.assertIsNone(editor.ask("openpai/useCluster", cluster="lab"))
        answer = editor.ask("openpai/call", name="jobs.submit",
                            arguments={"body": self.job_text()})
        self.assertEqual(answer["status"], 202)
        job = "admin~test"
        watch = editor.request("openpai/events", job=job,
                               partialResultToken="w")
        states = []
        while not states or not states[-1]["final"]:
            params = editor.next_news("$/progress")
            self.assertEqual(params["token"], "w")
            states.append(params["value"])
        self.assertEqual((states[-1]["job"], states[-1]["state"]),
                         (job, "SUCCEEDED"))
        self.assertIsNone(editor.answer(watch)["result"])
        logs = editor.request("openpai/logs", job=job, role="a", index=0,
                              partialResultToken=7, follow=True)
        self.assertIsNone(editor.answer(logs)["result"])
        text = "".join(news["params"]["value"]["text"]
                       for news in editor.news
                       if news["params"].get("token") == 7)
        self.assertIn("one\ntwo\n", text)
        shown = editor.ask("openpai/call", name="jobs.show",
                           arguments={"job": job})
        self.assertEqual(shown["body"]["jobStatus"]["state"], "SUCCEEDED")
        error = editor.refused("openpai/call", name="jobs.show",
                               arguments={"job": "admin~none"})
        self.assertEqual((error["code"], error["data"]["httpStatus"],
                          error["data"]["code"]), (-32000, 404, "NoJobError"))

    def test_cancel(self):
        editor = self.editor()
        watch = editor.request("openpai/events", cluster="lab",
                               partialResultToken="w")
        editor.note("$/cancelRequest", id=watch)
        self.assertEqual(editor.answer(watch)["error"]["code"], -32800)

    def test_an_editor_goes_in_the_midst(self):
        editor = self.editor()
        editor.request("openpai/events", cluster="lab",
                       partialResultToken="w")
        editor.ask("openpai/call", cluster="lab", name="server.info")
        editor.said.close()
        self.process.stdin = None
        self.assertEqual(self.process.wait(60), 1)
        self.assertEqual(self.process.stderr.read(), b"")

    def test_refusals(self):
        editor = self.editor()
        for method, params, part in (
                ("openpai/call", {"name": "no.such"}, "no call"),
                ("openpai/call", {"name": "jobs.show"}, "job"),
                ("openpai/call", {"cluster": "x", "name": "jobs.list"},
                 "no cluster 'x'"),
                ("openpai/useCluster", {"cluster": "\u00e9" * 200},
                 "no cluster '" + "\u00e9" * 100 + "': "),
                ("openpai/events", {}, "partialResultToken"),
                ("openpai/logs", {"job": "x"}, "partialResultToken"),
                ("openpai/none", {}, "no method")):
            with self.subTest(method=method, params=params):
                error = editor.refused(method, **params)
                self.assertIn(part, error["message"])
                self.assertIn(error["code"], (-32602, -32601))

    def test_the_guide_has_every_call(self):
        editor = self.editor()
        text = GUIDE.read_text()
        for call in editor.ask("openpai/calls"):
            self.assertIn(f"`{call['name']}`", text)
        found = set(re.findall(r"^\| `(openpai/\w+)`", text, re.M))
        for method in found:
            self.assertNotEqual(
                editor.answer(editor.request(method)).get("error", {})
                .get("code"), -32601, method)
        self.assertEqual(len(found), 16)


class Estimates(HelperTest):
    def test_a_cluster_knows_the_wait(self):
        self.serve()
        self.enlist("lab", self.url)
        editor = self.editor(workspace={"inlayHint": {"refreshSupport": True}})
        editor.ask("openpai/useCluster", cluster="lab")
        editor.open("file:///job.yaml", self.job_text())
        hints = {"textDocument": {"uri": "file:///job.yaml"},
                 "range": {"start": {"line": 0, "character": 0},
                           "end": {"line": 99, "character": 0}}}
        shown = ""
        while "starts at once" not in shown:  # each answer is news
            shown = json.dumps(editor.ask("textDocument/inlayHint", **hints))
            if "starts at once" not in shown:
                editor.next_news("workspace/inlayHint/refresh")
