"""openpai cluster top, and GPUs in doctor: argv[2] is a library that plays
NVML."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import program

FAKE = os.path.abspath(sys.argv[2])


class TopTest(program.ProgramTest):
    def play(self, machine):
        """From now on NVML is the fake one with this machine."""
        folder = self.folder / "lib"
        folder.mkdir(exist_ok=True)
        if not (folder / "libnvidia-ml.so.1").exists():
            (folder / "libnvidia-ml.so.1").symlink_to(FAKE)
        self.env["LD_LIBRARY_PATH"] = str(folder)
        self.env["FAKE_NVML"] = machine

    def top(self, *args):
        done = self.run_cli("cluster", "top", *args)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)
        return done.stdout

    # --- plain ------------------------------------------------------------

    def test_lines(self):
        shown = self.top("--once")
        self.assertNotIn("\033", shown)
        self.assertRegex(shown, r"(?m)^CPU +\[[| ]+\] +\d+%  user \d+%")
        self.assertRegex(shown, r"(?m)^Memory +\[[| ]+\] +\d+%  [\d.]+ \w+ of")
        self.assertRegex(shown, r"(?m)^Disk +read +\S+ \S+/s")
        self.assertRegex(shown, r"(?m)^Network +in +\S+ \S+/s")
        self.assertRegex(shown, r"(?m)^ +GROUP  NAME +CPU +MEMORY PROCS$")
        self.assertNotIn("GPU", shown.split("GROUP")[0])
        twice = self.top("--count", "2", "-i", "0.05")
        self.assertEqual(len([line for line in twice.splitlines()
                              if line.startswith("CPU ")]), 2)

    def test_json(self):
        lines = self.top("--json", "-n", "2", "--interval", "0.1").splitlines()
        self.assertEqual(len(lines), 2)
        first, second = map(json.loads, lines)
        self.assertGreater(second["timeUs"], first["timeUs"])
        self.assertGreaterEqual(second["elapsedUs"], 100000)
        cpu = second["cpu"]
        self.assertEqual(cpu["count"], len(cpu["each"]))
        self.assertLessEqual(cpu["userMilli"], cpu["busyMilli"])
        self.assertGreater(second["memory"]["total"],
                           second["memory"]["available"])
        self.assertEqual(second["gpus"], [])
        self.assertGreaterEqual(second["disks"]["readBytesPerSecond"], 0)
        self.assertEqual([f["path"] for f in second["fileSystems"]], ["/"])
        self.assertTrue(second["groups"])
        self.assertIsNone(second["groups"][0]["gpuMemory"])

    def test_gpus(self):
        self.play("mig")
        shown = self.top("--once")
        self.assertRegex(shown, r"(?m)^GPU 0 .* 90%.* 3.0 GiB of 40.0 GiB  "
                         r"40 C  123 of 350 W  NVIDIA A100-SXM4-40GB$")
        self.assertRegex(shown, r"(?m)^  MIG 2 .* 3.0 GiB of 20.0 GiB")
        self.assertIn("GPU MEMORY", shown)
        sample = json.loads(self.top("--once", "--json"))
        self.assertEqual([g["parent"] for g in sample["gpus"]],
                         [None, 0, 0, None])
        self.assertEqual(sample["gpus"][3]["busyPercent"], 91)
        self.assertIsNone(sample["gpus"][1]["temperature"])
        self.play("2 unreachable")
        shown = self.top("--once")
        self.assertRegex(shown, r"(?m)^GPU 1 +lost .*cannot be reached")
        self.play("mismatch")
        self.assertIn("note: NVIDIA's GPUs cannot be asked",
                      self.top("--once"))
        sample = json.loads(self.top("--once", "--json"))
        self.assertIn("version mismatch", sample["notes"][0])

    def test_wrong_calls(self):
        for args in (["x"], ["--count", "0"], ["--count", "-1"],
                     ["--count", "2x"], ["--interval", "0"],
                     ["--interval", "1e3"], ["--interval", "4000"],
                     ["--once", "--count", "2"], ["--what"]):
            done = self.run_cli("cluster", "top", *args)
            self.assertEqual(done.returncode, 2, args)
            self.assertIn("openpai cluster top --help", done.stderr)
        done = self.run_cli("cluster")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cluster top", done.stderr)
        self.assertIn("Show and check machines and clusters",
                      self.run_cli("help", "cluster").stdout)

    def test_a_full_disk_is_told(self):
        with open("/dev/full", "w") as full:
            done = self.run_cli("cluster", "top", "--json", stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write standard output", done.stderr)

    # --- on a terminal -------------------------------------------------------

    def open_screen(self, *args, rows=24, columns=80):
        self.env["TERM"] = "xterm"
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(program.OPENPAI,
                      [program.OPENPAI, "cluster", "top", *args], self.env)
        self.addCleanup(os.close, fd)
        self.resize(fd, rows, columns)
        return pid, fd

    def resize(self, fd, rows, columns):
        fcntl.ioctl(fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, fd, text):
        """What is shown until `text` comes, or the end."""
        shown, end = b"", time.monotonic() + 30
        while text is None or text not in shown:
            self.assertLess(time.monotonic(), end, shown)
            if select.select([fd], [], [], 1)[0]:
                chunk = program.read_terminal(fd)
                if not chunk:
                    break
                shown += chunk
        return shown

    def expect_end(self, pid, fd, code):
        shown = self.read_until(fd, None)
        self.assertTrue(shown.endswith(b"\033[?25h\033[?1049l"), shown[-80:])
        status = os.waitpid(pid, 0)[1]
        self.assertEqual(os.waitstatus_to_exitcode(status), code)

    def test_q_ends_it(self):
        pid, fd = self.open_screen("-i", "0.1")
        was = termios.tcgetattr(fd)
        shown = self.read_until(fd, b"GROUP")
        self.assertTrue(shown.startswith(b"\033[?1049h\033[?25l"))
        self.assertFalse(termios.tcgetattr(fd)[3] & termios.ECHO)
        os.write(fd, b"xq")
        self.read_until(fd, b"\033[?25h\033[?1049l")
        os.waitpid(pid, 0)
        self.assertTrue(was[3] & termios.ECHO)
        self.assertTrue(termios.tcgetattr(fd)[3] & termios.ECHO)

    def test_signals_end_it(self):
        pid, fd = self.open_screen()
        self.read_until(fd, b"GROUP")
        os.write(fd, b"\x03")
        self.expect_end(pid, fd, 0)
        pid, fd = self.open_screen()
        self.read_until(fd, b"GROUP")
        os.kill(pid, signal.SIGTERM)
        self.expect_end(pid, fd, -signal.SIGTERM)

    def test_it_can_be_stopped_and_go_on(self):
        pid, fd = self.open_screen()
        self.read_until(fd, b"GROUP")
        os.kill(pid, signal.SIGTSTP)
        self.read_until(fd, b"\033[?25h\033[?1049l")
        self.assertTrue(os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]))
        self.assertTrue(termios.tcgetattr(fd)[3] & termios.ECHO)
        os.kill(pid, signal.SIGCONT)
        self.read_until(fd, b"\033[?1049h\033[?25l")
        self.read_until(fd, b"GROUP")
        os.write(fd, b"q")
        self.expect_end(pid, fd, 0)

    def test_lines_fit_the_screen(self):
        self.play("mesh")
        pid, fd = self.open_screen("-i", "60", rows=12, columns=60)
        self.read_until(fd, b"\033[J")
        self.resize(fd, 8, 30)
        os.kill(pid, signal.SIGWINCH)
        shown, lines = "", []
        while len(lines) != 8:  # one drawn before may still be on its way
            shown += self.read_until(fd, b"\033[J").decode()
            frame = shown[:shown.rindex("\033[J")].split("\033[H")[-1]
            lines = frame.split("\r\n")
        for line in lines:
            for style in ("\033[K", "\033[0m", "\033[1m", "\033[31m",
                          "\033[32m", "\033[33m"):
                line = line.replace(style, "")
            self.assertNotIn("\033", line)
            self.assertLessEqual(len(line), 30, frame)
        os.write(fd, b"q")
        self.expect_end(pid, fd, 0)

    # --- doctor ----------------------------------------------------------------

    def test_doctor_shows_gpus(self):
        self.play("mig")
        shown = self.run_cli("doctor").stdout
        self.assertRegex(shown, r"(?m)^  healthy +GPU 0 +NVIDIA A100-SXM4-40GB"
                         r", 40960 MiB$")
        self.assertRegex(shown, r"(?m)^  healthy +MIG 2 .* 1 process on it$")
        report = json.loads(self.run_cli("doctor", "--json").stdout)
        self.assertEqual([g["parent"] for g in report["gpus"]],
                         [None, 0, 0, None])
        self.assertEqual(report["notes"], [])
        self.play("mismatch")
        self.assertIn("note: NVIDIA's GPUs cannot be asked",
                      self.run_cli("doctor").stdout)
