-- What the Lua module promises of machines, clusters, GPUs, samples and
-- allocations.  Usage: test_lua_cluster.lua ROOT
-- OPENPAI_FAKE_NVML in the environment is a library that plays NVML.
local openpai = require "openpai"
local root = arg[1]
local shared = require "lua_tests"
local raises, fails = shared.raises, shared.fails
local fake = os.getenv("OPENPAI_FAKE_NVML")

local function has(text, part)
  assert(text:find(part, 1, true), text)
end

local function machine()
  return assert(openpai.topology.load("../machine.xml"))
end

local function write(name, text)
  local file = assert(io.open(root .. "/" .. name, "w"))
  file:write(text)
  file:close()
  return root .. "/" .. name
end

local tests = {}

function tests.topologies()
  local t = machine()
  local s = t:summary()
  assert(s.name == "box" and s.gpus == 2 and s.cores == 4)
  local gpus = t:gpus()
  assert(#gpus == 2 and gpus[2].number == 1 and gpus[2].uuid == "GPU-1")
  assert(gpus[1].model == "V100 <32>" and gpus[1].serial == nil)
  local objects = t:objects()
  assert(#objects == s.objects and objects[1].kind == "machine")
  assert(objects[1].parent == nil and objects[2].parent == 0)
  assert(objects[gpus[2].object + 1].gpu == 1)
  local made = openpai.topology.synthetic("pack:2 core:4 pu:2")
  assert(made:summary().pus == 16 and #made:gpus() == 0)
  assert(openpai.topology.discover():summary().pus > 0)
  assert(openpai.topology.discover(false))
end

function tests.links_and_affinity()
  local t = machine()
  local link = t:between(0, 1)
  assert(link.near == "machine" and link.link == "NVLink" and link.direct)
  assert(link.hops == 1 and link.mbps == 25000)
  local near = t:affinity({ 1, 0 })
  assert(near.cpus == "0-3" and near.numa_nodes == "0-1")
  assert(near.env.CUDA_VISIBLE_DEVICES == "1,0")
  assert(near.env_by_uuid.CUDA_VISIBLE_DEVICES == "GPU-1,GPU-0")
  near = t:affinity({ 1 }, 1)
  assert(near.cpus == "2" and near.mask == "4" and near.cores == 1)
  assert(next(t:affinity().env) == nil)
  fails("PAI_ENOTFOUND", t:between(0, 2))
  fails("PAI_EINVAL", t:affinity({ 0, 0 }))
  fails("PAI_ENOROOM", t:affinity({ 0 }, 5))
  raises("a whole number", t.affinity, t, { 0.5 })
  raises("a whole number", t.affinity, t, { -1 })
  raises("a whole number", t.between, t, 0, -1)
  raises("a list is wanted", t.affinity, t, 0)
  raises("texts or numbers", t.affinity, t, { {} })
end

function tests.pictures_of_machines()
  local t = machine()
  assert(tostring(t) == t:text() and t:text() == t:text({}))
  has(t:text(), "GPU 1: V100 <32>")
  local marked = t:text({ [0] = "bob", [1] = { "sick", "hot" } })
  has(marked, "[used by bob]")
  has(marked, "[sick: hot]")
  has(t:text({ [0] = false, true }), "[free]")
  has(t:svg({ { "sick", "<hot>" } }), "&lt;hot&gt;")
  assert(t:svg():find("^<svg") and t:to_json():find('"name": "box"'))
  fails("PAI_ENOTFOUND", t:svg({ [2] = "x" }))
  fails("PAI_EINVAL", t:svg({ { "odd" } }))
  raises("by numbers of GPUs", t.svg, t, { x = "y" })
  raises("texts or numbers", t.svg, t, { { {} } })
  raises("table expected", t.svg, t, "bob")
  raises("no zero bytes", t.svg, t, { "a\0b" })
end

function tests.broken_machines()
  assert(fails("PAI_EINVAL", openpai.topology.parse_xml("<x")).line == 1)
  assert(fails("PAI_ENOTFOUND", openpai.topology.load(root .. "/no")).file ==
         root .. "/no")
  fails("PAI_EINVAL", openpai.topology.synthetic("pack:two"))
  raises("no zero bytes", openpai.topology.synthetic, "core:2 pu:1\0")
  raises("string expected", openpai.topology.parse_xml, nil)
  raises("a Topology is wanted", machine().gpus,
         openpai.cluster.synthetic("nodes:1"))
end

local text = [[
name: lab
skus:
  dgx: {gpu: h100, gpus: 8, near: {nvlink: 8}, cpus: 128, memory: 2T}
  cpu: {cpus: 64}
nodes:
  - {name: "dgx[1-2]", sku: dgx, rack: r1, labels: {zone: a}}
  - {name: c1, sku: cpu, sick: fan broken, address: 10.0.0.7}
virtualClusters:
  a: {cells: {dgx: 1}}
]]

function tests.clusters()
  local c = assert(openpai.cluster.parse(text))
  local sums = c:sums()
  assert(sums.name == "lab" and sums.gpus == 16 and sums.sick_nodes == 1)
  assert(c:node_count() == 3)
  local names = {}
  for node in c:nodes() do
    names[#names + 1] = node.name
    assert(node.number == #names - 1)
  end
  assert(table.concat(names, " ") == "dgx1 dgx2 c1")
  local node = c:node("dgx2")
  assert(node.number == 1 and node.rack == "r1" and node.sku == "dgx")
  assert(node.labels.zone == "a" and #node.gpus == 8 and not node.sick)
  assert(node.gpus[8].kind == "h100" and node.gpus[8].number == 7)
  node = c:node(2)
  assert(node.sick == "fan broken" and node.rack == nil)
  assert(c:skus()[1].near[1].name == "nvlink" and c:skus()[2].gpu == nil)
  assert(c:virtual_clusters()[1].shares[1].count == 1)
  assert(openpai.cluster.load(write("c.yaml", text)):to_yaml() == c:to_yaml())
  assert(openpai.cluster.parse(c:to_json(), "openpai"):sums().nodes == 3)
  fails("PAI_ENOTFOUND", c:node("c2"))
  fails("PAI_ENOTFOUND", c:node(3))
  raises("a whole number", c.node, c, -1)
  raises("string expected", c.node, c, {})
  local walk = openpai.cluster.synthetic("nodes:2"):nodes()
  collectgarbage()
  collectgarbage()
  assert(walk().name == "node0001" and walk().number == 1 and walk() == nil)
end

function tests.broken_clusters()
  local bad = text:gsub("sku: cpu", "sku: gpu") .. "rubbish: 1\n"
  local report = openpai.cluster.check(bad)
  assert(not report.valid and #report == 2 and report.version == nil)
  assert(report[1].code == "unknown-sku")
  local detail = fails("PAI_EINVAL", openpai.cluster.parse(bad))
  assert(#detail.report == 2 and detail.line == report[1].line)
  local path = write("bad.yaml", bad)
  assert(#openpai.cluster.check_file(path) == 2)
  assert(fails("PAI_EINVAL", openpai.cluster.load(path)).file == path)
  assert(openpai.cluster.check(text).valid)
  fails("PAI_EINVAL", openpai.cluster.parse(text, "x"))
  fails("PAI_ENOTFOUND", openpai.cluster.load(root .. "/no"))
  assert(fails("PAI_EINVAL",
               openpai.cluster.synthetic("nodes:4 gpus:8")).column == 9)
  raises("string expected", openpai.cluster.parse, text, {})
end

function tests.sick()
  local c = openpai.cluster.synthetic("nodes:2 gpu:4:h100")
  assert(c:set_sick("node0001", "fan", 3) and c:set_sick(1, "dark"))
  assert(c:node(0).gpus[4].sick == "fan" and c:sums().sick_gpus == 5)
  assert(c:set_sick(1, nil) and c:set_sick("node0001", nil, 3))
  assert(c:sums().sick_gpus == 0)
  fails("PAI_ENOTFOUND", c:set_sick("x", "y"))
  fails("PAI_ENOTFOUND", c:set_sick(0, "y", 4))
  fails("PAI_ENOTFOUND", c:set_sick(0, "y", -2))
  raises("string expected", c.set_sick, c, 0, {})
end

function tests.of_machines()
  local c = assert(openpai.cluster.from_machines {
    { rack = "r1", topology = machine() },
    { name = "b", topology = machine() } })
  assert(c:node(0).name == "box" and c:node(0).rack == "r1")
  assert(#c:node("b").gpus == 2 and c:sums().form == "machines")
  fails("PAI_EINVAL", openpai.cluster.from_machines {})
  raises("no topology", openpai.cluster.from_machines, { { name = "a" } })
  raises("no topology", openpai.cluster.from_machines,
         { { topology = openpai.cluster.synthetic("nodes:1") } })
  raises("a machine is", openpai.cluster.from_machines, { "a" })
  raises("name is not a string", openpai.cluster.from_machines,
         { { name = {}, topology = machine() } })
  raises("table expected", openpai.cluster.from_machines, "a")
end

function tests.pictures_of_clusters()
  local c = openpai.cluster.synthetic("nodes:2 racks:2 gpu:4:h100")
  assert(tostring(c) == c:text())
  has(tostring(c), "2 nodes, 8 GPUs")
  local marked = c:text {
    node0002 = { "alice" }, node0001 = { [0] = { "sick", "ECC" }, [2] = false },
  }
  has(marked, "1 free, 1 used, 1 sick")
  has(marked, "alice 1")
  assert(marked == c:text { [5] = "alice", [0] = { "sick", "ECC" },
                            [2] = false })
  assert(not marked:find("\27") and c:text({ "a" }, true):find("\27"))
  assert(c:svg():find("^<svg") and c:svg() ~= c:svg { "a" })
  fails("PAI_ENOTFOUND", c:svg { x = { "a" } })
  fails("PAI_ENOTFOUND", c:svg { [8] = "a" })
  has(c:to_hived(), "physicalCluster:")
  has(c:to_hived("json"), '"physicalCluster"')
  fails("PAI_EINVAL", c:to_hived("toml"))
  fails("PAI_ENOTSUP", openpai.cluster.synthetic("nodes:1"):to_hived())
end

function tests.gpus()
  local none = assert(openpai.gpus { nvml = "", root = root })
  assert(#none.gpus == 0 and #none.notes == 0 and none.driver == nil)
  raises("options are root, nvml, pids and groups", openpai.gpus, { x = 1 })
  raises("root is not a string", openpai.gpus, { root = {} })
  raises("a whole number", openpai.gpus, { pids = { 0.5 } })
  raises("table expected", openpai.gpus, 3)
  if fake then -- which plays $FAKE_NVML
    local found = openpai.gpus { nvml = fake, pids = { 900 } }
    assert(#found.gpus == 8 and found.driver == "535.104.05")
    assert(found.gpus[1].health == "healthy" and found.gpus[1].mig == false)
    assert(found.gpus[1].processes[1].foreign == false)
    assert(found.gpus[1].processes[2].foreign == true)
    assert(found.links[1].version == 30)
  end
end

function tests.samples()
  local s = assert(openpai.sampler.new { paths = { root }, nvml = "",
                                         all_groups = true })
  local first = s:take(1000)
  assert(first.time == 1000 and first.elapsed == 0 and #first.load == 3)
  assert(first.cpu.busy_rate == nil and #first.cpus == first.online)
  assert(first.memory.total > 0 and first.file_systems[1].path == root)
  assert(#first.groups > 0 and #first.gpus == 0)
  local second = s:take(2000)
  assert(second.elapsed == 1000 and second.cpu.busy_rate >= 0)
  fails("PAI_EINVAL", s:take(2000))
  local group = second.groups[1].id
  assert(s:watch("group", group) and s:take().groups[1].watched)
  fails("PAI_EEXISTS", s:watch("group", group))
  assert(s:unwatch("group", group))
  fails("PAI_ENOTFOUND", s:unwatch("group", group))
  fails("PAI_ENOTFOUND", s:watch_cgroup("/no/such"))
  fails("PAI_ENOTFOUND", s:unwatch_cgroup("/no/such"))
  fails("PAI_EINVAL", s:watch("job", 1))
  assert(#s:gpus().gpus == 0)
  assert(s:close() and s:close())
  fails("PAI_EINVAL", s:take())
  fails("PAI_EINVAL", s:gpus())
  fails("PAI_ENOTSUP", openpai.sampler.new { root = root })
  raises("options are root, nvml, paths and all_groups", openpai.sampler.new,
         { pids = {} })
  raises("a list is wanted", openpai.sampler.new, { paths = "/" })
  assert(openpai.sampler.new())
end

function tests.allocations()
  local all = openpai.allocation.parse(
    "node 0: gpu 0-3 cpu 0-7 mem 8G; node 3: gpu 1")
  local some = openpai.allocation.parse("node 0: gpu 1-2,5 mem 10G")
  assert(tostring(all:intersection(some)) == "node 0: gpu 1-2 mem 8G")
  assert(tostring(some:difference(all)) == "node 0: gpu 5 mem 2G")
  assert(tostring(all:union(some)) ==
         "node 0: gpu 0-3,5 cpu 0-7 mem 10G; node 3: gpu 1")
  local part = all:intersection(some)
  assert(all:contains(part) and not part:contains(all))
  assert(all:overlaps(some) and all:copy() == all and all ~= some)
  local free = all:copy()
  assert(free:take(part) and not free:overlaps(part))
  fails("PAI_ENOTFOUND", free:take(part))
  assert(free:give(part) and free == all)
  fails("PAI_EEXISTS", free:give(part))
  assert(all:count("gpu") == 5 and all:count("gpu", 3) == 1)
  assert(all:memory() == 8 * 2 ^ 30 and all:memory(3) == 0)
  assert(all:has(0, "gpu", 3) and not all:has(0, "gpu", 4))
  local nodes = all:nodes()
  assert(#nodes == 2 and nodes[2].node == 3 and nodes[1].gpu[1][2] == 3)
  assert(#nodes[2].port == 0 and nodes[2].memory == 0)
  local made = openpai.allocation.new()
  assert(made:is_empty() and tostring(made) == "")
  assert(made:add(7, "gpu", 3) and made:add(7, "cpu", 0, 3))
  assert(made:remove(7, "cpu", 1, 2) and made:set_memory(7, 5))
  assert(tostring(made) == "node 7: gpu 3 cpu 0,3 mem 5")
  has(made:to_json(), '"gpu":"3"')
  assert(made:unite(all) and made:intersect(all) and made == all)
  assert(made:subtract(all) and made:is_empty())
  made = all:copy()
  assert(made:clear() and made:is_empty())
  fails("PAI_EINVAL", made:add(7, "tpu", 1))
  fails("PAI_EINVAL", made:count("tpu"))
  fails("PAI_EINVAL", made:add(7, "gpu", 2, 1))
  fails("PAI_ELIMIT", made:add(7, "gpu", 1000000))
  assert(fails("PAI_EINVAL",
               openpai.allocation.parse("node 0: gpu 3-1")).column == 13)
  raises("a whole number", made.add, made, -1, "gpu", 1)
  raises("a Allocation is wanted", made.take, made, "node 0: gpu 1")
end

function tests.leaks()
  local t = machine()
  local function work(times)
    for _ = 1, times do
      local c = openpai.cluster.synthetic("nodes:2 gpu:2:h100")
      for node in c:nodes() do
        assert(#node.gpus == 2)
      end
      assert(c:svg { node0001 = { "x" } })
      assert(not c:svg { x = { "x" } } and not c:node("x"))
      assert(not openpai.cluster.parse("nodes: 3"))
      assert(openpai.cluster.from_machines { { topology = t } })
      assert(not pcall(openpai.cluster.from_machines, { {} }))
      assert(machine():affinity({ 0, 1 }).cpus and t:text { "x" })
      assert(not t:affinity { 7 } and not openpai.topology.parse_xml("<x"))
      local a = openpai.allocation.parse("node 0: gpu 0-3 port 7")
      assert(a:union(a):nodes() and not a:give(a))
      local s = openpai.sampler.new { nvml = "", paths = { root } }
      assert(s:take())
    end
    collectgarbage()
    collectgarbage()
  end
  shared.leaks_nothing(work, 200, 2000)
end

shared.run(tests)
