/* plan_line.c - lines of a plan: free amounts as steps over time; and rows of
 * earliest times */

#include "sched/policy/plan.h"

enum {
  STEP_WORDS = sizeof(pai__step) / sizeof(uint64_t),
  FIRST_STEPS = 16,
  MOST_STEPS = 1 << 22
};

int pai__line_begin(pai__plan *p, uint32_t line, const pai__plan_amount *free)
{
  uint32_t at = pai__pool_take(&p->steps, &p->alloc, FIRST_STEPS * STEP_WORDS);

  if (at == PAI__NONE)
    return PAI_ENOMEM;
  *pai__line_at(p, line) = (pai__plan_line){ at, 1, FIRST_STEPS };
  pai__steps_of(p, line)[0] = (pai__step){ p->now, *free };
  return PAI_OK;
}

static int reserve(pai__plan *p, uint32_t line)
{
  pai__plan_line old = *pai__line_at(p, line);
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
  *pai__line_at(p, line) = (pai__plan_line){ at, old.len, old.cap * 2 };
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

/* Returns the step that begins at a time, after splitting one if needed; there
 * must be memory for it. */
static uint32_t split(pai__plan *p, uint32_t line, pai_time at)
{
  uint32_t i = pai__line_find(p, line, at);
  pai__step *steps = pai__steps_of(p, line);
  pai__plan_line *l = pai__line_at(p, line);

  if (steps[i].at == at)
    return i;
  memmove(steps + i + 1, steps + i, (l->len - i) * sizeof(*steps));
  l->len++;
  steps[++i].at = at;
  return i;
}

static bool is_same(const pai__plan_amount *a, const pai__plan_amount *b)
{
  return a->groups == b->groups && a->memory == b->memory &&
         a->cpu_millis == b->cpu_millis && a->ports == b->ports;
}

/* Removes a step that equals the one before it. */
static void join(pai__plan *p, uint32_t line, uint32_t i)
{
  pai__step *steps = pai__steps_of(p, line);
  pai__plan_line *l = pai__line_at(p, line);

  if (i == 0 || i >= l->len || !is_same(&steps[i - 1].free, &steps[i].free))
    return;
  l->len--;
  memmove(steps + i, steps + i + 1, (l->len - i) * sizeof(*steps));
}

int pai__line_change(pai__plan *p, uint32_t line, pai_time a, pai_time b,
                     const pai__plan_amount *amount, int sign)
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
    pai__plan_amount *free = &steps[i].free;

    free->groups += sign > 0 ? amount->groups : -amount->groups;
    free->memory += sign * amount->memory;
    free->cpu_millis += sign * amount->cpu_millis;
    free->ports += sign * amount->ports;
  }
  join(p, line, end);
  join(p, line, first);
  return PAI_OK;
}

/* --- queries -------------------------------------------------------------- */

pai__plan_amount pai__line_least(const pai__plan *p, uint32_t line, pai_time a,
                                 pai_time b)
{
  uint32_t i = pai__line_find(p, line, a), len = pai__line_at(p, line)->len;
  const pai__step *steps = pai__steps_of(p, line);
  pai__plan_amount least = steps[i].free;

  while (++i < len && steps[i].at < b) {
    const pai__plan_amount *free = &steps[i].free;

    least.groups = pai__plan_groups_least(least.groups, free->groups);
    least.memory = free->memory < least.memory ? free->memory : least.memory;
    least.cpu_millis = free->cpu_millis < least.cpu_millis ? free->cpu_millis
                                                           : least.cpu_millis;
    least.ports = free->ports < least.ports ? free->ports : least.ports;
  }
  return least;
}

static bool has_rest(const pai__plan_amount *free,
                     const pai__plan_amount *need)
{
  return (need->memory == 0 || free->memory >= need->memory) &&
         (need->cpu_millis == 0 || free->cpu_millis >= need->cpu_millis) &&
         (need->ports == 0 || free->ports >= need->ports);
}

/* For several GPU groups: the same GPUs must be free all the time. */
static pai_time earliest_of_some(const pai__plan *p, uint32_t line,
                                 pai_time from, pai_time length,
                                 const pai__plan_amount *need, uint32_t gpus,
                                 uint64_t some)
{
  uint32_t len = pai__line_at(p, line)->len;
  const pai__step *steps = pai__steps_of(p, line);

  for (uint32_t i = pai__line_find(p, line, from); i < len; i++) {
    pai_time at = steps[i].at > from ? steps[i].at : from;
    pai_time end = pai__plan_end(at, length);
    pai__plan_amount least = pai__line_least(p, line, at, end);

    if (has_rest(&least, need) &&
        pai__plan_groups_sum(least.groups & some) >= gpus)
      return at;
  }
  return PAI__NEVER;
}

pai_time pai__line_earliest(const pai__plan *p, uint32_t line, pai_time from,
                            pai_time length, const pai__plan_amount *need,
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
  /* For a single GPU group, counts are compared in place. */
  for (uint32_t i = pai__line_find(p, line, from); i < len; i++) {
    if ((steps[i].free.groups & some) < one * gpus ||
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
    const pai__plan_amount *old = &steps[i - 1].free, *new = &steps[i].free;

    if (pai__plan_groups_least(old->groups, new->groups) != new->groups ||
        new->memory > old->memory || new->cpu_millis > old->cpu_millis ||
        new->ports > old->ports)
      return steps[i].at;
  }
  return PAI__NEVER;
}

/* --- rows of times -------------------------------------------------------- */

uint32_t pai__plan_row(pai__plan *p, pai__row row, uint32_t n)
{
  uint32_t i;

  if (pai__flat_reserve(&p->rows, &p->alloc, n) < 0)
    return PAI__NONE;
  row.at = p->rows.len;
  i = pai__lookup_intern(&p->row_of, &p->row_list, &p->alloc, &row,
                         PAI__LEN(row.like));
  if (i == PAI__NONE)
    return PAI__NONE;
  row = ((pai__row *)p->row_list.data)[i];
  if (row.at == p->rows.len) { /* it is new */
    (void)pai__flat_push(&p->rows, n);
    for (i = 0; i < n; i++)
      pai__row_at(p, row.at)[i] = p->now;
  }
  return row.at;
}

void pai__plan_forget_rows(pai__plan *p)
{
  p->rows.len = p->row_list.len = 0;
  pai__lookup_clear(&p->row_of);
}
