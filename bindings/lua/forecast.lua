-- forecast.lua - forecasts and replays; a part of the module
--
-- Called as scheduler.lua is. Times are integers of microseconds; a time
-- beyond the horizon is nil.
local openpai, encode = ...
local core = { history = openpai.History, forecast = openpai.Forecast,
               what_if = openpai.WhatIf, shapes = openpai.Shapes,
               replay = openpai.Replay,
               changed_cluster = openpai.changed_cluster }
local shared = openpai._shared -- of scheduler.lua and trace.lua
local chained = shared.chained
local words, checked = shared.words, shared.checked

-- --- histories ---------------------------------------------------------------

local history = {}
local history_class = { __index = history }

local past = {
  user = "text", vc = "text", name = "text", gpus = "number",
  estimate = "number", limit = "number", duration = "number",
}

local function wrapped_history(raw, ...)
  if not raw then
    return nil, ...
  end
  return setmetatable({ core = raw }, history_class)
end

-- Adds a job that has ended: { user =, vc =, name =, gpus =, estimate =,
-- limit =, duration = }.
function history:add(job)
  return self.core:add(words(checked(job, past), past))
end

-- Returns how long a job takes that has run for `ran`: alike, samples, p10,
-- p50, p90.
function history:guess(job, ran)
  return self.core:guess(words(checked(job, past), past), ran or 0)
end

-- Learns from a line of a scheduler's log, which must not be sent yet.
function history:learn(scheduler, line)
  return self.core:learn(scheduler.core, line)
end

function history:save()
  return self.core:save()
end

-- --- forecasts ---------------------------------------------------------------

local looking = {
  runs = "number", seed = "number", horizon = "number", arrivals = "whether",
  only = "number",
}

-- Reads { history =, runs =, seed =, horizon =, arrivals = } as arguments of
-- the facade. arrivals = nil: only if enough jobs have come.
local function asked(options)
  options = checked(options, looking,
                    { history = true, vcs = true, cluster = true })
  local known = options.history
  if known ~= nil and getmetatable(known) ~= history_class then
    error("a history is wanted", 3)
  end
  return known and known.core, words(options, looking), options
end

local function text_of(self)
  return (assert(self.core:write("text")):gsub("\n$", ""))
end

local function json_of(self)
  return self.core:write("json")
end

local forecast = { to_json = json_of }
local forecast_class = { __index = forecast, __tostring = text_of }

-- Makes a list of forecasts of waiting requests. It keeps `owner` alive.
local function new_forecast(raw, owner, ...)
  if not raw then
    return nil, ...
  end
  local list = assert(raw:all())
  list.core, list.owner = raw, owner
  return setmetatable(list, forecast_class)
end

-- Returns the forecast of a request. `unlike`: the present differs from the
-- past, so the times are less certain. `unknown`: neither ended jobs nor
-- limits tell how long the jobs before the request run.
function forecast:when(id)
  return self.core:when(id)
end

-- Tells the history when a request started, to learn from the error.
function forecast:met(id, started, learning)
  return self.core:met(id, started, learning.core)
end

local function made(raw, ...)
  return new_forecast(raw, nil, ...)
end

local looks = shared.looks

-- s:forecast { history =, runs =, seed =, horizon =, arrivals =, only = }
function looks:forecast(options)
  local known, list = asked(options)
  return made(core.forecast.make(self.core, known, list))
end

function looks:when(id, options)
  local given = {}
  for k, v in pairs(options or {}) do
    given[k] = v
  end
  given.only = id
  return chained(function(all) return all:when(id) end, self:forecast(given))
end

-- --- what if -----------------------------------------------------------------

local what_if = { to_json = json_of }
local what_if_class = { __tostring = text_of }

-- Numbers of the summary are fields.
function what_if_class.__index(self, name)
  return what_if[name] or self.numbers[name]
end

function what_if:before()
  return new_forecast(self.core:before(), self)
end

function what_if:after()
  return new_forecast(self.core:after(), self)
end

local function new_what_if(raw, ...)
  if not raw then
    return nil, ...
  end
  return setmetatable({ core = raw, numbers = assert(raw:look()) },
                      what_if_class)
end

