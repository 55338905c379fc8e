/* wants.c - what requests want, kept once for all that want the same */
#include "sched/wants.h"

/* In front of each list. */
typedef struct head {
  uint32_t uses, count;
} head;

static head *head_of(const pai_sched *s, uint32_t at)
{
  return pai__pool_at(&s->pool, at - 1);
}

static pai__want *list_of(const pai_sched *s, uint32_t at)
{
  return pai__pool_at(&s->pool, at);
}

static uint32_t words_for(uint32_t n)
{
  return 1 + pai__words_of(n * sizeof(pai__want));
}

/* Which type a name means may change with the cluster: that is not in it. */
static uint64_t hash_of(const pai__want *w, uint32_t n)
{
  uint64_t h = n;

  for (uint32_t i = 0; i < n; i++) {
    h = pai__mix(h, (uint64_t)w[i].tasks << 32 | w[i].min_tasks);
    h = pai__mix(h, (uint64_t)w[i].gpus << 32 | w[i].cpus);
    h = pai__mix(h, (uint64_t)w[i].ports << 32 | w[i].name);
    h = pai__mix(pai__mix(h, w[i].memory), w[i].type_name);
  }
  return h | 1;
}

int pai__wants_take(pai_sched *s, uint32_t n, uint32_t *at)
{
  uint32_t block = pai__pool_take(&s->pool, &s->alloc, words_for(n));

  *at = PAI__NONE;
  if (block == PAI__NONE)
    return PAI_ENOMEM;
  *at = block + 1;
  *head_of(s, *at) = (head){ 1, n };
  memset(list_of(s, *at), 0, n * sizeof(pai__want));
  return PAI_OK;
}

int pai__wants_keep(pai_sched *s, const pai__want *list, uint32_t n,
                    uint32_t *at)
{
  uint64_t hash = hash_of(list, n);
  uint32_t same = pai__lookup_get(&s->wanted, hash);

  if (same != PAI__NONE && head_of(s, same)->count == n &&
      memcmp(list_of(s, same), list, n * sizeof(*list)) == 0) {
    head_of(s, same)->uses++;
    *at = same;
    return PAI_OK;
  }
  if (same == PAI__NONE && pai__lookup_reserve(&s->wanted, &s->alloc) < 0)
    return PAI_ENOMEM;
  if (pai__wants_take(s, n, at) < 0)
    return PAI_ENOMEM;
  memcpy(list_of(s, *at), list, n * sizeof(*list));
  if (same == PAI__NONE)
    pai__lookup_add(&s->wanted, hash, *at);
  return PAI_OK;
}

void pai__wants_share(pai_sched *s, uint32_t at)
{
  head_of(s, at)->uses++;
}

/* Nobody finds it any more. */
static void hide(pai_sched *s, uint32_t at)
{
  uint64_t hash = hash_of(list_of(s, at), head_of(s, at)->count);

  if (pai__lookup_get(&s->wanted, hash) == at)
    pai__lookup_remove(&s->wanted, hash);
}

void pai__wants_drop(pai_sched *s, uint32_t at)
{
  if (--head_of(s, at)->uses != 0)
    return;
  hide(s, at);
  pai__pool_give(&s->pool, at - 1, words_for(head_of(s, at)->count));
}

int pai__wants_own(pai_sched *s, pai__req *r)
{
  uint32_t at;

  if (head_of(s, r->wants)->uses == 1) {
    hide(s, r->wants);
    return PAI_OK;
  }
  if (pai__wants_take(s, r->nwants, &at) < 0)
    return PAI_ENOMEM;
  memcpy(list_of(s, at), list_of(s, r->wants), r->nwants * sizeof(pai__want));
  pai__wants_drop(s, r->wants);
  r->wants = at;
  return PAI_OK;
}
