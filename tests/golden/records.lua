-- Prints what the Lua module tells of the jobs of a scripted life, as JSON.
-- Usage: records.lua ROOT
local openpai = require "openpai"

local function text(value)
  return '"' .. tostring(value):gsub('[%c"\\]', function(c)
    return ("\\u%04x"):format(c:byte())
  end) .. '"'
end

local function json(value, deep)
  if type(value) == "number" or type(value) == "boolean" then
    return tostring(value)
  elseif type(value) ~= "table" or (deep or 0) > 8 then
    return text(value)
  end
  local parts = {}
  if #value > 0 then
    for i, item in ipairs(value) do
      parts[i] = json(item, (deep or 0) + 1)
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local names = {}
  for name in pairs(value) do
    names[#names + 1] = tostring(name)
  end
  table.sort(names)
  for i, name in ipairs(names) do
    parts[i] = text(name) .. ":" .. json(value[name], (deep or 0) + 1)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function show(title, value)
  print("=== " .. title)
  print(json(value))
end

local client = assert(openpai.client { root = arg[1] })
show("info", client:info())
show("users", client:users())
show("jobs", client:jobs())
for _, name in ipairs { "good", "bad", "pair", "stopped", "running",
                        "waiting" } do
  show("job " .. name, client:job("admin~" .. name))
  show("config " .. name, client:config("admin~" .. name))
end
show("files", client:files("admin~pair"))
show("wait", { client:wait("admin~bad") })
show("error", { client:job("none") })

local names = {}
for name, value in pairs(openpai) do
  names[#names + 1] = name .. " " .. type(value)
end
table.sort(names)
show("module", names)
