/* save_requests.c - writing requests and their runs to a snapshot */
#include "sched/log/snapshot_form.h"

#include "sched/queue.h"
#include "sched/log/event_form.h"

/* --- requests ------------------------------------------------------------- */

static void put_wants(pai__saving *x, const pai__req *r)
{
  pai_want w = { .struct_size = sizeof(w) };

  pai__json_put_array(x->w, "wants");
  for (uint32_t i = 0; i < r->nwants; i++) {
    (void)pai_sched_view_want(x->s, r->id, i, &w);
    if (w.min_tasks == w.tasks) /* not written for a rigid gang */
      w.min_tasks = 0;
    pai__want_put(x->w, &w);
  }
  pai__json_end_array(x->w);
}

static void put_after(pai__saving *x, const pai__req *r)
{
  const pai__after *after = r->nafter != 0 ? pai__after_of(x->s, r) : NULL;

  if (after == NULL)
    return;
  pai__json_put_array(x->w, "after");
  for (uint32_t i = 0; i < r->nafter; i++)
    pai__after_put(
      x->w, &(pai__after_form){
              .id = after[i].id,
              .kind = after[i].kind != 0 ? (int)after[i].kind : PAI_AFTER_OK,
              .done = after[i].kind == 0,
              .never = after[i].kind != 0 && after[i].bad != 0 });
  pai__json_end_array(x->w);
}

static pai_request view_of(const pai__saving *x, const pai__req *r)
{
  return (pai_request){ .id = r->id,
                        .name = pai__name_of(x->s, r),
                        .vc = pai__saving_text(x, r->vc),
                        .user = pai__saving_text(x, r->user),
                        .pin = pai__saving_text(x, r->pin),
                        .within = pai__saving_text(x, r->within),
                        .priority = r->priority,
                        .duration = r->duration,
                        .limit = r->limit,
                        .instances = r->instances,
                        .at_once = r->at_once,
                        .held = r->held,
                        .lazy = r->lazy };
}

static void put_request(pai__saving *x, const pai__req *r)
{
  pai_request q = view_of(x, r);

  pai__json_put_object(x->w, "request");
  pai__request_put(x->w, &q);
  put_wants(x, r);
  put_after(x, r);
  pai__json_end_object(x->w);
}

void pai__save_alike(pai__saving *x, const pai__req *r)
{
  pai_request q = view_of(x, r);

  q.id = 0;
  q.name = NULL;
  q.duration = q.limit = 0;
  pai__json_begin_object(x->w);
  pai__request_put(x->w, &q);
  put_wants(x, r);
  pai__json_end_object(x->w);
}

/* --- reasons -------------------------------------------------------------- */

static void put_failed(pai__saving *x, const pai__sched_reason *reason)
{
  bool begun = false;

  for (int i = 0; i < PAI_LACKS; i++) {
    if (reason->failed[i] == 0)
      continue;
    if (!begun)
      pai__json_put_object(x->w, "failed");
    begun = true;
    /* Nodes that lack nothing are counted, too. */
    pai__json_put_int(x->w, i != 0 ? pai__lack_words[i] : "nothing",
                      reason->failed[i]);
  }
  if (begun)
    pai__json_end_object(x->w);
}

void pai__save_reason(pai__saving *x, const pai__sched_reason *reason)
{
  pai__sched_reason_form form = { .r = pai__reason_of(x->s, reason) };

  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__sched_reason_table, &form);
  put_failed(x, reason);
  pai__json_end_object(x->w);
}

/* --- runs ----------------------------------------------------------------- */

static void put_slot(pai__saving *x, const pai__req *r, const pai__run *run,
                     const pai__slot *slot)
{
  const pai__want *w = &pai__wants_of(x->s, r)[slot->want];
  const uint64_t *words = (const uint64_t *)pai__slots_of(x->s, run);
  bool numbered = run->state != PAI__RUN_CLAIMED;
  uint32_t cpu_words = pai__sched_sku_of(x->s->cluster, slot->node)->cpu_words;

  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__slot_table,
                  &(pai__slot_form){ .want = slot->want });
  pai__place_put(
    x->w, &x->list,
    &(pai__place_form){ .node = x->s->cluster->nodes[slot->node].name,
                        .gpus = slot->gpus,
                        .cpus = words + slot->cpus,
                        .cpu_words =
                          numbered && pai__own_cpus(w) != 0 ? cpu_words : 0,
                        .ports = (const uint32_t *)(words + slot->ports),
                        .nports = numbered ? w->ports : 0 });
  pai__json_end_object(x->w);
}

/* A run that waits again has nothing but its instance and state. */
static void put_run(pai__saving *x, const pai__req *r, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(x->s, run);
  pai__run_form form = { .run = { .instance = run->instance,
                                  .state = run->state } };

  if (run->state != PAI__RUN_RETURNED)
    form.run = *run;
  if (run->state == PAI__RUN_CLAIMED)
    form.run.since = 0;
  if (run->leaving == 0)
    form.run.leaving_want = 0;
  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__run_table, &form);
  if (run->state != PAI__RUN_RETURNED) {
    pai__json_put_array(x->w, "tasks");
    for (uint32_t i = 0; i < run->tasks; i++)
      put_slot(x, r, run, &slots[i]);
    pai__json_end_array(x->w);
  }
  pai__json_end_object(x->w);
}

void pai__save_request(pai__saving *x, uint32_t req)
{
  const pai__sched_reason reason = pai__req_said(x->s, req);
  const pai__req *r = pai__req_at(x->s, req);

  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__req_table,
                  &(pai__req_form){ .turn = (int64_t)r->turn,
                                    .submitted = r->submitted,
                                    .finished = r->finished,
                                    .failed = r->failed,
                                    .cancelled = r->cancelled });
  put_request(x, r);
  if (r->runs != PAI__NONE) {
    pai__json_put_array(x->w, "runs");
    for (uint32_t i = r->runs; i != PAI__NONE; i = pai__run_at(x->s, i)->next)
      put_run(x, r, pai__run_at(x->s, i));
    pai__json_end_array(x->w);
  }
  if (!pai__sched_reason_is_equal(&reason, &pai__no_reason)) {
    pai__json_member(x->w, "why");
    pai__save_reason(x, &reason);
  }
  pai__json_end_object(x->w);
}
