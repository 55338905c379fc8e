/* submit.c - adding a request */

#include "sched/log/event.h"
#include "sched/queue.h"

#include <inttypes.h>

_Static_assert(sizeof(pai__req) <= 128,
               "there may be a million of those that wait");

_Static_assert((int)PAI_SCHED_CPUS == (int)PAI__MOST_CPUS &&
                 PAI__MOST_MILLI <= UINT32_MAX,
               "thousandths of the most CPUs fit into 32 bits");

/* --- making a request ----------------------------------------------------- */

static int check_want(const pai_want *w, size_t i, uint64_t *tasks,
                      pai_error **err)
{
  const char *what =
    w->tasks == 0                ? "no tasks"
    : w->min_tasks > w->tasks    ? "min_tasks above tasks"
    : w->gpus > INT32_MAX        ? "too many GPUs"
    : w->cpus > PAI_SCHED_CPUS   ? "more than 4294966 CPUs"
    : w->cpu_millis >= PAI__CPU  ? "cpu_millis above 999, which are a CPU more"
    : w->ports > PAI__MOST_PORTS ? "too many ports"
    : w->memory > PAI_ALLOCATION_MAX_MEMORY ? "too much memory"
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
    return pai__fail(err, PAI_EEXISTS, "request %" PRIu64 " already exists",
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

uint32_t pai__sched_vc_of(const pai_sched *s, const char *vc)
{
  return pai__sched_cluster_default(s->cluster, vc);
}

static int find_vc(const pai_sched *s, const pai_request *q, pai__req *r,
                   pai_error **err)
{
  r->vc_index = pai__sched_vc_of(s, q->vc);
  return r->vc_index != PAI__NONE ? PAI_OK : pai__missing_vc(s, q->vc, err);
}

static int add_name(pai_sched *s, const char *text, uint32_t *name)
{
  return pai__texts_add(&s->names, &s->alloc, text, name);
}

/* Adds the name of the next want.  Without any name there is no list. */
static int add_want_name(pai_sched *s, const char *text, uint32_t *list)
{
  uint64_t link;
  uint32_t name;

  if (add_name(s, text, &name) < 0)
    return PAI_ENOMEM;
  if (name == PAI__NONE && *list == PAI__NONE)
    return PAI_OK;
  link = (uint64_t)name << 32 | *list;
  *list =
    pai__lookup_intern(&s->name_list_at, &s->name_lists, &s->alloc, &link, 1);
  return *list != PAI__NONE ? PAI_OK : PAI_ENOMEM;
}

static int fill_want(pai_sched *s, const pai_want *w, pai__want *to,
                     uint32_t *names, pai_error **err)
{
  *to = (pai__want){ w->memory,
                     w->tasks,
                     w->min_tasks != 0 ? w->min_tasks : w->tasks,
                     w->gpus,
                     w->cpus * PAI__CPU + w->cpu_millis,
                     w->ports,
                     PAI__NONE,
                     PAI__NONE };
  if (w->type != NULL) {
    to->type = pai__sched_cluster_type(s->cluster, w->type);
    if (to->type == PAI__NONE && s->loading)
      to->type = PAI__NO_TYPE;
    if (to->type == PAI__NONE)
      return pai__missing_type(s, w->type, err);
  }
  return add_name(s, w->type, &to->type_name) < 0 ||
             add_want_name(s, w->name, names) < 0
           ? pai__oom(err)
           : PAI_OK;
}

static int fill_wants(pai_sched *s, const pai_request *q, pai__req *r,
                      pai_error **err)
{
  pai__want *list = pai__pool_at(&s->pool, r->wants);
  uint64_t tasks = 0;
  size_t step = q->wants->struct_size;
  int rc = PAI_OK;

  for (size_t i = 0; i < q->nwants && rc == PAI_OK; i++) {
    const pai_want *w = (const void *)((const char *)q->wants + i * step);
    pai_want copy;

    if (w->struct_size != sizeof(copy)) { /* from another version */
      rc = PAI__COPY_IN(&copy, w, pai_want, memory);
      w = &copy;
    }
    if (rc < 0) {
      (void)pai__fail(err, rc, "want %zu has no struct_size", i);
      return rc;
    }
    rc = check_want(w, i, &tasks, err);
    if (rc == PAI_OK)
      rc = fill_want(s, w, &list[i], &r->want_names, err);
  }
  return rc;
}

static int add_wants(pai_sched *s, const pai_request *q, pai__req *r,
                     pai_error **err)
{
  int rc;

  r->nwants = (uint32_t)q->nwants;
  r->wants = pai__pool_take(&s->pool, &s->alloc, pai__wants_words(r->nwants));
  if (r->wants == PAI__NONE)
    return pai__oom(err);
  rc = fill_wants(s, q, r, err);
  return rc == PAI_OK && pai__class_join(s, r) < 0 ? pai__oom(err) : rc;
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
  int rc = find_vc(s, q, r, err);

  r->id = q->id;
  r->priority = (int16_t)q->priority;
  r->duration = q->duration;
  r->limit = q->limit;
  r->instances = q->instances != 0 ? q->instances & PAI__INSTANCES : 1;
  r->at_once = q->at_once;
  r->held = q->held != 0;
  r->lazy = q->lazy != 0;
  r->runs = r->last_run = r->before = r->behind = r->name = PAI__NONE;
  r->class = r->wants = r->want_names = PAI__NONE;
  if (rc == PAI_OK &&
      (add_name(s, s->cluster->vcs[r->vc_index].name, &r->vc) < 0 ||
       add_name(s, q->user, &r->user) < 0 ||
       add_name(s, q->pin, &r->pin) < 0 ||
       add_name(s, q->within, &r->within) < 0 ||
       pai__req_set_name(s, r, q->name) < 0))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    rc = add_wants(s, q, r, err);
  if (rc == PAI_OK && add_after(s, q, r) < 0)
    rc = pai__oom(err);
  if (rc < 0)
    pai__req_give(s, r);
  return rc;
}

static uint32_t new_req(pai_sched *s)
{
  uint32_t i = s->m.free_req;

  if (i != PAI__NONE) {
    s->m.free_req = pai__req_at(s, i)->behind;
    return i;
  }
  if (pai__flat_reserve(&s->reqs, &s->alloc, 1) < 0 ||
      pai__flat_reserve(&s->reasons, &s->alloc,
                        s->reqs.len + 1 - s->reasons.len) < 0 ||
      pai__flat_reserve(&s->links, &s->alloc, 1) < 0)
    return PAI__NONE;
  i = pai__flat_push(&s->reqs, 1);
  (void)pai__flat_push(&s->links, 1);
  pai__req_at(s, i)->reason = PAI__NONE;
  return i;
}

/* Turns only grow, so a new request is the newest. */
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
  *r = (pai__req){ .submitted = now, .reason = PAI__NONE };
  rc = fill_request(s, q, r, err);
  if (rc < 0) {
    pai__req_drop(s, req);
    return rc;
  }
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
