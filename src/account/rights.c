/*
 * rights.c - effect of changes on rights: the last administrator cannot be
 * removed, and changes are put in the audit log
 */
#include "account/inside.h"

#include <stdio.h>

enum { LONGEST_NOTE = 400 };

/* --- the last administrator ---------------------------------------------- */

/* After the update; its later items override earlier ones. */
static bool will_be_admin_group(const pai__account_update *e, const char *name)
{
  const pai__account_group *group = pai__find_group(e->a, name);
  bool admin = group != NULL && group->admin;

  for (size_t i = 0; i < e->n; i++) {
    const pai__account_update_item *item = &e->items[i];
    if ((item->kind != PAI__PUT_GROUP && item->kind != PAI__DROP_GROUP) ||
        strcmp(((const pai__account_group *)item->thing)->name, name) != 0)
      continue;
    admin = item->kind == PAI__PUT_GROUP &&
            ((const pai__account_group *)item->thing)->admin;
  }
  return admin;
}

static bool will_be_admin(const pai__account_update *e,
                          const pai__account_user *user)
{
  for (size_t i = 0; user != NULL && i < user->groups.n; i++)
    if (will_be_admin_group(e, user->groups.at[i]))
      return true;
  return false;
}

/* Returns the account's user after the update; NULL: removed. */
static const pai__account_user *user_after(const pai__account_update *e,
                                           const pai__account *account)
{
  const pai__account_user *user = account->user;

  for (size_t i = 0; i < e->n; i++)
    if (e->items[i].account == account && (e->items[i].kind == PAI__PUT_USER ||
                                           e->items[i].kind == PAI__DROP_USER))
      user = e->items[i].kind == PAI__PUT_USER ? e->items[i].thing : NULL;
  return user;
}

static bool will_have_admin(const pai__account_update *e)
{
  for (size_t i = 0; i < e->a->accounts.n; i++)
    if (will_be_admin(e, user_after(e, e->a->accounts.at[i])))
      return true;
  for (size_t i = 0; i < e->n; i++)
    if (e->items[i].kind == PAI__PUT_USER && e->items[i].fresh &&
        will_be_admin(e, e->items[i].thing))
      return true;
  return false;
}

static bool takes_admin(const pai__account_update *e,
                        const pai__account_update_item *item)
{
  const pai__account_group *group = item->thing, *old;

  switch (item->kind) {
  case PAI__PUT_USER:
    return !item->fresh && pai__user_is_admin(e->a, item->account->user) &&
           !pai__user_is_admin(e->a, item->thing);
  case PAI__DROP_USER: return pai__user_is_admin(e->a, item->account->user);
  case PAI__PUT_GROUP:
    old = pai__find_group(e->a, group->name);
    return old != NULL && old->admin && !group->admin;
  case PAI__DROP_GROUP: return group->admin;
  default: return false;
  }
}

static bool had_admin(const pai_accounts *a)
{
  for (size_t i = 0; i < a->accounts.n; i++)
    if (pai__user_is_admin(a, ((const pai__account *)a->accounts.at[i])->user))
      return true;
  return false;
}

int pai__rights_check(const pai__account_update *e, pai_error **err)
{
  bool takes = false;

  for (size_t i = 0; i < e->n && !takes; i++)
    takes = takes_admin(e, &e->items[i]);
  if (!takes || e->provided || e->a->actor.owner || will_have_admin(e) ||
      !had_admin(e->a))
    return PAI_OK;
  (void)pai__fail(err, PAI_EPERM,
                  "The last administrator must keep this right: no other user "
                  "could manage this platform.");
  pai__error_help(err, "make another user an administrator first");
  return pai__as(err, PAI_EPERM, 403, "RemoveAdminError");
}

/* --- the audit log ------------------------------------------------------- */

typedef struct note {
  char text[LONGEST_NOTE];
  size_t len;
} note;

static void add(note *n, const char *fmt, ...) PAI__PRINTF(2, 3);

/* Appends; what does not fit is left out. */
static void add(note *n, const char *fmt, ...)
{
  size_t room = sizeof(n->text) - n->len;
  va_list ap;
  int len;

  va_start(ap, fmt);
  len = vsnprintf(n->text + n->len, room, fmt, ap);
  va_end(ap);
  if (len > 0)
    n->len += (size_t)len < room ? (size_t)len : room - 1;
}

