"""python -m openpai: the program openpai, of this package or else on PATH."""
import os
import shutil
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                           "openpai")
    if not os.path.isfile(program):  # built for an installed libopenpai
        found = shutil.which("openpai")
        if found is None:
            sys.exit("python -m openpai: this package has no program of its "
                     "own, and there is no openpai on PATH; on Debian: "
                     "apt-get install openpai")
        program = found
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
