#!/usr/bin/env python3
"""A page of 20 of 100,000 jobs against Express with OpenPAI's middlewares.

Usage: pages.py BENCH_API BUILD_DIR
Needs node and npm, which install Express into BUILD_DIR/express.  Express has
its 20 jobs in memory; ours are the newest of 100,000.  Both answer as many
bytes, in turn, within one run of openpai-bench-api; what counts is the
processor time of each server.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = {"express": "4.16.4", "compression": "1.7.3", "cors": "2.8.5",
            "body-parser": "1.18.3", "cookie-parser": "1.4.3",
            "morgan": "1.9.1", "express-rate-limit": "5.1.3"}
JOB = {"debugId": "0123456789abcdef0123456789abcdef",
       "name": "resnet50_123_45678", "username": "user42",
       "state": "SUCCEEDED", "subState": "Completed", "executionType": "START",
       "tags": [], "retries": 0,
       "retryDetails": {"user": 0, "platform": 0, "resource": 0},
       "retryDelayTime": None, "submissionTime": 1700000000000,
       "createdTime": 1700000000000, "launchedTime": 1700000000500,
       "completedTime": 1700000001000, "appExitCode": 0,
       "virtualCluster": "vc3", "totalGpuNumber": 8, "totalTaskNumber": 4,
       "totalTaskRoleNumber": 1, "jobPriority": "prod"}


def install(build):
    folder = build / "express"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "pages.js", folder)
    (folder / "package.json").write_text(json.dumps(
        {"private": True, "dependencies": PACKAGES}))
    if not (folder / "node_modules").is_dir():
        subprocess.run(["npm", "install", "--silent", "--no-audit",
                        "--no-fund"], cwd=folder, check=True)
    (folder / "jobs.json").write_text(json.dumps([JOB] * 20))
    return folder


def main(bench, build):
    folder = install(pathlib.Path(build))
    with tempfile.TemporaryDirectory() as temporary:
        socket = os.path.join(temporary, "express")
        node = subprocess.Popen(
            ["node", "pages.js", socket, "jobs.json"], cwd=folder,
            stdout=subprocess.PIPE, text=True)
        try:
            if node.stdout.readline() != "ready\n":
                return 1
            environment = dict(os.environ, OPENPAI_BENCH_EXPRESS="%d:%s" %
                               (node.pid, socket))
            return subprocess.run([bench, "--only", "express", "1"],
                                  env=environment, check=False).returncode
        finally:
            node.terminate()
            node.wait()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
