/* groups.c - /groups: groups and their rights */
#include "server/server.h"

/* --- initial groups ------------------------------------------------------ */

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

/* Also for a platform of one user, where nobody sets accounts up. */
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

/* --- reading ------------------------------------------------------------- */

void pai__do_groups_list(pai__request *r)
{
  pai__answer_written(r, pai_accounts_write_groups(r->server->accounts,
                                                   pai__answer_write,
                                                   &r->answer, &r->err));
}

void pai__do_groups_show(pai__request *r)
{
  pai__answer_written(
    r, pai_accounts_write_group(r->server->accounts, r->params[0],
                                pai__answer_write, &r->answer, &r->err));
}

void pai__do_groups_members(pai__request *r)
{
  pai__answer_written(
    r, pai_accounts_write_members(r->server->accounts, r->params[0],
                                  pai__answer_write, &r->answer, &r->err));
}

/* --- updates ------------------------------------------------------------- */

/* Returns the JSON source of a member of the body. */
static const char *source_of(const pai__request *r, const char *name,
                             size_t *len)
{
  const pai__tree_node *n = &r->form->nodes[pai__tree_get(r->form, 0, name)];

  *len = n->end - n->start;
  return r->form->text + n->start;
}

void pai__do_groups_create(pai__request *r)
{
  pai__answer_changed(
    r,
    pai_accounts_put_group(r->server->accounts, pai__buf_text(&r->body),
                           r->body.len, PAI_PUT_CREATE, &r->err),
    "group is created successfully");
}

void pai__do_groups_update(pai__request *r)
{
  bool patch = pai__tree_is_true(r->form, pai__tree_get(r->form, 0, "patch"));
  size_t len;
  const char *data = source_of(r, "data", &len);

  pai__answer_changed(r,
                      pai_accounts_put_group(r->server->accounts, data, len,
                                             patch ? PAI_PUT_PATCH : 0,
                                             &r->err),
                      "update group data successfully.");
}

void pai__do_groups_remove(pai__request *r)
{
  pai__answer_changed(
    r, pai_accounts_remove_group(r->server->accounts, r->params[0], &r->err),
    "group is removed successfully");
}

/* Copies a member of the body to the group. */
static void put_member(pai__request *r, const char *member, const char *said)
{
  pai__json_writer w;
  pai__buf json;
  int rc;

  pai__buf_init(&json, &r->server->alloc);
  pai__json_writer_init(&w, &json, false);
  pai__json_begin_object(&w);
  pai__json_put_text(&w, "groupname", r->params[0]);
  pai__body_copy(&w, r, 0, member, member);
  pai__json_end_object(&w);
  rc = pai__json_finish(&w);
  if (rc == PAI_OK)
    rc = pai_accounts_put_group(r->server->accounts, pai__buf_text(&json),
                                json.len, PAI_PUT_PATCH, &r->err);
  pai__buf_dispose(&json);
  if (rc == PAI_ENOTFOUND) /* OpenPAI has 500 */
    pai__answer_error(r, 404, "UnknownError", "%s", pai_error_message(r->err));
  else
    pai__answer_changed(r, rc, said);
}

void pai__do_groups_set_extension(pai__request *r)
{
  put_member(r, "extension", "Update group extension data successfully.");
}

void pai__do_groups_set_description(pai__request *r)
{
  put_member(r, "description", "update group description data successfully.");
}

void pai__do_groups_set_external_name(pai__request *r)
{
  put_member(r, "externalName",
             "update group externalName data successfully.");
}

/* The path is what follows "extension/", with its slashes. */
void pai__do_groups_set_value(pai__request *r)
{
  const char *part = r->params[1], *value;
  pai__buf path;
  size_t len;
  int rc = PAI_ENOMEM;

  pai__buf_init(&path, &r->server->alloc);
  for (; *part != '\0'; part += strlen(part) + 1)
    pai__buf_printf(&path, "%s%s", path.len > 0 ? "/" : "", part);
  value = source_of(r, "data", &len);
  if (pai__buf_ok(&path))
    rc =
      pai_accounts_set_group_value(r->server->accounts, r->params[0],
                                   pai__buf_text(&path), value, len, &r->err);
  pai__buf_dispose(&path);
  pai__answer_changed(r, rc, "Update group extension data successfully.");
}
