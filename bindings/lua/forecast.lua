-- forecast.lua - forecasts and replays as Lua wants them, over SWIG's; in the
-- module
--
-- It is called as scheduler.lua is.  Times are whole microseconds; one that is
-- not within the horizon is nil.
local openpai, encode = ...
local core = { history = openpai.History, forecast = openpai.Forecast,
               what_if = openpai.WhatIf, shapes = openpai.Shapes,
               replay = openpai.Replay,
               changed_cluster = openpai.changed_cluster }
local shared = openpai._shared -- of scheduler.lua and trace.lua
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

-- A job has ended: { user =, vc =, name =, gpus =, estimate =, limit =,
-- duration = }
function history:add(job)
  return self.core:add(words(checked(job, past), past))
end

-- How long one takes that has run for `ran`: alike, samples, p10, p50, p90.
function history:guess(job, ran)
  return self.core:guess(words(checked(job, past), past), ran or 0)
end

-- Of a line of a scheduler's log, before it is sent.
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

-- What the facade takes of { history =, runs =, seed =, horizon =,
-- arrivals = }; arrivals: nil, if enough have come.
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

-- A list of what waits; `owner` lives as long, too.
local function new_forecast(raw, owner, ...)
  if not raw then
    return nil, ...
  end
  local list = assert(raw:all())
  list.core, list.owner = raw, owner
  return setmetatable(list, forecast_class)
end

-- Its times; `unlike` is true where the present is unlike the past, so that
-- they are less certain, and `unknown` where no job has ended yet by which those
-- before it could be told.
function forecast:when(id)
  return self.core:when(id)
end

-- It has started: the history learns how good that was.
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
  local all, message, code, detail = self:forecast(given)
  if not all then
    return nil, message, code, detail
  end
  return all:when(id)
end

-- --- what if -----------------------------------------------------------------

local what_if = { to_json = json_of }
local what_if_class = { __tostring = text_of }

-- Its numbers are fields.
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

-- As it is, or `of`, but for more nodes, as "2x dgx", or another share of a
-- virtual cluster, as "dgx:12": { nodes =, vc =, share =, shares = { a = "8" },
-- of = }.  Only the cluster after all changes has to be valid.
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

-- A list, first as it is, then the best; options may have vcs = { NAME, ... }.
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

-- The times of its first and of its last line.
function replay:range()
  local both, message, code, detail = self.core:range()
  if not both then
    return nil, message, code, detail
  end
  return both[1], both[2]
end

-- Microseconds; of a text "2026-05-01 14:05", "@12.5", "+2h", "-30m", "end".
function replay:time(time)
  if type(time) == "string" then
    return self.core:time(time)
  end
  return time
end

function replay:show_time(time)
  return self.core:show_time(time)
end

-- Goes there, and gives the scheduler as it was, to look at.
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

-- Takes the next line, unless it is later; false: there is none.
function replay:step(till)
  local there, message, code, detail = self:time(till or shared.never)
  if not there then
    return nil, message, code, detail
  end
  return self.core:step(there)
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

-- How a request waited; options may have policy =, options =, grain =.
function replay:story(id, options)
  local text, message, code, detail = story(self, id, options, "text")
  if not text then
    return nil, message, code, detail
  end
  return (text:gsub("\n$", ""))
end

-- The same as JSON.
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
