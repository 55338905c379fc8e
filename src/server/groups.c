/* groups.c - /groups: what their members may */
#include "server/server.h"

/* --- those that are always there ------------------------------------------------- */

static int drop(void *unused, const char *bytes, size_t len)
{
  (void)unused;
  (void)bytes;
  (void)len;
  return PAI_OK;
}

static bool is_there(pai_accounts *accounts, const char *group)
{
  return pai_accounts_write_group(accounts, group, drop, NULL, NULL) !=
         PAI_ENOTFOUND;
}

/* Also where nobody has set accounts up, as on a platform of one user. */
int pai__groups_begin(pai_accounts *accounts, pai_error **err)
{
  static const char admins[] =
    "{\"groupname\":\"admingroup\",\"extension\":{\"acls\":{\"admin\":"
    "true,\"virtualClusters\":[\"default\"]}}}";
  int rc = PAI_OK;

  if (!is_there(accounts, "admingroup"))
    rc = pai_accounts_put_group(accounts, admins, sizeof(admins) - 1,
                                PAI_PUT_CREATE, err);
  if (rc == PAI_OK && !is_there(accounts, "default"))
    rc = pai_accounts_add_vc(accounts, "default", NULL, NULL, err);
  return rc;
}

/* --- reading -------------------------------------------------------------------- */

static void do_list_groups(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_accounts_write_groups(r->server->accounts, pai__answer_write,
                                     &r->answer, &err);

  pai__answer_written(r, rc, err);
}

static void do_show_group(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_accounts_write_group(r->server->accounts, r->params[0],
                                    pai__answer_write, &r->answer, &err);

  pai__answer_written(r, rc, err);
}

static void do_list_members(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_accounts_write_members(r->server->accounts, r->params[0],
                                      pai__answer_write, &r->answer, &err);

  pai__answer_written(r, rc, err);
}

/* --- changing ---------------------------------------------------------------------- */

/* The source of a value that was sent. */
static const char *source_of(const pai__request *r, pai__node n, size_t *len)
{
  *len = r->form->nodes[n].end - r->form->nodes[n].start;
  return r->form->text + r->form->nodes[n].start;
}

static void do_create_group(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_accounts_put_group(r->server->accounts, pai__buf_text(&r->body),
                                  r->body.len, PAI_PUT_CREATE, &err);

  r->said = "group is created successfully";
  pai__answer_changed(r, rc, err);
}

static void do_update_group(pai__request *r)
{
  bool patch = pai__tree_bool(r->form, pai__tree_get(r->form, 0, "patch"));
  size_t len;
  const char *data = source_of(r, pai__tree_get(r->form, 0, "data"), &len);
  pai_error *err = NULL;
  int rc = pai_accounts_put_group(r->server->accounts, data, len,
                                  patch ? PAI_PUT_PATCH : 0, &err);

  r->said = "update group data successfully.";
  pai__answer_changed(r, rc, err);
}

static void do_remove_group(pai__request *r)
{
  pai_error *err = NULL;
  int rc = pai_accounts_remove_group(r->server->accounts, r->params[0], &err);

  r->said = "group is removed successfully";
  pai__answer_changed(r, rc, err);
}

/* A group that is none is 404 here, where OpenPAI has 500. */
static void answer_member(pai__request *r, int rc, pai_error *err)
{
  if (rc == PAI_ENOTFOUND) {
    pai__answer_error(r, 404, "UnknownError", "%s", pai_error_message(err));
    pai_error_free(err);
  } else {
    pai__answer_changed(r, rc, err);
  }
}

/* One member of the body becomes that of the group. */
static void put_member(pai__request *r, const char *member, const char *said)
{
  pai__json_writer w;
  pai_error *err = NULL;
  const char *value;
  pai__buf json;
  size_t len;
  int rc;

  value = source_of(r, pai__tree_get(r->form, 0, member), &len);
  pai__buf_init(&json, &r->server->alloc);
  pai__json_writer_init(&w, &json, false);
  pai__json_begin_object(&w);
  pai__json_key(&w, "groupname", 9);
  pai__json_text(&w, r->params[0], strlen(r->params[0]));
  pai__json_key(&w, member, strlen(member));
  pai__json_ready(&w, value, len);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  if (rc == PAI_OK)
    rc = pai_accounts_put_group(r->server->accounts, pai__buf_text(&json),
                                json.len, PAI_PUT_PATCH, &err);
  pai__buf_dispose(&json);
  r->said = said;
  answer_member(r, rc, err);
}

static void do_extension(pai__request *r)
{
  put_member(r, "extension", "Update group extension data successfully.");
}

static void do_description(pai__request *r)
{
  put_member(r, "description", "update group description data successfully.");
}

static void do_external_name(pai__request *r)
{
  put_member(r, "externalName",
             "update group externalName data successfully.");
}

/* The path behind "extension/", with slashes again. */
static void do_value(pai__request *r)
{
  const char *part = r->params[1], *value;
  pai_error *err = NULL;
  pai__buf path;
  size_t len;
  int rc;

  pai__buf_init(&path, &r->server->alloc);
  for (; *part != '\0'; part += strlen(part) + 1)
    pai__buf_printf(&path, "%s%s", path.len > 0 ? "/" : "", part);
  value = source_of(r, pai__tree_get(r->form, 0, "data"), &len);
  rc =
    !pai__buf_ok(&path)
      ? PAI_ENOMEM
      : pai_accounts_set_group_value(r->server->accounts, r->params[0],
                                     pai__buf_text(&path), value, len, &err);
  pai__buf_dispose(&path);
  r->said = "Update group extension data successfully.";
  pai__answer_changed(r, rc, err);
}

