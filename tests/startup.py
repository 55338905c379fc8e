"""Hides the startup file of bash from the programs of a test.

sshd and terminals run bash with ~/.bashrc of the account that runs the tests.
It may wait for a lock, print a line or fail, as on a machine where it starts
pyenv.
"""

import ctypes
import os
import pathlib
import pwd
import tempfile

NEW_MOUNTS = 0x20000  # CLONE_NEWNS
PRIVATE = 0x44000  # MS_PRIVATE | MS_REC
BIND = 0x1000  # MS_BIND


def hide_startup_file():
    """Only root may do so; other accounts keep their own."""
    path = pathlib.Path(pwd.getpwuid(os.geteuid()).pw_dir, ".bashrc")
    libc = ctypes.CDLL(None, use_errno=True)
    if (os.geteuid() != 0 or not path.is_file() or
            libc.unshare(NEW_MOUNTS) != 0 or
            libc.mount(b"none", b"/", None, PRIVATE, None) != 0):
        return
    with tempfile.NamedTemporaryFile() as empty:
        libc.mount(os.fsencode(empty.name), os.fsencode(path), None, BIND,
                   None)
