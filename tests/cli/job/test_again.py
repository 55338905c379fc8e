"""Jobs once more, with their folders, code and secrets; copies of all that is
on record."""

import json
import os
import pathlib
import pty
import sqlite3
import stat
import subprocess

import program

SECRET = "hunter2-Xyzzy-Plugh"
OTHER = "another-Xyzzy-Plover"


class Again(program.RootTest):
    def log(self, name):
        """What a job has printed in the end."""
        self.run_cli("wait", name)
        return self.ok("logs", name, "--log", "stdout")

    def secret_job(self, command="true", secrets="{key: %s}" % SECRET):
        """Says how long the secret is and what it ends with."""
        path = pathlib.Path(self.job(
            f"key='<% $secrets.key %>'; echo ${{#key}} ${{key##*-}}; "
            f"{command}"))
        path.write_text(path.read_text() + f"secrets: {secrets}\n")
        return str(path)

    def assert_nowhere(self, *words):
        """In no file of the root, and in no process's words but ours."""
        for word in words:
            for file, text in program.bytes_below(self.root):
                self.assertNotIn(word.encode(), text, file)
            for cmdline in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self.assertNotIn(word.encode(), cmdline.read_bytes())
                except OSError:
                    pass  # it has ended

    # --- folders and names -------------------------------------------------------

    def test_once_more(self):
        self.ok("run", "-q", self.job("echo hi"))
        self.assertEqual(self.ok("retry", "test"), "test_2\n")
        self.assertEqual(self.ok("clone", "--json", "test_2"),
                         '{"name":"test_3"}\n')
        self.assertEqual(self.ok("clone", "--name", "other", "test"),
                         "other\n")
        self.assertEqual(self.ok("clone", "test", "third"), "third\n")
        self.assertEqual(self.ok("clone", "third"), "third_2\n")
        self.assertEqual(self.ok("wait", "test_2", "test_3", "other"),
                         "test_2 SUCCEEDED\ntest_3 SUCCEEDED\n"
                         "other SUCCEEDED\n")
        self.assertEqual(self.log("other"), "hi\n")
        self.refused(1, "has a job third already", "clone", "test", "third")
        self.refused(2, "the new name is given twice", "clone", "test", "a",
                     "--name", "b")
        self.refused(2, "--name is for one job", "retry", "test", "a",
                     "--name", "x")
        self.refused(2, "must not contain a user", "clone", "test", "a~b")
        self.refused(1, "is not found", "clone", "nobody")

    def test_it_begins_where_the_first_one_did(self):
        path = self.job("pwd; echo <% $parameters.n %>")
        with open(path, "a") as file:
            file.write("parameters: {n: one}\n")
        there = self.folder / "there"
        there.mkdir()
        self.ok("run", "-q", path, cwd=there)
        self.ok("retry", "test", "-p", "n=two")
        self.assertEqual(self.log("test_2"),
                         f"{os.path.realpath(there)}\ntwo\n")
        there.rmdir()
        self.refused(1, str(there), "retry", "test")

    def test_code_goes_along(self):
        code = self.folder / "code"
        (code / "below").mkdir(parents=True)
        (code / "x.sh").write_text("echo code; pwd\n")
        (code / "x.sh").chmod(0o755)
        (code / "below" / "y").write_text("why\n")
        (code / "link").symlink_to("/nowhere")
        self.ok("run", "-q", "--code", str(code),
                self.job("./x.sh; cat below/y; readlink link; ls | wc -l; "
                         "echo more >>below/y; mkfifo pipe"))
        (code / "x.sh").write_text("exit 9\n")  # it was copied
        self.ok("retry", "test")
        place = os.path.realpath(self.root) + "/code/"
        user = json.loads(self.ok("list", "--json"))[0]["username"]
        self.assertEqual(self.log("test_2"),
                         f"code\n{place}{user}~test_2\nwhy\nmore\n/nowhere\n3\n")
        self.ok("rm", "test")  # each has its own
        self.ok("retry", "test_2", "--name", "last")
        self.assertIn("why\nmore\nmore\n", self.log("last"))
        self.assertEqual(sorted(p.name for p in (self.root / "code").iterdir()),
                         [f"{user}~last", f"{user}~test_2"])
        self.ok("clone", "last", "new", "--code", str(code))
        self.assertNotIn("more", self.log("new"))
        # Refused, it leaves no copy behind.
        self.refused(1, "has a job new", "clone", "last", "new")
        self.assertEqual(len(list((self.root / "code").iterdir())), 3)
        # What the job was given is gone.
        for file in sorted((self.root / "code" / f"{user}~last").rglob("*"),
                           reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        (self.root / "code" / f"{user}~last").rmdir()
        self.refused(1, "cannot copy the job's code", "clone", "last")

    def test_old_copies_are_swept(self):
        code = self.root / "code"
        for name in ("new-1", "new-backup-7-1", "somebody~new-1"):
            (code / name / "below").mkdir(parents=True)
            (code / name / "below" / "x").write_text("x")
            os.utime(code / name, (1, 1))
        (code / "new-2").mkdir()
        self.ok("up")
        self.ok("run", "-q", self.job("true"))
        while (code / "new-1").exists() or (code / "new-backup-7-1").exists():
            self.ok("status")  # it is done beside the loop
        self.assertEqual(sorted(p.name for p in code.iterdir()),
                         ["new-2", "somebody~new-1"])
        self.ok("down")
        self.assertIn("removed 2 copies of code",
                      (self.root / "log").read_text())

    # --- secrets -----------------------------------------------------------------------

    def test_secrets_are_nowhere(self):
        fifo = self.fifo()
        path = self.secret_job(f"read x <{fifo}")
        self.assertEqual(self.ok("submit", path), "test\n")
        process = self.start("logs", "-f", "test")
        self.assertEqual(process.stdout.readline(), "19 Plugh\n")
        self.assert_nowhere(SECRET)
        shown = [self.ok(*words) for words in (
            ["show", "test"], ["show", "--json", "test"], ["list", "--json"],
            ["events", "test"], ["why", "test"], ["export"], ["status"])]
        self.ok("down")
        self.assert_nowhere(SECRET)
        self.ok("up")
        self.assert_nowhere(SECRET)
        self.release(fifo)
        process.kill()
        self.assertEqual(self.log("test"), "19 Plugh\n")
        self.assert_nowhere(SECRET)
        shown += [self.ok(*words) for words in (
            ["show", "test"], ["show", "--json", "test"], ["export"])]
        self.assertNotIn(SECRET, "".join(shown))
        self.ok("down")
        self.assert_nowhere(SECRET)

    def sealed(self):
        """The encrypted secrets that the database has."""
        with sqlite3.connect(self.root / "copy.db") as copy:
            return [row[0] for row in copy.execute("SELECT sealed FROM secret")]

    def test_they_are_erased(self):
        fifo = self.fifo()
        self.ok("submit", self.secret_job(f"read x <{fifo}"))
        self.ok("backup", str(self.root / "copy.db"))
        sealed, = self.sealed()
        self.assertGreater(len(sealed), 100)
        (self.root / "copy.db").unlink()
        self.release(fifo)
        self.ok("wait", "test")
        self.ok("backup", str(self.root / "copy.db"))
        self.assertEqual(self.sealed(), [])
        (self.root / "copy.db").unlink()
        self.ok("down")
        for file, text in program.bytes_below(self.root):
            self.assertNotIn(sealed[:64], text, file)

    def test_after_the_end_they_are_given_anew(self):
        self.ok("run", "-q", self.secret_job())
        told = self.refused(1, "secrets are missing: key", "retry", "test")
        self.assertIn("--secrets FILE", told)
        self.assertIn("--secret-file key=FILE", told)
        given = self.write("secrets", f"key: {OTHER}\nunused: [1]\n")
        self.assertEqual(self.ok("retry", "test", "--secrets", given),
                         "test_2\n")
        self.assertEqual(self.log("test_2"), "20 Plover\n")
        self.ok("retry", "test", "--secrets", "-", input=f"key: {OTHER}\n")
        self.assertEqual(self.log("test_3"), "20 Plover\n")
        one = self.write("one", f"{OTHER}: x #\n")
        self.ok("clone", "test", "four", "--secret-file", f"key={one}")
        self.assertEqual(self.log("four"), "25 Plover: x #\n")
        self.assert_nowhere(SECRET, OTHER)

    def test_while_it_lives_they_are_kept(self):
        fifo = self.fifo()
        self.ok("submit", self.secret_job(f"read x <{fifo}"))
        self.ok("clone", "test", "like")
        self.ok("clone", "test", "other", "--secret-file",
                "key=" + self.write("one", OTHER))
        self.refused(1, "is not over", "retry", "test")
        self.ok("down")
        self.ok("up")
        self.ok("clone", "test", "later")
        for _ in range(4):
            self.release(fifo)
        for name in ("test", "like", "later"):
            self.assertEqual(self.log(name), "19 Plugh\n", name)
        self.assertEqual(self.log("other"), "20 Plover\n")
        self.assert_nowhere(SECRET, OTHER)

    def test_wrong_secrets(self):
        self.ok("run", "-q", self.secret_job())
        for words, part in (
                (["--secrets", "nowhere"], "cannot read nowhere"),
                (["--secrets", self.write("a", f"{OTHER}")], "is not a mapping of names to secrets"),
                (["--secrets", self.write("b", f"[{OTHER}")],
                 "neither YAML nor JSON"),
                (["--secret-file", "key=nowhere"], "cannot read nowhere")):
            told = self.refused(2, part, "retry", "test", *words)
            self.assertNotIn(OTHER, told)
        told = self.refused(2, "this is not NAME=FILE", "retry", "test",
                            "--secret-file", OTHER)
        self.assertNotIn(OTHER, told)
        done = self.run_cli("retry", "test", "--secret-file",
                            "kee=" + self.write("c", OTHER))
        self.assertIn("warning: the job has no secret kee", done.stderr)
        self.assertIn("secrets are missing: key", done.stderr)

    def test_a_file_without_its_secrets(self):
        path = self.secret_job(secrets='{key: "******"}')
        self.refused(1, "secrets are missing: key", "submit", path)
        self.refused(125, "", "run", path)
        given = self.write("given", f'{{"key": "{OTHER}"}}')
        self.assertEqual(self.ok("run", "-q", path, "--secrets", given),
                         "20 Plover\n")
        self.ok("submit", path, "--secret-file", "key=" + self.write("o", OTHER))
        self.assertEqual(self.log("test_2"), "20 Plover\n")

    def test_accounts_of_registries(self):
        path = pathlib.Path(self.secret_job())
        path.write_text(path.read_text().replace(
            "uri: x}", f"uri: x, auth: {{username: ann, password: {OTHER}, "
            "registryuri: r}}"))
        self.ok("run", "-q", str(path))
        self.assert_nowhere(OTHER)
        self.refused(1, "key, /prerequisites/0/auth/username, "
                     "/prerequisites/0/auth/password", "retry", "test")
        self.ok("retry", "test", "--secrets", self.write("all", json.dumps(
            {"key": OTHER, "/prerequisites/0/auth/username": "ann",
             "/prerequisites/0/auth/password": OTHER})))
        self.assertEqual(self.log("test_2"), "20 Plover\n")

    def ask_on_terminal(self, typed, *args):
        """What is shown, and the exit code, when a line is typed."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(program.OPENPAI, [program.OPENPAI, *args], self.env)
        shown = b""
        sent = False
        while chunk := program.read_terminal(fd):
            shown += chunk
            if not sent and shown.endswith(b"key: "):
                sent = True
                os.write(fd, typed)
        os.close(fd)
        return shown.decode(), os.waitpid(pid, 0)[1]

    def test_they_are_asked_for(self):
        self.ok("run", "-q", self.secret_job())
        shown, status = self.ask_on_terminal(f"{OTHER}\n".encode(), "retry",
                                             "test")
        self.assertEqual((shown, status), ("secret key: \r\ntest_2\r\n", 0))
        self.assertEqual(self.log("test_2"), "20 Plover\n")
        shown, status = self.ask_on_terminal(b"half\x03", "retry", "test")
        self.assertEqual(shown, "secret key: \r\n")
        self.assertTrue(os.WIFSIGNALED(status))
        shown, status = self.ask_on_terminal(b"\x04", "retry", "test")
        self.assertIn("secrets are missing: key", shown)

    # --- all that is on record ------------------------------------------------------------

    def test_a_backup(self):
        self.ok("run", "-q", self.job("true"))
        path = self.folder / "copy.db"
        self.assertEqual(self.ok("backup", "copy.db"), "")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.refused(1, "the file copy.db exists already", "backup", "copy.db")
        before = path.read_bytes()
        self.ok("run", "-q", self.job("true"))
        self.ok("backup", "--force", "copy.db")
        self.assertNotEqual(path.read_bytes(), before)
        through = self.run_cli("backup", "-", text=False)
        self.assertEqual(through.stdout[:15], b"SQLite format 3")
        self.assertEqual(list((self.root / "code").iterdir()), [])
        self.refused(1, "cannot write no/where", "backup", "no/where")
        self.refused(1, "cannot write /dev/full", "backup", "/dev/full")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))
        self.refused(1, "Is a directory", "backup", "-f", ".")
        self.refused(2, "backup: which file?", "backup")
        self.assertEqual(sorted(p.name for p in self.folder.glob("copy*")),
                         ["copy.db"])
        # And back to it.
        self.ok("run", "-q", self.job("true"))
        self.ok("down", "--kill")
        path.rename(self.root / "openpai.db")
        for left in self.root.glob("openpai.db-*"):
            left.unlink()
        self.assertEqual([j["name"] for j in json.loads(
            self.ok("list", "--json"))], ["test_2", "test"])
        self.ok("run", "-q", self.job("true"))

    def test_an_export(self):
        self.ok("up")
        self.assertEqual(self.ok("export"), "")
        for _ in range(3):
            self.ok("run", "-q", self.job("true"))
        jobs = [json.loads(line) for line in self.ok("export").splitlines()]
        self.assertEqual([j["name"] for j in jobs],
                         ["test", "test_2", "test_3"])
        self.assertGreater(len(jobs[0]["events"]), 1)
        self.assertEqual(jobs[0]["state"], "SUCCEEDED")
        self.assertIn("name: test\n", jobs[0]["config"])
        self.assertEqual(self.ok("export", "all"), "")
        self.assertEqual((self.folder / "all").read_text(), self.ok("export"))
        self.refused(1, "the file all exists already", "export", "all")
        with open("/dev/full", "w") as full:
            done = subprocess.run([program.OPENPAI, "export"], env=self.env,
                                  stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write standard output", done.stderr)
