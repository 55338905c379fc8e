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

typedef struct priority {
  pai__plain plain;
  int place;
  bool preempt; /* the less important are stopped */
  bool strict;  /* nobody overtakes in a virtual cluster */
} priority;

/* One decision. */
typedef struct turn {
  const priority *p;
  bool gives;     /* somebody may be able to do with fewer tasks */
  bool stops;     /* somebody stops already */
  int32_t lowest; /* priority of those that have a place */
} turn;

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

/* 1: it started; 0: it waits, for others to make room if it has claimed it. */
static bool has_claimed(const pai_sched *s, uint32_t req)
{
  return pai__why_of(s, req)->lack == PAI_LACK_VICTIMS;
}

static int try_one(pai_sched *s, uint32_t req, turn *t)
{
  int place = t->p->place;
  pai__ask ask = { .req = req, .strategy = place };
  bool claimed = false;
  int rc = pai__try(s, req, place, false);

  if (rc != 0 || !t->p->preempt)
    return rc;
  if (t->gives)
    rc = pai__shrink_for(s, &ask, &claimed);
  if (rc != 0 || claimed ||
      (!t->stops && pai__req_at(s, req)->priority <= t->lowest))
    t->stops |= claimed;
  else if ((rc = pai__try_over(s, req, place, false)) == 0)
    t->stops |= has_claimed(s, req);
  return rc;
}

/* --- all ------------------------------------------------------------------ */

/* 1: all of it that may begin has; 0: something has no room. */
static int try_all(pai_sched *s, uint32_t req, turn *t)
{
  int rc = 1;

  while (rc == 1 && pai__req_waiting(pai__req_at(s, req)) != 0 &&
         pai__req_lack(s, pai__req_at(s, req)) == PAI_LACK_NOTHING)
    rc = try_one(s, req, t);
  return rc;
}

static int walk(pai_sched *s, turn *t, pai__flat *queue, uint32_t *heads)
{
  int rc = PAI_OK;

  for (uint32_t i = 0; i < queue->len && rc >= 0; i++) {
    uint32_t req = pai__entry_at(queue, i)->req;
    uint32_t *head = &heads[pai__req_at(s, req)->tenant];

    if (*head != PAI__NONE) {
      pai__refuse_turn(s, req, *head);
      continue;
    }
    rc = try_all(s, req, t);
    if (rc == 0 && t->p->strict && !has_claimed(s, req))
      *head = req;
  }
  return rc < 0 ? rc : pai__grow_all(s);
}

static bool is_elastic(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);

  for (uint32_t i = 0; i < r->nwants; i++)
    if (pai__wants_of(s, r)[i].min_tasks < pai__wants_of(s, r)[i].tasks)
      return true;
  return false;
}

/* Looked at once, and not for each that waits: where no gang is elastic and
 * nobody less important has a place, which is usual, nobody has to be asked.
 * Who starts in this decision is no less important than those behind it. */
static turn look_around(const pai_sched *s, const priority *p,
                        const pai__flat *queue)
{
  turn t = { .p = p, .lowest = INT32_MAX };

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    int32_t weight;

    if (run->req == PAI__NONE)
      continue;
    weight = pai__req_at(s, run->req)->priority;
    t.gives = t.gives || is_elastic(s, run->req);
    t.stops = t.stops || run->state == PAI__RUN_STOPPING;
    t.lowest = weight < t.lowest ? weight : t.lowest;
  }
  for (uint32_t i = 0; i < queue->len && !t.gives; i++)
    t.gives = is_elastic(s, ((const pai__entry *)queue->data + i)->req);
  return t;
}

static int decide(void *state, void *data, const pai_policy_host *host)
{
  pai_sched *s = host->sched;
  uint32_t n = s->park->ntenants;
  uint32_t *heads = pai__zalloc(&s->alloc, n * sizeof(*heads));
  pai__flat queue;
  turn t;
  int rc = PAI_ENOMEM;

  (void)data;
  pai__flat_init(&queue, sizeof(pai__entry));
  if (heads != NULL && pai__list_waiting(s, &queue) == PAI_OK) {
    memset(heads, 0xff, n * sizeof(*heads));
    pai__sort_waiting(&queue);
    t = look_around(s, state, &queue);
    rc = walk(s, &t, &queue, heads);
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
