/* plan_line.c - what is free from one step of time to the next */
#include "sched/plan.h"

enum {
  STEP_WORDS = sizeof(pai__step) / sizeof(uint64_t),
  FIRST_STEPS = 16,
  MOST_STEPS = 1 << 22
};

int pai__line_begin(pai__plan *p, uint32_t line, const pai__amount *free)
{
  uint32_t at = pai__pool_take(&p->steps, &p->alloc, FIRST_STEPS * STEP_WORDS);

  if (at == PAI__NONE)
    return PAI_ENOMEM;
  *pai__line_at(p, line) = (pai__line){ at, 1, FIRST_STEPS };
  pai__steps_of(p, line)[0] = (pai__step){ p->now, *free };
  return PAI_OK;
}

/* Room for two steps more. */
static int reserve(pai__plan *p, uint32_t line)
{
  pai__line old = *pai__line_at(p, line);
  uint32_t at;

  if (old.len + 2 <= old.cap)
    return PAI_OK;
  if (old.cap >= MOST_STEPS)
    return PAI_ENOMEM;
  at = pai__pool_take(&p->steps, &p->alloc, old.cap * 2 * STEP_WORDS);
  if (at == PAI__NONE)
    return PAI_ENOMEM;
  memcpy(pai__pool_at(&p->steps, at), pai__pool_at(&p->steps, old.steps),
         old.len * sizeof(pai__step));
  pai__pool_give(&p->steps, old.steps, old.cap * STEP_WORDS);
  *pai__line_at(p, line) = (pai__line){ at, old.len, old.cap * 2 };
  return PAI_OK;
}

uint32_t pai__line_find(const pai__plan *p, uint32_t line, pai_time at)
{
  const pai__step *steps = pai__steps_of(p, line);
  uint32_t low = 0, high = pai__line_at(p, line)->len;

  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;

    if (steps[middle].at <= at)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* --- changing ------------------------------------------------------------- */

/* The step that begins at a time; there is room for one more. */
static uint32_t split(pai__plan *p, uint32_t line, pai_time at)
{
  uint32_t i = pai__line_find(p, line, at);
  pai__step *steps = pai__steps_of(p, line);
  pai__line *l = pai__line_at(p, line);

  if (steps[i].at == at)
    return i;
  memmove(steps + i + 1, steps + i, (l->len - i) * sizeof(*steps));
  l->len++;
  steps[++i].at = at;
  return i;
}

static bool is_same(const pai__amount *a, const pai__amount *b)
{
  return a->lots == b->lots && a->memory == b->memory && a->cpus == b->cpus &&
         a->ports == b->ports;
}

/* A step that changes nothing goes. */
static void join(pai__plan *p, uint32_t line, uint32_t i)
{
  pai__step *steps = pai__steps_of(p, line);
  pai__line *l = pai__line_at(p, line);

  if (i == 0 || i >= l->len || !is_same(&steps[i - 1].free, &steps[i].free))
    return;
  l->len--;
  memmove(steps + i, steps + i + 1, (l->len - i) * sizeof(*steps));
}

int pai__line_change(pai__plan *p, uint32_t line, pai_time a, pai_time b,
                     const pai__amount *amount, int sign)
{
  uint32_t first, end;
  pai__step *steps;

  if (a >= b)
    return PAI_OK;
  if (reserve(p, line) < 0)
    return PAI_ENOMEM;
  first = split(p, line, a);
  end = b != PAI__NEVER ? split(p, line, b) : pai__line_at(p, line)->len;
  steps = pai__steps_of(p, line);
  for (uint32_t i = first; i < end; i++) {
    pai__amount *free = &steps[i].free;

    free->lots += sign > 0 ? amount->lots : -amount->lots;
    free->memory += sign * amount->memory;
    free->cpus += sign * amount->cpus;
    free->ports += sign * amount->ports;
  }
  join(p, line, end);
  join(p, line, first);
  return PAI_OK;
}

/* --- asking --------------------------------------------------------------- */

pai__amount pai__line_least(const pai__plan *p, uint32_t line, pai_time a,
                            pai_time b)
{
  uint32_t i = pai__line_find(p, line, a), len = pai__line_at(p, line)->len;
  const pai__step *steps = pai__steps_of(p, line);
  pai__amount least = steps[i].free;

  while (++i < len && steps[i].at < b) {
    const pai__amount *free = &steps[i].free;

    least.lots = pai__lots_least(least.lots, free->lots);
    least.memory = free->memory < least.memory ? free->memory : least.memory;
    least.cpus = free->cpus < least.cpus ? free->cpus : least.cpus;
    least.ports = free->ports < least.ports ? free->ports : least.ports;
  }
  return least;
}

static bool has_rest(const pai__amount *free, const pai__amount *need)
{
  return (need->memory == 0 || free->memory >= need->memory) &&
         (need->cpus == 0 || free->cpus >= need->cpus) &&
         (need->ports == 0 || free->ports >= need->ports);
}

/* With GPUs of several lots: the same ones for all the time. */
static pai_time earliest_of_some(const pai__plan *p, uint32_t line,
                                 pai_time from, pai_time length,
                                 const pai__amount *need, uint32_t gpus,
                                 uint64_t some)
{
  uint32_t len = pai__line_at(p, line)->len;
  const pai__step *steps = pai__steps_of(p, line);

  for (uint32_t i = pai__line_find(p, line, from); i < len; i++) {
    pai_time at = steps[i].at > from ? steps[i].at : from;
    pai_time end = pai__plan_end(at, length);
    pai__amount least = pai__line_least(p, line, at, end);

    if (has_rest(&least, need) && pai__lots_sum(least.lots & some) >= gpus)
      return at;
  }
  return PAI__NEVER;
}

pai_time pai__line_earliest(const pai__plan *p, uint32_t line, pai_time from,
                            pai_time length, const pai__amount *need,
                            uint32_t gpus, uint64_t some)
{
  uint32_t len = pai__line_at(p, line)->len;
  const pai__step *steps = pai__steps_of(p, line);
  uint64_t one = some & UINT64_C(0x0101010101010101);
  pai_time at = PAI__NEVER;

  if (from == PAI__NEVER)
    return PAI__NEVER;
  if ((one & (one - 1)) != 0 && gpus != 0)
    return earliest_of_some(p, line, from, length, need, gpus, some);
  /* Of a single lot: compared where it stands. */
  for (uint32_t i = pai__line_find(p, line, from); i < len; i++) {
    if ((steps[i].free.lots & some) < one * gpus ||
        !has_rest(&steps[i].free, need)) {
      at = PAI__NEVER;
      continue;
    }
    if (at == PAI__NEVER)
      at = steps[i].at > from ? steps[i].at : from;
    if (i + 1 == len || steps[i + 1].at - at >= length)
      return at;
  }
  return PAI__NEVER;
}

pai_time pai__line_more(const pai__plan *p, uint32_t line, pai_time at)
{
  uint32_t len = pai__line_at(p, line)->len;
  const pai__step *steps = pai__steps_of(p, line);

  for (uint32_t i = pai__line_find(p, line, at) + 1; i < len; i++) {
    const pai__amount *old = &steps[i - 1].free, *new = &steps[i].free;

    if (pai__lots_least(old->lots, new->lots) != new->lots ||
        new->memory > old->memory || new->cpus > old->cpus ||
        new->ports > old->ports)
      return steps[i].at;
  }
  return PAI__NEVER;
}
