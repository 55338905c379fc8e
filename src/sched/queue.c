/* queue.c - requests, their instances, and who comes first */
#include "sched/queue.h"

#include "sched/fit.h"
#include "sched/shelf.h"

#include <inttypes.h>

uint32_t pai__req_find(const pai_sched *s, uint64_t id)
{
  return id == 0 ? PAI__NONE : pai__lookup_get(&s->by_id, id);
}

/* --- the queue ------------------------------------------------------------ */

static uint32_t *queued_of(const pai_sched *s, uint32_t tenant)
{
  return (uint32_t *)s->queued.data + tenant;
}

void pai__queue_recount(pai_sched *s)
{
  for (uint32_t i = 0; i < s->queued.len; i++)
    *queued_of(s, i) = 0;
  for (uint32_t i = s->m.first; i != PAI__NONE; i = pai__req_at(s, i)->behind)
    ++*queued_of(s, pai__req_at(s, i)->tenant);
}

uint32_t pai__queue_tenants(const pai_sched *s)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < s->queued.len; i++)
    n += *queued_of(s, i) != 0;
  return n;
}

static void unlink_req(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);

  *(r->before != PAI__NONE ? &pai__req_at(s, r->before)->behind
                           : &s->m.first) = r->behind;
  *(r->behind != PAI__NONE ? &pai__req_at(s, r->behind)->before : &s->m.last) =
    r->before;
  r->queued = 0;
  s->m.nqueued--;
  --*queued_of(s, r->tenant);
}

/* What comes back was among the first, and what is new is the last. */
static void link_req(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  uint32_t behind = PAI__NONE;

  if (s->m.last != PAI__NONE && pai__req_at(s, s->m.last)->turn > r->turn)
    for (behind = s->m.first; pai__req_at(s, behind)->turn < r->turn;)
      behind = pai__req_at(s, behind)->behind;
  r->behind = behind;
  r->before = behind != PAI__NONE ? pai__req_at(s, behind)->before : s->m.last;
  *(r->before != PAI__NONE ? &pai__req_at(s, r->before)->behind
                           : &s->m.first) = req;
  *(behind != PAI__NONE ? &pai__req_at(s, behind)->before : &s->m.last) = req;
  r->queued = 1;
  s->m.nqueued++;
  ++*queued_of(s, r->tenant);
}

uint32_t pai__req_lack(const pai_sched *s, const pai__req *r)
{
  const pai__after *after = r->nafter != 0 ? pai__after_of(s, r) : NULL;

  if (r->held)
    return PAI_LACK_RELEASE;
  for (uint32_t i = 0; i < r->nafter; i++)
    if (after[i].kind != 0)
      return PAI_LACK_AFTER;
  return r->at_once != 0 && r->active >= r->at_once ? PAI_LACK_THROTTLE
                                                    : PAI_LACK_NOTHING;
}

int pai__rule_keep(pai_sched *s, uint32_t tenant, const pai__rule *rule)
{
  if (s->rules.len == 0) {
    if (pai__flat_reserve(&s->rules, &s->alloc, s->park->ntenants) < 0)
      return PAI_ENOMEM;
    (void)pai__flat_push(&s->rules, s->park->ntenants);
  }
  ((pai__rule *)s->rules.data)[tenant] = *rule;
  return PAI_OK;
}

pai__why pai__req_why(const pai_sched *s, uint32_t req)
{
  const pai__req *r = pai__req_at(s, req);
  const pai__rule *rule = (const pai__rule *)s->rules.data + r->tenant;

  if (s->rules.len == 0 || rule->made != s->m.decided || !r->queued ||
      r->turn <= rule->first || r->turn > rule->last ||
      pai__req_lack(s, r) != PAI_LACK_NOTHING)
    return *pai__why_of(s, req);
  return (pai__why){ .lack = PAI_LACK_TURN,
                     .behind = rule->behind,
                     .node = PAI__NONE,
                     .text = PAI__NONE };
}

void pai__req_update(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  bool waits = !r->cancelled && pai__req_waiting(r) != 0;

  if (waits && !r->queued)
    link_req(s, req);
  else if (!waits && r->queued)
    unlink_req(s, req);
}

