"""A user's code: the folder that is sent with a job, and what the platform takes
of an archive."""

import http.client
import io
import json
import os
import pathlib
import socket
import tarfile
import urllib.parse

import program
import served


class Code(program.RootTest):
    def test_code(self):
        code = self.folder / "code"
        (code / "data" / "big").mkdir(parents=True)
        (code / "main.sh").write_text("echo from $(cat part/x); ls")
        (code / "main.sh").chmod(0o755)
        (code / "part").mkdir()
        (code / "part" / "x").write_text("x\n")
        (code / "data" / "big" / "file").write_text("much")
        (code / "a.log").write_text("")
        (code / "keep.log").write_text("")
        (code / "link").symlink_to("part/x")
        (code / ".openpaiignore").write_text(
            "# what stays out\n*.log\n!keep.log\ndata/big/\n")
        shown = self.ok("run", "--code", "code", self.job("bash main.sh"))
        self.assertEqual(shown.splitlines(), [
            "" + line for line in
            ["from x", "data", "keep.log", "link", "main.sh", "part"]])
        copies = list((self.root / "code").iterdir())
        self.assertEqual([p.name.split("~")[1] for p in copies], ["test"])
        self.refused(1, "has a job test already", "submit", "--name", "test",
                     "--code", "code", self.job("true"))
        self.assertEqual(len(list((self.root / "code").iterdir())), 1)
        self.ok("rm", "test")
        self.assertEqual(list((self.root / "code").iterdir()), [])
        for limit in ("x", "1X", "-1", "1KK"):
            self.env["OPENPAI_CODE_LIMIT"] = limit
            self.refused(1, f"OPENPAI_CODE_LIMIT is no size: {limit}",
                         "submit", "--code", "code", self.job("true"))
        self.env["OPENPAI_CODE_LIMIT"] = "1K"
        self.ok("run", "--code", "code", self.job("true"))
        self.ok("rm", "test")
        self.refused(1, "--code: " + str(code / "main.sh") + " is not a folder",
                     "submit", "--code", "code/main.sh", self.job("true"))
        self.env["OPENPAI_CODE_LIMIT"] = "10"
        self.refused(1, "the code is larger than 10 bytes", "submit",
                     "--code", "code", self.job("true"))
        self.assertEqual(list((self.root / "code").iterdir()), [])
        self.refused(1, "No such file", "submit", "--code", "nowhere",
                     self.job("true"))
        self.refused(1, "contains the platform's root", "submit", "--code",
                     str(self.folder), self.job("true"))

    def ask(self, method, path, body=b"", kind="application/json"):
        """What the platform's socket answers."""
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.sock.connect(str(self.root / "socket"))
        connection.request(method, "/api/v2" + path, body,
                           {"Content-Type": kind})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    @staticmethod
    def archive(*entries, form=tarfile.PAX_FORMAT):
        """A tar archive of (name, type, content)."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=form) as tar:
            for name, kind, content in entries:
                info = tarfile.TarInfo(name)
                info.type = kind
                info.mode = 0o755
                if kind == tarfile.REGTYPE:
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
                else:
                    info.linkname = content
                    tar.addfile(info)
        return out.getvalue()

    def test_code_through_the_socket(self):
        self.ok("up")
        deep = "d/" * 60 + "n" * 150
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            status, answer = self.ask("PUT", "/jobs/me~new/code", self.archive(
                ("./", tarfile.DIRTYPE, ""), ("a", tarfile.DIRTYPE, ""),
                ("a/x.sh", tarfile.REGTYPE, b"echo x" * 300),
                ("a/empty", tarfile.REGTYPE, b""),
                ("b/y", tarfile.REGTYPE, b"y" * 512),
                ("l" * 99, tarfile.SYMTYPE, "t" * 150),
                (deep, tarfile.REGTYPE, b"deep"), form=form))
            self.assertEqual(status, 201, answer)
            code = pathlib.Path(answer["codeDir"])
            self.assertEqual(code.parent, self.root / "code")
            self.assertEqual((code / "a/x.sh").read_bytes(), b"echo x" * 300)
            self.assertEqual((code / "a/x.sh").stat().st_mode & 0o777, 0o700)
            self.assertEqual((code / "b/y").read_bytes(), b"y" * 512)
            self.assertEqual((code / "a/empty").read_bytes(), b"")
            self.assertEqual((code / deep).read_bytes(), b"deep")
            self.assertEqual(os.readlink(code / ("l" * 99)), "t" * 150)
        job = pathlib.Path(self.job("cat b/y")).read_bytes()
        status, answer = self.ask("POST", f"/jobs?codeDir={code}", job,
                                  "text/yaml")
        self.assertEqual(status, 202, answer)
        self.ok("wait", "test")
        self.assertEqual(self.ok("logs", "test"), "y" * 512)

    def test_code_that_is_refused(self):
        self.ok("up")
        file, link = tarfile.REGTYPE, tarfile.SYMTYPE
        whole = self.archive(("a", file, b"x" * 1000))
        broken = bytearray(whole)
        broken[0] ^= 1
        for status, body in (
                (400, b""), (400, b"garbage" * 100), (400, bytes(broken)),
                (400, whole[:700]), (400, whole[:1000]), (400, b"\0" * 511),
                (400, self.archive(("../x", file, b""))),
                (400, self.archive(("a/../../x", file, b""))),
                (400, self.archive((f"{self.folder}/x", file, b""))),
                (400, self.archive(("l", link, str(self.folder)),
                                   ("l/x", file, b""))),
                (400, self.archive(("l", link, ".."), ("l/x/y", file, b""))),
                (400, self.archive(("f", tarfile.FIFOTYPE, ""))),
                (400, self.archive(("h", tarfile.LNKTYPE, "/etc/passwd"))),
                (400, self.archive(("f", file, b""), ("f/x", file, b""))),
                (400, self.archive(("n" * 9000, file, b"")))):
            self.assertEqual(self.ask("PUT", "/jobs/me~new/code", body)[0],
                             status, body[:200])
        self.assertEqual(list((self.root / "code").iterdir()), [])
        self.assertEqual([file for file in program.files_below(self.folder)
                          if file.name == "x"], [])
        # A link that is written over is written over, not followed.
        kept = self.folder / "kept"
        kept.write_text("kept")
        status, answer = self.ask("PUT", "/jobs/me~new/code", self.archive(
            ("l", link, str(kept)), ("l", file, b"new")))
        self.assertEqual(status, 201, answer)
        self.assertEqual(kept.read_text(), "kept")


class Quota(served.ServedTest):
    """Alice may have 1 MB of code that no job has taken."""

    def setUp(self):
        super().setUp()
        process = self.serve()
        self.addCleanup(self.end, process)
        self.ok("user", "add", "--password-file", "-", "alice",
                input=served.PASSWORD)
        self.ok("user", "quota", "--set", "uploads=1M", "alice")
        self.token = self.login("alice")

    def begin(self, archive, part):
        """An upload of which a part has been sent, and is unpacked."""
        url = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(url.hostname, url.port, 60)
        self.addCleanup(connection.close)
        connection.putrequest("PUT", "/api/v2/jobs/alice~a/code")
        connection.putheader("Authorization", "Bearer " + self.token)
        connection.putheader("Content-Type", "application/x-tar")
        connection.putheader("Content-Length", str(len(archive)))
        connection.endheaders(archive[:part])
        return connection

    def end_of(self, connection):
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()).get("code")

    def folders(self):
        return list((self.root / "code").glob("new-*"))

    def test_uploads_at_the_same_time(self):
        archive = Code.archive(("file", tarfile.REGTYPE, bytes(600_000)))
        first = self.begin(archive, 560_000)
        while sum(path.stat().st_size for folder in self.folders()
                  for path in folder.iterdir()) < 500_000:
            continue  # it is not there yet
        second = self.begin(archive, len(archive))
        self.assertEqual(self.end_of(second), (403, "NoEnoughQuotaError"))
        first.send(archive[560_000:])
        self.assertEqual(self.end_of(first), (201, None))
        self.assertEqual(len(self.folders()), 1)

    def test_many_small_files(self):
        archive = Code.archive(*((str(i), tarfile.REGTYPE, b"")
                                 for i in range(300)))
        self.assertLess(len(archive), 1 << 20)
        again = self.begin(archive, len(archive))
        self.assertEqual(self.end_of(again), (403, "NoEnoughQuotaError"))
        self.assertEqual(self.folders(), [])

    def test_folders_of_a_long_name(self):
        archive = Code.archive(("a/" * 600 + "file", tarfile.REGTYPE, b""))
        self.assertLess(len(archive), 1 << 16)
        again = self.begin(archive, len(archive))
        self.assertEqual(self.end_of(again), (403, "NoEnoughQuotaError"))
        self.assertEqual(self.folders(), [])
