-- What the Lua module promises of the life of a job.
-- Usage: test_lua_life.lua ROOT
local openpai = require "openpai"
local shared = require "lua_tests"
local raises, fails = shared.raises, shared.fails

local text = [[{"protocolVersion": 2, "name": "t", "type": "job",
  "prerequisites": [{"name": "i", "type": "dockerimage", "uri": "x"}],
  "taskRoles": {"main": {"instances": 2, "dockerImage": "i",
    "resourcePerInstance": {"cpu": 1, "memoryMB": 1, "gpu": 0},
    "commands": ["x"]}}}]]
local job = assert(openpai.job.parse(text))

local function expect(life, kind, task, count)
  local action = assert(life:next(100))
  assert(action.kind == kind and action.task == task and
         action.count == count, action.kind)
end

local life = assert(openpai.life.new(job, { seed = 3 }))
expect(life, "queue", 0, 2)
assert(life:next() == false)
life:send { kind = "placed", time = 5 }
expect(life, "start", 0, 2)
life:send { kind = "started", count = 2 }
local status = life:status()
assert(status.state == "running" and status.substate == "AttemptRunning")
assert(status.alive == 2 and #status.tasks == 2 and status.roles[1].tasks == 2)

-- It comes back.
local saved = assert(life:save())
local back = assert(openpai.life.load(saved))
assert(back:save() == saved)
back:rescale(0, 3, 7)
expect(back, "queue", 2, 1)
fails("PAI_EINVAL", openpai.life.load(saved:sub(1, -2)))
fails("PAI_EINVAL", openpai.life.load(""))

-- It ends.
life:send { kind = "ended", task = 1, code = 220 }
expect(life, "stop", 0, 1)
life:send { kind = "ended", task = 0, code = 143 }
expect(life, "release", 0, 2)
expect(life, "finish", 0, 2)
status = life:status()
assert(status.state == "failed" and status.code == 220 and
       status.trigger == 1)

-- What cannot be.
fails("PAI_EINVAL", life:send { kind = "ended" })
fails("PAI_EINVAL", life:send { kind = "frob" })
fails("PAI_EINVAL", life:rescale(0, 1))
raises("a table with a kind", life.send, life, "ended")
raises("code is a number", life.send, life, { kind = "ended", code = "x" })
raises("wanted", openpai.life.new, 1)

-- The exit spec.
local entry = assert(openpai.exit_spec(220))
assert(entry.phrase == "UserCommandExitWithError")
assert(entry.pattern.runtimeContainerPatterns[1].exitCode == 127)
assert(#openpai.exit_codes() == 62)
