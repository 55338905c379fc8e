-- What the Lua module promises of commands that one speaks with.
-- Usage: test_lua_session.lua ROOT
local openpai = require "openpai"
local run = require "lua_tests"
local program = os.getenv("OPENPAI_PROGRAM")
local much = 4000000

local function job(name)
  return assert(openpai.job.parse(([[
{"protocolVersion": 2, "name": "%s", "type": "job",
 "prerequisites": [{"name": "none", "type": "dockerimage", "uri": "none"}],
 "taskRoles": {"main": {"instances": 1, "dockerImage": "none",
   "resourcePerInstance": {"cpu": 1, "memoryMB": 64, "gpu": 0},
   "commands": ["echo up; exec sleep 1000"]}}}]]):format(name)))
end

local function fails(code, part, none, message, name, detail)
  assert(none == nil and name == code and detail.code == code,
         tostring(name) .. " " .. tostring(message))
  assert(message:find(part, 1, true), message)
end

local function all(session)
  local parts = {}
  for bytes in session.read, session do
    parts[#parts + 1] = bytes
  end
  return table.concat(parts)
end

-- `open` begins one, and `host` is what they are on.
local function scenes(open, host)
  local s = assert(open("read a; echo $a; read b; echo $b >&2; cat",
                        { input = "one\n" }))
  local bytes, stream = s:read()
  assert(bytes == "one\n" and stream == "stdout")
  assert(s:write("two\n"))
  bytes, stream = s:read()
  assert(bytes == "two\n" and stream == "stderr")
  assert(s:close_input() and s:close_input())
  fails("PAI_EINVAL", "was closed", s:write("x"))
  assert(select("#", s:read()) == 1 and s:read() == nil)
  local code, how, text = s:wait()
  assert(code == 0 and how == "exit" and text == "")

  s = assert(open({ "sh" }, { tty = true, columns = 70, rows = 10 }))
  assert(s:write("stty size\n"))
  local said = ""
  while not said:find("10 70\r\n", 1, true) do
    said = said .. assert(s:read())
  end
  assert(s:resize(60, 20))
  assert(s:write("stty size; exit 3\n"))
  assert(all(s):find("20 60\r\n", 1, true) and s:wait() == 3)
  fails("PAI_EIO", "is over", s:write("late"))
  assert(s:resize(1, 1) and s:close())

  s = assert(open({ "no-such" }))
  code, how, text = s:wait()
  assert(code == 127 and how == "failed" and text ~= "")
  s = assert(open("echo up; exec sleep 1000"))
  assert(s:read() == "up\n")
  fails("PAI_EINVAL", "from 1 to 64", s:signal(65))
  assert(s:signal(15) and s:wait() == 143)

  s = assert(open("echo up; exec sleep 1000"))
  assert(s:read() == "up\n" and s:close() and s:read() == nil)
  fails("PAI_ECANCELED", "ended", s:wait())
  fails("PAI_ENOTFOUND", "", open("true", { role = "main", index = 7 }))
  fails("PAI_ENOTFOUND", "", open("true", { role = "none" }))

  -- What nobody reads is not kept.
  s = assert(open(("head -c %d /dev/zero"):format(much)))
  fails("PAI_EBUSY", "read some", s:wait())
  assert(#all(s) == much and s:wait() == 0)
  s = assert(open({ "cat" }))
  local wrote, part = 0, ("x"):rep(100000)
  while s:write(part) do
    wrote = wrote + #part
    assert(wrote < much)
  end
  fails("PAI_EBUSY", "read some", s:write(part))
  assert(s:close())

  -- One coroutine writes, another one reads.
  local got, ended = 0, nil
  host:spawn(function()
    local s = assert(open("tr x y"))
    host:spawn(function()
      for _ = 1, much / #part do
        assert(s:write(part))
      end
      assert(s:close_input())
    end)
    for bytes in s.read, s do
      assert(not bytes:find("x"))
      got = got + #bytes
    end
    ended = s:wait()
  end)
  assert(host:run() and got == much and ended == 0)

  -- What is closed while one reads it, is over for who does.
  local heard = false
  host:spawn(function()
    local s = assert(open("sleep 1000"))
    host:spawn(function()
      assert(s:read() == nil)
      heard = true
    end)
    s:close()
  end)
  assert(host:run() and heard)
end

local tests = {}

function tests.near()
  local root = arg[1] .. "/near"
  os.execute(("rm -rf '%s'; mkdir -p '%s'"):format(root, root))
  local p = assert(openpai.platform.open { root = root })
  local h = assert(p:submit(job("near")))
  assert(h:logs({ follow = true }):line() == "up")
  scenes(function(...) return h:session(...) end, p)
  local s = assert(h:session({ "cat" }))
  assert(p:leave())
  fails("PAI_ECANCELED", "ended", s:read())
  p = assert(openpai.platform.open { root = root })
  assert(p:close())
end

function tests.far()
  local root = arg[1] .. "/far"
  local function shell(verb)
    local done = os.execute(("'%s' %s --root '%s' </dev/null >/dev/null")
      :format(program, verb, root))
    assert(done == true or done == 0, verb .. " failed")
  end
  os.execute(("rm -rf '%s'"):format(root))
  shell("up")
  local good, message = xpcall(function()
    local c = assert(openpai.client { root = root })
    local name = assert(c:submit(job("far")))
    assert(c:logs(name, { role = "main", follow = true }):line() == "up")
    scenes(function(...) return c:session(name, ...) end, c)
    c:close()
  end, debug.traceback)
  shell("down --kill")
  assert(good, message)
end

run(tests)
