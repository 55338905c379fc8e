/*
 * policy_priority.c - the most important first, and the less important make
 * room for it
 *
 * Who finds no room starts with as few tasks as it is willing to; then others
 * give up tasks that they can do without; and then those of lower priority
 * stop.  What is left when nobody waits goes to gangs that would like more.
 */
#include "sched/shrink.h"
#include "sched/walk.h"

#include <stdlib.h>

typedef struct priority {
  pai__plain plain;
  int place;
  bool preempt; /* the less important are stopped */
  bool strict;  /* nobody overtakes in a virtual cluster */
} priority;

static const priority defaults = { .place = PAI_PLACE_TOPO, .preempt = true };

static const pai__option options[] = {
  { .key = "preempt",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(priority, preempt) },
  { .key = "strict",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(priority, strict) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(priority, place) },
};

static const pai__plain_type type = { &defaults, sizeof(defaults), options,
                                      PAI__LEN(options) };

/* --- one instance --------------------------------------------------------- */

/* As few tasks as it is willing to run with; NULL in *tasks: all of them. */
static int fewest_tasks(pai_sched *s, uint32_t req, uint32_t **tasks)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__want *w = pai__wants_of(s, r);
  bool elastic = false;

  *tasks = NULL;
  for (uint32_t i = 0; i < r->nwants; i++)
    elastic = elastic || w[i].min_tasks < w[i].tasks;
  if (!elastic)
    return PAI_OK;
  *tasks = pai__zalloc(&s->alloc, r->nwants * sizeof(**tasks));
  if (*tasks == NULL)
    return PAI_ENOMEM;
  for (uint32_t i = 0; i < r->nwants; i++)
    (*tasks)[i] = w[i].min_tasks;
  return PAI_OK;
}

static int try_fewer(pai_sched *s, const pai__ask *ask)
{
  pai__why why;
  uint32_t n;
  int rc = pai__fit(s, ask, &n, &why);

  if (rc <= 0)
    return rc;
  rc = pai__start(s, ask->req, n);
  return rc < 0 ? rc : 1;
}

typedef struct weight {
  uint64_t order;
  int32_t priority;
  uint32_t run;
} weight;

static int by_weight(const void *a, const void *b)
{
  const weight *x = a, *y = b;

  if (x->priority != y->priority)
    return x->priority < y->priority ? -1 : 1;
  return x->order > y->order ? -1 : x->order < y->order;
}

/* Room for as few tasks as it is willing to run with. */
static int try_fewer_over(pai_sched *s, const pai__ask *ask)
{
  int32_t important = pai__req_at(s, ask->req)->priority;
  size_t most = s->runs.len + 1;
  weight *list = pai__zalloc(&s->alloc, most * sizeof(*list));
  uint32_t *runs = pai__zalloc(&s->alloc, most * sizeof(*runs)), n = 0;
  int rc = PAI_ENOMEM;

  for (uint32_t i = 0; list != NULL && i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);

    if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED ||
        run->state == PAI__RUN_STOPPING ||
        pai__req_at(s, run->req)->priority >= important)
      continue;
    list[n++] = (weight){ run->order, pai__req_at(s, run->req)->priority, i };
  }
  if (list != NULL && runs != NULL) {
    qsort(list, n, sizeof(*list), by_weight);
    for (uint32_t i = 0; i < n; i++)
      runs[i] = list[i].run;
    rc = pai__try_without(s, ask, runs, n);
  }
  pai__free(&s->alloc, list, most * sizeof(*list));
  pai__free(&s->alloc, runs, most * sizeof(*runs));
  return rc;
}

/* 1: it started; 0: it waits, for others to make room if it has claimed it. */
static int make_room(pai_sched *s, uint32_t req, const priority *p,
                     const pai__ask *ask)
{
  bool claimed;
  int rc = pai__shrink_for(s, ask, &claimed);

  if (rc != 0 || claimed)
    return rc;
  return ask->tasks != NULL ? try_fewer_over(s, ask)
                            : pai__try_over(s, req, p->place, false);
}

static int try_one(pai_sched *s, uint32_t req, const priority *p)
{
  uint32_t nwants = pai__req_at(s, req)->nwants, *tasks;
  pai__ask ask = { .req = req, .strategy = p->place };
  int rc = pai__try(s, req, p->place, false);

  if (rc != 0)
    return rc;
  if (fewest_tasks(s, req, &tasks) < 0)
    return PAI_ENOMEM;
  ask.tasks = tasks;
  if (tasks != NULL)
    rc = try_fewer(s, &ask);
  if (rc == 0 && p->preempt)
    rc = make_room(s, req, p, &ask);
  pai__free(&s->alloc, tasks, nwants * sizeof(*tasks));
  return rc;
}

/* --- all ------------------------------------------------------------------ */

/* 1: all of it that may begin has; 0: something has no room. */
static int try_all(pai_sched *s, uint32_t req, const priority *p)
{
  int rc = 1;

  while (rc == 1 && pai__req_waiting(pai__req_at(s, req)) != 0 &&
         pai__req_lack(s, pai__req_at(s, req)) == PAI_LACK_NOTHING)
    rc = try_one(s, req, p);
  return rc;
}

static bool has_claimed(const pai_sched *s, uint32_t req)
{
  return pai__why_of(s, req)->lack == PAI_LACK_VICTIMS;
}

static int walk(pai_sched *s, const priority *p, pai__flat *queue,
                uint32_t *heads)
{
  int rc = PAI_OK;

  for (uint32_t i = 0; i < queue->len && rc >= 0; i++) {
    uint32_t req = pai__entry_at(queue, i)->req;
    uint32_t *head = &heads[pai__req_at(s, req)->tenant];

    if (*head != PAI__NONE) {
      pai__refuse_turn(s, req, *head);
      continue;
    }
    rc = try_all(s, req, p);
    if (rc == 0 && p->strict && !has_claimed(s, req))
      *head = req;
  }
  return rc < 0 ? rc : pai__grow_all(s);
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai_sched *s = host->sched;
  uint32_t n = s->park->ntenants;
  uint32_t *heads = pai__zalloc(&s->alloc, n * sizeof(*heads));
  pai__flat queue;
  int rc = PAI_ENOMEM;

  (void)data;
  pai__flat_init(&queue, sizeof(pai__entry));
  if (heads != NULL && pai__list_waiting(s, &queue) == PAI_OK) {
    memset(heads, 0xff, n * sizeof(*heads));
    pai__sort_waiting(&queue);
    rc = walk(s, state, &queue, heads);
  }
  pai__flat_dispose(&queue, &s->alloc);
  pai__free(&s->alloc, heads, n * sizeof(*heads));
  return rc;
}

const pai_policy pai__policy_priority = {
  PAI__PLAIN_POLICY,
  .name = "priority",
  .about = "the most important first, and others make room for it",
  .data = (void *)&type,
  .decide = decide,
};
