/* claim.c - starting or claiming places that a policy has chosen */
#include "sched/start.h"
#include "sched/policy/victims.h"

#include "resource/bits.h"

#include <stdlib.h>

/* --- places that the policy chose ----------------------------------------- */

/* Checks the kind of GPUs.  Wants without a type get one kind: that of the
 * first, in *kind. */
static bool is_of_kind(const pai_sched *s, const pai__want *w,
                       const pai_task_place *p, uint32_t *kind)
{
  const uint64_t *kinds = pai__sched_sku_of(s->cluster, p->node)->kinds;
  uint32_t k = 0;

  if (w->type != PAI__NONE || w->gpus == 0)
    return true;
  while (k < s->cluster->nkinds && (p->gpus & ~kinds[k]) != 0)
    k++;
  if (*kind == PAI__NONE)
    *kind = k;
  return k < s->cluster->nkinds && k == *kind;
}

static bool is_wanted(const pai_sched *s, const pai__req *r,
                      const pai__want *w, const pai_task_place *p,
                      uint32_t *kind)
{
  uint32_t pin = PAI__NONE, lack;
  uint64_t may;

  if (p->node >= s->free_capacity.len || pai__bits_ones(p->gpus) != w->gpus)
    return false;
  if (r->pin != PAI__NONE) {
    pin =
      pai__sched_cluster_pin(s->cluster, pai__texts_text(&s->names, r->pin));
    if (pin == PAI__NONE)
      return false;
  }
  may = pai__want_gpus(s, w, PAI__NONE, pin, p->node, &lack);
  return lack == PAI_LACK_NOTHING && (p->gpus & ~may) == 0 &&
         is_of_kind(s, w, p, kind);
}

static int check_place(const pai_sched *s, const pai__req *r,
                       const pai__want *w, const pai_task_place *p,
                       bool claimed)
{
  const pai__free_capacity *capacity = pai__free_capacity_at(s, p->node);
  uint64_t held = pai__check_gpus(s, p->node);

  if (pai__req_node_lack(s, r, p->node) != PAI_LACK_NOTHING ||
      (p->gpus & (capacity->sick | capacity->promised)) != 0)
    return PAI_EBUSY;
  if (claimed) /* also refuses a GPU twice in one claim */
    return (p->gpus & ~(capacity->gpus | held)) != 0 ? PAI_EBUSY : PAI_OK;
  return (p->gpus & ~capacity->gpus) != 0 ||
             capacity->cpu_millis < w->cpu_millis ||
             capacity->memory < (int64_t)w->memory ||
             capacity->ports < (int32_t)w->ports
           ? PAI_EBUSY
           : PAI_OK;
}

int pai__take_places(pai_sched *s, uint32_t req, const pai_task_place *places,
                     size_t n, bool claimed)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *wants = pai__wants_of(s, r);
  uint32_t want = 0, in_want = 0, done = 0, kind = PAI__NONE;
  int rc = PAI_OK;

  if (places == NULL || n != pai__req_tasks(s, r))
    return PAI_EINVAL;
  s->slots.len = 0;
  if (pai__flat_reserve(&s->slots, &s->alloc, (uint32_t)n) < 0)
    return PAI_ENOMEM;
  for (size_t i = 0; i < n && rc == PAI_OK; i++) {
    pai_task_place p = { 0 };

    if (in_want == wants[want].tasks) {
      want++;
      in_want = 0;
    }
    in_want++;
    rc = PAI__COPY_IN(&p, (const char *)places + i * places->struct_size,
                      pai_task_place, nports);
    if (rc == PAI_OK && !is_wanted(s, r, &wants[want], &p, &kind))
      rc = PAI_EINVAL;
    if (rc == PAI_OK)
      rc = check_place(s, r, &wants[want], &p, claimed);
    if (rc < 0)
      break;
    ((pai__slot *)s->slots.data)[done++] =
      (pai__slot){ .gpus = p.gpus, .node = p.node, .want = want };
    pai__free_capacity_count(pai__free_capacity_touch(s, p.node), &wants[want],
                             p.gpus);
  }
  if (rc < 0)
    pai__unfit(s, r, done);
  return rc;
}

/* --- victims -------------------------------------------------------------- */

static bool overlaps(const pai_sched *s, const pai__run *run, uint32_t claimed)
{
  const pai__slot *slots = pai__slots_of(s, run);

  for (uint32_t i = 0; i < run->tasks; i++)
    for (uint32_t k = 0; k < claimed; k++)
      if (slots[i].node == ((pai__slot *)s->slots.data)[k].node &&
          (slots[i].gpus & ((pai__slot *)s->slots.data)[k].gpus) != 0)
        return true;
  return false;
}

