"""The life of a job, whose host is made up: life.py FILE.yaml

The host gives it room at once, and the first task that it starts is lost the
first time.  A real one starts and stops tasks where this one prints.
"""
import sys

import openpai

# %% What is to be done, until there is nothing more.
life = openpai.Life(openpai.Job.load(sys.argv[1]))
lost = False
while (action := life.next()) is not None:
    if action.kind in ("queue", "return"):
        print("asks for room")
        life.send("placed")
    elif action.kind == "start":
        print("starts task", action.task)
        life.send("started", action.task)
        code = 0 if lost else 137  # killed, which is not the job's fault
        lost = True
        life.send("ended", action.task, code=code)

# %% What became of it.
status = life.status
print(f"{status.state} after {status.retries} retries:",
      openpai.exit_spec(status.code)["reason"])
