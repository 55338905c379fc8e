-- What the Lua module promises of files of jobs.
-- Usage: test_lua_files.lua ROOT
local openpai = require "openpai"
local shared = require "lua_tests"
local fails = shared.fails
local root = arg[1] .. "/files"
local program = os.getenv("OPENPAI_PROGRAM")
local name = "Übung/größe ☃.txt"

local text = [[{"protocolVersion": 2, "name": "NAME", "type": "job",
  "prerequisites": [{"name": "none", "type": "dockerimage", "uri": "none"}],
  "taskRoles": {"main": {"instances": 1, "dockerImage": "none",
    "resourcePerInstance": {"cpu": 1, "memoryMB": 64, "gpu": 0},
    "commands": ["mkdir -p out/deep; echo model > out/model",
      "echo deep > out/deep/x; ln -s model out/latest; ln -s /etc out/away"]}}}
]]

local function shell(line)
  local done = os.execute(line .. " </dev/null >/dev/null")
  assert(done == true or done == 0, line)
end

local function write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

local function read(path)
  local file = io.open(path, "rb")
  if file then
    local bytes = file:read("*a")
    file:close()
    return bytes
  end
end

local folders = 0
local function new_folder()
  folders = folders + 1
  local path = root .. "/folder" .. folders
  shell("mkdir -p '" .. path .. "'")
  return path
end

local function paths(files)
  local list = {}
  for i, file in ipairs(files) do
    list[i] = file.path
  end
  return table.concat(list, ",")
end

local function write_code(path)
  shell("mkdir -p '" .. path .. "/Übung'")
  write(path .. "/" .. name, "schnee\n")
  write(path .. "/run.sh", "#!/bin/sh\n")
  shell("chmod 755 '" .. path .. "/run.sh'")
  return path
end

-- What is the same for both; each is a function without the job.
local function check(files, download, upload)
  assert(paths(assert(files())) == "out,run.sh,Übung")
  assert(paths(assert(files(nil, { recursive = true }))) ==
    "out,out/away,out/deep,out/deep/x,out/latest,out/model,run.sh,Übung," ..
    name)
  local model = assert(files("out/model"))[1]
  assert(model.type == "file" and model.size == 6 and not model.executable)
  assert(math.abs(model.modified / 1000 - os.time()) < 3600)
  assert(files("out/latest")[1].size == 6) -- of what it leads to
  assert(files("out")[3].type == "link" and files("out")[3].target == "model")
  local to = new_folder()
  assert(download(name, to .. "/one") == to .. "/one")
  assert(read(to .. "/one") == "schnee\n")
  assert(download("run.sh", to) == to .. "/run.sh")
  shell("test -x '" .. to .. "/run.sh'")
  assert(download("out", to .. "/got") == to .. "/got")
  assert(read(to .. "/got/deep/x") == "deep\n")
  assert(read(to .. "/got/latest") == "model\n")
  shell("test ! -e '" .. to .. "/got/away' -a -L '" .. to .. "/got/latest'")
  assert(download(nil, to .. "/all"))
  assert(read(to .. "/all/" .. name) == "schnee\n")
  -- What was changed here is copied again.
  write(to .. "/got/deep/x", "other\n")
  assert(download("out", to .. "/got"))
  assert(read(to .. "/got/deep/x") == "deep\n")

  local here = write_code(new_folder())
  local big = ("0123456789abcdef"):rep(600000)
  write(here .. "/big", big)
  assert(upload(here .. "/big", "new/big"))
  assert(upload(here .. "/run.sh", "new/"))
  shell("mkdir -p '" .. here .. "/none/at all'")
  assert(upload(here, "whole"))
  assert(upload(here .. "/run.sh"))
  assert(paths(files("new")) == "new/big,new/run.sh")
  assert(files("new")[2].executable)
  assert(paths(files("whole", { recursive = true })) ==
    "whole/big,whole/none,whole/none/at all,whole/run.sh,whole/Übung,whole/" .. name)
  assert(upload(here .. "/run.sh", "odd/a%41\255")) -- no UTF-8
  assert(paths(files("odd")) == "odd/a%41\255")
  assert(download("odd", to .. "/odd"))
  assert(read(to .. "/odd/a%41\255") == "#!/bin/sh\n")
  assert(download("new/big", to .. "/big") and read(to .. "/big") == big)

  fails("PAI_ENOTFOUND", files("nothing"))
  fails("PAI_ENOTFOUND", download("nothing", to .. "/x"))
  fails("PAI_EINVAL", files("../.."))
  fails("PAI_EINVAL", upload(here .. "/big", "../x"))
  fails("PAI_EINVAL", upload(here .. "/big", "out"))
  local detail = fails("PAI_ENOTFOUND", upload(here .. "/nothing", "x"))
  assert(detail.file == here .. "/nothing")
  fails("PAI_EIO", download("run.sh", to .. "/one/run.sh"))
  assert(not pcall(files, nil, { recursively = true }))
