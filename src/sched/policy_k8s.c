/*
 * policy_k8s.c - as Kubernetes' scheduler by default, for gangs that stay whole
 *
 * One queue for all virtual clusters: who is important first, then who came
 * first; whoever has no room does not stop those behind.  Nodes are scored as
 * by NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation, and
 * less important ones stop for more important ones.  There is no backoff, and
 * of nodes with equal scores the first is taken and not any one.
 */
#include "sched/waiters.h"
#include "sched/walk.h"

typedef struct k8s {
  pai__plain plain;
  int place;
  bool shares, preempt, reclaim;
  int64_t reserve_after;
  pai__waiters waiters;
} k8s;

static const k8s defaults = { .place = PAI_PLACE_SCORE,
                              .shares = true,
                              .preempt = true,
                              .reclaim = true,
                              .reserve_after = PAI__RESERVE_AFTER };

static const pai__option options[] = {
  { .key = "shares",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(k8s, shares) },
  { .key = "preempt",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(k8s, preempt) },
  { .key = "reclaim",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(k8s, reclaim) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(k8s, place) },
  PAI__RESERVE_OPTION(k8s),
};

static const pai__plain_type type = { .defaults = &defaults,
                                      .size = sizeof(defaults),
                                      .options = options,
                                      .noptions = PAI__LEN(options) };

/* Those of one shape are not more important than the ones before, and what
 * could not be stopped for one cannot be for the next. */
static int try_all(pai_sched *s, uint32_t req, pai__how how,
                   pai__lookup *hopeless)
{
  uint64_t shape = pai__req_at(s, req)->shape;
  uint32_t other = pai__lookup_get(hopeless, shape);
  int rc;

  if (other != PAI__NONE &&
      pai__req_fits_alike(s, pai__req_at(s, req), pai__req_at(s, other)))
    how.over = false;
  rc = pai__start_all(s, req, &how);
  if (rc == 0 && how.over && pai__req_waiting(pai__req_at(s, req)) != 0 &&
      pai__why_of(s, req)->lack != PAI_LACK_VICTIMS && other == PAI__NONE &&
      pai__lookup_reserve(hopeless, &s->alloc) == PAI_OK)
    pai__lookup_add(hopeless, shape, req);
  return rc;
}

/* Some may be stopped for others, or reservations tell those of a shape
 * apart. */
static int decide_each(const k8s *k, pai_sched *s)
{
  pai__how how = { .strategy = k->place,
                   .beyond_share = !k->shares,
                   .over = k->preempt };
  pai__flat waiting;
  pai__lookup hopeless; /* shapes for which nobody can be stopped */
  int rc;

  pai__lookup_init(&hopeless);
  pai__flat_init(&waiting, sizeof(pai__entry));
  rc = pai__list_waiting(s, &waiting);
  pai__sort_waiting(&waiting);
  for (uint32_t i = 0; i < waiting.len && rc >= 0; i++)
    rc = try_all(s, pai__entry_at(&waiting, i)->req, how, &hopeless);
  pai__flat_dispose(&hopeless.slots, &s->alloc);
  pai__flat_dispose(&waiting, &s->alloc);
  return rc < 0 ? rc : PAI_OK;
}

/* Can nobody be stopped for whoever waits?  Who starts in this decision is no
 * less important than those behind it. */
static bool is_calm(const k8s *k, const pai_sched *s)
{
  uint32_t head = pai__waiters_head(&k->waiters);

  if (!k->preempt || head == PAI__NONE)
    return true;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE &&
        (run->state == PAI__RUN_STOPPING ||
         pai__req_at(s, run->req)->priority <
           pai__waiter_at(&k->waiters, head)->priority))
      return false;
  }
  return true;
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  k8s *k = state;
  pai_sched *s = host->sched;
  int rc = pai__has_reservations(s) ? 0 : pai__waiters_ready(&k->waiters, s);

  (void)data;
  if (rc > 0 && (rc = pai__waiters_line_up(&k->waiters, s)) == PAI_OK)
    rc = is_calm(k, s);
  if (rc < 0)
    return rc;
  return rc > 0 ? pai__try_lines(s, &k->waiters, k->place, !k->shares)
                : decide_each(k, s);
}

static int on_event(void *state, void *data, const pai_policy_host *host,
                    const pai_sched_event *event)
{
  (void)data;
  pai__waiters_event(&((k8s *)state)->waiters, host->sched, event);
  return PAI_OK;
}

static int open_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *text)
{
  int rc = pai__plain_open(state, data, host, cluster, text);

  k8s *k = *state;

  if (rc == PAI_OK) {
    pai__waiters_init(&k->waiters, PAI__ALIKE_SHAPE);
    host->sched->terms.lends = !k->shares;
    pai__policy_reclaims(host->sched, k->reclaim, k->place);
    pai__policy_reserves(host->sched, k->reserve_after, k->place, true);
  }
  return rc;
}

static int load(void **state, void *data, const pai_policy_host *host,
                const pai_cluster *cluster, const char *text,
                const char *saved, size_t len)
{
  (void)saved;
  (void)len;
  return open_it(state, data, host, cluster, text);
}

static int clone_it(void **copy, const void *state, void *data,
                    const pai_policy_host *host)
{
  int rc = pai__plain_clone(copy, state, data, host);

  if (rc == PAI_OK)
    pai__waiters_init(&((k8s *)*copy)->waiters, PAI__ALIKE_SHAPE);
  return rc;
}

static void close_it(void *state)
{
  k8s *k = state;

  if (k != NULL)
    pai__waiters_dispose(&k->waiters, &k->plain.alloc);
  pai__plain_close(state);
}

const pai_policy pai__policy_k8s = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .name = "k8s",
  .about = "as Kubernetes' scheduler by default, for whole gangs",
  .data = (void *)&type,
  .lends = 1,
  .open = open_it,
  .close = close_it,
  .decide = decide,
  .event = on_event,
  .clone = clone_it,
  .save = pai__plain_save,
  .load = load,
};
