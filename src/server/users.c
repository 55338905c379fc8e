/*
 * users.c - /users: who there is, and what they may
 *
 * What is sent becomes one object that room account takes; here is only who
 * may send it, and what it is called.
 */
#include "server/server.h"

/* --- reading -------------------------------------------------------------------- */

static void do_list_users(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_accounts_write_users(r->server->accounts, r->caller.name,
                                    pai__answer_write, &r->answer, &err);

  pai__answer_written(r, rc, err);
}

static void do_show_user(pai__request *r)
{
  pai_error *err = NULL;
  int rc =
    pai_accounts_write_user(r->server->accounts, r->params[0], r->caller.name,
                            pai__answer_write, &r->answer, &err);

  pai__answer_written(r, rc, err);
}

/* --- an object for room account ------------------------------------------------------ */

static void begin_user(pai__json_writer *w, pai__buf *json, pai__request *r,
                       const char *name)
{
  pai__buf_init(json, &r->server->alloc);
  pai__json_writer_init(w, json, false);
  pai__json_begin_object(w);
  if (name == NULL)
    return;
  pai__json_key(w, "username", 8);
  pai__json_text(w, name, strlen(name));
}

/* What was sent as `from` is called `to`. */
static void copy(pai__json_writer *w, const pai__request *r, pai__node of,
                 const char *from, const char *to)
{
  pai__node n = pai__tree_get(r->form, of, from);

  if (n == PAI__NO_NODE)
    return;
  pai__json_key(w, to, strlen(to));
  pai__json_ready(w, r->form->text + r->form->nodes[n].start,
                  r->form->nodes[n].end - r->form->nodes[n].start);
}

static void put_user(pai__request *r, pai__json_writer *w, pai__buf *json,
                     unsigned flags, const char *said)
{
  struct pai__waiting *waiting;
  pai_error *err = NULL;
  int rc;

  pai__json_end_object(w);
  r->said = said;
  if (pai__json_finish(w) < 0) {
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  } else if ((waiting = pai__answer_later(r)) != NULL) {
    pai__ask_accounts(r);
    rc = pai_accounts_put_user(r->server->accounts, pai__buf_text(json),
                               json->len, flags, pai__answer_account, waiting,
                               &err);
    if (rc < 0) {
      (void)pai__answer_now(waiting);
      pai__answer_failure(r, rc, err);
    }
  }
  pai__buf_dispose(json);
}

/* --- the whole user ------------------------------------------------------------------- */

static void do_create_user(pai__request *r)
{
  static const char *const names[] = { "username", "password",
                                       "email",    "virtualCluster",
                                       "admin",    "extension" };
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, NULL);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    copy(&w, r, 0, names[i], names[i]);
  put_user(r, &w, &json, PAI_PUT_CREATE, "User is created successfully");
}

static void do_update_user(pai__request *r)
{
  static const char *const names[] = { "username",       "email",
                                       "virtualCluster", "admin",
                                       "password",       "extension" };
  pai__node data = pai__tree_get(r->form, 0, "data");
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, NULL);
  for (size_t i = 0; i < PAI__LEN(names); i++)
    copy(&w, r, data, names[i], names[i]);
  put_user(r, &w, &json, 0, "Update user data successfully.");
}

/* What is to change is the caller's own; if not, that is the answer. */
static bool begin_self(pai__json_writer *w, pai__buf *json, pai__request *r,
                       pai__node *data)
{
  const char *name;

  *data = pai__tree_get(r->form, 0, "data");
  name =
    pai__tree_str(r->form, pai__tree_get(r->form, *data, "username"), NULL);
  if (strcmp(name, r->caller.name) != 0) {
    pai__answer_forbidden(r, "You may do this only with your own account.");
    return false;
  }
  begin_user(w, json, r, name);
  return true;
}

static void do_update_self(pai__request *r)
{
  pai__node data;
  pai__json_writer w;
  pai__buf json;

  if (!begin_self(&w, &json, r, &data))
    return;
  copy(&w, r, data, "email", "email");
  copy(&w, r, data, "newPassword", "password");
  copy(&w, r, data, "oldPassword", "oldPassword");
  copy(&w, r, data, "extension", "extension");
  put_user(r, &w, &json, 0, "Update user data successfully.");
}

