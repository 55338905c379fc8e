-- files.lua - files of a job: lists, downloads, uploads; a part of the module
--
-- Called as scheduler.lua is. A call that waits does so as for a platform.
local openpai = ...
local shared = openpai._shared -- of scheduler.lua, platform.lua and client.lua
local chained = shared.chained
local checked, waiting = shared.checked, shared.waiting
local handle, client, asks = shared.handle, shared.client, shared.asks
local file, file_class = {}, { __name = "openpai.file" }
file_class.__index = file

-- Converts JSON's null to nil.
local function text_or_nil(value)
  return type(value) == "string" and value or nil
end

local function fields(given)
  local list = {}
  for name, value in pairs(given) do
    if type(value) == "boolean" then
      value = value and "1" or "0"
    elseif type(value) == "number" then
      value = ("%d"):format(value)
    end
    list[#list + 1] = name
    list[#list + 1] = value
  end
  return list
end

-- --- jobs of a platform and of a server: page(), copy() ----------------------

local of_platform, of_server = {}, {}
of_platform.__index, of_server.__index = of_platform, of_server

-- Decodes names that are not UTF-8, which come percent-encoded.
local function named(page, message, code, detail)
  for _, entry in ipairs(page and page.entries or {}) do
    if text_or_nil(entry.escaped) then
      entry.path = entry.escaped:gsub("%%(%x%x)", function(digits)
        return string.char(tonumber(digits, 16))
      end)
    end
    entry.escaped = nil
  end
  return page, message, code, detail
end

-- Waits for the answer of a list or a copy.
function of_platform:answer(list, message, code, detail)
  if list then
    waiting.done(self.host)
    local good
    good, message, code, detail = waiting.wait_until(self.host, function()
      return list:state() ~= 0
    end)
    if good then
      return list:answer()
    end
  end
  return nil, message, code, detail
end

function of_platform:page(path, recursive, after)
  return named(self:answer(self.core:list_files(self.job, fields {
    path = path, recursive = recursive, after = after })))
end

function of_platform:copy(kind, given)
  return self:answer(self.core[kind](self.core, self.job, fields(given)))
end

function of_server:page(path, recursive, after)
  return named(asks.told(self.host, "files", { job = self.job, path = path,
                                               recursive = recursive,
                                               after = after }))
end

function of_server:copy(kind, given)
  given.job = self.job
  return asks.told(self.host, kind, given)
end

local function of_handle(self)
  return setmetatable({ host = self.platform, core = self.platform.core,
                        job = self.id }, of_platform)
end

local function of_client(self, job)
  return setmetatable({ host = self, job = job }, of_server)
end

-- --- lists ----------------------------------------------------------------------

local list_options = { recursive = "flag" }

local function list(source, path, options)
  options = checked(options, list_options)
  local files, after = {}, nil
  repeat
    local page, message, code, detail =
      source:page(path, options.recursive, after)
    if not page then
      return nil, message, code, detail
    end
    for _, entry in ipairs(page.entries) do
      entry.target = text_or_nil(entry.target)
      files[#files + 1] = entry
    end
    after = text_or_nil(page.next)
  until not after
  return files
end

-- --- copies ------------------------------------------------------------------

local function download(source, path, to)
  local told, message, code, detail =
    source:copy("download", { path = path, to = to })
  if not told then
    return nil, message, code, detail
  end
  if told.into then
    to = to:gsub("/*$", "") .. "/" .. path:match("([^/]+)/*$")
  end
  return to
end

local function upload(source, from, path)
  local told, message, code, detail =
    source:copy("upload", { from = from, path = path })
  if not told then
    return nil, message, code, detail
  end
  return true
end

-- --- methods of handles and clients -----------------------------------------

-- Lists files in the job's folder, or in a folder below it; with
-- { recursive = true } in all folders below that, too. A file has path, type
-- ("file", "folder", "link", "other"), size, modified (milliseconds since
-- 1970), executable, target.
function handle:files(path, options)
  return list(of_handle(self), path, options)
end

function client:files(job, path, options)
  return list(of_client(self, job), path, options)
end

-- Downloads a file to the path `to`, or into `to` if that is a folder. All
-- files of a folder, or with nil of the job's folder, go below `to`. Returns
-- the local path. Files that were downloaded before and have not changed are
-- skipped. A client's download that was interrupted continues when it is
-- called again.
function handle:download(path, to)
  return download(of_handle(self), path, to)
end

function client:download(job, path, to)
  return download(of_client(self, job), path, to)
end

-- Uploads a file to a path in the job's folder; into a folder there if the
-- path ends with "/" or is nil. All files of a local folder go below the path.
function handle:upload(from, path)
  return upload(of_handle(self), from, path)
end

function client:upload(job, from, path)
  return upload(of_client(self, job), from, path)
end

-- Opens a file of the job for reading.
function handle:open_file(path)
  return chained(function(reader)
    return setmetatable({ reader = reader }, file_class)
  end, self.platform.core:open_file(self.id, path))
end

-- Reads at most `most` bytes, "" at the end; without a number, all that is
-- left.
function file:read(most)
  local parts = {}
  repeat
    if not self.reader then
      local message = "the file is closed"
      return nil, message, "PAI_EINVAL", { code = "PAI_EINVAL",
                                           message = message }
    end
    local bytes, message, code, detail =
      self.reader:read(most or 1048576)
    if not bytes then
      return nil, message, code, detail
    end
    parts[#parts + 1] = bytes
  until most or bytes == ""
  return table.concat(parts)
end

function file:close()
  self.reader = nil
  return true
end

file_class.__close = file.close

for _, name in ipairs { "FileList", "FileReader" } do
  rawset(openpai, name, nil)
end
