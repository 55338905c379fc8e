local openpai = require "openpai"

-- A scheduling policy: who wants fewest GPUs is first.
local smallest_first = {}

function smallest_first:decide(host)
  local ids, gpus = {}, {}
  for id in host:waiting() do
    ids[#ids + 1], gpus[id] = id, host:request(id).wants[1].gpus
  end
  table.sort(ids, function(a, b)
    return gpus[a] < gpus[b] or gpus[a] == gpus[b] and a < b
  end)
  for _, id in ipairs(ids) do
    host:start(id, "pack")
  end
end

local cluster = assert(openpai.cluster.synthetic("nodes:2 gpu:8:h100"))
for _, policy in ipairs { "fifo", smallest_first } do
  local scheduler = assert(openpai.scheduler(cluster, { policy = policy }))
  for id, gpus in ipairs { 6, 8, 8, 2 } do
    assert(scheduler:submit { id = id, gpus = gpus })
  end
  for _, decision in ipairs(assert(scheduler:decide())) do
    print(decision.kind, decision.id, decision.tasks[1].node,
          table.concat(decision.tasks[1].gpus, ","))
  end
  for _, request in ipairs(scheduler:queue()) do
    print(scheduler:explain(request.id))
  end
end
