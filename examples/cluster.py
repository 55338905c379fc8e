"""A cluster, a job in it, and this machine: cluster.py PICTURE.svg

In a notebook, `cluster` and `machine` alone in a cell show their pictures.
"""
import sys

import openpai

# %% A cluster that is made up; Cluster.load() reads real ones.
cluster = openpai.Cluster.synthetic("racks:2 nodes:4 gpu:8:h100 numa:2")
cluster.set_sick("node0002", "GPU has fallen off the bus", gpu=5)
print(cluster)
for node in cluster.nodes:
    well = sum(gpu.sick is None for gpu in node.gpus)
    print(node.name, "in", node.rack, "has", well, node.gpus[0].kind)

# %% What is free, and a job that takes some of it.
free = openpai.Allocation()
for node in cluster.nodes:
    for number, gpu in enumerate(node.gpus):
        if gpu.sick is None:
            free.add(node.number, "gpu", number)
mine = openpai.Allocation("node 0: gpu 0-3; node 2: gpu 0-3")
free.take(mine)
print("mine:", mine)
print("free:", free, "=", free.count("gpu"), "GPUs")

# %% The same as a picture.
marks = {(cluster.nodes[node].name, gpu): "alice" for node, kind, gpu in mine}
print(cluster.text(marks))
with open(sys.argv[1], "w", encoding="utf-8") as picture:
    picture.write(cluster.svg(marks))

# %% This machine: how it is built, what is near its GPUs, what it does.
machine = openpai.Topology.discover()
print(machine)
for gpu in machine.gpus:
    print(gpu.model, "is near CPUs", machine.affinity([gpu.number]).cpus)
with openpai.Sampler(paths=["/"]) as sampler:
    sample = sampler.take()
    print("%d CPUs, %d GPUs, %.1f GB of memory free" % (
        sample.online, len(sample.gpus), (sample.memory.free or 0) / 1e9))
