-- What the tests of the Lua module share.
local shared = {}

function shared.raises(pattern, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok, "no error was raised")
  assert(tostring(message):find(pattern), message)
end

-- nil, message, code
function shared.fails(code, none, message, name, detail)
  assert(none == nil and name == code, tostring(name) .. " " ..
         tostring(message))
  assert(message ~= "" and detail.code == code)
  return detail
end

-- The same of a server's answer.
function shared.answers(code, status, api_code, ...)
  local detail = shared.fails(code, ...)
  assert(detail.http_status == status and detail.api_code == api_code,
         tostring(detail.http_status) .. " " .. tostring(detail.api_code))
end

-- What work(n) has left is gone, however large n is.
function shared.leaks_nothing(work, few, many)
  local function memory() -- of the process, in KiB
    for line in io.lines("/proc/self/status") do
      if line:find("^VmRSS") then
        return tonumber(line:match("%d+"))
      end
    end
  end
  work(few)
  local lua, process = collectgarbage("count"), memory()
  work(many)
  assert(collectgarbage("count") - lua < 16)
  assert(memory() - process < 1024)
end

-- Runs a table of tests by their names, and ends the program: 0, or 1 when one
-- of them has failed.
function shared.run(tests)
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
end

return shared
