"""A simulator of fifo as one writes it in Python: a heap of ends, a dict of
what is free, one pass over the trace.  The baseline of openpai-bench sim-fifo.

It prints the numbers of a report as JSON, and they are ours to the last digit.
It places tasks on the fullest nodes, and knows no failures, no virtual clusters
and nothing of users, sizes or hours.

Usage: sim_fifo.py TRACE [NODES [GPUS]]
"""
import collections
import heapq
import json
import sys


def place(tasks, gpus, free):
    """The fullest nodes with room for so many tasks; None: there is none."""
    taken = []
    for _ in range(tasks):
        fitting = [(left, node) for node, left in free.items()
                   if left >= gpus]
        if not fitting:
            give(taken, gpus, free)
            return None
        node = min(fitting)[1]
        free[node] -= gpus
        taken.append(node)
    return taken


def give(taken, gpus, free):
    for node in taken:
        free[node] += gpus


def micros(seconds):
    return round(seconds * 1000000)


class Simulation:
    def __init__(self, nodes, gpus):
        self.free = {node: gpus for node in range(nodes)}
        self.largest, self.all = gpus, nodes * gpus
        self.queue, self.ends, self.waits = collections.deque(), [], []
        self.jobs = self.rejected = self.finished = self.skipped = 0
        self.now, self.begin, self.last_end, self.used = 0, None, 0, 0

    def start_all(self):
        while self.queue:
            job = self.queue[0]
            tasks, gpus = job.get("tasks", 1), job.get("gpus", 0)
            taken = place(tasks, gpus, self.free)
            if taken is None:
                return
            self.queue.popleft()
            self.waits.append(self.now - job["time"])
            length = micros(job["duration"])
            self.used += tasks * gpus * length
            heapq.heappush(self.ends, (self.now + length, job["number"],
                                       taken, gpus))

    def end_until(self, time):
        while self.ends and self.ends[0][0] <= time:
            self.now = self.last_end = self.ends[0][0]
            while self.ends and self.ends[0][0] == self.now:
                _, _, taken, gpus = heapq.heappop(self.ends)
                give(taken, gpus, self.free)
                self.finished += 1
            if self.now < time:
                self.start_all()

    def come(self, line):
        try:
            job = json.loads(line)
            job["time"] = micros(job["time"])
            micros(job["duration"])
        except (ValueError, KeyError, TypeError):
            self.skipped += 1
            return
        self.jobs += 1
        job["number"] = self.jobs
        if self.begin is None:
            self.begin = job["time"]
        if job["time"] > self.now:
            self.start_all()  # what came before in the same moment
        self.end_until(job["time"])
        self.now = job["time"]
        gpus = job.get("gpus", 0)
        if gpus > self.largest or job.get("tasks", 1) * gpus > self.all:
            self.rejected += 1
        else:
            self.queue.append(job)

    def end(self):
        self.start_all()
        self.end_until(float("inf"))

    def report(self):
        waits = sorted(self.waits)
        span = self.last_end - (self.begin or 0)

        def at(part):
            """The least wait that so many of a hundred do not exceed."""
            return waits[max(-(-len(waits) * part // 100) - 1, 0)] / 1e6

        return {"policy": "fifo", "jobs": self.jobs, "started": len(waits),
                "finished": self.finished, "rejected": self.rejected,
                "makespan_s": span / 1e6,
                "wait_mean_s": sum(waits) // len(waits) / 1e6,
                "wait_p50_s": at(50), "wait_p90_s": at(90),
                "wait_p99_s": at(99),
                "utilization": self.used * 10**6 // (span * self.all) / 1e6,
                "preemptions": 0, "lines_skipped": self.skipped}


def main():
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    gpus = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    simulation = Simulation(nodes, gpus)
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            simulation.come(line)
    simulation.end()
    print(json.dumps(simulation.report()))


if __name__ == "__main__":
    main()
