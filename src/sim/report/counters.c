/* counters.c - counters of a simulation: histograms, series, ledger, bars */
#include "sim/report/counters.h"

#include <stdlib.h>

/* --- histograms ---------------------------------------------------------- */

enum { FIRST_SLOTS = 16, FEWEST_BITS = 10 };

void pai__histogram_init(pai__histogram *t, uint32_t most, uint64_t common)
{
  *t = (pai__histogram){ .most = most, .bits = 64, .common = common };
}

enum { SLOT = sizeof(uint64_t) + sizeof(uint32_t) };

void pai__histogram_dispose(pai__histogram *t, const pai_alloc *alloc)
{
  pai__free(alloc, t->keys, (size_t)t->nslots * SLOT);
  t->keys = NULL;
  t->counts = NULL;
  t->nslots = 0;
}

/* Returns the value with all but its leading bits cleared. */
static uint64_t leading(uint64_t value, uint32_t bits)
{
  uint32_t width = 0;

  if (bits == 64 || value >> bits == 0)
    return value;
  for (uint64_t v = value; v != 0; v >>= 1)
    width++;
  return value >> (width - bits) << (width - bits);
}

/* Returns the slot of a key, or the empty slot where it belongs. */
static uint32_t find(const pai__histogram *t, uint64_t key)
{
  uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  uint32_t i = (uint32_t)(h * t->nslots >> 32);

  while (t->keys[i] != 0 && t->keys[i] != key)
    i = i + 1 < t->nslots ? i + 1 : 0;
  return i;
}

static void count(pai__histogram *t, uint64_t value, uint32_t times)
{
  uint64_t key = leading(value, t->bits) + 1;
  uint32_t i = find(t, key);

  t->live += t->keys[i] == 0;
  t->keys[i] = key;
  t->counts[i] += times;
}

/* Rebuilds the table with `nslots` slots and `bits` bits of each value. */
static int refill(pai__histogram *t, const pai_alloc *alloc, uint32_t nslots,
                  uint32_t bits)
{
  pai__histogram old = *t;

  t->keys = pai__zalloc(alloc, (size_t)nslots * SLOT);
  if (t->keys == NULL) {
    *t = old;
    return PAI_ENOMEM;
  }
  t->counts = (uint32_t *)(void *)(t->keys + nslots);
  t->nslots = nslots;
  t->bits = bits;
  t->live = 0;
  for (uint32_t i = 0; i < old.nslots; i++)
    if (old.keys[i] != 0)
      count(t, old.keys[i] - 1, old.counts[i]);
  pai__histogram_dispose(&old, alloc);
  return PAI_OK;
}

/* One slot of five stays free. */
static bool is_full(const pai__histogram *t)
{
  return t->live >= t->nslots / 5 * 4;
}

/* Makes space for one more value, or keeps fewer bits of each. */
static int make_room(pai__histogram *t, const pai_alloc *alloc)
{
  int rc = PAI_OK;

  if (t->nslots == 0)
    return refill(t, alloc, FIRST_SLOTS, t->bits);
  if (t->live >= t->most && t->bits > FEWEST_BITS) {
    uint32_t bits = t->bits == 64 ? 20 : t->bits - 2;

    rc = refill(t, alloc, t->nslots, bits);
  }
  if (rc == PAI_OK && is_full(t))
    rc = refill(t, alloc, t->nslots + t->nslots / 4 + 4, t->bits);
  return rc;
}

static int put(pai__histogram *t, const pai_alloc *alloc, uint64_t value)
{
  if (t->nslots != 0) {
    uint32_t i = find(t, leading(value, t->bits) + 1);

    if (t->keys[i] != 0) {
      t->counts[i]++;
      return PAI_OK;
    }
  }
  if ((is_full(t) || t->live >= t->most) && make_room(t, alloc) < 0)
    return PAI_ENOMEM;
  count(t, value, 1);
  return PAI_OK;
}

int pai__histogram_add(pai__histogram *t, const pai_alloc *alloc,
                       int64_t value)
{
  if (value < 0)
    value = 0;
  if ((uint64_t)value == t->common)
    t->ncommon++;
  else if (put(t, alloc, (uint64_t)value) < 0)
    return PAI_ENOMEM;
  if (t->count++ == 0)
    t->least = t->greatest = value;
  t->least = value < t->least ? value : t->least;
  t->greatest = value > t->greatest ? value : t->greatest;
  pai__wide_add(&t->sum, (uint64_t)value);
  return PAI_OK;
}

/* --- percentiles --------------------------------------------------------- */

typedef struct counted {
  uint64_t key, count;
} counted;

static int by_key(const void *a, const void *b)
{
  const counted *x = a, *y = b;

  return x->key < y->key ? -1 : x->key > y->key;
}

/* Returns all values with their counts, sorted; *n is their number.  NULL
 * without memory. */
