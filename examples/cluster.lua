-- A cluster, a job in it, and this machine: cluster.lua PICTURE.svg
local openpai = require "openpai"

-- A cluster that is made up; openpai.cluster.load() reads real ones.
local cluster =
  assert(openpai.cluster.synthetic("racks:2 nodes:4 gpu:8:h100 numa:2"))
assert(cluster:set_sick("node0002", "GPU has fallen off the bus", 5))
print(cluster)

-- What is free, and a job that takes some of it.
local free = openpai.allocation.new()
for node in cluster:nodes() do
  print(node.name .. " in " .. node.rack .. " has " .. #node.gpus .. " GPUs")
  for i, gpu in ipairs(node.gpus) do
    if not gpu.sick then
      assert(free:add(node.number, "gpu", i - 1))
    end
  end
end
local mine = assert(openpai.allocation.parse(
  "node 0: gpu 0-3; node 2: gpu 0-3"))
assert(free:take(mine))
print("mine: " .. tostring(mine))
print("free: " .. tostring(free) .. " = " .. free:count("gpu") .. " GPUs")

-- The same as a picture; GPUs are numbered from 0.
local marks = {}
for _, part in ipairs(mine:nodes()) do
  local gpus = {}
  for _, range in ipairs(part.gpu) do
    for gpu = range[1], range[2] do
      gpus[gpu] = "alice"
    end
  end
  marks[cluster:node(part.node).name] = gpus
end
print(cluster:text(marks))
local picture = assert(io.open(arg[1], "w"))
picture:write(cluster:svg(marks))
picture:close()

-- This machine: how it is built, what is near its GPUs, what it does.
local machine = assert(openpai.topology.discover())
print(machine)
for _, gpu in ipairs(machine:gpus()) do
  print((gpu.model or "?") .. " is near CPUs " ..
        machine:affinity({ gpu.number }).cpus)
end
local sampler = assert(openpai.sampler.new { paths = { "/" } })
local sample = assert(sampler:take())
print(("%d CPUs, %d GPUs, %.1f GB of memory free"):format(
  sample.online, #sample.gpus, (sample.memory.free or 0) / 1e9))
sampler:close()
