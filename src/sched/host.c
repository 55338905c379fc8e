/* host.c - the interface of policies, with checks */
#include "sched/policy/policy.h"

#include "resource/bits.h"
#include "sched/queue.h"
#include "sched/policy/guarantee.h"

#include <inttypes.h>
#include <stdio.h>

/* --- placing -------------------------------------------------------------- */

/* Opportunistic requests wait while only guaranteed ones may start. */
static bool is_kept_back(const pai_sched *s, uint32_t req)
{
  return s->keeping && pai__req_at(s, req)->priority < 0;
}

bool pai__is_looked_at(const pai_sched *s, uint32_t req)
{
  return !is_kept_back(s, req) &&
         pai__req_lack(s, pai__req_at(s, req)) == PAI_LACK_NOTHING;
}

uint32_t pai__next_waiting(const pai_sched *s, uint32_t req)
{
  req = req == PAI__NONE ? s->m.first : pai__req_at(s, req)->behind;
  while (req != PAI__NONE && !pai__is_looked_at(s, req))
    req = pai__req_at(s, req)->behind;
  return req;
}

void pai__refuse_turn(pai_sched *s, uint32_t req, uint32_t behind)
{
  pai__sched_reason_say(s, req, PAI_LACK_TURN)->behind =
    pai__req_at(s, behind)->id;
}

int pai__refuse_rest(pai_sched *s, uint32_t behind, bool lazy)
{
  const pai__req *r = pai__req_at(s, behind);

  return pai__vc_reason_keep(
    s, r->vc_index,
    &(pai__vc_reason){ s->m.decided, r->id, r->turn, s->m.turns, lazy });
}

bool pai__is_refused(const pai_sched *s, uint32_t req)
{
  return pai__vc_reason_for(s, pai__req_at(s, req)) != NULL;
}

/* Returns all that decides whether a request finds a place in this decision:
 * its class, how it is tried, and what reservations look at. */
static pai__refusal refusal_of(const pai_sched *s, const pai__ask *ask)
{
  const pai__req *r = pai__req_at(s, ask->req);
  const pai__sched_reservation *all = s->reservations.data;
  uint64_t flags = (uint64_t)ask->strategy << 2 | (s->holding ? 2U : 0U) |
                   (ask->beyond_share ? 1U : 0U);
  pai__refusal how = { .like = { PAI__REFUSAL_ROOM, r->class },
                       .req = ask->req };

  /* There are at most two for a request. */
  for (uint32_t i = s->reservations.len - s->reserved; i < s->reservations.len;
       i++)
    flags = flags << 1 | pai__sched_reservation_lets(s, &all[i], r);
  how.like[2] = flags;
  if (pai__has_reservations(s)) {
    how.like[3] = r->user;
    how.like[4] = (uint64_t)pai__req_length(r);
  }
  return how;
}

static bool was_refused(pai_sched *s, const pai__refusal *how)
{
  uint32_t req = how->req, other = pai__refusal_find(s, how);

  if (other == PAI__NONE || pai__req_at(s, other)->reason == PAI__NONE)
    return false;
  if (other != req)
    *pai__sched_reason_make(s, req) = *pai__sched_reason_of(s, other);
  return true;
}

/* Finds places.  Returns 1 with the first *n of s->slots counted; else as
 * pai__try(). */
static int look(pai_sched *s, uint32_t req, int strategy, bool beyond_share,
                uint32_t *n)
{
  pai__ask ask = { .req = req,
                   .strategy = strategy,
                   .beyond_share = beyond_share };
  const pai__refusal how = refusal_of(s, &ask);
  pai__sched_reason reason;
  int rc;

  if (is_kept_back(s, req)) {
    (void)pai__sched_reason_say(s, req, PAI_LACK_QUOTA);
    return 0;
  }
  if (was_refused(s, &how))
    return 0;
  rc = pai__fit_elastic(s, &ask, n, &reason);
  if (rc == 0) {
    if (reason.lack == PAI_LACK_RESERVATION)
      reason.behind = s->reserved_for;
    *pai__sched_reason_make(s, req) = reason;
    pai__refusal_keep(s, &how);
  }
  return rc;
}

int pai__try(pai_sched *s, uint32_t req, int strategy, bool beyond_share)
{
  uint32_t n;
  int rc = look(s, req, strategy, beyond_share, &n);

  if (rc <= 0)
    return rc;
  rc = pai__start(s, req, n);
  return rc < 0 ? pai__set_aside(s, req, rc) : 1;
}

int pai__has_room(pai_sched *s, uint32_t req, int strategy, bool beyond_share)
{
  uint32_t n;
  int rc = look(s, req, strategy, beyond_share, &n);

  if (rc > 0)
    pai__unfit(s, pai__req_at(s, req), n);
  return rc;
}

