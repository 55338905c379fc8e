"""Jobs per second beside Slurm's: python3 slurm.py OPENPAI-BENCH [JOBS]

Starts munged, slurmctld and slurmd as this user, with a configuration of their
own in a temporary folder: one node on this machine, 16 jobs at once, nothing
accounted.  JOBS of `true` (1,000) are measured from the first submission to the
last end, as one array and as that many calls of sbatch, 16 at a time; the faster
one counts.  In the same run `openpai-bench platform-rate` says ours, with a
database and plain processes.  Exits with 77 where there is no Slurm.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

AT_ONCE = 16
GOAL = 8
CONF = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,default_queue_depth=10000,\
sched_min_interval=1000
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MaxJobCount=20000
MaxArraySize=20001
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=p Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def find(name):
    """Daemons lie where a user's PATH may not lead."""
    return shutil.which(name, path=os.environ.get("PATH", "") +
                        ":/usr/sbin:/sbin")


def free_ports():
    with socket.socket() as a, socket.socket() as b:
        a.bind(("127.0.0.1", 0))
        b.bind(("127.0.0.1", 0))
        return a.getsockname()[1], b.getsockname()[1]


class Slurm:
    """Its three daemons, in the foreground, with logs in the folder."""

    def __init__(self, folder):
        self.dir = folder
        self.daemons = []
        self.env = dict(os.environ, SLURM_CONF=f"{folder}/slurm.conf")

    def __enter__(self):
        key = self.dir / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        for name in "state", "spool":
            (self.dir / name).mkdir()
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        (self.dir / "slurm.conf").write_text(CONF.format(
            host=socket.gethostname().split(".")[0], ports=free_ports(),
            dir=self.dir, user=user, cpus=AT_ONCE))
        self.start("munged", "-F", "--force", f"--key-file={key}",
                   f"--socket={self.dir}/munge.sock",
                   f"--pid-file={self.dir}/munged.pid",
                   f"--seed-file={self.dir}/munge.seed")
        self.until(lambda: (self.dir / "munge.sock").exists(), "munged")
        self.start("slurmctld", "-D", "-i")
        self.until(lambda: self.ask("scontrol", "ping").returncode == 0,
                   "slurmctld")
        self.start("slurmd", "-D")
        self.until(lambda: self.ask("sinfo", "-h", "-o", "%t").stdout ==
                   "idle\n", "slurmd")
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()

    def start(self, name, *args):
        with open(self.dir / f"{name}.log", "w") as log:
            self.daemons.append(subprocess.Popen(
                [find(name), *args], env=self.env, stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT))

    def until(self, is_so, name):
        end = time.monotonic() + 30
        while not is_so():
            if time.monotonic() > end:
                log = (self.dir / f"{name}.log").read_text()
                sys.exit(f"{name} does not come up:\n{log[-2000:]}")
            time.sleep(0.1)

    def ask(self, *args):
        return subprocess.run(args, env=self.env, text=True,
                              capture_output=True)

    def submit(self, *args):
        done = self.ask("sbatch", "-Q", "-n1", "-D/", "-o/dev/null", *args,
                        "--wrap=true")
        if done.returncode != 0:
            sys.exit(f"sbatch: {done.stderr}")

    def rate(self, jobs, submit):
        """Jobs a second, from the first submission to the last end."""
        begin = time.monotonic()
        submit()
        while self.ask("squeue", "-h", "-t", "PD,R,CG").stdout:
            time.sleep(0.05)
        return jobs / (time.monotonic() - begin)

    def one_array(self, jobs):
        return self.rate(jobs, lambda: self.submit(f"--array=1-{jobs}"))

    def many_calls(self, jobs):
        def submit():
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(lambda _: self.submit(), range(jobs)))
        return self.rate(jobs, submit)


def ours(bench, jobs):
    out = subprocess.check_output(
        [bench, "platform-rate", "--json", str(jobs), "process"], text=True)
    return 1e9 / json.loads(out.splitlines()[0])["ours_ns"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch")
               if find(name) is None]
    if missing:
        print(f"skipped: no {', '.join(missing)} here (Debian: slurm-wlm)")
        sys.exit(77)
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory(prefix="openpai-slurm-") as folder:
        with Slurm(pathlib.Path(folder)) as slurm:
            array = slurm.one_array(jobs)
            calls = slurm.many_calls(jobs)
    here = ours(sys.argv[1], jobs)
    theirs = max(array, calls)
    print(json.dumps({"name": "platform-slurm",
                      "ours_per_s": round(here, 1),
                      "slurm_array_per_s": round(array, 1),
                      "slurm_calls_per_s": round(calls, 1),
                      "ratio": round(here / theirs, 2), "goal": GOAL}))


main()