/* --- what it waits for ---------------------------------------------------- */

static void follow(pai_sched *s, uint64_t id, int more)
{
  uint32_t n = pai__lookup_get(&s->followed, id);

  if (n != PAI__NONE)
    pai__lookup_remove(&s->followed, id);
  n = (n != PAI__NONE ? n : 0) + (uint32_t)more;
  if (n != 0)
    pai__lookup_add(&s->followed, id, n);
}

void pai__req_unfollow(pai_sched *s, const pai__after *after)
{
  if (after->kind != 0 && !after->bad)
    follow(s, after->id, -1);
}

static void unfollow(pai_sched *s, const pai__req *r)
{
  const pai__after *after = pai__after_of(s, r);

  for (uint32_t i = 0; i < r->nafter; i++)
    pai__req_unfollow(s, &after[i]);
}

/* One that others wait for is done. */
static void tell_followers(pai_sched *s, const pai__req *done)
{
  bool well = done->failed == 0 && !done->cancelled;
  uint64_t id = done->id;

  if (pai__lookup_get(&s->followed, id) == PAI__NONE)
    return;
  for (uint32_t i = 0; i < s->reqs.len; i++) {
    pai__req *r = pai__req_at(s, i);
    pai__after *after =
      r->id != 0 && r->nafter != 0 ? pai__after_of(s, r) : NULL;

    for (uint32_t k = 0; after != NULL && k < r->nafter; k++)
      if (after[k].id == id && after[k].kind != 0 && !after[k].bad) {
        if (after[k].kind == PAI_AFTER_ANY ||
            (after[k].kind == PAI_AFTER_OK) == well)
          after[k].kind = 0;
        else
          after[k].bad = 1;
      }
  }
  pai__lookup_remove(&s->followed, id);
}

/* --- adding --------------------------------------------------------------- */

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
  PAI__CHECK_ARG_ERR(q->id != 0 && q->nwants != 0 && q->wants != NULL &&
                       (q->nafter == 0 || q->after != NULL),
                     err);
  if (pai__req_find(s, q->id) != PAI__NONE)
    return pai__fail(err, PAI_EEXISTS, "request %" PRIu64 " is there already",
                     q->id);
  if (q->priority < PAI_SCHED_OPPORTUNISTIC ||
      q->priority > PAI_SCHED_MAX_PRIORITY)
    return pai__fail(err, PAI_EINVAL,
                     "priority %d is not from -1, which is opportunistic, to "
                     "%d",
                     q->priority, (int)PAI_SCHED_MAX_PRIORITY);
  if (q->duration < 0 || q->limit < 0)
    return pai__fail(err, PAI_EINVAL, "durations are not negative");
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
  if (r->tenant != PAI__NONE)
    return PAI_OK;
  if (q->vc != NULL)
    (void)pai__fail(err, PAI_ENOTFOUND, "there is no virtual cluster '%s'",
                    q->vc);
  else
    (void)pai__fail(err, PAI_ENOTFOUND,
                    "the request names no virtual cluster, and none is called "
                    "'default'");
  pai__error_help(err, "one that is there: '%s'", s->park->tenants[0].name);
  return PAI_ENOTFOUND;
}

static int add_name(pai_sched *s, const char *text, uint32_t *name)
{
  return pai__texts_add(&s->names, &s->alloc, text, name);
}

