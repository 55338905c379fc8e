/* event_change.c - events that change a request */
#include "sched/start.h"
#include "sched/log/event.h"
#include "sched/sched.h"
#include "sched/queue.h"

#include "base/findings.h"

#include <inttypes.h>

typedef struct changing {
  pai_sched *s;
  const pai_sched_event *e;
  pai__req *r;
  pai__want *want; /* a copy of the want of the event */
  pai_error **err;
} changing;

static int out_of_range(const changing *c, int64_t low, int64_t high)
{
  return pai__fail(c->err, PAI_EINVAL,
                   "\"%s\" is from %" PRId64 " to %" PRId64 ", not %" PRId64,
                   c->e->key, low, high, c->e->number);
}

static bool in_range(const changing *c, int64_t low, int64_t high)
{
  return c->e->number >= low && c->e->number <= high;
}

/* --- numbers -------------------------------------------------------------- */

static int set_priority(const changing *c)
{
  if (!in_range(c, PAI_SCHED_OPPORTUNISTIC, PAI_SCHED_MAX_PRIORITY))
    return out_of_range(c, PAI_SCHED_OPPORTUNISTIC, PAI_SCHED_MAX_PRIORITY);
  c->r->priority = (int16_t)c->e->number;
  return PAI_OK;
}

static int set_held(const changing *c)
{
  c->r->held = c->e->number != 0;
  return PAI_OK;
}

static int set_time(const changing *c, pai_time *time)
{
  if (!in_range(c, 0, PAI__LAST_TIME))
    return out_of_range(c, 0, PAI__LAST_TIME);
  *time = c->e->number;
  return PAI_OK;
}

static int set_duration(const changing *c)
{
  pai__ends_drop(c->s);
  return set_time(c, &c->r->duration);
}

static int set_limit(const changing *c)
{
  int rc = set_time(c, &c->r->limit);

  pai__ends_drop(c->s);
  for (uint32_t run = c->r->runs; run != PAI__NONE && rc == PAI_OK;
       run = pai__run_at(c->s, run)->next)
    pai__limit_set(c->s, pai__run_at(c->s, run));
  return rc;
}

static int set_at_once(const changing *c)
{
  if (!in_range(c, 0, PAI_SCHED_INSTANCES))
    return out_of_range(c, 0, PAI_SCHED_INSTANCES);
  c->r->at_once = (uint32_t)c->e->number;
  return PAI_OK;
}

static int set_instances(const changing *c)
{
  if (!in_range(c, c->r->instances, PAI_SCHED_INSTANCES))
    return out_of_range(c, c->r->instances, PAI_SCHED_INSTANCES);
  c->r->instances = (uint32_t)c->e->number & PAI__INSTANCES;
  return PAI_OK;
}

static int drop_after(const changing *c)
{
  pai__after *after = c->r->nafter != 0 ? pai__after_of(c->s, c->r) : NULL;

  for (uint32_t i = 0; i < c->r->nafter; i++)
    if (after[i].id == (uint64_t)c->e->number && after[i].kind != 0) {
      pai__req_unfollow(c->s, &after[i]);
      after[i].kind = 0;
      return PAI_OK;
    }
  return pai__fail(c->err, PAI_ENOTFOUND,
                   "request %" PRIu64 " does not wait for %" PRId64, c->r->id,
                   c->e->number);
}

/* --- wants ---------------------------------------------------------------- */

static int set_of_want(const changing *c, uint32_t *member, int64_t low,
                       int64_t high)
{
  if (!in_range(c, low, high))
    return out_of_range(c, low, high);
  *member = (uint32_t)c->e->number;
  return PAI_OK;
}

/* A rigid gang stays rigid. */
static int set_tasks(const changing *c)
{
  bool rigid = c->want->min_tasks == c->want->tasks;
  int64_t others = (int64_t)pai__req_tasks(c->s, c->r) - c->want->tasks;
  int rc = set_of_want(c, &c->want->tasks, 1, PAI_SCHED_TASKS - others);

  if (rc == PAI_OK && (rigid || c->want->min_tasks > c->want->tasks))
    c->want->min_tasks = c->want->tasks;
  return rc;
}