static void do_remove_user(pai__request *r)
{
  const char *heir = pai__request_query(r, "heir");
  pai_accounts *accounts = r->server->accounts;
  pai_error *err = NULL;
  int rc = heir != NULL
             ? pai_accounts_hand_over_user(accounts, r->params[0], heir, &err)
             : pai_accounts_remove_user(accounts, r->params[0], &err);

  if (rc == PAI_OK) /* addresses of logs with this user's right end */
    pai__signed_open(r->server);
  r->said = "user is removed successfully";
  pai__answer_changed(r, rc, err);
}

/* Where users log in at a provider, that says all but the extension; both
 * PUT change the caller's, as OpenPAI's do. */
static void do_update_extension(pai__request *r)
{
  pai__node data;
  pai__json_writer w;
  pai__buf json;

  if (!begin_self(&w, &json, r, &data))
    return;
  copy(&w, r, data, "extension", "extension");
  put_user(r, &w, &json, 0, "Update user data successfully.");
}

/* --- one thing of a user ------------------------------------------------------------------ */

static void put_member(pai__request *r, const char *member, unsigned flags,
                       const char *said)
{
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, r->params[0]);
  copy(&w, r, 0, member, member);
  put_user(r, &w, &json, flags, said);
}

static bool is_self(const pai__request *r)
{
  return strcmp(r->caller.name, r->params[0]) == 0;
}

/* An administrator's, or one's own. */
static bool want_self(pai__request *r)
{
  if (r->caller.admin || is_self(r))
    return true;
  pai__answer_forbidden(r, "You may do this only with your own account.");
  return false;
}

static void do_extension(pai__request *r)
{
  if (want_self(r))
    put_member(r, "extension", 0, "Update user extension data successfully.");
}

static void do_grouplist(pai__request *r)
{
  put_member(r, "grouplist", 0, "Update user grouplist data successfully.");
}

static void do_virtual_cluster(pai__request *r)
{
  put_member(r, "virtualCluster", PAI_PUT_NO_ADMIN,
             "Update user virtualCluster data successfully.");
}

static void do_email(pai__request *r)
{
  if (want_self(r))
    put_member(r, "email", 0, "Update user email data successfully.");
}

static void do_admin(pai__request *r)
{
  put_member(r, "admin", 0, "Update user admin permission successfully.");
}

/* Who is no administrator has to know the old one. */
static void do_password(pai__request *r)
{
  pai__json_writer w;
  pai__buf json;

  begin_user(&w, &json, r, r->params[0]);
  copy(&w, r, 0, "newPassword", "password");
  if (!r->caller.admin)
    copy(&w, r, 0, "oldPassword", "oldPassword");
  put_user(r, &w, &json, 0, "update user password successfully.");
}

static void set_member(pai__request *r, bool in, const char *said)
{
  const char *group =
    pai__tree_str(r->form, pai__tree_get(r->form, 0, "groupname"), NULL);
  pai_error *err = NULL;
  int rc = pai_accounts_set_member(r->server->accounts, r->params[0], group,
                                   in ? 1 : 0, &err);

  r->said = said;
  pai__answer_changed(r, rc, err);
}

static void do_join(pai__request *r)
{
  set_member(r, true, "User is added into group successfully.");
}

static void do_leave(pai__request *r)
{
  set_member(r, false, "User is removed from group successfully.");
}

/* --- bodies --- */

#define TEXT(...)                     \
  {                                   \
    .kind = PAI__IS_TEXT, __VA_ARGS__ \
  }
#define USERNAME \
  TEXT(.name = "username", .flags = PAI__NEEDED, .pattern = &pai__user_pattern)
#define MAIL(need) TEXT(.name = "email", .flags = PAI__IS_MAIL | (need))

static const pai__field create_fields[] = {
  USERNAME,
  MAIL(PAI__MAY_BE_EMPTY),
  { .name = "virtualCluster", .kind = PAI__IS_TEXTS, .missing = "[]" },
  { .name = "admin", .kind = PAI__IS_FLAG, .missing = "false" },
  TEXT(.name = "password", .flags = PAI__NEEDED),
  { .name = "extension", .kind = PAI__IS_OBJECT, .missing = "{}" },
  { 0 }
};

