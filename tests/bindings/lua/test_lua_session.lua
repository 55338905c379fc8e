-- What the Lua module promises of commands that one speaks with.
-- Usage: test_lua_session.lua ROOT
local openpai = require "openpai"
local shared = require "lua_tests"
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

  assert(not pcall(s.exec.take, nil)) -- an error, not C's null pointer
  s = assert(open({ "no-such" }))
  code, how, text = s:wait()
  assert(code == 127 and how == "failed" and text ~= "")
  -- No shell: bash can lose a signal just before its exec.
  for _ = 1, 20 do -- also before the task's supervisor knows the process
    s = assert(open({ "sleep", "1000" }))
    fails("PAI_EINVAL", "from 1 to 64", s:signal(65))
    assert(s:signal(15) and s:wait() == 143)
  end

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
    assert(wrote < 16 * much) -- sockets hold some
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

-- Of a server at a port, whose users log in.
local function far(name, serve, options)
  local root = arg[1] .. "/" .. name
  os.execute(("rm -rf '%s'; mkdir -p '%s'"):format(root, root))
  local server = assert(io.popen(([[cd '%s' && %s
    echo $$; OPENPAI_ADMIN_PASSWORD='secret word' exec '%s' serve \
      --listen 127.0.0.1:0 --root . %s </dev/null 2>&1]])
    :format(root, options.before or ":", program, serve)))
  local pid, url = server:read("*l"), nil
  while not url do
    url = assert(server:read("*l"), "it is not served"):match("https?://%S+")
  end
  local good, message = xpcall(function()
    local c = assert(openpai.client {
      url = url, user = "admin", password = "secret word",
      ca_file = options.ca and root .. "/" .. options.ca })
    local job_name = assert(c:submit(job(name)))
    assert(c:logs(job_name, { role = "main", follow = true }):line() == "up")
    scenes(function(...) return c:session(job_name, ...) end, c)
    assert(c:stop(job_name) and c:wait(job_name))
    c:close()
  end, debug.traceback)
  os.execute("kill " .. pid)
  server:read("*a")
  assert(good, message)
end

function tests.tcp() far("tcp", "", {}) end

function tests.tls()
  far("tls", "--tls-cert cert.pem --tls-key key.pem", {
    ca = "cert.pem",
    before = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem " ..
      "-out cert.pem -days 2 -subj /CN=localhost " ..
      "-addext subjectAltName=IP:127.0.0.1 2> /dev/null" })
end

shared.run(tests)
