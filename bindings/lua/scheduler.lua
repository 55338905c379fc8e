-- scheduler.lua - schedulers and policies; the first Lua part of the module
--
-- Called with the module and functions that encode a value as JSON and decode
-- it. Times are integers of microseconds, memory is in bytes.
local openpai, encode, decode = ...
local core = openpai.Scheduler
local want_keys = {
  tasks = true, gpus = true, cpus = true, memory = true, ports = true,
  type = true, min_tasks = true,
}

-- Raises an error of the caller `level` levels above, which passed a wrong
-- argument.
local function wrong(message, level)
  error(message, level + 2)
end

local function check_table(value, what)
  if type(value) ~= "table" then
    wrong(what .. " is a table, not a " .. type(value), 2)
  end
end

-- Returns work(value) for the result of a call, or nil and its failure.
local function chained(work, value, ...)
  if not value then
    return nil, ...
  end
  return work(value, ...)
end

-- --- decisions --------------------------------------------------------------

local function shape(decisions, ...)
  for _, d in ipairs(decisions or {}) do
    d.kind, d.count, d.tasks, d.places, d.decision =
      d.decision, d.tasks, d.places or {}, nil, nil
    for _, place in ipairs(d.tasks) do
      place.gpus = place.gpus or {}
    end
  end
  return decisions, ...
end

-- --- views ------------------------------------------------------------------

local views = {}
for _, name in ipairs { "now", "sums", "requests", "request", "nodes",
                        "virtual_clusters", "running", "places" } do
  views[name] = function(self, ...)
    return self.core[name](self.core, ...)
  end
end

