/* inspect.c - what other rooms may read of a scheduler */
#include "sched/queue.h"

const pai__sched_cluster *pai__sched_cluster_of(const pai_sched *s)
{
  return s->cluster;
}

const pai_alloc *pai__sched_alloc(const pai_sched *s)
{
  return &s->alloc;
}

uint64_t pai__sched_effort(const pai_sched *s)
{
  return s->effort;
}

pai__node_info pai__inspect_node(const pai_sched *s, uint32_t node)
{
  const pai__free_capacity *c = pai__free_capacity_at(s, node);
  uint64_t healthy = pai__sched_sku_of(s->cluster, node)->all & ~c->sick;

  return (pai__node_info){ .state = c->state,
                           .healthy = healthy,
                           .free = c->gpus & healthy,
                           .free_millis = c->cpu_millis };
}

static bool is_stuck(const pai_sched *s, const pai__req *r)
{
  const pai__after *after = pai__after_of(s, r);

  for (uint32_t i = 0; i < r->nafter; i++)
    if (after[i].kind != 0 && after[i].bad)
      return true;
  return r->held;
}

bool pai__inspect_request(const pai_sched *s, uint64_t id,
                          pai__request_info *out)
{
  uint32_t req = pai__req_find(s, id);
  const pai__req *r;

  if (req == PAI__NONE)
    return false;
  r = pai__req_at(s, req);
  *out = (pai__request_info){
    .submitted = r->submitted,
    .wants = pai__wants_of(s, r),
    .nwants = r->nwants,
    .vc_index = r->vc_index,
    .pin = r->pin != PAI__NONE
             ? pai__sched_cluster_pin(s->cluster,
                                      pai__texts_text(&s->names, r->pin))
             : PAI__NONE,
    .name = pai__name_of(s, r),
    .stuck = is_stuck(s, r),
  };
  return true;
}

static bool inspect(const pai_sched *s, uint32_t i, pai__run_info *out)
{
  const pai__run *run = pai__run_at(s, i);
  const pai__req *r;

  if (run->req == PAI__NONE || run->state < PAI__RUN_PLACED)
    return false;
  r = pai__req_at(s, run->req);
  *out = (pai__run_info){ .id = r->id,
                          .instance = run->instance,
                          .vc_index = r->vc_index,
                          .wants = pai__wants_of(s, r),
                          .slots = pai__slots_of(s, run),
                          .tasks = run->tasks,
                          .since = run->since,
                          .state = run->state,
                          .cause = run->cause,
                          .borrowed = run->borrowed != 0 };
  return true;
}

bool pai__inspect_run(const pai_sched *s, uint64_t id, uint32_t instance,
                      pai__run_info *out)
{
  uint32_t run = pai__run_find(s, pai__req_find(s, id), instance);

  return run != PAI__NONE && inspect(s, run, out);
}

bool pai__inspect_next_run(const pai_sched *s, uint32_t *i, pai__run_info *out)
{
  while (*i < s->runs.len)
    if (inspect(s, (*i)++, out))
      return true;
  return false;
}
