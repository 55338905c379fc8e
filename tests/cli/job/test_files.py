"""Files of a job: listed, copied both ways, kept or deleted with it."""

import getpass
import json
import os
import pathlib
import re
import struct

import program


def fnv(data):
    """The hash of a file that is being copied."""
    made = 0xcbf29ce484222325
    for byte in data:
        made = (made ^ byte) * 0x100000001b3 % 2**64
    return made


class Files(program.RootTest):
    def setUp(self):
        super().setUp()
        self.code = self.folder / "code"
        self.code.mkdir()
        (self.code / "main.sh").write_text(
            "mkdir -p out/deep; echo model > out/model.pt; echo x > out/deep/x\n"
            "chmod +x out/deep/x; ln -s model.pt out/last; ln -s /etc/passwd out/away\n"
            "printf 'a b' > 'out/with space'\n")
        self.ok("run", "--quiet", "--code", "code", self.job("bash main.sh"))

    def refused(self, part, *args, code=1):
        done = self.run_cli(*args)
        self.assertEqual(done.returncode, code, done)
        self.assertIn(part, done.stderr)

    def test_list(self):
        self.assertEqual(
            [line.rsplit(None, 1)[-1] for line in self.ok("files", "test").splitlines()],
            ["PATH", "main.sh", "out/"])
        entries = json.loads(self.ok("files", "--json", "-R", "test"))
        self.assertEqual([e["path"] for e in entries],
                         ["main.sh", "out", "out/away", "out/deep", "out/deep/x",
                          "out/last", "out/model.pt", "out/with space"])
        by = {e["path"]: e for e in entries}
        self.assertEqual(by["out/model.pt"]["size"], 6)
        self.assertEqual(by["out/last"]["target"], "model.pt")
        self.assertTrue(by["out/deep/x"]["executable"])
        self.assertFalse(by["out/model.pt"]["executable"])
        self.assertIn("out/deep/", self.ok("files", "test:out"))
        self.refused("nowhere", "files", "test:nowhere")
        self.refused("out of", "files", "test:../..")
        self.refused("other is not found", "files", "other")
        self.refused("JOB", "files", "a/b:c", code=2)

    def test_show_names_folder_and_command(self):
        shown = self.ok("show", "test")
        folder = re.search(r"^folder +(.*)$", shown, re.M).group(1)
        self.assertEqual((pathlib.Path(folder) / "out/model.pt").read_text(), "model\n")
        self.assertRegex(shown, r"(?m)^command +bash main\.sh$")

    def test_show_names_command_and_parameters(self):
        self.env["LR"] = "0.25"
        self.ok("run", "--quiet", "--name", "words", "--", "echo", "a b")
        shown = self.ok("show", "words")
        self.assertRegex(shown, r"(?m)^command +exec echo 'a b'$")
        self.assertNotIn("LR", shown)  # variables are no part of the command
        self.assertRegex(shown, r"(?m)^folder +" + re.escape(str(self.folder)) + "$")
        job = self.folder / "parameters.yaml"
        job.write_text(pathlib.Path(self.job("echo <% $parameters.lr %>")).read_text()
                       + "parameters: {lr: 0.5, name: x y}\n")
        self.ok("run", "--quiet", "--name", "with", str(job))
        shown = self.ok("show", "with")
        self.assertRegex(shown, r"(?m)^parameter +lr = 0\.5$")
        self.assertRegex(shown, r"(?m)^parameter +name = x y$")

    def test_copy_from_a_job(self):
        self.ok("cp", "test:out/model.pt", "m")
        self.assertEqual((self.folder / "m").read_text(), "model\n")
        (self.folder / "here").mkdir()
        self.ok("cp", "test:out/model.pt", "test:main.sh", "here")
        self.assertEqual(sorted(os.listdir(self.folder / "here")), ["main.sh", "model.pt"])
        self.assertEqual(self.ok("cp", "test:out/model.pt", "-"), "model\n")
        self.ok("cp", "test:out", "got")
        got = self.folder / "got"
        self.assertEqual(sorted(p.relative_to(got).as_posix() for p in got.rglob("*")),
                         ["deep", "deep/x", "last", "model.pt", "with space"])
        self.assertTrue(os.access(got / "deep/x", os.X_OK))
        self.assertEqual(os.readlink(got / "last"), "model.pt")
        self.assertEqual(
            json.loads(self.ok("cp", "--json", "test:", "all")), {"files": 4, "bytes": self.size()})
        self.assertEqual(json.loads(self.ok("cp", "--json", "test:", "all"))["bytes"], 0)
        missing = str(self.folder / "missing" / "x")
        self.refused(f"cannot write {missing}: No such file or directory\n"
                     "  help: choose a folder that exists and in which you can "
                     "create files\n", "cp", "test:main.sh", missing)
        self.refused("cannot read none: No such file or directory\n", "cp",
                     "none", "test:x")
        self.assertNotIn("no platform runs",
                         self.run_cli("cp", "none", "test:x").stderr)
        self.refused("folder cannot go to standard output", "cp", "test:out", "-")
        self.refused("there is no 'out/nothing' in the job's folder\n  help: 'openpai "
                     "files JOB' lists", "cp", "test:out/nothing", ".")

    def size(self):
        return sum(p.stat().st_size for p in self.code.rglob("*") if p.is_file()) + 6 + 2 + 3

    def test_names_that_are_no_utf8(self):
        self.ok("run", "--quiet", "--name", "odd", "--code", "code", self.job(
            r"mkdir $'b\xff' && printf x >$'b\xff/a%41\xfe'; bash main.sh"))
        entries = json.loads(self.ok("files", "--json", "-R", "odd"))
        self.assertIn("b\ufffd/a%41\ufffd", [e["path"] for e in entries])
        self.ok("cp", "odd:", "got")
        got = os.path.join(os.fsencode(self.folder), b"got", b"b\xff", b"a%41\xfe")
        with open(got, "rb") as file:
            self.assertEqual(file.read(), b"x")
        self.assertEqual(self.ok("cp", b"odd:b\xff/a%41\xfe", "-"), "x")

    def test_copy_goes_on(self):
        part = next(e for e in json.loads(self.ok("files", "--json", "-R", "test"))
                    if e["path"] == "out/model.pt")
        job = getpass.getuser().encode() + b"~test\0out/model.pt\0"
        version = struct.pack("=Qq", part["size"], part["modified"])
        name = ".openpai-%016x-%016x.part" % (fnv(b"m\0"), fnv(job + version))
        (self.folder / name).write_text("MOD")  # what was copied before the cut
        self.ok("cp", "test:out/model.pt", "m")
        self.assertEqual((self.folder / "m").read_text(), "MODel\n")
        self.assertFalse((self.folder / name).exists())

    def test_copy_to_a_job(self):
        (self.folder / "data").mkdir()
        (self.folder / "data" / "a").write_bytes(os.urandom(9 << 20))
        (self.folder / "data" / "run").write_text("#!/bin/sh\n")
        (self.folder / "data" / "run").chmod(0o755)
        (self.folder / "data" / "empty").write_text("")
        (self.folder / "data" / "none" / "at all").mkdir(parents=True)
        self.ok("cp", "data", "test:in/")
        self.ok("cp", "test:in/data", "back")
        for name in ("a", "run", "empty"):
            self.assertEqual((self.folder / "back" / name).read_bytes(),
                             (self.folder / "data" / name).read_bytes())
        self.assertTrue((self.folder / "back" / "none" / "at all").is_dir())
        self.assertTrue(os.access(self.folder / "back" / "run", os.X_OK))
        self.ok("cp", "data/run", "test:out/model.pt")
        self.assertEqual(self.ok("cp", "test:out/model.pt", "-"), "#!/bin/sh\n")
        self.ok("cp", "data/run", "test:")
        self.assertIn("run", self.ok("files", "test"))
        self.refused("out of", "cp", "data/run", "test:out/../../x")
        self.refused("JOB:PATH", "cp", "data/run", "data/other", code=2)
        self.refused("job to job", "cp", "test:main.sh", "test:other", code=2)

    def test_links_lead_nowhere_else(self):
        self.refused("out of", "cp", "test:out/away", "-")
        done = self.run_cli("cp", "test:out", "copied")
        self.assertIn("out/away", "out/" + done.stderr.split("folder: ")[1])
        self.assertFalse((self.folder / "copied" / "away").is_symlink())

    def test_remove(self):
        folder = pathlib.Path(re.search(r"^folder +(.*)$", self.ok("show", "test"), re.M).group(1))
        told = self.ok("rm", "-n", "test")
        self.assertIn("would remove test, its logs, and its folder of 4 files", told)
        self.assertTrue(folder.is_dir())
        self.assertIn("removed test, its logs, and its folder of 4 files", self.ok("rm", "test"))
        self.assertFalse(folder.exists())

    def test_keep(self):
        told = json.loads(self.ok("rm", "--json", "--keep-files", "test"))
        kept = pathlib.Path(told[0]["kept"])
        self.assertEqual((kept / "out/model.pt").read_text(), "model\n")
        self.ok("run", "--quiet", "--code", "code", self.job("true"))
        self.assertNotEqual(
            json.loads(self.ok("rm", "--json", "--keep-files", "test"))[0]["kept"], str(kept))

    def test_without_code(self):
        self.ok("run", "--quiet", "--name", "plain", self.job("echo made > here.txt"))
        self.assertEqual(self.ok("cp", "plain:here.txt", "-"), "made\n")
        self.assertNotIn("folder", self.ok("rm", "plain"))
        self.assertTrue((self.folder / "here.txt").exists())
