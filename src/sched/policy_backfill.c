/*
 * policy_backfill.c - what waits is planned ahead, and who does not delay it
 * may start before it
 *
 * All is planned anew each time, in the same order: who is important first,
 * then who came first.  What a plan has promised is kept as long as what runs
 * ends when it was expected to: nothing that comes later in the order takes
 * what is promised, and who finds the same time again gets the same place.
 */
#include "sched/backfill.h"
#include "sched/guarantee.h"

#define SECOND INT64_C(1000000) /* of pai_time */

/* So many instances of one request are promised a place at a time. */
enum { INSTANCES = 1024 };

enum {
  PLANNED = 8
}; /* a plan is so much more work than a look at what is free */

/* --- reasons -------------------------------------------------------------- */

/* It waits though there is room, or for room: until when, if that is known. */
static int tell(pai__backfill *b, pai_sched *s, uint32_t req, pai_time until)
{
  const pai__req *r = pai__req_at(s, req);
  pai__why *why = pai__why_make(s, req);
  uint32_t other = pai__lookup_get(&b->roomy, r->shape);
  bool roomy =
    other != PAI__NONE && pai__req_fits_alike(s, r, pai__req_at(s, other));
  int rc = roomy ? 1 : pai__has_room(s, req, b->place, false);

  if (rc < 0)
    return rc;
  if (rc == 1) {
    *why = (pai__why){ .lack = PAI_LACK_LATER,
                       .behind = b->npromised == 1 ? b->head : 0,
                       .node = PAI__NONE,
                       .text = PAI__NONE };
    if (why->behind == r->id)
      why->behind = 0;
    /* Reservations tell requests of a shape apart. */
    if (other == PAI__NONE && s->kept.len == 0 &&
        pai__lookup_reserve(&b->roomy, &b->alloc) == PAI_OK)
      pai__lookup_add(&b->roomy, r->shape, req);
  }
  why->until = until != PAI__NEVER ? until : 0;
  return PAI_OK;
}

/* --- deciding ------------------------------------------------------------- */

static uint32_t *promised_to(const pai__backfill *b, uint32_t tenant)
{
  return (uint32_t *)b->promised.data + tenant;
}

static bool may_promise(const pai__backfill *b, uint32_t tenant)
{
  uint32_t n = *promised_to(b, tenant);

  return b->mode == PAI__BACKFILL_EASY
           ? n == 0
           : b->depth == 0 || n < (uint64_t)b->depth;
}

/* May another instance begin, besides those that are planned? */
static bool has_more(const pai_sched *s, const pai__req *r, uint32_t planned)
{
  return pai__req_waiting(r) > planned &&
         pai__req_lack(s, r) == PAI_LACK_NOTHING &&
         (r->at_once == 0 || r->active + planned < r->at_once);
}

static uint8_t *fresh_mark(const pai__backfill *b, uint32_t req)
{
  return (uint8_t *)b->marks.data + req;
}

static uint8_t *later_mark(const pai__backfill *b, const pai_sched *s,
                           uint32_t tenant)
{
  return (uint8_t *)b->marks.data + s->reqs.len + tenant;
}

static uint8_t *kept_mark(const pai__backfill *b, const pai_sched *s,
                          uint32_t old)
{
  return (uint8_t *)b->marks.data + s->reqs.len + s->park->ntenants + old;
}

static pai__hint hint_of(const pai__backfill *b, const pai__promise *a)
{
  return (pai__hint){ (pai__site *)b->old.sites.data + a->first, a->count,
                      a->start };
}

/* Is a promise kept?  Then it is not any more.  PAI_OK or PAI_ENOMEM. */
static int give_back(pai__backfill *b, const pai_sched *s, uint32_t req,
                     uint32_t old)
{
  const pai__promise *a =
    pai__promise_for(&b->old, old, &b->plan, pai__req_at(s, req));
  pai__hint hint;

  if (a == NULL || b->marks.len == 0 || *kept_mark(b, s, old) == 0)
    return PAI_OK;
  *kept_mark(b, s, old) = 0;
  hint = hint_of(b, a);
  return pai__plan_give_hint(&b->plan, s, req, &hint);
}