static int set_min_tasks(const changing *c)
{
  return set_of_want(c, &c->want->min_tasks, 1, c->want->tasks);
}

static int set_gpus(const changing *c)
{
  return set_of_want(c, &c->want->gpus, 0, PAI_SCHED_GPUS);
}

static int set_cpus(const changing *c)
{
  uint32_t whole = 0, millis = c->e->cpu_millis;
  int rc = set_of_want(c, &whole, 0, PAI_ALLOCATION_CPUS);

  if (rc == PAI_OK && millis >= PAI__CPU)
    rc = pai__fail(c->err, PAI_EINVAL,
                   "\"cpu_millis\" is from 0 to 999, not %u", millis);
  if (rc == PAI_OK)
    c->want->cpu_millis = whole * PAI__CPU + millis;
  return rc;
}

static int set_ports(const changing *c)
{
  return set_of_want(c, &c->want->ports, 0, PAI__MOST_PORTS);
}

static int set_memory(const changing *c)
{
  if (!in_range(c, 0, (int64_t)PAI_ALLOCATION_MAX_MEMORY))
    return out_of_range(c, 0, (int64_t)PAI_ALLOCATION_MAX_MEMORY);
  c->want->memory = (uint64_t)c->e->number;
  return PAI_OK;
}

static int set_type(const changing *c)
{
  uint32_t type = PAI__NONE;

  if (c->e->text != NULL) {
    type = pai__sched_cluster_type(c->s->cluster, c->e->text);
    if (type == PAI__NONE)
      return pai__missing_type(c->s, c->e->text, c->err);
  }
  c->want->type = type;
  return pai__texts_add(&c->s->names, &c->s->alloc, c->e->text,
                        &c->want->type_name);
}

/* --- texts ---------------------------------------------------------------- */

static int set_vc(const changing *c)
{
  uint32_t vc_index = pai__sched_vc_of(c->s, c->e->text);

  if (vc_index == PAI__NONE)
    return pai__missing_vc(c->s, c->e->text, c->err);
  c->r->vc_index = vc_index;
  return pai__texts_add(&c->s->names, &c->s->alloc,
                        c->s->cluster->vcs[vc_index].name, &c->r->vc);
}

static int set_pin(const changing *c)
{
  return pai__texts_add(&c->s->names, &c->s->alloc, c->e->text, &c->r->pin);
}

static int set_within(const changing *c)
{
  return pai__texts_add(&c->s->names, &c->s->alloc, c->e->text, &c->r->within);
}

static int set_name(const changing *c)
{
  return pai__req_set_name(c->s, c->r, c->e->text);
}

/* --- table of keys -------------------------------------------------------- */

enum { RUNS = 1, WANT = 2, PLACE = 4, TEXT = 8 };

static const struct {
  const char *key;
  int (*set)(const changing *c);
  int flags; /* RUNS: allowed while it runs; WANT: of a want; PLACE: may make
                the request impossible; TEXT: a text, else a number */
} keys[] = {
  { "after", drop_after, RUNS },
  { "at_once", set_at_once, RUNS },
  { "cpus", set_cpus, WANT | PLACE },
  { "duration", set_duration, RUNS },
  { "gpus", set_gpus, WANT | PLACE },
  { "held", set_held, RUNS },
  { "instances", set_instances, RUNS },
  { "limit", set_limit, RUNS },
  { "memory", set_memory, WANT | PLACE },
  { "min_tasks", set_min_tasks, WANT | PLACE },
  { "name", set_name, RUNS | TEXT },
  { "pin", set_pin, PLACE | TEXT },
  { "ports", set_ports, WANT | PLACE },
  { "priority", set_priority, RUNS | PLACE },
  { "tasks", set_tasks, WANT | PLACE },
  { "type", set_type, WANT | PLACE | TEXT },
  { "vc", set_vc, PLACE | TEXT },
  { "within", set_within, PLACE | TEXT },
};

static size_t find_key(const char *key)
{
  size_t i = 0;

  while (i < PAI__LEN(keys) && strcmp(keys[i].key, key) != 0)
    i++;
  return i;
}