/* Wants into the pool. */
static int add_wants(pai_sched *s, const pai_request *q, pai__req *r,
                     pai_error **err)
{
  uint64_t tasks = 0;
  size_t step = q->wants->struct_size;
  int rc = PAI_OK;

  r->wants = pai__pool_take(&s->pool, &s->alloc,
                            pai__words_of(q->nwants * sizeof(pai__want)));
  if (r->wants == PAI__NONE)
    return pai__oom(err);
  r->nwants = (uint32_t)q->nwants;
  for (size_t i = 0; i < q->nwants && rc == PAI_OK; i++) {
    pai__want *to = pai__wants_of(s, r) + i;
    pai_want w = { 0 };

    rc = PAI__COPY_IN(&w, (const char *)q->wants + i * step, pai_want, memory);
    if (rc < 0)
      return pai__fail(err, rc, "want %zu has no struct_size", i);
    rc = check_want(&w, i, &tasks, err);
    *to = (pai__want){
      w.memory,  w.tasks,   w.min_tasks != 0 ? w.min_tasks : w.tasks,
      w.gpus,    w.cpus,    w.ports,
      PAI__NONE, PAI__NONE, PAI__NONE
    };
    if (rc == PAI_OK && w.type != NULL) {
      to->type = pai__park_type(s->park, w.type);
      if (to->type == PAI__NONE && s->loading)
        to->type = PAI__NO_TYPE;
      if (to->type == PAI__NONE)
        return pai__fail(err, PAI_ENOTFOUND,
                         "want %zu is for '%s', and there are no such GPUs, "
                         "and no such SKU",
                         i, w.type);
    }
    if (rc == PAI_OK && (add_name(s, w.type, &to->type_name) < 0 ||
                         add_name(s, w.name, &to->name) < 0))
      rc = pai__oom(err);
  }
  return rc;
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
      unfollow(s, r);
      r->nafter = (uint32_t)q->nafter;
      return PAI_ENOMEM;
    }
    follow(s, q->after[i].id, 1);
  }
  return PAI_OK;
}

int pai__req_set_name(pai_sched *s, pai__req *r, const char *text)
{
  size_t size = text != NULL ? strlen(text) + 1 : 0;
  uint32_t at = 0;

  if (size != 0) {
    at = pai__pool_take(&s->pool, &s->alloc, pai__words_of(size));
    if (at == PAI__NONE)
      return PAI_ENOMEM;
    memcpy(pai__pool_at(&s->pool, at), text, size);
  }
  if (r->name_words != 0)
    pai__pool_give(&s->pool, r->name, r->name_words);
  r->name = at;
  r->name_words = pai__words_of(size);
  return PAI_OK;
}

static void give_parts(pai_sched *s, const pai__req *r)
{
  if (r->nwants != 0)
    pai__pool_give(&s->pool, r->wants,
                   pai__words_of(r->nwants * sizeof(pai__want)));
  if (r->nafter != 0)
    pai__pool_give(&s->pool, r->after,
                   pai__words_of(r->nafter * sizeof(pai__after)));
  if (r->name_words != 0)
    pai__pool_give(&s->pool, r->name, r->name_words);
}

static int fill_request(pai_sched *s, const pai_request *q, pai__req *r,
                        pai_error **err)
{
  int rc = find_tenant(s, q, r, err);

  r->id = q->id;
  r->priority = q->priority;
  r->duration = q->duration;
  r->limit = q->limit;
  r->instances = q->instances != 0 ? q->instances : 1;
  r->at_once = q->at_once;
  r->held = q->held != 0;
  r->lazy = q->lazy != 0;
  r->runs = r->last_run = r->before = r->behind = PAI__NONE;
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
    give_parts(s, r);
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
      pai__flat_reserve(&s->whys, &s->alloc, 1) < 0)
    return PAI__NONE;
  (void)pai__flat_push(&s->whys, 1);
  return pai__flat_push(&s->reqs, 1);
}

static void drop_req(pai_sched *s, uint32_t req)
{
  *pai__req_at(s, req) = (pai__req){ .behind = s->m.free_req };
  s->m.free_req = req;
}

int pai__req_add(pai_sched *s, const pai_request *q, pai_time now,
                 pai_error **err)
{
  pai__req r = { 0 };
  uint32_t req;
  int rc = check_request(s, q, err);

  if (rc < 0)
    return rc;
  if (pai__lookup_reserve(&s->by_id, &s->alloc) < 0)
    return pai__oom(err);
  req = new_req(s);
  if (req == PAI__NONE)
    return pai__oom(err);
  rc = fill_request(s, q, &r, err);
  if (rc < 0) {
    drop_req(s, req);
    return rc;
  }
  r.submitted = now;
  *pai__req_at(s, req) = r;
  *pai__why_of(s, req) = (pai__why){ .node = PAI__NONE, .text = PAI__NONE };
  pai__req_set_shape(s, req);
  rc = pai__req_check_possible(s, req, err);
  if (rc < 0) {
    unfollow(s, &r);
    give_parts(s, &r);
    drop_req(s, req);
    return rc;
  }
  pai__req_at(s, req)->turn = ++s->m.turns;
  pai__lookup_add(&s->by_id, q->id, req);
  s->m.nreqs++;
  pai__req_update(s, req);
  return PAI_OK;
}

