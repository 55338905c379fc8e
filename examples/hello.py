import sys
import openpai
job = openpai.Job.load(sys.argv[1])
print([role.name for role in job.roles])
result = openpai.run(job, on_event=lambda event: print(event.text, end=""))
print(result.state, result.code)
