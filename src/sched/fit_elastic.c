/* fit_elastic.c - places of elastic gangs, which may start with fewer tasks */
#include "sched/fit.h"
#include "sched/queue.h"

/* Tries these tasks, without keeping them counted. */
static int try_tasks(pai_sched *s, const pai__ask *ask,
                     pai__sched_reason *reason)
{
  uint32_t n;
  int rc = pai__fit_gang(s, ask, &n, reason);

  if (rc > 0)
    pai__unfit(s, pai__req_at(s, ask->req), n);
  return rc;
}

/* Finds the most tasks of one want that fit, with those of the others
 * unchanged. */
static int enlarge(pai_sched *s, const pai__ask *ask, uint32_t *tasks,
                   uint32_t most)
{
  uint32_t low = *tasks, high = most;
  pai__sched_reason reason;

  while (low < high) {
    uint32_t middle = high - (high - low) / 2;
    int rc;

    *tasks = middle;
    rc = try_tasks(s, ask, &reason);
    if (rc < 0)
      return rc;
    if (rc > 0)
      low = middle;
    else
      high = middle - 1;
  }
  *tasks = low;
  return PAI_OK;
}

static int fit_fewer(pai_sched *s, pai__ask *ask, uint32_t *tasks, uint32_t *n,
                     pai__sched_reason *reason)
{
  const pai__req *r = pai__req_at(s, ask->req);
  const pai__want *w = pai__wants_of(s, r);
  int rc;

  for (uint32_t i = 0; i < r->nwants; i++)
    tasks[i] = w[i].min_tasks;
  ask->tasks = tasks;
  rc = try_tasks(s, ask, reason);
  for (uint32_t i = 0; i < r->nwants && rc > 0; i++)
    if (enlarge(s, ask, &tasks[i], w[i].tasks) < 0)
      rc = PAI_ENOMEM;
  return rc > 0 ? pai__fit_gang(s, ask, n, reason) : rc;
}

int pai__fit_elastic(pai_sched *s, const pai__ask *ask, uint32_t *n,
                     pai__sched_reason *reason)
{
  const pai__req *r = pai__req_at(s, ask->req);
  pai__ask fewer = *ask;
  uint32_t *tasks;
  int rc = pai__fit_gang(s, ask, n, reason);

  if (rc != 0 || ask->tasks != NULL || !pai__req_is_elastic(s, r))
    return rc;
  tasks = pai__zalloc(&s->alloc, r->nwants * sizeof(*tasks));
  if (tasks == NULL)
    return PAI_ENOMEM;
  rc = fit_fewer(s, &fewer, tasks, n, reason);
  pai__free(&s->alloc, tasks, r->nwants * sizeof(*tasks));
  return rc;
}