/* --- views and iteration -------------------------------------------------- */

static uint64_t host_next_waiting(const pai_policy_host *host, uint64_t id)
{
  const pai_sched *s = host->sched;
  uint32_t req = PAI__NONE;

  if (id != 0) {
    req = pai__req_find(s, id);
    if (req == PAI__NONE)
      return 0;
    if (!pai__req_at(s, req)->queued) {
      uint64_t turn = pai__req_at(s, req)->turn;

      for (req = s->m.first;
           req != PAI__NONE && pai__req_at(s, req)->turn < turn;)
        req = pai__req_at(s, req)->behind;
      req = req != PAI__NONE ? pai__req_at(s, req)->before : s->m.last;
    }
  }
  req = pai__next_waiting(s, req);
  return req != PAI__NONE ? pai__req_at(s, req)->id : 0;
}

/* Returns the run that was placed next after `order`. */
static uint32_t placed_behind(const pai_sched *s, uint64_t order)
{
  uint32_t next = PAI__NONE;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE && run->state >= PAI__RUN_PLACED &&
        run->order > order &&
        (next == PAI__NONE || run->order < pai__run_at(s, next)->order))
      next = i;
  }
  return next;
}

static int host_next_placed(const pai_policy_host *host, uint64_t *id,
                            uint32_t *instance)
{
  const pai_sched *s = host->sched;
  uint64_t order = 0;
  uint32_t run;

  if (*id != 0) {
    run = pai__run_find(s, pai__req_find(s, *id), *instance);
    if (run == PAI__NONE)
      return 0;
    order = pai__run_at(s, run)->order;
  }
  run = placed_behind(s, order);
  if (run == PAI__NONE)
    return 0;
  *id = pai__req_at(s, pai__run_at(s, run)->req)->id;
  *instance = pai__run_at(s, run)->instance;
  return 1;
}

static int host_view_sums(const pai_policy_host *host, pai_sched_view *view)
{
  return pai_sched_view_sums(host->sched, view);
}

static int host_view_request(const pai_policy_host *host, uint64_t id,
                             pai_request_view *view)
{
  return pai_sched_view_request(host->sched, id, view);
}

static int host_view_want(const pai_policy_host *host, uint64_t id,
                          uint32_t want, pai_want *view)
{
  return pai_sched_view_want(host->sched, id, want, view);
}

static int host_view_node(const pai_policy_host *host, size_t node,
                          pai_sched_node_view *view)
{
  return pai_sched_view_node(host->sched, node, view);
}

static int host_view_vc(const pai_policy_host *host, size_t vc,
                        pai_sched_vc_view *view)
{
  return pai_sched_view_vc(host->sched, vc, view);
}

static int host_task(const pai_policy_host *host, uint64_t id,
                     uint32_t instance, uint32_t task, pai_task_place *place)
{
  return pai_sched_task(host->sched, id, instance, task, place);
}

/* --- actions -------------------------------------------------------------- */

static int host_give_up(const pai_policy_host *host, int code,
                        const char *message)
{
  pai_sched *s = host->sched;

  pai__strfree(&s->alloc, s->failure);
  s->failure = pai__strdup(&s->alloc, message);
  return code;
}

static int say(const pai_policy_host *host, int code, const char *what,
               uint64_t id)
{
  char text[128];

  (void)snprintf(
    text, sizeof(text), "policy '%s', event %" PRIu64 ": %s %" PRIu64,
    host->sched->live.policy->name, host->sched->m.events, what, id);
  return host_give_up(host, code, text);
}

/* Finds a request of which an instance may begin.  Returns an error code if
 * the policy asks for another one. */
static int find_waiting(const pai_policy_host *host, uint64_t id,
                        uint32_t *req)
{
  pai_sched *s = host->sched;

  if (!s->deciding)
    return PAI_EBUSY;
  *req = pai__req_find(s, id);
  if (*req == PAI__NONE)
    return say(host, PAI_ENOTFOUND, "there is no request", id);
  if (!pai__req_at(s, *req)->queued ||
      pai__req_lack(s, pai__req_at(s, *req)) != PAI_LACK_NOTHING)
    return say(host, PAI_EBUSY, "nothing may begin of request", id);
  return PAI_OK;
}

static int copy_place(const pai_place *how, pai_place *place)
{
  *place = (pai_place){ .strategy = PAI_PLACE_TOPO };
  if (how == NULL)
    return PAI_OK;
  if (PAI__COPY_IN(place, how, pai_place, beyond_share) < 0 ||
      place->strategy < 0 || place->strategy > PAI_PLACE_SCORE)
    return PAI_EINVAL;
  if (place->strategy == 0)
    place->strategy = PAI_PLACE_TOPO;
  return PAI_OK;
}

