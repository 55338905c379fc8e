-- What the Lua module promises of schedulers and policies.
-- Usage: test_lua_sched.lua ROOT
local openpai = require "openpai"
local root = arg[1]
local shared = require "lua_tests"
local raises, fails = shared.raises, shared.fails

local function cluster(description)
  return assert(openpai.cluster.synthetic(
    description or "nodes:2 gpu:8:h100 cpus:16 mem:64G"))
end

local function scheduler(policy, description)
  return assert(openpai.scheduler(cluster(description), { policy = policy }))
end

-- "start 1.0" of each
local function kinds(decisions)
  local list = {}
  for i, d in ipairs(assert(decisions)) do
    list[i] = ("%s %d.%d"):format(d.kind, d.id, d.instance)
  end
  return table.concat(list, ", ")
end

-- Who fits, in the order in which they came.
local function greedy()
  local policy = { asked = 0 }
  function policy:decide(host)
    self.asked = self.asked + 1
    for id in host:waiting() do
      while host:start(id, "pack") do
      end
    end
  end
  return policy
end

-- Does what a function of the test says.
local function asked(what)
  return { decide = function(_, host) what(host) end }
end

local tests = {}

function tests.fractions_of_cpus()
  local s = scheduler("fifo", "nodes:1 gpu:1 cpus:1")
  assert(s:submit { id = 1, cpus = 0.5 })
  assert(s:submit { id = 2, cpus = 0.1 + 0.2 })
  assert(s:submit { id = 3, wants = { { cpus = 0.25 } } })
  assert(kinds(s:decide()) == "start 1.0, start 2.0")
  assert(s:request(1).wants[1].cpus == 0.5)
  assert(s:nodes()[1].free_cpus == 0.2)
  assert(s:explain(3):find("no node has 0.25 CPUs free", 1, true))
  assert(s:change(3, { cpus = 0.2 }))
  assert(kinds(s:decide()) == "start 3.0")
  fails("PAI_EINVAL", s:submit { id = 4, cpus = 0.0001 })
  fails("PAI_EINVAL", s:submit { id = 4, cpus = 1e-10 })
  fails("PAI_EINVAL", s:submit { id = 4, cpus = "half" })
  -- A time of today is a whole number, whatever Lua calls it.
  assert(s:submit({ id = 5, cpus = 1.0 },
                  1795951377.0 * 1e6))
end

