"""Commands and terminals in tasks through `openpai helper`, on this machine and
on a server."""

import os
import re
import sys

import edited
import program
from entered import Tasks
from helped import HelperTest

# Far more than all buffers on the way hold.
MUCH = 20 << 20


class Command:
    """A command in task a/0 of the job j, by an editor's stream."""
    last = 0

    def __init__(self, editor, user, *words, **params):
        Command.last += 1
        self.editor, self.token = editor, f"t{Command.last}"
        self.shown = ""
        self.request = editor.request(
            "openpai/exec", partialResultToken=self.token, job=f"{user}~j",
            role="a", index=0, **({"command": words} if words else {}),
            **params)

    def event(self):
        for i, news in enumerate(self.editor.news):
            if news.get("params", {}).get("token") == self.token:
                return self.editor.news.pop(i)["params"]["value"]
        return None

    def next(self):
        """The next event, or None after the last."""
        while (event := self.event()) is None:
            message = self.editor.hear()
            if message is None:
                raise EOFError(self.shown)
            if "method" in message:
                self.editor.news.append(message)
            else:
                self.editor.answers[message["id"]] = message
                if message["id"] == self.request:
                    return self.event()
        return event

    def started(self):
        event = self.next()
        assert event["event"] == "started", event
        return event["terminal"]

    def until(self, pattern):
        while not (found := re.search(pattern, self.shown)):
            event = self.next()
            if event is None:
                raise AssertionError((pattern, self.shown))
            self.shown += event["text"]
        self.shown = self.shown[found.end():]
        return found

    def send(self, **params):
        return self.editor.request("openpai/execInput", token=self.token,
                                   **params)

    def type(self, **params):
        assert self.editor.answer(self.send(**params))["result"] is None

    def end(self):
        return self.editor.answer(self.request)["result"]

    def output(self):
        """All of both streams, after the end."""
        text = {"stdout": "", "stderr": ""}
        while (event := self.event()) is not None:
            if event["event"] == "output":
                text[event["stream"]] += event["text"]
        return text


