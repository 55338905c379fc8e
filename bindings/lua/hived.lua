-- hived.lua - HiveD's extender; a part of the module
--
-- Called as scheduler.lua is. Arguments of Kubernetes are tables or JSON. A
-- table with a [1] is a list, so an empty list has to be given as JSON.
local openpai, encode, decode = ...
local core = openpai.HiveD
local hived = {}
local class = { __index = hived }

local function json(value, what)
  if type(value) == "table" then
    return encode(value)
  elseif type(value) ~= "string" then
    error(what .. " is a table or JSON, not a " .. type(value), 3)
  end
  return value
end

local function wrapped(raw, ...)
  if not raw then
    return nil, ...
  end
  return setmetatable({ core = raw }, class)
end

-- Sends an event of the Kubernetes API server: a node, a pod, or a list of
-- them.
function hived:tell(event, now)
  return self.core:tell(json(event, "an event"), now or 0)
end

-- Answers an HTTP request: status, body, content_type, location, hold_ms, and
-- a binding (uid, path, body, first) if it has to be sent to the API server.
function hived:request(method, target, body, now)
  return self.core:request(method, target, body or "", now or 0)
end

for _, verb in ipairs { "filter", "preempt", "bind" } do
  hived[verb] = function(self, args, now)
    return self:request("POST", "/v1/extender/" .. verb,
                        json(args, "what is asked"), now)
  end
end

-- Inspects HiveD: "clusterstatus", "affinitygroups/", "affinitygroups/NAME".
function hived:inspect(what)
  local answer, message, code, detail =
    self:request("GET", "/v1/inspect/" .. (what or "clusterstatus"))
  if not answer then
    return nil, message, code, detail
  end
  local found = answer.body and decode(answer.body)
  if answer.status == 200 then
    return found
  end
  message = type(found) == "string" and found or "there is no " .. what
  return nil, message, "PAI_ENOTFOUND",
         { code = "PAI_ENOTFOUND", message = message }
end

-- Returns the answer to a bind request whose binding the API server refused.
function hived:unbound(uid, why)
  return self.core:unbound(uid, why)
end

rawset(openpai, "HiveD", nil)
rawset(openpai, "hived", {
  load = function(path) return wrapped(core.load(path)) end,
  parse = function(text) return wrapped(core.parse(text)) end,
})