static void add_names(note *n, const char *what, const pai__strings *names)
{
  add(n, "%s", what);
  for (size_t i = 0; i < names->n; i++)
    add(n, "%s%s", i > 0 ? "," : "", names->at[i]);
}

/* Appends the names of `one` that `other` lacks. */
static void add_difference(note *n, char sign, const pai__strings *one,
                           const pai__strings *other)
{
  for (size_t i = 0; i < one->n; i++)
    if (!pai__strings_has(other, one->at[i]))
      add(n, " %c%s", sign, one->at[i]);
}

static void tell_user(note *n, const pai__account_update *e,
                      const pai__account_update_item *item)
{
  const pai__account_user *user = item->thing, *old = item->account->user;

  if (item->fresh) {
    add(n, "user %s added:", user->name);
    add_names(n, " groups ", &user->groups);
    return;
  }
  add(n, "user %s:", user->name);
  add_difference(n, '+', &user->groups, &old->groups);
  add_difference(n, '-', &old->groups, &user->groups);
  if (strcmp(user->password, old->password) != 0 && !e->rehashed)
    add(n, " new password");
  if (user->quota_set != old->quota_set ||
      memcmp(user->quota, old->quota, sizeof(user->quota)) != 0)
    add(n, " new quota");
  if (n->text[n->len - 1] == ':')
    n->len = 0; /* no change of rights */
}

static void tell_group(note *n, const pai__account_update *e,
                       const pai__account_group *group)
{
  const pai__account_group *old = pai__find_group(e->a, group->name);

  if (old != NULL && strcmp(old->extension, group->extension) == 0)
    return;
  add(n, "group %s%s: %s", group->name, old == NULL ? " added" : "",
      group->admin ? "administrators" : "no administrators");
  add_names(n, ", virtual clusters ", &group->vcs);
  add_names(n, ", storages ", &group->storages);
}

static void tell(note *n, const pai__account_update *e,
                 const pai__account_update_item *item)
{
  const pai__token *token = item->thing;

  switch (item->kind) {
  case PAI__PUT_USER: tell_user(n, e, item); break;
  case PAI__DROP_USER:
    add(n, "user %s removed", item->account->name);
    if (item->heir != NULL)
      add(n, ", jobs handed to %s", item->heir);
    break;
  case PAI__PUT_GROUP: tell_group(n, e, item->thing); break;
  case PAI__DROP_GROUP:
    add(n, "group %s removed",
        ((const pai__account_group *)item->thing)->name);
    break;
  case PAI__PUT_TOKEN:
    if (token->application)
      add(n, "token %.8s of %s added%s%s", token->uid, token->owner->name,
          token->name != NULL ? ": " : "",
          token->name != NULL ? token->name : "");
    break;
  case PAI__DROP_TOKEN:
    if (token->application)
      add(n, "token %.8s of %s revoked", token->uid, token->owner->name);
    break;
  default: break;
  }
}

int pai__rights_tell(const pai__account_update *e, pai_error **err)
{
  pai_accounts *a = e->a;

  for (size_t i = 0; i < e->n && !e->quiet; i++) {
    pai__audit_row row = { .time = a->host.now(a->host.ctx) };
    note n = { .len = 0 };

    n.text[0] = '\0';
    tell(&n, e, &e->items[i]);
    if (n.len == 0)
      continue;
    n.text[n.len] = '\0';
    row.user = a->actor.user[0] != '\0' ? a->actor.user : NULL;
    row.peer = a->actor.from[0] != '\0' ? a->actor.from : NULL;
    row.what = n.text;
    if (pai__batch_put_note(a->host.batch(a->host.ctx), &row) < 0)
      return pai__oom(err);
  }
  return PAI_OK;
}

static void set(char *to, size_t size, const char *text)
{
  size_t len = text != NULL ? strnlen(text, size - 1) : 0;

  if (len > 0)
    memcpy(to, text, len);
  to[len] = '\0';
}

int pai_accounts_act_as(pai_accounts *a, const char *user, const char *from,
                        unsigned flags)
{
  PAI__CHECK_ARG(a != NULL && (flags & ~(unsigned)PAI_ACT_OWNER) == 0);
  PAI__CHECK_PROCESS(a, NULL);
  a->actor.owner = (flags & PAI_ACT_OWNER) != 0;
  set(a->actor.user, sizeof(a->actor.user), user);
  set(a->actor.from, sizeof(a->actor.from), from);
  return PAI_OK;
}
