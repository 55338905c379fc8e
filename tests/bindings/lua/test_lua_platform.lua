-- What the Lua module promises of jobs on record: handles, logs, coroutines.
-- Usage: test_lua_platform.lua ROOT
local openpai = require "openpai"
local tests = {}
local number = 0

-- One that nobody had; a run before this may have left some.
local function new_root()
  local path
  repeat
    number = number + 1
    path = arg[1] .. "/root" .. number
    local used = io.open(path .. "/openpai.db")
    if used then
      used:close()
    end
  until not used
  os.execute("mkdir -p '" .. path .. "'")
  return path
end

-- One that reads a file of the tests runs plainly: in a sandbox nothing of a
-- platform's root is seen but what is the job's.
local function job(command, name, more)
  local plain = command:find(arg[1], 1, true)
  return assert(openpai.job.parse(([[
protocolVersion: 2
name: %s
type: job
extras: { openpai: { runtime: %s } }
jobRetryCount: %d
prerequisites:
  - { name: none, type: dockerimage, uri: none }
taskRoles:
  main:
    instances: 1
    dockerImage: none
    resourcePerInstance: { cpu: %d, memoryMB: 64, gpu: 0 }
    commands: [ %q ]
]]):format(name or "t", plain and "process" or "auto", more and more.retries or 0,
           more and more.cpus or 1, command)))
end

local function open(options)
  options = options or {}
  options.root = options.root or new_root()
  return assert(openpai.platform.open(options)), options.root
end

