"""openpai run under signals, and with a reader that goes away."""

import fcntl
import os
import pathlib
import resource
import signal
import struct
import termios

import program

# Prints "up" and waits; when told to end, writes much and leaves a mark.
POLITE = ("trap 'for i in {1..20000}; do echo bye; done; "
          "echo ended >%s; exit 0' TERM; echo up; ")


class Signals(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.env["OPENPAI_RUNTIME"] = "process"  # numbers of processes
        self.mark = self.folder / "mark"

    def start_up(self, command, *options, **kwargs):
        """Runs a job until it prints "up"."""
        process = self.start("run", *options, self.job(command), **kwargs)
        self.assertEqual(process.stdout.readline(), "up\n")
        return process

    def test_first_signal_stops_second_kills(self):
        polite = self.start_up(
            "trap 'echo bye; exit 0' TERM; echo up; sleep 1000 & wait")
        polite.send_signal(signal.SIGINT)
        out, _ = polite.communicate(timeout=60)
        self.assertEqual((polite.returncode, "bye" in out), (130, True))
        stubborn = self.start_up(
            "trap 'echo no' TERM; echo up; while :; do sleep 0.01 || :; done")
        stubborn.send_signal(signal.SIGTERM)
        while stubborn.stdout.readline() != "no\n":
            self.assertIsNone(stubborn.poll())
        stubborn.send_signal(signal.SIGTERM)
        stubborn.communicate(timeout=60)
        self.assertEqual(stubborn.returncode, 143)

    def test_quit_kills_at_once(self):
        seconds = f"1000.{os.getpid()}"  # nobody else sleeps as long
        process = self.start_up(
            f"trap '' TERM; echo up; sleep {seconds} & wait", "-v")
        process.send_signal(signal.SIGQUIT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGQUIT)
        self.assertIn("\nkilling\n", err)
        self.assertNotIn("repeat to kill", err)
        for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.assertNotIn(seconds.encode(), line.read_bytes())
            except OSError:
                pass  # it has ended

    def test_a_reader_that_goes_away_stops_the_job(self):
        process = self.start_up(POLITE % self.mark
                                + "while :; do echo x; done")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGPIPE)
        self.assertEqual(self.mark.read_text(), "ended\n")
        self.assertEqual(process.stderr.read().count("\n"), 2)  # result, logs

    def test_a_reader_that_goes_away_is_no_second_signal(self):
        process = self.start_up(POLITE % self.mark + "sleep 1000 & wait")
        process.stdout.close()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)
        self.assertEqual(self.mark.read_text(), "ended\n")
        self.assertNotIn("cannot write", process.stderr.read())

    def test_a_signal_does_not_change_a_result_that_is_there(self):
        fifo = self.fifo()
        process = self.start("run", self.write("two.yaml", """
            protocolVersion: 2
            name: two
            type: job
            prerequisites: [{name: i, type: dockerimage, uri: x}]
            taskRoles:
              bad:
                dockerImage: i
                resourcePerInstance: {cpu: 0, memoryMB: 200, gpu: 0}
                commands: ["read -r x <%s; exit 3"]
              slow:
                dockerImage: i
                resourcePerInstance: {cpu: 0, memoryMB: 200, gpu: 0}
                commands:
                - "trap 'echo asked; read -r x <%s; echo done; exit' TERM"
                - "echo up; sleep 1000 & wait"
            """ % (fifo, fifo)))
        self.assertEqual(process.stdout.readline(), "slow[0] | up\n")
        self.release(fifo)
        self.assertEqual(process.stdout.readline(), "slow[0] | asked\n")
        process.send_signal(signal.SIGINT)  # the first request: no kill
        self.release(fifo)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (3, "slow[0] | done\n"))

    def test_a_blocked_sigchld_is_unblocked(self):
        process = self.start_up(
            "echo up", preexec_fn=lambda: signal.pthread_sigmask(
                signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM]))
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_limit_of_files_sizes_is_an_error_of_writing(self):
        self.run_cli("up")  # without that limit
        with open(self.folder / "out", "w") as out:
            process = self.start(
                "run", self.job("head -c 100000 /dev/zero"), stdout=out,
                preexec_fn=lambda: resource.setrlimit(
                    resource.RLIMIT_FSIZE, (8192, 8192)))
            err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 125)
        self.assertIn("cannot write standard output: File too large", err)

    def test_as_many_descriptors_as_may_be(self):
        def limit():
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))

        process = self.start("run", self.job("true", instances=40, cpu=0),
                             preexec_fn=limit)
        self.assertEqual(process.wait(timeout=60), 0)

    def test_ignored_signals_stay_ignored(self):
        ignored = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM

        def ignore():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)

        fifo = self.fifo()
        process = self.start_up(f"echo up; read -r x <{fifo}; echo $x",
                                preexec_fn=ignore)
        for number in ignored:
            process.send_signal(number)
        self.release(fifo)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, "go\n"))

    def test_an_ignored_broken_pipe_is_told_in_the_end(self):
        fifo = self.fifo()
        process = self.start_up(
            f"echo up; read -r x <{fifo}; echo $x; echo ended >{self.mark}",
            restore_signals=False)  # Python ignores SIGPIPE
        process.stdout.close()
        self.release(fifo)
        self.assertEqual(process.wait(timeout=60), 125)
        self.assertEqual(self.mark.read_text(), "ended\n")
        self.assertEqual(process.stderr.read(), "openpai: error: cannot write "
                         "standard output: Broken pipe\n")

    def wait_until_full(self, process):
        """Until openpai has to wait for whoever reads its output."""
        capacity = fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ)
        before = unchanged = 0
        while unchanged < 1000:
            self.assertIsNone(process.poll())
            now, = struct.unpack("i", fcntl.ioctl(process.stdout,
                                                  termios.FIONREAD, b"1234"))
            # Pages of a full pipe may be half empty.
            unchanged += now == before and now >= capacity // 2
            before = now

    def test_a_signal_during_a_write_loses_no_output(self):
        process = self.start_up(
            "end=; trap 'end=1' TERM; echo up; for i in {1..20000}; do "
            "echo $i; done; while [ -z $end ]; do :; done")
        # Several, as one may find a write that has written something; and
        # of the kind that does not kill the second time.
        for _ in range(3):
            self.wait_until_full(process)
            process.send_signal(signal.SIGPIPE)
        self.assertEqual(process.stdout.read().count("\n"), 20000)
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGPIPE)
