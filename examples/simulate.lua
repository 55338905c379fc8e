local openpai = require "openpai"

-- Would another policy have been better?  Of a trace, or of jobs made up after
-- published numbers.
local cluster =
  assert(openpai.cluster.synthetic("nodes:6 gpu:8:v100 cpus:64 mem:512G"))
local trace = assert(arg[1] and openpai.trace.load(arg[1]) or
                     openpai.trace.generate { jobs = 1000, seed = 1,
                                              gpus = 64, load = 0.9 })
local reports = {}
for i, policy in ipairs { "fifo", "backfill" } do
  reports[i] = assert(openpai.simulate(cluster, trace, { policy = policy }))
  print(policy, reports[i].jobs .. " jobs",
        ("%.1f s waited"):format(reports[i].wait_mean / 1e6))
end
print(openpai.compare(reports))
