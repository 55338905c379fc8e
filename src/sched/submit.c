/* submit.c - what is asked for becomes a request */
#include "sched/missing.h"
#include "sched/queue.h"
#include "sched/wants.h"

#include <inttypes.h>

_Static_assert(sizeof(pai__req) <= 128,
               "there may be a million of those that wait");

/* --- what is wrong with it ------------------------------------------------ */

static int check_want(const pai_want *w, size_t i, uint64_t *tasks,
                      pai_error **err)
{
  const char *what = w->tasks == 0                ? "no tasks"
                     : w->min_tasks > w->tasks    ? "min_tasks above tasks"
                     : w->gpus > INT32_MAX        ? "too many GPUs"
                     : w->cpus > INT32_MAX        ? "too many CPUs"
                     : w->ports > PAI__MOST_PORTS ? "too many ports"
                     : w->memory > PAI_ALLOCATION_MAX_MEMORY
                       ? "too much memory"
                       : NULL;

  if (what != NULL)
    return pai__fail(err, PAI_EINVAL, "want %zu of the request has %s", i,
                     what);
  *tasks += w->tasks;
  if (*tasks > PAI_SCHED_TASKS)
    return pai__fail(err, PAI_ELIMIT, "a gang has at most %d tasks",
                     (int)PAI_SCHED_TASKS);
  return PAI_OK;
}

static int check_request(const pai_sched *s, const pai_request *q,
                         pai_error **err)
{
  if (q->id == 0)
    return pai__fail(err, PAI_EINVAL, "the id of a request is not 0");
  if (q->nwants == 0 || q->wants == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "the request wants nothing: it has no "
                     "wants");
  if (q->nafter != 0 && q->after == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "the request says how many it comes "
                     "after, but not which");
  if (pai__req_find(s, q->id) != PAI__NONE)
    return pai__fail(err, PAI_EEXISTS, "request %" PRIu64 " is there already",
                     q->id);
  if (q->priority < PAI_SCHED_OPPORTUNISTIC ||
      q->priority > PAI_SCHED_MAX_PRIORITY)
    return pai__fail(err, PAI_EINVAL,
                     "priority %d is not from -1, which is opportunistic, to "
                     "%d",
                     q->priority, (int)PAI_SCHED_MAX_PRIORITY);
  if (q->duration < 0 || q->limit < 0 || q->duration > PAI__LAST_TIME ||
      q->limit > PAI__LAST_TIME)
    return pai__fail(err, PAI_EINVAL,
                     "a duration and a limit are from 0 to %" PRId64,
                     PAI__LAST_TIME);
  if (q->instances > PAI_SCHED_INSTANCES || q->nwants > PAI_SCHED_TASKS)
    return pai__fail(err, PAI_ELIMIT, "a request has at most %d instances",
                     (int)PAI_SCHED_INSTANCES);
  for (size_t i = 0; i < q->nafter && !s->loading; i++)
    if (pai__req_find(s, q->after[i].id) == PAI__NONE ||
        q->after[i].kind < PAI_AFTER_OK || q->after[i].kind > PAI_AFTER_FAILED)
      return pai__fail(err, PAI_ENOTFOUND,
                       "request %" PRIu64 " is to come after %" PRIu64
                       ", which is not there",
                       q->id, q->after[i].id);
  return PAI_OK;
}

uint32_t pai__tenant_of(const pai_sched *s, const char *vc)
{
  uint32_t tenant = pai__park_tenant(s->park, vc != NULL ? vc : "default");

  return tenant == PAI__NONE && vc == NULL && s->park->ntenants == 1 ? 0
                                                                     : tenant;
}

static int find_tenant(const pai_sched *s, const pai_request *q, pai__req *r,
                       pai_error **err)
{
  r->tenant = pai__tenant_of(s, q->vc);
  return r->tenant != PAI__NONE ? PAI_OK : pai__missing_vc(s, q->vc, err);
}

static int add_name(pai_sched *s, const char *text, uint32_t *name)
{
  return pai__texts_add(&s->names, &s->alloc, text, name);
}

static int fill_want(pai_sched *s, const pai_want *w, pai__want *to,
                     pai_error **err)
{
  *to = (pai__want){
    w->memory, w->tasks,  w->min_tasks != 0 ? w->min_tasks : w->tasks,
    w->gpus,   w->cpus,   w->ports,
    PAI__NONE, PAI__NONE, PAI__NONE
  };
  if (w->type != NULL) {
    to->type = pai__park_type(s->park, w->type);
    if (to->type == PAI__NONE && s->loading)
      to->type = PAI__NO_TYPE;
    if (to->type == PAI__NONE)
      return pai__missing_type(s, w->type, err);
  }
  return add_name(s, w->type, &to->type_name) < 0 ||
             add_name(s, w->name, &to->name) < 0
           ? pai__oom(err)
           : PAI_OK;
}

static int fill_wants(pai_sched *s, const pai_request *q, pai__want *list,
                      pai_error **err)
{
  uint64_t tasks = 0;
  size_t step = q->wants->struct_size;
  int rc = PAI_OK;

  for (size_t i = 0; i < q->nwants && rc == PAI_OK; i++) {
    const pai_want *w = (const void *)((const char *)q->wants + i * step);
    pai_want copy;

    if (w->struct_size != sizeof(copy)) { /* of another version */
      rc = PAI__COPY_IN(&copy, w, pai_want, memory);
      w = &copy;
    }
    if (rc < 0)
      return pai__fail(err, rc, "want %zu has no struct_size", i);
    rc = check_want(w, i, &tasks, err);
    if (rc == PAI_OK)
      rc = fill_want(s, w, &list[i], err);
  }
  return rc;
}

