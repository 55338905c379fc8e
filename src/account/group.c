/* group.c - groups and their rights */
#include "account/inside.h"

/* --- life ---------------------------------------------------------------- */

pai__account_group *pai__find_group(const pai_accounts *a, const char *name)
{
  return pai__table_find(&a->groups, name);
}

bool pai__account_group_is_vcs(const pai__account_group *group)
{
  return group->vcs.n == 1 && strcmp(group->vcs.at[0], group->name) == 0;
}

void pai__account_group_free(pai_accounts *a, pai__account_group *group)
{
  if (group == NULL)
    return;
  pai__strfree(&a->alloc, group->name);
  pai__strfree(&a->alloc, group->description);
  pai__strfree(&a->alloc, group->external_name);
  pai__strfree(&a->alloc, group->extension);
  pai__strings_free(&a->alloc, &group->vcs);
  pai__strings_free(&a->alloc, &group->storages);
  pai__free(&a->alloc, group, sizeof(*group));
}

pai__group_row pai__account_group_row(const pai__account_group *group)
{
  return (pai__group_row){ group->name, group->description,
                           group->external_name, group->extension };
}

/* Makes a group; its acls are still to be read from the extension. */
static pai__account_group *make(pai_accounts *a, const char *name,
                                const char *description,
                                const char *external_name,
                                const char *extension)
{
  pai__account_group *group = pai__zalloc(&a->alloc, sizeof(*group));

  if (group != NULL &&
      pai__set_text(&a->alloc, &group->name, name) == PAI_OK &&
      pai__set_text(&a->alloc, &group->description, description) == PAI_OK &&
      pai__set_text(&a->alloc, &group->external_name, external_name) ==
        PAI_OK &&
      pai__set_text(&a->alloc, &group->extension, extension) == PAI_OK)
    return group;
  pai__account_group_free(a, group);
  return NULL;
}

pai__account_group *pai__account_group_copy(pai_accounts *a,
                                            const pai__account_group *group)
{
  return make(a, group->name, group->description, group->external_name,
              group->extension);
}

/* --- acls ---------------------------------------------------------------- */

static int no_list(pai_error **err, const char *member)
{
  return pai__invalid(err, "\"extension.acls.%s\" must be an array of strings",
                      member);
}

