/* save_requests.c - requests of a snapshot, and what runs of them */
#include "sched/saving.h"

#include "sched/place_form.h"
#include "sched/queue.h"
#include "sched/request_form.h"

/* --- requests ------------------------------------------------------------- */

static void put_wants(pai__saving *x, const pai__req *r)
{
  const pai__want *wants = pai__wants_of(x->s, r);

  pai__form_put_key(x->w, "wants");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < r->nwants; i++) {
    const pai__want *w = &wants[i];
    bool rigid = w->min_tasks == w->tasks;

    pai__want_put(x->w, &(pai_want){ .struct_size = sizeof(pai_want),
                                     .name = pai__saving_text(x, w->name),
                                     .type = pai__saving_text(x, w->type_name),
                                     .tasks = w->tasks,
                                     .min_tasks = rigid ? 0 : w->min_tasks,
                                     .gpus = w->gpus,
                                     .cpus = w->cpus,
                                     .ports = w->ports,
                                     .memory = w->memory });
  }
  pai__json_end_array(x->w);
}

static void put_after(pai__saving *x, const pai__req *r)
{
  const pai__after *after = r->nafter != 0 ? pai__after_of(x->s, r) : NULL;

  if (after == NULL)
    return;
  pai__form_put_key(x->w, "after");
  pai__json_begin_array(x->w);
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

  pai__form_put_key(x->w, "request");
  pai__json_begin_object(x->w);
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

static void put_failed(pai__saving *x, const pai__why *why)
{
  bool begun = false;

  for (int i = 0; i < PAI_LACKS; i++) {
    if (why->failed[i] == 0)
      continue;
    if (!begun) {
      pai__form_put_key(x->w, "failed");
      pai__json_begin_object(x->w);
    }
    begun = true;
    /* Nodes that lacked nothing are counted, too. */
    pai__form_put_key(x->w, i != 0 ? pai__lack_words[i] : "nothing");
    pai__json_int(x->w, why->failed[i]);
  }
  if (begun)
    pai__json_end_object(x->w);
}

void pai__save_why(pai__saving *x, const pai__why *why)
{
  const pai__park *park = x->s->park;

  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__why_table,
                  &(pai__why_form){ .lack = why->lack,
                                    .of = why->of,
                                    .want = why->want,
                                    .placed = why->placed,
                                    .tasks = why->tasks,
                                    .wanted = why->wanted,
                                    .found = why->found,
                                    .behind = why->behind,
                                    .until = why->until,
                                    .node = why->node != PAI__NONE
                                              ? park->spots[why->node].name
                                              : NULL,
                                    .text = pai__saving_text(x, why->text) });
  put_failed(x, why);
  pai__json_end_object(x->w);
}

/* --- what runs ------------------------------------------------------------ */

static void put_slot(pai__saving *x, const pai__req *r, const pai__run *run,
                     const pai__slot *slot)
{
  const pai__want *w = &pai__wants_of(x->s, r)[slot->want];
  const uint64_t *words = (const uint64_t *)pai__slots_of(x->s, run);
  bool numbered = run->state != PAI__RUN_CLAIMED;
  uint32_t cpu_words = pai__build_of(x->s->park, slot->node)->cpu_words;

  pai__json_begin_object(x->w);
  pai__saving_put(x, &pai__slot_table,
                  &(pai__slot_form){ .want = slot->want });
  pai__place_put(
    x->w, &x->list,
    &(pai__place_form){ .node = x->s->park->spots[slot->node].name,
                        .gpus = slot->gpus,
                        .cpus = words + slot->cpus,
                        .cpu_words = numbered && w->cpus != 0 ? cpu_words : 0,
                        .ports = (const uint32_t *)(words + slot->ports),
                        .nports = numbered ? w->ports : 0 });
  pai__json_end_object(x->w);
}

/* Of one that waits again nothing else counts. */
static void put_run(pai__saving *x, const pai__req *r, const pai__run *run)
{
  const pai__slot *slots = pai__slots_of(x->s, run);
  pai__run_form form = { .instance = run->instance, .state = run->state };

  pai__json_begin_object(x->w);
  if (run->state != PAI__RUN_RETURNED) {
    form.order = (int64_t)run->order;
    form.cause = run->cause;
    form.by = run->by;
    form.borrowed = run->borrowed;
    form.leaving = run->leaving;
    form.leaving_want = run->leaving != 0 ? run->leaving_want : 0;
    if (run->state != PAI__RUN_CLAIMED)
      form.since = run->since;
  }
  pai__saving_put(x, &pai__run_table, &form);
  if (run->state != PAI__RUN_RETURNED) {
    pai__form_put_key(x->w, "tasks");
    pai__json_begin_array(x->w);
    for (uint32_t i = 0; i < run->tasks; i++)
      put_slot(x, r, run, &slots[i]);
    pai__json_end_array(x->w);
  }
  pai__json_end_object(x->w);
}

void pai__save_request(pai__saving *x, uint32_t req)
{
  const pai__why why = pai__req_said(x->s, req);
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
    pai__form_put_key(x->w, "runs");
    pai__json_begin_array(x->w);
    for (uint32_t i = r->runs; i != PAI__NONE; i = pai__run_at(x->s, i)->next)
      put_run(x, r, pai__run_at(x->s, i));
    pai__json_end_array(x->w);
  }
  if (!pai__why_is_equal(&why, &pai__no_why)) {
    pai__form_put_key(x->w, "why");
    pai__save_why(x, &why);
  }
  pai__json_end_object(x->w);
}
