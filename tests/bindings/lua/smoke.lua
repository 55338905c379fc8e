-- The same steps in C, Python and Lua: smoke.c, smoke.py, smoke.lua.
-- Usage: smoke.lua ROOT
local openpai = require "openpai"

local good = [[
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
]]

-- The same, but for one word; the same, but for its command.
local bad = good:gsub("instances: 2", "instances: many")
local failing = good:gsub("echo hello", "echo hello; exit 3")

local output = "" -- what both tasks wrote
local root = arg[1]

local function on_event(event)
  assert(event.job ~= 0)
  if event.type == "output" then
    output = output .. event.text
  end
end

-- 1. the version
assert(openpai.version():match("^%d+%.%d+%.%d+$"))
assert(openpai._VERSION == openpai.version())

-- 2. a good job
local job = assert(openpai.job.parse(good))

-- 3. what it says
assert(job:name() == "smoke")
assert(job:retry_count() == 0)
assert(job:task_count() == 2)
assert(#job:roles() == 1)
assert(job:roles()[1].name == "worker")
assert(job:roles()[1].instances == 2)
assert(job:roles()[1].memory_mb == 16)
assert(job:roles()[1].script == "echo hello")

-- 4. it runs
local state, code = openpai.run(job, { root = root, on_event = on_event })
assert(state == "succeeded" and code == 0)
assert(output == "hello\nhello\n")

-- 5. a bad job
local none, message, name, detail = openpai.job.parse(bad)
assert(none == nil)
assert(name == "PAI_EINVAL" and detail.code == name)
assert(detail.line == 11)
assert(detail.column == 16)
assert(detail.pointer == "/taskRoles/worker/instances")
assert(message ~= "")

-- 6. all that is wrong with it
local report = openpai.job.check(bad)
assert(not report.valid)
assert(report.version == 2)
assert(#report == 1)
assert(report[1].severity == "error")
assert(report[1].code == "wrong-type")
assert(report[1].line == 11)
assert(report[1].end_column == 20)
assert(report[1].source == "    instances: many")

-- 7. it is mended
local draft = assert(openpai.draft.new(bad))
assert(draft:set("taskRoles.worker.instances", 2))
assert(draft:text() == good)
assert(draft:get("taskRoles.worker.instances") == 2)
assert(draft:unset("jobRetryCount"))
assert(select(3, draft:unset("jobRetryCount")) == "PAI_ENOTFOUND")

-- 8. it is written
job = assert(openpai.job.parse(good))
assert(job:to_yaml() == good)
assert(#job:unresolved() == 0)

-- 9. a job that fails
job = assert(openpai.job.parse(failing))
state, code = openpai.run(job, { root = root, on_event = on_event })
assert(state == "failed" and code == 3)

-- 10. an error in the callback
local mine = {}
local ok, raised = pcall(openpai.run, job, { root = root, on_event =
  function() error(mine) end })
assert(not ok and raised == mine)

-- 11. a machine, a cluster, what is free of it
local machine = assert(openpai.topology.synthetic("pack:2 core:4 pu:2"))
assert(machine:summary().pus == 16 and #machine:gpus() == 0)
assert(machine:affinity({}, 1).cpus == "0-1")
local cluster = assert(openpai.cluster.synthetic("nodes:2 gpu:4:h100"))
assert(cluster:sums().gpus == 8)
assert(cluster:node("node0002").gpus[4].kind == "h100")
assert(cluster:svg({ node0002 = { [3] = "me" } }):find("</svg>\n$"))
local free = assert(openpai.allocation.parse("node 0: gpu 0-3"))
assert(free:take(openpai.allocation.parse("node 0: gpu 1")))
assert(tostring(free) == "node 0: gpu 0,2-3")
assert(#openpai.gpus({ nvml = "", root = root }).gpus == 0)
print("smoke: good")
