/* group_vc.c - removal of groups; groups of virtual clusters */
#include "account/inside.h"

/* --- removal ------------------------------------------------------------- */

static int drop_group(pai__account_update *e, pai__account_group *group,
                      pai_error **err)
{
  pai_accounts *a = e->a;
  int rc = PAI_OK;

  for (size_t i = 0; i < a->accounts.n && rc == PAI_OK; i++) {
    const pai__account *account = a->accounts.at[i];
    pai__account_user *user;

    if (!pai__strings_has(&account->user->groups, group->name))
      continue;
    user = pai__user_copy(a, account->user);
    if (user == NULL)
      return pai__oom(err);
    pai__strings_drop(&a->alloc, &user->groups, group->name);
    rc = pai__account_update_user(e, user, err);
  }
  return rc == PAI_OK ? pai__account_update_drop_group(e, group, err) : rc;
}

int pai_accounts_remove_group(pai_accounts *a, const char *group,
                              pai_error **err)
{
  pai__account_group *found;
  pai__account_update e;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(group != NULL, err);
  found = pai__find_group(a, group);
  if (found == NULL) {
    (void)pai__fail(err, PAI_ENOTFOUND, "NotFound: there is no group %.128s.",
                    group);
    return pai__as(err, PAI_ENOTFOUND, 404, "UnknownError");
  }
  if (strcmp(group, PAI__DEFAULT_GROUP) == 0 ||
      strcmp(group, PAI__ADMIN_GROUP) == 0) {
    (void)pai__fail(err, PAI_EPERM, "Group %s is the platform's own.", group);
    return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
  }
  pai__account_update_begin(&e, a);
  return pai__account_update_end(&e, drop_group(&e, found, err), err);
}

/* --- virtual clusters ---------------------------------------------------- */

/* Updates the virtual clusters of a group. */
static int put_vcs(pai__account_update *e, const pai__account_group *group,
                   const pai__strings *vcs, pai_error **err)
{
  pai_accounts *a = e->a;
  pai__account_group *changed = pai__account_group_copy(a, group);
  int rc;

  if (changed == NULL)
    return pai__oom(err);
  rc = pai__account_group_set_vcs(a, changed, vcs, err);
  if (rc == PAI_OK)
    return pai__account_update_group(e, changed, err);
  pai__account_group_free(a, changed);
  return rc;
}

/* Adds or removes a virtual cluster. */
static int change_vcs(pai__account_update *e, const pai__account_group *group,
                      const char *vc, bool add, pai_error **err)
{
  const pai_alloc *alloc = &e->a->alloc;
  pai__strings vcs;
  int rc = pai__strings_copy(alloc, &vcs, &group->vcs);

  if (rc == PAI_OK && add)
    rc = pai__strings_add(alloc, &vcs, vc);
  else if (rc == PAI_OK)
    pai__strings_drop(alloc, &vcs, vc);
  rc = rc < 0 ? pai__oom(err) : put_vcs(e, group, &vcs, err);
  pai__strings_free(alloc, &vcs);
  return rc;
}

static int add_own(pai__account_update *e, const char *vc,
                   const char *description, const char *external_name,
                   pai_error **err)
{
  pai_accounts *a = e->a;
  const pai__account_group *old = pai__find_group(a, vc);
  pai__strings vcs = { 0 };
  pai__account_group *group = NULL;
  int rc = PAI_OK;

  if (old != NULL) {
    group = pai__account_group_copy(a, old);
    rc =
      group != NULL ? pai__account_group_read(a, group, err) : pai__oom(err);
  } else if (pai__strings_add(&a->alloc, &vcs, vc) < 0) {
    rc = pai__oom(err);
  } else {
    rc = pai__account_group_of_vcs(&group, a, vc, false, &vcs, err);
  }
  pai__strings_free(&a->alloc, &vcs);
  if (rc == PAI_OK &&
      ((description != NULL &&
        pai__set_text(&a->alloc, &group->description, description) < 0) ||
       (external_name != NULL &&
        pai__set_text(&a->alloc, &group->external_name, external_name) < 0)))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    return pai__account_update_group(e, group, err);
  pai__account_group_free(a, group);
  return rc;
}

