-- What the Lua module promises beyond smoke.lua.  Usage: test_lua.lua ROOT
local openpai = require "openpai"
local root = arg[1]

local function text(command, cpus)
  return ([[
protocolVersion: 2
name: t
type: job
taskRoles:
  main:
    instances: 1
    dockerImage: none
    resourcePerInstance: { cpu: %d, memoryMB: 1, gpu: 0 }
    commands:
      - %s
]]):format(cpus or 1, command)
end

local function job(command, cpus)
  return assert(openpai.job.parse(text(command, cpus)))
end

local function run(command, on_event)
  return openpai.run(job(command), { root = root, on_event = on_event })
end

local function raises(pattern, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error was raised")
  assert(tostring(message):find(pattern), message)
end

local function is_whole(n) -- and looks it
  return type(n) == "number" and tostring(n):find("^%d+$") ~= nil
end

-- Says its process id, then sleeps longer than any test.
local sleep = "echo $$; exec sleep 1000"

local function is_alive(pid)
  local ok = os.execute("kill -0 " .. pid:match("%d+") .. " 2> /dev/null")
  return ok == true or ok == 0
end

local tests = {}

function tests.load()
  local path = root .. "/job.yaml"
  local file = assert(io.open(path, "w"))
  file:write(text("exit 0"))
  file:close()
  local j = assert(openpai.job.load(path))
  assert(j:name() == "t" and tostring(j) == "t")
  assert(type(j:notes()) == "table")
  assert(is_whole(j:task_count()) and is_whole(j:roles()[1].instances))
end

function tests.errors()
  local none, message, code, detail = openpai.job.parse(
    "protocolVersion: 2\nname: t\ntype: job\ntaskRole: {}\n")
  assert(none == nil and code == "PAI_EINVAL" and detail.code == code)
  assert(detail.line == 4 and detail.column == 1)
  assert(type(detail.pointer) == "string" and detail.retriable == false)
  assert(message == "line 4, column 1: " .. detail.message .. "\nhelp: " ..
         detail.help)
  none, message, code, detail = openpai.job.load(root .. "/missing.yaml")
  assert(none == nil and code == "PAI_ENOTFOUND" and detail.line == nil)
  assert(message:find("missing.yaml", 1, true))
  none, message, code = openpai.job.parse("name: \0")
  assert(none == nil and message ~= "" and code == "PAI_EINVAL")
  none, message, code = openpai.run(job("exit 0", 1000000), { root = root })
  assert(none == nil and message ~= "" and code == "PAI_ENOROOM")
  none, message, code = openpai.run(job("exit 0"), { root = arg[0] })
  assert(none == nil and message ~= "" and code == "PAI_EEXISTS")
end

function tests.misuse()
  local j = job("exit 0")
  raises("", openpai.job.load)
  raises("string", openpai.job.load, {})
  raises("zero bytes", openpai.job.load, "a\0b")
  raises("string", openpai.job.parse, nil)
  raises("Job", openpai.run, nil)
  raises("Job", openpai.run, io.stdout)
  raises("Job", j.name, nil)
  raises("table", openpai.run, j, "root")
  raises("options are", openpai.run, j, { rot = root })
  raises("options are", openpai.run, j, { root })
  raises("root", openpai.run, j, { root = true })
  raises("on_event", openpai.run, j, { on_event = "print" })
end

function tests.events()
  local events = {}
  local state, code = run([["printf 'a\\0b'; printf x >&2; exit 2"]],
    function(e) events[#events + 1] = e end)
  assert(state == "failed" and code == 2)
  local first, last, streams = events[1], events[#events], {}
  assert(first.type == "job" and first.state == "running")
  assert(first.code == nil and first.role == nil and first.index == nil)
  assert(first.attempt == 0 and first.time_us > 1e15)
  assert(math.abs(first.time - first.time_us / 1e6) < 1)
  assert(last.type == "job" and last.state == "failed" and last.code == 2)
  assert(last.text:find("main"))
  for _, e in ipairs(events) do
    if e.type == "output" then
      assert(e.state == nil and e.role == "main" and e.index == 0)
      streams[e.stream] = e.text
    end
  end
  assert(streams.stdout == "a\0b" and streams.stderr == "x")
end

function tests.callback_raises()
  local mine, pid = {}, nil
  local ok, raised = pcall(run, sleep, function(e)
    if e.type == "output" then
      pid = e.text
      error(mine)
    end
  end)
  assert(not ok and raised == mine)
  assert(not is_alive(pid))
end

function tests.nested()
  local inner
  local state = run("echo x", function(e)
    if e.type == "output" then
      inner = { run("exit 4") }
    end
  end)
  assert(state == "succeeded")
  assert(inner[1] == "failed" and inner[2] == 4)
end

function tests.coroutine()
  local platform = coroutine.wrap(function()
    return openpai.platform.open { root = root, on_event = function(e)
      coroutine.wrap(function()
        collectgarbage()
        assert(e.job == 1)
      end)()
    end }
  end)()
  collectgarbage() -- the coroutine that opened it is gone
  local id = assert(platform:submit(job("echo x; exit 3")))
  local state, code = coroutine.wrap(function()
    return platform:wait(id)
  end)()
  assert(state == "failed" and code == 3)
  assert(platform:close())
end

function tests.platform()
  local states = {}
  local platform = assert(openpai.platform.open {
    root = root,
    on_event = function(e)
      if e.type == "job" then
        states[#states + 1] = e.job .. " " .. e.state
      end
    end
  })
  local one = assert(platform:submit(job("exit 3")))
  local state, code = platform:wait(one)
  assert(is_whole(one) and state == "failed" and code == 3)
  state, code = platform:state(one)
  assert(state == "failed" and code == 3)
  assert(io.open(platform:dir(one)))
  local two = assert(platform:submit(job(sleep)))
  state, code = platform:state(two)
  assert(state == "waiting" and code == nil)
  assert(is_whole(platform:fileno()) and platform:timeout_ms() >= -1)
  while #states < 3 do
    assert(platform:dispatch())
  end
  assert(platform:stop(two))
  assert(select(3, platform:forget(two)) == "PAI_EBUSY")
  assert(platform:wait(two) == "stopped")
  assert(platform:forget(one))
  assert(select(3, platform:state(one)) == "PAI_ENOTFOUND")
  for _, call in ipairs { "stop", "wait", "state", "dir" } do
    local none, message, name = platform[call](platform, 99)
    assert(none == nil and name == "PAI_ENOTFOUND" and message ~= "")
  end
  assert(platform:close() and platform:closed() and platform:close())
  local none, _, name = platform:state(two)
  assert(none == nil and name == "PAI_EINVAL")
  assert(table.concat(states, ",") ==
    "1 running,1 failed,2 running,2 stopping,2 stopped")
end

function tests.platform_callback_raises()
  local mine, first = {}, nil
  local platform = assert(openpai.platform.open {
    root = root,
    on_event = function(e)
      if e.job == first and e.type == "output" then
        error(mine)
      end
    end
  })
  first = assert(platform:submit(job(sleep)))
  local second = assert(platform:submit(job(sleep)))
  local ok, raised = pcall(platform.wait, platform, second)
  assert(not ok and raised == mine)
  assert(platform:state(first) == "stopped")
  assert(platform:state(second) == "running")
  local state, code = platform:wait(assert(platform:submit(job("exit 6"))))
  assert(state == "failed" and code == 6)
  assert(platform:close())
end

function tests.re_entry()
  local platform, names = nil, {}
  platform = assert(openpai.platform.open {
    root = root,
    on_event = function(e)
      names[#names + 1] = select(3, platform:wait(e.job))
      names[#names + 1] = select(3, platform:dispatch())
      names[#names + 1] = select(3, platform:close())
    end
  })
  assert(platform:wait(assert(platform:submit(job("exit 0")))) == "succeeded")
  assert(#names >= 3 and names[1] == "PAI_EBUSY" and names[3] == names[1])
  assert(platform:close())
end

-- As lua(1) makes of Ctrl-C: a hook that raises.
function tests.hook()
  local pid
  local ok, message = pcall(run, sleep, function(e)
    if e.type == "output" then
      pid = e.text
      debug.sethook(function()
        debug.sethook()
        error("interrupted!")
      end, "c")
    end
  end)
  assert(not ok and message:find("interrupted!"))
  assert(not is_alive(pid))
end

function tests.unclosed()
  local pid
  local platform = assert(openpai.platform.open {
    root = root,
    on_event = function(e)
      pid = e.type == "output" and e.text or pid
    end
  })
  assert(platform:submit(job(sleep)))
  while not pid do
    platform:dispatch()
  end
  platform = nil
  collectgarbage()
  collectgarbage()
  assert(not is_alive(pid))
end

local function memory() -- of the process, in KiB
  for line in io.lines("/proc/self/status") do
    if line:find("^VmRSS") then
      return tonumber(line:match("%d+"))
    end
  end
end

function tests.leaks()
  local good, bad = text("exit 0"), text("exit 0"):gsub("name", "nme")
  local function work(times)
    for _ = 1, times do
      assert(#openpai.job.parse(good):roles() == 1)
      assert(openpai.job.parse(bad) == nil)
    end
    for _ = 1, times / 50 do
      local platform = assert(openpai.platform.open { root = root,
        on_event = print })
      assert(platform:close())
    end
    collectgarbage()
    collectgarbage()
  end
  work(1000)
  local lua, process = collectgarbage("count"), memory()
  work(50000) -- so that even small things would add up
  assert(collectgarbage("count") - lua < 16)
  assert(memory() - process < 2048)
end

local names, failed = {}, 0
for name in pairs(tests) do
  names[#names + 1] = name
end
table.sort(names)
for _, name in ipairs(names) do
  local ok, message = xpcall(tests[name], debug.traceback)
  print((ok and "ok      " or "FAILED  ") .. name)
  if not ok then
    print(message)
    failed = failed + 1
  end
end
os.exit(failed == 0 and 0 or 1, true)
