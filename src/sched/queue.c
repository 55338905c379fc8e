/* queue.c - requests, their instances, and the queue */
#include "sched/queue.h"

/* --- index of ids --------------------------------------------------------- */

enum { FIRST_IDS = 16 };

static inline uint32_t home_of(const pai_sched *s, uint64_t id)
{
  return (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) &
         (s->by_id.len - 1);
}

static inline uint32_t find_id(const pai_sched *s, uint64_t id)
{
  const uint32_t *list = s->by_id.data;
  uint32_t i = home_of(s, id);

  while (list[i] != 0 && pai__req_at(s, list[i] - 1)->id != id)
    i = (i + 1) & (s->by_id.len - 1);
  return i;
}

uint32_t pai__req_find(const pai_sched *s, uint64_t id)
{
  /* An empty entry is 0, and 0 - 1 is PAI__NONE. */
  return id == 0 || s->by_id.len == 0
           ? PAI__NONE
           : ((uint32_t *)s->by_id.data)[find_id(s, id)] - 1;
}

/* At most three quarters of the table are used. */
int pai__req_reserve_id(pai_sched *s)
{
  pai__flat old = s->by_id;
  uint32_t n = old.len != 0 ? old.len * 2 : FIRST_IDS;
  const uint32_t *list = old.data;

  if (s->m.nreqs + 1 <= old.len / 4 * 3)
    return PAI_OK;
  pai__flat_init(&s->by_id, sizeof(uint32_t));
  if (pai__flat_reset(&s->by_id, &s->alloc, n) < 0) {
    s->by_id = old;
    return PAI_ENOMEM;
  }
  for (uint32_t i = 0; i < old.len; i++)
    if (list[i] != 0)
      pai__req_add_id(s, list[i] - 1);
  pai__flat_dispose(&old, &s->alloc);
  return PAI_OK;
}

void pai__req_add_id(pai_sched *s, uint32_t req)
{
  ((uint32_t *)s->by_id.data)[find_id(s, pai__req_at(s, req)->id)] = req + 1;
}

/* Later entries move up, so that searches do not end at a gap. */
void pai__req_remove_id(pai_sched *s, uint32_t req)
{
  uint32_t *list = s->by_id.data, mask = s->by_id.len - 1;
  uint32_t gap = find_id(s, pai__req_at(s, req)->id);

  for (uint32_t i = (gap + 1) & mask; list[i] != 0; i = (i + 1) & mask) {
    uint32_t from = home_of(s, pai__req_at(s, list[i] - 1)->id);

    if (((i - from) & mask) >= ((i - gap) & mask)) {
      list[gap] = list[i];
      gap = i;
    }
  }
  list[gap] = 0;
}

/* --- the queue ------------------------------------------------------------ */

static uint32_t *queued_of(const pai_sched *s, uint32_t vc_index)
{
  return (uint32_t *)s->queued.data + vc_index;
}

void pai__queue_recount(pai_sched *s)
{
  for (uint32_t i = 0; i < s->queued.len; i++)
    *queued_of(s, i) = 0;
  for (uint32_t i = s->m.first; i != PAI__NONE; i = pai__req_at(s, i)->behind)
    ++*queued_of(s, pai__req_at(s, i)->vc_index);
}

uint32_t pai__queue_vcs(const pai_sched *s)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < s->queued.len; i++)
    n += *queued_of(s, i) != 0;
  return n;
}

static void unlink_req(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);

  *(r->before != PAI__NONE ? &pai__req_at(s, r->before)->behind
                           : &s->m.first) = r->behind;
  *(r->behind != PAI__NONE ? &pai__req_at(s, r->behind)->before : &s->m.last) =
    r->before;
  r->queued = 0;
  s->m.nqueued--;
  --*queued_of(s, r->vc_index);
}

/* A new request is the last one.  One that comes back is searched from the
 * front, as it was among the first. */
static void link_req(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  uint32_t behind = PAI__NONE;

  if (s->m.last != PAI__NONE && pai__req_at(s, s->m.last)->turn > r->turn)
    for (behind = s->m.first; pai__req_at(s, behind)->turn < r->turn;)
      behind = pai__req_at(s, behind)->behind;
  r->behind = behind;
  r->before = behind != PAI__NONE ? pai__req_at(s, behind)->before : s->m.last;
  *(r->before != PAI__NONE ? &pai__req_at(s, r->before)->behind
                           : &s->m.first) = req;
  *(behind != PAI__NONE ? &pai__req_at(s, behind)->before : &s->m.last) = req;
  if (r->turn < s->needs_known) /* it comes back */
    s->needs_known = 0;
  r->queued = 1;
  s->linked++;
  s->m.nqueued++;
  ++*queued_of(s, r->vc_index);
}

