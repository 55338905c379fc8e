-- What the Lua module promises of accounts and virtual clusters.
-- Usage: test_lua_accounts.lua ROOT
local openpai = require "openpai"
local shared = require "lua_tests"
local fails = shared.answers

local number = 0
local function opened()
  number = number + 1
  local p = assert(openpai.platform.open {
    root = ("%s/accounts%d-%d"):format(arg[1], os.time(), number) })
  local a = p:accounts()
  assert(a:configure { hash_kib = 64, hash_passes = 1 })
  assert(a:setup("root1", "secret word").username == "root1")
  return p, a
end

local tests = {}

function tests.users()
  local p, a = opened()
  assert(a:put_user({ username = "ann", password = "a secret",
                      email = "ann@x.org" }, { create = true }))
  assert(#a:users() == 2 and a:user("ann").email == "ann@x.org")
  assert(a:has_user("ann") == true and a:has_user("bob") == false)
  assert(a:is_admin("root1") == true and a:is_admin("ann") == false)
  assert(a:need_ssh("ann") and a:user("ann", "ann").extension.jobSSH)
  fails("PAI_EEXISTS", 409, "ConflictUserError",
        a:put_user({ username = "ann", password = "a secret" },
                   { create = true }))
  fails("PAI_ENOTFOUND", 400, "NoUserError", a:user("bob"))
  fails("PAI_EPERM", 403, "RemoveAdminError", a:remove_user("root1"))
  assert(a:owner("ann", 1) == "ann")
  assert(a:set_quota("jobs", 2, "ann") and a:quota("ann").jobs == 2)
  assert(a:set_quota("jobs", 9) and a:quota().jobs == 9)
  assert(a:usage("ann").jobs == 0 and a:logins().wrong == 0)
  assert(a:act_as("root1", "10.0.0.1"))
  assert(a:remove_user("ann", "root1") and #a:users() == 1)
  assert(a:owner("ann", 0) == "root1")
  assert(not pcall(a.user, a))
  assert(not pcall(a.put_user, a, {}, { made = true }))
  p:close()
  fails("PAI_EINVAL", nil, nil, a:users())
end

function tests.tokens()
  local p, a = opened()
  local token = assert(a:login("root1", "secret word")).token
  local program = assert(a:new_token("root1", true))
  assert(a:verify(token).admin and not a:verify(token).application)
  assert(a:authorize("Bearer " .. program).user == "root1")
  assert(a:authorize().why == "none" and #a:tokens("root1") == 2)
  assert(a:token(program).application)
  local made = assert(a:make_token("root1", { name = "nightly",
                                              scopes = "read,submit" }))
  assert(made.name == "nightly" and a:verify(made.token).user == "root1")
  local listed = a:tokens("root1")
  assert(#listed == 3 and listed[3].id == made.id and
         listed[3].token ~= made.token and #listed[3].scopes == 2)
  assert(a:revoke(made.id) and a:verify(made.token).why == "revoked")
  fails("PAI_EINVAL", nil, nil, a:make_token("root1", { scopes = "write" }))
  assert(a:revoke(program, "root1") and a:verify(program).why == "revoked")
  fails("PAI_EPERM", 400, "IncorrectPasswordError",
        a:login("root1", "another"))
  p:close()
end

function tests.groups()
  local p, a = opened()
  assert(a:put_group({ groupname = "lab" }, { create = true }))
  assert(a:add_member("lab", "root1") and
         a:members("lab")[1].username == "root1")
  assert(a:set_group_value("lab", "acls/virtualClusters", { "default" }))
  assert(a:group("lab").extension.acls.virtualClusters[1] == "default")
  assert(a:may_use_vc("root1", "default"))
  assert(a:remove_member("lab", "root1") and #a:members("lab") == 0)
  assert(a:remove_group("lab") and #a:groups() == 2)
  assert(a:put_storage { name = "disk", type = "local",
                         data = { path = "/srv" } })
  local disk = a:storages { form = "detail", name = "disk" }
  assert(disk.type == "unknown" and disk["local"])
  assert(#a:storages() == 1 and a:may_use_storage("root1", "disk") == false)
  assert(not pcall(a.storages, a, { form = "all" }))
  assert(a:remove_storage("disk"))
  assert(a:note("PUT /x", "ann", "10.0.0.1", 201))
  assert(a:audit { user = "ann" }[1].what == "PUT /x")
  assert(a:add_vc("research") and a:remove_vc("research"))
  p:close()
end

function tests.virtual_clusters()
  local p = opened()
  local v = p:virtual_clusters()
  assert(v:put("research", 0.25, { most = 0.5 }))
  assert(v:get("research").capacity == 25 and
         v:all().default.capacity == 75)
  assert(v:stop("research") and v:get("research").state == "stopped")
  assert(v:start("research") and v:remove("research"))
  fails("PAI_ENOTFOUND", nil, nil, v:get("research"))
  fails("PAI_EINVAL", nil, nil, v:put("a b", 0.5))
  local name = v:nodes()[1].name
  assert(v:drain(name, "new disks") and v:node(name).why == "new disks")
  assert(v:undrain(name) and v:gpus()[name] and next(v:skus()))
  p:close()
  local plain = assert(openpai.platform.open { root = arg[1] .. "/plain",
                                               durable = false })
  fails("PAI_ENOTSUP", nil, nil, plain:virtual_clusters():all())
  plain:close()
end

shared.run(tests)
