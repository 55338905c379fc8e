/* walk.c - whom policies try, in which order, and how much of each starts */
#include "sched/walk.h"

#include "sched/guarantee.h"

#include <stdlib.h>

int pai__start_all(pai_sched *s, uint32_t req, const pai__how *how)
{
  int rc = 1;

  while (rc == 1 && pai__may_begin(s, req))
    rc = how->over ? pai__try_over(s, req, how->strategy, how->beyond_share)
                   : pai__try(s, req, how->strategy, how->beyond_share);
  return rc;
}

/* --- the queue ------------------------------------------------------------ */

int pai__list_waiting(const pai_sched *s, pai__flat *list)
{
  uint32_t req;

  if (pai__flat_reserve(list, &s->alloc, s->m.nqueued) < 0)
    return PAI_ENOMEM;
  for (req = pai__next_waiting(s, PAI__NONE); req != PAI__NONE;
       req = pai__next_waiting(s, req)) {
    const pai__req *r = pai__req_at(s, req);

    *pai__entry_at(list, pai__flat_push(list, 1)) =
      (pai__entry){ .turn = r->turn, .priority = r->priority, .req = req };
  }
  return PAI_OK;
}

static int by_group(const void *a, const void *b)
{
  const pai__entry *x = a, *y = b;

  if (x->group != y->group)
    return x->group < y->group ? -1 : 1;
  if (x->priority != y->priority)
    return x->priority > y->priority ? -1 : 1;
  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

void pai__sort_waiting(pai__flat *list)
{
  if (list->len != 0)
    qsort(list->data, list->len, list->size, by_group);
}

uint32_t pai__refuse_behind(pai_sched *s, const pai__flat *list, uint32_t at,
                            uint32_t end)
{
  const pai__entry *head = pai__entry_at(list, at);

  for (at++; at < end; at++) {
    const pai__entry *e = pai__entry_at(list, at);

    if (head->priority >= 0 && e->priority < 0)
      break;
    pai__refuse_turn(s, e->req, head->req);
  }
  return at;
}

uint64_t pai__gpus_wanted(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *w = pai__wants_of(s, r);
  uint64_t gpus = 0;

  for (uint32_t i = 0; i < r->nwants; i++)
    gpus += (uint64_t)w[i].tasks * w[i].gpus;
  return gpus;
}

/* --- growing -------------------------------------------------------------- */

typedef struct grower {
  uint64_t order;
  uint32_t run;
} grower;

static int by_order(const void *a, const void *b)
{
  const grower *x = a, *y = b;

  return x->order < y->order ? -1 : x->order > y->order;
}

static uint32_t tasks_of(const pai_sched *s, const pai__run *run,
                         uint32_t want)
{
  const pai__slot *slots = pai__slots_of(s, run);
  uint32_t n = 0;

  for (uint32_t i = 0; i < run->tasks; i++)
    n += slots[i].want == want;
  return n;
}

static bool may_grow(const pai_sched *s, const pai__run *run)
{
  const pai__req *r;
  const pai__want *w;
  uint32_t tasks = 0;

  if (run->req == PAI__NONE || run->leaving != 0 ||
      (run->state != PAI__RUN_PLACED && run->state != PAI__RUN_STARTED))
    return false;
  r = pai__req_at(s, run->req);
  w = pai__wants_of(s, r);
  for (uint32_t i = 0; i < r->nwants; i++)
    tasks += w[i].tasks;
  return run->tasks < tasks;
}

/* Each want to the most there is room for. */
static int grow(pai_sched *s, uint32_t run)
{
  uint32_t nwants = pai__req_at(s, pai__run_at(s, run)->req)->nwants;

  for (uint32_t want = 0; want < nwants; want++) {
    uint32_t have = tasks_of(s, pai__run_at(s, run), want);
    uint32_t high =
      pai__wants_of(s, pai__req_at(s, pai__run_at(s, run)->req))[want].tasks;

    for (int rc = 0; high > have && rc == 0; high = have + (high - have) / 2) {
      rc = pai__resize(s, run, want, high);
      if (rc < 0)
        return rc;
    }
  }
  return PAI_OK;
}

/* With more tasks a gang may go beyond what is guaranteed, and who stops for
 * somebody will wait for what it took. */
static bool may_all_grow(const pai_sched *s)
{
  if (s->keeping || pai__next_waiting(s, PAI__NONE) != PAI__NONE)
    return false;
  for (uint32_t i = 0; pai__guarantee_counts(s) && i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req != PAI__NONE &&
        (run->state == PAI__RUN_CLAIMED || (run->state == PAI__RUN_STOPPING &&
                                            run->cause == PAI_STOP_PREEMPTED)))
      return false;
  }
  return true;
}

int pai__grow_all(pai_sched *s)
{
  pai__flat list;
  int rc = PAI_OK;

  if (!may_all_grow(s))
    return PAI_OK;
  pai__flat_init(&list, sizeof(grower));
  for (uint32_t i = 0; i < s->runs.len && rc == PAI_OK; i++)
    if (may_grow(s, pai__run_at(s, i))) {
      rc = pai__flat_reserve(&list, &s->alloc, 1);
      if (rc == PAI_OK)
        ((grower *)list.data)[pai__flat_push(&list, 1)] =
          (grower){ pai__run_at(s, i)->order, i };
    }
  if (list.len != 0)
    qsort(list.data, list.len, sizeof(grower), by_order);
  for (uint32_t i = 0; i < list.len && rc == PAI_OK; i++)
    rc = grow(s, ((grower *)list.data)[i].run);
  pai__flat_dispose(&list, &s->alloc);
  return rc;
}
