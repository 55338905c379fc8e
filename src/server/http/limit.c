/* limit.c - rate limits (see limit.h) */
#include "server/http/limit.h"

enum { SETS = 2048, WAYS = 4 };

int pai__limit_init(pai__limit *limit, const pai_alloc *alloc, unsigned most,
                    pai_time window, uint64_t seed)
{
  *limit = (pai__limit){
    .alloc = alloc, .most = most, .window = window, .seed = seed
  };
  if (most == 0)
    return PAI_OK;
  limit->slots =
    pai__zalloc(alloc, (size_t)SETS * WAYS * sizeof(*limit->slots));
  return limit->slots != NULL ? PAI_OK : PAI_ENOMEM;
}

void pai__limit_dispose(pai__limit *limit)
{
  if (limit->slots != NULL)
    pai__free(limit->alloc, limit->slots,
              (size_t)SETS * WAYS * sizeof(*limit->slots));
  limit->slots = NULL;
}

/* Never 0. */
static uint64_t hash(const pai__limit *limit, const void *who, size_t len)
{
  const unsigned char *p = who;
  uint64_t h = limit->seed;

  for (size_t i = 0; i < len; i++) {
    h = (h ^ p[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  h = (h ^ limit->seed) * 0xbf58476d1ce4e5b9u;
  return (h ^ (h >> 31)) | 1;
}

/* A window that ends too far in the future is over, too: the clock was set
 * back. */
static bool is_over(const pai__limit *limit, const struct pai__limit_slot *s,
                    pai_time now)
{
  return now >= s->end || s->end - now > limit->window;
}

static struct pai__limit_slot *find(pai__limit *limit, uint64_t who,
                                    pai_time now)
{
  struct pai__limit_slot *set = &limit->slots[(who >> 20) % SETS * WAYS];
  struct pai__limit_slot *least = set;

  for (size_t i = 0; i < WAYS; i++)
    if (set[i].who == who)
      return &set[i];
  for (size_t i = 0; i < WAYS; i++) {
    if (set[i].who == 0 || is_over(limit, &set[i], now)) {
      least = &set[i];
      break;
    }
    if (set[i].n < least->n)
      least = &set[i];
  }
  *least = (struct pai__limit_slot){ .who = who };
  return least;
}

bool pai__limit_take(pai__limit *limit, const void *who, size_t len,
                     pai_time now, pai__allowance *allowance)
{
  struct pai__limit_slot *s;

  if (limit->slots == NULL)
    return true;
  s = find(limit, hash(limit, who, len), now);
  if (is_over(limit, s, now)) {
    s->end = now + limit->window;
    s->n = 0;
  }
  if (s->n <= limit->most)
    s->n++;
  *allowance =
    (pai__allowance){ .most = limit->most,
                      .left = s->n < limit->most ? limit->most - s->n : 0,
                      .end = s->end,
                      .over = s->n > limit->most };
  return !allowance->over;
}