static counted *sorted(const pai__histogram *t, const pai_alloc *alloc,
                       uint32_t *n)
{
  counted *list =
    pai__zalloc(alloc, (t->live + 1) * sizeof(*list)); /* + 1 for `common` */

  *n = 0;
  if (list == NULL)
    return NULL;
  for (uint32_t i = 0; i < t->nslots; i++)
    if (t->keys[i] != 0)
      list[(*n)++] = (counted){ t->keys[i], t->counts[i] };
  if (t->ncommon != 0)
    list[(*n)++] = (counted){ t->common + 1, t->ncommon };
  qsort(list, *n, sizeof(*list), by_key);
  return list;
}

/* A value with cleared bits may be below `least`. */
static int64_t within(const pai__histogram *t, uint64_t value)
{
  int64_t v = (int64_t)value;

  return v < t->least ? t->least : v > t->greatest ? t->greatest : v;
}

int pai__histogram_at(const pai__histogram *t, const pai_alloc *alloc,
                      const uint32_t *thousandths, size_t n, int64_t *values)
{
  counted *list;
  uint64_t below = 0;
  uint32_t count, i = 0;

  memset(values, 0, n * sizeof(*values));
  if (t->count == 0)
    return PAI_OK;
  list = sorted(t, alloc, &count);
  if (list == NULL)
    return PAI_ENOMEM;
  for (size_t k = 0; k < n; k++) {
    uint64_t rank =
      pai__wide_quotient(pai__wide_product(t->count, thousandths[k]), 1000);

    /* The rank is rounded up, and is at least 1. */
    rank += rank * 1000 != t->count * thousandths[k];
    rank = rank == 0 ? 1 : rank;
    while (below + list[i].count < rank)
      below += list[i++].count;
    values[k] = thousandths[k] == 1000 ? t->greatest
                : thousandths[k] == 0  ? t->least
                                       : within(t, list[i].key - 1);
  }
  pai__free(alloc, list, (t->live + 1) * sizeof(*list));
  return PAI_OK;
}

int64_t pai__histogram_mean(const pai__histogram *t)
{
  return t->count != 0 ? (int64_t)pai__wide_quotient(t->sum, t->count) : 0;
}

/* --- amounts over time --------------------------------------------------- */

enum { FIRST_WIDTH = 1000000 };

void pai__series_begin(pai__series *s, pai_time at)
{
  *s = (pai__series){ .begin = at, .at = at, .width = FIRST_WIDTH };
}

static void add_bin(pai__bin *to, const pai__bin *from)
{
  to->busy = pai__sum(to->busy, from->busy);
  to->up = pai__sum(to->up, from->up);
  to->fragmented = pai__sum(to->fragmented, from->fragmented);
  to->wanted = pai__sum(to->wanted, from->wanted);
  to->waiting = pai__sum(to->waiting, from->waiting);
  to->running = pai__sum(to->running, from->running);
  to->came += from->came;
  to->started += from->started;
  to->ended += from->ended;
  to->preempted += from->preempted;
}

/* Merges the bins in pairs. */
static void widen(pai__series *s)
{
  for (size_t i = 0; i < PAI__BINS; i++) {
    pai__bin both = s->bins[i];

    s->bins[i] = (pai__bin){ 0 };
    add_bin(&s->bins[i / 2], &both);
  }
  s->width *= 2;
}

static void count_levels(pai__bin *bin, pai_time time,
                         const pai__series_levels *level)
{
  add_bin(bin, &(pai__bin){ .busy = pai__times(level->busy, time),
                            .up = pai__times(level->up, time),
                            .fragmented = pai__times(level->fragmented, time),
                            .wanted = pai__times(level->wanted, time),
                            .waiting = pai__times(level->waiting, time),
                            .running = pai__times(level->running, time) });
}

static void fit(pai__series *s, pai_time to)
{
  while ((to - s->begin) / s->width >= PAI__BINS)
    widen(s);
}

void pai__series_pass(pai__series *s, pai_time to,
                      const pai__series_levels *level)
{
  if (s->width == 0 || to <= s->at)
    return;
  fit(s, to);
  while (s->at < to) {
    int64_t i = (s->at - s->begin) / s->width;
    pai_time end = s->begin + (i + 1) * s->width;

    end = end < to ? end : to;
    count_levels(&s->bins[i], end - s->at, level);
    s->at = end;
  }
}

size_t pai__series_count(const pai__series *s)
{
  return s->width == 0 ? 0 : (size_t)((s->at - s->begin) / s->width) + 1;
}

/* --- lending and borrowing ----------------------------------------------- */

