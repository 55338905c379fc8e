/*
 * part.c - keeps a virtual cluster within its part, whichever cells HiveD
 * would choose
 *
 * HiveD knows only cells.  As with cells, runs of lower priority in a virtual
 * cluster make room in its part for requests of higher priority.
 */
#include "sched/hived/bridge.h"

#include "sched/policy/victims.h"

#include <stdlib.h>

/* True if a run is of the same virtual cluster and has a lower priority or is
 * stopping. */
static bool gives_way(const pai_sched *s, const pai__req *r,
                      const pai__run *run)
{
  const pai__req *of;

  if (!pai__run_holds(run))
    return false;
  of = pai__req_at(s, run->req);
  return of->vc_index == r->vc_index &&
         (run->state == PAI__RUN_STOPPING || of->priority < r->priority);
}

static void lift_all(pai_sched *s, const pai__req *r, int sign)
{
  for (uint32_t i = 0; i < s->runs.len; i++)
    if (gives_way(s, r, pai__run_at(s, i)))
      pai__shares_count(s, pai__run_at(s, i), sign);
}

bool pai__bridge_part_allows(pai_sched *s, const pai__req *r,
                             pai__sched_reason *why)
{
  bool allows = pai__share_suffices(s, r, why);

  if (allows)
    return true;
  lift_all(s, r, -1);
  allows = pai__share_suffices(s, r, why);
  lift_all(s, r, 1);
  return allows;
}

/* Runs that are stopping come first. */
static uint32_t list_victims(const pai_sched *s, const pai__req *r,
                             pai__victim *list)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (gives_way(s, r, run))
      list[n++] =
        (pai__victim){ .order = run->order,
                       .priority = run->state == PAI__RUN_STOPPING
                                     ? INT32_MIN
                                     : pai__req_at(s, run->req)->priority,
                       .run = i };
  }
  if (n > 1)
    qsort(list, n, sizeof(*list), pai__victims_order);
  return n;
}

/* Spares victims that are not needed, highest priority first, and counts them
 * again. */
static void spare(pai_sched *s, const pai__req *r, uint32_t slots,
                  pai__victim *list, uint32_t gone)
{
  for (uint32_t i = gone; i-- > 0;) {
    const pai__run *run = pai__run_at(s, list[i].run);

    if (run->state == PAI__RUN_STOPPING)
      continue;
    pai__shares_count(s, run, 1);
    list[i].spared = pai__victims_keep_share(s, r, slots);
    if (!list[i].spared)
      pai__shares_count(s, run, -1);
  }
}

/* Returns how many of the first victims have to stop, except the spared ones;
 * 0 if all of them are not enough. */
static uint32_t count_victims(pai_sched *s, const pai__req *r, uint32_t slots,
                              pai__victim *list, uint32_t n)
{
  uint32_t gone = 0;
  bool keeps = false;

  while (gone < n && !keeps) {
    pai__shares_count(s, pai__run_at(s, list[gone++].run), -1);
    keeps = pai__victims_keep_share(s, r, slots);
  }
  if (keeps)
    spare(s, r, slots, list, gone);
  for (uint32_t i = 0; i < gone; i++)
    if (!list[i].spared)
      pai__shares_count(s, pai__run_at(s, list[i].run), 1);
  return keeps ? gone : 0;
}

int pai__bridge_keeps_part(pai_sched *s, uint32_t req, uint32_t slots,
                           uint32_t *stopping)
{
  const pai__req *r = pai__req_at(s, req);
  size_t most = s->runs.len + 1;
  uint32_t gone;
  pai__victim *list;
  int rc = 0;

  *stopping = 0;
  if (!pai__sched_vc_at(s, r->vc_index)->parted ||
      pai__victims_keep_share(s, r, slots))
    return 1;
  list = pai__zalloc(&s->alloc, most * sizeof(*list));
  if (list == NULL)
    return PAI_ENOMEM;
  gone = count_victims(s, r, slots, list, list_victims(s, r, list));
  for (uint32_t i = 0; i < gone && rc == 0; i++) {
    if (list[i].spared)
      continue;
    ++*stopping;
    rc = pai__stop(s, list[i].run, PAI_STOP_PREEMPTED, r->id);
  }
  pai__free(&s->alloc, list, most * sizeof(*list));
  return rc;
}
