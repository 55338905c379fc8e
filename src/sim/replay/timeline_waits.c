/*
 * timeline_waits.c - episodes of a request's wait
 *
 * Reasons are summed up in windows of an hour, or of the option `grain`.  A
 * window with few changes gives an episode for each reason, a window with more
 * changes gives one episode.  Neighbours with the same causes are merged.
 */
#include "sim/replay/timeline.h"

#include <stdlib.h>

enum {
  TOLD = 3, /* most changes of a window that are episodes of their own */
  ROWS = 24 /* of a text, if its reader sets no grain */
};

/* A reason in the open window. */
typedef struct raw {
  pai_time from, to;
  pai__blame blame;
} raw;

/* --- episodes ------------------------------------------------------------ */

static pai__episode *episode_at(const pai__timeline *st, uint32_t i)
{
  return (pai__episode *)st->episodes.data + i;
}

static raw *raw_at(const pai__waits *f, uint32_t i)
{
  return (raw *)f->raws.data + i;
}

static bool has_blocker(const pai__cause *c, uint64_t id, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (c->blockers[i].id == id)
      return true;
  return false;
}

/* Compares the worst blockers, in any order. */
static bool same_blockers(const pai__cause *a, const pai__cause *b)
{
  uint32_t n = a->nblockers < TOLD ? a->nblockers : TOLD;

  if (n != (b->nblockers < TOLD ? b->nblockers : TOLD))
    return false;
  for (uint32_t i = 0; i < n; i++)
    if (!has_blocker(b, a->blockers[i].id, n))
      return false;
  return true;
}

static bool goes_on(const pai__episode *a, const pai__episode *b)
{
  if (a->to != b->from || a->ncauses != b->ncauses)
    return false;
  for (uint32_t i = 0; i < a->ncauses; i++)
    if (!pai__cause_same(&a->causes[i], &b->causes[i]))
      return false;
  return a->ncauses != 1 || same_blockers(&a->causes[0], &b->causes[0]);
}

static void join(pai__cause *to, const pai__cause *more)
{
  pai__cause_go_on(to, more);
  if (more->nblockers > to->nblockers)
    to->nblockers = more->nblockers;
}

static int push_episode(pai__timeline *st, const pai__episode *e)
{
  pai__episode *last =
    st->episodes.len != 0 ? episode_at(st, st->episodes.len - 1) : NULL;

  if (last != NULL && goes_on(last, e)) {
    last->to = e->to;
    for (uint32_t i = 0; i < e->ncauses; i++)
      join(&last->causes[i], &e->causes[i]);
    return PAI_OK;
  }
  if (pai__flat_reserve(&st->episodes, st->alloc, 1) < 0)
    return PAI_ENOMEM;
  *episode_at(st, pai__flat_push(&st->episodes, 1)) = *e;
  return PAI_OK;
}

/* --- windows ------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
  const pai__cause *x = a, *y = b;

  if (x->time != y->time)
    return x->time > y->time ? -1 : 1;
  if (x->lack != y->lack)
    return x->lack < y->lack ? -1 : 1;
  return x->text < y->text ? -1 : x->text > y->text;
}

/* Merges reasons with the same lack into the first of them. */
static int gather(pai__waits *f, pai__episode *e)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < f->raws.len; i++) {
    raw *from = raw_at(f, i);
    uint32_t k = 0;

    while (k < n &&
           !pai__cause_same(&raw_at(f, k)->blame.cause, &from->blame.cause))
      k++;
    if (k < n) {
      if (pai__blame_add(&raw_at(f, k)->blame, &from->blame, f->st->alloc) < 0)
        return PAI_ENOMEM;
      continue;
    }
    if (n != i) {
      raw swap = *raw_at(f, n);

      *raw_at(f, n) = *from;
      *from = swap;
    }
    n++;
  }
  for (uint32_t i = 0; i < n; i++) {
    pai__blame_rank(&raw_at(f, i)->blame);
    if (i < PAI__CAUSES)
      e->causes[e->ncauses++] = raw_at(f, i)->blame.cause;
  }
  qsort(e->causes, e->ncauses, sizeof(e->causes[0]), by_time);
  return PAI_OK;
}