/* All of a request from one on. */
static int give_back_all(pai__backfill *b, const pai_sched *s, uint32_t req,
                         uint32_t old)
{
  int rc = PAI_OK;

  for (; rc == PAI_OK &&
         pai__promise_for(&b->old, old, &b->plan, pai__req_at(s, req)) != NULL;
       old++)
    rc = give_back(b, s, req, old);
  return rc;
}

/* Where it was promised to be, if nothing is sooner. */
static int find(pai__backfill *b, pai_sched *s, uint32_t req, pai_time latest,
                uint32_t *old)
{
  const pai__promise *a =
    pai__promise_for(&b->old, *old, &b->plan, pai__req_at(s, req));
  pai__hint hint;

  if (a == NULL)
    return pai__plan_find(&b->plan, s, req, b->place, latest, NULL);
  if (give_back(b, s, req, *old) < 0)
    return PAI_ENOMEM;
  ++*old;
  hint = hint_of(b, a);
  return pai__plan_find(&b->plan, s, req, b->place, latest, &hint);
}

/* Somebody starts: what was tried may be otherwise now. */
static void forget_trials(pai__backfill *b)
{
  pai__lookup_clear(&b->roomy);
  pai__lookup_clear(&b->unmoved);
}

/* What was found for now. */
static int start(pai__backfill *b, pai_sched *s, uint32_t req)
{
  int rc = pai__plan_start(&b->plan, s, req);

  if (rc <= 0)
    return rc;
  forget_trials(b);
  return pai__plan_take(&b->plan, s, req) < 0 ? PAI_ENOMEM : 1;
}

static int promise(pai__backfill *b, const pai_sched *s, uint32_t req)
{
  return pai__promises_add(&b->new, &b->plan, pai__req_at(s, req)) < 0
           ? PAI_ENOMEM
           : pai__plan_take(&b->plan, s, req);
}

/* Its instances start, or are promised a place. */
static int try_all(pai__backfill *b, pai_sched *s, uint32_t req)
{
  uint32_t tenant = pai__req_at(s, req)->tenant, planned = 0;
  uint32_t old = ((uint32_t *)b->first_of.data)[req];
  uint32_t most = !may_promise(b, tenant)         ? 0
                  : b->mode == PAI__BACKFILL_EASY ? 1
                                                  : INSTANCES;
  pai_time until = PAI__NEVER;
  int rc = 1;

  while (rc > 0 && has_more(s, pai__req_at(s, req), planned)) {
    pai_time latest = planned < most ? PAI__NEVER : s->m.now;

    rc = find(b, s, req, latest, &old);
    if (rc == 0 || (rc > 0 && b->plan.start > s->m.now)) {
      int moved = pai__backfill_move(b, s, req);

      if (moved != 0) {
        forget_trials(b);
        rc = moved;
        continue;
      }
    }
    if (rc <= 0)
      break;
    if (b->plan.start <= s->m.now) {
      rc = start(b, s, req);
      continue;
    }
    until = planned++ == 0 ? b->plan.start : until;
    rc = promise(b, s, req) < 0 ? PAI_ENOMEM : planned < most;
  }
  if (rc < 0 || give_back_all(b, s, req, old) < 0)
    return rc < 0 ? rc : PAI_ENOMEM;
  if (planned != 0) {
    ++*promised_to(b, tenant);
    b->head = b->npromised++ == 0 ? pai__req_at(s, req)->id : b->head;
  }
  return has_more(s, pai__req_at(s, req), 0) ? tell(b, s, req, until) : PAI_OK;
}

/* While only what is guaranteed starts: would it go beyond its part now, so that
 * it cannot? */
static bool goes_beyond(const pai_sched *s, uint32_t req)
{
  return s->keeping && !pai__keeps_to_part(s, pai__req_at(s, req));
}

