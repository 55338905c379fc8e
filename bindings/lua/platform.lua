-- platform.lua - a platform, its jobs and logs; a part of the module
--
-- Called as scheduler.lua is.
--
-- A call that waits blocks in the main thread. It yields in a coroutine of
-- platform:spawn(), or in any coroutine after platform:attach() to the host's
-- loop. The coroutine continues when the platform has done what it waits for.
local openpai = ...
local shared = openpai._shared -- of scheduler.lua and trace.lua
local chained = shared.chained
local core = openpai.Platform
local words, checked = shared.words, shared.checked
local platform, handle, log = {}, {}, {}
local platform_class = { __index = platform, __name = "openpai.platform" }
local handle_class = { __index = handle, __name = "openpai.handle" }
local log_class = { __index = log, __name = "openpai.log" }
local final = { succeeded = true, failed = true, stopped = true }

local function id_of(job)
  return getmetatable(job) == handle_class and job.id or job
end

-- --- waiting -------------------------------------------------------------------

-- Resumes the coroutines whose condition is true.
local function wake(self)
  local waiting = self.waiting
  self.waiting = {}
  for i, one in ipairs(waiting) do
    -- `left`: other code resumed it meanwhile.
    if not one.left and one.ready() then
      local good, message = coroutine.resume(one.thread)
      if not good then
        for k = i + 1, #waiting do
          self.waiting[#self.waiting + 1] = waiting[k]
        end
        error(message, 0)
      end
    elseif not one.left then
      self.waiting[#self.waiting + 1] = one
    end
  end
end

-- Returns the running coroutine, if calls in it yield instead of blocking.
local function yields(self)
  local thread, is_main = coroutine.running()
  return thread and not is_main and
    (self.attached or self.spawned[thread]) and thread
end

-- Waits until ready() is true. Returns nil and the failure if a step fails.
local function wait_until(self, ready)
  local thread = yields(self)
  while not ready() do
    if thread then
      local one = { thread = thread, ready = ready }
      self.waiting[#self.waiting + 1] = one
      coroutine.yield()
      one.left = true
    else
      local more, message, code, detail = self.core:step(-1)
      if more == nil then
        return nil, message, code, detail
      end
    end
  end
  return true
end

-- Runs a function in a coroutine, in which calls that wait yield. Its errors
-- are raised by run(), or by the caller of dispatch().
function platform:spawn(work, ...)
  local thread = coroutine.create(work)
  self.spawned[thread] = true
  local good, message = coroutine.resume(thread, ...)
  if not good then
    error(message, 0)
  end
  return thread
end

-- Runs until no coroutine waits any more.
function platform:run()
  while #self.waiting > 0 do
    local more, message, code, detail = self.core:step(-1)
    if more == nil then
      return nil, message, code, detail
    end
    wake(self)
  end
  return true
end

-- Attaches to a loop of luv, which then runs the platform: attach(require
-- "luv").
function platform:attach(uv)
  if self.attached then
    return nil, "the platform is attached already", "PAI_EBUSY"
  end
  local fd, message, code, detail = self.core:fileno()
  if not fd then
    return nil, message, code, detail
  end
  local poll, timer = assert(uv.new_poll(fd)), assert(uv.new_timer())
  local function go()
    local good, message = pcall(self.dispatch, self)
    if self.attached then
      self.attached.arm() -- also after an error
    end
    if not good then
      error(message, 0)
    end
  end
  self.attached = {
    arm = function()
      local ms = self.core:timeout_ms()
      timer:stop()
      if ms and ms >= 0 then
        timer:start(ms, 0, go)
      end
    end,
    close = function()
      poll:stop()
      poll:close()
      timer:close()
    end,
  }
  poll:start("r", go)
  self.attached.arm()
  return true
end

-- Sets the timer of the attached loop again, after a call that may change it.
local function done(self, ...)
  if self.attached then
    self.attached.arm()
  end
  return ...
end

shared.waiting = { wake = wake, wait_until = wait_until, done = done,
                   yields = yields, spawn = platform.spawn, run = platform.run,
                   attach = platform.attach }

-- --- platforms -------------------------------------------------------------------

function platform:fileno() return self.core:fileno() end
function platform:timeout_ms() return self.core:timeout_ms() end
function platform:closed() return self.core:closed() end

function platform:dispatch()
  local more, message, code, detail = self.core:dispatch()
  if more == nil then
    return nil, message, code, detail
  end
  wake(self)
  return done(self, more or #self.waiting > 0)
end

-- Closes or leaves. In on_event the core refuses that, and nothing changes.
local function close(self, leave)
  local called, good, message, code, detail =
    pcall(self.core.close, self.core, leave)
  if self.attached and self.core:closed() then
    self.attached.close()
    self.attached = nil
  end
  if not called then
    error(good, 0) -- raised by on_event
  end
  wake(self) -- waiting coroutines see that it is closed
  if not good then
    return nil, message, code, detail
  end
  return true
end

-- Stops all jobs, waits until they are over, and frees the platform.
function platform:close() return close(self, false) end
-- Closes without stopping tasks, for the next platform of the root.
function platform:leave() return close(self, true) end

local job_options = {
  time = "text", after = "text", virtual_cluster = "text", priority = "text",
}
local limits = {
  keep_time = "number", keep_jobs = "number", keep_bytes = "number",
}
local submit_options = {
  name = "text", user = "text", code_dir = "text", work_dir = "text",
}
-- Options of submit(), also of a client, that change the job file or add tags.
local over_the_file = { tags = true }
for name in pairs(job_options) do
  over_the_file[name] = true
end

-- Returns the names of jobs, separated by commas: of a name, a handle, or a
-- list.
local function names(jobs)
  if type(jobs) ~= "table" or getmetatable(jobs) == handle_class then
    jobs = { jobs }
  end
  local list = {}
  for i, job in ipairs(jobs) do
    if getmetatable(job) == handle_class then
      local status, message, code, detail = job:show()
      if not status then
        return nil, message, code, detail
      end
      job = status.jobStatus.username .. "~" .. status.name
    end
    list[i] = job
  end
  return table.concat(list, ",")
end

local most_tag = 512 -- bytes

-- Converts tags, a list or a text with commas, to a list. They are checked
-- before the job is submitted. Another type raises an error, as for all
-- options.
local function tags_of(given)
  local list = {}
  if type(given) == "string" then
    for tag in given:gmatch("[^,]+") do
      list[#list + 1] = tag
    end
  elseif type(given) == "table" then
    list = given
  elseif given ~= nil then
    error("tags are a list or a text, not a " .. type(given), 3)
  end
  for _, tag in ipairs(list) do
    if type(tag) ~= "string" then
      error("a tag is a text, not a " .. type(tag), 3)
    elseif #tag < 1 or #tag > most_tag or tag:find(",", 1, true) or
           tag:find("\0", 1, true) then
      local message = ("the tag %q is wrong: a tag has 1 to %d bytes, no " ..
        "comma and no NUL"):format(tag:sub(1, 80), most_tag)
      return nil, message, "PAI_EINVAL",
             { code = "PAI_EINVAL", message = message, retriable = false }
    end
  end
  return list
end

-- Returns a copy of the job with the options in its file; the job itself
-- without.
local function job_with(job, options)
  local given, message, code, detail = {}, nil, nil, nil
  for name in pairs(job_options) do
    given[name] = options[name]
  end
  if given.after ~= nil then
    given.after, message, code, detail = names(given.after)
    if not given.after then
      return nil, message, code, detail
    end
  end
  if next(given) == nil then
    return job
  end
  return job:with_options(words(given, job_options))
end

-- Submits a job. It is in the database on return, unless on_event calls this.
-- time, after, virtual_cluster and priority override the job file; tags is a
-- list, or a text with commas.
function platform:submit(job, options)
  options = checked(options, submit_options, over_the_file)
  local tags, message, code, detail = tags_of(options.tags)
  if not tags then
    return nil, message, code, detail
  end
  local id
  job, message, code, detail = job_with(job, options)
  if not job then
    return nil, message, code, detail
  end
  local fields = words(options, submit_options)
  id, message, code, detail = self.core:submit(job, fields)
  local number = 2
  while not id and code == "PAI_EEXISTS" and not options.name and
        number < 10000 do
    local other = { name = ("%s_%d"):format(job:name(), number) }
    for name, value in pairs(options) do
      other[name] = value
    end
    id, message, code, detail =
      self.core:submit(job, words(other, submit_options))
    number = number + 1
  end
  if not id then
    return nil, message, code, detail
  end
  local handle = setmetatable({ platform = self, id = id }, handle_class)
  for _, tag in ipairs(tags) do
    local good
    good, message, code, detail = handle:tag(tag)
    if not good then
      return nil, message, code, detail
    end
  end
  return done(self, handle)
end

-- Returns the job with a name, "name" or "user~name", or a number.
function platform:job(name)
  local id, message, code, detail = name, nil, nil, nil
  if type(name) == "string" then
    id, message, code, detail = self.core:find(name)
    if not id then
      return nil, message, code, detail
    end
  else
    local state
    state, message, code, detail = self.core:state(id)
    if not state then
      return nil, message, code, detail
    end
  end
  return setmetatable({ platform = self, id = id }, handle_class)
end

local query_options = {
  states = "text", users = "text", virtual_clusters = "text", tags = "text",
  not_tags = "text", priorities = "text", keyword = "text", order = "text",
  offset = "number", limit = "number",
}

-- Returns recorded jobs, as objects of OpenPAI's API, newest first.
function platform:jobs(query)
  query = checked(query, query_options)
  return self.core:list(words(query, query_options))
end

function platform:status() return self.core:status() end
-- Returns a fork of the current scheduler.
function platform:scheduler()
  local text, message, code, detail = self.core:snapshot()
  if not text then return nil, message, code, detail end
  return openpai.scheduler.load(text)
end
function platform:backup(path) return self.core:backup(path) end
function platform:export(path) return self.core:save_all(path) end

function platform:stop(job)
  return done(self, self.core:stop(id_of(job)))
end


-- Removes a job that is over. With `keep_files` the job's own folder is kept.
-- Returns true, and that folder, or nil if the job has none.
function platform:forget(job, keep_files)
  if not keep_files then
    return self.core:forget(id_of(job))
  end
  return chained(function(told)
    return true, type(told.kept) == "string" and told.kept or nil
  end, self.core:forget_keep(id_of(job)))
end

function platform:state(job) return self.core:state(id_of(job)) end
function platform:dir(job) return self.core:dir(id_of(job)) end

-- Waits until a job is over. Returns its state and its completion code.
function platform:wait(job)
  local id = id_of(job)
  if not yields(self) then
    return self.core:wait(id)
  end
  local good, message, code, detail = wait_until(self, function()
    local state = self.core:state(id)
    return not state or final[state]
  end)
  if not good then
    return nil, message, code, detail
  end
  return self.core:state(id)
end

-- --- jobs ----------------------------------------------------------------------------

local function view(name, ...)
  local given = { ... }
  handle[name] = function(self, argument)
    return self.platform.core[name](self.platform.core, self.id,
                                    argument ~= nil and argument or given[1])
  end
end

view("show", -1) -- the job detail of OpenPAI's API, of an attempt
view("config", "yaml")

function handle:events(kind)
  return chained(function(told)
    return told.data
  end, self.platform.core:events(self.id, kind))
end

function handle:why() return self.platform.core:why(self.id) end
-- Returns how to reach its running tasks by ssh: containers, publicKey.
function handle:ssh() return self.platform.core:ssh(self.id) end

-- Returns the private key for that, if the job has made one.
function handle:ssh_key()
  return chained(function(told)
    return told.privateKey
  end, self.platform.core:ssh_key(self.id))
end

function handle:state() return self.platform:state(self.id) end
function handle:dir() return self.platform:dir(self.id) end
function handle:wait() return self.platform:wait(self.id) end
-- Changes the number of tasks of a role while the job runs.
function handle:rescale(role, tasks)
  return done(self.platform,
              self.platform.core:rescale(self.id, role, tasks))
end

function handle:forget(keep_files)
  return self.platform:forget(self.id, keep_files)
end

-- Asks the job to stop; with `now` kills it.
function handle:stop(now)
  local good, message, code, detail = self.platform:stop(self.id)
  if not good then
    return nil, message, code, detail
  end
  if now then
    self.platform:stop(self.id)
  end
  return true
end

function handle:tag(tag) return self.platform.core:tag(self.id, tag, true) end
function handle:untag(tag)
  return self.platform.core:tag(self.id, tag, false)
end

handle_class.__eq = function(a, b)
  return a.id == b.id and a.platform == b.platform
end

handle_class.__tostring = function(self)
  return ("openpai.handle %d: %s"):format(self.id, self:state() or "gone")
end

-- --- logs ------------------------------------------------------------------------------

local log_options = {
  attempt = "number", role = "text", index = "number", retry = "number",
  name = "text", tail = "number", offset = "number", follow = "flag",
  since = "number",
}

-- Returns a log of task { role =, index = }, with read() and lines(). tail =
-- and since = are as for client:logs().
function handle:logs(options)
  options = checked(options, log_options)
  if type(options.since) == "number" and options.since < 0 then
    local copy = {}
    for name, value in pairs(options) do
      copy[name] = value
    end
    copy.since = os.time() * 1000000 + options.since
    options = copy
  end
  return chained(function(reader)
    return setmetatable({ platform = self.platform, reader = reader,
                          rest = "", at = 1 }, log_class)
  end, self.platform.core:log(self.id, words(options, log_options)))
end

-- Closes the log early.
function log:close()
  self.reader, self.rest, self.at = nil, "", 1
  return true
end

-- Returns some bytes as they come; "" at the end.
function log:take()
  if not self.reader then
    return ""
  end
  local good, message, code, detail = wait_until(self.platform, function()
    return not self.reader or self.reader:state() ~= 0
  end)
  if not good then
    return nil, message, code, detail
  end
  if not self.reader or self.reader:state() < 0 then
    return ""
  end
  return self.reader:take()
end

-- Returns the next line without its end, or nil.
function log:line()
  local from = self.at
  while true do
    local stop = self.rest:find("\n", from, true)
    if stop then
      local line = self.rest:sub(self.at, stop - 1)
      self.at = stop + 1
      return line
    end
    local bytes, message, code, detail = self:take()
    if not bytes then
      return nil, message, code, detail
    end
    local rest = self.rest:sub(self.at)
    if bytes == "" then
      self.rest, self.at = "", 1
      return rest ~= "" and rest or nil
    end
    self.rest, self.at, from = rest .. bytes, 1, #rest + 1
  end
end

function log:lines()
  return function() return self:line() end
end

-- Returns all that is left.
function log:read()
  local parts = { self.rest:sub(self.at) }
  self.rest, self.at = "", 1
  while true do
    local bytes, message, code, detail = self:take()
    if not bytes then
      return nil, message, code, detail
    elseif bytes == "" then
      return table.concat(parts)
    end
    parts[#parts + 1] = bytes
  end
end

shared.log, shared.platform, shared.handle = log, platform, handle
shared.job_with, shared.over_the_file = job_with, over_the_file
shared.tags_of = tags_of
rawset(openpai, "Platform", nil)
rawset(openpai, "LogReader", nil)
rawset(openpai, "platform", {
  -- Options: root =, durable = (true), runtime =, policy =, on_event =. Limits
  -- of finished jobs: keep_time = (microseconds), keep_jobs =, keep_bytes =
  -- (of their logs).
  open = function(options)
    local kept, rest = {}, options or {}
    if type(options) == "table" then
      rest = {}
      for name, value in pairs(options) do
        if limits[name] then
          kept[name] = value
        else
          rest[name] = value
        end
      end
    end
    return chained(function(raw)
      return setmetatable({ core = raw, waiting = {},
                            spawned = setmetatable({}, { __mode = "k" }) },
                          platform_class)
    end, core.open(rest, words(kept, limits)))
  end,
  repair = openpai.repair_root,
})
rawset(openpai, "repair_root", nil)