/* Returns whether a claimed node has less than is claimed of it, GPUs apart. */
static bool is_short(const pai_sched *s, uint32_t node, uint32_t n)
{
  const pai__slot *slots = s->slots.data;
  uint32_t i = 0;

  while (i < n && slots[i].node != node)
    i++;
  return i < n &&
         !pai__free_capacity_settled(pai__free_capacity_at(s, node), 0);
}

static bool would_help(const pai_sched *s, const pai__run *run, uint32_t n)
{
  const pai__slot *slots = pai__slots_of(s, run);
  uint32_t i = 0;

  while (i < run->tasks && !is_short(s, slots[i].node, n))
    i++;
  return i < run->tasks;
}

typedef struct claiming {
  pai_sched *s;
  uint32_t req;
  uint32_t n; /* number of s->slots */
  pai__victim *list;
  uint32_t count;
} claiming;

/* Lists the runs that hold claimed GPUs: they stop.  Frees, on the copy, what
 * they and the stopping runs hold. */
static void list_holders(claiming *c)
{
  pai_sched *s = c->s;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
      continue;
    if (run->state != PAI__RUN_STOPPING) {
      if (!overlaps(s, run, c->n))
        continue;
      c->list[c->count++] = (pai__victim){ .order = run->order, .run = i };
    }
    pai__run_lift(s, i, true);
  }
  qsort(c->list, c->count, sizeof(*c->list), pai__victims_order);
}

/* Adds the least important runs on the claimed nodes, as few as are needed,
 * until there are enough CPUs, memory and ports.  Returns PAI_OK or
 * PAI_EBUSY. */
static int list_others(claiming *c)
{
  pai_sched *s = c->s;
  pai__victim *more = c->list + c->count;
  uint32_t n = 0, kept = 0;

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE && run->req != c->req &&
        run->state >= PAI__RUN_PLACED && run->state != PAI__RUN_STOPPING &&
        !overlaps(s, run, c->n) && would_help(s, run, c->n))
      more[n++] =
        (pai__victim){ .order = run->order,
                       .priority = pai__req_at(s, run->req)->priority,
                       .run = i,
                       .spared = true };
  }
  qsort(more, n, sizeof(*more), pai__victims_order);
  for (uint32_t i = 0; i < n; i++)
    if (would_help(s, pai__run_at(s, more[i].run), c->n)) {
      pai__run_lift(s, more[i].run, true);
      more[i].spared = false;
    }
  for (uint32_t i = 0; i < c->n; i++)
    if (is_short(s, ((pai__slot *)s->slots.data)[i].node, c->n))
      return PAI_EBUSY;
  for (uint32_t i = n; i-- > 0;)
    if (!more[i].spared)
      more[i].spared = pai__victim_may_stay(s, more[i].run);
  for (uint32_t i = 0; i < n; i++)
    if (!more[i].spared)
      more[kept++] = more[i];
  c->count += kept;
  return PAI_OK;
}

/* Finds the runs that have to stop.  Returns PAI_OK; PAI_EBUSY if the request
 * would exceed its share, or the nodes cannot have what is claimed; or
 * PAI_ENOMEM. */
static int find_victims(claiming *c)
{
  pai_sched *s = c->s;
  const pai__req *r = pai__req_at(s, c->req);
  pai__trial trial;
  int rc = pai__trial_begin(&trial, s);

  if (rc == PAI_OK) {
    list_holders(c);
    if (pai__req_is_bound(s, r, s->terms.lends || s->terms.own_shares) &&
        !pai__victims_keep_share(s, r, c->n))
      rc = PAI_EBUSY;
  }
  if (rc == PAI_OK)
    rc = list_others(c);
  pai__trial_end(&trial, s);
  return rc;
}

int pai__claim_over(pai_sched *s, uint32_t req, uint32_t n)
{
  claiming c = { .s = s, .req = req, .n = n };
  uint64_t by = pai__req_at(s, req)->id;
  size_t most = s->runs.len + 1;
  int rc = PAI_ENOMEM;

  c.list = pai__zalloc(&s->alloc, most * sizeof(*c.list));
  if (c.list != NULL)
    rc = find_victims(&c);
  if (rc == PAI_OK)
    rc = pai__flat_reserve(&s->decisions, &s->alloc, c.count + 1);
  if (rc < 0)
    pai__unfit(s, pai__req_at(s, req), n);
  else
    rc = pai__claim(s, req, n);
  for (uint32_t i = 0; rc == 0 && i < c.count; i++)
    rc = pai__stop(s, c.list[i].run, PAI_STOP_PREEMPTED, by);
  if (c.list != NULL)
    pai__free(&s->alloc, c.list, most * sizeof(*c.list));
  return rc;
}