static const pai__field update_data[] = {
  USERNAME,
  MAIL(PAI__NEEDED_WHOLE),
  { .name = "virtualCluster",
    .kind = PAI__IS_TEXTS,
    .flags = PAI__NEEDED_WHOLE },
  { .name = "admin", .kind = PAI__IS_FLAG, .flags = PAI__NEEDED_WHOLE },
  TEXT(.name = "password", .flags = PAI__NEEDED_WHOLE),
  { .name = "extension", .kind = PAI__IS_OBJECT, .flags = PAI__NEEDED_WHOLE },
  { 0 }
};

static const pai__field self_data[] = {
  USERNAME,
  MAIL(PAI__NEEDED_WHOLE),
  TEXT(.name = "newPassword", .flags = PAI__NEEDED_WHOLE),
  TEXT(.name = "oldPassword", .with = "newPassword", .least = 6),
  { .name = "extension", .kind = PAI__IS_OBJECT },
  { 0 }
};

static const pai__field oidc_data[] = {
  USERNAME,
  { .name = "extension", .kind = PAI__IS_OBJECT, .missing = "{}" },
  { 0 }
};

#define DATA_FIELDS(of)                                              \
  {                                                                  \
    { .name = "data",                                                \
      .kind = PAI__IS_OBJECT,                                        \
      .flags = PAI__NEEDED,                                          \
      .fields = (of) },                                              \
      { .name = "patch", .kind = PAI__IS_FLAG, .missing = "false" }, \
    {                                                                \
      0                                                              \
    }                                                                \
  }

static const pai__field update_fields[] = DATA_FIELDS(update_data);
static const pai__field self_fields[] = DATA_FIELDS(self_data);
static const pai__field oidc_fields[] = DATA_FIELDS(oidc_data);

static const pai__field extension_fields[] = {
  { .name = "extension", .kind = PAI__IS_OBJECT, .flags = PAI__NEEDED }, { 0 }
};
static const pai__field grouplist_fields[] = {
  { .name = "grouplist", .kind = PAI__IS_TEXTS, .flags = PAI__NEEDED }, { 0 }
};
static const pai__field group_fields[] = {
  TEXT(.name = "groupname", .flags = PAI__NEEDED,
       .pattern = &pai__group_pattern),
  { 0 }
};
static const pai__field cluster_fields[] = {
  { .name = "virtualCluster", .kind = PAI__IS_TEXTS, .flags = PAI__NEEDED },
  { 0 }
};
static const pai__field password_fields[] = {
  TEXT(.name = "oldPassword", .least = 6, .missing = "\"defaultpai\""),
  TEXT(.name = "newPassword", .flags = PAI__NEEDED),
  { 0 }
};
static const pai__field email_fields[] = {
  MAIL(PAI__NEEDED | PAI__MAY_BE_EMPTY), { 0 }
};
static const pai__field admin_fields[] = {
  { .name = "admin", .kind = PAI__IS_FLAG, .flags = PAI__NEEDED }, { 0 }
};

/* --- answers --- */

static const pai__field user_fields[] = {
  PAI__HAS(TEXT, "username"),       PAI__HAS(TEXTS, "grouplist"),
  PAI__HAS_OR_NULL(TEXT, "email"),  PAI__HAS(OBJECT, "extension"),
  PAI__HAS(FLAG, "admin"),          PAI__HAS(TEXTS, "virtualCluster"),
  PAI__HAS(TEXTS, "storageConfig"), { 0 }
};

static const pai__shape user_shape = { "User", user_fields };

static const pai__result user = { .kind = PAI__IS_OBJECT,
                                  .shape = &user_shape };

static const pai__result users = { .kind = PAI__IS_LIST,
                                   .shape = &user_shape };

/* --- queries --- */

static const pai__field remove_queries[] = {
  PAI__TAKES(
    TEXT, "heir",
    "new owner of the user's jobs; without it, live jobs are stopped"),
  { 0 }
};

/* --- routes --- */

#define USERS "/api/v2/users /api/v2/user"
#define USER(rest) \
  "/api/v2/users/:username" rest " /api/v2/user/:username" rest

