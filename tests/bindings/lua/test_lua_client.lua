-- What the Lua module promises of clients.
-- Usage: test_lua_client.lua ROOT
local openpai = require "openpai"
local shared = require "lua_tests"
local fails = shared.answers
local root = arg[1] .. "/served"
local program = os.getenv("OPENPAI_PROGRAM")

local text = [[{"protocolVersion": 2, "name": "NAME", "type": "job",
  "prerequisites": [{"name": "none", "type": "dockerimage", "uri": "none"}],
  "taskRoles": {"main": {"instances": 1, "dockerImage": "none",
    "resourcePerInstance": {"cpu": 1, "memoryMB": 64, "gpu": 0},
    "commands": ["COMMAND"]}}}]]

local function file(name, command)
  return (text:gsub("NAME", name):gsub("COMMAND", (command:gsub("%%", "%%%%"))))
end

local function shell(verb)
  local done = os.execute(("'%s' %s --root '%s' </dev/null >/dev/null"):format(
    program, verb, root))
  assert(done == true or done == 0, verb .. " failed")
end

local function client()
  return assert(openpai.client { root = root })
end

local tests = {}

function tests.blocking()
  local c = client()
  assert(c:info().server == "libopenpai" and not c:closed())
  local job = assert(c:submit(file("lua", "echo one; echo two; exit 3")))
  assert(job:find("~lua$"), job)
  local states = {}
  for change in c:watch(job) do
    states[#states + 1] = change.state
    assert((change.code ~= nil) == (change.state == "failed"))
  end
  assert(states[#states] == "failed")
  local state, code = c:wait(job)
  assert(state == "failed" and code ~= 0)
  local lines = {}
  for line in c:logs(job, { role = "main", follow = true }):lines() do
    lines[#lines + 1] = line
  end
  assert(table.concat(lines, ",") == "one,two")
  assert(c:logs(job, { offset = 4 }):read() == "two\n")
  assert(c:logs(job, { tail = 1 }):read() == "two\n")
  assert(c:logs(job, { tail = 0, follow = true }):read() == "")
  assert(c:logs(job, { since = -3600 * 1000000 }):read() == "one\ntwo\n")
  assert(c:logs(job, { since = (os.time() + 3600) * 1000000 }):read() == "")
  assert(c:config(job).name == "lua")
  assert(c:tag(job, "kept") and #c:jobs { tags = "kept" } == 1)
  assert(c:untag(job, "kept") and #c:jobs { tags = "kept" } == 0)
  fails("PAI_EEXISTS", 409, "ConflictJobError",
        c:submit(openpai.job.parse(file("lua", "true"))))
  assert(c:close() and c:closed() and c:close())
  fails("PAI_EINVAL", nil, nil, c:info())
end

-- What stands over the job's file.
function tests.options()
  local c = client()
  local first = assert(c:submit(file("before", "true")))
  local second = assert(c:submit(file("behind", "true"), {
    time = "90s", after = first, tags = "over" }))
  assert(c:wait(second) == "succeeded")
  local own = c:config(second).extras.openpai
  assert(own.timeLimit == "90s" and own.after[1] == first)
  assert(#c:jobs { tags = "over" } == 1)
  fails("PAI_EINVAL", nil, nil, c:submit(file("x", "true"),
                                         { priority = "high" }))
  -- Tags are looked at before there is a job.
  local before = #c:jobs()
  fails("PAI_EINVAL", nil, nil, c:submit(file("x", "true"),
                                         { tags = { ("x"):rep(600) } }))
  assert(not pcall(c.submit, c, file("x", "true"), { tags = 3 }))
  assert(#c:jobs() == before)
  local third = assert(c:submit(file("third", "true"), { tags = { "own" } }))
  assert(c:job(third).tags[1] == "own")
  assert(c:close())
end

function tests.exec()
  local c = client()
  local job = assert(c:submit(file("exec", "echo up; sleep 1000")))
  assert(c:logs(job, { role = "main", follow = true }):line() == "up")
  local done = assert(c:exec(job, "cat; echo err >&2; exit 5",
                             { input = "in\0" }))
  assert(done.code == 5 and done.output == "in\0" and done.errors == "err\n")
  assert(done.how == "exit" and done.text == "")
  done = assert(c:exec(job, { "printenv", "PAI_JOB_NAME" }, { role = "main" }))
  assert(done.output == job .. "\n")
  done = assert(c:exec(job, { "no-such" }))
  assert(done.code == 127 and done.how == "failed" and done.text ~= "")
  done = assert(c:exec(job, "stty size", { tty = true, columns = 7, rows = 9 }))
  assert(done.output == "9 7\r\n", done.output)
  fails("PAI_ENOTFOUND", 404, "NoTaskError",
        c:exec(job, "true", { role = "main", index = 3 }))
  local order = {} -- both at once
  for _, name in ipairs { "one", "two" } do
    c:spawn(function()
      local said = assert(c:exec(job, "cat", { input = name })).output
      order[#order + 1] = said
    end)
  end
  assert(c:run() and #order == 2)
  assert(c:stop(job) and c:wait(job))
  fails("PAI_ENOTFOUND", 404, "NoTaskError", c:exec(job, "true"))
  c:close()
end

-- It is not ready for a moment, and then it is asked again.
function tests.exec_at_once()
  local c = client()
  for i = 1, 5 do
    local job = assert(c:submit(file("soon" .. i, "sleep 1000")))
    for change in c:watch(job) do
      if change.state == "running" then
        break
      end
    end
    assert(assert(c:exec(job, "echo $0", { role = "main" })).output == "sh\n")
    assert(c:stop(job) and c:wait(job))
  end
  c:close()
end

function tests.calls()
  local c = client()
  local names = {}
  for _, call in ipairs(openpai.calls()) do
    names[call.name] = call
  end
  assert(names["users.show"].arguments[1].name == "username")
  assert(c:call("vcs.list").default)
  assert(c:call("vcs.show", { vc = "default" }).state == "running")
  -- Each call has a method, too.
  assert(c:vcs_show("default").state == "running" and c:vcs_list().default)
  assert(c:vcs_put("lua", 25, { description = "of a test" }) == true)
  assert(c:vcs_show("lua").description == "of a test")
  assert(c:vcs_remove("lua") == true)
  fails("PAI_ENOTFOUND", 404, "NoJobError", c:jobs_environment("ann~none"))
  assert(not pcall(c.vcs_show, c) and not pcall(c.vcs_show, c, {}))
  assert(not pcall(c.vcs_list, c, { node = true }))
  local body, kind = c:call("server.health")
  assert(type(body) == "string" and kind:find("^text/plain"))
  fails("PAI_ENOTFOUND", 404, "NoJobError",
        c:call("jobs.environment", { job = "ann~none" }))
  fails("PAI_EINVAL", nil, nil, c:call("vcs.shw"))
  fails("PAI_EINVAL", nil, nil, c:call("vcs.show", { v = "default" }))
  c:close()
end

function tests.errors()
  local c = client()
  fails("PAI_ENOTFOUND", 404, "NoJobError", c:job("nobody~none"))
  fails("PAI_ENOTFOUND", 404, "NoJobError", c:logs("nobody~none"))
  local answer = assert(c:request { path = "/api/v2/virtual-clusters" })
  assert(answer.http_status == 200 and answer.json.default)
  fails("PAI_ENOTFOUND", 404, "NoApiError", c:request {
    method = "PUT", path = "/api/v2/nothing", json = { a = 1 } })
  for _, wrong in ipairs { { url = "nonsense" }, { url = "ftp://x" },
                           { url = "http://x", socket = "/y" } } do
    fails("PAI_EINVAL", nil, nil, openpai.client(wrong))
  end
  local good, message = pcall(openpai.client, { uri = "http://x" })
  assert(not good and tostring(message):find("no option 'uri'"))
  assert(not pcall(c.job, c, {}))
  c:close()
  local nobody = assert(openpai.client { root = arg[1] .. "/none" })
  local none, _, code, detail = nobody:info()
  assert(detail.no_answer == "not_reached")
  assert(none == nil and code == "PAI_ENOTFOUND")
end

-- Answers all with what is in a file, until nobody asks any more.
local answering = [[
import http.server, sys

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1], "rb") as file:
            body = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.asked = self.path != "/end"

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
server.timeout, server.asked = 60, True
server.handle_timeout = lambda: setattr(server, "asked", False)
print(server.server_port, flush=True)
while server.asked:
    server.handle_request()
]]

-- Whatever a server answers is read, or refused with an error.
function tests.no_json()
  local path = arg[1] .. "/answer"
  local server = io.popen(("'%s' -c '%s' '%s'"):format(
    os.getenv("OPENPAI_PYTHON"), answering, path))
  local c = assert(openpai.client { url = "http://127.0.0.1:" ..
                                          server:read("*l") })
  local function answer(body)
    local file = assert(io.open(path, "wb"))
    file:write(body)
    file:close()
  end
  local deep = ("["):rep(100000)
  for _, body in ipairs {
    "[", "[1", "[1,", "[1,]", "[1 2]", "{", "{\"a\"", "{\"a\":", "{\"a\":1,}",
    "{\"a\" 1}", "{a:1}", "\"abc", "\"\\", "\"\\u12", "\"\\ud800\\", "tru", "nul",
    "false1", "-", "1e", "[] []", "<html>", " ", deep,
    deep .. ("]"):rep(100000),
  } do
    answer(body)
    for _, verb in ipairs { "info", "users", "jobs" } do
      fails("PAI_EIO", nil, nil, c[verb](c))
    end
    assert(assert(c:request { path = "/" }).json == nil)
  end
  answer(" { \"a\" : [ ] , \"b\" : [ 1 , -2.5e1, { } ], \"c\": \"\\ud83d\\ude00\\n\"}\n")
  local info = assert(c:request { path = "/" }).json
  assert(#info.a == 0 and #info.b == 3 and info.b[2] == -25)
  assert(info.c == "\240\159\152\128\n")
  assert(c:request { path = "/end" })
  c:close()
  server:close()
end

-- What nobody takes is not kept, while the client does other things.
function tests.slow_reader()
  local c, size = client(), 8000000
  local job = assert(c:submit(file("slow", "head -c " .. size .. " /dev/zero")))
  assert(c:wait(job) == "succeeded")
  local log = assert(c:logs(job, { role = "main", name = "stdout" }))
  local got = 0
  while true do
    local piece = assert(log:take())
    if piece == "" then
      break
    end
    assert(#piece < 1000000, #piece)
    got = got + #piece
    for _ = 1, 100 do
      assert(c:info())
    end
  end
  assert(got == size, got)
  c:close()
end

function tests.coroutines()
  local c = client()
  local job = assert(c:submit(file("together", "sleep 1000"),
                              { name = "together" }))
  local order = {}
  c:spawn(function()
    assert(c:wait(job) == "stopped")
    order[#order + 1] = "waited"
  end)
  c:spawn(function()
    assert(c:info())
    order[#order + 1] = "info"
    assert(c:stop(job))
  end)
  assert(c:run())
  assert(table.concat(order, ",") == "info,waited")
  c:close()
end

-- Whoever waits hears of the end of the client.
function tests.closing()
  local c, heard = client(), nil
  c:spawn(function()
    local watch = c:watch()
    while true do
      local change, _, code = watch:next()
      if not change then
        heard = code
        return
      end
    end
  end)
  c:spawn(function() c:info() end)
  c:close()
  assert(heard == "PAI_ECANCELED", tostring(heard))
end

function tests.early_end()
  local c = client()
  local watch = assert(c:watch())
  assert(watch:close() and watch:next() == nil)
  assert(c:info())
  watch = nil
  collectgarbage()
  c:watch() -- nobody keeps it
  collectgarbage()
  collectgarbage()
  assert(c:info())
  c:close()
end

os.execute(("rm -rf '%s'"):format(root)) -- of the time before
shell("up")
local exit = os.exit
os.exit = function(...) -- of lua_tests
  shell("down --kill")
  exit(...)
end
shared.run(tests)