class Near(Tasks, HelperTest):
    def setUp(self):
        super().setUp()
        self.env["SHELL"] = "/bin/sh"
        self.user = self.begin()
        self.waits()

    def begin(self):
        """The name of the jobs' user."""
        return self.editor().ask("openpai/clusters")[0]["user"]

    def run_in(self, editor, *words, **params):
        return Command(editor, self.user, *words, **params)

    def test_streams_and_codes(self):
        editor = self.editor()
        command = self.run_in(editor, "sh", "-c",
                              "cat; echo é >&2; printf '\\303'; exit 7")
        self.assertFalse(command.started())
        command.type(text="in ü\n")
        command.type(end=True)
        self.assertEqual(command.end(), {"how": "exit", "code": 7,
                                         "signal": 0, "text": ""})
        self.assertEqual(command.output(), {"stdout": "in ü\n�",
                                            "stderr": "é\n"})
        killed = self.run_in(editor, "sh", "-c", "kill -9 $$")
        self.assertEqual({k: v for k, v in killed.end().items() if k != "text"},
                         {"how": "signal", "code": 137, "signal": 9})
        none = self.run_in(editor, "no-such")
        self.assertEqual((none.end()["how"], self.process.poll()),
                         ("failed", None))

    def test_a_terminal(self):
        editor = self.editor()
        command = self.run_in(editor, "bash", "--norc", tty=True, columns=101,
                              rows=33, terminal="vt220")
        self.assertTrue(command.started())
        command.until("[$#] ")
        command.type(text="stty size; echo $TERM; tty\n")
        command.until("33 101\r\nvt220\r\n/dev/pts/")
        command.type(columns=90, rows=50)
        command.type(text="until stty size | grep '50 90'; do :; done\n")
        command.until("50 90\r\n")
        command.type(text="exit 9\n")
        self.assertEqual(command.end()["code"], 9)

    def test_a_shell_without_a_command(self):
        command = self.run_in(self.editor())
        command.started()
        command.type(text="echo a$((1+1)); exit 4\n")
        self.assertEqual(command.end()["code"], 4)
        self.assertEqual(command.output()["stdout"], "a2\n")

    def test_a_signal(self):
        command = self.run_in(
            self.editor(), "sh", "-c", "trap 'echo int; exit 5' INT; echo up; "
            "while :; do sleep 0.01; done")
        command.started()
        command.until("up\n")
        command.type(signal=2)
        self.assertEqual(command.end()["code"], 5)

    def test_a_cancelled_command_ends(self):
        editor = self.editor()
        command = self.run_in(editor, "sh", "-c", "echo $$; sleep 999")
        command.started()
        pid = int(command.until(r"(\d+)\n")[1])
        editor.note("$/cancelRequest", id=command.request)
        self.assertEqual(editor.answer(command.request)["error"]["code"],
                         -32800)
        self.gone(pid)
        self.assertEqual(editor.answer(command.send(text="x"))["error"]["code"],
                         -32602)

    def test_an_editor_goes_in_the_midst(self):
        editor = self.editor()
        command = self.run_in(editor, "sh", "-c", "echo $$; sleep 999")
        command.started()
        pid = int(command.until(r"(\d+)\n")[1])
        editor.said.close()
        self.process.stdin = None
        self.gone(pid)
        self.assertEqual(self.process.wait(60), 1)
        self.assertEqual(self.process.stderr.read(), b"")

    def test_it_ends_with_the_task(self):
        command = self.run_in(self.editor(), "sh", "-c", "echo up; sleep 999")
        command.started()
        command.until("up\n")
        self.ok("stop", "j")
        self.assertIn(command.end()["how"], ("lost", "signal"))

    def test_an_editor_that_does_not_read(self):
        """The command waits; other editors do not."""
        path = self.folder / "s"
        self.binary("helper", "--socket", str(path))
        self.until(path.is_socket)
        slow, quick = (self.connect(path) for _ in "12")
        command = self.run_in(slow, "sh", "-c", "yes | head -c "
                              f"{MUCH}; echo done > '{self.folder}/done'",
                              cluster=self.cluster)
        # Long enough for all of it, were it not held up.
        wait = self.run_in(quick, "timeout", "5", "sh", "-c", "until [ -e "
                           f"'{self.folder}/done' ]; do sleep 0.05; done",
                           cluster=self.cluster)
        self.assertEqual(wait.end()["code"], 124)
        end = command.end()
        self.assertEqual(end["code"], 0)
        self.assertEqual(len(command.output()["stdout"]), MUCH)
        self.assertTrue((self.folder / "done").exists())
        for editor in slow, quick:
            editor.said.close()

    cluster = "local"

    def connect(self, path):
        while True:  # it may be bound and not listen yet
            try:
                editor = edited.Editor.at(path)
                break
            except ConnectionRefusedError:
                os.sched_yield()
        editor.begin()
        return editor

    def test_input_that_is_not_read_yet(self):
        """Its request is answered when there is room for more."""
        editor = self.editor()
        fifo = self.fifo()
        command = self.run_in(editor, "sh", "-c",
                              f"read x < '{fifo}'; wc -c")
        command.started()
        big = command.send(text="x" * (4 << 20))
        editor.ask("openpai/clusters")  # an answer that passes it by
        self.assertNotIn(big, editor.answers)
        self.release(fifo)
        self.assertIsNone(editor.answer(big)["result"])
        command.type(end=True)
        self.assertEqual(command.end()["code"], 0)
        self.assertEqual(command.output()["stdout"].strip(), str(4 << 20))

    def test_refusals(self):
        editor = self.editor()
        error = editor.refused("openpai/exec", job="nobody~none", role="a",
                               partialResultToken="x")
        self.assertEqual(error["data"]["code"], "NoJobError")
        self.assertIn("partialResultToken", editor.refused(
            "openpai/exec", job="nobody~none", role="a")["message"])
        self.assertEqual(editor.refused("openpai/execInput", token="none",
                                        text="x")["code"], -32602)
        command = self.run_in(editor, "cat")
        command.started()
        for wrong in {"signal": 99}, {"columns": 1 << 20, "rows": -1}:
            self.assertEqual(editor.answer(command.send(**wrong))["error"]
                             ["code"], -32602)


class Far(Near):
    cluster = "lab"

    def begin(self):
        self.serve()
        self.enlist("lab", self.url)
        self.env["OPENPAI_CLUSTER"] = "lab"
        return "admin"


if __name__ == "__main__":
    program.main(sys.argv[2:])
