-- trace.lua - traces and simulations; a part of the module
--
-- Called as scheduler.lua is. Times are integers of microseconds. A trace is
-- opened by openpai.trace.load() and the like, and each reading begins again
-- at its start.
local openpai, encode, decode = ...
local core = { trace = openpai.Trace, report = openpai.SimReport,
               reports = openpai.Reports, sim = openpai.Simulation }
local shared = openpai._shared -- of scheduler.lua
local chained = shared.chained

local function wrong(message, level)
  error(message, level + 2)
end

local function check_table(value, what)
  if type(value) ~= "table" then
    wrong(what .. " is a table, not a " .. type(value), 2)
  end
end

-- Converts options to the words of the facade: names and values.
local function words(given, known)
  local list = {}
  for name, kind in pairs(known) do
    local value = given[name]
    if kind == "whether" and value == false then
      value = 2
    end
    if value ~= nil and value ~= false then
      if kind == "part" then
        value = ("%d"):format(math.floor(value * 1000 + 0.5))
      elseif kind == "json" then
        value = encode(value)
      elseif kind == "flag" or value == true then
        value = "1"
      elseif type(value) == "number" then
        value = ("%d"):format(value)
      end
      list[#list + 1] = name
      list[#list + 1] = value
    end
  end
  return list
end

local function checked(given, known, more)
  given = given or {}
  check_table(given, "the options")
  for name in pairs(given) do
    if known[name] == nil and (more == nil or more[name] == nil) then
      wrong("there is no option '" .. tostring(name) .. "'", 2)
    end
  end
  return given
end

shared.words, shared.checked = words, checked

-- --- traces ------------------------------------------------------------------

local trace = {}
local trace_class = { __index = trace }

local read_options = {
  form = "text", strict = "flag", sort = "flag", window = "number",
  model = "text", tell = "flag",
}
local made_options = {
  jobs = "number", seed = "number", like = "text", gpus = "number",
  load = "part", most_gpus = "number", gpus_per_node = "number",
  users = "number", virtual_clusters = "number", model = "text",
  faults = "flag",
}

-- Makes a trace. The first reading is opened at once, to report failures.
local function opened(reopen)
  return chained(function(raw)
    return setmetatable({ core = raw, fresh = true, reopen = reopen },
                        trace_class)
  end, reopen())
end

local function begin(self)
  if not self.fresh then
    local raw, message, code, detail = self.reopen()
    if not raw then
      return nil, message, code, detail
    end
    self.core = raw
  end
  self.fresh = false
  return self.core
end

local function teller(options, chunks)
  local told = {}
  if options.on_line then
    function told.line(text) options.on_line(decode(text)) end
  end
  if chunks then
    function told.read() return chunks() or "" end
  end
  return next(told) and told or nil
end

local function reading(options)
  options = checked(options, read_options, { on_line = true, tell = true })
  local given = {}
  for name, value in pairs(options) do
    given[name] = value
  end
  given.tell = options.on_line ~= nil
  return words(given, read_options), options
end

-- openpai.trace.load(path, { form =, strict =, sort =, window =, model =,
-- on_line = FUNCTION })
local function load(path, options)
  local list, given = reading(options)
  return opened(function()
    return core.trace.load(path, list, teller(given))
  end)
end

local function parse(text, options)
  local list, given = reading(options)
  return opened(function()
    return core.trace.parse(text, list, teller(given))
  end)
end

local times = { "time", "duration", "estimate", "limit", "patience",
                "started" }

-- Converts microseconds to exact decimal seconds, which encode() has no
-- numbers for: strings with a mark, which is removed when the line is made.
local function seconds(time)
  if time % 1000000 == 0 then
    return math.floor(time / 1000000)
  end
  local whole = math.floor(time / 1000000)
  return ("\1%d.%06d"):format(whole, time - whole * 1000000)
end

-- Returns a copy with times in seconds.
local function timed(given)
  local copy = {}
  for k, v in pairs(given) do
    copy[k] = v
  end
  for _, name in ipairs(times) do
    local time = copy[name]
    if time ~= nil then
      copy[name] = seconds(time)
    end
  end
  return copy
end

local function line(record)
  if type(record) == "string" then
    return (record:gsub("\n$", "")) .. "\n"
  end
  check_table(record, "a record")
  local told = timed(record)
  local kind = told.kind or "job"
  told.kind, told.line = nil, nil
  if kind == "kill" then
    told = { time = told.time, kill = told.id }
  elseif kind == "node" then
    told = { time = told.time, node = told.node, state = told.state,
             why = told.why }
  else
    if told.attempts then
      local attempts = {}
      for i, attempt in ipairs(told.attempts) do
        attempts[i] = timed(attempt)
      end
      told.attempts = attempts
    end
    for _, name in ipairs { "wants", "attempts", "after" } do
      if told[name] and told[name][1] == nil then
        told[name] = nil
      end
    end
  end
  return encode(told):gsub('"\\u0001(%d+%.%d+)"', "%1") .. "\n"
end

-- Makes a trace of a list of records: tables, or lines of JSON. It is strict
-- unless strict = false.
local function of(records, options)
  check_table(records, "a list of records")
  local given = {}
  for k, v in pairs(options or {}) do
    given[k] = v
  end
  if given.strict == nil then
    given.strict = true
  end
  given.form = "jsonl"
  local list
  list, given = reading(given)
  return opened(function()
    local i = 0
    return core.trace.read(list, teller(given, function()
      i = i + 1
      return records[i] and line(records[i])
    end))
  end)
end

-- openpai.trace.generate { jobs =, seed =, like =, gpus =, load = 0.8, ... };
-- virtual_clusters is a number, or a list of names.
local function generate(options)
  options = checked(options, made_options)
  local given, names = {}, {}
  for name, value in pairs(options) do
    given[name] = value
  end
  given.jobs = given.jobs or 1000
  if type(given.virtual_clusters) == "table" then
    names, given.virtual_clusters = given.virtual_clusters, nil
  end
  local list = words(given, made_options)
  return opened(function() return core.trace.generate(list, names) end)
end

-- for record in trace:records() do; a failure raises an error.
function trace:records()
  local raw, message = begin(self)
  if not raw then
    error(message, 2)
  end
  return function()
    local record, why = raw:next()
    if record == nil then
      error(why, 2)
    end
    if record == openpai.null then
      return nil
    end
    return record
  end
end

-- Writes all records as lines in OpenPAI's trace form to `write`, or returns a
-- text.
function trace:to_jsonl(write)
  local raw, message, code, detail = begin(self)
  if not raw then
    return nil, message, code, detail
  end
  local list = {}
  while true do
    local text
    text, message, code, detail = raw:lines()
    if not text then
      return nil, message, code, detail
    elseif text == "" then
      return write and true or table.concat(list)
    elseif write then
      write(text)
    else
      list[#list + 1] = text
    end
  end
end

-- Writes the trace to a path, or to an open file.
function trace:write(to)
  local file, message = to, nil
  if type(to) == "string" then
    file, message = io.open(to, "w")
    if not file then
      return nil, message, "PAI_EIO", { code = "PAI_EIO", message = message }
    end
  end
  local ok, why, code, detail =
    self:to_jsonl(function(text) assert(file:write(text)) end)
  if type(to) == "string" then
    file:close()
  end
  return ok, why, code, detail
end

-- Returns sums of the latest reading: form, lines, jobs, skipped, altered,
-- first, last.
function trace:sums()
  return self.core:look()
end

-- Returns the first 1000 lines that cannot be used as they are: line, used,
-- why.
function trace:notes()
  return self.core:notes()
end

function trace_class.__tostring(self)
  local sums = assert(self:sums())
  return ("trace: %s, %d jobs read, %d lines skipped"):format(
    sums.form, sums.jobs, sums.skipped)
end

-- --- reports -----------------------------------------------------------------

local report = {}
local report_class = {}

-- Numbers of the report are fields.
function report_class.__index(self, name)
  return report[name] or self.numbers[name]
end

local function new_report(raw, ...)
  if not raw then
    return nil, ...
  end
  return setmetatable({ core = raw, numbers = assert(raw:look()) },
                      report_class)
end

local comparison = {}
local comparison_class = { __index = comparison }

local function written(self, form)
  local all, message, code, detail = core.reports.make()
  if not all then
    return nil, message, code, detail
  end
  for _, one in ipairs(self) do
    assert(all:add(one.core))
  end
  return all:write(form)
end

for _, form in ipairs { "text", "json", "csv", "html" } do
  local name = form == "text" and "text" or "to_" .. form
  comparison[name] = function(self) return written(self, form) end
  report[name] = function(self) return written({ self }, form) end
end

function comparison_class.__tostring(self)
  return (assert(self:text()):gsub("\n$", ""))
end
report_class.__tostring = comparison_class.__tostring

-- openpai.compare { report, ... }: compares all reports with the first one.
local function compare(reports)
  check_table(reports, "a list of reports")
  local list = {}
  for i, one in ipairs(reports) do
    if getmetatable(one) ~= report_class then
      wrong("a report is wanted", 1)
    end
    list[i] = one
  end
  if not list[1] then
    wrong("there is no report to compare", 1)
  end
  return setmetatable(list, comparison_class)
end

-- --- simulations -------------------------------------------------------------

local simulation = {}
local simulation_class = { __index = simulation }

local sim_options = {
  policy_options = "json", seed = "number", strict = "flag",
  estimates = "flag", ["until"] = "number", start_cost = "number",
  restart_cost = "number", stop_cost = "number", checkpoint = "number",
  node_up = "number", node_down = "number", fail = "part",
  patience = "number", stretch = "part", spread = "part", bars = "number",
  tell_log = "flag", tell_events = "flag", tell_jobs = "flag",
  tell_lines = "flag",
}
local sim_more = { policy = true, options = true, log = true, events = true,
                   on_job = true, on_line = true }

local function writer(to)
  if type(to) == "function" then
    return to
  end
  return function(text) assert(to:write(text)) end
end

local function sim_teller(given)
  local told = {}
  if given.log then told.log = writer(given.log) end
  if given.events then told.event = writer(given.events) end
  if given.on_job then
    function told.job(text) given.on_job(decode(text)) end
  end
  if given.on_line then
    function told.line(text) given.on_line(decode(text)) end
  end
  return next(told) and told or nil
end

-- Opens files for options that are paths. Returns the files to close later.
local function open_files(given)
  local files = {}
  for _, name in ipairs { "log", "events" } do
    if type(given[name]) == "string" then
      local file, message = io.open(given[name], "w")
      if not file then
        return nil, message
      end
      files[#files + 1], given[name] = file, file
    end
  end
  return files
end

local function as_trace(given)
  if type(given) == "string" then
    return load(given)
  elseif getmetatable(given) ~= trace_class then
    wrong("a trace is wanted, or a path", 2)
  end
  return given
end

-- openpai.simulation(cluster, trace, { policy =, options =, seed =, ... })
local function new_simulation(cluster, from, options)
  options = checked(options, sim_options, sim_more)
  local given = {}
  for k, v in pairs(options) do
    given[k] = v
  end
  local read, message, code, detail = as_trace(from)
  local raw = read
  if read then
    raw, message, code, detail = begin(read)
  end
  if not raw then
    return nil, message, code, detail
  end
  local files, why = open_files(given)
  if not files then
    return nil, why, "PAI_EIO", { code = "PAI_EIO", message = why }
  end
  given.policy_options = given.options
  given.tell_log, given.tell_events = given.log, given.events
  given.tell_jobs, given.tell_lines = given.on_job, given.on_line
  for _, name in ipairs { "tell_log", "tell_events", "tell_jobs",
                          "tell_lines" } do
    given[name] = given[name] and true or nil
  end
  local sim
  sim, message, code, detail =
    core.sim.make(cluster, raw, words(given, sim_options),
                  shared.adapted(given.policy), sim_teller(given))
  if not sim then
    for _, file in ipairs(files) do file:close() end
    return nil, message, code, detail
  end
  return setmetatable({ core = sim, files = files }, simulation_class)
end

-- Runs to a time, or to the end; false if the simulation is over.
function simulation:step(till)
  return self.core:step(till or shared.never)
end

-- Returns the report so far.
function simulation:report()
  return new_report(self.core:report())
end

-- Returns a read-only view of its scheduler.
function simulation:scheduler()
  return shared.view(self.core:view(), self)
end

-- Closes the files that the simulation has opened.
function simulation:close()
  for _, file in ipairs(self.files) do
    file:close()
  end
  self.files = {}
  return true
end

function simulation:run()
  local more, message, code, detail = self:step()
  if more == nil then
    return nil, message, code, detail
  end
  return self:report()
end

local function finish(sim, ok, ...)
  sim:close()
  if not ok then
    error((...), 0)
  end
  return ...
end

-- openpai.simulate(cluster, trace, options): runs it, and returns the report.
local function simulate(cluster, from, options)
  return chained(function(sim)
    return finish(sim, pcall(sim.run, sim))
  end, new_simulation(cluster, from, options))
end

for _, name in ipairs { "Trace", "SimReport", "Reports", "Simulation" } do
  rawset(openpai, name, nil)
end
rawset(openpai, "trace", { load = load, parse = parse, of = of,
                           generate = generate })
rawset(openpai, "simulate", simulate)
rawset(openpai, "simulation", new_simulation)
rawset(openpai, "compare", compare)
rawset(openpai, "report", {
  parse = function(text) return new_report(core.report.parse(text)) end,
})
