#!/usr/bin/env python3
"""openpai spec check against js-yaml with Ajv: many files warm, one file cold.

Usage: compare.py OPENPAI BUILD_DIR [FILE...]
Needs node and npm, which install the two into BUILD_DIR/node.  Without FILEs,
the valid job files of $OPENPAI_SHARED (by default ../shared) are taken.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 30


def install(build):
    folder = build / "node"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "check.js"):
        shutil.copy(HERE / name, folder)
    if not (folder / "node_modules").is_dir():
        subprocess.run(["npm", "install", "--silent", "--no-audit",
                        "--no-fund"], cwd=folder, check=True)
    return folder


def shared_files(folder):
    shared = pathlib.Path(os.environ.get(
        "OPENPAI_SHARED", HERE.parents[3] / "shared"))
    rows = (shared / "data/specs/v2-cases.jsonl").read_text().splitlines()
    texts = [row["text"] for row in map(json.loads, rows)
             if row["verdict"] == "valid"]
    for i, text in enumerate(texts):
        (folder / ("%d.yaml" % i)).write_text(text)
    return sorted(map(str, folder.glob("*.yaml")))


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def median(command, times):
    return sorted(seconds(command) for _ in range(times))[times // 2]


def main():
    openpai, build = sys.argv[1], pathlib.Path(sys.argv[2])
    node = install(build)
    schema = str(node / "v2.json")
    with open(schema, "w", encoding="utf-8") as out:
        subprocess.run([openpai, "spec", "schema", "--version", "v2"],
                       stdout=out, check=True)
    script = ["node", str(node / "check.js"), schema]
    with tempfile.TemporaryDirectory() as temporary:
        files = sys.argv[3:] or shared_files(pathlib.Path(temporary))
        theirs = float(subprocess.run(
            [*script, str(ROUNDS), *files], check=False, text=True,
            stdout=subprocess.PIPE).stdout)
        check = [openpai, "spec", "check", "-q"]
        once = min(seconds([*check, *files]) for _ in range(ROUNDS))
        ten = min(seconds([*check, *files * 10]) for _ in range(ROUNDS))
        ours = (ten - once) / 9 * 1000
        print("warm  %d files: js-yaml + Ajv %.1f ms, openpai %.1f ms: %.1f "
              "times as fast (goal 2)" % (len(files), theirs, ours,
                                          theirs / ours))
        cold = median([*script, "1", files[0]], 20)
        fast = median([*check, files[0]], 100)
        print("cold  1 file: node %.0f ms, openpai %.2f ms: %.0f times as fast "
              "(goal 20)" % (cold * 1000, fast * 1000, cold / fast))


if __name__ == "__main__":
    main()
