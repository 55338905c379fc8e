-- session.lua - commands in running tasks; a part of the module
--
-- Called as scheduler.lua is. A call that waits does so as for a platform.
local openpai = ...
local shared = openpai._shared -- of scheduler.lua, trace.lua and platform.lua
local words, checked, waiting = shared.words, shared.checked, shared.waiting
local handle, session = shared.handle, {}
local session_class = { __index = session, __name = "openpai.session" }
local streams = { "stdout", "stderr" }

local exec_options = {
  job = "text", role = "text", index = "number", terminal = "text",
  columns = "number", rows = "number", tty = "flag",
}

-- --- starting ---------------------------------------------------------------

-- Begins a command on `host`, a platform or a client, and calls `work` on it.
-- Tries again while the task has just started and is not ready yet. A platform
-- reports that at once, a client when its server has answered.
local function begin(work, host, enter, command, options, more, status)
  options = checked(options, exec_options, { input = true })
  local given = {}
  for name in pairs(exec_options) do
    given[name] = more[name] or options[name]
  end
  if not given.role then
    local told, message, code, detail = status()
    if not told then
      return nil, message, code, detail
    end
    given.role = next(told.taskRoles)
  end
  if type(command) == "string" then
    command = { "sh", "-c", command }
  end
  local tries = 0
  while true do
    local result, message, code, detail =
      enter(words(given, exec_options), command or {}, options.input or "")
    if result then
      result, message, code, detail = work(host, waiting.done(host, result))
    end
    tries = tries + 1
    if result or code ~= "PAI_EBUSY" or not detail.retriable or
      tries >= 100 then
      return result, message, code, detail
    end
    host.core:step(40)
  end
end

-- Waits until a command is over. Returns its result.
local function executed(host, exec)
  local good, message, code, detail = waiting.wait_until(host, function()
    return exec:state() ~= 0
  end)
  if good then
    good, message, code, detail = exec:answer()
  end
  if not good then
    return nil, message, code, detail
  end
  local said = { {}, {} }
  local stream = exec:state()
  while stream > 0 do
    table.insert(said[stream], exec:take())
    stream = exec:state()
  end
  return { code = good.code, how = good.how, text = good.text or "",
           output = table.concat(said[1]), errors = table.concat(said[2]) }
end

-- Makes a command live, and waits until it runs. Returns a session.
local function live(host, exec)
  local good, message, code, detail = exec:live()
  if good then
    good, message, code, detail = waiting.wait_until(host, function()
      return exec:begun()
    end)
  end
  if good and exec:over() then
    good, message, code, detail = exec:answer()
  end
  if not good then
    exec:cancel()
    return nil, message, code, detail
  end
  return setmetatable({ host = host, exec = exec }, session_class)
end

function shared.execute(...) return begin(executed, ...) end
function shared.converse(...) return begin(live, ...) end

-- --- input and output -------------------------------------------------------

-- True if the command waits until its output is read, but no other code could
-- read it, since this call would block.
local function is_stuck(self)
  return self.exec:full() and not waiting.yields(self.host)
end

local function stuck()
  return nil, "the command waits for its output to be read: read some of it " ..
    "first", "PAI_EBUSY", { code = "PAI_EBUSY", retriable = false }
end

-- Writes to standard input, and waits until that is sent. PAI_EBUSY: nothing
-- was written, because the command waits until its output is read.
function session:write(bytes)
  local exec, taken, why, name, more = self.exec, nil, nil, nil, nil
  local good, message, code, detail = waiting.wait_until(self.host, function()
    taken, why, name, more = exec:write(bytes)
    return taken ~= false or is_stuck(self)
  end)
  if not good then
    return nil, message, code, detail
  elseif taken == nil then
    return nil, why, name, more
  elseif not taken then
    return stuck()
  end
  waiting.done(self.host)
  return waiting.wait_until(self.host, function()
    return not exec:pending() or is_stuck(self)
  end)
end

-- Waits for output. Returns bytes, and "stdout" or "stderr"; nil at the end.
-- for bytes in session.read, session do
function session:read()
  local exec = self.exec
  local good, message, code, detail = waiting.wait_until(self.host, function()
    return exec:state() ~= 0 -- not 0 either if it was closed
  end)
  local stream = self.closed and -1 or exec:state()
  if good and stream < 0 and not self.closed then
    good, message, code, detail = exec:answer() -- the failure
  end
  if not good then
    return nil, message, code, detail
  elseif stream < 0 then
    return nil
  end
  local bytes
  bytes, message, code, detail = exec:take()
  if not bytes then
    return nil, message, code, detail
  end
  return waiting.done(self.host, bytes, streams[stream]) -- more may come now
end

-- Sends what was requested at once.
local function told(self, good, ...)
  if not good or self.host.core:closed() then
    return good, ...
  elseif not waiting.yields(self.host) then
    self.host.core:step(0)
  end
  return waiting.done(self.host, good)
end

-- Changes the size of the terminal.
function session:resize(columns, rows)
  return told(self, self.exec:resize(columns, rows))
end

-- Closes the input: the command reads its end, from a terminal as for Ctrl-D.
function session:close_input()
  return told(self, self.exec:end_input())
end

-- Sends a signal, by number, to the command's processes.
function session:signal(number)
  return told(self, self.exec:signal(number))
end

-- Waits until the command is over. Returns its exit code, as a shell's; how it
-- ended, and why. PAI_EBUSY: it waits until its output is read.
function session:wait()
  local exec = self.exec
  local good, message, code, detail = waiting.wait_until(self.host, function()
    return exec:over() or is_stuck(self)
  end)
  if good and not exec:over() then
    return stuck()
  elseif good then
    good, message, code, detail = exec:answer()
  end
  if not good then
    return nil, message, code, detail
  end
  return good.code, good.how, good.text or ""
end

-- Closes the session. A running command gets SIGHUP, and is killed soon after.
function session:close()
  self.closed = true
  self.exec:cancel()
  waiting.wake(self.host) -- waiting readers see that it is closed
  return true
end

session_class.__close = session.close

-- --- methods of handles -----------------------------------------------------

-- Makes a method that runs `does` on the platform of a job.
local function commands(does)
  return function(self, command, options)
    return does(self.platform, function(...)
      return self.platform.core:enter(self.id, ...)
    end, command, options, {}, function()
      return self:show()
    end)
  end
end

-- Runs a command in a running task, and waits until it ends: { code =,
-- output =, errors =, how =, text = }. The command is a list of words, a
-- line for sh(1), or nil for the user's shell. Options: role =, index =,
-- input = "bytes", tty = true.
handle.exec = commands(shared.execute)

-- Begins a command for interactive use. Returns a session with write(),
-- read(), resize(), wait(), ... once the command runs.
handle.session = commands(shared.converse)

rawset(openpai, "Exec", nil)
