/* cores_shared.c - CPUs of tasks that ask for fractions */
#include "platform/place/cores_shared.h"

#include "base/text/milli.h"

enum { CPU = 1000 };

static uint32_t count(const pai__cpus *cpus)
{
  return pai__bits_count(cpus->at, PAI__LEN(cpus->at));
}

/* Returns a task's thousandths of each of n CPUs. */
static uint32_t part_of(uint64_t millis, uint32_t n)
{
  return (uint32_t)((millis + n - 1) / n);
}

uint32_t pai__shared_more(const pai__shared_cpus *s, uint64_t millis)
{
  uint64_t own = pai__milli_up(millis),
           all = pai__milli_up(s->millis + millis);
  uint64_t need = own > all ? own : all, has = count(&s->set);

  if (need > PAI__MAX_CPUS)
    need = PAI__MAX_CPUS;
  return need > has ? (uint32_t)(need - has) : 0;
}

/* Adds the fullest CPU with room for `part`, the lowest of equals. */
static bool choose_one(pai__cpus *out, const pai__shared_cpus *s,
                       const pai__cpus *of, uint32_t part)
{
  uint32_t best = PAI__MAX_CPUS;

  for (uint32_t cpu = 0; pai__cpus_next(of, &cpu); cpu++)
    if (!pai__bits_has(out->at, PAI__LEN(out->at), cpu) &&
        s->load[cpu] + part <= CPU &&
        (best == PAI__MAX_CPUS || s->load[cpu] > s->load[best]))
      best = cpu;
  if (best == PAI__MAX_CPUS)
    return false;
  pai__bits_set(out->at, best, best);
  return true;
}

bool pai__shared_choose(pai__cpus *out, const pai__shared_cpus *s,
                        const pai__cpus *more, uint64_t millis)
{
  uint64_t n = pai__milli_up(millis);
  pai__cpus of;

  for (size_t i = 0; i < PAI__LEN(of.at); i++)
    of.at[i] = s->set.at[i] | more->at[i];
  memset(out, 0, sizeof(*out));
  if (n <= count(&of)) {
    uint32_t part = part_of(millis, (uint32_t)n);

    while (n > 0 && choose_one(out, s, &of, part))
      n--;
  }
  if (n > 0)
    *out = of;
  return count(out) > 0;
}

void pai__shared_add(pai__shared_cpus *s, const pai__cpus *cpus,
                     uint64_t millis)
{
  uint32_t n = count(cpus);

  for (uint32_t cpu = 0; pai__cpus_next(cpus, &cpu); cpu++) {
    pai__bits_set(s->set.at, cpu, cpu);
    s->load[cpu] += part_of(millis, n);
    s->tasks[cpu]++;
  }
  s->millis += millis;
}

void pai__shared_drop(pai__shared_cpus *s, pai__cpus *cpus, uint64_t millis)
{
  uint32_t n = count(cpus);

  for (uint32_t cpu = 0; pai__cpus_next(cpus, &cpu); cpu++) {
    uint64_t bit = UINT64_C(1) << cpu % 64;

    s->load[cpu] -= part_of(millis, n);
    if (--s->tasks[cpu] == 0)
      s->set.at[cpu / 64] &= ~bit;
    else
      cpus->at[cpu / 64] &= ~bit;
  }
  s->millis -= millis;
}
