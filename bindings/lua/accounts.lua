-- accounts.lua - accounts and virtual clusters of a platform; a part of the
-- module
--
-- Called as scheduler.lua is. Methods are those of bindings/accounts.txt. Changes
-- are in the database when a call returns. Failures have http_status and
-- api_code.
local openpai, encode = ...
local shared = openpai._shared -- of scheduler.lua and platform.lua
local chained = shared.chained
local checked, platform = shared.checked, shared.platform
local classes = { Accounts = {}, VirtualClusters = {} }
local accounts = classes.Accounts

local whole = 10000 -- parts of the machine, in shares

local function text_of(name, value, kind)
  if kind == "share" and type(value) == "number" then
    value = math.floor(value * whole + 0.5)
  end
  if type(value) == "boolean" then
    return value and "1" or "0"
  elseif type(value) == "number" then
    return ("%d"):format(value)
  elseif type(value) ~= "string" then
    error(name .. " is a text, not a " .. type(value), 4)
  end
  return value
end

-- Reads "user! viewer ; most:share": the positional arguments, and those of a
-- table or nil.
local function read(text)
  local found, at = { list = {} }, "list"
  for word in text:gmatch("%S+") do
    local name, needed, kind = word:match("^([%w_]+)(!?):?(%w*)$")
    if word == ";" then
      found.table, at = {}, "table"
    elseif at == "table" then
      found.table[name] = kind
    else
      table.insert(found.list, { name, needed == "!", kind })
    end
  end
  return found
end

-- Makes a method. Times are in microseconds.
local function method(kind, text)
  local arguments = read(text)
  return function(self, ...)
    local list, body = {}, ""
    local function add(name, value, of)
      list[#list + 1] = name
      list[#list + 1] = text_of(name, value, of)
    end
    for i, one in ipairs(arguments.list) do
      local name, needed, of = one[1], one[2], one[3]
      local value = (select(i, ...))
      if of == "object" or of == "any" then
        body = encode(value)
      elseif value ~= nil then
        add(name, value, of)
      elseif needed then
        error(name .. " is missing", 2)
      end
    end
    if arguments.table then
      local options = (select(#arguments.list + 1, ...))
      for name, value in pairs(checked(options, arguments.table)) do
        add(name, value, arguments.table[name])
      end
    end
    return self.core:administer(kind, list, body)
  end
end

for kind, arguments in pairs(openpai.account_calls()) do
  local class, name = kind:match("^(%w+)%.([%w_]+)$")
  classes[class][name] = method(kind, arguments)
end
rawset(openpai, "account_calls", nil)

local tokens = accounts.tokens
-- Returns a user's good tokens, oldest first.
function accounts:tokens(user)
  local told, message, code, detail = tokens(self, user)
  if not told then
    return nil, message, code, detail
  end
  for i, detail_of in ipairs(told.details) do
    detail_of.token = told.tokens[i]
  end
  return told.details
end

local forms = { summary = 0, detail = 1, config = 2, server = 3 }
local storages = accounts.storages
-- { form = "summary", "detail", "config" or "server", user =, name =, names =,
-- usual = }
function accounts:storages(options)
  local given = {}
  for name, value in pairs(options or {}) do
    given[name] = value
  end
  local form = given.form or "summary"
  if not forms[form] then
    error("there is no form '" .. tostring(form) .. "'", 2)
  end
  given.form = forms[form]
  return chained(function(told)
    return form == "summary" and not given.name and told.storages or told
  end, storages(self, given))
end

local function maker(name, methods)
  local class = { __index = methods, __name = "openpai." .. name }
  return function(self)
    return setmetatable({ core = self.core }, class)
  end
end

platform.accounts = maker("accounts", classes.Accounts)
platform.virtual_clusters =
  maker("virtual_clusters", classes.VirtualClusters)
