-- client.lua - a client of a server; a part of the module
--
-- Called as scheduler.lua is. A call that waits does so as for a platform: it
-- blocks in the main thread. It yields in a coroutine of client:spawn(), or in
-- any coroutine after client:attach() to the host's loop.
local openpai, encode, decode = ...
local shared = openpai._shared -- of scheduler.lua, trace.lua and platform.lua
local chained = shared.chained
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

-- Closes the client. Calls that are not over end with PAI_ECANCELED.
function client:close()
  local good, message, code, detail = self.core:close()
  if self.attached and self.core:closed() then
    self.attached.close()
    self.attached = nil
  end
  waiting.wake(self) -- waiting coroutines see that it is closed
  if not good then
    return nil, message, code, detail
  end
  return true
end

-- --- requests ---------------------------------------------------------------

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
  return chained(function(call)
    return waiting.done(self, call)
  end, self.core:call(kind, list, text or "", code or ""))
end

-- Makes a request. Returns its result and its body.
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

-- Decodes JSON. An answer of a server may be something else.
local function read(body)
  local good, value = pcall(decode, body)
  if good then
    return value
  end
  local message = "what the server has answered cannot be read: " .. value
  return nil, message, "PAI_EIO",
         { code = "PAI_EIO", message = message, retriable = false }
end

-- Makes a request. Returns the decoded JSON of the body.
local function told(self, kind, fields)
  return chained(function(_, body)
    return read(body ~= "" and body or "true")
  end, asked(self, kind, fields))
end

-- Makes a request. Returns whether it succeeded.
local function done(self, kind, fields)
  return chained(function() return true end, asked(self, kind, fields))
end

-- --- identity ---------------------------------------------------------------

function client:login(user, password)
  return told(self, "login", { user = user, password = password })
end

function client:logout() return done(self, "logout") end
function client:info() return told(self, "info") end

-- --- calls of the REST API -----------------------------------------------------------

-- Calls a REST operation. Returns the body and the answer.
local function called(self, name, arguments)
  local text = arguments and next(arguments) and encode(arguments) or ""
  return chained(function(answer, body)
    return body, answer
  end, asked(self, "call", { name = name }, text))
end

-- Calls a REST operation of openpai.calls(), as "users.show", with a table of
-- arguments. Returns the value of a JSON answer, else its bytes, and the
-- content type.
function client:call(name, arguments)
  local body, answer, code, detail = called(self, name, arguments)
  if not body then
    return nil, answer, code, detail
  elseif (answer.type or ""):find("^application/json") and body ~= "" then
    return read(body)
  end
  return body, answer.type
end

