"""Into a task of a server elsewhere: by HTTP, by HTTPS, behind a prefix."""

import json
import signal
import socket
import subprocess
import sys
import threading

import program
import served
from entered import Entered, Terminal


class Relay:
    """A connection's way, which can be cut.  Without a port it is a proxy, which
    is asked for one."""

    def __init__(self, test, port=None):
        self.to = port
        self.asked = 0
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()
        test.addCleanup(self.close)

    def run(self):
        while True:
            try:
                one = self.listener.accept()[0]
            except OSError:
                return
            other = socket.create_connection(("127.0.0.1", self.to or
                                              self.connect(one)))
            self.pairs.append((one, other))
            for a, b in (one, other), (other, one):
                threading.Thread(target=self.pump, args=(a, b),
                                 daemon=True).start()

    def connect(self, one):
        head = b""
        while b"\r\n\r\n" not in head:
            head += one.recv(1)
        words = head.split()
        assert words[0] == b"CONNECT", head
        self.asked += 1
        one.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        return int(words[1].rpartition(b":")[2])

    @staticmethod
    def pump(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self, pairs=None):
        """Both ends see a connection that is over."""
        for pair in self.pairs if pairs is None else pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

    def close(self):
        self.listener.close()
        self.cut()


class Far(Entered, served.ServedTest):
    tls = False

    def setUp(self):
        super().setUp()
        self.env["SHELL"] = "/bin/bash"
        self.env["XDG_CONFIG_HOME"] = str(self.folder / "config")
        self.env["PATH"] = "/usr/bin:/bin"  # without a keyring
        args = []
        if self.tls:
            cert, key = self.certificate()
            args = ["--tls-cert", cert, "--tls-key", key]
            self.trust = ["--ca-file", cert]
        self.server = self.serve("--prefix", "/team", *args)
        self.enlist("lab", self.url + "/team")
        self.env["OPENPAI_CLUSTER"] = "lab"

    # --- a command ---

    def test_more_than_anybody_holds(self):
        self.waits()
        size = 50 << 20
        process = self.start("exec", "j", "--", "sh", "-c",
                             f"head -c {size} /dev/zero; echo end; exit 3",
                             stdin=subprocess.DEVNULL)
        got = process.stdout.buffer.read()
        self.assertEqual(len(got), size + 4)
        self.assertEqual(got[-4:], b"end\n")
        self.assertEqual(process.wait(60), 3)

    def test_who_does_not_read(self):
        """Holds nobody else up, and makes the command wait."""
        self.waits()
        slow = self.start("exec", "j", "--", "sh", "-c",
                          "head -c 50000000 /dev/zero; echo done > done",
                          stdin=subprocess.DEVNULL)
        self.assertEqual(slow.stdout.read(10), "\0" * 10)
        for _ in range(5):
            self.assertEqual(self.ok("exec", "j", "--", "echo", "a",
                                     stdin=subprocess.DEVNULL), "a\n")
        self.assertFalse((self.folder / "done").exists())
        slow.stdout.read()
        self.assertEqual(slow.wait(60), 0)
        self.assertTrue((self.folder / "done").exists())

    def test_input_that_nobody_reads(self):
        """Takes nothing of the output back."""
        self.waits()
        for _ in range(20):
            with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as more:
                process = self.start("exec", "j", "--", "sh", "-c",
                                     "head -c 300000 /dev/zero; exit 3",
                                     stdin=more.stdout)
                more.stdout.close()
                self.assertEqual(len(process.stdout.read()), 300000)
                self.assertEqual(process.wait(60), 3)

    def test_who_is_killed_ends_it(self):
        self.waits()
        process = self.start("exec", "j", "--", "sh", "-c",
                             "trap 'echo hup > hup; exit' HUP; echo $$; "
                             "while :; do sleep 0.01; done",
                             stdin=subprocess.PIPE)
        pid = int(process.stdout.readline())
        process.kill()
        self.gone(pid)
        self.assertEqual((self.folder / "hup").read_text(), "hup\n")

    def test_a_command_has_its_words_alone(self):
        """Also where --cluster stands among the verb's."""
        self.waits()
        self.enlist("there", self.url)
        done = self.run_cli("exec", "--cluster", "there", "j", "--", "printf",
                            "%s.", "a", "b", stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (0, "a.b."),
                         done.stderr)

    def test_the_connection_breaks(self):
        """Nothing is known of the command then; and it is hung up."""
        relay = Relay(self, int(self.url.rsplit(":", 1)[1]))
        self.waits()
        url = self.url.rsplit(":", 1)[0] + f":{relay.port}"
        self.enlist("through", url)
        process = self.start("exec", "--cluster", "through", "j", "--", "sh",
                             "-c", "echo $$; sleep 999",
                             stdin=subprocess.DEVNULL)
        pid = int(process.stdout.readline())
        relay.cut()
        said = process.communicate()[1]
        # Without TLS nothing tells it from the end of the task.
        self.assertEqual(process.returncode, 125 if self.tls else 137, said)
        self.assertIn("was lost" if self.tls else "or the connection was lost", said)
        self.gone(pid)

    def test_the_server_ends(self):
        """Over TLS the command ends with it; else it goes on."""
        self.waits()
        process = self.start("exec", "j", "--", "sh", "-c",
                             "echo $$; read x; echo $x; exit 6",
                             stdin=subprocess.PIPE)
        pid = int(process.stdout.readline())
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(60), 0)
        if self.tls:
            said = process.communicate()[1]
            self.assertEqual(process.returncode, 137, said)
            self.gone(pid)
            return
        self.assertEqual(process.communicate("hi\n")[0], "hi\n")
        self.assertEqual(process.returncode, 6)

    # --- who may not ---

    def test_refusals(self):
        self.waits()
        self.refused("Job", "exec", "nope", "--", "true")
        self.ok("user", "add", "bob", "--password-file", "-",
                input="password of bob\n")
        self.enlist("his", self.url, "bob", "password of bob")
        self.refused("not", "exec", "--cluster", "his", "admin~j", "--",
                     "true")
        self.env["OPENPAI_TOKEN"] = self.login() + "x"
        self.refused("", "exec", "admin~j", "--", "true")
        self.env.pop("OPENPAI_TOKEN")
        if self.tls:
            self.trust = []
            path = self.folder / "config" / "openpai" / "clusters.yaml"
            path.write_text("\n".join(
                line for line in path.read_text().splitlines()
                if "ca" not in line.split(":")[0]) + "\n")
            self.refused("cannot be trusted", "exec", "j", "--", "true")

    # --- terminals ---

    def test_a_terminal(self):
        self.waits()
        t = Terminal(self, "exec", "j", "--", "bash", "--norc")
        t.until(r"[$#] ")
        t.type("stty size; echo $TERM; tty\n")
        t.until("33 101\r\nvt220\r\n/dev/pts/")
        t.resize(50, 90)
        t.type("until stty size | grep '50 90'; do :; done\n")
        t.until("50 90\r\n")
        t.type("exit 9\n")
        self.assertEqual(t.code(), 9)

    def test_attach(self):
        self.waits("echo up; cat; exit 4",
                   rest="extras: {openpai: {stdin: true}}")
        self.until_up()
        done = self.run_cli("attach", "j", input="words\n")
        self.assertEqual((done.returncode, done.stdout), (4, "up\nwords\n"))

    def test_attach_as_json(self):
        self.waits("echo up; cat; echo err >&2; exit 4",
                   rest="extras: {openpai: {stdin: true}}")
        self.until_up()
        done = self.run_cli("attach", "--json", "j", input="a\"b\n")
        self.assertEqual((done.returncode, done.stderr), (4, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[-1], {"event": "end", "how": "exit",
                                     "code": 4, "text": ""})
        for stream, text in ("stdout", "up\na\"b\n"), ("stderr", "err\n"):
            self.assertEqual(text, "".join(
                line["text"] for line in lines[:-1]
                if line["stream"] == stream))

    def test_attach_and_detach(self):
        self.waits("echo up; exec bash --norc",
                   rest="extras: {openpai: {tty: true}}")
        t = Terminal(self, "attach", "j")
        t.until("detaches")
        t.type("echo a$((1+1))\n")
        t.until("a2")
        t.type("\x10\x11")
        self.assertEqual(t.code(), 0)
        self.assertIn("RUNNING", self.ok("list"))


class FarTls(Far):
    tls = True

    def test_the_input_breaks(self):
        """That is told, and its output goes on."""
        relay = Relay(self, int(self.url.rsplit(":", 1)[1]))
        self.waits("echo up; cat; echo end; exit 3",
                   rest="extras: {openpai: {stdin: true}}")
        self.enlist("through", self.url.rsplit(":", 1)[0] +
                    f":{relay.port}")
        process = self.start("attach", "--cluster", "through", "j",
                             stdin=subprocess.PIPE)
        process.stdin.write("one\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "up\n")
        self.assertEqual(process.stdout.readline(), "one\n")
        relay.cut(relay.pairs[-1:])
        self.assertIn("was lost", process.stderr.readline())
        done = self.run_cli("attach", "--quiet", "j", input="two\n")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(process.stdout.read(), "two\nend\n")
        self.assertEqual(process.wait(60), 3)

    def test_the_terminal_breaks(self):
        """Keys are signals again: Ctrl-C leaves."""
        relay = Relay(self, int(self.url.rsplit(":", 1)[1]))
        self.waits("echo up; while sleep 0.1; do echo on; done",
                   rest="extras: {openpai: {stdin: true, tty: true}}")
        self.enlist("through", self.url.rsplit(":", 1)[0] +
                    f":{relay.port}")
        t = Terminal(self, "attach", "--cluster", "through", "j")
        t.until("Ctrl-Q detaches")
        relay.cut(relay.pairs[-1:])
        t.until("was lost")
        t.type("\x03")
        self.assertEqual(t.code(), 130)

    def test_through_a_proxy(self):
        self.waits()
        proxy = Relay(self)
        self.env["https_proxy"] = f"http://127.0.0.1:{proxy.port}"
        done = self.run_cli("exec", "j", "--", "sh", "-c", "cat; exit 7",
                            input="in\n")
        self.assertEqual((done.returncode, done.stdout), (7, "in\n"),
                         done.stderr)
        self.assertGreater(proxy.asked, 1)  # of the job, and of the task


if __name__ == "__main__":
    program.main(sys.argv[2:])
