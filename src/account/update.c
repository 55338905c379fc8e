/*
 * update.c - transactions: several changes that are made together or not at
 * all
 *
 * Each change is added to the host's batch at once.  Its effect in memory is
 * prepared so that applying it cannot fail.
 */
#include "account/inside.h"

static pai__batch *batch_of(const pai_accounts *a)
{
  return a->host.batch(a->host.ctx);
}

void pai__account_update_begin(pai__account_update *e, pai_accounts *a)
{
  *e = (pai__account_update){ .a = a, .mark = pai__batch_here(batch_of(a)) };
}

static void free_new(pai_accounts *a, const pai__account_update_item *item)
{
  switch (item->kind) {
  case PAI__PUT_USER:
    pai__user_free(a, item->thing);
    if (item->fresh)
      pai__free(&a->alloc, item->account, sizeof(*item->account));
    break;
  case PAI__PUT_GROUP: pai__account_group_free(a, item->thing); break;
  case PAI__PUT_TOKEN: {
    pai__token *token = item->thing;
    (void)pai__map_remove(&a->tokens, token->uid, strlen(token->uid));
    pai__token_dispose(a, token);
    break;
  }
  case PAI__PUT_DEPOT: pai__account_storage_free(a, item->thing); break;
  case PAI__DROP_USER: {
    pai__account_removed removed = item->removed;
    pai__account_removed_drop(a, &removed);
    break;
  }
  default: break;
  }
}

/* Takes ownership of the item; frees it if out of memory. */
static int note(pai__account_update *e, pai__account_update_item item,
                pai_error **err)
{
  if (PAI__VEC_ROOM(&e->a->alloc, e->items, e->n, e->cap) < 0) {
    free_new(e->a, &item);
    return pai__oom(err);
  }
  e->items[e->n++] = item;
  return PAI_OK;
}

/* Removes an object and its row. */
static int drop(pai__account_update *e, enum pai__account_update_kind kind,
                void *thing, enum pai__record record, const char *name,
                pai_error **err)
{
  int rc =
    note(e, (pai__account_update_item){ .kind = kind, .thing = thing }, err);

  if (rc == PAI_OK && pai__batch_drop(batch_of(e->a), record, name) < 0)
    rc = pai__oom(err);
  return rc;
}

/* --- users --------------------------------------------------------------- */

static int put_user_row(pai_accounts *a, const pai__account_user *user,
                        pai_error **err)
{
  char *groups = pai__strings_json(&a->alloc, &user->groups);
  char *quota = user->quota_set != 0
                  ? pai__quota_json(&a->alloc, user->quota, user->quota_set)
                  : NULL;
  pai__account_row row = { .name = user->name,
                           .password = user->password,
                           .email = user->email,
                           .groups = groups,
                           .created = user->created,
                           .quota = quota };
  bool empty = strcmp(user->extension, "{}") == 0;
  int rc;

  if (user->closed.len > 0 && !empty) {
    rc = pai__is_closed(err, "user", user->name);
  } else if (groups == NULL || (quota == NULL && user->quota_set != 0)) {
    rc = pai__oom(err);
  } else {
    row.closed = user->closed;
    if (!empty)
      row.secret = (pai__bytes){ user->extension, strlen(user->extension) };
    rc = pai__batch_put_account(batch_of(a), &row, err);
  }
  pai__strfree(&a->alloc, groups);
  pai__strfree(&a->alloc, quota);
  return rc;
}

int pai__account_update_user(pai__account_update *e, pai__account_user *user,
                             pai_error **err)
{
  pai_accounts *a = e->a;
  pai__account_update_item item = { .kind = PAI__PUT_USER, .thing = user };
  int rc;

  item.account = pai__find_account(a, user->name);
  item.fresh = item.account == NULL;
  if (item.fresh) {
    item.account = pai__zalloc(&a->alloc, sizeof(*item.account));
    if (item.account == NULL ||
        pai__table_room(&a->alloc, &a->accounts, e->n + 1) < 0) {
      pai__free(&a->alloc, item.account, sizeof(*item.account));
      pai__user_free(a, user);
      return pai__oom(err);
    }
  }
  e->secret = true;
  rc = note(e, item, err);
  return rc == PAI_OK ? put_user_row(a, user, err) : rc;
}

