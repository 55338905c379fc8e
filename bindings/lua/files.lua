-- files.lua - files of a job as Lua wants them, over SWIG's; in the module
--
-- It is called as scheduler.lua is.  What waits does so as a platform's does.
local openpai = ...
local shared = openpai._shared -- of scheduler.lua, platform.lua and client.lua
local checked, waiting = shared.checked, shared.waiting
local handle, client, asks = shared.handle, shared.client, shared.asks
local file, file_class = {}, { __name = "openpai.file" }
file_class.__index = file
local is_folder, has = openpai.local_is_folder, openpai.local_has
local make_folder, make_link = openpai.local_make_folder, openpai.local_link
local place, list_local = openpai.local_place, openpai.local_list
local tries = 3 -- of a file that changes while it is downloaded

-- The null of JSON is no nil.
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

-- --- the job that they are of: page(), fetch() and send() -----------------------

local of_platform, of_server = {}, {}
of_platform.__index, of_server.__index = of_platform, of_server

-- Names that are no UTF-8 come as a part of a URL.
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

function of_platform:page(path, recursive, after)
  local list, message, code, detail = self.core:list_files(self.job, fields {
    path = path, recursive = recursive, after = after })
  if list then
    waiting.done(self.host)
    local good
    good, message, code, detail = waiting.wait_until(self.host, function()
      return list:state() ~= 0
    end)
    if good then
      return named(list:answer())
    end
  end
  return nil, message, code, detail
end

local function copied(copy, message, code, detail)
  local more = copy ~= nil
  while more do
    more, message, code, detail = copy:step()
  end
  if more == nil or not copy then
    return nil, message, code, detail
  end
  return true
end

function of_platform:fetch(entry, to)
  return copied(self.core:download(self.job, fields {
    path = entry.path, to = to, size = entry.size, modified = entry.modified,
    executable = entry.executable }))
end

function of_platform:send(from, path)
  return copied(self.core:upload(self.job, fields {
    path = path, ["local"] = from }))
end

function of_server:page(path, recursive, after)
  return named(asks.told(self.host, "files", { job = self.job, path = path,
                                               recursive = recursive,
                                               after = after }))
end

function of_server:fetch(entry, to)
  local good, message, code, detail
  for _ = 1, tries do
    good, message, code, detail = asks.done(self.host, "get_file", {
      job = self.job, path = entry.path, to = to, size = entry.size,
      modified = entry.modified, executable = entry.executable })
    if good or code ~= "PAI_EEXISTS" then
      break
    end
    local page, why, name, more = self:page(entry.path, false)
    if not page then -- it has changed since
      return nil, why, name, more
    end
    entry = page.entries[1]
  end
  return good, message, code, detail
end

function of_server:send(from, path)
  return asks.done(self.host, "put_file", { job = self.job, path = path,
                                              ["local"] = from })
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

-- Does `work` on each page, until that fails.
local function each_page(source, path, recursive, work)
  local after
  repeat
    local page, message, code, detail = source:page(path, recursive, after)
    if page then
      after = text_or_nil(page.next)
      page, message, code, detail = work(page)
    end
    if not page then
      return nil, message, code, detail
    end
  until not after
  return true
end

