/*
 * policy_priority.c - the most important first, and the less important make
 * room for it
 *
 * Who finds no room starts with as few tasks as it is willing to; then others
 * give up tasks that they can do without; and then those of lower priority
 * stop.  What is left when nobody waits goes to gangs that would like more.
 */
#include "sched/shrink.h"
#include "sched/waiters.h"
#include "sched/walk.h"

typedef struct priority {
  pai__plain plain;
  int place;
  bool preempt; /* the less important are stopped */
  bool strict;  /* nobody overtakes in a virtual cluster */
  bool reclaim;
  int64_t reserve_after;
  pai__waiters waiters;
} priority;

/* One decision. */
typedef struct turn {
  const priority *p;
  bool gives;     /* somebody may be able to do with fewer tasks */
  bool stops;     /* somebody stops already */
  int32_t lowest; /* priority of those that have a place */
} turn;

static const priority defaults = { .place = PAI_PLACE_TOPO,
                                   .preempt = true,
                                   .reclaim = true,
                                   .reserve_after = PAI__RESERVE_AFTER };

static const pai__option options[] = {
  { .key = "preempt",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(priority, preempt) },
  { .key = "strict",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(priority, strict) },
  { .key = "reclaim",
    .kind = PAI__OPTION_FLAG,
    .offset = offsetof(priority, reclaim) },
  { .key = "place",
    .kind = PAI__OPTION_PLACE,
    .offset = offsetof(priority, place) },
  PAI__RESERVE_OPTION(priority),
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
    rc = pai__shrink_for(s, &ask, PAI__GIVERS_LOWER, &claimed);
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

/* Looked at once, and not for each that waits: where no gang is elastic and
 * nobody less important has a place, which is usual, nobody has to be asked.
 * Who starts in this decision is no less important than those behind it.  Of
 * those that wait it is told. */
static turn look_around(const pai_sched *s, const priority *p, bool gives)
{
  turn t = { .p = p, .gives = gives, .lowest = INT32_MAX };

  for (uint32_t i = 0; i < s->runs.len; i++) {
    const pai__run *run = pai__run_at(s, i);
    int32_t weight;

    if (run->req == PAI__NONE)
      continue;
    weight = pai__req_at(s, run->req)->priority;
    t.gives = t.gives || pai__req_is_elastic(s, pai__req_at(s, run->req));
    t.stops = t.stops || run->state == PAI__RUN_STOPPING;
    t.lowest = weight < t.lowest ? weight : t.lowest;
  }
  return t;
}

static bool has_elastic(const pai_sched *s, const pai__flat *queue)
{
  uint32_t i = 0;

  while (i < queue->len &&
         !pai__req_is_elastic(
           s, pai__req_at(s, ((const pai__entry *)queue->data + i)->req)))
    i++;
  return i < queue->len;
}

static int decide_each(const priority *p, pai_sched *s)
{
  uint32_t n = s->park->ntenants;
  uint32_t *heads = pai__zalloc(&s->alloc, n * sizeof(*heads));
  pai__flat queue;
  turn t;
  int rc = PAI_ENOMEM;

  pai__flat_init(&queue, sizeof(pai__entry));
  if (heads != NULL && pai__list_waiting(s, &queue) == PAI_OK) {
    memset(heads, 0xff, n * sizeof(*heads));
    pai__sort_waiting(&queue);
    t = look_around(s, p, has_elastic(s, &queue));
    rc = walk(s, &t, &queue, heads);
  }
  pai__flat_dispose(&queue, &s->alloc);
  pai__free(&s->alloc, heads, n * sizeof(*heads));
  return rc;
}

/* --- in lines ------------------------------------------------------------- */

/* 1: nobody may be asked to make room, and all stand in lines; 0; or
 * PAI_ENOMEM. */
static int line_up(priority *p, const pai_sched *s)
{
  pai__waiters *w = &p->waiters;
  uint32_t head;
  turn t;
  int rc =
    p->strict || pai__has_reservations(s) ? 0 : pai__waiters_ready(w, s);

  if (rc <= 0)
    return rc;
  if (pai__waiters_line_up(w, s) < 0)
    return PAI_ENOMEM;
  head = pai__waiters_head(w);
  if (!p->preempt || head == PAI__NONE)
    return 1;
  t = look_around(s, p, w->elastic != 0);
  return !t.gives && !t.stops && pai__waiter_at(w, head)->priority <= t.lowest;
}

/* --- the policy ----------------------------------------------------------- */

static int decide(void *state, void *data, const pai_policy_host *host)
{
  priority *p = state;
  int rc = line_up(p, host->sched);

  (void)data;
  if (rc < 0)
    return rc;
  if (rc == 0)
    return decide_each(p, host->sched);
  rc = pai__try_lines(host->sched, &p->waiters, p->place, false);
  return rc < 0 ? rc : pai__grow_all(host->sched);
}

static int on_event(void *state, void *data, const pai_policy_host *host,
                    const pai_sched_event *event)
{
  (void)data;
  pai__waiters_event(&((priority *)state)->waiters, host->sched, event);
  return PAI_OK;
}

/* What does not follow from the options alone. */
static void begin(priority *p, pai_sched *s)
{
  pai__waiters_init(&p->waiters, PAI__ALIKE_SHAPE);
  pai__policy_reclaims(s, p->reclaim, p->place);
  pai__policy_reserves(s, p->reserve_after, p->place, true);
}

static int open_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *text)
{
  int rc = pai__plain_open(state, data, host, cluster, text);

  if (rc == PAI_OK)
    begin(*state, host->sched);
  return rc;
}

static int load_it(void **state, void *data, const pai_policy_host *host,
                   const pai_cluster *cluster, const char *text,
                   const char *saved, size_t len)
{
  int rc = pai__plain_load(state, data, host, cluster, text, saved, len);

  if (rc == PAI_OK)
    begin(*state, host->sched);
  return rc;
}

static int clone_it(void **copy, const void *state, void *data,
                    const pai_policy_host *host)
{
  int rc = pai__plain_clone(copy, state, data, host);

  if (rc == PAI_OK)
    pai__waiters_init(&((priority *)*copy)->waiters, PAI__ALIKE_SHAPE);
  return rc;
}

static void close_it(void *state)
{
  priority *p = state;

  if (p != NULL)
    pai__waiters_dispose(&p->waiters, &p->plain.alloc);
  pai__plain_close(state);
}

const pai_policy pai__policy_priority = {
  .struct_size = sizeof(pai_policy),
  .version = PAI_POLICY_VERSION,
  .open = open_it,
  .close = close_it,
  .clone = clone_it,
  .save = pai__plain_save,
  .load = load_it,
  .event = on_event,
  .name = "priority",
  .about = "the most important first, and others make room for it",
  .data = (void *)&type,
  .decide = decide,
};