function tests.gang()
  local s = scheduler("fifo")
  assert(s:submit({ id = 1, tasks = 2, gpus = 8, ports = 1, cpus = 2,
                    memory = 2 ^ 30, name = "train" }, 10))
  assert(s:submit { id = 2, gpus = 1, user = "bob" })
  local made = assert(s:decide(20))
  local d = made[1]
  assert(#made == 1 and d.kind == "start" and d.id == 1 and d.count == 2)
  assert(d.time == 20 and d.cause == nil)
  assert(d.tasks[1].node == "node0001" and d.tasks[2].node == "node0002")
  assert(#d.tasks[2].gpus == 8 and d.tasks[1].cpus == "0-1")
  assert(#d.tasks[1].ports == 1 and d.tasks[1].memory == 2 ^ 30)
  assert(kinds(s:decisions()) == "start 1.0" and s:now() == 20)
  assert(#s:places(1) == 2 and s:places(1, 0)[2].node == "node0002")
  assert(tostring(s:allocation(1)):find("^node 0"))
  fails("PAI_ENOTFOUND", s:allocation(2))
  fails("PAI_ENOTFOUND", s:places(2))
  assert(tostring(s):find("0 of 16 GPUs free"))
  assert(#s:queue() == 1 and s:queue()[1].lack == "gpu")
  assert(#s:requests() == 2 and s:request(2).user == "bob")
  assert(s:explain(2):find("^Request 2 waits") and s:reason(2).lack == "gpu")
end

function tests.events()
  local s = scheduler()
  assert(s:submit { id = 1, gpus = 8, instances = 2, limit = 100 })
  assert(kinds(s:decide(0)) == "start 1.0, start 1.1")
  assert(s:submit { id = 2, held = true, after = { 1 },
                    wants = { { gpus = 1, name = "ps" },
                              { gpus = 2, tasks = 2 } } })
  assert(s:started(1, 0, 1) and s:started(1, 1))
  assert(s:next_time() == 101)
  assert(s:finished(1, 0, false) and s:returned(1, 1))
  assert(kinds(s:decide(200)) == "start 1.1" and s:next_time() == nil)
  assert(s:change(2, { held = false, priority = 7 }))
  assert(s:request(2).priority == 7 and #s:request(2).wants == 2)
  assert(s:finished(1, 1) and #s:decide() == 0)
  assert(s:reason(2).lack == "after")
  assert(s:change(2, { after = 1 }) and kinds(s:decide()) == "start 2.0")
  assert(s:cancel(2))
  local stop = s:decide()[1]
  assert(stop.kind == "stop" and stop.cause == "cancelled" and
         #stop.tasks == 0)
  assert(s:finished(2) and #s:requests() == 0)
end

function tests.nodes()
  local s = scheduler()
  assert(s:node("node0001", "drain", "new disks"))
  assert(s:node("node0002", "sick", "Xid 79", 3))
  local nodes = s:nodes()
  assert(nodes[1].state == "drain" and nodes[1].why == "new disks")
  assert(nodes[2].sick_gpus[1] == 3 and #nodes[2].free_gpus == 7)
  assert(s:submit { id = 1, gpus = 8 } and #s:decide() == 0)
  assert(s:cluster(cluster("nodes:3 gpu:8:h100 cpus:16 mem:64G")))
  assert(s:decide()[1].tasks[1].node == "node0003")
  assert(s:reserve { name = "night", from = 5, to = 9,
                     nodes = { "node0003" } })
  assert(s:unreserve("night"))
  fails("PAI_ENOTFOUND", s:unreserve("night"))
  assert(s:set_shadow("backfill") and s:sums().shadow == "backfill")
  local mine = { name = "mine" }
  function mine:decide(host)
    for id in host:waiting() do
      host:start(id, "pack")
    end
  end
  assert(s:set_shadow(mine) and s:sums().shadow == "mine")
  local fork = assert(s:fork())
  assert(fork:shadow_decisions() == nil and fork:set_shadow(mine))
  assert(fork:submit { id = 90, gpus = 1 } and fork:shadow_decisions() == nil)
  assert(fork:decide()[1].agreed == true)
  assert(fork:shadow_decisions()[1].id == 90)
  assert(fork:shadow_decisions()[1].agreed == true)
  local saved = assert(s:save())
  fails("PAI_ENOTFOUND", openpai.scheduler.load(saved))
  assert(openpai.scheduler.load(saved, nil, mine):save() == saved)
  assert(s:set_policy(mine) and s:sums().policy == "mine")
  assert(s:set_shadow() and s:sums().shadow == nil)
  assert(s:set_policy("backfill", { place = "spread" }))
  assert(s:sums().policy == "backfill")
  assert(s:virtual_clusters()[1].name == "default")
  assert(s:running()[1].id == 1)
  assert(openpai.policies()[1].name == "fifo")
end

function tests.wrong()
  local s = scheduler()
  assert(s:submit({ id = 1, gpus = 1 }, 7))
  local before = s:save()
  fails("PAI_EEXISTS", s:submit { id = 1, gpus = 1 })
  fails("PAI_ENOROOM", s:submit { id = 2, gpus = 9 })
  fails("PAI_EINVAL", s:submit({ id = 2, gpus = 1 }, 6))
  assert(fails("PAI_EINVAL", s:submit { id = 2, x = 1 }).pointer ==
         "/request/x")
  fails("PAI_EINVAL", s:submit { id = "two", gpus = 1 })
  fails("PAI_EINVAL", s:send("{"))
  fails("PAI_EINVAL", s:send { event = "x" })
  fails("PAI_EINVAL", s:change(1, { colour = 1 }))
  fails("PAI_ENOTFOUND", s:finished(1))
  fails("PAI_EINVAL", s:decide(3))
  fails("PAI_ENOTFOUND", s:request(3))
  fails("PAI_ENOTFOUND", s:explain(3))
  fails("PAI_EIO", s:log(root .. "/no/log"))
  fails("PAI_ENOTFOUND", openpai.scheduler(cluster(), { policy = "no" }))
  fails("PAI_EINVAL", openpai.scheduler(cluster(),
                                        { options = { plce = "pack" } }))
  fails("PAI_EINVAL", openpai.scheduler.load("{}"))
  raises("a request is a table", s.submit, s, 3)
  raises("an event is a table", s.send, s, 3)
  raises("by wants", s.submit, s, { id = 2, gpus = 1, wants = { {} } })
  raises("cannot be written as JSON", s.submit, s, { id = print })
  raises("a policy is a name", openpai.scheduler, cluster(), { policy = {} })
  raises("options are policy", openpai.scheduler, cluster(), { plicy = 1 })
  raises("a Cluster is wanted", openpai.scheduler, 3)
  raises("a Cluster is wanted", s.cluster, s, 3)
  raises("table expected", s.core.log, s.core, 3)
  assert(s:save() == before)
end

local function day(s)
  local list = {}
  for i = 1, 8 do
    assert(s:submit({ id = i, tasks = 1 + i % 3, gpus = 1 + i % 5 }, 10 * i))
    list[#list + 1] = kinds(s:decide(10 * i + 1))
  end
  return table.concat(list, ", ")
end

local function replayed(log, policy)
  local list = {}
  for d in openpai.scheduler.replay(log, policy) do
    list[#list + 1] = d
  end
  return kinds(list)
end

function tests.logs()
  local s, path = scheduler("backfill"), root .. "/sched.log"
  assert(s:log(path))
  local made = day(s):gsub(", , ", ", "):gsub(", $", "")
  assert(s:log() and s:submit { id = 99, gpus = 1 })
  local function tidy(text)
    return (text:gsub(", , ", ", "):gsub(", $", ""))
  end
  assert(replayed(path) == tidy(made))
  local lines = {}
  for line in io.lines(path) do
    lines[#lines + 1] = line
  end
  local at = 1
  raises("snapshot", replayed, function()
    at = at + 1
    return lines[at]
  end)
  assert(replayed(function() end) == "")
  raises("No such file", function() replayed(root .. "/none") end)
end

function tests.log_of_a_policy()
  local lines = {}
  local s = scheduler(greedy())
  assert(s:log(function(line) lines[#lines + 1] = line end))
  assert(s:submit { id = 1, gpus = 1, instances = 2 })
  assert(kinds(s:decide()) == "start 1.0, start 1.1")
  local function each()
    local i = 0
    return function()
      i = i + 1
      return lines[i]
    end
  end
  assert(#lines == 3)
  assert(replayed(each(), greedy()) == "start 1.0, start 1.1")
  raises("lua", replayed, each())
  local text = s:save()
  local again = greedy()
  local other = assert(openpai.scheduler.load(text, again))
  assert(other:save() == text and again.asked == 1)
  local ok, e = pcall(s.log, s, { write = function() error({ "full" }) end })
  assert(not ok and e[1] == "full")
end

function tests.writer_raises()
  local s, n = scheduler(), 0
  assert(s:log(function()
    n = n + 1
    if n > 1 then
      error({ full = n })
    end
  end))
  local ok, e = pcall(s.submit, s, { id = 1, gpus = 1 })
  assert(not ok and e.full == 2)
  assert(#s:requests() == 1) -- it was taken
  assert(s:submit { id = 2, gpus = 1 }) -- the log has ended
end

function tests.policies()
  local policy = greedy()
  local s = scheduler(policy)
  assert(s:submit { id = 1, gpus = 8, instances = 4 })
  assert(kinds(s:decide()) == "start 1.0, start 1.1")
  assert(policy.asked == 1 and s:sums().policy == "lua")
  local fork = assert(s:fork())
  assert(fork:finished(1) and kinds(fork:decide()) == "start 1.2")
  assert(policy.asked == 1) -- forks have copies
end

function tests.host()
  local s
  s = scheduler(asked(function(host)
    local ids = {}
    for id in host:waiting() do
      ids[#ids + 1] = id
    end
    assert(#ids == 2 and ids[1] == 2)
    assert(host:request(2).name == "x" and host:node(1).name == "node0002")
    assert(#host:nodes() == 2 and host:now() == 0 and #host:placed() == 0)
    fails("PAI_ENOTFOUND", host:node(2))
    fails("PAI_ENOTFOUND", host:start(7))
    fails("PAI_EINVAL", host:start(2, "nowhere"))
    assert(host:start_at(2, { { node = "node0002", gpus = { 6, 7 } },
                              { node = 0, gpus = { 1, 0 } } }))
    fails("PAI_EBUSY", host:start_at(3, { { node = 1, gpus = { 7 } } }))
    fails("PAI_ENOTFOUND", host:start_at(3, { { node = "no", gpus = { 7 } } }))
    raises("a list of places", host.start_at, host, 3, 3)
    assert(host:placed()[1][1] == 2)
    assert(host:refuse(3, "not on a Sunday", { ["until"] = 86400 }))
    fails("PAI_EINVAL", host:refuse(3, nil, { lack = "nothing" }))
    fails("PAI_EBUSY", s:decide())
    fails("PAI_EBUSY", s:fork())
    assert(s:sums().waiting == 2) -- one may look
  end))
  assert(s:submit { id = 1, gpus = 1, held = true })
  assert(s:submit { id = 2, tasks = 2, gpus = 2, name = "x" })
  assert(s:submit { id = 3, gpus = 1 })
  assert(kinds(s:decide()) == "start 2.0")
  assert(s:reason(3).text == "not on a Sunday" and s:reason(3)["until"] ==
         86400)
end

function tests.preemption()
  local s = scheduler(asked(function(host)
    for id in host:waiting() do
      host:start_over(id)
    end
  end), "nodes:1 gpu:8:h100")
  assert(s:submit { id = 1, gpus = 8 } and #s:decide() == 1)
  assert(s:submit { id = 2, gpus = 8, priority = 9 })
  local stop = s:decide()[1]
  assert(stop.kind == "stop" and stop.cause == "preempted" and stop.by == 2)
  assert(s:returned(1) and kinds(s:decide()) == "start 2.0")

  s = scheduler(asked(function(host)
    if not host:placed()[1] then
      host:start(1)
    else
      assert(host:resize(1, 0, 0, 2))
      assert(host:preempt(2))
    end
    host:start(2)
  end))
  assert(s:submit { id = 1, tasks = 4, min_tasks = 1, gpus = 1 })
  assert(s:submit { id = 2, gpus = 1 })
  assert(kinds(s:decide()) == "start 1.0, start 2.0")
  assert(kinds(s:decide()) == "shrink 1.0, stop 2.0")
  assert(s:resized(1) and #s:places(1) == 2)
end

function tests.policy_raises()
  local thrown, kept = {}, nil
  local s = scheduler(asked(function(host)
    kept = host
    host:start(1)
    error(thrown)
  end))
  assert(s:submit { id = 1, gpus = 1 })
  local ok, e = pcall(s.decide, s)
  assert(not ok and e == thrown)
  assert(kinds(s:decisions()) == "start 1.0")
  assert(s:finished(1)) -- it can be used further
  fails("PAI_EINVAL", kept:start(1))
  raises("call is over", function() for _ in kept:waiting() do end end)
end

function tests.trial_of_a_policy_that_raises()
  local tried = false
  local s = scheduler(asked(function(host)
    if host:start(1) then
      tried = true
      error("a trial")
    end
  end), "nodes:1 gpu:8:h100")
  assert(s:node("node0001", "drain") and s:submit { id = 1, gpus = 8 })
  assert(#s:decide() == 0)
  assert(s:reason(1).lack == "health" and tried)
  assert(#s:decide() == 0)
end

function tests.whole_policy()
  local policy = { name = "whole", lends = true, events = {} }
  function policy:open(host, options)
    self.nodes, self.depth = #host:nodes(), options.depth
  end
  function policy:decide() end
  function policy:event(host, event)
    self.events[#self.events + 1] = event
    fails("PAI_EBUSY", host:start(1))
    if event.event == "cancel" then
      error({ id = event.id })
    end
  end
  function policy:save()
    return { n = #self.events, text = "\xc3\xa4 \"\\\n\x01" }
  end
  function policy:load(saved)
    self.saved = saved
  end
  local copies = 0
  function policy:clone()
    copies = copies + 1
    return setmetatable({}, { __index = self })
  end
  local s = assert(openpai.scheduler(cluster(), {
    policy = policy, options = { depth = 3 } }))
  assert(policy.nodes == 2 and policy.depth == 3)
  assert(s:submit({ id = 1, gpus = 1 }, 4))
  assert(policy.events[1].event == "submit" and policy.events[1].id == 1 and
         policy.events[1].time == 4)
  local ok, e = pcall(s.cancel, s, 1)
  assert(not ok and e.id == 1)
  assert(assert(s:fork()):decide() and copies == 1)
  assert(s:sums().policy == "whole")
  -- Written by hand: white space, and other escapes.
  local text = s:save():gsub('{"n":2,', '{ "n" : 2 ,\t"m": [ ] , "o":{ }, ' ..
                             '"e":"\\u00e4\\ud83d\\ude00\\/", ')
  assert(openpai.scheduler.load(text, policy))
  assert(policy.saved.n == 2 and policy.saved.text == "\xc3\xa4 \"\\\n\x01")
  assert(#policy.saved.m == 0 and next(policy.saved.o) == nil)
  assert(policy.saved.e == "\xc3\xa4\xf0\x9f\x98\x80/")
  raises("takes no options", openpai.scheduler, cluster(),
         { policy = greedy(), options = { x = 1 } })
  policy = greedy()
  policy.odd = io.stdout
  raises("cannot be written", function() scheduler(policy):save() end)
end

function tests.leaks()
  local c = cluster("nodes:2 gpu:2:h100")
  local function work(times)
    for _ = 1, times do
      local s = assert(openpai.scheduler(c, { policy = greedy() }))
      assert(s:log(function() end))
      assert(s:submit { id = 1, gpus = 1 } and s:decide())
      assert(s:submit { id = 2, gpus = 2, tasks = 2 } and s:decide())
      assert(s:fork() and s:reason(2) and s:requests() and s:nodes())
      assert(openpai.scheduler.load(s:save(), greedy()))
      assert(not s:submit { id = 1 } and not s:send("{"))
      assert(not openpai.scheduler.load("{}", greedy()))
      local failing = assert(openpai.scheduler(c, {
        policy = asked(function() error({}) end) }))
      assert(not pcall(failing.decide, failing))
      assert(not pcall(openpai.scheduler, c, { policy = greedy(),
                                               options = { x = 1 } }))
    end
    collectgarbage()
    collectgarbage()
    collectgarbage()
  end
  shared.leaks_nothing(work, 300, 2000)
end

shared.run(tests)