static int put_removed(pai_accounts *a, const pai__account_removed *removed)
{
  pai__removed_user_row row = { removed->name, removed->job,
                                a->host.now(a->host.ctx), removed->heir };

  return pai__batch_put_removed_user(batch_of(a), &row);
}

int pai__account_update_drop_user(pai__account_update *e,
                                  pai__account *account, const char *heir,
                                  pai_error **err)
{
  pai_accounts *a = e->a;
  pai__account_update_item item = { .kind = PAI__DROP_USER,
                                    .account = account,
                                    .heir = heir };
  int rc = pai__account_removed_make(&item.removed, a, account->name,
                                     a->host.last_job(a->host.ctx), heir);

  rc = rc == PAI_OK ? note(e, item, err) : pai__oom(err);
  if (rc == PAI_OK && put_removed(a, &item.removed) < 0)
    rc = pai__oom(err);
  for (const pai__token *t = account->tokens; t != NULL && rc == PAI_OK;
       t = t->next)
    if (pai__batch_drop(batch_of(e->a), PAI__TOKEN, t->uid) < 0)
      rc = pai__oom(err);
  if (rc == PAI_OK &&
      pai__batch_drop(batch_of(e->a), PAI__ACCOUNT, account->name) < 0)
    rc = pai__oom(err);
  e->secret = true;
  return rc;
}

static void apply_user(pai_accounts *a, const pai__account_update_item *item)
{
  pai__account_user *old = item->account->user;

  item->account->user = item->thing;
  item->account->name = item->account->user->name;
  if (item->fresh)
    pai__table_add(&a->accounts, item->account);
  pai__user_free(a, old);
}

/* --- groups -------------------------------------------------------------- */

int pai__account_update_group(pai__account_update *e,
                              pai__account_group *group, pai_error **err)
{
  pai_accounts *a = e->a;
  pai__group_row row = pai__account_group_row(group);
  int rc;

  if (pai__table_room(&a->alloc, &a->groups, e->n + 1) < 0) {
    pai__account_group_free(a, group);
    return pai__oom(err);
  }
  rc = note(
    e, (pai__account_update_item){ .kind = PAI__PUT_GROUP, .thing = group },
    err);
  if (rc == PAI_OK && pai__batch_put_group(batch_of(a), &row) < 0)
    rc = pai__oom(err);
  return rc;
}

int pai__account_update_drop_group(pai__account_update *e,
                                   pai__account_group *group, pai_error **err)
{
  return drop(e, PAI__DROP_GROUP, group, PAI__GROUP, group->name, err);
}

/* Puts an object in the place of the one of its name; returns that one, or
 * NULL. */
static void *replace(pai__account_table *t, const char *name, void *thing)
{
  void **place = pai__table_place(t, name), *old = NULL;

  if (place == NULL) {
    pai__table_add(t, thing);
  } else {
    old = *place;
    *place = thing;
  }
  return old;
}

/* --- tokens -------------------------------------------------------------- */

int pai__account_update_token(pai__account_update *e, pai__token *token,
                              pai_error **err)
{
  pai_accounts *a = e->a;
  int rc;

  if (pai__map_set(&a->tokens, token->uid, strlen(token->uid), token) < 0) {
    pai__token_dispose(a, token);
    return pai__oom(err);
  }
  rc = note(
    e, (pai__account_update_item){ .kind = PAI__PUT_TOKEN, .thing = token },
    err);
  if (rc == PAI_OK && pai__token_put(a, token) < 0)
    rc = pai__oom(err);
  return rc;
}

int pai__account_update_drop_token(pai__account_update *e, pai__token *token,
                                   pai_error **err)
{
  return drop(e, PAI__DROP_TOKEN, token, PAI__TOKEN, token->uid, err);
}