/* --- bodies --- */

#define GROUPNAME                                                    \
  {                                                                  \
    .name = "groupname", .kind = PAI__IS_TEXT, .flags = PAI__NEEDED, \
    .pattern = &pai__group_pattern                                   \
  }
#define TEXT(of, need)                                                      \
  {                                                                         \
    .name = (of), .kind = PAI__IS_TEXT, .flags = PAI__MAY_BE_EMPTY | (need) \
  }
#define OBJECT(of, need)                                  \
  {                                                       \
    .name = (of), .kind = PAI__IS_OBJECT, .flags = (need) \
  }

static const pai__field create_fields[] = { GROUPNAME,
                                            TEXT("description", 0),
                                            TEXT("externalName", 0),
                                            OBJECT("extension", 0),
                                            { 0 } };

static const pai__field update_data[] = {
  GROUPNAME,
  TEXT("description", PAI__NEEDED_WHOLE),
  TEXT("externalName", PAI__NEEDED_WHOLE),
  OBJECT("extension", PAI__NEEDED_WHOLE),
  { 0 }
};

static const pai__field update_fields[] = {
  { .name = "data",
    .kind = PAI__IS_OBJECT,
    .flags = PAI__NEEDED,
    .fields = update_data },
  { .name = "patch", .kind = PAI__IS_FLAG, .missing = "false" },
  { 0 }
};

static const pai__field extension_fields[] = {
  OBJECT("extension", PAI__NEEDED), { 0 }
};
static const pai__field description_fields[] = {
  TEXT("description", PAI__NEEDED), { 0 }
};
static const pai__field external_fields[] = {
  TEXT("externalName", PAI__NEEDED), { 0 }
};
static const pai__field value_fields[] = {
  { .name = "data", .kind = PAI__IS_ANY, .flags = PAI__NEEDED }, { 0 }
};

/* --- answers --- */

static const pai__field group_fields[] = {
  PAI__HAS(TEXT, "groupname"),
  PAI__HAS_OR_NULL(TEXT, "description"),
  PAI__HAS_OR_NULL(TEXT, "externalName"),
  PAI__HAS(OBJECT, "extension"),
  { 0 }
};

static const pai__shape group_shape = { "Group", group_fields };

static const pai__result group = { .kind = PAI__IS_OBJECT,
                                   .shape = &group_shape };

static const pai__result groups = { .kind = PAI__IS_LIST,
                                    .shape = &group_shape };

static const pai__field member_fields[] = { PAI__HAS(TEXT, "username"),
                                            PAI__HAS(FLAG, "clusterAdmin"),
                                            { 0 } };

static const pai__shape member_shape = { "GroupMember", member_fields };

static const pai__result members = { .kind = PAI__IS_LIST,
                                     .shape = &member_shape };

/* --- routes --- */

#define GROUPS "/api/v2/groups /api/v2/group"
#define GROUP(rest) \
  "/api/v2/groups/:groupname" rest " /api/v2/group/:groupname" rest

static const pai__route routes[] = {
  { .method = "GET",
    .path = GROUPS,
    .handle = do_list_groups,
    .right = PAI__OF_USERS,
    .result = &groups,
    .summary = "List groups" },
  { .method = "POST",
    .path = GROUPS,
    .handle = do_create_group,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = create_fields,
    .status = 201,
    .summary = "Create a group",
    .errors = "409 UnknownError" },
  { .method = "PUT",
    .path = GROUPS,
    .handle = do_update_group,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = update_fields,
    .status = 201,
    .summary = "Change a group",
    .errors = "400 NoGroupError" },
  { .method = "GET",
    .path = GROUP(""),
    .handle = do_show_group,
    .right = PAI__OF_USERS,
    .result = &group,
    .summary = "Get a group",
    .errors = "400 NoGroupError" },
  { .method = "DELETE",
    .path = GROUP(""),
    .handle = do_remove_group,
    .right = PAI__OF_ADMIN_PERSONS,
    .summary = "Remove a group, and take it from its members",
    .errors = "404 UnknownError" },
  { .method = "GET",
    .path = GROUP("/userlist"),
    .handle = do_list_members,
    .right = PAI__OF_ADMIN,
    .result = &members,
    .summary = "List the members of a group" },
  { .method = "PUT",
    .path = GROUP("/extension"),
    .handle = do_extension,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = extension_fields,
    .status = 201,
    .summary = "Update the extension data of a group",
    .errors = "404 UnknownError" },
  { .method = "PUT",
    .path = GROUP("/extension/*path"),
    .handle = do_value,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = value_fields,
    .status = 201,
    .summary = "Set one value of a group's extension",
    .errors = "400 NoGroupError" },
  { .method = "PUT",
    .path = GROUP("/description"),
    .handle = do_description,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = description_fields,
    .status = 201,
    .summary = "Set a group's description",
    .errors = "404 UnknownError" },
  { .method = "PUT",
    .path = GROUP("/externalname"),
    .handle = do_external_name,
    .right = PAI__OF_ADMIN_PERSONS,
    .fields = external_fields,
    .status = 201,
    .summary = "Set a group's external name",
    .errors = "404 UnknownError" },
};

const pai__routes pai__groups_routes = { routes, PAI__LEN(routes) };
