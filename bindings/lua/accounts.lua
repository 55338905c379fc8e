-- accounts.lua - accounts and virtual clusters of a platform, over SWIG's; in
-- the module
--
-- It is called as scheduler.lua is.  What is changed is in the database when
-- the call returns.  Failures have http_status and api_code.
local openpai, encode = ...
local shared = openpai._shared -- of scheduler.lua and platform.lua
local checked, platform = shared.checked, shared.platform
local accounts, clusters = {}, {}
local accounts_class = { __index = accounts, __name = "openpai.accounts" }
local clusters_class = { __index = clusters,
                         __name = "openpai.virtual_clusters" }

local function text_of(name, value)
  if type(value) == "boolean" then
    return value and "1" or "0"
  elseif type(value) == "number" then
    return ("%d"):format(value)
  elseif type(value) ~= "string" then
    error(name .. " is a text, not a " .. type(value), 4)
  end
  return value
end

local function administer(self, kind, fields, json)
  local list = {}
  for name, value in pairs(fields) do
    list[#list + 1] = name
    list[#list + 1] = text_of(name, value)
  end
  return self.core:administer(kind, list, json or "")
end

-- A method of these arguments: "user!" must be there.
local function method(kind, ...)
  local names = { ... }
  return function(self, ...)
    local fields = {}
    for i, name in ipairs(names) do
      local value, needed = (select(i, ...)), name:find("!", 1, true)
      name = name:gsub("!", "")
      if value == nil and needed then
        error(name .. " is missing", 2)
      end
      fields[name] = value
    end
    return administer(self, kind, fields)
  end
end

-- One of a table of options.
local function with_options(kind, known)
  return function(self, options)
    return administer(self, kind, checked(options, known))
  end
end

-- --- who somebody is -------------------------------------------------------------

-- token_time is in microseconds, as all times of audit() are.
accounts.configure = with_options("configure", {
  token_time = true, hash_kib = true, hash_passes = true, hash_workers = true,
  least_password = true, reveal_tokens = true })
accounts.setup = method("setup", "user", "password")
accounts.login = method("login", "user!", "password!")
accounts.verify = method("verify", "token!")
accounts.authorize = method("authorize", "header")
accounts.new_token = method("new_token", "user!", "application")
accounts.token = method("write_token", "token!")
accounts.revoke = method("revoke", "token!", "user")

local tokens = method("write_tokens", "user!")
function accounts:tokens(user)
  local told, message, code, detail = tokens(self, user)
  if not told then
    return nil, message, code, detail
  end
  for i, detail_of in ipairs(told.details) do
    detail_of.token = told.tokens[i]
  end
  return told.details
end

-- For a program: { name =, scopes = "read,submit", lifetime = microseconds }.
local make_token = with_options("make_token", {
  user = true, name = true, scopes = true, lifetime = true })
function accounts:make_token(user, options)
  local given = { user = user }
  for name, value in pairs(options or {}) do
    given[name] = value
  end
  return make_token(self, given)
end

-- --- users and groups --------------------------------------------------------------

accounts.users = method("write_users", "viewer")
accounts.user = method("write_user", "user!", "viewer")
accounts.remove_user = method("remove_user", "user!", "heir")
accounts.owner = method("owner", "user!", "before!")
accounts.act_as = method("act_as", "user", "from")
accounts.quota = method("write_quota", "user")
accounts.set_quota = method("set_quota", "quota!", "most!", "user")
accounts.usage = method("usage", "user!")
accounts.logins = method("logins")
accounts.need_ssh = method("need_ssh", "user!")
accounts.has_user = method("has_user", "user!")
accounts.is_admin = method("is_admin", "user!")
accounts.groups = method("write_groups")
accounts.group = method("write_group", "group!")
accounts.members = method("write_members", "group!")
accounts.remove_group = method("remove_group", "group!")
accounts.may_use_vc = method("may_use_vc", "user!", "vc!")
accounts.add_vc = method("add_vc", "vc!", "description", "external_name")
accounts.remove_vc = method("remove_vc", "vc!")

local set_member = method("set_member", "group!", "user!", "in!")
function accounts:add_member(group, user)
  return set_member(self, group, user, true)
end
function accounts:remove_member(group, user)
  return set_member(self, group, user, false)
end

local function flags(options)
  options = checked(options, { create = true, patch = true })
  return (options.create and 1 or 0) + (options.patch and 2 or 0)
end

-- { username =, ... }, { create = true } for a new one.
function accounts:put_user(user, options)
  return administer(self, "put_user", { flags = flags(options) },
                    encode(user))
end

-- { groupname =, ... }, { create = true } or { patch = true }.
function accounts:put_group(group, options)
  return administer(self, "put_group", { flags = flags(options) },
                    encode(group))
end

-- One value in a group's extension, at "a/b/c".
function accounts:set_group_value(group, path, value)
  return administer(self, "set_group_value", { group = group, path = path },
                    encode(value))
end

-- --- storages, and what was changed ---------------------------------------------------

local forms = { summary = 0, detail = 1, config = 2, server = 3 }
local query = { form = true, user = true, name = true, names = true,
                usual = true }

-- { form = "summary", "detail", "config" or "server", user =, name =, names =,
-- usual = }
function accounts:storages(options)
  local given = {}
  for name, value in pairs(checked(options, query)) do
    given[name] = value
  end
  local form = given.form or "summary"
  if not forms[form] then
    error("there is no form '" .. tostring(form) .. "'", 2)
  end
  given.form = forms[form]
  local told, message, code, detail =
    administer(self, "write_storages", given)
  if not told then
    return nil, message, code, detail
  end
  return form == "summary" and not given.name and told.storages or told
end

function accounts:put_storage(storage)
  return administer(self, "put_storage", {}, encode(storage))
end

accounts.remove_storage = method("remove_storage", "name!")
accounts.may_use_storage = method("may_use_storage", "user!", "name!")
accounts.note = method("note", "what!", "user", "from", "status")
accounts.audit = with_options("write_audit", {
  user = true, since = true, ["until"] = true, before = true, limit = true })

-- --- virtual clusters ---------------------------------------------------------------------

local whole = 10000
local function part(value)
  return value and math.floor(value * whole + 0.5) or nil
end

-- Makes or changes one: its part of the machine, from 0 to 1, { most = what it
-- may have of what others leave idle, description =, external_name = }.
function clusters:put(name, share, options)
  options = checked(options, { most = true, description = true,
                               external_name = true })
  return administer(self, "platform_put_vc", {
    name = name, capacity = part(share), max_capacity = part(options.most),
    description = options.description, external_name = options.external_name })
end

local set_stopped = method("platform_stop_vc", "name!", "on!")
function clusters:stop(name) return set_stopped(self, name, true) end
function clusters:start(name) return set_stopped(self, name, false) end
clusters.remove = method("platform_remove_vc", "name!")
clusters.all = method("platform_write_vcs")
clusters.get = method("platform_write_vcs", "name!")
clusters.gpus = method("platform_write_vc_nodes")
clusters.skus = method("platform_write_skus", "name")
clusters.nodes = method("platform_write_nodes")
clusters.node = method("platform_write_nodes", "name!")

function clusters:drain(node, why)
  return administer(self, "platform_drain", { name = node, on = true,
                                              why = why })
end
function clusters:undrain(node)
  return administer(self, "platform_drain", { name = node, on = false })
end

function platform:accounts()
  return setmetatable({ core = self.core }, accounts_class)
end

function platform:virtual_clusters()
  return setmetatable({ core = self.core }, clusters_class)
end
