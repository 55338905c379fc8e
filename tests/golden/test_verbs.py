"""Every verb's --json and exit status in a scripted life, as kept on file.

What is for people may be worded anew; what is for programs may not.
"""

import json
import re

import golden
import life

JOB = life.job("good", life.role("main", "true"))

LOOKS = """\
list --json
list --json --state failed,stopped
list --json --live
list --json --tag kept
list --json --keyword pai
list --json -o name,state,command,code,node
list --columns name,state,code
list --state nothing
show --json admin~good
show --json admin~bad
show --json admin~pair
show --json admin~stopped
show --json admin~running
show --json admin~waiting
show none
logs admin~good
logs --task first admin~pair
logs --log stderr admin~good
logs --log nothing admin~good
logs none
exec --json admin~good -- true
why --json admin~good
why --json admin~bad
why --json admin~stopped
why --json admin~running
why --json admin~waiting
why none
wait --json --quiet admin~good admin~bad
wait none
events --json admin~good
events --json admin~waiting
files --json admin~good
files none
top --json --once
top --json --once admin~running
status --json
vc list --json
vc show --json lab
vc show none
node list --json
node show --json NODE
node show none
user list --json
user show --json alice
user show none
user quota --json
user quota --json alice
group list --json
group show --json team
group show none
token list --json
storage list --json
storage show files
storage show none
remote list --json
remote show none
at --json -0s cluster
at --json nonsense
sched show --json
sched explain --json 6
sched explain --json 99
sched replay --json --check
sched story --json admin~good
when --json admin~waiting --seed 1
fit --json admin~waiting
what-if --json --seed 1 --gpus 1
export
nothing
list --nothing
list extra
"""

CHANGES = """\
tag add lab-tag admin~good
tag remove lab-tag admin~good
tag remove lab-tag
vc add --capacity 0% more
vc set --max 50% more
vc stop more
vc start more
vc remove more
vc remove more
node drain NODE
node list --json
node resume NODE
node drain none
user add --password-file - --email b@example.org bob
user set --email c@example.org bob
user remove bob
user remove bob
user quota --set jobs=5 alice
group add --description x extra
group set --description y extra
group remove extra
group remove extra
storage add --type other more
storage remove more
storage remove more
token create --name ci --scope read
token revoke ci
stop admin~good
stop none
stop admin~waiting
retry --json admin~bad
clone --json admin~bad again
wait --quiet bad
wait --quiet again
rm --json admin~running
rm -n --json admin~good
rm --json admin~bad
rm none
prune --json --keep-jobs 1 -n
prune --json --keep-jobs 1 -y
submit --json JOB
submit --json WRONG
submit --json --name other -- true
run --name command -- sh -c "exit 3"
cp --json admin~good:none FOLDER
backup FOLDER/backup.db
backup FOLDER/backup.db
down --kill
"""

FILES = """\
spec check --json JOB
spec check --json WRONG
spec check --json OLD
spec check --sarif WRONG
spec check --json none
spec check --strict JOB
spec render --json JOB
spec render --role none JOB
spec show --json JOB
spec convert --json OLD
spec fmt JOB
spec diff --json JOB JOB
spec diff --json JOB WRONG
spec schema
cluster show --json --from "nodes:2 gpu:4:h100 cpus:64 mem:512G"
cluster show --yaml --from "nodes:2 gpu:4:h100 cpus:64 mem:512G"
cluster check --json CLUSTER
cluster check --json JOB
cluster hived --json --from "nodes:2 gpu:4:h100 cpus:64 mem:512G"
trace show --json TRACE
trace show --json none
trace convert TRACE
sim generate --jobs 20 --seed 1
sim generate --jobs 20 --seed 1 --like helios
"""

OLD = json.dumps({
    "jobName": "old", "image": "host", "retryCount": 1, "gpuType": "",
    "taskRoles": [{"name": "main", "taskNumber": 2, "cpuNumber": 1,
                   "memoryMB": 100, "gpuNumber": 0, "command": "true"}]})

CLUSTER = """\
physicalCluster:
  skuTypes:
    k80: {gpu: 1, cpu: 4, memory: 8192Mi}
  cellTypes:
    k80-node: {childCellType: k80, childCellNumber: 4, isNodeLevel: true}
  physicalCells:
  - {cellType: k80-node, cellAddress: one}
virtualClusters:
  default:
    virtualCells:
    - {cellType: k80-node, cellNumber: 1}
"""

TRACE = "\n".join(json.dumps(line) for line in [
    {"time": 0, "id": "a", "user": "ann", "gpus": 4, "duration": 100},
    {"time": 1, "id": "b", "user": "bob", "gpus": 4, "duration": 50},
    {"time": 4, "id": "e", "user": "ann", "gpus": 9, "duration": 20},
]) + "\n"


FOR_PROGRAMS = re.compile(
    r"--(json|sarif|yaml)\b|^(export|sim|trace|logs|spec (schema|fmt|render))\b")


class Verbs(life.LifeTest):
    def say(self, lines):
        """Runs each line, and keeps its status and what it printed."""
        for line in lines.splitlines():
            words = [self.files.get(word, word.replace(
                "FOLDER", str(self.folder)))
                     for word in life.split(line)]
            done = self.run_cli(*words, input="swordfish-7\n")
            said = self.fixed.json(done.stdout) if FOR_PROGRAMS.search(
                line) else ""
            self.golden.add(line, f"{done.returncode}\n{said}")

    def setUp(self):
        super().setUp()
        self.files = {
            "JOB": self.write("job.yaml", JOB.replace("good", "file")),
            "WRONG": self.write("wrong.yaml", JOB.replace("cpu: 1", "cpus: x")
                                .replace("dockerImage", "image")),
            "OLD": self.write("old.json", OLD),
            "CLUSTER": self.write("hived.yaml", CLUSTER),
            "TRACE": self.write("trace.jsonl", TRACE)}

    def test_looks(self):
        self.live()
        self.files["NODE"] = self.node
        self.golden = golden.Golden("life/verbs.txt")
        self.say(LOOKS)
        self.golden.check(self)

    def test_changes(self):
        self.live()
        self.files["NODE"] = self.node
        self.golden = golden.Golden("life/verbs-changes.txt")
        self.say(CHANGES)
        self.golden.check(self)

    def test_run(self):
        """The states of a job that a program waits for."""
        done = self.run_cli("run", "--json", self.files["JOB"])
        states = [json.loads(line) for line in done.stdout.splitlines()]
        last = [line for line in states if line["state"] != "waiting"]
        self.golden = golden.Golden("life/run.txt")
        self.golden.add("run --json JOB", "\n".join(
            [str(done.returncode)] + [json.dumps(self.fixed.value(line))
                                      for line in last]))
        self.golden.check(self)

    def test_files(self):
        self.golden = golden.Golden("life/verbs-files.txt")
        self.say(FILES)
        self.golden.check(self)


if __name__ == "__main__":
    life.served.program.main()
