/* refusal.c - for whom no place was found in this decision */
#include "sched/refusal.h"

static pai__refusal *at(const pai_sched *s, uint32_t i)
{
  return (pai__refusal *)s->refusals.data + i;
}

uint32_t pai__refusal_find(const pai_sched *s, uint64_t key,
                           const pai__refusal *how)
{
  uint32_t i = pai__lookup_get(&s->refused, key);
  const pai__refusal *x = i != PAI__NONE ? at(s, i) : NULL;

  return x != NULL && x->kind == how->kind && x->orders == how->orders &&
             x->decisions == how->decisions && x->claims == how->claims &&
             x->strategy == how->strategy &&
             x->beyond_share == how->beyond_share && x->holding == how->holding
           ? x->req
           : PAI__NONE;
}

void pai__refusal_keep(pai_sched *s, uint64_t key, const pai__refusal *how)
{
  uint32_t i = pai__lookup_get(&s->refused, key);

  if (i != PAI__NONE) {
    *at(s, i) = *how;
    return;
  }
  if (pai__flat_reserve(&s->refusals, &s->alloc, 1) < 0 ||
      pai__lookup_reserve(&s->refused, &s->alloc) < 0)
    return;
  i = pai__flat_push(&s->refusals, 1);
  *at(s, i) = *how;
  pai__lookup_add(&s->refused, key, i);
}

void pai__refusals_forget(pai_sched *s)
{
  s->refusals.len = 0;
  pai__lookup_clear(&s->refused);
}
