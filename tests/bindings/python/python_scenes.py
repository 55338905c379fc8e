"""Clusters and policies for tests of schedulers."""
import openpai


def cluster(description="nodes:2 gpu:8:h100 cpus:16 mem:64G"):
    return openpai.Cluster.synthetic(description)


def kinds(decisions):
    return [(d.kind, d.id, d.instance) for d in decisions]


class Greedy:
    """Whoever fits, in the order in which they came."""

    def __init__(self):
        self.asked = 0

    def decide(self, host):
        self.asked += 1
        for id in host.waiting():
            while host.start(id, "pack"):
                pass


class Asked:
    """Does what a function of the test says."""

    def __init__(self, what):
        self.what = what

    def decide(self, host):
        self.what(host)
