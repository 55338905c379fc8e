"""The console script `openpai` of a wheel: the program, in the package's folder.

Beside the package rather than in it: importing that takes longer than most of
the program's verbs.
"""
import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           "openpai", "openpai")
    os.execv(program, [program, *sys.argv[1:]])
