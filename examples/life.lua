-- The life of a job, whose host is made up: life.lua FILE.yaml
--
-- The host gives it room at once, and the first task that it starts is lost
-- the first time.  A real one starts and stops tasks where this one prints.
local openpai = require "openpai"

local life = assert(openpai.life.new(assert(openpai.job.load(arg[1]))))
local lost = false
for action in function() return life:next() or nil end do
  if action.kind == "queue" or action.kind == "return" then
    print("asks for room")
    life:send { kind = "placed" }
  elseif action.kind == "start" then
    print("starts task " .. action.task)
    life:send { kind = "started", task = action.task }
    local code = lost and 0 or 137 -- killed, which is not the job's fault
    lost = true
    life:send { kind = "ended", task = action.task, code = code }
  end
end

local status = life:status()
print(("%s after %d retries: %s"):format(
  status.state, status.retries, openpai.exit_spec(status.code).reason))
