/*
 * policy_backfill.c - backfill policy: plans starts ahead, and starts requests
 * out of order if they delay no planned start
 *
 * Each decision plans anew, by priority and then by turn.  A promise of the
 * last plan is kept as long as runs end when expected: nothing later in the
 * order takes what is promised, and a request that finds the same time again
 * gets the same place.
 */
#include "sched/policy/backfill.h"
#include "sched/policy/guarantee.h"

#define SECOND INT64_C(1000000) /* of pai_time */

/* Instances of one request that are promised a place at a time. */
enum { INSTANCES = 1024 };

enum {
  PLANNED = 8
}; /* work of planning a request, in looks at free capacity */

/* --- reasons -------------------------------------------------------------- */

/* Sets the reason of a waiting request, and its start if that is known.  If
 * there is room, it waits because of a promise (PAI_LACK_LATER). */
static int tell(pai__backfill *b, pai_sched *s, uint32_t req, pai_time until)
{
  const pai__req *r = pai__req_at(s, req);
  pai__sched_reason *reason = pai__sched_reason_make(s, req);
  int rc = pai__found_alike(s, &b->roomy, req) != PAI__NONE
             ? 1
             : pai__has_room(s, req, b->plain.place, false);

  if (rc < 0)
    return rc;
  if (rc == 1) {
    *reason = (pai__sched_reason){ .lack = PAI_LACK_LATER,
                                   .behind = b->npromised == 1 ? b->head : 0,
                                   .node = PAI__NONE,
                                   .text = PAI__NONE };
    if (reason->behind == r->id)
      reason->behind = 0;
    /* Reservations treat requests of one class differently. */
    if (s->reservations.len == 0)
      pai__found_keep(s, &b->roomy, req);
  }
  reason->until = until != PAI__NEVER ? until : 0;
  return PAI_OK;
}

/* --- deciding ------------------------------------------------------------- */

static uint32_t *promised_to(const pai__backfill *b, uint32_t vc_index)
{
  return (uint32_t *)b->promised.data + vc_index;
}

static bool may_promise(const pai__backfill *b, uint32_t vc_index)
{
  uint32_t n = *promised_to(b, vc_index);

  return b->mode == PAI__BACKFILL_EASY
           ? n == 0
           : b->depth == 0 || n < (uint64_t)b->depth;
}

/* True if another instance may begin, besides those planned. */
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
                           uint32_t vc_index)
{
  return (uint8_t *)b->marks.data + s->reqs.len + vc_index;
}

static uint8_t *kept_mark(const pai__backfill *b, const pai_sched *s,
                          uint32_t old)
{
  return (uint8_t *)b->marks.data + s->reqs.len + s->cluster->nvcs + old;
}

/* Gives the places of an old promise back to the plan if it is kept there.
 * Returns PAI_OK or PAI_ENOMEM. */
static int give_back(pai__backfill *b, const pai_sched *s, uint32_t req,
                     uint32_t old)
{
  const pai__promise *a = pai__promise_for(&b->old, old, &b->plan, s, req);
  pai__hint hint;

  if (a == NULL || b->marks.len == 0 || *kept_mark(b, s, old) == 0)
    return PAI_OK;
  *kept_mark(b, s, old) = 0;
  hint = pai__promise_hint(&b->old, a);
  return pai__plan_give_hint(&b->plan, s, req, &hint);
}

static int give_back_all(pai__backfill *b, const pai_sched *s, uint32_t req,
                         uint32_t old)
{
  int rc = PAI_OK;

  for (; rc == PAI_OK &&
         pai__promise_for(&b->old, old, &b->plan, s, req) != NULL;
       old++)
    rc = give_back(b, s, req, old);
  return rc;
}

/* Searches the plan, with the old promise to the request as the hint. */
static int find(pai__backfill *b, pai_sched *s, uint32_t req, pai_time latest,
                uint32_t *old)
{
  const pai__promise *a = pai__promise_for(&b->old, *old, &b->plan, s, req);
  pai__hint hint;

  if (a == NULL)
    return pai__plan_find(&b->plan, s, req, b->plain.place, latest, NULL);
  if (give_back(b, s, req, *old) < 0)
    return PAI_ENOMEM;
  ++*old;
  hint = pai__promise_hint(&b->old, a);
  return pai__plan_find(&b->plan, s, req, b->plain.place, latest, &hint);
}

static void forget_trials(pai__backfill *b)
{
  pai__lookup_clear(&b->roomy);
  pai__lookup_clear(&b->unmoved);
}

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
  return pai__promises_add(&b->new, &b->plan, s, req) < 0
           ? PAI_ENOMEM
           : pai__plan_take(&b->plan, s, req);
}