function tests.life()
  local p, root = open()
  assert(os.execute("mkfifo '" .. root .. "/gate'"))
  local h = assert(p:submit(job(
    "d=$(dirname $RUNTIME_LOG_PIPE); mkdir $d/ssh $d/../ssh; " ..
    "echo ssh-ed25519 AAAA > $d/ssh/host_key.pub; " ..
    "echo secret > $d/../ssh/key; echo one; read x < " .. root ..
    "/gate; exit 3", "life")))
  local log = assert(h:logs { follow = true })
  assert(log:line() == "one")
  assert(h:state() == "running" and select(2, h:state()) == nil)
  assert(h:ssh().containers[1].hostKey == "ssh-ed25519 AAAA")
  assert(h:ssh_key() == "secret\n")
  assert(tostring(h):find("running"))
  local gate = assert(io.open(root .. "/gate", "w"))
  gate:write("go\n")
  gate:close()
  assert(log:line() == nil)
  local state, code = h:wait()
  assert(state == "failed" and code == 3)
  assert(select(3, h:ssh()) == "PAI_ENOTFOUND")
  assert(select(3, h:ssh_key()) == "PAI_ENOTFOUND")
  assert(h:show().jobStatus.state == "FAILED" and h:why().state == "FAILED")
  assert(#h:events() >= 3 and #h:events("Warning") >= 1)
  assert(h:config():find("life"))
  assert(p:job("life") == h and p:job(h.id) == h)
  assert(h:tag("good"))
  assert(#p:jobs { tags = "good" } == 1 and #p:jobs { tags = "bad" } == 0)
  assert(h:untag("good") and select(3, h:untag("good")) == "PAI_ENOTFOUND")
  assert(p:status().root == root)
  assert(p:scheduler():save():find('"name":"fifo"'))
  assert(p:backup(root .. "/copy.db") and p:export(root .. "/all.jsonl"))
  assert(io.open(root .. "/copy.db"))
  assert(h:forget())
  local none, message, name = p:job("life")
  assert(none == nil and name == "PAI_ENOTFOUND" and message ~= "")
  assert(select(3, p:job(99)) == "PAI_ENOTFOUND")
  assert(p:close() and p:closed())
end

function tests.exec()
  local p = open()
  local h = assert(p:submit(job("echo up; exec sleep 1000", "exec")))
  assert(h:logs({ follow = true }):line() == "up")
  local done = assert(h:exec("cat; echo err >&2; exit 5", { input = "in" }))
  assert(done.code == 5 and done.output == "in" and done.errors == "err\n")
  done = assert(h:exec({ "printenv", "PAI_TASK_INDEX" }, { role = "main" }))
  assert(done.output == "0\n" and done.how == "exit")
  assert(select(3, h:exec("true", { role = "none" })) == "PAI_ENOTFOUND")
  assert(h:stop() and h:wait())
  assert(select(3, h:exec("true")) == "PAI_ENOTFOUND")
  p:close()
end

function tests.lines()
  local p = open()
  local h = assert(p:submit(job("printf 'a\\n\\nb\\nno end'")))
  local lines = {}
  for line in h:logs { follow = true }:lines() do
    lines[#lines + 1] = line
  end
  assert(table.concat(lines, "|") == "a||b|no end")
  assert(h:logs():read() == "a\n\nb\nno end")
  assert(h:logs { tail = 2 }:read() == "b\nno end")
  assert(h:logs { tail = 0 }:read() == "")
  assert(h:logs { since = -3600 * 1000000 }:read() == "a\n\nb\nno end")
  assert(h:logs { since = 1 }:read() == "a\n\nb\nno end")
  assert(select(3, h:logs { role = "nobody" }) == "PAI_ENOTFOUND")
  assert(not pcall(h.logs, h, { folow = true }))
  assert(p:close())
end

function tests.names()
  local p = open()
  assert(p:submit(job("true", "same")))
  assert(p:submit(job("true", "same")):show().name == "same_2")
  assert(select(3, p:submit(job("true"), { name = "same" })) == "PAI_EEXISTS")
  assert(p:submit(job("true"), { name = "other" }):show().name == "other")
  assert(p:close())
end

-- What stands over the job's file.
function tests.options()
  local p = open()
  local first = assert(p:submit(job("true", "first")))
  local h = assert(p:submit(job("true", "second"), {
    time = "90s", after = { first }, priority = "test", tags = "a,b" }))
  assert(h:wait() == "succeeded")
  local detail = h:show()
  table.sort(detail.tags)
  assert(table.concat(detail.tags, ",") == "a,b")
  local config = openpai.job.parse(h:config())
  local own = config:get("/extras/openpai")
  assert(own.timeLimit == "90s" and #own.after == 1)
  assert(own.after[1] == detail.jobStatus.username .. "~first")
  assert(config:get("/extras/hivedScheduler/jobPriorityClass") == "test")
  assert(p:submit(job("true", "third"), { after = "first,second" }))
  local _, message, code = p:submit(job("true"), { priority = "high" })
  assert(code == "PAI_EINVAL" and message:find("prod, test or oppo"), message)
  assert(select(3, p:submit(job("true"), { time = "soon" })) == "PAI_EINVAL")
  assert(select(3, p:submit(job("true"), { after = "none" })) ==
         "PAI_ENOTFOUND")
  assert(not pcall(p.submit, p, job("true"), { tme = "1s" }))
  -- Tags are looked at before there is a job.
  local before = #p:jobs()
  for _, wrong in ipairs { { ("x"):rep(600) }, ("x"):rep(600), { "a,b" },
                           { "" }, { "a\0b" }, { "good", "" } } do
    _, message, code = p:submit(job("true", "tagged"), { tags = wrong })
    assert(code == "PAI_EINVAL" and message:find("1 to 512 bytes"), message)
  end
  for _, wrong in ipairs { 3, true, { 3 } } do
    local good, text = pcall(p.submit, p, job("true"), { tags = wrong })
    assert(not good and text:find("text, not a "), text)
  end
  assert(#p:jobs() == before)
  h = assert(p:submit(job("true", "tagged"), { tags = { "a b", "c" } }))
  detail = h:show()
  table.sort(detail.tags)
  assert(table.concat(detail.tags, "|") == "a b|c")
  assert(p:close())
end

function tests.finished_jobs_are_kept_so_far()
  local p, root = open()
  for number = 1, 4 do
    assert(assert(p:submit(job("true", "t" .. number))):wait() == "succeeded")
  end
  assert(p:close())
  p = open { root = root, keep_jobs = 2 }
  assert(p:dispatch() ~= nil)
  assert(#assert(p:jobs()) == 4) -- they have just ended
  assert(p:close())
  assert(select(3, openpai.platform.open { root = root, keep_jobs = -1 }) ==
         "PAI_EINVAL")
  assert(not pcall(openpai.platform.open, { root = root, keep = 2 }))
end

function tests.stays()
  local p, root = open()
  local h = assert(p:submit(job("echo x; exec sleep 1000", "stays")))
  assert(h:logs { follow = true }:line() == "x")
  assert(select(3, openpai.platform.open { root = root }) == "PAI_EBUSY")
  assert(select(3, openpai.platform.repair(root)) == "PAI_EBUSY")
  assert(p:leave())
  p = open { root = root }
  h = assert(p:job("stays"))
  assert(h:state() == "running")
  assert(h:stop(true) and h:wait() == "stopped")
  assert(p:close())
  assert(select(3, h:why()) == "PAI_EINVAL")
end

-- What the server's answers have in each state.
function tests.why()
  local p = open()
  local cpus = p:status().machine.cpus
  local first = assert(p:submit(job("echo x; exec sleep 1000", "first",
                                    { cpus = cpus })))
  local second = assert(p:submit(job("true", "second", { cpus = cpus })))
  assert(first:logs { follow = true }:line() == "x")
  local why = assert(second:why())
  assert(why.state == "WAITING" and #why.reasons == 1)
  assert(type(why.reasons[1].text) == "string")
  assert(why.explanation:find("would start now if first"))
  assert(why.change.lack == why.reasons[1].code)
  assert(first:why().state == "RUNNING" and #first:why().reasons == 0)
  assert(second:stop() and second:wait() == "stopped")
  assert(second:why().exitSpec.reason)
  assert(first:stop(true) and first:wait() == "stopped")
  local third = assert(p:submit(job("no-such-command", "third")))
  assert(third:wait() == "failed")
  assert(third:why().failure.name == "command-not-found")
  assert(third:show().jobStatus.failure.reason:find("no-such-command", 1, true))
  assert(p:close())
end

function tests.without_records()
  local p = open { durable = false }
  local h = assert(p:submit(job("true")))
  assert(h:wait() == "succeeded")
  assert(select(3, h:why()) == "PAI_ENOTSUP")
  assert(select(3, p:jobs()) == "PAI_ENOTSUP")
  assert(p:close())
  assert(not pcall(openpai.platform.open, { durable = 1 }))
  assert(not pcall(openpai.platform.open, { rot = "x" }))
end

function tests.coroutines()
  local p = open()
  local order = {}
  local first = assert(p:submit(job("echo a", "first")))
  for i = 1, 3 do
    p:spawn(function(name)
      order[#order + 1] = name
      local log = first:logs { follow = true }
      assert(log:read() == "a\n")
      assert(first:wait() == "succeeded")
      order[#order + 1] = name
    end, "c" .. i)
  end
  assert(#order == 3) -- they wait for each other's sake
  assert(p:run() and #order == 6)
  local mine = {}
  p:spawn(function()
    p:wait(p:submit(job("true", "second")))
    error(mine)
  end)
  local ok, raised = pcall(p.run, p)
  assert(not ok and raised == mine)
  assert(p:close())
end

-- Who waits may be resumed by others; and hears that the platform is closed.
function tests.resumed_by_others()
  local p = open()
  local root = p:status().root
  assert(os.execute("mkfifo '" .. root .. "/gate'"))
  local h = assert(p:submit(job("read x < " .. root .. "/gate", "waits")))
  local times, told = 0, nil
  local thread = p:spawn(function()
    assert(h:wait() == "succeeded")
    times = times + 1
    told = { h:logs({ follow = true }):read() }
    coroutine.yield() -- for something of its own
    times = times + 1
  end)
  for _ = 1, 3 do
    assert(coroutine.resume(thread))
  end
  assert(times == 0)
  while h:state() ~= "running" do
    p:dispatch()
  end
  local gate = assert(io.open(root .. "/gate", "w"))
  gate:write("go\n")
  gate:close()
  assert(p:run() and times == 1 and told[1] == "")
  assert(coroutine.resume(thread) and times == 2)
  h = assert(p:submit(job("sleep 1000", "long")))
  local results = {}
  for _ = 1, 2 do
    p:spawn(function() table.insert(results, { h:wait() }) end)
  end
  assert(p:close() and #results == 2)
  assert(results[1][1] == nil and results[1][3] == "PAI_EINVAL")
end

-- A loop as luv's, as far as attach() needs it.
local function fake_loop()
  local uv = { opened = 0 }
  local function handle()
    uv.opened = uv.opened + 1
    return {
      start = function(self, _, a, b) self.go = b or a end,
      stop = function() end,
      close = function() uv.opened = uv.opened - 1 end,
    }
  end
  function uv.new_poll() uv.poll = handle() return uv.poll end
  function uv.new_timer()
    uv.timer = handle()
    uv.timer.start = function(self, ms, _, go) self.ms, self.go = ms, go end
    uv.timer.stop = function(self) self.ms = nil end
    return uv.timer
  end
  return uv
end

function tests.attached()
  local p, q, refused
  local uv = fake_loop()
  p = open { durable = false, on_event = function()
    refused = select(3, p:close())
  end }
  assert(p:attach(uv) and select(3, p:attach(uv)) == "PAI_EBUSY")
  assert(uv.opened == 2)
  local state
  coroutine.wrap(function()
    state = p:wait(p:submit(job("true")))
    error("mine", 0)
  end)()
  while not state do
    local ok, raised = pcall(uv.poll.go)
    assert(ok or raised == "mine")
  end
  assert(state == "succeeded" and refused == "PAI_EBUSY")
  assert(uv.opened == 2) -- a close that was refused leaves it attached
  assert(p:close() and uv.opened == 0)
end

-- Passes by who has no room, as fifo does not.
local function greedy()
  local policy = { name = "greedy" }
  function policy:decide(host)
    for id in host:waiting() do
      host:start(id)
    end
  end
  return policy
end

function tests.shadow()
  local p = open()
  local cpus = assert(p:status()).machine.cpus
  local s = assert(p:shadow(greedy()))
  local same = assert(p:shadow("fifo"))
  local first = assert(p:submit(job("sleep 1000", "first")))
  local wide = assert(p:submit(job("true", "wide", { cpus = cpus })))
  local small = assert(p:submit(job("true", "small")))
  while first:state() ~= "running" do
    p:dispatch()
  end
  if cpus > 1 then -- else there is no room left
    local starts, others = assert(s:starts()), assert(s:differences())
    assert(#starts == 2 and starts[1].id == first.id)
    assert(starts[1].live == starts[1].shadow)
    assert(starts[2].id == small.id and not starts[2].live)
    assert(#others == 1 and others[1].time == starts[2].shadow)
    assert(#others[1].live == 0 and #others[1].shadow == 1)
    local only = others[1].shadow[1]
    assert(only.kind == "start" and only.id == small.id)
    assert(only.agreed == false and #only.tasks == 1)
    assert(s:sums().shadow_decisions > s:sums().live_decisions)
  end
  assert(s:sums().policy == "fifo" and s:sums().shadow == "greedy")
  assert(#s:scheduler():queue() == 2 and s:gaps() == 0)
  assert(p:scheduler():sums().shadow == nil)
  assert(same:close())
  assert(first:stop(true) and wide:wait() == "succeeded")
  assert(small:wait() == "succeeded")
  assert(p:close())
  assert(#s:starts() == 3 and #s:differences() <= 1)
  for _, start in ipairs(s:starts()) do
    assert(start.live >= start.shadow)
  end
  assert(#same:starts() == 1 or cpus == 1) -- it has ended before
  assert(#same:differences() == 0)
end

-- What it raises comes out of the look, as it is; the platform goes on.
function tests.shadow_that_raises()
  local p = open()
  local mine, where = { "mine" }, "decide"
  local bad = {}
  local function raise(name)
    return function(self)
      if where == name then
        error(mine, 0)
      end
      return self
    end
  end
  bad.decide, bad.event, bad.clone =
    raise("decide"), raise("event"), raise("clone")
  local s = assert(p:shadow(bad))
  for _, name in ipairs { "decide", "event", "clone" } do
    where = name
    local failed = s:sums().shadow_failed
    assert(p:submit(job("true", "is_" .. name)):wait() == "succeeded")
    local good, raised = pcall(s.starts, s)
    assert(not good and raised == mine)
    where = nil
    assert(s:sums().shadow_failed > failed)
  end
  assert(#s:starts() == 3)
  assert(not pcall(p.shadow, p) and not pcall(p.shadow, p, 3))
  assert(not pcall(p.shadow, p, greedy(), { depth = 3 }))
  assert(select(3, p:shadow("no")) == "PAI_ENOTFOUND")
  assert(select(3, p:shadow("fifo", { depth = 3 })) == "PAI_EINVAL")
  assert(p:submit(job("true")):wait() == "succeeded")
  assert(p:close())
  assert(select(3, p:shadow("fifo")) == "PAI_EINVAL")
end

-- A shadow that is told of another scheduler, and what else is said to it.
local function shadow_of(other)
  local lines = {}
  local p = open { durable = false }
  local s = assert(p:shadow(greedy()))
  local function say(line)
    lines[#lines + 1] = line
  end
  assert(s:close() and p:close())
  s.follower = { read = function()
    local text = table.concat(lines)
    lines = {}
    return text
  end }
  assert(other:log(say))
  return s, say
end

local function small_scheduler()
  return assert(openpai.scheduler(assert(
    openpai.cluster.synthetic("nodes:1 gpu:4"))))
end

-- What does not fit is told once; then it waits for a snapshot.
function tests.shadow_that_lost_something()
  local other = small_scheduler()
  local s, say = shadow_of(other)
  assert(other:submit { id = 1, gpus = 1 } and #other:decide() == 1)
  assert(#s:starts() == 1 and s:gaps() == 1)
  say('{"event":"finished","time":0,"id":77}\n')
  assert(other:submit { id = 2, gpus = 1 } and #other:decide() == 1)
  local answer, message, code = s:starts()
  assert(answer == nil and message:find("77") and code == "PAI_ENOTFOUND")
  assert(#s:starts() == 1 and s:sums().live_decisions == 1)
  assert(other:submit { id = 3, gpus = 1 } and #other:decide() == 1)
  assert(#s:starts() == 1)
  for _ = 1, 2 do
    say('{"snapshot":1}\n')
    assert(select(3, s:sums()) == "PAI_EINVAL")
    assert(s:sums().live_decisions == 1 and s:gaps() == 1)
  end
  assert(other:log() and other:log(say))
  assert(s:gaps() == 2 and s:sums().live_decisions == 1)
  assert(other:submit { id = 4, gpus = 1 } and #other:decide() == 1)
  assert(s:sums().live_decisions == 2 and s:starts()[2].id == 4)
end

-- Of what it alone would have done, not all is kept for ever.
function tests.shadow_of_many()
  local other = small_scheduler()
  local s = shadow_of(other)
  assert(other:submit { id = 1, gpus = 3 } and #other:decide() == 1)
  assert(other:submit { id = 2, gpus = 4 }) -- fifo waits for that
  local kept = 0
  for id = 3, 10500 do
    assert(other:submit { id = id, gpus = 1 } and #other:decide() == 0)
    assert(other:cancel(id))
    other:decide()
    if id % 500 == 0 then
      assert(#s:differences() == math.min(id - 2, 1000))
    end
  end
  for _ in pairs(s.told) do
    kept = kept + 1
  end
  assert(kept < 1000)
end

function tests.many_lines()
  local p = open()
  local h = assert(p:submit(job("seq 200000", "many")))
  assert(h:wait() == "succeeded")
  local count = 0
  for line in h:logs():lines() do
    count = count + 1
    assert(line == tostring(count))
  end
  assert(count == 200000)
  assert(p:close())
end

function tests.luv()
  local found, uv = pcall(require, "luv")
  if not found then
    print("skipped: no luv")
    return
  end
  local p = open()
  local state, code
  assert(p:attach(uv))
  coroutine.wrap(function()
    local h = assert(p:submit(job("echo a; exit 7", "luv", { retries = 1 })))
    assert(h:logs { follow = true }:line() == "a")
    state, code = h:wait()
    assert(p:close()) -- so that the loop has nothing left
  end)()
  assert(state == nil)
  uv.run()
  assert(state == "failed" and code == 7)
end

local names = {}
for name in pairs(tests) do
  names[#names + 1] = name
end
table.sort(names)
for _, name in ipairs(names) do
  tests[name]()
  print("ok " .. name)
end
