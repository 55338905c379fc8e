/*
 * policy_priority.c - priority policy: highest priority first, with preemption
 *
 * A request without room starts with its minimum of tasks; else elastic gangs
 * give up tasks; else runs of lower priority stop.  When no request waits,
 * elastic gangs grow.
 */
#include "sched/policy/victims.h"
#include "sched/policy/waiters.h"

typedef struct priority {
  pai__plain plain;
  bool preempt; /* stop runs of lower priority */
  bool strict;  /* no overtaking in a virtual cluster */
} priority;

/* State of one decision. */
typedef struct turn {
  const priority *p;
  uint32_t *heads; /* by virtual cluster: not to be overtaken, or PAI__NONE */
  bool gives;      /* some gang may run with fewer tasks */
  bool stops;      /* some run is stopping */
  int32_t lowest;  /* lowest priority of a run */
} turn;

/* --- one instance --------------------------------------------------------- */

/* True if the request waits for victims whose place it has claimed. */
static bool has_claimed(const pai_sched *s, uint32_t req)
{
  return pai__sched_reason_of(s, req)->lack == PAI_LACK_VICTIMS;
}

static int try_one(pai_sched *s, uint32_t req, turn *t)
{
  int place = t->p->plain.place;
  pai__ask ask = { .req = req, .strategy = place };
  bool claimed = false;
  int rc = pai__try(s, req, place, false);

  if (rc != 0 || !t->p->preempt)
    return rc;
  if (t->gives)
    rc = pai__shrink_for(s, &ask, PAI__GIVERS_LOWER, &claimed);
  if (rc != 0 || claimed ||
      (!t->stops && pai__req_at(s, req)->priority <= t->lowest))
    t->stops |= claimed;
  else if ((rc = pai__try_over(s, req, place, false)) == 0)
    t->stops |= has_claimed(s, req);
  return rc;
}

/* --- all requests --------------------------------------------------------- */

/* Returns 1 if all instances that may begin have started; 0 if one has no
 * room; or a code. */
static int try_all(void *ctx, pai_sched *s, uint32_t req)
{
  turn *t = ctx;
  uint32_t *head = &t->heads[pai__req_at(s, req)->vc_index];
  int rc = 1;

  if (*head != PAI__NONE) {
    pai__refuse_turn(s, req, *head);
    return 0;
  }
  while (rc == 1 && pai__may_begin(s, req))
    rc = try_one(s, req, t);
  if (rc == 0 && t->p->strict && !has_claimed(s, req))
    *head = req;
  return rc;
}

/* Checks once, not for each request, whether any run could make room.  Usually
 * no gang is elastic and no run has a lower priority.  Runs started in this
 * decision have no lower priority than the requests behind them. */
static void look_around(const pai_sched *s, turn *t)
{
  t->lowest = INT32_MAX;
  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    int32_t weight;

    if (run->req == PAI__NONE)
      continue;
    weight = pai__req_at(s, run->req)->priority;
    t->gives = t->gives || pai__req_is_elastic(s, pai__req_at(s, run->req));
    t->stops = t->stops || run->state == PAI__RUN_STOPPING;
    t->lowest = weight < t->lowest ? weight : t->lowest;
  }
}

/* True if no run can be asked to make room for any waiting request. */
static bool is_calm(const turn *t, const pai__waiters *w)
{
  uint32_t head = pai__waiters_head(w);

  return !t->p->preempt || head == PAI__NONE ||
         (!t->gives && !t->stops &&
          pai__waiter_at(w, head)->priority <= t->lowest);
}

static int decide(void *state, pai_sched *s)
{
  priority *p = state;
  pai__waiters *w = &p->plain.waiters;
  size_t size = s->cluster->nvcs * sizeof(uint32_t);
  turn t = { .p = p };
  int rc = pai__waiters_ready(w, s);
  bool alike = rc > 0 && !p->strict && !pai__has_reservations(s);

  if (rc >= 0)
    rc = pai__waiters_line_up(w, s);
  if (rc < 0)
    return rc;
  t.heads = pai__zalloc(&s->alloc, size);
  if (t.heads == NULL)
    return PAI_ENOMEM;
  memset(t.heads, 0xff, size);
  t.gives = w->elastic != 0;
  look_around(s, &t);
  rc = pai__waiters_walk(w, s, alike && is_calm(&t, w), try_all, &t);
  pai__free(&s->alloc, t.heads, size);
  return rc < 0 ? rc : pai__grow_all(s);
}

static const priority defaults = { .plain = { PAI__PLAIN_DEFAULTS },
                                   .preempt = true };

static const pai__field options[] = {
  PAI__FLAG_OPTION(priority, preempt),
  PAI__FLAG_OPTION(priority, strict),
  PAI__PLAIN_OPTIONS,
};

static const pai__plain_type type = { .defaults = &defaults,
                                      .size = sizeof(defaults),
                                      .options = options,
                                      .noptions = PAI__LEN(options),
                                      .alike = PAI__ALIKE_CLASS,
                                      .ranked = true,
                                      .decide = decide };

const pai_policy pai__policy_priority = {
  PAI__PLAIN_POLICY,
  .event = pai__plain_event,
  .name = "priority",
  .about = "the most important first, and others make room for it",
  .data = (void *)&type,
};
