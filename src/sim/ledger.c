/* ledger.c - what virtual clusters and users had, and were entitled to */
#include "sim/ledger.h"

int pai__ledger_init(pai__ledger *l, const pai_alloc *alloc,
                     const int64_t *own, uint32_t nvcs, int64_t gpus)
{
  *l = (pai__ledger){ .alloc = alloc, .nvcs = nvcs, .unowned = gpus };
  pai__flat_init(&l->users, sizeof(pai__account_user));
  pai__lookup_init(&l->index);
  l->vcs = pai__zalloc(alloc, nvcs * sizeof(*l->vcs));
  if (l->vcs == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < nvcs; i++) {
    l->vcs[i].own = own[i];
    l->unowned -= own[i] > 0 ? own[i] : 0;
  }
  if (l->unowned < 0)
    l->unowned = 0;
  return PAI_OK;
}

void pai__ledger_dispose(pai__ledger *l)
{
  pai__free(l->alloc, l->vcs, l->nvcs * sizeof(*l->vcs));
  pai__flat_dispose(&l->users, l->alloc);
  pai__flat_dispose(&l->index.slots, l->alloc);
  l->vcs = NULL;
}

/* Up to now it was as it is. */
static void count(pai__account_vc *vc, pai_time now)
{
  pai_time time = now - vc->since;
  int64_t used = pai__times(vc->used, time);

  vc->since = now;
  vc->time_used = pai__sum(vc->time_used, used);
  vc->time_lent = pai__sum(vc->time_lent, pai__times(vc->lends, time));
  vc->time_borrowed =
    pai__sum(vc->time_borrowed, pai__times(vc->borrows, time));
  if (vc->users == 0)
    return;
  vc->rest = pai__sum(vc->rest, used);
  vc->each = pai__sum(vc->each, vc->rest / vc->users);
  vc->rest %= vc->users;
}

void pai__ledger_use(pai__ledger *l, uint32_t vc, int64_t gpus, pai_time now)
{
  pai__account_vc *a = &l->vcs[vc];

  count(a, now);
  a->used += gpus;
  l->dirty |= l->any || (a->own >= 0 && a->used > a->own);
}

/* --- users ---------------------------------------------------------------- */

static pai__account_user *user_at(const pai__ledger *l, uint32_t i)
{
  return (pai__account_user *)l->users.data + i;
}

int pai__ledger_come(pai__ledger *l, uint32_t vc, uint32_t user, pai_time now,
                     uint32_t *pair)
{
  uint64_t key = ((uint64_t)vc + 1) << 32 | user;
  pai__account_user *u;

  *pair = pai__lookup_get(&l->index, key);
  if (*pair == PAI__NONE) {
    if (pai__flat_reserve(&l->users, l->alloc, 1) < 0 ||
        pai__lookup_reserve(&l->index, l->alloc) < 0)
      return PAI_ENOMEM;
    *pair = pai__flat_push(&l->users, 1);
    *user_at(l, *pair) = (pai__account_user){ .vc = vc, .user = user };
    pai__lookup_add(&l->index, key, *pair);
  }
  u = user_at(l, *pair);
  if (u->jobs++ == 0) {
    count(&l->vcs[vc], now);
    l->vcs[vc].users++;
    u->since = l->vcs[vc].each;
  }
  return PAI_OK;
}

void pai__ledger_leave(pai__ledger *l, uint32_t pair, pai_time now)
{
  pai__account_user *u = user_at(l, pair);
  pai__account_vc *vc = &l->vcs[u->vc];

  if (--u->jobs != 0)
    return;
  count(vc, now);
  vc->users--;
  u->entitled = pai__sum(u->entitled, vc->each - u->since);
}

/* --- lending -------------------------------------------------------------- */

static int64_t over(const pai__account_vc *vc)
{
  return vc->own >= 0 && vc->used > vc->own ? vc->used - vc->own : 0;
}

static int64_t idle(const pai__account_vc *vc)
{
  return vc->own > vc->used ? vc->own - vc->used : 0;
}

/* `what` of the `whole` is divided by parts: rounded down, and one more for
 * the first ones until nothing is left. */
static void divide(pai__ledger *l, int64_t what, int64_t whole, bool lend)
{
  int64_t left = what;

  for (uint32_t i = 0; i < l->nvcs; i++) {
    pai__account_vc *vc = &l->vcs[i];
    int64_t part = lend ? idle(vc) : over(vc);
    int64_t *to = lend ? &vc->lends : &vc->borrows;

    *to = whole != 0 ? pai__scale(part, (uint64_t)what, (uint64_t)whole) : 0;
    left -= *to;
  }
  for (uint32_t i = 0; left > 0; i++) {
    pai__account_vc *vc = &l->vcs[i];
    int64_t *to = lend ? &vc->lends : &vc->borrows;

    if (*to < (lend ? idle(vc) : over(vc))) {
      ++*to;
      left--;
    }
  }
}

void pai__ledger_settle(pai__ledger *l, pai_time now)
{
  int64_t borrowed = 0, to_lend = 0, what;

  if (!l->dirty)
    return;
  l->dirty = false;
  for (uint32_t i = 0; i < l->nvcs; i++) {
    count(&l->vcs[i], now);
    borrowed += over(&l->vcs[i]);
    to_lend += idle(&l->vcs[i]);
  }
  what = borrowed > l->unowned ? borrowed - l->unowned : 0;
  what = what < to_lend ? what : to_lend;
  divide(l, what, borrowed, false);
  divide(l, what, to_lend, true);
  l->any = borrowed > 0;
}

/* --- looking -------------------------------------------------------------- */

pai__account_vc pai__ledger_vc(const pai__ledger *l, uint32_t vc, pai_time now)
{
  pai__account_vc a = l->vcs[vc];

  count(&a, now);
  return a;
}

pai__account_user pai__ledger_user(const pai__ledger *l, uint32_t i,
                                   pai_time now)
{
  pai__account_user u = *user_at(l, i);

  if (u.jobs != 0)
    u.entitled =
      pai__sum(u.entitled, pai__ledger_vc(l, u.vc, now).each - u.since);
  return u;
}