-- s:what_if({ EVENT, ... }, { cluster = CLUSTER, history =, runs =, ... })
function looks:what_if(events, options)
  local known, list, given = asked(options)
  local lines = {}
  for i, event in ipairs(events or {}) do
    if type(event) == "table" then
      local timed = { time = 0 }
      for k, v in pairs(event) do
        timed[k] = v
      end
      event = encode(timed)
    end
    lines[i] = event
  end
  if given.cluster then
    local text = assert(given.cluster:to_json()):gsub("\n", " ")
    lines[#lines + 1] =
      '{"time":0,"event":"cluster","cluster":' .. text .. "}"
  end
  return new_what_if(core.what_if.make(self.core, known,
                                       table.concat(lines, "\n"), list))
end

-- Returns a copy of the cluster, or of `of`, with more nodes, as "2x dgx", or
-- other shares of virtual clusters, as "dgx:12": { nodes =, vc =, share =,
-- shares = { a = "8" }, of = }. Only the final cluster has to be valid.
function looks:changed_cluster(change)
  local list = {}
  for vc, share in pairs(change.shares or {}) do
    list[#list + 1] = vc
    list[#list + 1] = share
  end
  if change.vc then
    list[#list + 1] = change.vc
    list[#list + 1] = change.share or ""
  end
  return core.changed_cluster(self.core, change.of, change.nodes, list)
end

-- --- other shapes ------------------------------------------------------------

local shapes = { to_json = json_of }
local shapes_class = { __index = shapes, __tostring = text_of }

local function new_shapes(raw, ...)
  if not raw then
    return nil, ...
  end
  local list = assert(raw:all())
  list.core = raw
  return setmetatable(list, shapes_class)
end

-- Returns a list of shapes: the current one, then the best ones. Options may
-- have vcs = { NAME, ... }.
function looks:shapes(id, options)
  local known, list, given = asked(options)
  return new_shapes(core.shapes.make(self.core, known, id, given.vcs or {},
                                     list))
end

shared.adopt() -- schedulers and views have these from now on

-- --- replays -----------------------------------------------------------------

local replay = {}
local replay_class = { __index = replay }

local replay_options = { policy_options = "json", check = "flag" }
local story_options = { policy = "text", policy_options = "json",
                        grain = "number" }

local function with_options(options, known, more)
  options = checked(options, known, more)
  local given = {}
  for k, v in pairs(options) do
    given[k] = v
  end
  given.policy_options = given.options
  return words(given, known), options
end

local function new_replay(raw, ...)
  if not raw then
    return nil, ...
  end
  return setmetatable({ core = raw }, replay_class)
end

-- openpai.replay(path, { policy =, options =, check = })
local function open_replay(path, options)
  local list, given =
    with_options(options, replay_options, { policy = true, options = true })
  return new_replay(core.replay.open(path, list,
                                     shared.adapted(given.policy)))
end

local function parse_replay(text, options)
  local list, given =
    with_options(options, replay_options, { policy = true, options = true })
  return new_replay(core.replay.parse(text, list,
                                      shared.adapted(given.policy)))
end

-- Returns the times of the first and the last line.
function replay:range()
  return chained(function(both) return both[1], both[2] end, self.core:range())
end

-- Converts a text to microseconds: "2026-05-01 14:05", "@12.5", "+2h", "-30m",
-- "end".
function replay:time(time)
  if type(time) == "string" then
    return self.core:time(time)
  end
  return time
end

function replay:show_time(time)
  return self.core:show_time(time)
end

-- Moves to a time. Returns a read-only view of the scheduler at that time.
function replay:at(time)
  local there, message, code, detail = self:time(time)
  local ok = there
  if there then
    ok, message, code, detail = self.core:to(there)
  end
  if not ok then
    return nil, message, code, detail
  end
  return self:scheduler()
end

function replay:scheduler()
  return shared.view(self.core:view(), self)
end

-- Replays the next line, unless it is later; false if there is none.
function replay:step(till)
  return chained(function(there)
    return self.core:step(there)
  end, self:time(till or shared.never))
end

function replay:decisions()
  return shared.shape(self.core:decisions())
end

function replay:line()
  return self.core:line()
end

function replay:skipped()
  return self.core:skipped()
end

local function story(self, id, options, form)
  return self.core:story(id, (with_options(options, story_options,
                                           { options = true })), form)
end

-- Returns the timeline of a request; options: policy =, options =, grain =.
function replay:story(id, options)
  return chained(function(text)
    return (text:gsub("\n$", ""))
  end, story(self, id, options, "text"))
end

-- As story(), in JSON.
function replay:story_json(id, options)
  return story(self, id, options, "json")
end

function replay_class.__tostring(self)
  return ("replay: line %d"):format(assert(self:line()))
end

for _, name in ipairs { "History", "Forecast", "WhatIf", "Shapes", "Replay",
                        "changed_cluster", "_shared" } do
  rawset(openpai, name, nil)
end
rawset(openpai, "history", {
  new = function() return wrapped_history(core.history.make()) end,
  load = function(text) return wrapped_history(core.history.load(text)) end,
})
rawset(openpai, "replay", setmetatable(
  { open = open_replay, parse = parse_replay },
  { __call = function(_, path, options) return open_replay(path, options) end }
))
