-- What the Lua module promises beyond smoke.lua.  Usage: test_lua.lua ROOT
local openpai = require "openpai"
local root = arg[1]
local shared = require "lua_tests"
local raises = shared.raises

local function text(command, cpus)
  return ([[
protocolVersion: 2
name: t
type: job
prerequisites: [{ name: none, type: dockerimage, uri: none }]
taskRoles:
  main:
    instances: 1
    dockerImage: none
    resourcePerInstance: { cpu: %d, memoryMB: 64, gpu: 0 }
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

local function is_whole(n) -- and looks it
  return type(n) == "number" and tostring(n):find("^%d+$") ~= nil
end

-- Says a number and sleeps so many seconds, longer than any test.  Process ids
-- are a sandbox's own; this is to be seen from outside.
local sleep = "n=$((RANDOM * 32768 + RANDOM + 100000)); echo $n; "
  .. "exec sleep $n"

local function is_alive(number)
  local ok = os.execute("pgrep -xf 'sleep " .. number:match("%d+")
    .. "' > /dev/null")
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

function tests.all_fields()
  local j = assert(openpai.job.parse(text("exit 0")))
  local role = j:roles()[1]
  assert(j:virtual_cluster() == "default" and j:deployment() == nil)
  assert(j:description() == nil and j:contributor() == nil)
  assert(j:gang() == true)
  assert(role.min_failed == 1 and role.min_succeeded == role.instances)
  assert(role.shm_mb == 512 and role.task_retry_count == 0)
  assert(role.infiniband == false and role.data == nil)
  assert(role.ports.ssh == 1 and is_whole(role.ports.http))
  assert(#role.prerequisites == 0)
  local image = j:prerequisites()[1]
  assert(image.name == role.image and image.type == "dockerimage")
  assert(#image.uris == 1 and image.has_auth == false and not image.plugin)
  j = assert(openpai.job.parse((text("exit 0"):gsub(
    "type: job", 'type: job\ndescription: "\\t \\"x\\""'))))
  assert(j:description() == "\t \"x\"")
end

function tests.errors()
  local none, message, code, detail = openpai.job.parse(
    "protocolVersion: 2\nname: t\ntype: job\ntaskRoles: {}\n")
  assert(none == nil and code == "PAI_EINVAL" and detail.code == code)
  assert(detail.line == 4 and detail.column == 12)
  assert(type(detail.pointer) == "string" and detail.retriable == false)
  assert(message == "line 4, column 12: " .. detail.message .. "\nhelp: " ..
         detail.help)
  none, message, code, detail = openpai.job.load(root .. "/missing.yaml")
  assert(none == nil and code == "PAI_ENOTFOUND" and detail.line == nil)
  assert(message:find("missing.yaml", 1, true))
  assert(detail.file == root .. "/missing.yaml")
  local file = assert(io.open(root .. "/bad.yaml", "w"))
  file:write("[]")
  file:close()
  none, message, code, detail = openpai.job.load(root .. "/bad.yaml")
  assert(none == nil and detail.file == root .. "/bad.yaml")
  assert(message:find(detail.file .. ", line 1, column 1: ", 1, true) == 1)
  none, message, code = openpai.job.parse("name: \0")
  assert(none == nil and message ~= "" and code == "PAI_EINVAL")
  none, message, code = openpai.run(job("exit 0", 1000000), { root = root })
  assert(none == nil and message ~= "" and code == "PAI_ENOROOM")
  none, message, code = openpai.run(job("exit 0"), { root = arg[0] })
  assert(none == nil and message ~= "" and code == "PAI_EEXISTS")
end

function tests.check()
  local report = assert(openpai.job.check(text("exit 0")))
  assert(report.valid == true and report.version == 2 and #report == 0)
  local bad = "nme: t\nprotocolVersion: 2\n"
  report = openpai.job.check(bad)
  local first = report[1]
  assert(report.valid == false and report.version == 2 and #report > 1)
  assert(first.severity == "error" and first.code == "unknown-key")
  assert(first.pointer == "/nme" and first.line == 1 and first.column == 1)
  assert(first.end_line == 1 and first.end_column == 4)
  assert(first.source == "nme: t" and first.source_column == 1)
  assert(first.message:find("nme") and first.help:find("name"))
  assert(openpai.job.check("[").version == nil)
  assert(openpai.job.check("{}", { version = 1 }).version == 1)
  local hived = text("exit 0") .. "extras: { hivedScheduler: 1 }\n"
  assert(openpai.job.check(hived).valid)
  assert(not openpai.job.check(hived, { hived = true }).valid)
  local none, message, code, detail = openpai.job.parse(bad)
  assert(none == nil and message ~= "" and code == "PAI_EINVAL")
  assert(#detail.report == #report and detail.report.valid == false)
  assert(detail.report[1].message == detail.message)
  none, message, code = openpai.job.check("{}", { version = 3 })
  assert(none == nil and message ~= "" and code == "PAI_EINVAL")
  local path = root .. "/check.yaml"
  local file = assert(io.open(path, "w"))
  file:write(bad)
  file:close()
  assert(#openpai.job.check_file(path) == #report)
  assert(select(3, openpai.job.check_file(root)) == "PAI_EIO")
  assert(select(3, openpai.job.check_file(root .. "/no")) == "PAI_ENOTFOUND")
end

function tests.editing()
  local slips = "typ: job\nprotocolVersion: '2'\nname: 12\n"
  local report = openpai.job.check(slips)
  local fix
  for _, found in ipairs(report) do
    if found.code == "unknown-key" then
      fix = found.fixes[1]
    end
  end
  assert(fix.title == "write 'type'" and fix.sure == true and #fix.edits == 1)
  local edit = fix.edits[1]
  assert(edit.line == 1 and edit.column == 1 and edit.end_line == 1)
  assert(edit.end_column == 4 and edit.text == "type")
  assert(#openpai.job.check("name: n")[1].fixes <= 1)
  assert(openpai.job.fix(slips)
    == "type: job\nprotocolVersion: '2'\nname: \"12\"\n")
  assert(openpai.job.fix("a: 1", { hived = true }) ~= nil)
  assert(select(3, openpai.job.fix("a: 1", { version = 3 })) == "PAI_EINVAL")
  local place = openpai.job.at("a:\n  b: 1\n  ", 3, 3)
  assert(place.pointer == "/a" and place.on == "space" and place.may_key)
  assert(not place.may_value and place.valid and place.key.line == 1)
  place = openpai.job.range("a:\n  b: 1\n", "/a/b")
  assert(place.value.line == 2 and place.value.column == 6)
  assert(select(3, openpai.job.at("a: 1", 9, 1)) == "PAI_ENOTFOUND")
  assert(select(3, openpai.job.range("a: 1", "/b")) == "PAI_ENOTFOUND")
  assert(select(3, openpai.job.range("a: [", "/b")) == "PAI_EINVAL")
end

function tests.writing()
  local v1 = [[{"jobName": "old", "image": "i", "taskRoles": [{"name": "main",
    "taskNumber": 2, "cpuNumber": 1, "memoryMB": 1, "command": "exit 0"}]}]]
  local j = assert(openpai.job.parse(v1))
  assert(j:name() == "old" and j:task_count() == 2)
  assert(openpai.job.check(j:to_yaml()).version == 2)
  j = assert(openpai.job.parse(text("echo <% $secrets.k %> <% $script.no %>")
    .. "secrets: { k: hunter2 }\n"))
  assert(j:unresolved()[1] == "$script.no" and #j:unresolved() == 1)
  assert(#j:missing_secrets() == 0)
  assert(j:masked():missing_secrets()[1] == "/secrets/k")
  for _, write in ipairs { j.to_yaml, j.to_json } do
    assert(not write(j):find("hunter2") and write(j):find("%*%*%*%*%*%*"))
    assert(write(j, { secrets = true }):find("hunter2"))
    assert(not write(j:masked(), { secrets = true }):find("hunter2"))
  end
  assert(j:explain():find("main") and j:explain_json():find('"main"'))
  assert(j:get("protocolVersion") == 2 and j:get("taskRoles").main)
  assert(select(3, j:get("no.such")) == "PAI_ENOTFOUND")
  assert(j:docker_config():find('"auths"', 1, true))
  assert(not (j:explain() .. j:explain_json()):find("hunter2"))
  local found
  local changed = openpai.draft.new(j:to_yaml { secrets = true })
  assert(changed:set("taskRoles.main.instances", 2))
  assert(changed:set("description", "d") and #j:diff(j) == 0)
  for _, c in ipairs(j:diff(assert(changed:job()))) do
    if c.pointer == "/description" then
      assert(c.kind == "added" and c.old == nil and c.new == "d")
    elseif c.pointer == "/taskRoles/main/instances" then
      assert(c.kind == "changed" and c.old == 1 and c.new == 2)
      found = true
    end
  end
  assert(found)
  raises("Job", j.diff, j, nil)
  assert(openpai.job.schema():find("draft%-07"))
  assert(openpai.job.schema(1) ~= openpai.job.schema(2))
  assert(openpai.job.schema() == openpai.job.schema(2))
  assert(select(3, openpai.job.schema(3)) == "PAI_EINVAL")
end

function tests.draft()
  local before = text("exit 0"):gsub("name: t", "name: t # stays")
  local d = assert(openpai.draft.new(before))
  assert(d:set("taskRoles.main.instances", 4))
  assert(d:text() == before:gsub("instances: 1", "instances: 4"))
  assert(tostring(d) == d:text() and d:job():task_count() == 4)
  assert(d:get("taskRoles.main.instances") == 4)
  assert(is_whole(d:get("taskRoles.main.instances")))
  assert(d:set("name", "4") and d:get("name") == "4")
  assert(d:set_yaml("name", "4") and d:get("name") == 4)
  local none, message, code, detail = d:job()
  assert(none == nil and code == "PAI_EINVAL" and message ~= "")
  assert(detail.report[1].pointer == "/name" and not d:check().valid)
  assert(d:check { version = 1 }.version == 1)
  assert(d:unset("name") and select(3, d:unset("name")) == "PAI_ENOTFOUND")
  assert(select(3, d:get("name")) == "PAI_ENOTFOUND")
  assert(select(3, d:set("[", 1)) == "PAI_EINVAL")
  assert(select(3, openpai.draft.new("a: [")) == "PAI_EINVAL")
  assert(openpai.draft.new():text() == "")
  d = openpai.draft.new("a:   {b:  1}  # stays\n")
  assert(d:format() and d:get("a").b == 1)
  assert(d:text():find("# stays", 1, true) and d:text():find("b: 1", 1, true))
end

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    return a == b
  end
  for key, value in pairs(a) do
    if not same(value, b[key]) then
      return false
    end
  end
  for key in pairs(b) do
    if a[key] == nil then
      return false
    end
  end
  return true
end

function tests.draft_values()
  local d = assert(openpai.draft.new())
  local odd = "\226\128\168 \194\133 \127 \239\187\191 \240\159\152\128 " ..
    "\195\188 \27 \t\n\r\b\f\"\\/'\0"
  for _, value in ipairs { true, false, 0, 4, -1, 0.1, 1e300, "", "4", "null",
    odd, {}, openpai.null, 0.1 + 0.2, { odd, { odd } }, { a = { [odd:sub(1, -2)] = 1 } },
    { 1, { b = { 0.5, "x", {}, {} } }, openpai.null, false, "end" } } do
    assert(d:set("x.y", value))
    assert(same(d:get("x.y"), value), d:text())
  end
  assert(d:set("x", nil) and d:get("x") == openpai.null)
  assert(d:set("x", 8 / 2) and d:text() == "x: 4\n")
  assert(d:set("x", { c = 1, a = 2, b = { [1] = 3 } }))
  assert(d:text() == "x:\n  a: 2\n  b:\n    - 3\n  c: 1\n")
  local before, cycle = d:text(), {}
  cycle[1] = cycle
  raises("too deep", d.set, d, "x", cycle)
  raises("function", d.set, d, "x", { print })
  raises("userdata", d.set, d, "x", d)
  raises("keys", d.set, d, "x", { [2] = 1 })
  raises("keys", d.set, d, "x", { 1, a = 2 })
  raises("zero", d.set, d, "x", { ["a\0b"] = 2 })
  raises("infinite", d.set, d, "x", 1 / 0)
  raises("infinite", d.set, d, "x", 0 / 0)
  assert(d:text() == before)
  for _ = 1, 100 do -- what lies behind a value in memory is not read
    for _, n in ipairs { -1.234567890123456e-100, 0.12345678901234568 } do
      assert(d:set("n", n) and d:get("n") == n)
    end
  end
end

function tests.misuse()
  local j = job("exit 0")
  raises("", openpai.job.load)
  raises("string", openpai.job.load, {})
  raises("zero bytes", openpai.job.load, "a\0b")
  raises("string", openpai.job.parse, nil)
  raises("string", openpai.job.check, nil)
  raises("options are", openpai.job.check, "", { hive = true })
  raises("boolean", openpai.job.check, "", { hived = 1 })
  raises("number", openpai.job.check, "", { version = "v1" })
  raises("boolean", j.to_json, j, { secrets = 1 })
  raises("table", j.to_json, j, 1)
  raises("options are", j.to_json, j, { version = 1 })
  raises("Draft", openpai.draft.new().text, j)
  raises("Draft", openpai.draft.new().text, io.stdout)
  raises("string", openpai.draft.new, {})
  raises("zero bytes", openpai.draft.new().get, openpai.draft.new(), "a\0b")
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
    return openpai.platform.open { durable = false, root = root, on_event = function(e)
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
    durable = false, root = root,
    on_event = function(e)
      if e.type == "job" then
        states[#states + 1] = e.job .. " " .. e.state
      end
    end
  })
  local one = assert(platform:submit(job("exit 3")))
  local state, code = platform:wait(one)
  assert(is_whole(one.id) and state == "failed" and code == 3)
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
    durable = false, root = root,
    on_event = function(e)
      if first and e.job == first.id and e.type == "output" then
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
    durable = false, root = root,
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
    durable = false, root = root,
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

function tests.leaks()
  local good, bad = text("exit 0"), text("exit 0"):gsub("name", "nme")
  local function work(times)
    for _ = 1, times do
      assert(#openpai.job.parse(good):roles() == 1)
      assert(openpai.job.parse(bad) == nil)
      assert(not openpai.job.check(bad).valid)
      assert(openpai.job.load(root .. "/missing") == nil)
    end
    for _ = 1, times / 10 do
      local draft = openpai.draft.new(good)
      assert(draft:set("parameters", { list = { ("x"):rep(500), 1 } }))
      assert(#draft:get("").parameters.list == 2)
      assert(not pcall(draft.set, draft, "parameters", print))
      local j = draft:job()
      assert(j:masked():to_yaml() == j:to_yaml() and j:to_json())
    end
    for _ = 1, times / 50 do
      local platform = assert(openpai.platform.open { durable = false, root = root,
        on_event = print })
      assert(platform:close())
    end
    collectgarbage()
    collectgarbage()
  end
  shared.leaks_nothing(work, 1000, 15000) -- so that even small things would add up
end

shared.run(tests)
