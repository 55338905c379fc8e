"""What tests of `openpai helper` with clusters share."""

import pathlib
import subprocess

import edited
import program
import served


class HelperTest(served.ServedTest):
    def editor(self, **capabilities):
        self.process = self.binary("helper")
        editor = edited.Editor.of(self.process)
        editor.begin(**capabilities)
        return editor

    def binary(self, *args, **kwargs):
        process = subprocess.Popen(
            [program.OPENPAI, *args], env=self.env, cwd=self.folder,
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE,
               "stderr": subprocess.PIPE, **kwargs})
        self.addCleanup(self.over, process)
        return process

    @staticmethod
    def over(process):
        process.kill()
        process.communicate()

    def job_text(self, command="echo one; echo two"):
        return pathlib.Path(self.job(command)).read_text()