/* All that may be promised comes before those that only may start. */
static int consider(pai__backfill *b, pai_sched *s, pai__entry *e,
                    bool promises)
{
  if (promises && !may_promise(b, pai__req_at(s, e->req)->tenant)) {
    e->group = 1;
    return give_back_all(b, s, e->req, ((uint32_t *)b->first_of.data)[e->req]);
  }
  if (!promises && e->group == 1 && goes_beyond(s, e->req))
    return tell(b, s, e->req, PAI__NEVER);
  return promises || e->group == 1 ? try_all(b, s, e->req) : PAI_OK;
}

/* Where all are promised a place, what is planned behind the last one that may
 * start keeps nobody from it. */
static uint32_t find_last(const pai__backfill *b, const pai_sched *s)
{
  uint32_t n = b->queue.len;

  if (b->mode == PAI__BACKFILL_EASY || b->depth != 0)
    return n;
  for (; n != 0; n--) {
    uint32_t req = pai__entry_at(&b->queue, n - 1)->req;

    /* Of an array a reason is kept for later. */
    if (!goes_beyond(s, req) || pai__req_at(s, req)->instances != 1)
      break;
  }
  return n;
}

/* Those that are promised a place follow each other from i on: nobody of them
 * takes what another one was promised.  The index behind the last one, or a
 * code. */
static int keep_promises(pai__backfill *b, const pai_sched *s, uint32_t i,
                         uint32_t *end)
{
  int rc = PAI_OK;

  for (; i < b->queue.len && rc >= 0; i++) {
    uint32_t req = pai__entry_at(&b->queue, i)->req;
    uint32_t old = ((uint32_t *)b->first_of.data)[req];
    const pai__promise *a;

    if (old == PAI__NONE)
      break;
    while (rc >= 0 && (a = pai__promise_for(&b->old, old, &b->plan,
                                            pai__req_at(s, req))) != NULL) {
      pai__hint hint = hint_of(b, a);

      rc = pai__plan_take_hint(&b->plan, s, req, &hint);
      *kept_mark(b, s, old++) = rc > 0;
    }
  }
  *end = i;
  return rc < 0 ? rc : PAI_OK;
}

/* Likewise all of them, where not all are. */
static int consider_promised(pai__backfill *b, pai_sched *s)
{
  uint32_t kept = 0;
  int rc = PAI_OK;

  for (uint32_t i = 0; i < b->queue.len && rc == PAI_OK; i++) {
    if (i >= kept) {
      rc = keep_promises(b, s, i, &kept);
      kept = kept > i ? kept : i + 1;
    }
    if (rc == PAI_OK)
      rc = consider(b, s, pai__entry_at(&b->queue, i), true);
  }
  return rc;
}

static int consider_all(pai__backfill *b, pai_sched *s)
{
  uint32_t n = find_last(b, s);
  bool some = b->marks.len != 0;
  int rc = some ? consider_promised(b, s) : PAI_OK;

  for (int promises = some ? 0 : 1; promises >= 0; promises--)
    for (uint32_t i = 0; i < n && rc == PAI_OK; i++)
      rc = consider(b, s, pai__entry_at(&b->queue, i), promises != 0);
  for (uint32_t i = n; i < b->queue.len && rc == PAI_OK; i++)
    rc = tell(b, s, pai__entry_at(&b->queue, i)->req, PAI__NEVER);
  return rc;
}

static bool is_sorted(const pai__flat *queue)
{
  for (uint32_t i = 1; i < queue->len; i++)
    if (pai__entry_at(queue, i - 1)->priority <
        pai__entry_at(queue, i)->priority)
      return false;
  return true;
}

/* Where not all are promised a place, one that was not may come before one that
 * was: as the next of its virtual cluster, whose first has started.  It must
 * not take what is promised, so it is planned after those; but for those that
 * came since, or were changed. */
