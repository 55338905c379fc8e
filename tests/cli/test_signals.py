"""openpai run under signals, and with a reader that goes away."""

import signal

import program


class Signals(program.ProgramTest):
    def start_up(self, command, *options, **kwargs):
        """Runs a job until it prints "up"."""
        process = self.start("run", *options, self.job(command), **kwargs)
        self.assertEqual(process.stdout.readline(), "a[0] | up\n")
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
        while stubborn.stdout.readline() != "a[0] | no\n":
            self.assertIsNone(stubborn.poll())
        stubborn.send_signal(signal.SIGTERM)
        stubborn.communicate(timeout=60)
        self.assertEqual(stubborn.returncode, 143)

    def test_a_reader_that_goes_away_stops_the_job(self):
        process = self.start_up("echo up; while :; do echo x; done")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 128 + signal.SIGPIPE)


if __name__ == "__main__":
    program.main()
