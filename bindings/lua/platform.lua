-- platform.lua - running jobs as Lua wants it, over SWIG's; in the module
--
-- It is called as scheduler.lua is.
--
-- What waits blocks in the main thread.  In a coroutine of platform:spawn(),
-- or in any one once platform:attach() has the host's loop, it yields instead,
-- and goes on when the platform has done something that it waits for.
local openpai = ...
local shared = openpai._shared -- of scheduler.lua and trace.lua
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

-- Those that wait and may go on.
local function wake(self)
  local waiting = self.waiting
  self.waiting = {}
  for i, one in ipairs(waiting) do
    -- Else somebody else has resumed it meanwhile.
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

-- The coroutine that runs, if what waits in it lets others go on.
local function yields(self)
  local thread, is_main = coroutine.running()
  return thread and not is_main and
    (self.attached or self.spawned[thread]) and thread
end

-- Until ready() is true; what a step fails with.
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

-- Runs a function in a coroutine, in which whatever waits lets others go on.
-- What it raises comes out of run(), or of whoever dispatches.
function platform:spawn(work, ...)
  local thread = coroutine.create(work)
  self.spawned[thread] = true
  local good, message = coroutine.resume(thread, ...)
  if not good then
    error(message, 0)
  end
  return thread
end

-- Until all that was spawned is done.
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

-- Lets a loop of luv's run it: attach(require "luv").
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
      self.attached.arm() -- whatever was raised
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

-- The clock of the loop may be another after this.
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

-- Within what on_event does it is refused: then all stays as it is.
local function close(self, leave)
  local called, good, message, code, detail =
    pcall(self.core.close, self.core, leave)
  if self.attached and self.core:closed() then
    self.attached.close()
    self.attached = nil
  end
  if not called then
    error(good, 0) -- of on_event
  end
  wake(self) -- they hear of it
  if not good then
    return nil, message, code, detail
  end
  return true
end

-- Stops all jobs, waits until they are over, frees everything.
function platform:close() return close(self, false) end
-- The same, but tasks go on: for the next platform of the root.
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
-- What submit() takes besides, also a client's.
local over_the_file = { tags = true }
for name in pairs(job_options) do
  over_the_file[name] = true
end

-- A name, a handle, or a list of these, as names with commas between them.
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

-- Tags, a list or a text with commas between them, as a list; looked at before
-- there is a job.  Another type is an error, as of all options.
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

-- The job with what is given over what its file says, if anything is.
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

-- Takes a job; in the database when this returns, unless called by on_event.
-- Over what its file says: time, after, virtual_cluster, priority; and tags, a
-- list or a text with commas between them.
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

-- The job of a name, "name" or "user~name", or of a number.
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

-- Jobs on record, as items of OpenPAI's API, newest first.
function platform:jobs(query)
  query = checked(query, query_options)
  return self.core:list(words(query, query_options))
end

function platform:status() return self.core:status() end
-- A copy of the scheduler as it is now, to ask, to fork and to drive on.
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


-- With `keep_files` the job's own folder is kept: true, and where that is, or
-- nil if the job has none.
function platform:forget(job, keep_files)
  if not keep_files then
    return self.core:forget(id_of(job))
  end
  local told, message, code, detail = self.core:forget_keep(id_of(job))
  if not told then
    return nil, message, code, detail
  end
  return true, type(told.kept) == "string" and told.kept or nil
end

function platform:state(job) return self.core:state(id_of(job)) end
function platform:dir(job) return self.core:dir(id_of(job)) end

-- Waits until a job is over: its state and its code.
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

view("show", -1) -- the detail object of OpenPAI's API, of an attempt
view("config", "yaml")

function handle:events(kind)
  local told, message, code, detail =
    self.platform.core:events(self.id, kind)
  if not told then
    return nil, message, code, detail
  end
  return told.data
end

function handle:why() return self.platform.core:why(self.id) end
-- How its running tasks are reached by ssh: containers, publicKey.
function handle:ssh() return self.platform.core:ssh(self.id) end

-- The private key that opens them, if the job has made one.
function handle:ssh_key()
  local told, message, code, detail = self.platform.core:ssh_key(self.id)
  if not told then
    return nil, message, code, detail
  end
  return told.privateKey
end

function handle:state() return self.platform:state(self.id) end
function handle:dir() return self.platform:dir(self.id) end
function handle:wait() return self.platform:wait(self.id) end
-- More tasks of a role, or fewer, while it runs.
function handle:rescale(role, tasks)
  return done(self.platform,
              self.platform.core:rescale(self.id, role, tasks))
end

function handle:forget(keep_files)
  return self.platform:forget(self.id, keep_files)
end

-- Asks it to end; with `now` kills it.
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
}

-- A log, of task { role =, index = }; read() and lines() of it.
function handle:logs(options)
  options = checked(options, log_options)
  local reader, message, code, detail =
    self.platform.core:log(self.id, words(options, log_options))
  if not reader then
    return nil, message, code, detail
  end
  return setmetatable({ platform = self.platform, reader = reader,
                        rest = "", at = 1 }, log_class)
end

-- Ends it early.
function log:close()
  self.reader, self.rest, self.at = nil, "", 1
  return true
end

-- Some bytes as they come; "" at the end.
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

-- The next line without its end, or nil.
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

-- All that is left.
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
  -- root =, durable = (true), runtime =, policy =, on_event =; and how long, how
  -- many and how large finished jobs are kept: keep_time = (in microseconds),
  -- keep_jobs =, keep_bytes = (of their logs)
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
    local raw, message, code, detail = core.open(rest, words(kept, limits))
    if not raw then
      return nil, message, code, detail
    end
    return setmetatable({ core = raw, waiting = {},
                          spawned = setmetatable({}, { __mode = "k" }) },
                        platform_class)
  end,
  repair = openpai.repair_root,
})
rawset(openpai, "repair_root", nil)