static int no_such_key(const pai_sched *s, const char *key, pai_error **err)
{
  pai__names names;

  pai__names_init(&names, &s->alloc, key, strlen(key));
  for (size_t i = 0; i < PAI__LEN(keys); i++)
    pai__names_add(&names, keys[i].key, strlen(keys[i].key));
  (void)pai__fail(err, PAI_EINVAL, "a request has no \"%s\" to be changed",
                  key);
  pai__names_tell(&names, err, "there are");
  return PAI_EINVAL;
}

bool pai__change_is_text(const char *key)
{
  size_t i = find_key(key);

  return i < PAI__LEN(keys) && (keys[i].flags & TEXT) != 0;
}

bool pai__change_is_of_place(const char *key)
{
  size_t i = find_key(key);

  return i < PAI__LEN(keys) && (keys[i].flags & (PLACE | RUNS)) == PLACE;
}

/* Wants may not change while a run uses them: they are read again when it
 * ends. */
static int check(const changing *c, size_t key)
{
  if (c->r->active != 0 && !(keys[key].flags & RUNS))
    return pai__fail(c->err, PAI_EBUSY,
                     "\"%s\" of request %" PRIu64
                     " cannot be changed while an instance of it runs",
                     c->e->key, c->r->id);
  if ((keys[key].flags & WANT) && c->e->want >= c->r->nwants)
    return pai__fail(c->err, PAI_ENOTFOUND,
                     "request %" PRIu64 " has no want %" PRIu32, c->r->id,
                     c->e->want);
  return PAI_OK;
}

/* Puts the request into the class of what it asks for now. */
static int change_class(const changing *c, uint32_t req)
{
  pai_sched *s = c->s;
  uint32_t old = c->r->wants, class = c->r->class, n = c->r->nwants;
  uint32_t new = pai__pool_take(&s->pool, &s->alloc, pai__wants_words(n));
  pai__want *list;
  int rc;

  if (new == PAI__NONE)
    return pai__oom(c->err);
  list = pai__pool_at(&s->pool, new);
  memcpy(list, pai__pool_at(&s->pool, old), n * sizeof(*list));
  list[c->e->want < n ? c->e->want : 0] = *c->want;
  c->r->wants = new;
  if (pai__class_join(s, c->r) < 0) {
    pai__pool_give(&s->pool, new, pai__wants_words(n));
    return pai__oom(c->err);
  }
  rc = pai__req_check_possible(s, req, c->err);
  pai__class_leave(s, rc == PAI_OK ? class : c->r->class);
  return rc;
}

static int change(const changing *c, size_t key)
{
  pai__req old = *c->r;
  int rc = keys[key].set(c);

  if (rc == PAI_ENOMEM)
    (void)pai__oom(c->err);
  if (rc == PAI_OK && (keys[key].flags & PLACE))
    rc = change_class(c, pai__req_find(c->s, c->e->id));
  if (rc < 0 && (keys[key].flags & PLACE))
    *c->r = old;
  return rc;
}

int pai__on_change(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  uint32_t req = pai__req_find(s, e->id);
  changing c = { .s = s, .e = e, .err = err };
  pai__want want;
  uint32_t vc_index;
  size_t key;
  int rc;

  if (e->key == NULL)
    return pai__fail(err, PAI_EINVAL, "it does not say what is changed");
  if (req == PAI__NONE)
    return pai__fail(err, PAI_ENOTFOUND, "there is no request %" PRIu64,
                     e->id);
  key = find_key(e->key);
  if (key == PAI__LEN(keys))
    return no_such_key(s, e->key, err);
  c.r = pai__req_at(s, req);
  vc_index = c.r->vc_index;
  rc = check(&c, key);
  want = pai__wants_of(s, c.r)[e->want < c.r->nwants ? e->want : 0];
  c.want = &want;
  if (rc == PAI_OK)
    rc = change(&c, key);
  if (c.r->vc_index != vc_index)
    pai__queue_recount(s);
  s->needs_known = 0;
  if (rc == PAI_OK)
    pai__req_update(s, req);
  return rc;
}
