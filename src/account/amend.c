/*
 * amend.c - several changes that are made all, or not at all
 *
 * Each one goes into the host's batch at once; what it means in memory is made
 * ready so that the end cannot fail.
 */
#include "account/inside.h"

static pai__batch *batch_of(const pai_accounts *a)
{
  return a->host.batch(a->host.ctx);
}

void pai__amend_begin(pai__amend *e, pai_accounts *a)
{
  *e = (pai__amend){ .a = a, .mark = pai__batch_here(batch_of(a)) };
}

static void free_new(pai_accounts *a, const pai__amend_item *item)
{
  switch (item->kind) {
  case PAI__PUT_USER:
    pai__user_free(a, item->thing);
    if (item->fresh)
      pai__free(&a->alloc, item->account, sizeof(*item->account));
    break;
  case PAI__PUT_GROUP: pai__team_free(a, item->thing); break;
  case PAI__PUT_TOKEN: {
    pai__token *token = item->thing;
    (void)pai__map_remove(&a->tokens, token->uid, strlen(token->uid));
    pai__token_dispose(a, token);
    break;
  }
  case PAI__PUT_DEPOT: pai__depot_free(a, item->thing); break;
  case PAI__DROP_USER: {
    pai__gone gone = item->gone;
    pai__gone_drop(a, &gone);
    break;
  }
  default: break;
  }
}

/* Takes the item, unless memory is short: then it is freed. */
static int note(pai__amend *e, pai__amend_item item, pai_error **err)
{
  if (PAI__VEC_ROOM(&e->a->alloc, e->items, e->n, e->cap) < 0) {
    free_new(e->a, &item);
    return pai__oom(err);
  }
  e->items[e->n++] = item;
  return PAI_OK;
}

/* --- users ------------------------------------------------------------------------ */

