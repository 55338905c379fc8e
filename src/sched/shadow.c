/*
 * shadow.c - a policy that decides beside the one that counts
 *
 * It sees the same events and the same state: each time it decides on a fork,
 * and what it would have done is compared with what was done.
 */
#include "sched/guarantee.h"
#include "sched/policy.h"
#include "sched/sched.h"

int pai__shadow_decide(pai_sched **out, pai_sched *s)
{
  const pai_policy *p = s->shadow;
  pai_sched *fork;
  int rc = PAI_OK;

  *out = NULL;
  if (pai__fork_without_policy(&fork, s, &s->alloc) < 0)
    return PAI_ENOMEM;
  if (PAI__POLICY_HAS(p, clone))
    rc = p->clone(&fork->policy_state, s->shadow_state, p->data, &fork->host);
  if (rc == PAI_OK) {
    fork->policy = p;
    fork->terms = s->shadow_terms;
    fork->policy_options = pai__strdup(&fork->alloc, s->shadow_options);
    rc = fork->policy_options != NULL ? PAI_OK : PAI_ENOMEM;
  }
  if (rc == PAI_OK) {
    fork->deciding = true;
    rc = pai__decide_all(fork);
    fork->deciding = false;
  }
  if (rc == PAI_OK) {
    *out = fork;
    return PAI_OK;
  }
  s->shadow_failed++;
  pai_sched_free(fork);
  return rc == PAI_ENOMEM ? rc : PAI_OK;
}

/* --- comparing ------------------------------------------------------------ */

static const pai__run *run_of(const pai_sched *s, const pai__decision *d)
{
  uint32_t req = pai__req_find(s, d->id);
  uint32_t run =
    req != PAI__NONE ? pai__run_find(s, req, d->instance) : PAI__NONE;

  return run != PAI__NONE ? pai__run_at(s, run) : NULL;
}

/* The same nodes and GPUs for each task. */
static bool is_placed_alike(const pai_sched *s, const pai__decision *a,
                            const pai_sched *fork, const pai__decision *b)
{
  const pai__run *x = run_of(s, a), *y = run_of(fork, b);
  const pai__slot *m, *n;

  if (x == NULL || y == NULL || x->tasks != y->tasks)
    return false;
  m = pai__slots_of(s, x);
  n = pai__slots_of(fork, y);
  for (uint32_t i = 0; i < x->tasks; i++)
    if (m[i].node != n[i].node || m[i].gpus != n[i].gpus)
      return false;
  return true;
}

static bool is_same(const pai_sched *s, const pai__decision *a,
                    const pai_sched *fork, const pai__decision *b)
{
  if (a->kind != b->kind || a->id != b->id || a->instance != b->instance ||
      a->cause != b->cause || a->tasks != b->tasks)
    return false;
  return a->kind == PAI_DECISION_STOP || is_placed_alike(s, a, fork, b);
}

void pai__shadow_compare(pai_sched *s, pai_sched *fork, uint32_t first)
{
  pai__decision *live = s->decisions.data, *other = fork->decisions.data;

  for (uint32_t k = 0; k < first; k++)
    live[k].agreed = true;
  s->shadow_live += s->decisions.len - first;
  s->shadow_decisions += fork->decisions.len;
  for (uint32_t i = 0; i < fork->decisions.len; i++)
    for (uint32_t k = first; k < s->decisions.len; k++)
      if (is_same(s, &live[k], fork, &other[i])) {
        s->shadow_agreed++;
        live[k].agreed = other[i].agreed = true;
        break;
      }
  fork->told = fork->decisions.len;
  s->beside = fork;
}

void pai__shadow_forget(pai_sched *s)
{
  pai_sched_free(s->beside);
  s->beside = NULL;
}

const pai_sched *pai_sched_shadow(const pai_sched *s)
{
  return s != NULL ? s->beside : NULL;
}