uint32_t pai__req_lack(const pai_sched *s, const pai__req *r)
{
  const pai__after *after = r->nafter != 0 ? pai__after_of(s, r) : NULL;

  if (r->held)
    return PAI_LACK_RELEASE;
  if (pai__sched_vc_at(s, r->vc_index)->stopped)
    return PAI_LACK_STOPPED;
  for (uint32_t i = 0; i < r->nafter; i++)
    if (after[i].kind != 0)
      return PAI_LACK_AFTER;
  return r->at_once != 0 && r->active >= r->at_once ? PAI_LACK_THROTTLE
                                                    : PAI_LACK_NOTHING;
}

uint32_t pai__req_tasks(const pai_sched *s, const pai__req *r)
{
  const pai__want *w = pai__wants_of(s, r);
  uint32_t n = 0;

  for (uint32_t i = 0; i < r->nwants; i++)
    n += w[i].tasks;
  return n;
}

bool pai__req_is_elastic(const pai_sched *s, const pai__req *r)
{
  const pai__want *wants = pai__wants_of(s, r);

  for (uint32_t i = 0; i < r->nwants; i++)
    if (wants[i].min_tasks < wants[i].tasks)
      return true;
  return false;
}

const pai__sched_reason pai__no_reason = { .node = PAI__NONE,
                                           .text = PAI__NONE };

pai__sched_reason *pai__sched_reason_make(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  pai__sched_reason *list = s->reasons.data;

  if (r->reason == PAI__NONE) {
    r->reason = s->m.free_reason;
    if (r->reason != PAI__NONE)
      s->m.free_reason = list[r->reason].node;
    else
      r->reason = pai__flat_push(&s->reasons, 1);
    list[r->reason] = pai__no_reason;
  }
  return list + r->reason;
}

pai__sched_reason *pai__sched_reason_say(pai_sched *s, uint32_t req,
                                         uint32_t lack)
{
  pai__sched_reason *reason = pai__sched_reason_make(s, req);

  *reason = pai__no_reason;
  reason->lack = lack;
  return reason;
}

void pai__sched_reason_drop(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);

  if (r->reason == PAI__NONE)
    return;
  ((pai__sched_reason *)s->reasons.data)[r->reason].node = s->m.free_reason;
  s->m.free_reason = r->reason;
  r->reason = PAI__NONE;
}

int pai__vc_reason_keep(pai_sched *s, uint32_t vc_index,
                        const pai__vc_reason *vc_reason)
{
  if (s->vc_reasons.len == 0) {
    if (pai__flat_reset(&s->vc_reasons, &s->alloc, 2 * s->cluster->nvcs) < 0)
      return PAI_ENOMEM;
  }
  ((pai__vc_reason *)
     s->vc_reasons.data)[2 * vc_index + (vc_reason->lazy ? 1 : 0)] =
    *vc_reason;
  return PAI_OK;
}

const pai__vc_reason *pai__vc_reason_for(const pai_sched *s, const pai__req *r)
{
  const pai__vc_reason *list = s->vc_reasons.data;
  uint32_t n = r->priority < 0 ? 2 : 1;

  for (uint32_t i = 0; s->vc_reasons.len != 0 && i < n; i++) {
    const pai__vc_reason *vc_reason = &list[2 * r->vc_index + i];

    if (vc_reason->made == s->m.decided && r->turn > vc_reason->first &&
        r->turn <= vc_reason->last)
      return vc_reason;
  }
  return NULL;
}

/* --- reasons of alike requests -------------------------------------------- */

static pai__alike_reason *alike_reason(const pai_sched *s, uint32_t i)
{
  return (pai__alike_reason *)s->alike_reasons.data + i;
}

static void forget_alike(pai_sched *s)
{
  s->alike_reasons.len = 0;
  pai__lookup_clear(&s->alike_reason_at);
}

void pai__alike_begin(pai_sched *s, enum pai__alike alike)
{
  forget_alike(s);
  s->m.alike = (pai__alike_scope){ .made = s->m.decided,
                                   .last = s->m.turns,
                                   .how = alike };
}

int pai__alike_refuse(pai_sched *s, uint32_t req,
                      const pai__sched_reason *reason)
{
  const pai__req *r = pai__req_at(s, req);
  uint32_t known = s->alike_reasons.len;
  uint32_t i = pai__lookup_push(&s->alike_reason_at, &s->alike_reasons,
                                &s->alloc, pai__alike_key(s->m.alike.how, r));

  if (i == PAI__NONE)
    return PAI_ENOMEM;
  if (i < known)
    return PAI_OK;
  *alike_reason(s, i) = (pai__alike_reason){ *reason, r->turn, r->priority };
  return PAI_OK;
}