static int close_window(pai__waits *f)
{
  pai__episode e = { 0 };
  uint32_t n = f->raws.len;
  int rc = PAI_OK;

  if (n > TOLD) {
    e.from = raw_at(f, 0)->from;
    e.to = raw_at(f, n - 1)->to;
    rc = gather(f, &e);
    if (rc == PAI_OK)
      rc = push_episode(f->st, &e);
  }
  for (uint32_t i = 0; i < n && n <= TOLD && rc == PAI_OK; i++) {
    pai__blame_rank(&raw_at(f, i)->blame);
    e = (pai__episode){ .from = raw_at(f, i)->from,
                        .to = raw_at(f, i)->to,
                        .ncauses = 1,
                        .causes = { raw_at(f, i)->blame.cause } };
    rc = push_episode(f->st, &e);
  }
  for (uint32_t i = 0; i < n; i++)
    pai__blame_dispose(&raw_at(f, i)->blame, f->st->alloc);
  f->raws.len = 0;
  return rc;
}

/* Adds the current cause from `since` to `to`, which is in the window. */
static int add_raw(pai__waits *f, pai_time to)
{
  raw *last = f->raws.len != 0 ? raw_at(f, f->raws.len - 1) : NULL;

  pai__blame_weigh(&f->now, pai__span(f->since, to));
  if (last == NULL || last->to != f->since ||
      !pai__cause_same(&last->blame.cause, &f->now.cause)) {
    if (pai__flat_reserve(&f->raws, f->st->alloc, 1) < 0)
      return PAI_ENOMEM;
    last = raw_at(f, pai__flat_push(&f->raws, 1));
    pai__blame_init(&last->blame);
    last->from = f->since;
    last->blame.cause = f->now.cause;
    last->blame.cause.time = 0;
  }
  last->to = to;
  return pai__blame_add(&last->blame, &f->now, f->st->alloc);
}

int pai__waits_count(pai__waits *f, pai_time now)
{
  int rc = PAI_OK;

  if (f->waits)
    f->st->waited = pai__later(f->st->waited, pai__span(f->since, now));
  if (f->raws.len != 0 && f->since >= f->until)
    rc = close_window(f);
  while (f->waits && f->since < now && rc == PAI_OK) {
    pai_time left = pai__span(f->since, now), to = now;

    if (f->raws.len == 0) /* hours without a change are one window */
      f->until = pai__later(f->since, left > f->st->o.grain
                                        ? left - left % f->st->o.grain
                                        : f->st->o.grain);
    if (to > f->until)
      to = f->until;
    if (to > f->since)
      rc = add_raw(f, to);
    f->since = to;
    if (rc == PAI_OK && to == f->until)
      rc = close_window(f);
  }
  f->since = now;
  return rc;
}

void pai__waits_begin(pai__waits *f, pai__timeline *st)
{
  *f = (pai__waits){ .st = st, .since = st->end, .looked = st->end };
  pai__flat_init(&f->raws, sizeof(raw));
  pai__blame_init(&f->now);
}

int pai__waits_end(pai__waits *f)
{
  int rc = close_window(f);

  pai__flat_dispose(&f->raws, f->st->alloc);
  pai__blame_dispose(&f->now, f->st->alloc);
  return rc;
}

/* --- long waits ---------------------------------------------------------- */

/* Merges b into a if all causes fit. */
static bool unite(pai__episode *a, const pai__episode *b)
{
  pai__episode both = *a;

  for (uint32_t i = 0; i < b->ncauses; i++) {
    uint32_t k = 0;

    while (k < both.ncauses &&
           !pai__cause_same(&both.causes[k], &b->causes[i]))
      k++;
    if (k < both.ncauses)
      pai__cause_join(&both.causes[k], &b->causes[i]);
    else if (k < PAI__CAUSES)
      both.causes[both.ncauses++] = b->causes[i];
    else
      return false;
  }
  qsort(both.causes, both.ncauses, sizeof(both.causes[0]), by_time);
  both.to = b->to;
  *a = both;
  return true;
}

void pai__waits_coarsen(pai__timeline *st)
{
  pai_time span = st->o.grain;

  while (st->episodes.len > ROWS && span < INT64_MAX / 4) {
    uint32_t n = 0, len = st->episodes.len;

    span *= 2;
    for (uint32_t i = 0; i < len; i++) {
      const pai__episode *e = episode_at(st, i);
      pai__episode *last = n != 0 ? episode_at(st, n - 1) : NULL;

      if (last != NULL && last->to == e->from &&
          pai__span(last->from, e->to) <= span && unite(last, e))
        continue;
      *episode_at(st, n++) = *e;
    }
    st->episodes.len = n;
  }
}