static int try_all(pai__backfill *b, pai_sched *s, uint32_t req)
{
  uint32_t vc_index = pai__req_at(s, req)->vc_index, planned = 0;
  uint32_t old = ((uint32_t *)b->first_of.data)[req];
  uint32_t most = !may_promise(b, vc_index)       ? 0
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
    ++*promised_to(b, vc_index);
    b->head = b->npromised++ == 0 ? pai__req_at(s, req)->id : b->head;
  }
  return has_more(s, pai__req_at(s, req), 0) ? tell(b, s, req, until) : PAI_OK;
}

/* True if only guaranteed requests may start and this one would go beyond its
 * part. */
static bool goes_beyond(const pai_sched *s, uint32_t req)
{
  return s->keeping && !pai__keeps_to_part(s, pai__req_at(s, req));
}

/* Requests that may be promised a start come first; those that may only start
 * now follow in a second pass, as group 1. */
static int consider(pai__backfill *b, pai_sched *s, pai__entry *e,
                    bool promises)
{
  if (promises && !may_promise(b, pai__req_at(s, e->req)->vc_index)) {
    e->group = 1;
    return give_back_all(b, s, e->req, ((uint32_t *)b->first_of.data)[e->req]);
  }
  if (!promises && e->group == 1 && goes_beyond(s, e->req))
    return tell(b, s, e->req, PAI__NEVER);
  return promises || e->group == 1 ? try_all(b, s, e->req) : PAI_OK;
}

/* If every request is promised a place, planning may end at the last one that
 * may start now: what comes after it delays no start. */
static uint32_t find_last(const pai__backfill *b, const pai_sched *s)
{
  uint32_t n = b->queue.len;

  if (b->mode == PAI__BACKFILL_EASY || b->depth != 0)
    return n;
  for (; n != 0; n--) {
    uint32_t req = pai__entry_at(&b->queue, n - 1)->req;

    /* A reason of an array is kept for its later instances. */
    if (!goes_beyond(s, req) || pai__req_at(s, req)->instances != 1)
      break;
  }
  return n;
}

/* Takes the old promises of consecutive promised requests, from i on, out of
 * the plan, so that none of them takes another one's place.  *end is the index
 * after the last.  Returns PAI_OK or a code. */
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
    while (rc >= 0 &&
           (a = pai__promise_for(&b->old, old, &b->plan, s, req)) != NULL) {
      pai__hint hint = pai__promise_hint(&b->old, a);

      rc = pai__plan_take_hint(&b->plan, s, req, &hint);
      *kept_mark(b, s, old++) = rc > 0;
    }
  }
  *end = i;
  return rc < 0 ? rc : PAI_OK;
}

/* First pass, if not all requests are promised a place. */
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

/* If not all requests are promised a place, a request without a promise may
 * precede one with a promise: it becomes the next of its virtual cluster when
 * the first one starts.  It must not take what is promised, so it is planned
 * after the promised ones, unless it came or changed since. */
static int put_promised_first(pai__backfill *b, const pai_sched *s)
{
  uint32_t n = s->reqs.len + s->cluster->nvcs + b->old.list.len;

  b->marks.len = 0;
  if (b->old.list.len == 0 || (b->mode != PAI__BACKFILL_EASY && b->depth == 0))
    return PAI_OK;
  if (pai__flat_reset(&b->marks, &b->plain.alloc, n) < 0)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < b->old.fresh.len; i++) {
    uint32_t req = pai__req_find(s, ((uint64_t *)b->old.fresh.data)[i]);

    if (req != PAI__NONE)
      *fresh_mark(b, req) = 1;
  }
  for (uint32_t i = 0; i < b->queue.len; i++) {
    pai__entry *e = pai__entry_at(&b->queue, i);
    uint8_t *later = later_mark(b, s, pai__req_at(s, e->req)->vc_index);

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

/* True if a request asks for GPUs that share a locality level within a
 * node. */
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
  uint32_t n = s->cluster->nvcs;

  pai__promises_clear(&b->new);
  forget_trials(b);
  b->npromised = b->moves = 0;
  if (pai__flat_reset(&b->promised, &b->plain.alloc, n) < 0 ||
      pai__promises_index(&b->old, s, &b->first_of) < 0 ||
      put_promised_first(b, s) < 0)
    return PAI_ENOMEM;
  b->new.fine = b->old.fine || asks_for_nearness(s, &b->queue);
  return b->queue.len != 0 ? pai__plan_begin(&b->plan, s, assumed, b->new.fine)
                           : PAI_OK;
}

