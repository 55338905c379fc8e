/* idle.c - jobs whose GPUs do nothing */
#include "server/monitor/idle.h"

#include <stdio.h>

enum { BUSY = 3 /* tenths of a percent, as in OpenPAI's rule */ };

void pai__idle_init(pai__idle *x, const pai_alloc *alloc)
{
  *x = (pai__idle){ .alloc = *alloc };
}

void pai__idle_dispose(pai__idle *x)
{
  pai__free(&x->alloc, x->list, x->cap * sizeof(*x->list));
  pai__free(&x->alloc, x->vcs, x->vcs_cap * sizeof(*x->vcs));
  x->list = NULL;
  x->vcs = NULL;
  x->n = x->cap = x->nvcs = x->vcs_cap = 0;
}

/* --- limits --------------------------------------------------------------- */

void pai__idle_forget_vcs(pai__idle *x)
{
  x->nvcs = 0;
}

int pai__idle_set_vc(pai__idle *x, const char *vc, pai__idle_limits limits)
{
  if (PAI__VEC_ROOM(&x->alloc, x->vcs, x->nvcs, x->vcs_cap) < 0)
    return PAI_ENOMEM;
  (void)snprintf(x->vcs[x->nvcs].name, sizeof(x->vcs->name), "%s", vc);
  x->vcs[x->nvcs++].limits = limits;
  return PAI_OK;
}

static pai__idle_limits limits_of(const pai__idle *x, const char *vc)
{
  for (size_t i = 0; i < x->nvcs; i++)
    if (strcmp(x->vcs[i].name, vc) == 0)
      return x->vcs[i].limits;
  return (pai__idle_limits){ .warn = PAI__IDLE_WARN_AFTER };
}

/* --- observations --------------------------------------------------------- */

static pai__idle_job *find(const pai__idle *x, uint64_t job)
{
  for (size_t i = 0; i < x->n; i++)
    if (x->list[i].job == job)
      return &x->list[i];
  return NULL;
}

const pai__idle_job *pai__idle_find(const pai__idle *x, uint64_t job)
{
  return find(x, job);
}

/* A busy job, and one that nobody saw, has no entry. */
static void forget(pai__idle *x, pai__idle_job *j)
{
  *j = x->list[--x->n];
}

static pai__idle_job *add(pai__idle *x, uint64_t job, pai_time now)
{
  if (PAI__VEC_ROOM(&x->alloc, x->list, x->n, x->cap) < 0)
    return NULL;
  x->list[x->n] = (pai__idle_job){ .job = job, .since = now, .seen = now };
  return &x->list[x->n++];
}

enum pai__idle_action pai__idle_see(pai__idle *x, uint64_t job, uint32_t gpus,
                                    int64_t busy, const char *vc, pai_time now)
{
  const pai__idle_limits limits = limits_of(x, vc);
  pai__idle_job *j = find(x, job);

  if (j != NULL && (busy < 0 || busy >= BUSY ||
                    now - j->seen > PAI__IDLE_GAP || now < j->seen)) {
    forget(x, j);
    j = NULL;
  }
  if (busy < 0 || busy >= BUSY)
    return PAI__IDLE_NOTHING;
  if (j == NULL)
    j = add(x, job, now);
  if (j == NULL)
    return PAI__IDLE_NOTHING; /* without memory the next sample begins */
  j->seen = now;
  j->gpus = gpus;
  if (limits.stop > 0 && now - j->since >= limits.stop && !j->stopped) {
    j->stopped = j->warned = true;
    return PAI__IDLE_STOP;
  }
  if (limits.warn > 0 && now - j->since >= limits.warn && !j->warned) {
    j->warned = true;
    return PAI__IDLE_WARN;
  }
  return PAI__IDLE_NOTHING;
}

void pai__idle_sweep(pai__idle *x, pai_time now)
{
  for (size_t i = 0; i < x->n;)
    if (x->list[i].seen != now)
      forget(x, &x->list[i]);
    else
      i++;
}