static int put_promised_first(pai__backfill *b, const pai_sched *s)
{
  uint32_t n = s->reqs.len + s->park->ntenants + b->old.list.len;

  b->marks.len = 0;
  if (b->old.list.len == 0 || (b->mode != PAI__BACKFILL_EASY && b->depth == 0))
    return PAI_OK;
  if (pai__flat_reserve(&b->marks, &b->alloc, n) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&b->marks, n);
  memset(b->marks.data, 0, n);
  for (uint32_t i = 0; i < b->old.fresh.len; i++) {
    uint32_t req = pai__req_find(s, ((uint64_t *)b->old.fresh.data)[i]);

    if (req != PAI__NONE)
      *fresh_mark(b, req) = 1;
  }
  for (uint32_t i = 0; i < b->queue.len; i++) {
    pai__entry *e = pai__entry_at(&b->queue, i);
    uint8_t *later = later_mark(b, s, pai__req_at(s, e->req)->tenant);

    if (((uint32_t *)b->first_of.data)[e->req] != PAI__NONE)
      continue;
    *later = *later || *fresh_mark(b, e->req) == 0;
    e->group = *later;
  }
  pai__sort_waiting(&b->queue);
  for (uint32_t i = 0; i < b->queue.len; i++)
    pai__entry_at(&b->queue, i)->group = 0;
  return PAI_OK;
}

/* Does a request ask for GPUs that share something? */
static bool asks_for_nearness(const pai_sched *s, const pai__flat *queue)
{
  for (uint32_t i = 0; i < queue->len; i++) {
    const pai__req *r = pai__req_at(s, pai__entry_at(queue, i)->req);
    const char *within = pai__texts_text(&s->names, r->within);

    if (within != NULL && strcmp(within, "node") != 0 &&
        strcmp(within, "rack") != 0)
      return true;
  }
  return false;
}

static int list_queue(pai__backfill *b, const pai_sched *s)
{
  b->queue.len = 0;
  if (pai__list_waiting(s, &b->queue) < 0)
    return PAI_ENOMEM;
  if (!is_sorted(&b->queue))
    pai__sort_waiting(&b->queue);
  return PAI_OK;
}

static int begin(pai__backfill *b, const pai_sched *s)
{
  pai_time assumed = b->assume * SECOND;
  uint32_t n = s->park->ntenants;

  pai__promises_clear(&b->new);
  forget_trials(b);
  b->promised.len = b->npromised = b->moves = 0;
  if (pai__flat_reserve(&b->promised, &b->alloc, n) < 0 ||
      pai__promises_index(&b->old, s, &b->first_of) < 0 ||
      put_promised_first(b, s) < 0)
    return PAI_ENOMEM;
  (void)pai__flat_push(&b->promised, n);
  b->new.fine = b->old.fine || asks_for_nearness(s, &b->queue);
  return b->queue.len != 0 ? pai__plan_begin(&b->plan, s, assumed, b->new.fine)
                           : PAI_OK;
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai__backfill *b = state;
  pai_sched *s = host->sched;
  pai__promises done;
  bool easy =
    b->mode == PAI__BACKFILL_EASY && b->assume == 0 && pai__easy_is_enough(s);
  int rc = easy ? pai__easy_decide_quickly(&b->easy, s, b->place, &b->old) : 0;

  (void)data;
  if (rc != 0)
    return rc < 0 ? rc : PAI_OK;
  rc = list_queue(b, s);
  if (rc < 0)
    return rc;
  if (easy)
    return pai__easy_decide(&b->easy, s, &b->queue, b->place, &b->old);
  s->effort += PLANNED * (uint64_t)b->queue.len;
  rc = begin(b, s);
  if (rc == PAI_OK)
    rc = consider_all(b, s);
  if (rc < 0)
    return rc;
  /* What is planned for the guaranteed alone is planned anew with the rest. */
  if (s->keeping)
    return PAI_OK;
  b->new.layout = b->plan.layout;
  done = b->old;
  b->old = b->new;
  b->new = done;
  return PAI_OK;
}

const pai_policy pai__policy_backfill = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "backfill",
  .about = "as soon as it does not delay what is planned before it",
  .open = pai__backfill_open,
  .close = pai__backfill_close,
  .decide = decide,
  .event = pai__backfill_event,
  .clone = pai__backfill_clone,
  .save = pai__backfill_save,
  .load = pai__backfill_load,
};
