"""A simulator of fifo as one writes it in Python: a heap of ends, a dict of
what is free, one pass over the trace.  The baseline of openpai-bench sim-fifo.

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


def simulate(lines, nodes, gpus):
    free = {node: gpus for node in range(nodes)}
    queue, ends = collections.deque(), []
    waits, jobs, now = 0.0, 0, 0.0

    def start_all():
        nonlocal waits
        while queue:
            job = queue[0]
            wanted = job.get("gpus", 0)
            taken = place(job.get("tasks", 1), wanted, free)
            if taken is None:
                return
            queue.popleft()
            waits += now - job["time"]
            heapq.heappush(ends, (now + job["duration"], id(job), taken,
                                  wanted))

    def end_until(time):
        nonlocal now
        while ends and ends[0][0] <= time:
            now = ends[0][0]
            while ends and ends[0][0] == now:
                _, _, taken, wanted = heapq.heappop(ends)
                give(taken, wanted, free)
            start_all()

    for line in lines:
        job = json.loads(line)
        end_until(job["time"])
        now = job["time"]
        queue.append(job)
        jobs += 1
        start_all()
    end_until(float("inf"))
    return jobs, waits / max(jobs, 1)


def main():
    nodes = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    gpus = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    with open(sys.argv[1], encoding="utf-8") as lines:
        jobs, wait = simulate(lines, nodes, gpus)
    print(json.dumps({"jobs": jobs, "wait_mean_s": round(wait, 6)}))


if __name__ == "__main__":
    main()