int pai_accounts_add_vc(pai_accounts *a, const char *vc,
                        const char *description, const char *external_name,
                        pai_error **err)
{
  const pai__account_group *old;
  pai__account_update e;
  int rc;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(vc != NULL, err);
  if (!pai__is_group_name(vc))
    return pai__invalid(err, "\"%.64s\" cannot be the name of a group", vc);
  old = pai__find_group(a, vc);
  if (old != NULL && !pai__account_group_is_vcs(old)) {
    (void)pai__fail(err, PAI_EEXISTS,
                    "There is a group %s, which is of no virtual cluster.",
                    vc);
    return pai__as(err, PAI_EEXISTS, 409, "ConflictVcError");
  }
  pai__account_update_begin(&e, a);
  rc = add_own(&e, vc, description, external_name, err);
  for (size_t i = 0; i < a->groups.n && rc == PAI_OK; i++) {
    const pai__account_group *group = a->groups.at[i];
    if (group != old && group->admin && !pai__strings_has(&group->vcs, vc))
      rc = change_vcs(&e, group, vc, true, err);
  }
  return pai__account_update_end(&e, rc, err);
}

int pai_accounts_remove_vc(pai_accounts *a, const char *vc, pai_error **err)
{
  pai__account_group *own;
  pai__account_update e;
  int rc = PAI_OK;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(vc != NULL, err);
  if (strcmp(vc, PAI__ADMIN_GROUP) == 0 ||
      strcmp(vc, PAI__DEFAULT_GROUP) == 0) {
    (void)pai__fail(err, PAI_EPERM, "Group %s is the platform's own.", vc);
    return pai__as(err, PAI_EPERM, 403, "ForbiddenUserError");
  }
  own = pai__find_group(a, vc);
  if (own != NULL && !pai__account_group_is_vcs(own))
    own = NULL;
  pai__account_update_begin(&e, a);
  for (size_t i = 0; i < a->groups.n && rc == PAI_OK; i++) {
    const pai__account_group *group = a->groups.at[i];
    if (group != own && pai__strings_has(&group->vcs, vc))
      rc = change_vcs(&e, group, vc, false, err);
  }
  if (rc == PAI_OK && own != NULL)
    rc = drop_group(&e, own, err);
  return pai__account_update_end(&e, rc, err);
}

/* --- output -------------------------------------------------------------- */

static void write_group(pai__json_writer *w, const pai__account_group *group)
{
  const pai__group_row row = pai__account_group_row(group);

  (void)pai__api_object(w, &pai__api_Group, &row, NULL, NULL);
}

int pai_accounts_write_group(pai_accounts *a, const char *group,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  const pai__account_group *found;
  pai__wire o;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(group != NULL && write != NULL, err);
  found = pai__find_group(a, group);
  if (found == NULL)
    return pai__no_group(err, 400, group);
  pai__wire_begin(&o, &a->alloc, write, user_data);
  write_group(&o.w, found);
  return pai__wire_end(&o, PAI_OK, err);
}

int pai_accounts_write_groups(pai_accounts *a, pai_write_cb write,
                              void *user_data, pai_error **err)
{
  pai__wire o;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  pai__wire_begin(&o, &a->alloc, write, user_data);
  pai__json_begin_array(&o.w);
  for (size_t i = 0; i < a->groups.n; i++)
    write_group(&o.w, a->groups.at[i]);
  pai__json_end_array(&o.w);
  return pai__wire_end(&o, PAI_OK, err);
}

int pai_accounts_write_members(pai_accounts *a, const char *group,
                               pai_write_cb write, void *user_data,
                               pai_error **err)
{
  pai__wire o;

  PAI__CHECK_OBJECT(a, err);
  PAI__CHECK_ARG_ERR(group != NULL && write != NULL, err);
  pai__wire_begin(&o, &a->alloc, write, user_data);
  pai__json_begin_array(&o.w);
  for (size_t i = 0; i < a->accounts.n; i++) {
    const pai__account_user *user = ((pai__account *)a->accounts.at[i])->user;
    pai__group_member_row row;
    if (!pai__strings_has(&user->groups, group))
      continue;
    row.name = user->name;
    row.admin = pai__user_is_admin(a, user);
    (void)pai__api_object(&o.w, &pai__api_GroupMember, &row, NULL, NULL);
  }
  pai__json_end_array(&o.w);
  return pai__wire_end(&o, PAI_OK, err);
}