int pai__alike_refuse_as_told(pai_sched *s, uint32_t req)
{
  const pai__sched_reason reason = *pai__sched_reason_of(s, req);

  return pai__alike_refuse(s, req, &reason);
}

static bool is_told_alike(const pai_sched *s, const pai__req *r)
{
  const pai__alike_scope *x = &s->m.alike;

  return x->made != 0 && x->made == s->m.decided && r->queued &&
         r->turn <= x->last && r->turn != x->but;
}

pai__sched_reason pai__req_said(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__alike_reason *w;
  uint32_t i;

  if (!is_told_alike(s, r))
    return *pai__sched_reason_of(s, req);
  i = pai__lookup_get(&s->alike_reason_at, pai__alike_key(s->m.alike.how, r));
  w = i != PAI__NONE ? alike_reason(s, i) : NULL;
  if (w != NULL && r->turn == w->turn)
    return *pai__sched_reason_of(s, req);
  if (w != NULL && (r->priority < w->priority ||
                    (r->priority == w->priority && r->turn > w->turn)))
    return w->reason;
  if (s->m.alike.but == 0)
    return *pai__sched_reason_of(s, req);
  return (pai__sched_reason){ .lack = PAI_LACK_LATER,
                              .behind = s->m.alike.behind,
                              .node = PAI__NONE,
                              .text = PAI__NONE };
}

void pai__alike_settle(pai_sched *s)
{
  if (s->m.alike.made != 0 && s->m.alike.made == s->m.decided)
    for (uint32_t i = s->m.first; i != PAI__NONE;
         i = pai__req_at(s, i)->behind) {
      pai__sched_reason reason = pai__req_said(s, i);

      if (is_told_alike(s, pai__req_at(s, i)))
        *pai__sched_reason_make(s, i) = reason;
    }
  forget_alike(s);
  s->m.alike.made = 0;
}

/* --- reasons of requests -------------------------------------------------- */

pai__sched_reason pai__req_reason(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__vc_reason *vc_reason = pai__vc_reason_for(s, r);

  if (vc_reason == NULL || !r->queued ||
      pai__req_lack(s, r) != PAI_LACK_NOTHING) {
    pai__sched_reason reason = pai__req_said(s, req);

    /* A reservation for this request, which other requests wait for. */
    if (reason.behind == r->id)
      reason.behind = 0;
    return reason;
  }
  return (pai__sched_reason){ .lack = PAI_LACK_TURN,
                              .behind = vc_reason->behind,
                              .node = PAI__NONE,
                              .text = PAI__NONE };
}

void pai__req_update(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  bool waits = pai__req_waiting(r) != 0;

  if (waits && !r->queued)
    link_req(s, req);
  else if (!waits && r->queued)
    unlink_req(s, req);
}

/* --- dependencies --------------------------------------------------------- */

void pai__req_follow(pai_sched *s, uint64_t id, int more)
{
  uint32_t n = pai__lookup_get(&s->followed, id);

  if (n != PAI__NONE)
    pai__lookup_remove(&s->followed, id);
  n = (n != PAI__NONE ? n : 0) + (uint32_t)more;
  if (n != 0)
    pai__lookup_add(&s->followed, id, n);
}

void pai__req_unfollow(pai_sched *s, const pai__after *after)
{
  if (after->kind != 0 && !after->bad)
    pai__req_follow(s, after->id, -1);
}

void pai__req_unfollow_all(pai_sched *s, const pai__req *r)
{
  const pai__after *after = pai__after_of(s, r);

  for (uint32_t i = 0; i < r->nafter; i++)
    pai__req_unfollow(s, &after[i]);
}

static void tell_followers(pai_sched *s, const pai__req *done)
{
  bool well = done->failed == 0 && !done->cancelled;
  uint64_t id = done->id;

  if (pai__lookup_get(&s->followed, id) == PAI__NONE)
    return;
  for (uint32_t i = 0; i < s->reqs.len; i++) {
    pai__req *r = pai__req_at(s, i);
    pai__after *after =
      r->id != 0 && r->nafter != 0 ? pai__after_of(s, r) : NULL;

    for (uint32_t k = 0; after != NULL && k < r->nafter; k++)
      if (after[k].id == id && after[k].kind != 0 && !after[k].bad) {
        if (after[k].kind == PAI_AFTER_ANY ||
            (after[k].kind == PAI_AFTER_OK) == well)
          after[k].kind = 0;
        else
          after[k].bad = 1;
      }
  }
  pai__lookup_remove(&s->followed, id);
}

/* --- instances ------------------------------------------------------------ */

static uint64_t instance_key(uint32_t req, uint32_t instance)
{
  return (uint64_t)(req + 1) << 32 | instance;
}

