/* save.c - the state of a scheduler as one line of JSON */
#include "sched/event_form.h"
#include "sched/place_form.h"
#include "sched/policy.h"
#include "sched/request_form.h"
#include "sched/sched.h"
#include "sched/snapshot_form.h"

#include "resource/bits.h"

#include <stdlib.h>

typedef struct saving {
  const pai_sched *s;
  pai__json_writer *w;
  pai__buf list; /* for a list of numbers as text */
  pai_error **err;
} saving;

static void put(saving *x, const pai__table *table, const void *form)
{
  pai__form_write(x->w, table->list, table->count, form);
}

static const char *text_of(const saving *x, uint32_t name)
{
  return pai__texts_text(&x->s->names, name);
}

/* --- requests ------------------------------------------------------------- */

static void put_wants(saving *x, const pai__req *r)
{
  const pai__want *wants = pai__wants_of(x->s, r);

  pai__form_put_key(x->w, "wants");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < r->nwants; i++) {
    const pai__want *w = &wants[i];
    bool rigid = w->min_tasks == w->tasks;

    pai__want_put(x->w, &(pai_want){ .struct_size = sizeof(pai_want),
                                     .name = text_of(x, w->name),
                                     .type = text_of(x, w->type_name),
                                     .tasks = w->tasks,
                                     .min_tasks = rigid ? 0 : w->min_tasks,
                                     .gpus = w->gpus,
                                     .cpus = w->cpus,
                                     .ports = w->ports,
                                     .memory = w->memory });
  }
  pai__json_end_array(x->w);
}

static void put_after(saving *x, const pai__req *r)
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

static void put_request(saving *x, const pai__req *r)
{
  pai__form_put_key(x->w, "request");
  pai__json_begin_object(x->w);
  pai__request_put(
    x->w, &(pai_request){ .id = r->id,
                          .name = r->name_words != 0
                                    ? pai__pool_at(&x->s->pool, r->name)
                                    : NULL,
                          .vc = text_of(x, r->vc),
                          .user = text_of(x, r->user),
                          .pin = text_of(x, r->pin),
                          .within = text_of(x, r->within),
                          .priority = r->priority,
                          .duration = r->duration,
                          .limit = r->limit,
                          .instances = r->instances,
                          .at_once = r->at_once,
                          .held = r->held,
                          .lazy = r->lazy });
  put_wants(x, r);
  put_after(x, r);
  pai__json_end_object(x->w);
}

static void put_failed(saving *x, const pai__why *why)
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

static bool is_nothing(const pai__why *why)
{
  bool any = why->lack != 0 || why->of != 0 || why->want != 0 ||
             why->placed != 0 || why->tasks != 0 || why->wanted != 0 ||
             why->found != 0 || why->behind != 0 || why->until != 0 ||
             why->node != PAI__NONE || why->text != PAI__NONE;

  for (int i = 0; i < PAI_LACKS; i++)
    any = any || why->failed[i] != 0;
  return !any;
}

static void put_why(saving *x, uint32_t req)
{
  const pai__why *why = pai__why_of(x->s, req);
  const pai__park *park = x->s->park;

  if (is_nothing(why))
    return;
  pai__form_put_key(x->w, "why");
  pai__json_begin_object(x->w);
  put(x, &pai__why_table,
      &(pai__why_form){
        .lack = why->lack,
        .of = why->of,
        .want = why->want,
        .placed = why->placed,
        .tasks = why->tasks,
        .wanted = why->wanted,
        .found = why->found,
        .behind = why->behind,
        .until = why->until,
        .node = why->node != PAI__NONE ? park->spots[why->node].name : NULL,
        .text = text_of(x, why->text) });
  put_failed(x, why);
  pai__json_end_object(x->w);
}

/* --- what runs ------------------------------------------------------------ */

static void put_slot(saving *x, const pai__req *r, const pai__run *run,
                     const pai__slot *slot)
{
  const pai__want *w = &pai__wants_of(x->s, r)[slot->want];
  const uint64_t *words = (const uint64_t *)pai__slots_of(x->s, run);
  bool numbered = run->state != PAI__RUN_CLAIMED;
  uint32_t cpu_words = pai__build_of(x->s->park, slot->node)->cpu_words;

  pai__json_begin_object(x->w);
  put(x, &pai__slot_table, &(pai__slot_form){ .want = slot->want });
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
static void put_run(saving *x, const pai__req *r, const pai__run *run)
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
  put(x, &pai__run_table, &form);
  if (run->state != PAI__RUN_RETURNED) {
    pai__form_put_key(x->w, "tasks");
    pai__json_begin_array(x->w);
    for (uint32_t i = 0; i < run->tasks; i++)
      put_slot(x, r, run, &slots[i]);
    pai__json_end_array(x->w);
  }
  pai__json_end_object(x->w);
}