/* Wants into the pool. */
static int add_wants(pai_sched *s, const pai_request *q, pai__req *r,
                     pai_error **err)
{
  uint32_t n = (uint32_t)q->nwants;
  pai__want few[PAI__FEW_WANTS];
  int rc;

  if (n <= PAI__FEW_WANTS) {
    rc = fill_wants(s, q, few, err);
    if (rc == PAI_OK && pai__wants_keep(s, few, n, &r->wants) < 0)
      rc = pai__oom(err);
    r->nwants = rc == PAI_OK ? n : 0;
    return rc;
  }
  if (pai__wants_take(s, n, &r->wants) < 0)
    return pai__oom(err);
  r->nwants = n;
  return fill_wants(s, q, pai__wants_of(s, r), err);
}

static int add_after(pai_sched *s, const pai_request *q, pai__req *r)
{
  pai__after *list;

  if (q->nafter == 0)
    return PAI_OK;
  r->after = pai__pool_take(&s->pool, &s->alloc,
                            pai__words_of(q->nafter * sizeof(*list)));
  if (r->after == PAI__NONE)
    return PAI_ENOMEM;
  r->nafter = (uint32_t)q->nafter;
  list = pai__after_of(s, r);
  for (size_t i = 0; i < q->nafter; i++) {
    list[i] = (pai__after){ q->after[i].id, (uint32_t)q->after[i].kind, 0 };
    if (pai__lookup_reserve(&s->followed, &s->alloc) < 0) {
      r->nafter = (uint32_t)i;
      pai__req_unfollow_all(s, r);
      r->nafter = (uint32_t)q->nafter;
      return PAI_ENOMEM;
    }
    pai__req_follow(s, q->after[i].id, 1);
  }
  return PAI_OK;
}

int pai__req_set_name(pai_sched *s, pai__req *r, const char *text)
{
  uint32_t at = PAI__NONE;

  if (text != NULL) {
    at = pai__pool_take(&s->pool, &s->alloc, pai__name_words(text));
    if (at == PAI__NONE)
      return PAI_ENOMEM;
    memcpy(pai__pool_at(&s->pool, at), text, strlen(text) + 1);
  }
  if (r->name != PAI__NONE)
    pai__pool_give(&s->pool, r->name, pai__name_words(pai__name_of(s, r)));
  r->name = at;
  return PAI_OK;
}

static int fill_request(pai_sched *s, const pai_request *q, pai__req *r,
                        pai_error **err)
{
  int rc = find_tenant(s, q, r, err);

  r->id = q->id;
  r->priority = (int16_t)q->priority;
  r->duration = q->duration;
  r->limit = q->limit;
  r->instances = q->instances != 0 ? q->instances & PAI__INSTANCES : 1;
  r->at_once = q->at_once;
  r->held = q->held != 0;
  r->lazy = q->lazy != 0;
  r->runs = r->last_run = r->before = r->behind = r->name = PAI__NONE;
  if (rc == PAI_OK)
    rc = add_wants(s, q, r, err);
  if (rc == PAI_OK &&
      (add_name(s, s->park->tenants[r->tenant].name, &r->vc) < 0 ||
       add_name(s, q->user, &r->user) < 0 ||
       add_name(s, q->pin, &r->pin) < 0 ||
       add_name(s, q->within, &r->within) < 0 ||
       pai__req_set_name(s, r, q->name) < 0 || add_after(s, q, r) < 0))
    rc = pai__oom(err);
  if (rc < 0)
    pai__req_give(s, r);
  return rc;
}

/* The index of a record that is not in use. */
static uint32_t new_req(pai_sched *s)
{
  uint32_t i = s->m.free_req;

  if (i != PAI__NONE) {
    s->m.free_req = pai__req_at(s, i)->behind;
    return i;
  }
  if (pai__flat_reserve(&s->reqs, &s->alloc, 1) < 0 ||
      pai__flat_reserve(&s->whys, &s->alloc, s->reqs.len + 1 - s->whys.len) <
        0 ||
      pai__flat_reserve(&s->links, &s->alloc, 1) < 0)
    return PAI__NONE;
  i = pai__flat_push(&s->reqs, 1);
  (void)pai__flat_push(&s->links, 1);
  pai__req_at(s, i)->why = PAI__NONE;
  return i;
}

/* Turns only grow: it comes behind all others. */
static void link_newest(pai_sched *s, uint32_t req)
{
  pai__link *links = s->links.data;

  links[req] = (pai__link){ s->m.newest, PAI__NONE };
  if (s->m.newest != PAI__NONE)
    links[s->m.newest].newer = req;
  else
    s->m.oldest = req;
  s->m.newest = req;
}

int pai__req_add(pai_sched *s, const pai_request *q, pai_time now,
                 pai_error **err)
{
  pai__req *r;
  uint32_t req;
  int rc = check_request(s, q, err);

  if (rc < 0)
    return rc;
  if (pai__req_reserve_id(s) < 0)
    return pai__oom(err);
  req = new_req(s);
  if (req == PAI__NONE)
    return pai__oom(err);
  r = pai__req_at(s, req);
  *r = (pai__req){ .submitted = now, .why = PAI__NONE };
  rc = fill_request(s, q, r, err);
  if (rc < 0) {
    pai__req_drop(s, req);
    return rc;
  }
  pai__req_set_shape(s, req);
  pai__req_add_id(s, req);
  rc = pai__req_check_possible(s, req, err);
  if (rc < 0) {
    pai__req_remove_id(s, req);
    pai__req_unfollow_all(s, r);
    pai__req_give(s, r);
    pai__req_drop(s, req);
    return rc;
  }
  r->turn = ++s->m.turns & PAI__TURNS;
  link_newest(s, req);
  s->m.nreqs++;
  pai__req_update(s, req);
  return PAI_OK;
}