end

local tests = {}

function tests.handles()
  local own = new_folder()
  local p = assert(openpai.platform.open { root = own })
  local h = assert(p:submit(openpai.job.parse((text:gsub("NAME", "own"))),
                            { code_dir = write_code(own .. "/given") }))
  assert(h:wait() == "succeeded")
  check(function(...) return h:files(...) end,
        function(...) return h:download(...) end,
        function(...) return h:upload(...) end)
  local file = assert(h:open_file(name))
  assert(file:read(3) == "sch" and file:read() == "nee\n")
  assert(file:read() == "" and file:read(5) == "" and file:close())
  fails("PAI_EINVAL", file:read())
  fails("PAI_ENOTFOUND", h:open_file("nothing"))
  fails("PAI_EINVAL", h:open_file("out"))
  local got -- in a coroutine
  p:spawn(function() got = paths(h:files("out/deep")) end)
  assert(p:run() and got == "out/deep/x")
  local good, kept = h:forget(true)
  assert(good == true and read(kept .. "/out/model") == "model\n")
  fails("PAI_ENOTFOUND", h:files())
  fails("PAI_ENOTFOUND", h:forget(true))
  assert(p:close())
  fails("PAI_EINVAL", h:files())
end

function tests.clients()
  local c = assert(openpai.client { root = root })
  local code = new_folder()
  write_code(code)
  local archive = io.popen("tar -C '" .. code .. "' -cf - .")
  local bytes = archive:read("*a")
  archive:close()
  local job = assert(c:submit((text:gsub("NAME", "code")), { code = bytes }))
  assert(c:wait(job) == "succeeded")
  check(function(...) return c:files(job, ...) end,
        function(...) return c:download(job, ...) end,
        function(...) return c:upload(job, ...) end)
  local detail = fails("PAI_ENOTFOUND", c:files("nobody~none"))
  assert(detail.http_status == 404 and detail.api_code == "NoJobError")
  local good, kept = c:forget(job, true)
  assert(good == true and read(kept .. "/out/model") == "model\n")
  fails("PAI_ENOTFOUND", c:forget(job))
  c:close()
end

-- A server that plays, whose answers are cut.
function tests.cut()
  local to, told = new_folder(), root .. "/told"
  shell("rm -f '" .. told .. "'; mkfifo '" .. told .. "'")
  local server = io.popen(("'%s' ../python/python_files.py < '%s'"):format(
    os.getenv("OPENPAI_PYTHON"), told))
  local say = assert(io.open(told, "w"))
  local url = server:read("*l")
  local data = ("0123456789abcdef"):rep(200000)
  local function play(cuts)
    say:write('{"files": {"big": ["', data, '", 5000, {}]}, "cuts": [', cuts,
              ']}\n')
    say:flush()
    assert(server:read("*l") == "")
  end
  local c = assert(openpai.client { url = url, first_wait = 0.001,
                                    most_wait = 0.01 })
  play("1000000, 1000000")
  assert(c:download("ann~j", "big", to))
  assert(read(to .. "/big") == data)
  play("2000000" .. (",0"):rep(500))
  fails("PAI_EIO", c:download("ann~j", "big", to .. "/again"))
  play("")
  local again = assert(openpai.client { url = url })
  assert(again:download("ann~j", "big", to .. "/again"))
  assert(read(to .. "/again") == data)
  again:close()
  c:close()
  say:close()
  local asked, begun = server:read("*a"), 0
  for _ in asked:gmatch("None") do
    begun = begun + 1
  end
  assert(begun == 2 and asked:find("bytes=2000000%-\n$"), asked)
  server:close()
end

shell("rm -rf '" .. root .. "'; mkdir -p '" .. root .. "'")
shell(("'%s' up --root '%s'"):format(program, root))
local exit = os.exit
os.exit = function(...) -- of lua_tests
  shell(("'%s' down --kill --root '%s'"):format(program, root))
  exit(...)
end
shared.run(tests)