/* --- what is possible ----------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
  h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
  return h ^ h >> 32;
}

/* By what it says: the number of a name is another one in a scheduler that was
 * loaded, and policies keep shapes. */
static uint64_t mix_name(const pai_sched *s, uint64_t h, uint32_t name)
{
  const char *text = pai__texts_text(&s->names, name);

  for (h = mix(h, text != NULL); text != NULL && *text != '\0'; text++)
    h = mix(h, (unsigned char)*text);
  return h;
}

void pai__req_set_shape(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  const pai__want *w = pai__wants_of(s, r);
  uint64_t h = mix(mix(1, r->tenant), r->priority < 0);

  h = mix_name(s, mix_name(s, h, r->pin), r->within);
  for (uint32_t i = 0; i < r->nwants; i++) {
    h = mix(mix(h, w[i].tasks), w[i].gpus);
    h = mix(mix(h, w[i].cpus), w[i].ports);
    h = mix(mix(h, w[i].memory), w[i].type);
    h = mix(h, w[i].min_tasks);
  }
  r->shape = h | 1;
}

/* A task that no node has room for, by itself or beside those before it. */
static int tell_too_much(const pai__why *why, pai_error **err)
{
  const char *things = pai__lack_things(why->of);
  uint64_t wanted = pai__lack_amount(why->of, why->wanted);
  uint64_t found = pai__lack_amount(why->of, why->found);

  if (why->placed == 0) {
    (void)pai__fail(err, PAI_ENOROOM,
                    "it can never start: a task asks for %" PRIu64
                    " %s, and no machine has more than %" PRIu64,
                    wanted, things, found);
    pai__error_help(err, "ask for less per task");
    return PAI_ENOROOM;
  }
  (void)pai__fail(err, PAI_ENOROOM,
                  "it can never start: a task asks for %" PRIu64
                  " %s, and beside %u other tasks of it no machine has more "
                  "than %" PRIu64,
                  wanted, things, why->placed, found);
  pai__error_help(err, "ask for less per task, or for fewer tasks");
  return PAI_ENOROOM;
}

static int tell_impossible(const pai_sched *s, uint32_t req,
                           const pai__why *why, pai_error **err)
{
  const pai__req *r = pai__req_at(s, req);

  switch (why->lack) {
  case PAI_LACK_QUOTA:
    return pai__fail(err, PAI_ENOROOM,
                     "it can never start: it asks for %" PRIu64
                     " GPUs, and virtual cluster '%s' has %" PRIu64,
                     why->wanted, s->park->tenants[r->tenant].name,
                     why->found);
  case PAI_LACK_PIN:
    return pai__fail(err, PAI_ENOROOM,
                     "it can never start: nothing in the cluster that it "
                     "could use is pinned as '%s'",
                     pai__texts_text(&s->names, r->pin));
  case PAI_LACK_TYPE:
    return pai__fail(err, PAI_ENOROOM,
                     "it can never start: no node has such GPUs");
  case PAI_LACK_TOPOLOGY:
    if (why->text != PAI__NONE)
      return pai__fail(err, PAI_ENOROOM,
                       "it can never start: it does not fit within one %s",
                       pai__texts_text(&s->names, why->text));
    break;
  default: break;
  }
  return tell_too_much(why, err);
}