static int put_user_row(pai_accounts *a, const pai__user *user,
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

int pai__amend_user(pai__amend *e, pai__user *user, pai_error **err)
{
  pai_accounts *a = e->a;
  pai__amend_item item = { .kind = PAI__PUT_USER, .thing = user };
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

static int put_gone(pai_accounts *a, const pai__gone *gone)
{
  pai__gone_row row = { gone->name, gone->job, a->host.now(a->host.ctx),
                        gone->heir };

  return pai__batch_put_gone(batch_of(a), &row);
}

int pai__amend_drop_user(pai__amend *e, pai__account *account,
                         const char *heir, pai_error **err)
{
  pai_accounts *a = e->a;
  pai__amend_item item = { .kind = PAI__DROP_USER,
                           .account = account,
                           .heir = heir };
  int rc = pai__gone_make(&item.gone, a, account->name,
                          a->host.last_job(a->host.ctx), heir);

  rc = rc == PAI_OK ? note(e, item, err) : pai__oom(err);
  if (rc == PAI_OK && put_gone(a, &item.gone) < 0)
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

static void apply_user(pai_accounts *a, const pai__amend_item *item)
{
  pai__user *old = item->account->user;

  item->account->user = item->thing;
  item->account->name = item->account->user->name;
  if (item->fresh)
    pai__table_add(&a->accounts, item->account);
  pai__user_free(a, old);
}

/* --- groups ------------------------------------------------------------------------- */

int pai__amend_group(pai__amend *e, pai__team *group, pai_error **err)
{
  pai_accounts *a = e->a;
  pai__group_row row = { group->name, group->description, group->external_name,
                         group->extension };
  int rc;

  if (pai__table_room(&a->alloc, &a->groups, e->n + 1) < 0) {
    pai__team_free(a, group);
    return pai__oom(err);
  }
  rc =
    note(e, (pai__amend_item){ .kind = PAI__PUT_GROUP, .thing = group }, err);
  if (rc == PAI_OK && pai__batch_put_group(batch_of(a), &row) < 0)
    rc = pai__oom(err);
  return rc;
}

int pai__amend_drop_group(pai__amend *e, pai__team *group, pai_error **err)
{
  int rc =
    note(e, (pai__amend_item){ .kind = PAI__DROP_GROUP, .thing = group }, err);

  if (rc == PAI_OK &&
      pai__batch_drop(batch_of(e->a), PAI__GROUP, group->name) < 0)
    rc = pai__oom(err);
  return rc;
}

static void apply_group(pai_accounts *a, pai__team *group)
{
  void **place = pai__table_place(&a->groups, group->name);

  if (place == NULL) {
    pai__table_add(&a->groups, group);
    return;
  }
  pai__team_free(a, *place);
  *place = group;
}

/* --- tokens --------------------------------------------------------------------------- */

int pai__amend_token(pai__amend *e, pai__token *token, pai_error **err)
{
  pai_accounts *a = e->a;
  int rc;

  if (pai__map_set(&a->tokens, token->uid, strlen(token->uid), token) < 0) {
    pai__token_dispose(a, token);
    return pai__oom(err);
  }
  rc =
    note(e, (pai__amend_item){ .kind = PAI__PUT_TOKEN, .thing = token }, err);
  if (rc == PAI_OK && pai__token_put(a, token) < 0)
    rc = pai__oom(err);
  return rc;
}

int pai__amend_drop_token(pai__amend *e, pai__token *token, pai_error **err)
{
  int rc =
    note(e, (pai__amend_item){ .kind = PAI__DROP_TOKEN, .thing = token }, err);

  if (rc == PAI_OK &&
      pai__batch_drop(batch_of(e->a), PAI__TOKEN, token->uid) < 0)
    rc = pai__oom(err);
  return rc;
}

static void apply_token(pai__token *token)
{
  pai__token **at = &token->owner->tokens;

  while (*at != NULL)
    at = &(*at)->next;
  *at = token;
}

/* --- storages --------------------------------------------------------------------------- */

static int put_depot_row(pai_accounts *a, const pai__depot *d, pai_error **err)
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

int pai__amend_depot(pai__amend *e, pai__depot *depot, pai_error **err)
{
  pai_accounts *a = e->a;
  int rc;

  if (pai__table_room(&a->alloc, &a->depots, e->n + 1) < 0) {
    pai__depot_free(a, depot);
    return pai__oom(err);
  }
  e->secret = true;
  rc =
    note(e, (pai__amend_item){ .kind = PAI__PUT_DEPOT, .thing = depot }, err);
  return rc == PAI_OK ? put_depot_row(a, depot, err) : rc;
}

int pai__amend_drop_depot(pai__amend *e, pai__depot *depot, pai_error **err)
{
  int rc =
    note(e, (pai__amend_item){ .kind = PAI__DROP_DEPOT, .thing = depot }, err);

  if (rc == PAI_OK &&
      pai__batch_drop(batch_of(e->a), PAI__STORAGE, depot->name) < 0)
    rc = pai__oom(err);
  e->secret = true;
  return rc;
}

static void apply_depot(pai_accounts *a, pai__depot *depot)
{
  void **place = pai__table_place(&a->depots, depot->name);

  if (place == NULL) {
    pai__table_add(&a->depots, depot);
    return;
  }
  pai__depot_free(a, *place);
  *place = depot;
}

/* --- the end ------------------------------------------------------------------------------ */

static void apply(pai_accounts *a, const pai__amend_item *item)
{
  switch (item->kind) {
  case PAI__PUT_USER: apply_user(a, item); break;
  case PAI__DROP_USER:
    pai__table_drop(&a->accounts, item->account->name);
    pai__account_free(a, item->account);
    a->gone[a->ngone++] = item->gone;
    if (item->gone.heir == NULL)
      a->host.orphaned(a->host.ctx);
    break;
  case PAI__PUT_GROUP: apply_group(a, item->thing); break;
  case PAI__DROP_GROUP:
    pai__table_drop(&a->groups, ((pai__team *)item->thing)->name);
    pai__team_free(a, item->thing);
    break;
  case PAI__PUT_TOKEN: apply_token(item->thing); break;
  case PAI__DROP_TOKEN: pai__token_free(a, item->thing); break;
  case PAI__PUT_DEPOT: apply_depot(a, item->thing); break;
  case PAI__DROP_DEPOT:
    pai__table_drop(&a->depots, ((pai__depot *)item->thing)->name);
    pai__depot_free(a, item->thing);
    break;
  }
}

int pai__amend_end(pai__amend *e, int rc, pai_error **err)
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
