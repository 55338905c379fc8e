"""What tests share that make a machine short of something: a small file system
of their own for a root, in a mount namespace that nobody else sees."""

import ctypes
import os
import sys

import program

NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
LIBC = ctypes.CDLL(None, use_errno=True)
PRIVATE = 1 << 14 | 1 << 18  # MS_REC | MS_PRIVATE
REMOUNT = 32  # MS_REMOUNT


def mount(target, options, flags=0):
    return LIBC.mount(b"tmpfs", os.fsencode(target), b"tmpfs", flags,
                      options.encode()) == 0


class ShortageTest(program.RootTest):
    def small_root(self, options):
        """Puts the root on a file system of its own."""
        if os.geteuid() != 0 or LIBC.unshare(NEW_MOUNTS) != 0 or LIBC.mount(
                b"none", b"/", None, PRIVATE, None) != 0:
            self.skip("no file system can be mounted here: root is needed")
        self.root.mkdir()
        if not mount(self.root, options):
            self.skip("no tmpfs can be mounted here")
        self.addCleanup(LIBC.umount2, os.fsencode(self.root), 2)
        self.addCleanup(self.end_platforms)  # before that

    def resize(self, options):
        self.assertTrue(mount(self.root, options, REMOUNT))

    def skip(self, why):
        print("SKIPPED:", why, file=sys.stderr)
        self.skipTest(why)

    def log(self):
        return (self.root / "log").read_text()

    def states(self):
        return [line.split()[2] for line in
                self.run_cli("list").stdout.splitlines()[1:]]

    def pid(self):
        return int((self.root / "lock").read_text().split()[0])