uint32_t pai__run_find(const pai_sched *s, uint32_t req, uint32_t instance)
{
  uint32_t first;

  if (req == PAI__NONE)
    return PAI__NONE;
  first = pai__req_at(s, req)->runs;
  if (first == PAI__NONE || pai__run_at(s, first)->instance == instance)
    return first; /* mostly there is only one */
  return pai__lookup_get(&s->by_instance, instance_key(req, instance));
}

static uint32_t new_run(pai_sched *s)
{
  uint32_t i = s->m.free_run;

  if (pai__lookup_reserve(&s->by_instance, &s->alloc) < 0)
    return PAI__NONE;
  if (i != PAI__NONE) {
    s->m.free_run = pai__run_at(s, i)->next;
    return i;
  }
  return pai__flat_reserve(&s->runs, &s->alloc, 1) < 0
           ? PAI__NONE
           : pai__flat_push(&s->runs, 1);
}

uint32_t pai__run_next(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  uint32_t run = r->runs;

  if (r->returned != 0) {
    while (pai__run_at(s, run)->state != PAI__RUN_RETURNED)
      run = pai__run_at(s, run)->next;
    return run;
  }
  run = new_run(s);
  if (run == PAI__NONE)
    return PAI__NONE;
  *pai__run_at(s, run) = (pai__run){ .req = req,
                                     .instance = r->next,
                                     .next = PAI__NONE,
                                     .before = r->last_run,
                                     .state = PAI__RUN_RETURNED };
  *(r->last_run != PAI__NONE ? &pai__run_at(s, r->last_run)->next : &r->runs) =
    run;
  r->last_run = run;
  pai__lookup_add(&s->by_instance, instance_key(req, r->next), run);
  r->next++;
  r->returned++;
  return run;
}

static void drop_run(pai_sched *s, uint32_t run)
{
  pai__run *gone = pai__run_at(s, run);
  pai__req *r = pai__req_at(s, gone->req);

  pai__lookup_remove(&s->by_instance, instance_key(gone->req, gone->instance));
  *(gone->before != PAI__NONE ? &pai__run_at(s, gone->before)->next
                              : &r->runs) = gone->next;
  *(gone->next != PAI__NONE ? &pai__run_at(s, gone->next)->before
                            : &r->last_run) = gone->before;
  if (gone->state == PAI__RUN_RETURNED)
    r->returned--;
  *gone = (pai__run){ .req = PAI__NONE, .next = s->m.free_run };
  s->m.free_run = run;
}

/* --- the end of a request ------------------------------------------------- */

void pai__req_give(pai_sched *s, const pai__req *r)
{
  if (r->class != PAI__NONE)
    pai__class_leave(s, r->class);
  else if (r->wants != PAI__NONE)
    pai__pool_give(&s->pool, r->wants, pai__wants_words(r->nwants));
  if (r->nafter != 0)
    pai__pool_give(&s->pool, r->after,
                   pai__words_of(r->nafter * sizeof(pai__after)));
  if (r->name != PAI__NONE)
    pai__pool_give(&s->pool, r->name, pai__name_words(pai__name_of(s, r)));
}

void pai__req_drop(pai_sched *s, uint32_t req)
{
  pai__sched_reason_drop(s, req);
  *pai__req_at(s, req) = (pai__req){ .class = PAI__NONE,
                                     .behind = s->m.free_req,
                                     .reason = PAI__NONE };
  s->m.free_req = req;
}

static void unlink_from_all(pai_sched *s, uint32_t req)
{
  pai__link *links = s->links.data, at = links[req];

  if (at.older != PAI__NONE)
    links[at.older].newer = at.newer;
  else
    s->m.oldest = at.newer;
  if (at.newer != PAI__NONE)
    links[at.newer].older = at.older;
  else
    s->m.newest = at.older;
}

static void remove_req(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);

  unlink_from_all(s, req);
  while (r->runs != PAI__NONE)
    drop_run(s, r->runs);
  if (r->queued)
    unlink_req(s, req);
  tell_followers(s, r);
  pai__req_unfollow_all(s, r);
  pai__req_remove_id(s, req);
  pai__req_give(s, r);
  pai__req_drop(s, req);
  s->m.nreqs--;
}

void pai__run_end(pai_sched *s, uint32_t run, bool ok)
{
  uint32_t req = pai__run_at(s, run)->req;
  pai__req *r = pai__req_at(s, req);

  drop_run(s, run);
  r->finished++;
  r->failed += !ok;
  pai__req_settle(s, req);
}

void pai__req_settle(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);

  if (r->active == 0 && pai__req_waiting(r) == 0)
    remove_req(s, req);
  else
    pai__req_update(s, req);
}
