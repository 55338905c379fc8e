"""Copies of a root of which bits are flipped, pages overwritten or ends cut off:
repaired, the platform comes up, and its jobs are there or told of as lost."""

import json
import os
import random
import shutil
import sys

import program

COPIES = 400 if "OPENPAI_SOAK" in os.environ else 12
FIRST = int(os.environ.get("OPENPAI_SEED", "1"))
PAGE = 4096


def flip(data, rng):
    """One bit, of the database or of a page that says most."""
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)
    return data, f"bit of byte {at}"


def overwrite(data, rng):
    pages = rng.sample(range(len(data) // PAGE), 3)
    for page in pages:
        data[page * PAGE:(page + 1) * PAGE] = rng.randbytes(PAGE)
    return data, f"pages {pages}"


def cut(data, rng):
    size = rng.randrange(PAGE, len(data))
    return data[:size], f"cut to {size}"


class DamageTest(program.RootTest):
    def make_base(self):
        """Jobs that are over, and some that wait, for the node is drained."""
        job = self.job("true")
        for i in range(60):
            self.ok("submit", "-q", "--name", f"over{i}", job)
        for i in range(60):
            self.ok("wait", "-q", f"over{i}")
        node = json.loads(self.ok("status", "--json"))["machine"]["name"]
        self.ok("node", "drain", node)
        for i in range(12):
            self.ok("submit", "-q", "--name", f"live{i}", job)
        self.names = {j["name"] for j in
                      json.loads(self.ok("list", "--json"))}
        self.ok("down")

    def check_copy(self, seed):
        rng = random.Random(seed)
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.root, copy, symlinks=True)
        db = copy / "openpai.db"
        how = [flip, flip, overwrite, cut][seed % 4]
        data, what = how(bytearray(db.read_bytes()), rng)
        db.write_bytes(data)
        # The scheduler's log, too, in every third.
        log = copy / "scheduler.log"
        if seed % 3 == 0:
            data, more = flip(bytearray(log.read_bytes()), rng)
            log.write_bytes(data)
            what += ", scheduler.log: " + more
        self.env["OPENPAI_ROOT"] = str(copy)
        try:
            done = self.run_cli("up")
            told = ""
            repaired = done.returncode != 0
            if repaired:
                self.assertIn("doctor --repair", done.stderr, (seed, what))
                done = self.run_cli("doctor", "--repair")
                self.assertEqual(done.returncode, 0, (seed, what, done))
                told = done.stdout
                done = self.run_cli("up")
            self.assertEqual(done.returncode, 0, (seed, what, told, done))
            listed = self.run_cli("list", "--json")
            if listed.returncode != 0 and not repaired:  # found only now
                repaired = True
                self.assertIn("doctor --repair", listed.stderr)
                self.ok("down")
                told = self.ok("doctor", "--repair")
                self.ok("up")
                listed = self.run_cli("list", "--json")
            self.assertEqual(listed.returncode, 0, (seed, what, listed))
            there = {j["name"] for j in json.loads(listed.stdout)}
            lost = {n for n in self.names - there if n not in told}
            if not repaired and len(there) == len(self.names):
                lost = set()  # a letter of a name is another: who could tell
            return seed, what, repaired, len(there), sorted(lost), told
        finally:
            self.run_cli("down", "--leave", "--quiet")
            self.env["OPENPAI_ROOT"] = str(self.root)

    def test_copies(self):
        self.make_base()
        bad = []
        for seed in range(FIRST, FIRST + COPIES):
            try:
                result = self.check_copy(seed)
            except AssertionError as e:
                bad.append((seed, str(e)[-600:]))
                continue
            if result[4] or (result[2] and result[3] < len(self.names) - 12):
                bad.append(result)
        for b in bad:
            print(b, file=sys.stderr)
        self.assertEqual(len(bad), 0, f"of {COPIES} copies")
