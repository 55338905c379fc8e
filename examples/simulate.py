import sys

import openpai

# Would another policy have been better?  Of a trace, or of jobs made up after
# published numbers.
cluster = openpai.Cluster.synthetic("nodes:6 gpu:8:v100 cpus:64 mem:512G")
trace = (openpai.Trace.load(sys.argv[1]) if len(sys.argv) > 1 else
         openpai.Trace.generate(1000, seed=1, gpus=64, load=0.9))
slowest = []


def remember(job):
    if job.started is not None:
        slowest.append((job.started - job.submitted, job.id, job.user))


fifo = openpai.simulate(cluster, trace, "fifo", on_job=remember)
backfill = openpai.simulate(cluster, trace, "backfill")
print(openpai.compare([fifo, backfill]))
for wait, id, user in sorted(slowest, reverse=True)[:3]:
    print("fifo: job %d of %s waited %d s" % (id, user, wait // 10**6))