static int decide(void *state, pai_sched *s)
{
  pai__backfill *b = state;
  pai__promises done;
  int rc;

  if (b->mode == PAI__BACKFILL_EASY && b->assume == 0 &&
      pai__easy_is_enough(s))
    return pai__easy_decide(&b->easy, s, b->plain.place, &b->old);
  rc = list_queue(b, s);
  if (rc < 0)
    return rc;
  s->effort += PLANNED * (uint64_t)b->queue.len;
  rc = begin(b, s);
  if (rc == PAI_OK)
    rc = consider_all(b, s);
  if (rc < 0)
    return rc;
  /* A plan for guaranteed requests only is made anew with all requests. */
  if (s->keeping)
    return PAI_OK;
  b->new.layout = b->plan.layout;
  done = b->old;
  b->old = b->new;
  b->new = done;
  return PAI_OK;
}

/* --- the state ------------------------------------------------------------ */

static void init(pai__backfill *b)
{
  pai__plan_init(&b->plan, &b->plain.alloc);
  pai__easy_init(&b->easy);
  pai__promises_init(&b->old);
  pai__promises_init(&b->new);
  pai__promises_init(&b->moved);
  pai__flat_init(&b->queue, sizeof(pai__entry));
  pai__flat_init(&b->first_of, sizeof(uint32_t));
  pai__flat_init(&b->promised, sizeof(uint32_t));
  pai__flat_init(&b->marks, sizeof(uint8_t));
  pai__lookup_init(&b->roomy);
  pai__lookup_init(&b->unmoved);
}

static void end(void *state)
{
  pai__backfill *b = state;
  pai__flat *list[] = { &b->queue, &b->first_of,    &b->promised,
                        &b->marks, &b->roomy.slots, &b->unmoved.slots };

  pai__plan_dispose(&b->plan);
  pai__easy_dispose(&b->easy, &b->plain.alloc);
  pai__promises_dispose(&b->old, &b->plain.alloc);
  pai__promises_dispose(&b->new, &b->plain.alloc);
  pai__promises_dispose(&b->moved, &b->plain.alloc);
  for (size_t i = 0; i < PAI__LEN(list); i++)
    pai__flat_dispose(list[i], &b->plain.alloc);
}

static int begin_state(void *state, const pai_policy_host *host,
                       const char *options, bool loaded)
{
  (void)options;
  (void)loaded;
  init(state);
  host->sched->terms.promises = true;
  return PAI_OK;
}

static int copy(void *state, const void *from, const pai_policy_host *host)
{
  pai__backfill *b = state;

  (void)host;
  init(b);
  return pai__promises_copy(&b->old, &((const pai__backfill *)from)->old,
                            &b->plain.alloc);
}

static int save(const void *state, pai_write_cb write, void *user_data)
{
  const pai__backfill *b = state;

  return pai__promises_write(&b->old, &b->plain.alloc, write, user_data);
}

static int load(void *state, const pai_policy_host *host, const char *saved,
                size_t len)
{
  pai__backfill *b = state;
  int rc = pai__promises_read(&b->old, host->sched, saved, len);

  return rc == PAI_OK || rc == PAI_ENOMEM
           ? rc
           : host->give_up(host, PAI_EINVAL,
                           "what backfill has planned cannot be read");
}

static int event(void *state, pai_sched *s, const pai_sched_event *e)
{
  pai__backfill *b = state;

  pai__promises_event(&b->old, &b->plain.alloc, e);
  pai__easy_event(&b->easy, s, &b->old, e);
  return PAI_OK;
}

static const pai__backfill defaults = { .plain = { PAI__PLAIN_DEFAULTS },
                                        .mode = PAI__BACKFILL_EASY };

static const char *const modes[] = { "easy", "conservative", NULL };

static const pai__field options_of_it[] = {
  PAI__WORD(pai__backfill, mode, modes, "mode"),
  PAI__NUMBER_OPTION(pai__backfill, depth, 0, UINT32_MAX),
  PAI__NUMBER_OPTION(pai__backfill, assume, 0, INT64_C(1) << 32),
  PAI__PLAIN_OPTIONS,
};

static const pai__plain_type type = { .defaults = &defaults,
                                      .size = sizeof(defaults),
                                      .options = options_of_it,
                                      .noptions = PAI__LEN(options_of_it),
                                      .ranked = true,
                                      .begin = begin_state,
                                      .copy = copy,
                                      .end = end,
                                      .decide = decide,
                                      .event = event,
                                      .save = save,
                                      .load = load };

const pai_policy pai__policy_backfill = {
  PAI__PLAIN_POLICY,
  .event = pai__plain_event,
  .name = "backfill",
  .about = "as soon as it does not delay what is planned before it",
  .data = (void *)&type,
};