/* pai__try() or pai__try_over() */
typedef int (*trier)(pai_sched *s, uint32_t req, int strategy,
                     bool beyond_share);

static int start(const pai_policy_host *host, uint64_t id,
                 const pai_place *how, trier try_it)
{
  pai_place place = { 0 };
  uint32_t req;
  int rc = find_waiting(host, id, &req);

  if (rc == PAI_OK)
    rc = copy_place(how, &place);
  return rc < 0 ? rc
                : try_it(host->sched, req, place.strategy,
                         place.beyond_share != 0 && host->sched->terms.lends);
}

static int host_start(const pai_policy_host *host, uint64_t id,
                      const pai_place *how)
{
  return start(host, id, how, pai__try);
}

static int host_start_over(const pai_policy_host *host, uint64_t id,
                           const pai_place *how)
{
  return start(host, id, how, pai__try_over);
}

static int host_start_at(const pai_policy_host *host, uint64_t id,
                         const pai_task_place *places, size_t n)
{
  uint32_t req;
  int rc = find_waiting(host, id, &req);

  if (rc == PAI_OK)
    rc = pai__take_places(host->sched, req, places, n, false);
  if (rc == PAI_OK)
    rc = pai__start(host->sched, req, (uint32_t)n);
  return rc < 0 ? say(host, rc, "that place cannot be had by request", id)
                : rc;
}

static int host_claim_at(const pai_policy_host *host, uint64_t id,
                         const pai_task_place *places, size_t n)
{
  uint32_t req;
  int rc = find_waiting(host, id, &req);

  if (rc == PAI_OK)
    rc = pai__take_places(host->sched, req, places, n, true);
  if (rc == PAI_OK)
    rc = pai__claim_over(host->sched, req, (uint32_t)n);
  return rc < 0 ? say(host, rc, "that place cannot be claimed by request", id)
                : rc;
}

static int host_preempt(const pai_policy_host *host, uint64_t id,
                        uint32_t instance, uint64_t by)
{
  pai_sched *s = host->sched;
  uint32_t run = pai__run_find(s, pai__req_find(s, id), instance);

  if (!s->deciding)
    return PAI_EBUSY;
  if (run == PAI__NONE || !pai__run_holds(pai__run_at(s, run)))
    return say(host, PAI_ENOTFOUND, "nothing runs of request", id);
  return pai__stop(s, run, PAI_STOP_PREEMPTED, by);
}

static int host_resize(const pai_policy_host *host, uint64_t id,
                       uint32_t instance, uint32_t want, uint32_t tasks)
{
  pai_sched *s = host->sched;
  uint32_t run = pai__run_find(s, pai__req_find(s, id), instance);
  int rc;

  if (!s->deciding)
    return PAI_EBUSY;
  if (run == PAI__NONE)
    return say(host, PAI_ENOTFOUND, "nothing runs of request", id);
  rc = pai__resize(s, run, want, tasks);
  return rc < 0 ? say(host, rc, "that size is none of request", id) : rc;
}

static int host_refuse(const pai_policy_host *host, uint64_t id,
                       const pai_reason *reason)
{
  pai_sched *s = host->sched;
  pai_reason r = { 0 };
  pai__sched_reason own;
  uint32_t req;
  int rc = find_waiting(host, id, &req);

  if (rc < 0)
    return rc;
  if (PAI__COPY_IN(&r, reason, pai_reason, text) < 0 ||
      r.lack <= PAI_LACK_NOTHING || r.lack >= PAI_LACKS)
    return say(host, PAI_EINVAL, "that is no reason for request", id);
  r.of = 0;
  if (pai__reason_take(s, &r, &own) < 0)
    return PAI_ENOMEM;
  *pai__sched_reason_make(s, req) = own;
  return PAI_OK;
}

void pai__host_init(pai_sched *s)
{
  s->host = (pai_policy_host){ .struct_size = sizeof(s->host),
                               .sched = s,
                               .next_waiting = host_next_waiting,
                               .next_placed = host_next_placed,
                               .view_sums = host_view_sums,
                               .view_request = host_view_request,
                               .view_want = host_view_want,
                               .view_node = host_view_node,
                               .view_vc = host_view_vc,
                               .task = host_task,
                               .start = host_start,
                               .start_at = host_start_at,
                               .claim_at = host_claim_at,
                               .start_over = host_start_over,
                               .preempt = host_preempt,
                               .resize = host_resize,
                               .refuse = host_refuse,
                               .give_up = host_give_up };
}
