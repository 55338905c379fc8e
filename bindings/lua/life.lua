-- life.lua - the fold of a job; a part of the module
--
-- Called as scheduler.lua is.
local openpai, encode, decode = ...
local core = openpai.Life
local life = {}
local class = { __index = life }
local all = { placed = true, preempted = true }

local function wrapped(raw, ...)
  if not raw then
    return nil, ...
  end
  return setmetatable({ core = raw }, class)
end

local function number(value, missing, what)
  if value == nil then
    return missing
  elseif type(value) ~= "number" then
    error(what .. " is a number, not a " .. type(value), 3)
  end
  return value
end

-- Sends an event: { kind =, task =, count =, code =, time = }.
function life:send(event)
  if type(event) ~= "table" or type(event.kind) ~= "string" then
    error("an event is a table with a kind", 2)
  end
  return self.core:send(event.kind, number(event.task, 0, "task"),
                        number(event.count, all[event.kind] and 0 or 1,
                               "count"),
                        number(event.code, 0, "code"),
                        number(event.time, 0, "time"))
end

-- Returns the next action: kind, whole, task, count, until; false if there is
-- none.
function life:next(most)
  local list, message, code, detail = self.core:next(number(most, 1, "most"))
  if not list then
    return nil, message, code, detail
  end
  return list[1] or false
end

-- Sets the number of tasks of a role.
function life:rescale(role, tasks, time)
  return self.core:rescale(role, tasks, number(time, 0, "time"))
end

-- Returns the status of the job, with its roles and tasks.
function life:status()
  return self.core:look()
end

-- Returns the whole state as a string of bytes.
function life:save()
  local hex, message, code, detail = self.core:save()
  if not hex then
    return nil, message, code, detail
  end
  return (hex:gsub("%x%x", function(two)
    return string.char(tonumber(two, 16))
  end))
end

rawset(openpai, "Life", nil)
rawset(openpai, "life", {
  new = function(job, options)
    options = options or {}
    return wrapped(core.make(job, number(options.seed, 0, "seed"),
                             options.gang and true or false,
                             options.raw and true or false,
                             options.own_signals and true or false))
  end,
  load = function(saved) return wrapped(core.load(saved)) end,
})
rawset(openpai, "exit_spec", openpai.exit_entry)
rawset(openpai, "exit_entry", nil)