static void put_req(saving *x, uint32_t req)
{
  const pai__req *r = pai__req_at(x->s, req);

  pai__json_begin_object(x->w);
  put(x, &pai__req_table,
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
  put_why(x, req);
  pai__json_end_object(x->w);
}

typedef struct turn {
  uint64_t turn;
  uint32_t req;
} turn;

static int by_turn(const void *a, const void *b)
{
  const turn *x = a, *y = b;

  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

/* By their turns: where a record lies does not count. */
static int put_requests(saving *x)
{
  const pai_sched *s = x->s;
  uint32_t n = 0;
  turn *list;

  if (s->m.nreqs == 0)
    return PAI_OK;
  list = pai__realloc(&s->alloc, NULL, 0, s->m.nreqs, sizeof(*list));
  if (list == NULL)
    return pai__oom(x->err);
  for (uint32_t i = 0; i < s->reqs.len; i++)
    if (pai__req_at(s, i)->id != 0)
      list[n++] = (turn){ pai__req_at(s, i)->turn, i };
  qsort(list, n, sizeof(*list), by_turn);
  pai__form_put_key(x->w, "requests");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < n; i++)
    put_req(x, list[i].req);
  pai__json_end_array(x->w);
  pai__free(&s->alloc, list, s->m.nreqs * sizeof(*list));
  return PAI_OK;
}

/* Those that hold until the next decision. */
static void put_rules(saving *x)
{
  const pai_sched *s = x->s;
  bool begun = false;

  for (uint32_t i = 0; i < s->rules.len; i++) {
    const pai__rule *rule = (const pai__rule *)s->rules.data + i;

    if (rule->made != s->m.decided)
      continue;
    if (!begun) {
      pai__form_put_key(x->w, "refused");
      pai__json_begin_array(x->w);
    }
    begun = true;
    pai__json_begin_object(x->w);
    put(x, &pai__rule_table,
        &(pai__rule_form){ .vc = s->park->tenants[i].name,
                           .behind = rule->behind,
                           .first = (int64_t)rule->first,
                           .last = (int64_t)rule->last });
    pai__json_end_object(x->w);
  }
  if (begun)
    pai__json_end_array(x->w);
}

/* --- nodes ---------------------------------------------------------------- */

static void put_room(saving *x, uint32_t i)
{
  const pai_sched *s = x->s;
  const pai__room *room = pai__room_at(s, i);
  bool moved = room->next_port != s->m.next_port;

  pai__json_begin_object(x->w);
  put(x, &pai__room_table,
      &(pai__room_form){ .name = s->park->spots[i].name,
                         .why = text_of(x, room->why),
                         .state = room->state,
                         .next_port = moved ? room->next_port : 0 });
  if (room->sick != 0)
    pai__mask_put(x->w, "sick", room->sick);
  if (room->lost.len != 0)
    pai__ports_put(x->w, "lost", pai__pool_at(&s->pool, room->lost.at),
                   room->lost.len);
  pai__json_end_object(x->w);
}

/* Those of which there is something to say. */
static void put_rooms(saving *x)
{
  bool begun = false;

  for (uint32_t i = 0; i < x->s->rooms.len; i++) {
    const pai__room *room = pai__room_at(x->s, i);

    if (room->state == PAI_NODE_UP && room->why == PAI__NONE &&
        room->sick == 0 && room->lost.len == 0 &&
        room->next_port == x->s->m.next_port)
      continue;
    if (!begun) {
      pai__form_put_key(x->w, "nodes");
      pai__json_begin_array(x->w);
    }
    begun = true;
    put_room(x, i);
  }
  if (begun)
    pai__json_end_array(x->w);
}

static int put_kept(saving *x, const pai__kept *k)
{
  const pai_sched *s = x->s;
  size_t most = s->rooms.len != 0 ? s->rooms.len : 1;
  const char **names;
  pai_reservation r = { .struct_size = sizeof(r),
                        .name = text_of(x, k->name),
                        .from = k->from,
                        .to = k->to != INT64_MAX ? k->to : 0,
                        .vc = text_of(x, k->vc),
                        .user = text_of(x, k->user) };

  if (k->nodes == PAI__NONE) {
    pai__reservation_put(x->w, &r);
    return PAI_OK;
  }
  names = pai__realloc(&s->alloc, NULL, 0, most, sizeof(*names));
  if (names == NULL)
    return pai__oom(x->err);
  for (uint32_t i = 0; i < s->rooms.len; i++)
    if (pai__bits_has(pai__pool_at(&s->pool, k->nodes), k->words, i))
      names[r.nnodes++] = s->park->spots[i].name;
  r.nodes = names;
  pai__reservation_put(x->w, &r);
  pai__free(&s->alloc, names, most * sizeof(*names));
  return PAI_OK;
}

static int put_reservations(saving *x)
{
  int rc = PAI_OK;

  if (x->s->kept.len == 0)
    return PAI_OK;
  pai__form_put_key(x->w, "reservations");
  pai__json_begin_array(x->w);
  for (uint32_t i = 0; i < x->s->kept.len && rc == PAI_OK; i++)
    rc = put_kept(x, (const pai__kept *)x->s->kept.data + i);
  pai__json_end_array(x->w);
  return rc;
}

/* --- the rest ------------------------------------------------------------- */

/* Decisions that events have made, and that were not told yet. */
static void put_pending(saving *x)
{
  const pai_sched *s = x->s;

  if (s->told >= s->decisions.len)
    return;
  pai__form_put_key(x->w, "decisions");
  pai__json_begin_array(x->w);
  for (uint32_t i = s->told; i < s->decisions.len; i++) {
    const pai__decision *d = (const pai__decision *)s->decisions.data + i;

    pai__json_begin_object(x->w);
    put(x, &pai__pending_table,
        &(pai__pending_form){ .id = d->id,
                              .by = d->by,
                              .instance = d->instance,
                              .want = d->want,
                              .tasks = d->tasks,
                              .kind = d->kind,
                              .cause = d->cause });
    pai__json_end_object(x->w);
  }
  pai__json_end_array(x->w);
}

static int put_policy(saving *x, const char *key, bool shadow)
{
  const pai_sched *s = x->s;
  const char *options = shadow ? s->shadow_options : s->policy_options;
  pai__policy_form form = { .name = s->policy->name };
  pai__buf state;
  int rc;

  if (shadow)
    form = (pai__policy_form){ .name = s->shadow->name,
                               .live = (int64_t)s->shadow_live,
                               .decisions = (int64_t)s->shadow_decisions,
                               .agreed = (int64_t)s->shadow_agreed,
                               .failed = (int64_t)s->shadow_failed };
  pai__form_put_key(x->w, key);
  pai__json_begin_object(x->w);
  put(x, &pai__policy_table, &form);
  pai__form_put_key(x->w, "options");
  rc = pai__json_foreign(x->w, &s->alloc, "the options of the policy", options,
                         strlen(options), x->err);
  pai__buf_init(&state, &s->alloc);
  if (rc == PAI_OK)
    rc = pai__policy_save(s, shadow, &state, x->err);
  if (rc == PAI_OK && state.len != 0) {
    pai__form_put_key(x->w, "state");
    rc = pai__json_foreign(x->w, &s->alloc, "what the policy saved",
                           pai__buf_text(&state), state.len, x->err);
  }
  pai__buf_dispose(&state);
  pai__json_end_object(x->w);
  return rc;
}

static int put_all(saving *x)
{
  const pai_sched *s = x->s;
  int rc;

  pai__json_begin_object(x->w);
  put(x, &pai__state_table,
      &(pai__state_form){ .version = PAI__SNAPSHOT_VERSION,
                          .time = s->m.now,
                          .events = (int64_t)s->m.events,
                          .turns = (int64_t)s->m.turns,
                          .orders = (int64_t)s->m.orders,
                          .next_limit = s->m.next_limit,
                          .first_port = s->m.first_port,
                          .last_port = s->m.last_port,
                          .next_port = s->m.next_port,
                          .unchecked = s->m.unchecked });
  pai__form_put_key(x->w, "cluster");
  pai__json_ready(x->w, s->park->text, s->park->text_len);
  rc = put_policy(x, "policy", false);
  if (rc == PAI_OK && s->shadow != NULL)
    rc = put_policy(x, "shadow", true);
  put_rooms(x);
  if (rc == PAI_OK)
    rc = put_reservations(x);
  if (rc == PAI_OK)
    rc = put_requests(x);
  put_rules(x);
  put_pending(x);
  pai__json_end_object(x->w);
  return rc;
}

int pai__save(const pai_sched *s, pai__buf *out, pai_error **err)
{
  pai__json_writer w;
  saving x = { .s = s, .w = &w, .err = err };
  int rc;

  pai__json_writer_init(&w, out, false);
  pai__buf_init(&x.list, &s->alloc);
  rc = put_all(&x);
  if (rc == PAI_OK && (pai__json_finish(&w) < 0 || !pai__buf_ok(&x.list)))
    rc = pai__oom(err);
  if (rc == PAI_OK)
    pai__buf_char(out, '\n');
  pai__buf_dispose(&x.list);
  return rc == PAI_OK && !pai__buf_ok(out) ? pai__oom(err) : rc;
}

int pai_sched_save(const pai_sched *s, pai_write_cb write, void *user_data,
                   pai_error **err)
{
  pai__buf text;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(s != NULL && write != NULL, err);
  if (s->deciding)
    return pai__fail(err, PAI_EBUSY, "a policy cannot save what it decides");
  pai__buf_init(&text, &s->alloc);
  rc = pai__save(s, &text, err);
  if (rc == PAI_OK) {
    rc = write(user_data, pai__buf_text(&text), text.len);
    rc = rc < 0 ? pai__fail(err, rc, "the snapshot could not be written")
                : PAI_OK;
  }
  pai__buf_dispose(&text);
  return rc;
}
