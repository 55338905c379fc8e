-- client.lua - a client of a server as Lua wants it, over SWIG's; in the module
--
-- It is called as scheduler.lua is.  What waits does so as a platform's does:
-- it blocks in the main thread, and yields in a coroutine of client:spawn(), or
-- in any one once client:attach() has the host's loop.
local openpai, encode, decode = ...
local shared = openpai._shared -- of scheduler.lua, trace.lua and platform.lua
local core = openpai.Client
local words, checked, waiting = shared.words, shared.checked, shared.waiting
local client, log, watch = {}, {}, {}
local client_class = { __index = client, __name = "openpai.client" }
local log_class = { __index = log, __name = "openpai.client.log" }
local watch_class = { __index = watch, __name = "openpai.client.watch" }

client.spawn, client.run = waiting.spawn, waiting.run
client.attach = waiting.attach

function client:fileno() return self.core:fileno() end
function client:timeout_ms() return self.core:timeout_ms() end
function client:closed() return self.core:closed() end

function client:dispatch()
  local more, message, code, detail = self.core:dispatch()
  if more == nil then
    return nil, message, code, detail
  end
  waiting.wake(self)
  return waiting.done(self, more or #self.waiting > 0)
end

-- Ends what is still asked with PAI_ECANCELED.
function client:close()
  local good, message, code, detail = self.core:close()
  if self.attached and self.core:closed() then
    self.attached.close()
    self.attached = nil
  end
  waiting.wake(self) -- they hear of it
  if not good then
    return nil, message, code, detail
  end
  return true
end

-- --- asking ----------------------------------------------------------------------

local function begin(self, kind, fields, text, code)
  local list = {}
  for name, value in pairs(fields or {}) do
    if type(value) == "boolean" then
      value = value and "1" or "0"
    elseif type(value) == "number" then
      value = ("%d"):format(value)
    elseif type(value) ~= "string" then
      error(name .. " is a text, not a " .. type(value), 4)
    end
    list[#list + 1] = name
    list[#list + 1] = value
  end
  local call, message, name, detail =
    self.core:call(kind, list, text or "", code or "")
  if not call then
    return nil, message, name, detail
  end
  return waiting.done(self, call)
end

-- What came of it, and its body.
local function asked(self, kind, fields, text, code)
  local call, message, name, detail = begin(self, kind, fields, text, code)
  if not call then
    return nil, message, name, detail
  end
  local good
  good, message, name, detail = waiting.wait_until(self, function()
    return call:state() ~= 0
  end)
  if not good then
    return nil, message, name, detail
  end
  local answer
  answer, message, name, detail = call:answer()
  if not answer then
    return nil, message, name, detail
  end
  return answer, call:body()
end

-- What a server has answered may be no JSON.
local function read(body)
  local good, value = pcall(decode, body)
  if good then
    return value
  end
  local message = "what the server has answered cannot be read: " .. value
  return nil, message, "PAI_EIO",
         { code = "PAI_EIO", message = message, retriable = false }
end

-- The JSON of the body.
local function told(self, kind, fields)
  local answer, body, code, detail = asked(self, kind, fields)
  if not answer then
    return nil, body, code, detail
  end
  return read(body ~= "" and body or "true")
end

-- Whether it was done.
local function done(self, kind, fields)
  local answer, message, code, detail = asked(self, kind, fields)
  if not answer then
    return nil, message, code, detail
  end
  return true
end

-- --- who asks ----------------------------------------------------------------------

function client:login(user, password)
  return told(self, "login", { user = user, password = password })
end

function client:logout() return done(self, "logout") end
function client:info() return told(self, "info") end
function client:users() return told(self, "users") end

-- The token that is used now, to be kept where secrets are; or nil.
function client:token()
  local who, message, code, detail = self.core:who()
  if not who then
    return nil, message, code, detail
  end
  return who.token
end

function client:user()
  local who, message, code, detail = self.core:who()
  if not who then
    return nil, message, code, detail
  end
  return who.user
end

local request_options = {
  method = "text", path = "text", type = "text", accept = "text",
}

-- Anything: { method =, path =, json = any value, or data = bytes and type = }.
-- The answer has http_status, type, body, tries and, if the body is JSON, json.
function client:request(options)
  options = checked(options, request_options, { json = true, data = true })
  local fields, body = {}, options.data
  for name in pairs(request_options) do
    fields[name] = options[name]
  end
  if options.json ~= nil then
    body = encode(options.json)
  end
  local answer, bytes, code, detail = asked(self, "ask", fields, body)
  if not answer then
    return nil, bytes, code, detail
  end
  local made = { http_status = answer.status, type = answer.type,
                 tries = answer.tries, body = bytes }
  if (answer.type or ""):find("^application/json") then
    made.json = read(bytes)
  end
  return made
end

-- --- jobs ---------------------------------------------------------------------------

local submit_options = { name = "text" }

local more_options = { code = true }
for name in pairs(shared.over_the_file) do
  more_options[name] = true
end

-- Adds the tags, a list, of a job that was submitted.
local function tagged(self, name, tags)
  for _, tag in ipairs(tags) do
    local good, message, code, detail = self:tag(name, tag)
    if not good then
      return nil, message, code, detail
    end
  end
  return name
end

-- Submits a job, or the text of a file: "user~name".  code = bytes of a tar
-- archive of the folder that its commands begin in; time, after, priority,
-- virtual_cluster and tags as of a platform's.
function client:submit(job, options)
  options = checked(options, submit_options, more_options)
  local tags, message, code, detail = shared.tags_of(options.tags)
  if not tags then
    return nil, message, code, detail
  end
  local text = job
  if type(job) == "string" and (options.time or options.after or
      options.virtual_cluster or options.priority) then
    job, message, code, detail = openpai.job.parse(job)
  end
  if job and type(job) ~= "string" then
    job, message, code, detail = shared.job_with(job, options)
  end
  if not job then
    return nil, message, code, detail
  end
  if type(job) ~= "string" then
    text, message, code, detail = job:to_yaml { secrets = true }
    if not text then
      return nil, message, code, detail
    end
  end
  local answer, body
  answer, body, code, detail =
    asked(self, "submit", { name = options.name }, text, options.code)
  if not answer then
    return nil, body, code, detail
  end
  local said = body:find("^%s*{") and read(body) or {}
  local made = said.name or options.name or
    assert(openpai.job.parse(text)):name()
  if made:find("~", 1, true) then
    return tagged(self, made, tags)
  end
  local user = self:user()
  if not user then -- a socket tells the platform, but not the client
    local status
    status, message, code, detail = self:job(made)
    if not status then
      return nil, message, code, detail
    end
    user = status.jobStatus.username
  end
  return tagged(self, user .. "~" .. made, tags)
end

local query_options = {
  states = "text", users = "text", virtual_clusters = "text", tags = "text",
  not_tags = "text", priorities = "text", keyword = "text", order = "text",
  offset = "number", limit = "number",
}

-- A page of jobs, as items of OpenPAI's API, newest first.
function client:jobs(query)
  return told(self, "jobs", checked(query, query_options))
end

function client:job(name) return told(self, "job", { job = name }) end
function client:config(name) return told(self, "config", { job = name }) end
function client:stop(name) return done(self, "stop", { job = name }) end

-- Removes a job that is over; with `keep_files` its own folder is kept.  True,
-- and the folder that was kept, or nil.
function client:forget(name, keep_files)
  local path = name:gsub("[^%w~._-]", function(c)
    return ("%%%02X"):format(c:byte())
  end)
  local answer, body, code, detail = asked(self, "ask", {
    method = "DELETE",
    path = "/api/v2/jobs/" .. path .. (keep_files and "?keepFiles=true" or "")
  })
  if not answer then
    return nil, body, code, detail
  end
  local said, message
  said, message, code, detail = read(body)
  if not said then
    return nil, message, code, detail
  end
  return true, type(said.kept) == "string" and said.kept or nil
end

function client:tag(name, tag)
  return done(self, "tag", { job = name, tag = tag })
end

function client:untag(name, tag)
  return done(self, "untag", { job = name, tag = tag })
end

-- Waits until a job is over: its state and its code.
function client:wait(name)
  local answer, message, code, detail = asked(self, "wait", { job = name })
  if not answer then
    return nil, message, code, detail
  end
  return answer.state:lower(), answer.code
end

-- Those of `does` on this client, of a job.
local function commands(does)
  return function(self, job, command, options)
    return does(self, function(...)
      return self.core:enter(...)
    end, command, options, { job = job }, function()
      return self:job(job)
    end)
  end
end

-- Commands in a task that runs: as handle:exec() and handle:session().
client.exec = commands(shared.execute)
client.session = commands(shared.converse)

-- --- what comes piece by piece ---------------------------------------------------------

-- Some bytes as they come; "" at the end.  What nobody takes waits at the
-- server, but for some 256 KiB.
local function take(self)
  local call = self.call
  if not call then
    return ""
  end
  local good, message, code, detail = waiting.wait_until(self.client,
    function()
      return self.call ~= call or call:state() ~= 0
    end)
  if not good then
    return nil, message, code, detail
  elseif self.call ~= call then
    return "" -- it was closed meanwhile
  elseif call:state() > 0 then
    return waiting.done(self.client, call:take()) -- more may come now
  end
  self.call = nil
  good, message, code, detail = call:answer()
  if not good then
    return nil, message, code, detail
  end
  return ""
end

-- Ends it early.
local function close(self)
  local call = self.call
  self.call, self.rest, self.at = nil, "", 1
  if call then
    call:cancel()
    if not self.client:closed() then
      self.client:dispatch()
    end
  end
  return true
end

log.take, log.close = take, close
log.line, log.lines, log.read = shared.log.line, shared.log.lines,
  shared.log.read

local log_options = {
  role = "text", index = "number", name = "text", offset = "number",
  follow = "flag",
}

-- A log of a task's latest start, { role =, index = }; without a role, of any of
-- them.
function client:logs(job, options)
  options = checked(options, log_options)
  local fields = { job = job }
  for name in pairs(log_options) do
    fields[name] = options[name]
  end
  if not fields.role then
    local status, message, code, detail = self:job(job)
    if not status then
      return nil, message, code, detail
    end
    fields.role = next(status.taskRoles)
  end
  local call, message, code, detail = begin(self, "logs", fields)
  if not call then
    return nil, message, code, detail
  end
  return setmetatable({ client = self, call = call, rest = "", at = 1 },
                      log_class)
end

-- States of a job until it is over, or of all that are not: as they are, then
-- what changes.  for change in client:watch(job) do: job, state, code.
function client:watch(job)
  local call, message, code, detail = begin(self, "watch", { job = job })
  if not call then
    return nil, message, code, detail
  end
  return setmetatable({ client = self, call = call, rest = "", at = 1 },
                      watch_class)
end

watch.take, watch.close, watch.line = take, close, shared.log.line

-- The next one, or nil.
function watch:next()
  local line, message, code, detail = self:line()
  if not line then
    return nil, message, code, detail
  end
  local change = decode(line)
  return { job = change.job, state = change.state:lower(),
           code = change.final and change.code or nil }
end

watch_class.__call = watch.next

shared.client, shared.asks = client, { told = told, done = done } -- files.lua

-- --- the module --------------------------------------------------------------------------

local client_options = {
  url = "text", socket = "text", root = "text", token = "text", user = "text",
  password = "text", ca_file = "text", cert_file = "text", key_file = "text",
  proxy = "text", most_tries = "number", connect_time = "number",
  idle_time = "number", total_time = "number", first_wait = "number", stream_time = "number",
  most_wait = "number",
}

rawset(openpai, "Client", nil)
rawset(openpai, "Call", nil)
-- { url = } or { socket = } or { root = }, by default this user's platform of
-- `openpai up`.  Times are in seconds.
rawset(openpai, "client", function(options)
  options = checked(options, client_options)
  local given = {}
  for name, value in pairs(options) do
    if name:find("_time$") or name:find("_wait$") then
      value = math.floor(value * 1000000)
    end
    given[name] = value
  end
  if given.root then
    given.socket, given.root = given.root .. "/socket", nil
  end
  local raw, message, code, detail =
    core.open(words(given, client_options))
  if not raw then
    return nil, message, code, detail
  end
  return setmetatable({ core = raw, waiting = {},
                        spawned = setmetatable({}, { __mode = "k" }) },
                      client_class)
end)
