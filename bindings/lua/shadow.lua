-- shadow.lua - shadow policies of a platform; a part of the module
--
-- Called as scheduler.lua is.
--
--   shadow = platform:shadow(policy)
--   for _, one in ipairs(shadow:differences()) do
--
-- A copy of the platform's scheduler gets the events of the platform's log,
-- each time that the shadow is looked at, and its shadow policy decides then.
-- An error of the policy is raised by that call; it does not affect the
-- platform.
local openpai, encode = ...
local shared = openpai._shared -- of scheduler.lua and platform.lua
local chained = shared.chained
local shadow = {}
local shadow_class = { __index = shadow, __name = "openpai.shadow" }
local most = 1000 -- kept differences; starts: ten times as many

-- --- following -------------------------------------------------------------------

-- Keeps errors of a policy, which a scheduler would only count.
local function watched(adapter, raised)
  if type(adapter) ~= "table" then
    return adapter
  end
  local function keep(call)
    return function(...)
      local good, answer = pcall(call, ...)
      if not good then
        raised[1] = raised[1] or { answer }
        error(answer, 0)
      end
      return answer
    end
  end
  local clone = adapter.clone
  adapter.decide, adapter.event = keep(adapter.decide), keep(adapter.event)
  adapter.clone = keep(function() return watched(clone(), raised) end)
  return adapter
end

-- Loads a snapshot: the first one, or one after a gap.
local function load(self, line)
  self.lost = true -- until the load succeeds
  local sched, message, code, detail = openpai.scheduler.load(line)
  if not sched then
    return nil, message, code, detail
  end
  local good
  good, message, code, detail = sched.core:policy(sched:now(), true,
                                                  self.options, self.adapter)
  if not good then
    return nil, message, code, detail
  end
  local sums = self.sched and assert(self.sched:sums())
  for name, before in pairs(sums and self.before or {}) do
    self.before[name] = before + sums[name]
  end
  self.missed = self.missed + 1
  self.sched, self.lost = sched, false
  return true
end

local function key_of(decision)
  return ("%s %s %d"):format(decision.kind, decision.id, decision.instance)
end

local function started(self, decision, by)
  local key = key_of(decision)
  local start = self.by_key[key]
  if decision.kind ~= "start" then
    return
  end
  if not start then
    start = { id = decision.id, instance = decision.instance }
    self.by_key[key] = start
    self.list[#self.list + 1] = start
    if #self.list > 10 * most then
      local oldest = table.remove(self.list, 1)
      self.by_key[key_of { kind = "start", id = oldest.id,
                           instance = oldest.instance }] = nil
    end
  end
  start[by] = start[by] or decision.time
end

local function compare(self, live, beside)
  local refused, alone = {}, {}
  for _, decision in ipairs(beside) do
    started(self, decision, "shadow")
    if not decision.agreed and not self.told[key_of(decision)] then
      alone[#alone + 1] = decision
    end
  end
  if self.count > 10 * most then
    self.told, self.count = {}, 0 -- most of these requests are gone
  end
  for _, decision in ipairs(alone) do
    self.told[key_of(decision)], self.count = true, self.count + 1
  end
  for _, decision in ipairs(live) do
    if not decision.agreed then
      refused[#refused + 1] = decision
    end
  end
  if #refused + #alone > 0 then
    self.others[#self.others + 1] = {
      time = (live[1] or beside[1]).time, live = refused, shadow = alone,
    }
    if #self.others > most then
      table.remove(self.others, 1)
    end
  end
end

local function take(self, line)
  if self.lost then
    return true
  end
  local count, message, code, detail = self.sched.core:send(line)
  if not count then
    self.lost = true -- until the next snapshot
    return nil, message, code, detail
  end
  local live = count > 0 and assert(self.sched:decisions()) or {}
  for _, decision in ipairs(live) do
    local key = key_of(decision)
    if self.told[key] then
      self.told[key], self.count = nil, self.count - 1
    end
    started(self, decision, "live")
  end
  local beside = self.sched:shadow_decisions()
  if beside then
    compare(self, live, beside)
  end
  return true
end

local function fetch(self)
  if self.follower then
    local text, message, code, detail = self.follower:read()
    if not text then
      return nil, message, code, detail
    end
    self.text, self.at = self.text:sub(self.at) .. text, 1
  end
  return true
end

-- Processes all new lines. Returns true, or the failure.
local function look(self)
  local fetched, why, number, more = fetch(self)
  if not fetched then
    return nil, why, number, more
  end
  while self.at <= #self.text do
    local stop = self.text:find("\n", self.at, true)
    local line = self.text:sub(self.at, stop - 1)
    self.at = stop + 1
    local done = line:sub(1, 11) == '{"snapshot"' and load or take
    local good, message, code, detail = done(self, line)
    if not good then
      return nil, message, code, detail
    end
  end
  local raised = table.remove(self.raised)
  if raised then
    error(raised[1], 0)
  end
  return true
end

rawset(openpai, "Follower", nil)
rawset(openpai, "Promise", nil)

-- --- views ------------------------------------------------------------------

local function looks(name, answer)
  shadow[name] = function(self)
    return chained(function(good) return answer(self) end, look(self))
  end
end

-- Returns the sums of the scheduler; numbers of decisions since the shadow
-- began.
looks("sums", function(self)
  local sums, message, code, detail = self.sched:sums()
  for name, before in pairs(sums and self.before or {}) do
    sums[name] = sums[name] + before
  end
  return sums, message, code, detail
end)

-- Returns all starts by the live policy or the shadow: { id =, instance =,
-- live =, shadow = }, where live and shadow are times or nil.
looks("starts", function(self) return self.list end)

-- Returns a list of { time =, live = {}, shadow = {} }: decisions that the
-- shadow did not make, and decisions that only the shadow made, each once.
looks("differences", function(self) return self.others end)

-- Returns how often lines were missed, and the shadow began again.
looks("gaps", function(self) return self.missed end)

-- Returns a fork of the scheduler.
looks("scheduler", function(self) return self.sched:fork() end)

-- Stops following. What is known up to now stays.
function shadow:close()
  local good, message, code, detail = fetch(self)
  self.follower, self.platform = nil, nil
  return good, message, code, detail
end

-- Lets a policy, a script's or a built-in one, decide beside the platform's
-- own from now on, without effect on the platform.
function shared.platform:shadow(policy, options)
  if policy == nil then
    error("a policy is wanted, not nil", 2)
  end
  local raised = {}
  local self = {
    adapter = watched(shared.adapted(policy), raised), raised = raised,
    options = options and encode(options),
    missed = -1, -- the first snapshot makes it 0
    text = "", at = 1, by_key = {}, list = {}, others = {},
    told = {}, count = 0, -- number of keys in `told`
    lost = true, -- no scheduler yet, or some lines were missed
    before = { live_decisions = 0, shadow_decisions = 0, shadow_agreed = 0,
               shadow_failed = 0 },
    platform = self, -- keeps the platform alive
  }
  local message, code, detail
  self.follower, message, code, detail = self.platform.core:follow()
  if not self.follower then
    return nil, message, code, detail
  end
  setmetatable(self, shadow_class)
  local good
  good, message, code, detail = look(self)
  if not good then
    return nil, message, code, detail
  end
  return self
end
