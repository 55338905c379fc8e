-- What the Lua module promises of HiveD's extender.
-- Usage: test_lua_hived.lua ROOT
local openpai = require "openpai"
local root = arg[1]
local shared = require "lua_tests"
local raises, fails = shared.raises, shared.fails

local config = [[
physicalCluster:
  cellTypes:
    NODE: {childCellType: GPU, childCellNumber: 2, isNodeLevel: true}
  physicalCells: [{cellType: NODE, cellAddress: n0}, {cellType: NODE,
                   cellAddress: n1}]
virtualClusters:
  a: {virtualCells: [{cellType: NODE, cellNumber: 2}]}
waitingPodSchedulingBlockMilliSec: 20
]]
local prefix = "hivedscheduler.microsoft.com/"

local function node(name)
  return { kind = "Node", metadata = { name = name },
           status = { conditions = { { type = "Ready", status = "True" } } } }
end

local function pod(name, gpus, priority)
  local spec = ("{virtualCluster: a, leafCellNumber: %d, priority: %d}")
    :format(gpus, priority or 0)
  return { kind = "Pod",
           metadata = { name = name, namespace = "test", uid = name .. "-uid",
                        annotations = {
                          [prefix .. "pod-scheduling-spec"] = spec } },
           spec = { containers = { { resources = { limits = {
             [prefix .. "pod-scheduling-enable"] = 1 } } } } } }
end

local h = assert(openpai.hived.parse(config))
assert(h:tell { kind = "NodeList", items = { node "n0", node "n1" } })

local function ask(one)
  assert(h:tell(one))
  return assert(h:filter { Pod = one, NodeNames = { "n0", "n1" } })
end

-- one pod, to its end
local answer = ask(pod("p", 2))
assert(answer.status == 200 and answer.content_type == "application/json")
assert(answer.body:find('"NodeNames":["n0"]', 1, true), answer.body)
assert(answer.binding == nil)
answer = assert(h:bind { PodName = "p", PodNamespace = "test",
                         PodUID = "p-uid", Node = "n0" })
assert(answer.binding.first and answer.binding.uid == "p-uid")
assert(answer.binding.path == "/api/v1/namespaces/test/pods/p/binding")
assert(answer.binding.body:find('isolation":"0,1"', 1, true))
answer = assert(h:unbound("p-uid", "no API server"))
assert(answer.body:find("no API server", 1, true))

-- who waits, and who goes
ask(pod("low", 2, -1))
local high = pod("high", 2, 1)
assert(ask(high).body:find("low", 1, true))
answer = assert(h:preempt { Pod = high,
                            NodeNameToMetaVictims = { n1 = { x = 1 } } })
assert(answer.body:find("low-uid", 1, true), answer.body)
assert(ask(pod("more", 2, -1)).hold_ms == 20)

-- what it knows
local status = assert(h:inspect())
assert(#status.physicalCluster == 2)
assert(assert(h:inspect("affinitygroups/test/p")).metadata.name == "test/p")
fails("PAI_ENOTFOUND", h:inspect("affinitygroups/none"))
fails("PAI_ENOTFOUND", h:inspect("nothing"))

-- whatever is asked
assert(assert(h:request("GET", "/nothing")).status == 404)
assert(assert(h:filter "").body:find("EOF", 1, true))
fails("PAI_EINVAL", h:tell { kind = "Service" })
fails("PAI_EINVAL", h:tell "{")
fails("PAI_EINVAL", openpai.hived.parse "physicalCluster: 1")
fails("PAI_ENOTFOUND", openpai.hived.load(root .. "/none.yaml"))
raises("a table or JSON, not a number", h.filter, h, 7)
local path = root .. "/hived.yaml"
local file = assert(io.open(path, "w"))
file:write(config)
file:close()
assert(openpai.hived.load(path))
assert(openpai.HiveD == nil)
