import sys
import openpai
job = openpai.Job.load(sys.argv[1])
print([role.name for role in job.roles])
def show(event):
    print(event.text if event.type == "output" else "", end="")
result = openpai.run(job, on_event=show)
print(result.state, result.code)