static const pai__route routes[] = {
  { .method = "GET",
    .path = USERS,
    .handle = do_list_users,
    .right = PAI__OF_USERS,
    .result = &users,
    .summary = "List users" },
  { .method = "POST",
    .path = USERS,
    .handle = do_create_user,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = create_fields,
    .status = 201,
    .summary = "Create a user",
    .errors = "400 NoVirtualClusterError, 404 NoGroupError, "
              "409 ConflictUserError, 429 UnknownError, 503 UnknownError" },
  { .method = "PUT",
    .path = USERS,
    .handle = do_update_user,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = update_fields,
    .status = 201,
    .summary = "Change a user",
    .errors = "400 NoVirtualClusterError, 404 NoUserError, "
              "404 NoGroupError, 429 UnknownError, 503 UnknownError" },
  { .method = "PUT",
    .path = "/api/v2/users/me /api/v2/user/me",
    .handle = do_update_self,
    .right = PAI__OF_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = self_fields,
    .status = 201,
    .summary = "Change your account",
    .errors = "404 NoUserError, 429 UnknownError, 503 UnknownError" },
  { .method = "PUT",
    .path = USERS,
    .handle = do_update_extension,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_OIDC,
    .fields = oidc_fields,
    .status = 201,
    .summary = "Update the extension data of your account" },
  { .method = "PUT",
    .path = "/api/v2/users/me /api/v2/user/me",
    .handle = do_update_extension,
    .right = PAI__OF_PERSONS,
    .mode = PAI__WITH_OIDC,
    .fields = oidc_fields,
    .status = 201,
    .summary = "Update the extension data of your account" },
  { .method = "GET",
    .path = USER("") " /api/v1/user/:username",
    .handle = do_show_user,
    .right = PAI__OF_USERS,
    .result = &user,
    .summary = "Get a user",
    .errors = "400 NoUserError" },
  { .method = "DELETE",
    .path = USER(""),
    .handle = do_remove_user,
    .right = PAI__OF_ADMIN_PERSONS,
    .queries = remove_queries,
    .summary = "Remove a user (administrators are refused)",
    .errors = "403 RemoveAdminError, 404 NoUserError" },
  { .method = "PUT",
    .path = USER("/extension"),
    .handle = do_extension,
    .right = PAI__OF_PERSONS,
    .fields = extension_fields,
    .status = 201,
    .summary = "Update the extension data of a user",
    .errors = "404 NoUserError" },
  { .method = "PUT",
    .path = USER("/grouplist"),
    .handle = do_grouplist,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = grouplist_fields,
    .status = 201,
    .summary = "Set the groups of a user",
    .errors = "404 NoUserError, 404 NoGroupError" },
  { .method = "PUT",
    .path = USER("/group"),
    .handle = do_join,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = group_fields,
    .status = 201,
    .summary = "Add a user to a group",
    .errors = "404 NoGroupError, 404 NoUserError" },
  { .method = "DELETE",
    .path = USER("/group"),
    .handle = do_leave,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = group_fields,
    .status = 201,
    .summary = "Remove a user from a group",
    .errors = "404 NoUserError" },
  { .method = "PUT",
    .path = USER("/virtualcluster"),
    .handle = do_virtual_cluster,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = cluster_fields,
    .status = 201,
    .summary = "Set the virtual clusters of a user",
    .errors = "400 NoVirtualClusterError, 404 NoUserError" },
  { .method = "PUT",
    .path = USER("/password"),
    .handle = do_password,
    .right = PAI__OF_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = password_fields,
    .status = 201,
    .summary = "Change a user's password",
    .errors = "404 NoUserError, 429 UnknownError, 503 UnknownError" },
  { .method = "PUT",
    .path = USER("/email"),
    .handle = do_email,
    .right = PAI__OF_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = email_fields,
    .status = 201,
    .summary = "Change a user's mail address",
    .errors = "404 NoUserError" },
  { .method = "PUT",
    .path = USER("/admin"),
    .handle = do_admin,
    .right = PAI__OF_ADMIN_PERSONS,
    .mode = PAI__WITH_PASSWORDS,
    .fields = admin_fields,
    .status = 201,
    .summary = "Give or take administrator rights",
    .errors = "404 NoUserError" },
};

const pai__routes pai__users_routes = { routes, PAI__LEN(routes) };
