/* host.c - what a policy may do, checked */
#include "sched/policy.h"

#include "resource/bits.h"
#include "sched/refusal.h"
#include "sched/reserve.h"

#include <inttypes.h>
#include <stdio.h>

/* --- trying --------------------------------------------------------------- */

/* What is guaranteed goes first, and opportunistic ones are not. */
static bool is_kept_back(const pai_sched *s, uint32_t req)
{
  return s->keeping && pai__req_at(s, req)->priority < 0;
}

uint32_t pai__next_waiting(const pai_sched *s, uint32_t req)
{
  req = req == PAI__NONE ? s->m.first : pai__req_at(s, req)->behind;
  while (req != PAI__NONE &&
         (is_kept_back(s, req) ||
          pai__req_lack(s, pai__req_at(s, req)) != PAI_LACK_NOTHING))
    req = pai__req_at(s, req)->behind;
  return req;
}

void pai__refuse_turn(pai_sched *s, uint32_t req, uint32_t behind)
{
  *pai__why_make(s, req) = (pai__why){ .lack = PAI_LACK_TURN,
                                       .behind = pai__req_at(s, behind)->id,
                                       .node = PAI__NONE,
                                       .text = PAI__NONE };
}

int pai__refuse_rest(pai_sched *s, uint32_t behind, bool lazy)
{
  const pai__req *r = pai__req_at(s, behind);

  return pai__rule_keep(
    s, r->tenant,
    &(pai__rule){ s->m.decided, r->id, r->turn, s->m.turns, lazy });
}

bool pai__is_refused(const pai_sched *s, uint32_t req)
{
  return pai__rule_for(s, pai__req_at(s, req)) != NULL;
}

/* Requests of one shape fit alike, so that one of them is looked at in each
 * round; reservations ask for more. */
static uint64_t shape_key(const pai_sched *s, const pai__refusal *how)
{
  const pai__req *r = pai__req_at(s, how->req);
  uint64_t key = pai__mix(r->shape, (uint64_t)how->strategy << 2 |
                                      (how->holding ? 2U : 0U) |
                                      (how->beyond_share ? 1U : 0U));

  /* Who may use what is kept for an old one, and who may not. */
  for (uint32_t i = s->kept.len - s->reserved; i < s->kept.len; i++)
    key =
      pai__mix(key, pai__kept_lets(s, (const pai__kept *)s->kept.data + i, r));
  if (pai__has_reservations(s))
    key = pai__mix(pai__mix(pai__mix(key, r->vc), r->user),
                   (uint64_t)pai__req_length(r));
  return key | 1;
}

/* What shape_key() is made of beside how it is looked at. */
static bool has_same_key(const pai_sched *s, const pai__req *a,
                         const pai__req *b)
{
  for (uint32_t i = s->kept.len - s->reserved; i < s->kept.len; i++) {
    const pai__kept *k = (const pai__kept *)s->kept.data + i;

    if (pai__kept_lets(s, k, a) != pai__kept_lets(s, k, b))
      return false;
  }
  return pai__req_fits_alike(s, a, b) &&
         (!pai__has_reservations(s) ||
          (a->vc == b->vc && a->user == b->user &&
           pai__req_length(a) == pai__req_length(b)));
}

static bool was_refused(pai_sched *s, const pai__refusal *how, uint64_t key)
{
  uint32_t req = how->req, other = pai__refusal_find(s, key, how);

  if (other == PAI__NONE || pai__req_at(s, other)->why == PAI__NONE ||
      !has_same_key(s, pai__req_at(s, req), pai__req_at(s, other)))
    return false;
  if (other != req)
    *pai__why_make(s, req) = *pai__why_of(s, other);
  return true;
}

/* 1, and the places are counted: the first *n of s->slots; else as
 * pai__try(). */
static int look(pai_sched *s, uint32_t req, int strategy, bool beyond_share,
                uint32_t *n)
{
  pai__ask ask = { .req = req,
                   .strategy = strategy,
                   .beyond_share = beyond_share };
  pai__refusal how = { .kind = PAI__REFUSAL_ROOM,
                       .req = req,
                       .strategy = (uint32_t)strategy,
                       .beyond_share = beyond_share,
                       .holding = s->holding };
  uint64_t key = shape_key(s, &how);
  pai__why why;
  int rc;

  if (is_kept_back(s, req)) {
    *pai__why_make(s, req) = (pai__why){ .lack = PAI_LACK_QUOTA,
                                         .node = PAI__NONE,
                                         .text = PAI__NONE };
    return 0;
  }
  if (was_refused(s, &how, key))
    return 0;
  rc = pai__fit(s, &ask, n, &why);
  if (rc == 0) {
    if (why.lack == PAI_LACK_RESERVATION)
      why.behind = s->reserved_for;
    *pai__why_make(s, req) = why;
    pai__refusal_keep(s, key, &how);
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

/* --- looking -------------------------------------------------------------- */

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

/* The run that was placed next behind `order`. */
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

static uint32_t find_run(const pai_sched *s, uint64_t id, uint32_t instance)
{
  uint32_t req = pai__req_find(s, id);

  return req != PAI__NONE ? pai__run_find(s, req, instance) : PAI__NONE;
}

static int host_next_placed(const pai_policy_host *host, uint64_t *id,
                            uint32_t *instance)
{
  const pai_sched *s = host->sched;
  uint64_t order = 0;
  uint32_t run;

  if (*id != 0) {
    run = find_run(s, *id, *instance);
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

/* --- doing ---------------------------------------------------------------- */

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

  (void)snprintf(text, sizeof(text),
                 "policy '%s', event %" PRIu64 ": %s %" PRIu64,
                 host->sched->policy->name, host->sched->m.events, what, id);
  return host_give_up(host, code, text);
}

/* A request that may begin, or a code: the policy asked for what cannot be. */
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

/* pai__try() and pai__try_over() */
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
  uint32_t run = find_run(s, id, instance);

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
  uint32_t run = find_run(s, id, instance);
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
  pai__why why = { .node = PAI__NONE };
  uint32_t req;
  int rc = find_waiting(host, id, &req);

  if (rc < 0)
    return rc;
  if (PAI__COPY_IN(&r, reason, pai_reason, text) < 0 ||
      r.lack <= PAI_LACK_NOTHING || r.lack >= PAI_LACKS)
    return say(host, PAI_EINVAL, "that is no reason for request", id);
  why.lack = (uint32_t)r.lack;
  why.want = r.want;
  why.placed = r.placed;
  why.tasks = r.tasks;
  why.wanted = r.wanted;
  why.found = r.found;
  why.behind = r.behind;
  why.until = r.until;
  if (r.node != NULL)
    why.node = pai__park_node(s->park, r.node);
  if (pai__texts_add(&s->names, &s->alloc, r.text, &why.text) < 0)
    return PAI_ENOMEM;
  *pai__why_make(s, req) = why;
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