local function list(source, path, options)
  options = checked(options, list_options)
  local files = {}
  local good, message, code, detail =
    each_page(source, path, options.recursive, function(page)
      for _, entry in ipairs(page.entries) do
        entry.target = text_or_nil(entry.target)
        files[#files + 1] = entry
      end
      return true
    end)
  if not good then
    return nil, message, code, detail
  end
  return files
end

-- --- downloads --------------------------------------------------------------------

-- "out/x" of "./out//x/", "" of the job's folder.
local function plain(path)
  local names = {}
  for name in (path or ""):gmatch("[^/]+") do
    if name ~= "." then
      names[#names + 1] = name
    end
  end
  return table.concat(names, "/")
end

local function base_name(path)
  return path:match("([^/]+)/*$") or path
end

-- Unless it was downloaded before.
local function fetch(source, entry, to)
  if has(to, entry.size or 0, entry.modified or 0) then
    return true
  end
  return source:fetch(entry, to)
end

local function fetch_entry(source, entry, wanted, to, links)
  local begins = wanted ~= "" and wanted .. "/" or ""
  if entry.path:sub(1, #begins) ~= begins then
    local message = "the server lists '" .. entry.path ..
      "', which is not in the folder '" .. wanted .. "'"
    return nil, message, "PAI_EIO", { code = "PAI_EIO", message = message,
                                      retriable = false }
  end
  local rest = entry.path:sub(#begins + 1)
  if entry.type == "link" then
    links[#links + 1] = { rest, text_or_nil(entry.target) or "" }
    return true
  end
  local path, message, code, detail = place(to, rest)
  if path and entry.type == "folder" then
    return make_folder(path)
  elseif path and entry.type == "file" then
    return fetch(source, entry, path)
  end
  return path, message, code, detail
end

local function download_folder(source, path, wanted, to)
  local links = {} -- last: no file is written through one
  local good, message, code, detail = make_folder(to)
  if good then
    good, message, code, detail =
      each_page(source, path, true, function(page)
        for _, entry in ipairs(page.entries) do
          local done, why, name, more =
            fetch_entry(source, entry, wanted, to, links)
          if not done then
            return nil, why, name, more
          end
        end
        return true
      end)
  end
  for _, link in ipairs(good and links or {}) do
    local made, why, name, more = make_link(to, link[1], link[2])
    if made == nil then
      return nil, why, name, more
    end
  end
  if not good then
    return nil, message, code, detail
  end
  return to
end

local function download(source, path, to)
  local wanted = plain(path)
  path = wanted ~= "" and wanted or nil
  local page, message, code, detail = source:page(path, false)
  if not page then
    return nil, message, code, detail
  end
  local entry = page.entries[1]
  if wanted == "" or #page.entries ~= 1 or entry.path ~= wanted then
    return download_folder(source, path, wanted, to)
  end
  if is_folder(to) or to:find("/$") then
    to = to:gsub("/*$", "") .. "/" .. base_name(wanted)
  end
  local good
  good, message, code, detail = fetch(source, entry, to)
  if not good then
    return nil, message, code, detail
  end
  return to
end

-- --- uploads -----------------------------------------------------------------------

local function join(folder, name)
  folder = folder or ""
  return (folder == "" or folder:find("/$")) and folder .. name or
    folder .. "/" .. name
end

local function upload(source, from, path)
  if not is_folder(from) then
    if not path or path == "" or path:find("/$") then
      path = join(path, base_name(from))
    end
    return source:send(from, path)
  end
  local names, message, code, detail = list_local(from)
  if not names then
    return nil, message, code, detail
  end
  for _, name in ipairs(names) do
    local good
    good, message, code, detail =
      source:send(join(from, name), join(path, name))
    if not good then
      return nil, message, code, detail
    end
  end
  return true
end

-- --- of handles and clients -----------------------------------------------------------

-- Files in the job's folder, or in a folder of it, { recursive = true } with all
-- that is in its folders: path, type ("file", "folder", "link", "other"), size,
-- modified (milliseconds since 1970), executable, target.
function handle:files(path, options)
  return list(of_handle(self), path, options)
end

function client:files(job, path, options)
  return list(of_client(self, job), path, options)
end

-- Copies a file to the path `to`, or into `to` if that is a folder; of a folder,
-- or with nil of the job's, all files go below `to`.  Returns where that is.  A
-- client's download that was cut goes on where it was when it is called again;
-- files that were downloaded before and have not changed are passed over.
function handle:download(path, to)
  return download(of_handle(self), path, to)
end

function client:download(job, path, to)
  return download(of_client(self, job), path, to)
end

-- Copies a file to a path in the job's folder, or into a folder there if that
-- ends with "/" or is nil; of a local folder all files go below the path.
function handle:upload(from, path)
  return upload(of_handle(self), from, path)
end

function client:upload(job, from, path)
  return upload(of_client(self, job), from, path)
end

-- Opens a file of the job for reading.
function handle:open_file(path)
  local reader, message, code, detail =
    self.platform.core:open_file(self.id, path)
  if not reader then
    return nil, message, code, detail
  end
  return setmetatable({ reader = reader }, file_class)
end

-- At most so many bytes, "" at the end; without a number all that is left.
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

for _, name in ipairs { "FileList", "FileReader", "FileCopy",
                        "local_is_folder", "local_has", "local_make_folder",
                        "local_link", "local_place", "local_list" } do
  rawset(openpai, name, nil)
end