-- Defines the method of a REST operation, as "json users.show username!": how its
-- answer is returned (json: decoded, whatever content type the server names;
-- text; done: true), its name, and its arguments. Those with "!" are positional
-- texts, those with "*" other positional values; the rest is in a table.
-- "name=API" has another name in the API; "API:VALUE" is always the same.
function shared.define(method, text)
  if client[method] then
    return -- by hand
  end
  local how, operation, words = text:match("^(%S+) (%S+)(.*)$")
  local needed, others, always = {}, {}, {}
  for word in words:gmatch("%S+") do
    local name, api, mark = word:match("^([%w_-]+)=?([%w_-]*)([!*]?)$")
    if name and mark ~= "" then
      needed[#needed + 1] = { name, api ~= "" and api or name, mark == "!" }
    elseif name then
      others[name] = api ~= "" and api or name
    else
      name, api = word:match("^(.-):(.*)$")
      always[name] = api
    end
  end
  client[method] = function(self, ...)
    local arguments = {}
    for name, value in pairs(always) do
      arguments[name] = value
    end
    for i, one in ipairs(needed) do
      local value = (select(i, ...))
      if value == nil then
        error(one[1] .. " is missing", 2)
      elseif one[3] and type(value) ~= "string" then
        error(one[1] .. " is a text, not a " .. type(value), 2)
      end
      arguments[one[2]] = value
    end
    local options = (select(#needed + 1, ...))
    for name, value in pairs(checked(options, others)) do
      arguments[others[name]] = value
    end
    return chained(function(body)
      if how == "json" then
        return read(body ~= "" and body or "null")
      end
      return how == "done" or body
    end, called(self, operation, arguments))
  end
end

-- Returns the token in use, or nil. It is a secret.
function client:token()
  return chained(function(who) return who.token end, self.core:who())
end

function client:user()
  return chained(function(who) return who.user end, self.core:who())
end

local request_options = {
  method = "text", path = "text", type = "text", accept = "text",
}

-- Makes any request: { method =, path =, json = any value, or data = bytes and
-- type = }. The answer has http_status, type, body, tries and, for a JSON
-- body, json.
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

-- Adds tags, a list, to a submitted job.
local function tagged(self, name, tags)
  for _, tag in ipairs(tags) do
    local good, message, code, detail = self:tag(name, tag)
    if not good then
      return nil, message, code, detail
    end
  end
  return name
end

-- Submits a job, or the text of a job file. Returns "user~name". code = bytes
-- of a tar archive of the folder that its commands begin in; time, after,
-- priority, virtual_cluster and tags are as for a platform.
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
  if not user then -- over a socket only the platform knows
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
  states = "state", users = "username", virtual_clusters = "vc",
  tags = "tagsContain", not_tags = "tagsNotContain", keyword = "keyword",
  priorities = "jobPriority", order = "order", offset = "offset",
  limit = "limit",
}

-- Returns a page of jobs, as objects of OpenPAI's API, newest first.
function client:jobs(query)
  local arguments = {}
  for name, value in pairs(checked(query, {}, query_options)) do
    arguments[query_options[name]] = value
  end
  return chained(read, called(self, "jobs.list", arguments))
end

-- Removes a job that is over; with `keep_files` its own folder is kept.
-- Returns true, and the folder that was kept, or nil.
function client:forget(name, keep_files)
  local said, message, code, detail = self:call("jobs.remove", {
    job = name, keepFiles = keep_files and true or nil })
  if not said then
    return nil, message, code, detail
  end
  return true, type(said.kept) == "string" and said.kept or nil
end

-- Waits until a job is over. Returns its state and its completion code.
function client:wait(name)
  local answer, message, code, detail = asked(self, "wait", { job = name })
  if not answer then
    return nil, message, code, detail
  end
  return answer.state:lower(), answer.code
end

-- Makes a method that runs `does` on this client, for a job.
local function commands(does)
  return function(self, job, command, options)
    return does(self, function(...)
      return self.core:enter(...)
    end, command, options, { job = job }, function()
      return self:job(job)
    end)
  end
end

-- Run commands in a running task: as handle:exec() and handle:session().
client.exec = commands(shared.execute)
client.session = commands(shared.converse)

-- --- streams ----------------------------------------------------------------

-- Returns some bytes as they come; "" at the end. At most some 256 KiB that
-- are not taken are kept here; the rest waits at the server.
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

-- Closes the stream early.
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
  follow = "flag", tail = "number", since = "number",
}

-- Returns a log of the latest start of a task, { role =, index = }; without a
-- role, of any task. tail =: number of last lines; since =: only what was
-- written at that time or later, in microseconds since 1970; below 0: relative
-- to now.
function client:logs(job, options)
  options = checked(options, log_options)
  local fields = { job = job }
  for name in pairs(log_options) do
    fields[name] = options[name]
  end
  if type(fields.since) == "number" and fields.since < 0 then
    fields.since, fields.ago = nil, -fields.since
  end
  if not fields.role then
    local status, message, code, detail = self:job(job)
    if not status then
      return nil, message, code, detail
    end
    fields.role = next(status.taskRoles)
  end
  return chained(function(call)
    return setmetatable({ client = self, call = call, rest = "", at = 1 },
                        log_class)
  end, begin(self, "logs", fields))
end

-- Returns the states of a job until it is over, or of all jobs that are not
-- over: first the current ones, then each change. for change in
-- client:watch(job) do: job, state, code.
function client:watch(job)
  return chained(function(call)
    return setmetatable({ client = self, call = call, rest = "", at = 1 },
                        watch_class)
  end, begin(self, "watch", { job = job }))
end

watch.take, watch.close, watch.line = take, close, shared.log.line

-- Returns the next change, or nil.
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

shared.client, shared.asks = client, { told = told } -- files.lua

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
  return chained(function(raw)
    return setmetatable({ core = raw, waiting = {},
                          spawned = setmetatable({}, { __mode = "k" }) },
                        client_class)
  end, core.open(words(given, client_options)))
end)
