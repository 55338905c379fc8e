import openpai


class SmallestFirst:
    """A scheduling policy: who wants fewest GPUs is first."""

    def decide(self, host):
        def gpus(id):
            return sum(w.tasks * w.gpus for w in host.request(id).wants)
        for id in sorted(host.waiting(), key=gpus):
            host.start(id, place="pack")


cluster = openpai.Cluster.synthetic("nodes:2 gpu:8:h100")
for policy in "fifo", SmallestFirst:
    scheduler = openpai.Scheduler(cluster, policy)
    for id, gpus in enumerate((6, 8, 8, 2), 1):
        scheduler.submit(id, gpus=gpus)
    for decision in scheduler.decide():
        print(decision.kind, decision.id, decision.tasks[0].node,
              decision.tasks[0].gpus)
    for request in scheduler.queue:
        print(scheduler.explain(request.id))
