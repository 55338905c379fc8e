local openpai = require "openpai"
local server, path = arg[1], arg[2]
local where = server:find("://", 1, true) and "url" or "socket"
local client = assert(openpai.client { [where] = server })
local job = assert(client:submit(assert(openpai.job.load(path))))
print(job .. " is submitted")
for line in assert(client:logs(job, { follow = true })):lines() do
  print(line)
end
print(assert(client:wait(job)))