static void apply_token(pai__token *token)
{
  pai__token **at = &token->owner->tokens;

  while (*at != NULL)
    at = &(*at)->next;
  *at = token;
}

/* --- storages ------------------------------------------------------------ */

static int put_storage_row(pai_accounts *a, const pai__account_storage *d,
                           pai_error **err)
{
  char *options =
    d->has_options ? pai__strings_json(&a->alloc, &d->options) : NULL;
  pai__storage_row row = { .name = d->name,
                           .type = d->type,
                           .shared = d->shared,
                           .readonly = d->readonly,
                           .options = options,
                           .secret_name = d->secret_name,
                           .mounted_at = d->mounted_at };
  int rc;

  if (d->has_options && options == NULL)
    return pai__oom(err);
  row.secret = (pai__bytes){ d->data, strlen(d->data) };
  row.closed = d->closed;
  rc = pai__batch_put_storage(batch_of(a), &row, err);
  pai__strfree(&a->alloc, options);
  return rc;
}

int pai__account_update_storage(pai__account_update *e,
                                pai__account_storage *storage, pai_error **err)
{
  pai_accounts *a = e->a;
  int rc;

  if (pai__table_room(&a->alloc, &a->storages, e->n + 1) < 0) {
    pai__account_storage_free(a, storage);
    return pai__oom(err);
  }
  e->secret = true;
  rc = note(
    e, (pai__account_update_item){ .kind = PAI__PUT_DEPOT, .thing = storage },
    err);
  return rc == PAI_OK ? put_storage_row(a, storage, err) : rc;
}

int pai__account_update_drop_storage(pai__account_update *e,
                                     pai__account_storage *storage,
                                     pai_error **err)
{
  e->secret = true;
  return drop(e, PAI__DROP_DEPOT, storage, PAI__STORAGE, storage->name, err);
}

/* --- the end ------------------------------------------------------------- */

static void apply(pai_accounts *a, const pai__account_update_item *item)
{
  pai__account_group *group = item->thing;
  pai__account_storage *storage = item->thing;

  switch (item->kind) {
  case PAI__PUT_USER: apply_user(a, item); break;
  case PAI__DROP_USER:
    pai__table_drop(&a->accounts, item->account->name);
    pai__account_free(a, item->account);
    a->removed[a->nremoved++] = item->removed;
    if (item->removed.heir == NULL)
      a->host.orphaned(a->host.ctx);
    break;
  case PAI__PUT_GROUP:
    pai__account_group_free(a, replace(&a->groups, group->name, group));
    break;
  case PAI__DROP_GROUP:
    pai__table_drop(&a->groups, group->name);
    pai__account_group_free(a, group);
    break;
  case PAI__PUT_TOKEN: apply_token(item->thing); break;
  case PAI__DROP_TOKEN: pai__token_free(a, item->thing); break;
  case PAI__PUT_DEPOT:
    pai__account_storage_free(a,
                              replace(&a->storages, storage->name, storage));
    break;
  case PAI__DROP_DEPOT:
    pai__table_drop(&a->storages, storage->name);
    pai__account_storage_free(a, storage);
    break;
  }
}

int pai__account_update_end(pai__account_update *e, int rc, pai_error **err)
{
  pai_accounts *a = e->a;

  if (rc >= 0 && e->n > 0)
    rc = pai__rights_check(e, err);
  if (rc >= 0 && e->n > 0)
    rc = pai__rights_tell(e, err);
  if (rc < 0)
    pai__batch_back(batch_of(a), e->mark);
  for (size_t i = 0; i < e->n; i++)
    if (rc < 0)
      free_new(a, &e->items[i]);
    else
      apply(a, &e->items[i]);
  if (rc >= 0 && e->n > 0)
    a->host.changed(a->host.ctx, true, e->secret);
  pai__free(&a->alloc, e->items, e->cap * sizeof(*e->items));
  e->items = NULL;
  e->n = e->cap = 0;
  return rc;
}
