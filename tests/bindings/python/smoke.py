"""The same steps in C, Python and Lua: smoke.c, smoke.py, smoke.lua.

Usage: smoke.py ROOT
"""
import sys

import openpai

GOOD = """\
protocolVersion: 2
name: smoke
type: job
jobRetryCount: 0
prerequisites:
  - name: none
    type: dockerimage
    uri: none
taskRoles:
  worker:
    instances: 2
    dockerImage: none
    resourcePerInstance:
      cpu: 1
      memoryMB: 16
      gpu: 0
    commands:
      - echo hello
"""

# The same, but for one word; the same, but for its command.
BAD = ("instances: 2", "instances: many")
FAILING = ("echo hello", "echo hello; exit 3")

output = []  # what both tasks wrote


def on_event(event):
    assert event.job != 0
    if event.type == "output":
        output.append(event.text)


def main(root):
    # 1. the version
    assert openpai.__version__.count(".") == 2

    # 2. a good job
    job = openpai.Job.parse(GOOD)

    # 3. what it says
    assert job.name == "smoke"
    assert job.retry_count == 0
    assert job.task_count == 2
    assert len(job.roles) == 1
    assert job.roles[0].name == "worker"
    assert job.roles[0].instances == 2
    assert job.roles[0].memory_mb == 16
    assert job.roles[0].script == "echo hello"

    # 4. it runs
    result = openpai.run(job, root=root, on_event=on_event)
    assert result == ("succeeded", 0) and result.succeeded
    assert "".join(output) == "hello\nhello\n"

    # 5. a bad job
    try:
        openpai.Job.parse(GOOD.replace(*BAD))
        assert False, "a bad job was taken"
    except openpai.InvalidError as error:
        assert error.name == "PAI_EINVAL"
        assert error.line == 11
        assert error.column == 16
        assert error.pointer == "/taskRoles/worker/instances"
        assert error.message != ""

    # 6. all that is wrong with it
    report = openpai.check(GOOD.replace(*BAD))
    assert not report
    assert report.version == 2
    assert len(report) == 1
    assert report[0].severity == "error"
    assert report[0].code == "wrong-type"
    assert report[0].line == 11
    assert report[0].end_column == 20
    assert report[0].source == "    instances: many"

    # 7. it is mended
    draft = openpai.Draft(GOOD.replace(*BAD))
    draft["taskRoles.worker.instances"] = 2
    assert draft.text == GOOD
    assert draft["taskRoles.worker.instances"] == 2
    del draft["jobRetryCount"]
    assert "jobRetryCount" not in draft

    # 8. it is written
    job = openpai.Job.parse(GOOD)
    assert job.to_yaml() == GOOD
    assert job.unresolved == ()

    # 9. a job that fails
    job = openpai.Job.parse(GOOD.replace(*FAILING))
    result = openpai.run(job, root=root, on_event=on_event)
    assert result == ("failed", 3) and not result.succeeded

    # 10. an error in the callback
    mine = RuntimeError("mine")

    def fail(event):
        raise mine
    try:
        openpai.run(job, root=root, on_event=fail)
        assert False, "the error was lost"
    except RuntimeError as error:
        assert error is mine

    # 11. a machine, a cluster, what is free of it
    machine = openpai.Topology.synthetic("pack:2 core:4 pu:2")
    assert machine.summary.pus == 16 and machine.gpus == ()
    assert machine.affinity([], cores=1).cpus == "0-1"
    cluster = openpai.Cluster.synthetic("nodes:2 gpu:4:h100")
    assert cluster.sums.gpus == 8
    assert cluster.nodes["node0002"].gpus[3].kind == "h100"
    assert cluster.svg({("node0002", 3): "me"}).endswith("</svg>\n")
    free = openpai.Allocation("node 0: gpu 0-3")
    free.take(openpai.Allocation("node 0: gpu 1"))
    assert str(free) == "node 0: gpu 0,2-3"
    assert len(openpai.gpus(nvml="", root=root)) == 0
    print("smoke: good")


main(sys.argv[1])