int pai__req_check_possible(pai_sched *s, uint32_t req, pai_error **err)
{
  pai__ask ask = { .req = req,
                   .strategy = PAI_PLACE_PACK,
                   .beyond_share = s->lends,
                   .ideal = true };
  uint64_t shape = pai__req_at(s, req)->shape;
  pai__flat real = s->rooms;
  uint32_t n;
  pai__why why;
  int rc;

  if (s->loading || pai__lookup_get(&s->possible, shape) != PAI__NONE)
    return PAI_OK;
  pai__shelves_leave(s);
  pai__flat_init(&s->rooms, real.size);
  rc = pai__flat_reserve(&s->rooms, &s->alloc, real.len);
  if (rc == PAI_OK) {
    (void)pai__flat_push(&s->rooms, real.len);
    pai__rooms_init(s, s->park, s->rooms.data);
    rc = pai__fit(s, &ask, &n, &why);
  }
  pai__flat_dispose(&s->rooms, &s->alloc);
  s->rooms = real;
  pai__shelves_return(s);
  if (rc < 0)
    return pai__oom(err);
  if (rc == 0)
    return tell_impossible(s, req, &why, err);
  if (pai__lookup_reserve(&s->possible, &s->alloc) == PAI_OK)
    pai__lookup_add(&s->possible, shape, 1);
  return PAI_OK;
}

/* --- instances ------------------------------------------------------------ */

static uint64_t instance_key(uint32_t req, uint32_t instance)
{
  return (uint64_t)(req + 1) << 32 | instance;
}

uint32_t pai__run_find(const pai_sched *s, uint32_t req, uint32_t instance)
{
  return pai__lookup_get(&s->by_instance, instance_key(req, instance));
}

static uint32_t new_run(pai_sched *s)
{
  uint32_t i = s->m.free_run;

  if (pai__lookup_reserve(&s->by_instance, &s->alloc) < 0)
    return PAI__NONE;
  if (i != PAI__NONE) {
    s->m.free_run = pai__run_at(s, i)->next;
    return i;
  }
  return pai__flat_reserve(&s->runs, &s->alloc, 1) < 0
           ? PAI__NONE
           : pai__flat_push(&s->runs, 1);
}

uint32_t pai__run_next(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);
  uint32_t run = r->runs;

  if (r->returned != 0) {
    while (pai__run_at(s, run)->state != PAI__RUN_RETURNED)
      run = pai__run_at(s, run)->next;
    return run;
  }
  run = new_run(s);
  if (run == PAI__NONE)
    return PAI__NONE;
  *pai__run_at(s, run) = (pai__run){ .req = req,
                                     .instance = r->next,
                                     .next = PAI__NONE,
                                     .before = r->last_run,
                                     .state = PAI__RUN_RETURNED };
  *(r->last_run != PAI__NONE ? &pai__run_at(s, r->last_run)->next : &r->runs) =
    run;
  r->last_run = run;
  pai__lookup_add(&s->by_instance, instance_key(req, r->next), run);
  r->next++;
  r->returned++;
  return run;
}

static void drop_run(pai_sched *s, uint32_t run)
{
  pai__run *gone = pai__run_at(s, run);
  pai__req *r = pai__req_at(s, gone->req);

  pai__lookup_remove(&s->by_instance, instance_key(gone->req, gone->instance));
  *(gone->before != PAI__NONE ? &pai__run_at(s, gone->before)->next
                              : &r->runs) = gone->next;
  *(gone->next != PAI__NONE ? &pai__run_at(s, gone->next)->before
                            : &r->last_run) = gone->before;
  if (gone->state == PAI__RUN_RETURNED)
    r->returned--;
  *gone = (pai__run){ .req = PAI__NONE, .next = s->m.free_run };
  s->m.free_run = run;
}

static void remove_req(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);

  while (r->runs != PAI__NONE)
    drop_run(s, r->runs);
  if (r->queued)
    unlink_req(s, req);
  tell_followers(s, r);
  unfollow(s, r);
  pai__lookup_remove(&s->by_id, r->id);
  give_parts(s, r);
  drop_req(s, req);
  s->m.nreqs--;
}

void pai__run_end(pai_sched *s, uint32_t run, bool ok)
{
  uint32_t req = pai__run_at(s, run)->req;
  pai__req *r = pai__req_at(s, req);

  drop_run(s, run);
  r->finished++;
  r->failed += !ok;
  pai__req_settle(s, req);
}

void pai__req_settle(pai_sched *s, uint32_t req)
{
  pai__req *r = pai__req_at(s, req);

  if (r->active == 0 && (r->cancelled || pai__req_waiting(r) == 0))
    remove_req(s, req);
  else
    pai__req_update(s, req);
}
