local openpai = require "openpai"
local job = assert(openpai.job.load(arg[1]))
for _, role in ipairs(job:roles()) do print(role.name) end
local function show(event)
  io.write(event.type == "output" and event.text or "")
end
local state, code = assert(openpai.run(job, { on_event = show }))
print(state, code)