int pai__ledger_init(pai__ledger *l, const pai_alloc *alloc,
                     const int64_t *own, uint32_t nvcs, int64_t gpus)
{
  *l = (pai__ledger){ .alloc = alloc, .nvcs = nvcs, .unowned = gpus };
  pai__flat_init(&l->users, sizeof(pai__vc_use));
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

/* Counts the current amounts up to `now`. */
static void count_use(pai__account_vc *vc, pai_time now)
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

  count_use(a, now);
  a->used += gpus;
  l->dirty |= l->any || (a->own >= 0 && a->used > a->own);
}

static pai__vc_use *user_at(const pai__ledger *l, uint32_t i)
{
  return (pai__vc_use *)l->users.data + i;
}

int pai__ledger_come(pai__ledger *l, uint32_t vc, uint32_t user, pai_time now,
                     uint32_t *pair)
{
  uint64_t key = ((uint64_t)vc + 1) << 32 | user;
  pai__vc_use *u;

  *pair = pai__lookup_get(&l->index, key);
  if (*pair == PAI__NONE) {
    if (pai__flat_reserve(&l->users, l->alloc, 1) < 0 ||
        pai__lookup_reserve(&l->index, l->alloc) < 0)
      return PAI_ENOMEM;
    *pair = pai__flat_push(&l->users, 1);
    *user_at(l, *pair) = (pai__vc_use){ .vc = vc, .user = user };
    pai__lookup_add(&l->index, key, *pair);
  }
  u = user_at(l, *pair);
  if (u->jobs++ == 0) {
    count_use(&l->vcs[vc], now);
    l->vcs[vc].users++;
    u->since = l->vcs[vc].each;
  }
  return PAI_OK;
}

void pai__ledger_leave(pai__ledger *l, uint32_t pair, pai_time now)
{
  pai__vc_use *u = user_at(l, pair);
  pai__account_vc *vc = &l->vcs[u->vc];

  if (--u->jobs != 0)
    return;
  count_use(vc, now);
  vc->users--;
  u->entitled = pai__sum(u->entitled, vc->each - u->since);
}

static int64_t over(const pai__account_vc *vc)
{
  return vc->own >= 0 && vc->used > vc->own ? vc->used - vc->own : 0;
}

static int64_t idle(const pai__account_vc *vc)
{
  return vc->own > vc->used ? vc->own - vc->used : 0;
}

/* Divides `what` in proportion to the parts of `whole`, rounded down; the
 * first ones get one more until nothing is left. */
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
    count_use(&l->vcs[i], now);
    borrowed += over(&l->vcs[i]);
    to_lend += idle(&l->vcs[i]);
  }
  what = borrowed > l->unowned ? borrowed - l->unowned : 0;
  what = what < to_lend ? what : to_lend;
  divide(l, what, borrowed, false);
  divide(l, what, to_lend, true);
  l->any = borrowed > 0;
}

pai__account_vc pai__ledger_vc(const pai__ledger *l, uint32_t vc, pai_time now)
{
  pai__account_vc a = l->vcs[vc];

  count_use(&a, now);
  return a;
}

pai__vc_use pai__ledger_user(const pai__ledger *l, uint32_t i, pai_time now)
{
  pai__vc_use u = *user_at(l, i);

  if (u.jobs != 0)
    u.entitled =
      pai__sum(u.entitled, pai__ledger_vc(l, u.vc, now).each - u.since);
  return u;
}

/* --- bars ---------------------------------------------------------------- */

void pai__bars_dispose(pai__bars *b, const pai_alloc *alloc)
{
  pai__free(alloc, b->list, b->cap * sizeof(*b->list));
  b->list = NULL;
  b->len = b->cap = 0;
}

bool pai__bars_want(pai__bars *b, uint32_t tasks)
{
  b->cut |= tasks > b->most - b->promised;
  if (b->cut)
    return false;
  b->promised += tasks;
  return true;
}

int pai__bars_add(pai__bars *b, const pai_alloc *alloc,
                  const pai__run_info *run, const pai__bar *like)
{
  const pai__slot *slots = run->slots;
  size_t first = b->len;

  for (uint32_t i = 0; i < run->tasks; i++) {
    size_t k = first;

    while (k < b->len && b->list[k].node != slots[i].node)
      k++;
    if (k == b->len) {
      if (PAI__VEC_ROOM(alloc, b->list, b->len, b->cap) < 0) {
        b->len = first;
        return PAI_ENOMEM;
      }
      b->list[b->len] = *like;
      b->list[b->len++].node = slots[i].node;
    }
    b->list[k].gpus |= slots[i].gpus;
  }
  return PAI_OK;
}

static int by_time(const void *a, const void *b)
{
  const pai__bar *x = a, *y = b;

  if (x->from != y->from)
    return x->from < y->from ? -1 : 1;
  if (x->job != y->job)
    return x->job < y->job ? -1 : 1;
  if (x->to != y->to)
    return x->to < y->to ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

void pai__bars_sort(pai__bar *list, size_t n)
{
  if (n != 0)
    qsort(list, n, sizeof(*list), by_time);
}