-- Returns the requests that have waiting instances.
function views:queue()
  local all, message, code, detail = self.core:requests()
  if not all then
    return nil, message, code, detail
  end
  local queue = {}
  for _, request in ipairs(all) do
    if request.waiting > 0 then
      queue[#queue + 1] = request
    end
  end
  return queue
end

local function class(methods)
  for name, view in pairs(views) do
    methods[name] = methods[name] or view
  end
  return { __index = methods }
end

-- --- script policies --------------------------------------------------------

local host = {}
local host_class = class(host)

local function new_host(raw)
  return setmetatable({ core = raw }, host_class)
end

-- for id in host:waiting() do
function host:waiting()
  local id = 0
  return function()
    local next, message = self.core:next_waiting(id)
    if not next then
      error(message, 2)
    end
    id = next
    return id ~= 0 and id or nil
  end
end

-- Returns a list of { id, instance }.
function host:placed()
  return self.core:placed()
end

function host:node(number)
  return self.core:node(number)
end

local function beyond(options)
  return options ~= nil and options.beyond_share or false
end

function host:start(id, place, options)
  return self.core:start(id, place or "topo", beyond(options), false)
end

function host:start_over(id, place, options)
  return self.core:start(id, place or "topo", beyond(options), true)
end

-- Converts { node = NAME or NUMBER, gpus = { NUMBER... } } of each task to
-- words.
local function flat(places)
  check_table(places, "a list of places")
  local list = {}
  for _, place in ipairs(places) do
    local named = type(place.node) == "string"
    list[#list + 1] = named and place.node or ""
    list[#list + 1] = named and 0 or place.node
    list[#list + 1] = table.concat(place.gpus or {}, ",")
  end
  return list
end

function host:start_at(id, places)
  local started, message, code, detail =
    self.core:start_at(id, flat(places), false)
  if started == nil then
    return nil, message, code, detail
  end
  return true
end

function host:claim_at(id, places)
  return self.core:start_at(id, flat(places), true)
end

function host:preempt(id, instance, by)
  return self.core:preempt(id, instance or 0, by or 0)
end

function host:resize(id, instance, want, tasks)
  return self.core:resize(id, instance, want, tasks)
end

-- `more` may have lack, node, behind and ["until"].
function host:refuse(id, text, more)
  more = more or {}
  return self.core:refuse(id, more.lack or "policy", text, more.node,
                          more.behind or 0, more["until"] or 0)
end

local function copied(value, seen)
  if type(value) ~= "table" then
    return value
  end
  if not seen[value] then
    local copy = {}
    seen[value] = copy
    for k, v in pairs(value) do
      copy[copied(k, seen)] = copied(v, seen)
    end
    setmetatable(copy, getmetatable(value))
  end
  return seen[value]
end

-- Returns the fields to save: no functions, and not `name` and `lends`.
local function fields(policy)
  local list = {}
  for k, v in pairs(policy) do
    if type(v) ~= "function" and k ~= "name" and k ~= "lends" then
      list[k] = v
    end
  end
  return list
end

-- Makes the object whose methods script.c calls.
local function adapter(policy)
  local a = { name = policy.name or "lua", lends = policy.lends or false,
              hears = policy.event ~= nil }

  function a.open(raw, options)
    local given = decode(options)
    if policy.open then
      policy:open(new_host(raw), given)
    elseif next(given) ~= nil then
      error("the policy takes no options: it has no open()", 0)
    end
  end

  function a.decide(raw)
    policy:decide(new_host(raw))
  end

  function a.event(raw, event)
    policy:event(new_host(raw), decode(event))
  end

  function a.clone()
    return adapter(policy.clone and policy:clone() or copied(policy, {}))
  end

  function a.save()
    if policy.save then
      return encode(policy:save())
    end
    return encode(fields(policy))
  end

  function a.load(raw, both)
    local list = decode(both)
    if policy.open then
      policy:open(new_host(raw), list[1])
    end
    if policy.load then
      policy:load(list[2])
    else
      for k, v in pairs(list[2]) do
        policy[k] = v
      end
    end
  end

  return a
end

local function adapted(policy)
  if policy == nil or type(policy) == "string" then
    return policy
  end
  if type(policy) ~= "table" or type(policy.decide) ~= "function" then
    wrong("a policy is a name, or a table with decide()", 2)
  end
  return adapter(policy)
end

-- --- schedulers -------------------------------------------------------------

-- Methods of all schedulers, also of views of simulations and replays.
local looks = {}
local scheduler = {}
local scheduler_class = class(scheduler)
local view = {}
local view_class = class(view)

local function wrapped(raw, ...)
  if not raw then
    return nil, ...
  end
  return setmetatable({ core = raw }, scheduler_class)
end

local options_known = {
  policy = true, options = true, first_port = true, last_port = true,
  unchecked = true,
}

-- openpai.scheduler(cluster, { policy = NAME or TABLE, options = TABLE, ... })
local function new(_, cluster, options)
  options = options or {}
  check_table(options, "the options")
  for name in pairs(options) do
    if not options_known[name] then
      wrong("options are policy, options, first_port, last_port and unchecked",
            1)
    end
  end
  return wrapped(core.make(cluster, encode(options.options or {}),
                           options.first_port or 0, options.last_port or 0,
                           options.unchecked or false,
                           adapted(options.policy)))
end

-- Loads a saved scheduler. `policy` and `shadow` are script policies that the
-- text names, or `policy` is the name of a built-in one that decides from now
-- on.
local function load(text, policy, shadow)
  return wrapped(core.load(text, adapted(policy), adapted(shadow)))
end

-- for decision in openpai.scheduler.replay(PATH or FUNCTION, policy) do
local function replay(log, policy, shadow)
  local lines = type(log) == "string" and io.lines(log) or log
  local s, list, i = nil, {}, 0
  return function()
    while i == #list do
      local line = lines()
      if line == nil then
        return nil
      end
      if s == nil then
        s = assert(load(line, policy, shadow))
      elseif line:find("%S") and assert(s.core:send(line)) > 0 then
        list, i = assert(s:decisions()), 0
      end
    end
    i = i + 1
    return list[i]
  end
end

-- Returns true, or the failure.
local function done(answer, ...)
  if answer == nil then
    return nil, ...
  end
  return true
end

function scheduler:send(event)
  if type(event) ~= "string" then
    check_table(event, "an event")
    if event.time == nil then
      local timed = { time = self:now() }
      for k, v in pairs(event) do
        timed[k] = v
      end
      event = timed
    end
  end
  return done(self.core:send(event))
end

local function listed(after)
  local list = {}
  for i, other in ipairs(after) do
    list[i] = type(other) == "table" and other or { id = other }
  end
  return list[1] and list or nil
end

-- Rounds to thousandths of CPUs, to undo errors of arithmetic, as in 0.1 +
-- 0.2.
local function cpus(value)
  local milli = type(value) == "number" and math.floor(value * 1000 + 0.5)
  if milli and math.abs(value * 1000 - milli) < 1e-6 and
      (milli ~= 0 or value == 0) then
    return milli / 1000
  end
  return value
end

local function exact(want)
  if type(want) ~= "table" or want.cpus == nil then
    return want
  end
  local copy = {}
  for k, v in pairs(want) do
    copy[k] = k == "cpus" and cpus(v) or v
  end
  return copy
end

-- { id =, tasks =, gpus =, ... }, or { id =, wants = { { tasks = }, ... } }
function scheduler:submit(request, time)
  check_table(request, "a request")
  local sent, want = {}, {}
  for k, v in pairs(request) do
    if want_keys[k] then
      want[k] = v
    else
      sent[k] = v
    end
  end
  if sent.wants and next(want) ~= nil then
    wrong("tasks are described by wants, or without it", 1)
  end
  sent.wants = sent.wants or { want }
  if type(sent.wants) == "table" then
    local wants = {}
    for i, each in ipairs(sent.wants) do
      wants[i] = exact(each)
    end
    sent.wants = wants
  end
  sent.after = sent.after and listed(sent.after)
  return self:send { event = "submit", request = sent, time = time }
end

-- { priority = 5, held = false }. If one change fails, those before it stay.
function scheduler:change(id, what, time)
  check_table(what, "what is changed")
  local keys = {}
  for key in pairs(what) do
    if key ~= "want" then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local value = what[key]
    if type(value) == "boolean" then
      value = value and 1 or 0
    elseif key == "cpus" then
      value = cpus(value)
    end
    local ok, message, code, detail = self:send {
      event = "change", id = id, key = key, value = value, want = what.want,
      time = time,
    }
    if not ok then
      return nil, message, code, detail
    end
  end
  return true
end

function scheduler:cancel(id, instance, time)
  return self:send { event = "cancel", id = id, instance = instance,
                     time = time }
end

for _, kind in ipairs { "started", "returned", "resized" } do
  scheduler[kind] = function(self, id, instance, time)
    return self:send { event = kind, id = id, instance = instance,
                       time = time }
  end
end

function scheduler:finished(id, instance, ok, time)
  return self:send { event = "finished", id = id, instance = instance,
                     code = ok == false and 1 or 0, time = time }
end

function scheduler:node(name, state, why, gpu, time)
  return self:send { event = "node", node = name, state = state, why = why,
                     gpu = gpu, time = time }
end

-- { name =, from =, to =, nodes =, vc =, user = }
function scheduler:reserve(reservation, time)
  return self:send { event = "reserve", reservation = reservation,
                     time = time }
end

function scheduler:unreserve(name, time)
  return self:send { event = "unreserve", name = name, time = time }
end

function scheduler:cluster(new_one, time)
  return self.core:cluster(new_one, time or self:now())
end

local function set(self, beside, policy, options, time)
  return done(self.core:policy(time or self:now(), beside,
                               options and encode(options), adapted(policy)))
end

function scheduler:set_policy(policy, options, time)
  return set(self, false, policy, options, time)
end

-- Sets the shadow policy; nil: none.
function scheduler:set_shadow(policy, options, time)
  return set(self, true, policy, options, time)
end

function scheduler:decide(now)
  return shape(self.core:decide(now or self:now()))
end

function scheduler:decisions()
  return shape(self.core:decisions())
end

-- Returns what the shadow would have decided in the last decide(), until
-- something changes; nil if there is no shadow, or it has failed.
function scheduler:shadow_decisions()
  local told, message, code, detail = self.core:beside()
  if type(told) ~= "table" then -- JSON's null is no table
    return nil, message, code, detail
  end
  return shape(told)
end

-- Returns the time of the next event, or nil if there is none.
function scheduler:next_time()
  local time, message, code, detail = self.core:next_time()
  if time == math.maxinteger or time and time >= 2 ^ 63 then
    return nil
  end
  return time, message, code, detail
end

function looks:allocation(id, instance)
  return self.core:allocation(id, instance or 0)
end

function looks:explain(id)
  return chained(function(text)
    return (text:gsub("\n$", ""))
  end, self.core:explain(id))
end

function looks:reason(id)
  return self.core:explain_json(id)
end

function looks:fork()
  return wrapped(self.core:fork())
end

function looks:save()
  return self.core:save()
end

-- Logs to a path, a file, or a function that gets lines; nil: stops logging.
-- { snapshots = true, every = BYTES } makes seeking in the log fast.
function scheduler:log(to, options)
  local file = to
  options = options or {}
  local ok, why, code, detail =
    self.core:log_options(options.snapshots or false, options.every or 0)
  if not ok then
    return nil, why, code, detail
  end
  if to == nil then
    return self.core:log(nil)
  end
  if type(to) == "string" then
    local message
    file, message = io.open(to, "w")
    if not file then
      return nil, message, "PAI_EIO", { code = "PAI_EIO", message = message }
    end
    file:setvbuf("line")
  end
  local write = file
  if type(file) ~= "function" then
    write = function(line)
      assert(file:write(line))
    end
  end
  return self.core:log { write = write }
end

function view_class.__tostring(self)
  local s = assert(self.core:sums())
  return ("scheduler '%s': %d nodes, %d of %d GPUs free, %d waiting, " ..
          "%d running"):format(s.policy, s.nodes, s.free_gpus, s.gpus,
                               s.waiting, s.running)
end

scheduler_class.__tostring = view_class.__tostring

-- For the other parts in Lua; the last one removes it.
rawset(openpai, "_shared", {
  adapted = adapted, chained = chained, looks = looks,
  never = math.maxinteger or 2 ^ 62,
  shape = shape,
  view = function(raw, owner) -- keeps `owner` alive
    return setmetatable({ core = raw, owner = owner }, view_class)
  end,
  adopt = function()
    for name, method in pairs(looks) do
      scheduler[name], view[name] = method, method
    end
  end,
})

rawset(openpai, "Scheduler", nil)
rawset(openpai, "scheduler",
       setmetatable({ load = load, replay = replay }, { __call = new }))
