/* facade_users.c - users and groups */
#include "facade_accounts_act.h"

#include <string.h>

/* --- users ---------------------------------------------------------------------------- */

static int do_write_user(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_user(a->accounts, a->w->user, a->w->viewer,
                                 facade_collect, a->out, err);
}

static int do_write_users(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_users(a->accounts, a->w->viewer, facade_collect,
                                  a->out, err);
}

static int do_put_user(accounts_act *a, pai_error **err)
{
  return accounts_await(
    a, pai_accounts_put_user(a->accounts, a->w->text, a->w->len,
                             (unsigned)a->w->flags, accounts_on_done, a, err));
}

static int do_remove_user(accounts_act *a, pai_error **err)
{
  return a->w->heir != NULL
           ? pai_accounts_hand_over_user(a->accounts, a->w->user, a->w->heir,
                                         err)
           : pai_accounts_remove_user(a->accounts, a->w->user, err);
}

static int do_owner(accounts_act *a, pai_error **err)
{
  const char *owner =
    pai_accounts_owner(a->accounts, a->w->user, a->w->before);

  (void)err;
  a->is_text = owner != NULL;
  if (owner == NULL)
    return facade_collect(a->out, "null", 4);
  return facade_collect(a->out, owner, strlen(owner));
}

static int do_act_as(accounts_act *a, pai_error **err)
{
  (void)err;
  return pai_accounts_act_as(a->accounts, a->w->user, a->w->from, 0);
}

static int do_set_member(accounts_act *a, pai_error **err)
{
  return pai_accounts_set_member(a->accounts, a->w->user, a->w->group,
                                 a->w->in, err);
}

static int do_need_ssh(accounts_act *a, pai_error **err)
{
  return pai_accounts_need_ssh(a->accounts, a->w->user, err);
}

static int do_has_user(accounts_act *a, pai_error **err)
{
  (void)err;
  return accounts_answer(a, pai_accounts_has_user(a->accounts, a->w->user));
}

static int do_is_admin(accounts_act *a, pai_error **err)
{
  (void)err;
  return accounts_answer(a, pai_accounts_is_admin(a->accounts, a->w->user));
}

const accounts_deed accounts_users[] = {
  { "owner", do_owner, ACCOUNTS_TELLS },
  { "act_as", do_act_as, ACCOUNTS_TELLS },
  { "write_user", do_write_user, ACCOUNTS_TELLS },
  { "write_users", do_write_users, ACCOUNTS_TELLS },
  { "put_user", do_put_user, ACCOUNTS_CHANGES },
  { "remove_user", do_remove_user, ACCOUNTS_CHANGES },
  { "set_member", do_set_member, ACCOUNTS_CHANGES },
  { "need_ssh", do_need_ssh, ACCOUNTS_CHANGES },
  { "has_user", do_has_user, ACCOUNTS_TELLS },
  { "is_admin", do_is_admin, ACCOUNTS_TELLS },
  { NULL, NULL, 0 },
};

/* --- groups ------------------------------------------------------------------------------ */

static int do_write_group(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_group(a->accounts, a->w->group, facade_collect,
                                  a->out, err);
}

static int do_write_groups(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_groups(a->accounts, facade_collect, a->out, err);
}

static int do_write_members(accounts_act *a, pai_error **err)
{
  return pai_accounts_write_members(a->accounts, a->w->group, facade_collect,
                                    a->out, err);
}

static int do_put_group(accounts_act *a, pai_error **err)
{
  return pai_accounts_put_group(a->accounts, a->w->text, a->w->len,
                                (unsigned)a->w->flags, err);
}

static int do_set_group_value(accounts_act *a, pai_error **err)
{
  return pai_accounts_set_group_value(a->accounts, a->w->group, a->w->path,
                                      a->w->text, a->w->len, err);
}

static int do_remove_group(accounts_act *a, pai_error **err)
{
  return pai_accounts_remove_group(a->accounts, a->w->group, err);
}

static int do_may_use_vc(accounts_act *a, pai_error **err)
{
  (void)err;
  return accounts_answer(
    a, pai_accounts_may_use_vc(a->accounts, a->w->user, a->w->vc));
}

static int do_add_vc(accounts_act *a, pai_error **err)
{
  return pai_accounts_add_vc(a->accounts, a->w->vc, a->w->description,
                             a->w->external_name, err);
}

static int do_remove_vc(accounts_act *a, pai_error **err)
{
  return pai_accounts_remove_vc(a->accounts, a->w->vc, err);
}

const accounts_deed accounts_groups[] = {
  { "write_group", do_write_group, ACCOUNTS_TELLS },
  { "write_groups", do_write_groups, ACCOUNTS_TELLS },
  { "write_members", do_write_members, ACCOUNTS_TELLS },
  { "put_group", do_put_group, ACCOUNTS_CHANGES },
  { "set_group_value", do_set_group_value, ACCOUNTS_CHANGES },
  { "remove_group", do_remove_group, ACCOUNTS_CHANGES },
  { "may_use_vc", do_may_use_vc, ACCOUNTS_TELLS },
  { "add_vc", do_add_vc, ACCOUNTS_CHANGES },
  { "remove_vc", do_remove_vc, ACCOUNTS_CHANGES },
  { NULL, NULL, 0 },
};
