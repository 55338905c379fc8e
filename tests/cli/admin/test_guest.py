"""Control groups of version 2, in a virtual machine: Debian's kernel, busybox,
and this build, nothing else.  argv[1] is openpai, argv[2] its supervisor, and
argv[3] the guest's first program."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

SKIP = 77  # as CMakeLists.txt says
SECONDS = 300


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def find_kernel():
    """One that this user may read; /boot's newest, if none is named."""
    named = os.environ.get("OPENPAI_GUEST_KERNEL")
    found = [named] if named else sorted(glob.glob("/boot/vmlinuz*"))
    found = [path for path in found if os.access(path, os.R_OK)]
    return found[-1] if found else None


class Archive:
    """What the kernel unpacks into memory: cpio's "newc"."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.folders = set()

    def entry(self, name, mode, data=b""):
        bare = name.encode() + b"\0"
        fields = [1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(bare), 0]
        head = b"070701" + b"".join(b"%08x" % f for f in fields) + bare
        for part in (head, data):
            self.file.write(part + b"\0" * (-len(part) % 4))

    def add(self, name, path):
        """A file with all folders above it."""
        name = name.lstrip("/")
        for i, char in enumerate(name):
            if char == "/" and name[:i] not in self.folders:
                self.folders.add(name[:i])
                self.entry(name[:i], 0o40755)
        with open(path, "rb") as source:
            self.entry(name, 0o100755, source.read())

    def end(self):
        self.entry("TRAILER!!!", 0)
        self.file.close()


def libraries(program):
    said = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL).stdout
    return set(re.findall(r"(?:=> |^\s+)(/\S+)", said, re.MULTILINE))


def make_image(path, busybox, programs):
    archive = Archive(path)
    archive.add("init", sys.argv[3])
    archive.add("bin/busybox", busybox)
    needed = set()
    for name, source in programs:
        archive.add(name, source)
        needed |= libraries(source)
    for lib in sorted(needed):  # ours lie in a folder of the build
        archive.add(lib if "/ld-" in lib else
                    "usr/lib/" + os.path.basename(lib), lib)
    archive.end()


def run(qemu, accel, kernel, image, first, last):
    """What a guest says; nothing if it says no word of ours in `first`
    seconds."""
    guest = subprocess.Popen(
        [qemu, "-accel", accel, "-m", "768", "-smp", "2", "-nodefaults",
         "-display", "none", "-serial", "stdio", "-no-reboot", "-kernel",
         kernel, "-initrd", image, "-append", "console=ttyS0 quiet panic=-1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, errors="replace")
    timer = threading.Timer(first, guest.kill)
    timer.start()
    said = ""
    for line in guest.stdout:
        said += line
        if line.startswith("GUEST note: begun"):
            timer.cancel()
            timer = threading.Timer(last, guest.kill)
            timer.start()
    timer.cancel()
    guest.wait()
    return said


def boot(qemu, kernel, image):
    """By which means, and what the guest says."""
    if os.access("/dev/kvm", os.R_OK | os.W_OK):
        said = run(qemu, "kvm", kernel, image, 15, SECONDS)
        if "GUEST" in said:
            return "kvm", said
    return "tcg", run(qemu, "tcg", kernel, image, 60, SECONDS)


def main():
    openpai, task = sys.argv[1:3]
    if not os.environ.get("OPENPAI_SOAK"):
        skip("it boots a virtual machine: ./dev soak cli/guest")
    qemu = shutil.which("qemu-system-x86_64")
    if os.uname().machine != "x86_64" or qemu is None:
        skip("there is no qemu-system-x86_64")
    kernel = find_kernel()
    if kernel is None:
        skip("there is no kernel in /boot: set OPENPAI_GUEST_KERNEL, as to "
             "that of Debian's linux-image-cloud-amd64")
    busybox = shutil.which("busybox")
    if busybox is None or libraries(busybox):
        skip("there is no static busybox: Debian's busybox-static")
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "image")
        make_image(image, busybox, [
            ("usr/bin/bash", shutil.which("bash")),
            ("usr/bin/openpai", openpai),
            ("usr/libexec/openpai/openpai-task", task)])
        accel, said = boot(qemu, kernel, image)
    told = re.findall(r"^GUEST (.*?)\r?$", said, re.MULTILINE)
    print(f"{os.path.basename(kernel)}, {accel}:", *told, sep="\n  ")
    if not told or told[-1] != "end" or any(
            line.startswith("WRONG") for line in told):
        print("the guest's last words:", said[-6000:], sep="\n")
        sys.exit(1)


main()