static int read_list(pai_accounts *a, pai__strings *to, const pai__tree *t,
                     pai__node acls, const char *member, pai_error **err)
{
  pai__node list = pai__tree_get(t, acls, member), n;
  pai__tree_walk walk;

  pai__strings_free(&a->alloc, to);
  if (list == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(t, list) != PAI__SEQUENCE)
    return no_list(err, member);
  walk = pai__tree_iter(t, list);
  while ((n = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_type(t, n) != PAI__STRING)
      return no_list(err, member);
  return pai__input_names(&a->alloc, t, list, to) < 0 ? pai__oom(err) : PAI_OK;
}

static int read_acls(pai_accounts *a, pai__account_group *group,
                     const pai__tree *t, bool *has_admin, bool *has_vcs,
                     pai_error **err)
{
  pai__node acls = pai__tree_get(t, 0, "acls"), admin;
  int rc;

  *has_admin = *has_vcs = group->admin = false;
  if (acls == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(t, acls) != PAI__MAPPING)
    return pai__invalid(err, "\"extension.acls\" must be an object");
  admin = pai__tree_get(t, acls, "admin");
  *has_admin = admin != PAI__NO_NODE;
  *has_vcs = pai__tree_get(t, acls, "virtualClusters") != PAI__NO_NODE;
  if (*has_admin && pai__tree_type(t, admin) != PAI__BOOL)
    return pai__invalid(err, "\"extension.acls.admin\" must be a boolean");
  group->admin = *has_admin && pai__tree_bool(t, admin);
  rc = read_list(a, &group->vcs, t, acls, "virtualClusters", err);
  return rc == PAI_OK
           ? read_list(a, &group->storages, t, acls, "storageConfigs", err)
           : rc;
}

int pai__account_group_read(pai_accounts *a, pai__account_group *group,
                            pai_error **err)
{
  pai__json_options o = { .alloc = &a->alloc };
  bool has_admin = false, has_vcs = false;
  pai__tree *t;
  int rc =
    pai__json_parse(&t, group->extension, strlen(group->extension), &o, err);

  if (rc < 0)
    return rc;
  rc = read_acls(a, group, t, &has_admin, &has_vcs, err);
  pai__tree_free(t);
  if (rc == PAI_OK && !has_admin)
    rc = pai__extension_set(&a->alloc, &group->extension, "acls/admin",
                            "false", 5, err);
  if (rc == PAI_OK && !has_vcs)
    rc = pai__extension_set(&a->alloc, &group->extension,
                            "acls/virtualClusters", "[]", 2, err);
  return rc;
}

int pai__account_group_set_vcs(pai_accounts *a, pai__account_group *group,
                               const pai__strings *vcs, pai_error **err)
{
  char *list = pai__strings_json(&a->alloc, vcs);
  int rc;

  if (list == NULL)
    return pai__oom(err);
  rc = pai__extension_set(&a->alloc, &group->extension, "acls/virtualClusters",
                          list, strlen(list), err);
  pai__strfree(&a->alloc, list);
  return rc == PAI_OK ? pai__account_group_read(a, group, err) : rc;
}

int pai__account_group_of_vcs(pai__account_group **out, pai_accounts *a,
                              const char *name, bool admin,
                              const pai__strings *vcs, pai_error **err)
{
  const char *word = admin ? "true" : "false";
  pai__account_group *group = make(a, name, "", "", "{}");
  int rc;

  *out = NULL;
  if (group == NULL)
    return pai__oom(err);
  rc = pai__extension_set(&a->alloc, &group->extension, "acls/admin", word,
                          strlen(word), err);
  if (rc == PAI_OK)
    rc = pai__account_group_set_vcs(a, group, vcs, err);
  if (rc < 0)
    pai__account_group_free(a, group);
  else
    *out = group;
  return rc;
}

int pai__account_group_add(pai_accounts *a, const pai__group_row *row,
                           pai_error **err)
{
  pai__account_group *group =
    make(a, row->name, row->description, row->external_name, row->extension);
  int rc;

  if (group == NULL)
    return pai__oom(err);
  rc = pai__table_room(&a->alloc, &a->groups, 1) < 0
         ? pai__oom(err)
         : pai__account_group_read(a, group, err);
  if (rc < 0)
    pai__account_group_free(a, group);
  else
    pai__table_add(&a->groups, group);
  return rc;
}

/* --- creating and updating ----------------------------------------------- */

typedef struct group_put {
  pai__tree *tree;
  const char *name, *description, *external_name;
  pai__node extension;
} group_put;

static int check_put(const group_put *put, pai_error **err)
{
  if (put->name == NULL)
    return pai__invalid(err, "\"groupname\" is required");
  return pai__is_group_name(put->name)
           ? PAI_OK
           : pai__invalid(err, "\"groupname\" must have 1 to 128 letters, "
                               "digits and _");
}

/* Builds a group from a request; missing members keep the values of `old`,
 * which may be NULL. */
static int build(pai__account_group **out, pai_accounts *a,
                 const group_put *put, const pai__account_group *old,
                 pai_error **err)
{
  pai__account_group *group = old != NULL ? pai__account_group_copy(a, old)
                                          : make(a, put->name, "", "", "{}");
  int rc = PAI_OK;

  *out = NULL;
  if (group == NULL)
    return pai__oom(err);
  if ((put->description != NULL &&
       pai__set_text(&a->alloc, &group->description, put->description) < 0) ||
      (put->external_name != NULL &&
       pai__set_text(&a->alloc, &group->external_name, put->external_name) <
         0))
    rc = pai__oom(err);
  if (rc == PAI_OK && put->extension != PAI__NO_NODE)
    rc = pai__extension_merge(&a->alloc, &group->extension, put->tree,
                              put->extension, err);
  if (rc == PAI_OK)
    rc = pai__account_group_read(a, group, err);
  if (rc < 0)
    pai__account_group_free(a, group);
  else
    *out = group;
  return rc;
}

static int put_group(pai_accounts *a, const group_put *put, unsigned flags,
                     pai_error **err)
{
  const pai__account_group *old = pai__find_group(a, put->name);
  pai__account_group *group;
  pai__account_update e;
  int rc;

  if ((flags & PAI_PUT_CREATE) != 0 && old != NULL) {
    (void)pai__fail(err, PAI_EEXISTS,
                    "AlreadyExists: the group %s already exists.", put->name);
    return pai__as(err, PAI_EEXISTS, 409, "UnknownError");
  }
  if ((flags & PAI_PUT_CREATE) == 0 && old == NULL)
    return pai__no_group(err, 400, put->name);
  rc = build(&group, a, put, (flags & PAI_PUT_PATCH) != 0 ? old : NULL, err);
  if (rc < 0)
    return rc;
  pai__account_update_begin(&e, a);
  return pai__account_update_end(&e, pai__account_update_group(&e, group, err),
                                 err);
}

int pai_accounts_put_group(pai_accounts *a, const char *json, size_t len,
                           unsigned flags, pai_error **err)
{
  static const pai__input_field fields[] = {
    { "groupname", PAI__INPUT_TEXT, offsetof(group_put, name) },
    { "description", PAI__INPUT_TEXT, offsetof(group_put, description) },
    { "externalName", PAI__INPUT_TEXT, offsetof(group_put, external_name) },
    { "extension", PAI__INPUT_OBJECT, offsetof(group_put, extension) },
    { NULL, PAI__INPUT_TEXT, 0 }
  };
  group_put put = { .extension = PAI__NO_NODE };
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(
    json != NULL && (flags & ~(unsigned)(PAI_PUT_CREATE | PAI_PUT_PATCH)) == 0,
    err);
  rc = pai__input_parse(&put.tree, &a->alloc, json, len, fields, &put, err);
  if (rc == PAI_OK)
    rc = check_put(&put, err);
  if (rc == PAI_OK)
    rc = put_group(a, &put, flags, err);
  pai__tree_free(put.tree);
  return rc;
}

int pai_accounts_set_group_value(pai_accounts *a, const char *group,
                                 const char *path, const char *json,
                                 size_t len, pai_error **err)
{
  const pai__account_group *old;
  pai__account_group *changed;
  pai__account_update e;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(group != NULL && path != NULL && json != NULL, err);
  old = pai__find_group(a, group);
  if (old == NULL)
    return pai__no_group(err, 400, group);
  changed = pai__account_group_copy(a, old);
  if (changed == NULL)
    return pai__oom(err);
  rc =
    pai__extension_set(&a->alloc, &changed->extension, path, json, len, err);
  if (rc == PAI_OK)
    rc = pai__account_group_read(a, changed, err);
  if (rc < 0) {
    pai__account_group_free(a, changed);
    return rc;
  }
  pai__account_update_begin(&e, a);
  return pai__account_update_end(
    &e, pai__account_update_group(&e, changed, err), err);
}
